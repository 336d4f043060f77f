//! A server of the API that was written from the contract's prose alone, with data, faults and variations of its own. It shares no
//! code with the suite's checks or the reference server.

mod facts;
mod server;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sallyport_conformance::contract::Clause;
use sallyport_conformance::detection::KnownFault;
use sallyport_conformance::lab::{Backend, Framing, Handler, ProxiedRequest, Reply, Upstream};
use sallyport_conformance::{Contract, Secret};

use server::engine::{Changes, Rule, has_row};
use server::{Decisions, Server, world};

/// Whether a request has made a server panic, which would look like a fault.
static HAS_PANICKED: AtomicBool = AtomicBool::new(false);

/// What the ids of its faults and variations begin with where those of the lab stand beside them.
pub const PREFIX: &str = "independent/";

/// The faults by clause: `  ID: SENTENCE => WHAT IT DOES` after a line with the clause.
const FAULTS: &str = include_str!("faults.txt");

/// Its conforming variations: `ID: SENTENCE`, and the decisions behind `=` where they are not one with that name.
const VARIATIONS: &str = include_str!("variations.txt");

/// A conforming server that decides something otherwise.
pub struct Variation {
    /// Unique among these.
    pub id: &'static str,
    pub decisions: Decisions,
    /// The rules of the decision of its name.
    rules: Option<&'static str>,
}

/// The server with a fault.
pub fn serve(fault: &KnownFault) -> Upstream {
    let id = fault.id.strip_prefix(PREFIX).unwrap_or(&fault.id);
    // The first text of an address can only be told from the last where a spelling matters.
    let matters = fault.clause == Clause::SearchIpsFirstText;
    server(id, matters.then_some("stored-spelling").into_iter().collect())
}

/// The error of its own that it had, so that no result counts.
pub fn failure() -> Option<&'static str> {
    HAS_PANICKED.load(Ordering::Relaxed).then_some("the server panicked")
}

impl Variation {
    /// Whether names of headers are spelt with capitals.
    pub fn has_capitals(&self) -> bool {
        self.decisions.contains(&"title-case")
    }
}

/// The server with some decisions, and what is known of it.
pub fn backend(decisions: Decisions) -> Arc<Backend> {
    Arc::new(Backend {
        contract: Contract::embedded().expect("the embedded contract is complete"),
        token: Secret::new("API_KEY", world::MAIN),
        facts: facts::facts(&decisions),
        upstream: server("", decisions),
    })
}

/// The server with a fault, or none with an empty id, and with decisions.
fn server(fault: &str, decisions: Decisions) -> Upstream {
    let decided = variations().filter(|variation| decisions.contains(&variation.id));
    let changes = Changes {
        circumstance: fault.split_once('@').map(|(_, name)| format!("@{name}")),
        fault: act(fault).into_iter().flat_map(Rule::parse_all).collect(),
        decided: decided.filter_map(|variation| variation.rules).flat_map(Rule::parse_all).collect(),
    };
    Upstream::new(Server::new(changes, decisions))
}

/// The lines of a list without its comments.
fn rows(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

pub fn variations() -> impl Iterator<Item = Variation> {
    rows(VARIATIONS).map(|row| {
        let (id, text) = row.split_once(": ").expect("a variation has a sentence");
        let (text, rules) = text.split_once(" => ").map_or((text, None), |(text, rules)| (text, Some(rules)));
        let decisions = match text.split_once(" =") {
            Some((_, names)) => names.split(',').map(str::trim).filter(|name| !name.is_empty()).collect(),
            None => vec![id],
        };
        Variation { id, decisions, rules }
    })
}

pub fn faults() -> Vec<KnownFault> {
    let mut clause = None;
    let mut faults = Vec::new();
    for line in rows(FAULTS) {
        let Some((id, breaks, _)) = fault_row(line) else {
            clause = Some(Clause::from_id(line).unwrap_or_else(|| panic!("unknown clause `{line}`")));
            continue;
        };
        faults.push(KnownFault {
            id: format!("{PREFIX}{id}"),
            clause: clause.expect("a fault stands below its clause"),
            breaks: breaks.to_owned(),
            noticed_by: Vec::new(),
        });
    }
    faults
}

/// The id of a fault, its sentence, and what it does; none for the line of a clause.
fn fault_row(line: &'static str) -> Option<(&'static str, &'static str, Option<&'static str>)> {
    let (id, rest) = line.strip_prefix("  ")?.split_once(": ")?;
    let (breaks, edit) = rest.split_once(" => ").map_or((rest, None), |(breaks, edit)| (breaks, Some(edit)));
    Some((id, breaks, edit))
}

/// What the row of a fault says that it does, or the row of the same fault in all circumstances.
fn act(id: &str) -> Option<&'static str> {
    let everywhere = id.split('@').next().unwrap_or(id);
    let of = |wanted: &str| rows(FAULTS).filter_map(fault_row).find(|(id, ..)| *id == wanted)?.2;
    of(id).or_else(|| of(everywhere))
}

/// A fault or a decision without a row, or with one for a name or a circumstance that the server does not have, would be one in name only.
pub fn every_fault_has_a_place() {
    let has_places = |row| Rule::parse_all(row).iter().all(|rule| has_row(rule.operation, rule.name));
    let has_place = |fault: &KnownFault| {
        let id = fault.id.trim_start_matches(PREFIX);
        let circumstance = id.split_once('@').map(|(_, name)| format!("@{name}"));
        act(id).is_some_and(has_places) && circumstance.is_none_or(|name| has_row("", &name))
    };
    let lost: Vec<_> = faults().into_iter().filter(|fault| !has_place(fault)).collect();
    assert!(lost.is_empty(), "{lost:?}");
    let known: Vec<_> = variations().collect();
    let rules = |name: &str| known.iter().find(|variation| variation.id == name)?.rules;
    let sources = concat!(include_str!("mod.rs"), include_str!("server/world.rs"));
    let is_asked = |name: &str| sources.contains(&format!("\"{name}\""));
    let has_effect = |decision: &&str| rules(decision).map_or_else(|| is_asked(decision), has_places);
    assert_eq!(known.iter().flat_map(|variation| &variation.decisions).find(|one| !has_effect(one)), None);
}

impl Handler for Server {
    async fn handle(&self, seen: ProxiedRequest) -> Reply {
        if self.decides("slow") {
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        let response = catch_unwind(AssertUnwindSafe(|| self.response(&seen)));
        let mut reply = response.unwrap_or_else(|_| {
            HAS_PANICKED.store(true, Ordering::Relaxed);
            Reply::json_with(500, &"the server has a bug".into())
        });
        if self.decides("chunked") {
            reply.framing = Framing::Pieces(700);
        }
        if self.decides("close") {
            reply.set_header("connection", "close");
        }
        reply
    }
}
