//! Rows of the texts of faults and variations: when one shows, and what it does.

use std::collections::HashSet;
use std::sync::{Arc, LazyLock, OnceLock};

use minijinja::{Error, Value};
use sallyport_conformance_base::contract::{Clause, Contract, OperationId};
use sallyport_conformance_base::target::{Fact, Facts};

use super::act::{self, Act, Place};
use super::filters::Text;
use super::known::{Known, defined, value};
use super::own::Own;
use super::search;
use crate::call::Call;
use crate::exchange::{ProxiedRequest, Reply};
use crate::journal::Layer;
use crate::upstream::Handler;
use crate::{Backend, Context, Upstream};

/// Texts of this folder, in the order of their rows.
macro_rules! texts {
    ($($name:literal)+) => { [$(($name, include_str!($name))),+] };
}

/// What the rows of a text are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Servers that keep every clause but one.
    Fault,
    /// Conforming servers that decide unspecified behaviour otherwise.
    Variation,
}

impl Kind {
    /// What may stand behind an id.
    const fn flags(self) -> &'static [&'static str] {
        match self {
            Self::Fault => &[],
            Self::Variation => &["consistent", "everywhere", "capitals"],
        }
    }
}

/// A fault, which breaks one clause, or a variation, which decides unspecified behaviour otherwise.
#[derive(Debug)]
pub struct Row {
    /// `clause/what-is-wrong` of a fault, or what a variation decides.
    pub id: String,
    /// What the server does wrong, or decides otherwise, in a sentence.
    pub breaks: String,
    /// `everywhere` stands for all operations, whatever its clause.
    flags: Vec<&'static str>,
    only: Option<OperationId>,
    when: Vec<When>,
    acts: Vec<Act>,
    /// The changes that make a second request of the one that was sent; `theirs` are the items of its response.
    asking: Vec<Act>,
    at: String,
    /// Why an expression had no value, when that happened: whatever was noticed then is not the fault.
    failed: OnceLock<String>,
}

#[derive(Debug)]
enum When {
    Is(Text),
    /// It holds for one of a list, or for all, by the word for each.
    Each {
        is_any: bool,
        word: &'static str,
        list: Text,
        text: Text,
    },
}

/// The words for each of a list, and that of the list.
const EACH: [(&str, &str); 3] = [("item", "ips"), ("bound", "bounds"), ("sent", "tokens")];

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

static FAULTS: Rows = LazyLock::new(|| {
    let texts = texts! {
        "all.txt" "extract_access.txt" "extract_response.txt" "extract_choice.txt" "extract_count.txt"
        "extract_identity.txt" "extract_rare.txt" "extract_text.txt" "groups.txt" "plain.txt"
        "search_account.txt" "search_filter.txt" "search_input.txt" "search_intersection.txt" "search_item.txt"
        "search_match.txt" "search_page.txt" "search_shape.txt" "search_time.txt"
    };
    rows_of(&texts, Kind::Fault)
});

static VARIED: Rows = LazyLock::new(|| rows_of(&texts! { "variations.txt" }, Kind::Variation));

fn rows_of(texts: &[(&str, &'static str)], kind: Kind) -> (Vec<Row>, Vec<String>) {
    let (mut rows, mut mistakes) = (Vec::new(), Vec::new());
    for (file, text) in texts {
        let (mut prefix, mut head) = ("", None);
        for (number, line) in text.lines().enumerate() {
            let at = format!("{file}:{}", number + 1);
            match (line.strip_prefix("    "), head.take()) {
                (Some(body), Some(head)) => {
                    let prefixes = prefixes(file, prefix);
                    if prefixes.is_empty() {
                        mistakes.push(format!("{at}: no operation has a clause `{prefix}`"));
                    }
                    for prefix in prefixes {
                        match read(&at, &prefix, head, body, kind) {
                            Ok(read) => rows.extend(read),
                            Err(mistake) => mistakes.push(format!("{at}: {mistake}")),
                        }
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
        let given: Vec<&str> = row.acts.iter().filter_map(Act::given).collect();
        let of_texts = row.texts().flat_map(|text| super::known::mistakes_of(text, &given));
        mistakes.extend(of_texts.map(|mistake| format!("{}: {mistake}", row.at)));
    }
    mistakes.extend(super::known::mistakes());
    mistakes
}

/// Every fault, ordered by operation and rule. Ids are unique and stay: the matrix of known faults refers to them.
pub fn faults() -> &'static [Row] {
    &FAULTS.0
}

/// Every conforming variation. Ids are unique.
pub fn variations() -> &'static [Row] {
    &VARIED.0
}

/// The rows of a head line, one for each context, and the line that says when they show and what they do.
fn read(
    at: &str,
    prefix: &str,
    head: &'static str,
    body: &'static str,
    kind: Kind,
) -> Result<Vec<Row>, String> {
    let (id, breaks) = head.split_once(": ").ok_or("expected `ID: SENTENCE`")?;
    let (flags, words): (Vec<&str>, Vec<&str>) = id.split(' ').partition(|word| kind.flags().contains(word));
    let (id, how, contexts) = match &words[..] {
        [id] => (id, "+", &[][..]),
        [id, how @ ("+" | "in"), contexts @ ..] => (id, *how, contexts),
        [_, other, ..] => {
            let flags = [kind.flags(), &["+", "in"]].concat().join("`, `");
            return Err(format!("unknown flag `{other}`; expected one of `{flags}`"));
        }
        [] => return Err("expected an id".to_owned()),
    };
    let mut rows = Vec::new();
    if how == "+" {
        rows.push(Row::read(at, format!("{prefix}{id}"), breaks.to_owned(), body)?);
    }
    for word in contexts {
        let context = CONTEXTS.iter().find(|(name, ..)| name == word);
        let (_, end, says, when) = context.ok_or_else(|| format!("unknown context `{word}`"))?;
        let hyphen = if how == "in" { "" } else { "-" };
        let breaks = format!("{}{says}", breaks.strip_suffix('.').ok_or("expected a full stop")?);
        let mut row = Row::read(at, format!("{prefix}{id}{hyphen}{end}"), breaks, body)?;
        row.when.push(When::Is(Text::new(when)));
        rows.push(row);
    }
    rows.iter_mut().for_each(|row| row.flags.extend(&flags));
    Ok(rows)
}

/// The parts of a text between semicolons outside of quotes.
fn parts(text: &'static str) -> impl Iterator<Item = &'static str> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    let parts = text.split(move |c| {
        is_quoted ^= c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        c == ';' && !is_quoted
    });
    parts.map(str::trim_start)
}

impl Row {
    /// The rows of a text in the form of `src/rows/*.txt`; `file` names it in errors, the lines that cannot be read.
    pub fn parse(file: &str, text: &'static str, kind: Kind) -> Result<&'static [Self], Vec<String>> {
        let (rows, mistakes) = rows_of(&[(file, text)], kind);
        // Rows live as long as their text.
        if mistakes.is_empty() { Ok(Vec::leak(rows)) } else { Err(mistakes) }
    }

    fn read(at: &str, id: String, breaks: String, body: &'static str) -> Result<Self, String> {
        let (when, acts) = match body.strip_prefix("=> ") {
            Some(acts) => ("", acts),
            None => body.split_once(" => ").ok_or("expected `=>` before what it does")?,
        };
        let (of, when) = match when.strip_prefix("of ") {
            Some(of) => of.split_once(' ').unwrap_or((of, "")),
            None => ("", when),
        };
        let only = match of {
            "" | "all" => None,
            name => Some(OperationId::from_id(name).ok_or_else(|| format!("unknown operation `{name}`"))?),
        };
        let when = match when.strip_prefix("if ") {
            Some(when) => parts(when).map(When::read).collect(),
            None if when.is_empty() => Vec::new(),
            None => return Err("expected `if` before its conditions".to_owned()),
        };
        let (acts, asking) = acts.split_once(" asking ").unwrap_or((acts, ""));
        let act = |act: &'static str| Act::parse(act).ok_or_else(|| format!("unknown place in `{act}`"));
        let acts = parts(acts).map(act).collect::<Result<_, _>>()?;
        let asking = parts(asking).filter(|text| !text.is_empty()).map(act).collect::<Result<_, _>>()?;
        let flags = if of == "all" { vec!["everywhere"] } else { Vec::new() };
        let (at, failed) = (at.to_owned(), OnceLock::new());
        Ok(Self { id, breaks, flags, only, when, acts, asking, at, failed })
    }

    /// Whether it is about an operation, as the first part of its id says, or about requests of none.
    pub(crate) fn concerns(&self, operation: Option<OperationId>) -> bool {
        if self.only.is_some() {
            return operation == self.only;
        }
        let prefix = self.id.split('.').next().unwrap_or_default();
        match prefix {
            "static" => operation.is_some_and(|id| id != OperationId::Extract),
            "addresses" | "times" => operation == Some(OperationId::Search),
            _ => OperationId::from_id(prefix).is_none_or(|id| operation == Some(id)),
        }
    }

    fn texts(&self) -> impl Iterator<Item = &Text> {
        let when = self.when.iter().map(When::text);
        when.chain(self.acts.iter().chain(&self.asking).filter_map(Act::text))
    }

    /// A server that does so in front of `next`, with its changes in the journal.
    pub(crate) fn layer(&'static self, next: &Upstream, backend: &Arc<Backend>) -> Layer {
        Layer::new(&*self.id, next, backend, |context| RowServer { row: self, context })
    }

    /// A server that does so.
    pub fn server(&'static self, context: Context) -> impl Handler {
        RowServer { row: self, context }
    }

    /// Whether names of headers are spelt with capitals.
    pub fn has_capitals(&self) -> bool {
        self.flags.contains(&"capitals")
    }

    /// Whether a server has to decide so for all of its responses, such as an order of items.
    pub(crate) fn is_consistent(&self) -> bool {
        self.flags.contains(&"consistent")
    }

    /// The clause that a fault breaks, with which its id begins.
    ///
    /// # Panics
    /// The row is a variation.
    #[expect(clippy::expect_used, reason = "ids are constants, and the proof looks up the clause of each")]
    pub fn clause(&self) -> Clause {
        let id = self.id.split('/').next().unwrap_or(&self.id);
        Clause::from_id(id).expect("the id of a fault begins with that of its clause")
    }

    /// The operations whose requests it touches: that of its clause, or all of them for `all.…` unless its row is limited to one.
    pub fn operations(&self) -> Vec<OperationId> {
        OperationId::ALL.iter().copied().filter(|id| self.concerns(Some(*id))).collect()
    }

    /// The environment variables of what it needs and does not have: without the facts that its words use, a fault changes nothing.
    /// `has_token` says whether the token of the main account is known.
    pub fn lacks(&self, has_token: bool, facts: &Facts) -> Vec<&'static str> {
        let mut words = HashSet::new();
        self.texts().for_each(|text| add_words(text, &mut words));
        let token = (!has_token && words.contains("token")).then_some("SALLYPORT_API_KEY");
        let is_lacking =
            |fact: &Fact| !facts.has(*fact) && words.contains(&format!("facts.{}", fact.field()));
        let facts = Fact::ALL.into_iter().filter(is_lacking);
        token.into_iter().chain(facts.map(Fact::variable)).collect()
    }

    /// Why it could not be followed, when that happened, by file and line: what was noticed then is not the fault.
    pub fn failure(&self) -> Option<&str> {
        self.failed.get().map(String::as_str)
    }

    fn holds(&self, known: &Known) -> Result<bool, Error> {
        self.when.iter().try_fold(true, |all, when| Ok(all && when.holds(known)?))
    }

    /// The response of a server that does so.
    async fn response(&self, call: Call) -> Reply {
        let failed = |error: Error| {
            let message = self.failed.get_or_init(|| format!("{}: {error:#}", self.at));
            Reply::json_with(500, &serde_json::json!({ "code": 50000, "message": message }))
        };
        self.changed(call).await.unwrap_or_else(failed)
    }

    async fn changed(&self, mut call: Call) -> Result<Reply, Error> {
        let mut known = Known::new(&call);
        if !self.holds(&known)? {
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
        let fits = |act: &Act| matches!(act, Act::Reply(scope, ..) if scope.fits(&call, &reply));
        let fitting: Vec<bool> = self.acts.iter().map(fits).collect();
        if !self.asking.is_empty() && fitting.contains(&true) {
            known = self.asked(known, sent, &reply).await?;
        }
        for (act, fits) in self.acts.iter().zip(fitting) {
            match act {
                Act::Reply(_, spot, text) if fits => spot.change(text, &known, &call, &mut reply)?,
                Act::Own(Own::Reply(change)) => change(&call, &mut reply),
                _ => {}
            }
        }
        Ok(reply)
    }

    /// What is known with the response to another request, which is made of the one that was sent.
    async fn asked(&self, known: Known, mut other: Call, reply: &Reply) -> Result<Known, Error> {
        let mut asking = known.with_reply(reply);
        for act in &self.asking {
            if let Act::Request(place, text) = act {
                asking = place.change(text, asking, &mut other)?;
            }
        }
        let found = other.send().await.json();
        let total = Value::from(search::total(&found));
        let items = found["data"]["items"].as_array().cloned().unwrap_or_default();
        Ok(known.with("theirs", value(items)).with("their_total", total).with("their_reply", value(found)))
    }
}

struct RowServer {
    row: &'static Row,
    context: Context,
}

impl Handler for RowServer {
    async fn handle(&self, request: ProxiedRequest) -> Reply {
        let Self { row, context } = self;
        let operation = context.operation(&request);
        if row.flags.contains(&"everywhere") || row.concerns(operation) {
            return row.response(Call::new(context, request)).await;
        }
        context.upstream.call(&request).await
    }
}

impl When {
    fn read(text: &'static str) -> Self {
        for (quantifier, is_any) in [("any ", true), ("all ", false)] {
            let quantified = text.strip_prefix(quantifier).and_then(|rest| rest.split_once(": "));
            if let Some((name, text)) = quantified
                && let Some(&(word, list)) = EACH.iter().find(|(word, _)| *word == name)
            {
                return Self::Each { is_any, word, list: Text::new(list), text: Text::new(text) };
            }
        }
        Self::Is(Text::new(text))
    }

    fn text(&self) -> &Text {
        match self {
            Self::Is(text) | Self::Each { text, .. } => text,
        }
    }

    fn holds(&self, known: &Known) -> Result<bool, Error> {
        let (is_any, word, list, text) = match self {
            Self::Is(text) => return Ok(text.value(known)?.is_true()),
            Self::Each { is_any, word, list, text } => (*is_any, *word, list, text),
        };
        for one in list.value(known)?.try_iter()? {
            if text.value(&known.with(word, one))?.is_true() == is_any {
                return Ok(is_any);
            }
        }
        Ok(!is_any)
    }
}

/// Adds the words of a text, and those of the words that are made of others.
fn add_words(text: &Text, words: &mut HashSet<String>) {
    for word in text.words().into_iter().flatten() {
        let text = defined(&word);
        if words.insert(word) {
            text.into_iter().for_each(|text| add_words(text, words));
        }
    }
}
