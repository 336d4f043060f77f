//! Records by the fields of their kind: read from JSON, the command line and rows, and written as JSON. `server/README.md` describes
//! them for people.

use std::{
    borrow::Cow,
    fmt, mem,
    net::{IpAddr, Ipv4Addr},
};

use jiff::Timestamp;
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, Visitor},
    ser::{Error as _, SerializeMap as _},
};

use serde_json::Value as Json;

use super::{
    Result, StoreError,
    packed::spin,
    record_kind::{Field, Form, RecordKind},
    value::{Column, Row, Value, json_text},
};
use crate::{
    domain::{
        Capabilities,
        token::{Token, TokenDigest},
    },
    names::nearest,
};

/// A line of input.
#[derive(Debug)]
pub struct Line {
    /// Its number, from 1.
    pub number: u64,
    /// Its length, which bounds how many lines are in memory at once.
    pub bytes: usize,
    /// The record, or why the line cannot be parsed.
    pub record: Result<Record, String>,
}

/// Number of records that were loaded or exported, by [`RecordKind`].
pub type RecordCounts = [u64; RecordKind::ALL.len()];

/// The fields of a record, which refers to its account by name. One of an import or a database has all that are stored; one that is to
/// be put has those that were given. In JSON an import has an object with one member, whose name is the kind. `Debug` shows no value,
/// because some are passwords.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The kind of the record.
    pub kind: RecordKind,
    /// In the order of [`RecordKind::fields`].
    values: Vec<Option<Value<'static>>>,
}

impl Record {
    /// A record with these fields.
    pub fn new<'a>(kind: RecordKind, fields: impl IntoIterator<Item = (&'a str, Value<'static>)>) -> Self {
        let mut record = Self { kind, values: vec![None; kind.fields().len()] };
        fields.into_iter().for_each(|(name, value)| record.set(name, value));
        record
    }

    /// Reads fields that are to be put.
    ///
    /// # Errors
    /// The JSON is no object, or has an unknown or repeated field, or one with a value that it cannot have.
    pub fn read_put<'de, D: Deserializer<'de>>(kind: RecordKind, json: D) -> Result<Self, D::Error> {
        RecordSeed { kind, is_put: true }.deserialize(json)
    }

    #[expect(clippy::expect_used, reason = "names are constants, and a test of each kind reads them")]
    fn place(&self, name: &str) -> usize {
        self.kind.fields().iter().position(|field| field.name == name).expect("a field of the kind")
    }

    /// The value of a field that is given.
    pub(crate) fn value(&self, name: &str) -> Option<&Value<'static>> {
        self.values[self.place(name)].as_ref()
    }

    /// The value of a field, which must be given.
    pub(crate) fn get<T: Column>(&self, name: &str) -> Result<T> {
        let value = self.value(name).and_then(T::read);
        value.ok_or_else(|| StoreError::Corrupt(format!("`{name}` of a record has an unexpected value")))
    }

    /// Gives a field this value.
    pub(crate) fn set(&mut self, name: &str, value: Value<'static>) {
        let place = self.place(name);
        self.values[place] = Some(value);
    }

    /// The fields with their values, of those that are given.
    pub(super) fn given(&self) -> impl Iterator<Item = (&'static Field, &Value<'static>)> {
        self.kind
            .fields()
            .iter()
            .zip(&self.values)
            .filter_map(|(field, value)| Some((field, value.as_ref()?)))
    }

    /// Gives each stored field that lacks a value this one, if there is one. Returns the fields that still lack one.
    pub(super) fn fill(&mut self, value: impl Fn(&Field) -> Option<Value<'static>>) -> Vec<&'static Field> {
        let mut missing = Vec::new();
        for (field, place) in self.kind.fields().iter().zip(&mut self.values) {
            if place.is_none() && field.is_stored() {
                *place = value(field);
                missing.extend(place.is_none().then_some(field));
            }
        }
        missing
    }

    /// Derives the fields of a whitelist entry that follow from others, and checks them.
    pub fn derive(&mut self) -> Result<(), String> {
        if self.kind != RecordKind::Whitelist {
            return Ok(());
        }
        let range = self.place("range");
        if let Some(Value::Text(range)) = self.values[range].take() {
            let (first, last) = super::range::parse(&range)?;
            self.set("first", first.into());
            self.set("last", last.into());
        }
        let Some(first) = self.value("first").and_then(Ipv4Addr::read) else { return Ok(()) };
        match self.value("last").and_then(Ipv4Addr::read) {
            None => self.set("last", first.into()),
            Some(last) if last < first => return Err(super::range::backwards(first, last)),
            Some(_) => {}
        }
        Ok(())
    }

    /// The name of the account that owns the record, for kinds that have an owner.
    pub(crate) fn owner(&self) -> Option<&str> {
        let owner = self.given().find(|(field, _)| field.form == Form::Account);
        owner.and_then(|(_, value)| if let Value::Text(name) = value { Some(name.as_ref()) } else { None })
    }

    /// The kind with the fields by which the record is known, such as `group 12`.
    pub(super) fn shown(&self) -> String {
        let key =
            self.given().filter(|(field, _)| field.is_stored() && self.kind.key().contains(&field.name));
        let key: String = key.map(|(field, value)| format!(" {}", field.shown(value))).collect();
        // A token is known by its number, which the database assigns.
        format!("{}{}", self.kind.noun(), if key.is_empty() { " with this digest" } else { &key })
    }

    /// The values of the columns. `owner` is the number of the record's account, and `gateway` the number that a gateway gets; kinds
    /// without them ignore them.
    pub(super) fn row(&self, owner: i64, gateway: i64) -> Vec<Value<'_>> {
        let mut row = Vec::with_capacity(self.values.len() + 2);
        for (field, value) in
            self.kind.fields().iter().zip(&self.values).filter(|(field, _)| field.is_stored())
        {
            row.push(match (field.form, value) {
                (Form::Account, _) => owner.into(),
                (_, value) => value.as_ref().map_or(Value::Null, Value::borrowed),
            });
        }
        if self.kind == RecordKind::Gateway {
            row.extend([gateway.into(), spin(gateway).into()]);
        }
        row
    }

    /// The record of a row that [`RecordKind::select`] returns.
    pub(super) fn from_row(kind: RecordKind, mut row: Row<'_>) -> Result<Self> {
        let mut record = Self::new(kind, []);
        let fields = kind.fields().iter().zip(&mut record.values);
        for (field, place) in fields.filter(|(field, _)| field.is_selected()) {
            let value: Value<'static> = row.take()?;
            // SQLite has no type for flags.
            *place = Some(match (field.form, &value) {
                (Form::Flag, Value::Number(number)) => Value::Flag(*number != 0),
                _ => value,
            });
        }
        Ok(record)
    }

    /// The fields of a list: without secrets, and with the number that the database assigned.
    #[cfg(feature = "admin")]
    pub(super) fn listed(&self) -> Result<serde_json::Map<String, Json>> {
        let listed = self.given().filter_map(|(field, value)| {
            let shown = match field.form {
                Form::Password => Ok((*value != Value::Null).into()),
                _ => serde_json::to_value(Shown(field, value)),
            };
            Some((field.listed()?.to_owned(), shown))
        });
        let listed = listed.map(|(name, shown)| Ok((name, shown?))).collect::<serde_json::Result<_>>();
        listed.map_err(|error| StoreError::Corrupt(error.to_string()))
    }
}

/// The beginning of year 0, in seconds from 1970.
const YEAR_ZERO: i64 = -62_167_219_200;

impl Field {
    /// The value that is stored for one of JSON.
    fn stored(&self, mut json: Json) -> Result<Value<'static>, String> {
        let ip = |text: &str| text.parse().ok().map(|ip: IpAddr| ip.to_canonical());
        let stored = match (self.form, &mut json) {
            (Form::Account | Form::Text | Form::Password | Form::Range, Json::String(text)) => {
                Some(mem::take(text).into())
            }
            (_, Json::Null) if self.is_nullable() => Some(Value::Null),
            (Form::Integer(min, max), Json::Number(number)) => {
                number.as_i64().filter(|number| (min..=max).contains(number)).map(Value::Number)
            }
            (Form::Number, Json::Number(number)) => {
                number.as_i64().filter(|number| *number > 0).map(Value::Number)
            }
            (Form::Flag, Json::Bool(flag)) => Some(Value::Flag(*flag)),
            (Form::Time, Json::String(text)) => {
                text.parse::<Timestamp>().ok().filter(|time| time.as_second() >= YEAR_ZERO).map(Into::into)
            }
            (Form::Address, Json::String(text)) => ip(text).map(Into::into),
            (Form::Ipv4 | Form::Covers, Json::String(text)) => {
                ip(text).filter(IpAddr::is_ipv4).map(Into::into)
            }
            (Form::Host, Json::String(text)) => {
                Some(ip(text).map_or_else(|| mem::take(text), |ip| ip.to_string()).into())
            }
            (Form::Name(names), Json::String(text)) => {
                names.contains(&text.as_str()).then(|| mem::take(text).into())
            }
            (Form::Digest, Json::String(text)) => TokenDigest::from_hex(text).map(Into::into),
            _ => None,
        };
        stored.ok_or_else(|| self.mismatch(&json))
    }

    /// What was expected. A text is not quoted, because it may be a token or a password by mistake.
    fn mismatch(&self, json: &Json) -> String {
        let found = match json {
            Json::Number(number) if self.form != Form::Password => format!(", found `{number}`"),
            Json::Null => ", found null".to_owned(),
            _ => String::new(),
        };
        format!("`{}`: expected {}{found}", self.name, self.form.expected())
    }

    /// The value that a text of the command line stands for.
    pub fn parse(&self, text: &str) -> Result<Value<'static>, String> {
        let json = match self.form {
            Form::Password => text.into(),
            _ if text == "null" && self.is_nullable() => Json::Null,
            Form::Integer(..) | Form::Number | Form::Flag | Form::Object => {
                serde_json::from_str(text).unwrap_or_else(|_| text.into())
            }
            Form::List => text.split(',').collect(),
            _ => text.into(),
        };
        match self.form {
            Form::Object if !json.is_object() => Err(self.mismatch(&json)),
            _ => self.deserialize(json).map_err(|error| reason(&error)),
        }
    }

    /// Its name in a list, `None` if it is not shown.
    pub(super) const fn listed(&self) -> Option<&'static str> {
        match self.form {
            Form::Digest | Form::Covers | Form::Range => None,
            Form::Password => Some(HAS_PASSWORD),
            _ => Some(self.name),
        }
    }

    /// A stored value for a message.
    pub(super) fn shown(&self, value: &Value<'_>) -> String {
        serde_json::to_string(&Shown(self, value)).unwrap_or_default()
    }
}

/// Reads a value of JSON.
impl<'de> DeserializeSeed<'de> for &Field {
    type Value = Value<'static>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value<'static>, D::Error> {
        // serde quotes a text that it did not expect, which may be a secret by mistake.
        let unquoted = |error: D::Error| match error.to_string().contains('"') {
            true => D::Error::custom(self.mismatch(&Json::String(String::new()))),
            false => error,
        };
        let text = match self.form {
            Form::List => Vec::<String>::deserialize(deserializer).map(|items| json_text(&items)),
            Form::Object => Capabilities::deserialize(deserializer).map(|object| json_text(&object)),
            _ => return self.stored(Json::deserialize(deserializer)?).map_err(D::Error::custom),
        };
        text.map_err(unquoted)?.map_err(D::Error::custom)
    }
}

/// A value as JSON shows it.
struct Shown<'a>(&'a Field, &'a Value<'a>);

impl Serialize for Shown<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(Field { form, name, .. }, value) = self;
        let wrong = || S::Error::custom(format!("`{name}` has an unexpected value"));
        match (form, value) {
            (_, Value::Null) => serializer.serialize_unit(),
            (Form::Integer(min, max), Value::Number(number)) if !(min..=max).contains(&number) => {
                Err(wrong())
            }
            (Form::Integer(..) | Form::Number, Value::Number(number)) => serializer.serialize_i64(*number),
            (Form::Flag, _) => bool::read(value).ok_or_else(wrong)?.serialize(serializer),
            (Form::Time, _) => Timestamp::read(value).ok_or_else(wrong)?.serialize(serializer),
            (Form::Address | Form::Ipv4 | Form::Covers, _) => {
                IpAddr::read(value).ok_or_else(wrong)?.serialize(serializer)
            }
            (Form::Digest, _) => TokenDigest::read(value).ok_or_else(wrong)?.to_hex().serialize(serializer),
            (Form::List | Form::Object, Value::Text(text)) => {
                let json: Json = serde_json::from_str(text).map_err(S::Error::custom)?;
                json.serialize(serializer)
            }
            (Form::Name(names), Value::Text(text)) if !names.contains(&text.as_ref()) => Err(wrong()),
            (Form::Integer(..) | Form::Number, _) => Err(wrong()),
            (_, Value::Text(text)) => serializer.serialize_str(text),
            _ => Err(wrong()),
        }
    }
}

/// An export.
impl Serialize for Record {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        struct Fields<'a>(&'a Record);

        impl Serialize for Fields<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let stored = self.0.given().filter(|(field, _)| field.is_stored());
                serializer.collect_map(stored.map(|(field, value)| (field.name, Shown(field, value))))
            }
        }

        let mut record = serializer.serialize_map(Some(1))?;
        record.serialize_entry(self.kind.name(), &Fields(self))?;
        record.end()
    }
}

/// A line of an import.
impl<'de> Deserialize<'de> for Record {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ImportedRecord)
    }
}

struct ImportedRecord;

impl<'de> Visitor<'de> for ImportedRecord {
    type Value = Record;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object with one member, whose name is the kind of the record")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Record, A::Error> {
        let name: String = members.next_key()?.ok_or_else(|| A::Error::invalid_length(0, &self))?;
        let kind = RecordKind::from_name(&name).ok_or_else(|| {
            let names = RecordKind::ALL.map(RecordKind::name).join(", ");
            A::Error::custom(format!("unknown kind `{name}`; expected one of: {names}"))
        })?;
        let mut record = members.next_value_seed(RecordSeed { kind, is_put: false })?;
        if members.next_key::<IgnoredAny>()?.is_some() {
            return Err(A::Error::custom("expected one record"));
        }
        let missing = record.fill(|field| field.is_optional.then_some(Value::Null));
        if missing.is_empty() { Ok(record) } else { Err(A::Error::custom(missing_fields(&missing))) }
    }
}

pub(super) fn missing_fields(missing: &[&Field]) -> String {
    let names: Vec<_> = missing.iter().map(|field| format!("`{}`", field.name)).collect();
    format!("missing field{} {}", if missing.len() == 1 { "" } else { "s" }, names.join(", "))
}

/// A name without a copy.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

/// What a list shows in place of a password. It may be put again, and says nothing.
const HAS_PASSWORD: &str = "hasPassword";

/// Reads the fields of a record: of an import those that are stored, or else those that can be put.
struct RecordSeed {
    kind: RecordKind,
    is_put: bool,
}

impl<'de> DeserializeSeed<'de> for RecordSeed {
    type Value = Record;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Record, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for RecordSeed {
    type Value = Record;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object for each record")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Record, A::Error> {
        let mut record = Record::new(self.kind, []);
        let mut next = 0;
        while let Some(Name(name)) = members.next_key()? {
            let Some(place) = self.place(&name, next).map_err(A::Error::custom)? else {
                members.next_value::<IgnoredAny>()?;
                continue;
            };
            if record.values[place].is_some() {
                return Err(A::Error::custom(format!("duplicate field `{name}`")));
            }
            record.values[place] = Some(members.next_value_seed(&self.kind.fields()[place])?);
            next = place + 1;
        }
        record.derive().map_err(A::Error::custom)?;
        Ok(record)
    }
}

impl RecordSeed {
    /// The place of the field of this name; `None` for [`HAS_PASSWORD`]. Most fields come in order.
    fn place(&self, name: &str, expected: usize) -> Result<Option<usize>, String> {
        let fields = self.kind.fields();
        let accepted = |field: &&Field| if self.is_put { field.form.can_be_put() } else { field.is_stored() };
        let is_named = |field: &Field| field.name == name && accepted(&field);
        if fields.get(expected).is_some_and(is_named) {
            return Ok(Some(expected));
        }
        if let Some(place) = fields.iter().position(is_named) {
            return Ok(Some(place));
        }
        let names: Vec<_> = fields.iter().filter(accepted).map(|field| field.name).collect();
        Err(match nearest(name, &names) {
            _ if self.is_put && name == HAS_PASSWORD => return Ok(None),
            _ if self.is_put && RecordKind::from_name(name).is_some() => format!(
                "`{name}` holds a record, as in an import; put the fields of the record alone, or use `server import`"
            ),
            Some(near) => format!("unknown field `{name}`; did you mean `{near}`?"),
            None => format!("unknown field `{name}`; expected one of: {}", names.join(", ")),
        })
    }
}

/// The name of an unknown account in a message. It may be a token by mistake; a token of another service can only be recognised by its
/// length.
pub(super) fn shown_name(name: &str) -> String {
    const MAX_SHOWN: usize = 40;
    let is_secret = Token::resembles(name) || name.chars().count() > MAX_SHOWN;
    if is_secret { "of that name".to_owned() } else { format!("named {name:?}") }
}

/// Why JSON cannot be read, without its place.
pub fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    if Token::resembles(&text) {
        return "a value looks like a token, and is not repeated here".to_owned();
    }
    let reason = text.split(" at line ").next().unwrap_or(&text);
    // serde names the type of a number in capabilities, which says nothing to a person.
    reason.replace("expected u32", &format!("expected {}", Form::Integer(0, u32::MAX.into()).expected()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_of_a_value_is_quoted() {
        for field in RecordKind::ALL.into_iter().flat_map(RecordKind::fields) {
            for json in [r#""very-secret""#, r#"{"changeIp":"very-secret"}"#, r#"["very-secret",1]"#] {
                let read = field.deserialize(&mut serde_json::Deserializer::from_str(json));
                let shown = read.err().map(|error| error.to_string()).unwrap_or_default();
                assert!(!shown.contains("very-secret"), "{shown}");
            }
        }
    }

    #[test]
    fn a_time_that_rfc_3339_cannot_write_is_rejected() {
        let time = RecordKind::Group.stored().find(|field| field.form == Form::Time).unwrap();
        assert!(time.parse("0000-01-01T00:00:00Z").is_ok());
        assert!(time.parse("-000001-12-31T23:59:59Z").is_err());
    }

    #[test]
    fn an_integer_outside_of_its_form_is_corrupt() {
        let mut gateway = Record::new(RecordKind::Gateway, []);
        gateway.set("port", Value::Number(65_535));
        assert!(serde_json::to_string(&gateway).is_ok());
        gateway.set("port", Value::Number(65_536));
        assert!(serde_json::to_string(&gateway).is_err());
    }
}
