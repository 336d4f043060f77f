//! What a row does: values in places of the request or of the response.

use hyper::StatusCode;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use minijinja::{Error, ErrorKind, Value};
use sallyport_conformance_base::contract::part::{ACTIVATED_FROM, ACTIVATED_TO};
use serde::Deserialize;
use serde::de::value::{Error as UnknownName, StrDeserializer};
use serde_json::Value as Json;

use super::filters::Text;
use super::known::{Dropped, Known, json, value};
use super::own::{self, Own};
use crate::call::Call;
use crate::exchange::{Framing, Reply};
use crate::rows::edit::places;
use crate::rows::part::{self, Part, ignore, put, separator};
use crate::rows::search;

/// One `PLACE: EXPRESSION`, or the name of a function.
#[derive(Debug)]
pub(super) enum Act {
    Own(Own),
    Request(Place, Text),
    Reply(Scope, Spot, Text),
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Place {
    /// A value for later expressions.
    #[serde(skip)]
    Let(&'static str),
    #[serde(skip)]
    Part(Part),
    As,
    Body,
    Bound,
    Batch,
    /// Each item that is a text.
    Item,
    AnyItem,
    EachParam,
    EachField,
    /// A response in place of that of the upstream, which gets no request.
    Instead,
}

const TIMES: &str = "/data/items/*/createdAt /data/items/*/updatedAt /data/items/*/expiresAt \
    /data/items/*/activatedAt";

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Spot {
    Http,
    /// Headers by name, of which the last may end with a star.
    #[serde(skip)]
    Header(&'static str),
    /// A further header, beside those of its name.
    #[serde(skip)]
    Further(&'static str),
    #[serde(skip)]
    Pointers(&'static str),
    /// Another name for the member at a pointer.
    #[serde(skip)]
    Rename(&'static str),
    Text,
    Entry,
    Separator,
    /// The gateways, groups or instances.
    Items,
    /// Whether an instance is lost, and not counted either.
    Lose,
    Total,
    /// Status, body and headers of another response.
    Respond,
    /// The key of a response that is repeated.
    First,
    /// The same of its body alone.
    FirstBody,
    Pieces,
    Drip,
}

/// The responses that an act changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Scope {
    Any,
    Success,
    /// Successes without groups or instances.
    Empty,
    Error,
    /// Errors that are not the server's own.
    Rejection,
}

impl Act {
    /// Reads an act; none where its place is unknown.
    pub(super) fn parse(row: &'static str) -> Option<Self> {
        let Some((place, text)) = row.split_once(": ") else { return own::named(row).map(Self::Own) };
        let text = Text::new(text);
        if let Some(place) = Place::parse(place) {
            return Some(Self::Request(place, text));
        }
        let scoped = place.split_once(' ').and_then(|(scope, spot)| Some((named(scope)?, spot)));
        let (scope, spot) = scoped.map_or((None, place), |(scope, spot)| (Some(scope), spot));
        let spot = Spot::parse(spot)?;
        let usual = if matches!(spot, Spot::Header(_) | Spot::Further(_) | Spot::Respond) {
            Scope::Any
        } else {
            Scope::Success
        };
        Some(Self::Reply(scope.unwrap_or(usual), spot, text))
    }

    pub(super) fn text(&self) -> Option<&Text> {
        match self {
            Self::Own(_) => None,
            Self::Request(_, text) | Self::Reply(_, _, text) => Some(text),
        }
    }

    /// The word that it gives a value.
    #[cfg(test)]
    pub(super) fn given(&self) -> Option<&'static str> {
        match self {
            Self::Request(Place::Let(word), _) => Some(word),
            _ => None,
        }
    }
}

fn named<T: Deserialize<'static>>(name: &'static str) -> Option<T> {
    T::deserialize(StrDeserializer::<UnknownName>::new(name)).ok()
}

impl Place {
    fn parse(place: &'static str) -> Option<Self> {
        let word = place.strip_prefix("let ").map(Self::Let);
        word.or_else(|| Part::named(place).map(Self::Part)).or_else(|| named(place))
    }

    /// Changes a request, and gives what is known afterwards.
    pub(super) fn change(&self, text: &Text, known: Known, call: &mut Call) -> Result<Known, Error> {
        let ips = &*call.contract.search.ips.name;
        let list = || call.json().get(ips).and_then(Json::as_array).cloned();
        match self {
            Self::Let(word) => {
                let value = text.value(&known)?;
                return Ok(known.with(word, value));
            }
            Self::Part(part) => set(call, *part, &text.value(&known)?),
            Self::As => {
                if let Some(token) = text.value(&known)?.as_str() {
                    let name = &call.contract.extract.operation.api_key.name;
                    call.reject();
                    call.set_param(name, token);
                }
            }
            Self::Body => {
                call.set_json(&json(&text.value(&known)?));
                call.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            }
            Self::Bound => {
                for part in [ACTIVATED_FROM, ACTIVATED_TO].map(Part::Body) {
                    if let Some(bound @ Json::String(_)) = part::value(call, part) {
                        set(call, part, &text.value(&known.with("bound", value(bound)))?);
                    }
                }
            }
            Self::Batch => {
                if let Some(items) = list() {
                    set(call, Part::Body(ips), &text.value(&known.with("items", value(items)))?);
                }
            }
            Self::Item | Self::AnyItem => {
                let Some(sent) = list() else { return Ok(known) };
                let (known, mut items) = (known.anew(), Vec::new());
                for (place, item) in sent.into_iter().enumerate() {
                    let known = known.with("place", place.into()).with("item", value(&item));
                    let is_asked = item.is_string() || matches!(self, Self::AnyItem);
                    items.extend(if is_asked { changed(text, &known, item)? } else { Some(item) });
                }
                put(call, Part::Body(ips), items);
            }
            Self::EachParam => {
                let (known, sent, mut params) = (known.anew(), call.params(), Vec::new());
                for (name, sent) in &sent {
                    let known = known.with("name", name.as_str().into()).with("value", sent.as_str().into());
                    if let Some(value) = changed(text, &known, sent.as_str().into())? {
                        params.push((name.clone(), value.as_str().unwrap_or(sent).to_owned()));
                    }
                }
                if params != sent {
                    call.set_params(&params);
                }
            }
            Self::EachField => {
                let (known, sent, mut fields) = (known.anew(), call.json(), serde_json::Map::new());
                for (name, sent) in sent.as_object().into_iter().flatten() {
                    let known = known.with("name", name.as_str().into()).with("value", value(sent));
                    fields.extend(changed(text, &known, sent.clone())?.map(|value| (name.clone(), value)));
                }
                call.edit(|body| *body = fields);
            }
            Self::Instead => {}
        }
        Ok(known)
    }
}

/// The value that an expression has in place of one that was sent, which stays where it has none, or nothing where it is dropped.
fn changed(text: &Text, known: &Known, sent: Json) -> Result<Option<Json>, Error> {
    let found = text.value(known)?;
    Ok(match found {
        _ if is_dropped(&found) => None,
        _ if found.is_undefined() || found.is_none() => Some(sent),
        _ => Some(json(&found)),
    })
}

/// The response of `[STATUS, BODY]` or `[STATUS, BODY, HEADERS]`. A body that is a text is sent as it is.
pub(super) fn response(value: &Value) -> Result<Reply, Error> {
    let parts = json(value);
    let status = parts[0].as_u64().and_then(|status| u16::try_from(status).ok());
    let Some(status) = status.filter(|_| parts.get(1).is_some()) else {
        return Err(Error::new(ErrorKind::InvalidOperation, format!("no response: {value}")));
    };
    let mut reply = Reply::json_with(status, &parts[1]);
    if let Some(text) = parts[1].as_str() {
        reply.body = text.to_owned().into();
    }
    for (name, header) in parts[2].as_object().into_iter().flatten() {
        set_header(&mut reply, name, &self::value(header));
    }
    Ok(reply)
}

/// Gives a part a value, or takes it out; nothing leaves it as it is.
fn set(call: &mut Call, part: Part, value: &Value) {
    if is_dropped(value) {
        ignore(call, part);
    } else if !value.is_undefined() && !value.is_none() {
        put(call, part, json(value));
    }
}

fn is_dropped(value: &Value) -> bool {
    value.downcast_object_ref::<Dropped>().is_some()
}

impl Scope {
    /// Whether it has a response.
    pub(super) fn fits(self, call: &Call, reply: &Reply) -> bool {
        match self {
            Self::Any => true,
            Self::Success => call.accepted(reply),
            Self::Empty => {
                let items = &reply.json()["data"]["items"];
                call.accepted(reply) && items.as_array().is_some_and(Vec::is_empty)
            }
            Self::Error => reply.status.as_u16() >= 400,
            Self::Rejection => reply.status.is_client_error(),
        }
    }
}

impl Spot {
    fn parse(spot: &'static str) -> Option<Self> {
        match spot.split_once(' ') {
            Some(("header", name)) => Some(Self::Header(name)),
            Some(("further", name)) => Some(Self::Further(name)),
            Some(("rename", pointer)) => Some(Self::Rename(pointer)),
            _ if spot.starts_with('/') => Some(Self::Pointers(spot)),
            _ if spot == "times" => Some(Self::Pointers(TIMES)),
            _ => named(spot),
        }
    }

    pub(super) fn change(
        &self,
        text: &Text,
        known: &Known,
        call: &Call,
        reply: &mut Reply,
    ) -> Result<(), Error> {
        let known = known.with_reply(reply);
        if let Self::Pointers(pointers) = self {
            for pointer in pointers.split(' ') {
                reply.edit(|body| change_at(body, pointer, text, &known)).transpose()?;
            }
            return Ok(());
        }
        if let Self::Entry = self {
            let (whole, separator) = (reply.text(), separator(call));
            let changed = whole.split(&separator).map(|entry| text.value(&known.with("value", entry.into())));
            let changed = changed.map(|entry| Ok(entry?.to_string())).collect::<Result<Vec<_>, Error>>()?;
            reply.body = changed.join(&separator).into();
            return Ok(());
        }
        if let Self::Lose = self {
            return reply.edit(|body| lose(body, text, &known)).transpose().map(drop);
        }
        let value = text.value(&known)?;
        if value.is_undefined() || value.is_none() {
            return Ok(());
        }
        match self {
            Self::Http => reply.status = StatusCode::from_u16(value.try_into()?).unwrap_or_default(),
            Self::Header(name) => set_header(reply, name, &value),
            Self::Further(name) => {
                if let Ok(value) = HeaderValue::from_str(&value.to_string()) {
                    reply.headers.append(*name, value);
                }
            }
            Self::Text => reply.body = value.to_string().into(),
            Self::Separator => {
                let separator = separator(call);
                reply.body = reply.text().replace(&separator, &value.to_string()).into();
            }
            Self::Items => {
                _ = reply.edit(|body| {
                    if let (Some(list), Json::Array(changed)) = (call.list(body), json(&value)) {
                        *list = changed;
                    }
                })
            }
            // A fault of all operations meets extractions too, whose data is a list.
            Self::Total => {
                _ = reply.edit(|body| {
                    if search::items(body).is_some() {
                        body["data"]["total"] = json(&value);
                    }
                })
            }
            Self::Rename(pointer) => _ = reply.edit(|body| rename(body, pointer, &value.to_string())),
            Self::Respond => *reply = response(&value)?,
            Self::Pieces => reply.framing = Framing::Pieces(value.try_into()?),
            Self::Drip => reply.framing = Framing::Drip(value.try_into()?),
            Self::First | Self::FirstBody => match call.context.memory.recall(&value.to_string()) {
                None => call.context.memory.keep(&value.to_string(), reply),
                Some(first) if matches!(self, Self::First) => *reply = first,
                Some(first) => _ = reply.edit(|body| *body = first.json()),
            },
            Self::Pointers(_) | Self::Entry | Self::Lose => {}
        }
        Ok(())
    }
}

fn set_header(reply: &mut Reply, name: &str, value: &Value) {
    if !is_dropped(value) {
        return reply.set_header(name, &value.to_string());
    }
    let name = name.to_ascii_lowercase();
    let is_meant =
        |known: &str| name.strip_suffix('*').map_or(known == name, |start| known.starts_with(start));
    for known in reply.headers.keys().cloned().collect::<Vec<_>>() {
        if is_meant(known.as_str()) {
            reply.headers.remove(known);
        }
    }
}

fn rename(body: &mut Json, pointer: &str, name: &str) {
    let (parent, old) = pointer.rsplit_once('/').unwrap_or_default();
    for object in places(body, parent).into_iter().filter_map(Json::as_object_mut) {
        if let Some(moved) = object.shift_remove(old) {
            object.insert(name.to_owned(), moved);
        }
    }
}

fn lose(body: &mut Json, text: &Text, known: &Known) -> Result<(), Error> {
    let Some(found) = search::items(body) else { return Ok(()) };
    let is_lost = |item: &Json| Ok(text.value(&known.with("item", value(item)))?.is_true());
    // All before the first is gone, since an expression may fail.
    let lost = found.iter().map(is_lost).collect::<Result<Vec<bool>, Error>>()?;
    let mut of_each = lost.iter();
    found.retain(|_| of_each.next() == Some(&false));
    let fewer = lost.iter().filter(|is_lost| **is_lost).count() as i64;
    body["data"]["total"] = (search::total(body) - fewer).into();
    Ok(())
}

/// Gives the members at a pointer the value that an expression has, which knows `item`, what holds the member, and the `place` of
/// that. An expression that asks for the present `value` changes only what is there.
fn change_at(body: &mut Json, pointer: &str, text: &Text, known: &Known) -> Result<(), Error> {
    if pointer == "/" {
        return replace(body, text, known);
    }
    let words = text.words()?;
    let asks = |word: &str| words.iter().any(|used| used.split('.').next() == Some(word));
    let (needs_value, asks_item) = (asks("value"), asks("item"));
    let (parent, name) = pointer.rsplit_once('/').unwrap_or_default();
    for (place, holder) in places(body, parent).into_iter().enumerate() {
        let mut known = known.with("place", place.into());
        if asks_item {
            known = known.with("item", value(&*holder));
        }
        let Json::Object(object) = holder else {
            let mut items = places(holder, &format!("/{name}")).into_iter();
            items.try_for_each(|item| replace(item, text, &known))?;
            continue;
        };
        match object.get(name) {
            Some(present) => known = known.with("value", value(present)),
            None if needs_value => continue,
            None => {}
        }
        match text.value(&known)? {
            changed if is_dropped(&changed) => drop(object.shift_remove(name)),
            changed if changed.is_undefined() => {}
            changed => drop(object.insert(name.to_owned(), json(&changed))),
        }
    }
    Ok(())
}

/// Gives a place what an expression has for the `value` there.
fn replace(place: &mut Json, text: &Text, known: &Known) -> Result<(), Error> {
    let changed = text.value(&known.with("value", value(&*place)))?;
    if !changed.is_undefined() {
        *place = json(&changed);
    }
    Ok(())
}
