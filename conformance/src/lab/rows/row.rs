//! Rows of the texts of faults: when a fault shows, and what it does.

use std::collections::BTreeSet;
use std::sync::{LazyLock, OnceLock};

use minijinja::{Error, Value};

use super::act::{self, Act, Place, Scope};
use super::filters::Text;
use super::known::{Known, defined, fact, value};
use super::own::Own;
use crate::contract::{Clause, Contract, OperationId};
use crate::lab::Call;
use crate::lab::exchange::Reply;
use crate::lab::faults::part::{FROM, TO, text};
use crate::lab::faults::search;
use crate::target::{Fact, Facts};

/// The texts, in the order of the faults.
macro_rules! texts {
    ($($name:literal),+ $(,)?) => { [$(($name, include_str!($name))),+] };
}

const TEXTS: [(&str, &str); 19] = texts![
    "all.txt",
    "extract_access.txt",
    "extract_response.txt",
    "extract_choice.txt",
    "extract_count.txt",
    "extract_identity.txt",
    "extract_rare.txt",
    "extract_text.txt",
    "groups.txt",
    "plain.txt",
    "search_account.txt",
    "search_filter.txt",
    "search_input.txt",
    "search_intersection.txt",
    "search_item.txt",
    "search_match.txt",
    "search_page.txt",
    "search_shape.txt",
    "search_time.txt",
];

/// The text of the variations.
const VARIATIONS: [(&str, &str); 1] = texts!["variations.txt"];

/// What may stand behind the id of a variation.
const FLAGS: [&str; 3] = ["consistent", "everywhere", "capitals"];

/// What a fault must know of the service, since it changes nothing without it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Need {
    /// The token of the main account.
    Token,
    /// A fact.
    Fact(Fact),
}

/// A fault or a variation as its row says it.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) id: String,
    /// What the server does wrong, or decides otherwise, in a sentence.
    pub(crate) breaks: String,
    flags: Vec<&'static str>,
    /// The operation that it is limited to.
    pub(crate) only: Option<OperationId>,
    /// Whether it changes the requests of all operations, whatever its clause.
    pub(crate) is_everywhere: bool,
    when: Vec<When>,
    acts: Vec<Act>,
    /// The changes that make a second request of the one that was sent; `theirs` are the items of its response.
    asking: Vec<Act>,
    /// File and line.
    at: String,
    /// Why an expression had no value, when that happened: whatever was noticed then is not the fault.
    failed: OnceLock<String>,
}

/// A condition.
#[derive(Debug)]
enum When {
    Is(Text),
    /// One or all of these fit; the first letters say which things.
    Any(Each, Text),
    All(Each, Text),
}

#[derive(Debug, Clone, Copy)]
enum Each {
    /// Items of `ips` that are texts.
    Item,
    /// Bounds that are texts.
    Bound,
    /// Tokens, in whatever way they are sent.
    Sent,
}

/// The contexts: how each ends the id and the sentence of a fault, and its condition.
const CONTEXTS: [(&str, &str, &str, &str); 8] = [
    ("in_text", "in-text", " in plain text.", "in_text"),
    ("text", "in-text", " in text.", "in_text"),
    ("by_query", "by-query", " when the token is in the query.", "by_query"),
    ("by_header", "by-header", " when the token is in X-API-Key.", "by_header"),
    ("by_bearer", "by-bearer", " when the token is in Authorization.", "by_bearer"),
    ("other_protocol", "other-protocol", " for the other protocol.", "with_other_protocol"),
    ("request_id", "with-request-id", " when a request id is sent.", "with_request_id"),
    ("ports", "with-ports", " when all items have ports.", "all_with_ports"),
];

/// The rows of texts, and the lines that cannot be read.
type Rows = LazyLock<(Vec<Row>, Vec<String>)>;

static FAULTS: Rows = LazyLock::new(|| rows_of(&TEXTS));

static VARIED: Rows = LazyLock::new(|| rows_of(&VARIATIONS));

fn rows_of(texts: &[(&str, &'static str)]) -> (Vec<Row>, Vec<String>) {
    let (mut rows, mut mistakes) = (Vec::new(), Vec::new());
    for (file, text) in texts {
        let mut prefix = "";
        let mut head = None;
        for (number, line) in text.lines().enumerate() {
            let at = format!("{file}:{}", number + 1);
            match (line.strip_prefix("    "), head.take()) {
                (Some(body), Some(head)) => {
                    let of_each =
                        prefixes(file, prefix).into_iter().map(|prefix| read(&at, &prefix, head, body));
                    match of_each.collect::<Option<Vec<_>>>().filter(|read| !read.is_empty()) {
                        Some(read) => rows.extend(read.into_iter().flatten()),
                        None => mistakes.push(format!("{at}: {line}")),
                    }
                }
                (None, None) if line.is_empty() || line.starts_with('#') => {}
                (None, None) if line.contains(": ") => head = Some(line),
                (None, None) if !line.contains(' ') => prefix = line,
                _ => mistakes.push(format!("{at}: {line}")),
            }
        }
    }
    (rows, mistakes)
}

/// The clauses of the rows below a line: in one text, that of each plain operation which has such a clause of its own.
fn prefixes(file: &str, prefix: &'static str) -> Vec<String> {
    if file != "plain.txt" {
        return vec![prefix.to_owned()];
    }
    let operations = Contract::embedded().into_iter().flat_map(|contract| contract.plain.keys());
    let named = operations.map(|operation| format!("{operation}.{prefix}"));
    named.filter(|name| Clause::from_id(name.trim_end_matches('/')).is_some()).collect()
}

/// The lines that cannot be read, and the words, filters and tests that nobody knows, by file and line.
#[cfg(test)]
pub(crate) fn mistakes() -> Vec<String> {
    let mut mistakes = [&*FAULTS.1, &*VARIED.1].concat();
    for row in faults().iter().chain(variations()) {
        let of_texts = row.texts().flat_map(super::known::mistakes_of);
        mistakes.extend(of_texts.map(|mistake| format!("{}: {mistake}", row.at)));
    }
    mistakes.extend(super::known::mistakes());
    mistakes
}

/// A row with a body.
#[cfg(test)]
pub(super) fn of_body(body: &'static str) -> Option<Row> {
    Row::read("a.txt:1", "extract.num/of-test".to_owned(), "A row of a test.".to_owned(), body)
}

pub(crate) fn faults() -> &'static [Row] {
    &FAULTS.0
}

pub(crate) fn variations() -> &'static [Row] {
    &VARIED.0
}

/// The faults of a head line, one for each context, and the line that says when they show and what they do.
fn read(at: &str, prefix: &str, head: &'static str, body: &'static str) -> Option<Vec<Row>> {
    let (id, breaks) = head.split_once(": ")?;
    let is_variation = VARIATIONS.iter().any(|(file, _)| at.starts_with(file));
    let (flags, words): (Vec<&str>, Vec<&str>) =
        id.split(' ').partition(|word| is_variation && FLAGS.contains(word));
    let mut words = words.into_iter();
    let (id, kind) = (words.next()?, words.next());
    let contexts = words.map(|word| CONTEXTS.iter().find(|(name, ..)| *name == word));
    let contexts = contexts.collect::<Option<Vec<_>>>()?;
    let mut rows = Vec::new();
    if kind != Some("in") {
        let row = Row::read(at, format!("{prefix}{id}"), breaks.to_owned(), body)?;
        rows.push(Row { flags, ..row });
    }
    for (_, end, says, when) in contexts {
        let hyphen = if kind == Some("in") { "" } else { "-" };
        let breaks = format!("{}{says}", breaks.strip_suffix('.')?);
        let mut row = Row::read(at, format!("{prefix}{id}{hyphen}{end}"), breaks, body)?;
        row.when.push(When::Is(Text::new(when)));
        rows.push(row);
    }
    Some(rows)
}

impl Row {
    fn read(at: &str, id: String, breaks: String, body: &'static str) -> Option<Self> {
        let (when, acts) = match body.strip_prefix("=> ") {
            Some(acts) => ("", acts),
            None => body.split_once(" => ")?,
        };
        let (of, when) = match when.strip_prefix("of ") {
            Some(of) => of.split_once(' ').unwrap_or((of, "")),
            None => ("", when),
        };
        let only = match of {
            "" | "all" => None,
            name => Some(*OperationId::ALL.iter().find(|id| id.id() == name)?),
        };
        let when = match when {
            "" => Vec::new(),
            when => when.strip_prefix("if ")?.split("; ").map(When::read).collect(),
        };
        let (acts, asking) =
            acts.split_once(" asking ").map_or((acts, None), |(acts, asking)| (acts, Some(asking)));
        let read = |acts: &'static str| acts.split("; ").map(Act::parse).collect::<Option<Vec<_>>>();
        let asking = asking.map_or_else(|| Some(Vec::new()), read)?;
        let is_everywhere = of == "all";
        Some(Self {
            id,
            breaks,
            flags: Vec::new(),
            only,
            is_everywhere,
            when,
            acts: read(acts)?,
            asking,
            at: at.to_owned(),
            failed: OnceLock::new(),
        })
    }

    fn texts(&self) -> impl Iterator<Item = &Text> {
        let when = self.when.iter().map(When::text);
        when.chain(self.acts.iter().chain(&self.asking).filter_map(Act::text))
    }

    /// Whether a flag stands behind its id.
    pub(crate) fn has(&self, flag: &str) -> bool {
        self.flags.contains(&flag)
    }

    /// What it must know of the service, since it changes nothing without it: the facts that its words use.
    pub(crate) fn needs(&self) -> BTreeSet<Need> {
        let (mut needs, mut known) = (BTreeSet::new(), BTreeSet::new());
        self.texts().for_each(|text| need(text, &mut needs, &mut known));
        needs
    }

    /// File and line, and why an expression of it had no value, when that happened.
    pub(crate) fn failure(&self) -> Option<&str> {
        self.failed.get().map(String::as_str)
    }

    fn holds(&self, known: &Known, call: &Call<'_>) -> Result<bool, Error> {
        for when in &self.when {
            if !when.holds(known, call)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The response of a server that does so.
    pub(crate) async fn response(&self, call: Call<'_>) -> Reply {
        let failed = |error: Error| {
            let message = self.failed.get_or_init(|| format!("{}: {error:#}", self.at));
            Reply::json_with(500, &serde_json::json!({ "code": 50000, "message": message }))
        };
        self.changed(call).await.unwrap_or_else(failed)
    }

    async fn changed(&self, mut call: Call<'_>) -> Result<Reply, Error> {
        let mut known = Known::new(&call);
        if !self.holds(&known, &call)? {
            return Ok(call.send().await);
        }
        let sent = call.clone();
        for act in &self.acts {
            match act {
                Act::Own(Own::Serve(serve)) => return Ok(serve(call).await),
                Act::Own(Own::Request(change)) => change(&mut call),
                Act::Request(Place::Instead, text) => {
                    let instead = text.value(&known)?;
                    if !instead.is_undefined() {
                        return act::response(&instead);
                    }
                }
                Act::Request(place, text) => known = place.change(text, known, &mut call)?,
                Act::Reply(..) | Act::Own(Own::Reply(_)) => {}
            }
        }
        let mut reply = call.send().await;
        let scopes = [Scope::Any, Scope::Success, Scope::Empty, Scope::Error, Scope::Rejection];
        let used =
            |scope: &Scope| self.acts.iter().any(|act| matches!(act, Act::Reply(of, ..) if of == scope));
        let fitting = scopes.into_iter().filter(used).filter(|scope| scope.fits(&call, &reply));
        let fitting: Vec<Scope> = fitting.collect();
        if !self.asking.is_empty() && !fitting.is_empty() {
            known = self.asked(known, sent, &reply).await?;
        }
        for act in &self.acts {
            match act {
                Act::Reply(scope, spot, text) if fitting.contains(scope) => {
                    spot.change(text, &known, &call, &mut reply)?;
                }
                Act::Own(Own::Reply(change)) => change(&call, &mut reply),
                _ => {}
            }
        }
        Ok(reply)
    }

    /// What is known with the response to another request, which is made of the one that was sent.
    async fn asked(&self, known: Known, mut other: Call<'_>, reply: &Reply) -> Result<Known, Error> {
        let mut asking = known.with_reply(reply);
        for act in &self.asking {
            if let Act::Request(place, text) = act {
                asking = place.change(text, asking, &mut other)?;
            }
        }
        let found = other.send().await.json();
        let total = Value::from(search::total(&found));
        let items = found["data"]["items"].as_array().cloned().unwrap_or_default();
        Ok(known.with("theirs", value(items)).with("their_total", total))
    }
}

impl When {
    fn read(text: &'static str) -> Self {
        let each = |each: &str| match each {
            "item" => Some(Each::Item),
            "bound" => Some(Each::Bound),
            "sent" => Some(Each::Sent),
            _ => None,
        };
        let quantified = |word: &str| {
            let (name, text) = text.strip_prefix(word)?.split_once(": ")?;
            Some((each(name)?, Text::new(text)))
        };
        if let Some((each, text)) = quantified("any ") {
            return Self::Any(each, text);
        }
        quantified("all ").map_or_else(|| Self::Is(Text::new(text)), |(each, text)| Self::All(each, text))
    }

    fn text(&self) -> &Text {
        match self {
            Self::Is(text) | Self::Any(_, text) | Self::All(_, text) => text,
        }
    }

    fn holds(&self, known: &Known, call: &Call<'_>) -> Result<bool, Error> {
        let (each, text, is_any) = match self {
            Self::Is(text) => return Ok(text.value(known)?.is_true()),
            Self::Any(each, text) => (each, text, true),
            Self::All(each, text) => (each, text, false),
        };
        for (word, one) in each.of(call) {
            if text.value(&known.with(word, one.into()))?.is_true() == is_any {
                return Ok(is_any);
            }
        }
        Ok(!is_any)
    }
}

impl Each {
    fn of(self, call: &Call<'_>) -> Vec<(&'static str, String)> {
        let (word, found) = match self {
            Self::Item => ("item", search::ips(call)),
            Self::Bound => ("bound", [FROM, TO].into_iter().filter_map(|part| text(call, part)).collect()),
            Self::Sent => ("sent", crate::lab::faults::token::credentials(call)),
        };
        found.into_iter().map(|one| (word, one)).collect()
    }
}

/// What a text needs, also by the words that it uses.
fn need(text: &Text, needs: &mut BTreeSet<Need>, known: &mut BTreeSet<String>) {
    for word in text.words().into_iter().flatten() {
        if !known.insert(word.clone()) {
            continue;
        }
        match word.strip_prefix("facts.") {
            Some(name) => needs.extend(fact(&Facts::default(), name).map(|(fact, _)| Need::Fact(fact))),
            None if word == "token" => drop(needs.insert(Need::Token)),
            None => defined(&word).into_iter().for_each(|text| need(text, needs, known)),
        }
    }
}
