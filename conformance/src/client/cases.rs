//! The cases: the rows of `cases.txt`, and one for each variation of the lab that a call can meet.

use std::time::Duration;

use serde_json::json;

use super::case::{CaseToken, ClientCase, Expectation, Place, judge};
use super::duty::Duty;
use super::protocol::Operation;
use crate::checks::UNKNOWN_ADDRESS;
use crate::contract::Contract;

/// What the file says of itself: a row is the id and the title of a case, what is called with which options, and the steps of a scenario.
const ROWS: &str = include_str!("cases.txt");

/// Every case. `addresses` are those that searches ask for: some that hold instances of the account.
#[must_use]
pub fn all(contract: &Contract, addresses: &[String]) -> Vec<ClientCase> {
    let rows = rows().into_iter().filter_map(|row| case(contract, addresses, &row));
    rows.chain(variations(contract, addresses)).collect()
}

/// The lines of each row.
fn rows() -> Vec<Vec<&'static str>> {
    let mut rows: Vec<Vec<&str>> = Vec::new();
    for line in ROWS.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        match (line.strip_prefix("  "), rows.last_mut()) {
            (Some(further), Some(row)) => row.push(further),
            _ => rows.push(vec![line]),
        }
    }
    rows
}

/// The case of a row; none where the row has a mistake.
fn case(contract: &Contract, addresses: &[String], row: &[&'static str]) -> Option<ClientCase> {
    let [head, called, steps @ ..] = row else { return None };
    let (id, title) = head.split_once(": ")?;
    let (duty, name) = id.split_once('.')?;
    let mut words = called.split(' ');
    let operation =
        words.next().and_then(|word| Operation::ALL.into_iter().find(|one| one.name() == word))?;
    let mut case = ClientCase::new(Duty::from_id(&format!("client.{duty}"))?, name, title, operation);
    let mut told = Arguments { addresses: addresses.to_vec(), ..Arguments::default() };
    for word in words {
        let (option, value) = word.split_once('=').unwrap_or((word, ""));
        match option {
            "page-size" => told.page_size = value.parse().ok()?,
            "finds-nothing" => told.addresses = vec![UNKNOWN_ADDRESS.to_owned()],
            "lb" => told.lb = value,
            "sb" => told.sb = Some(value),
            "expects" if value == "error" => case.expectation = Expectation::Error,
            "expects" if value == "either" => case.expectation = Expectation::Either,
            "seconds" => case.limit = Duration::from_secs(value.parse().ok()?),
            "executions" => case.executions = value.parse().ok()?,
            "variation" => case.variation = Some(value),
            "capitals" => case.capitals = true,
            "token-in-base64" => case.token = CaseToken::Base64,
            "plain-http" => case.place = Place::PlainHttp(value),
            "judged" => case.judge = Some(judge(value)?),
            "nobody" => case.place = Place::Nobody,
            _ => return None,
        }
    }
    case.steps = steps.join("\n");
    told.tell(contract, &mut case);
    Some(case)
}

/// What the command is told of a call.
struct Arguments {
    addresses: Vec<String>,
    page_size: usize,
    lb: &'static str,
    sb: Option<&'static str>,
}

impl Default for Arguments {
    fn default() -> Self {
        Self { addresses: Vec::new(), page_size: 50, lb: "4", sb: None }
    }
}

impl Arguments {
    /// Adds those of the operation of a case, by the names of the document.
    fn tell(self, contract: &Contract, case: &mut ClientCase) {
        let (extract, search) = (&contract.extract, &contract.search);
        let (num, lb) = ((&extract.num.name, json!(4)), (&extract.lb.name, json!(self.lb)));
        let arguments = match case.call.operation {
            Operation::Extract => vec![(&extract.num.name, json!(3))],
            Operation::ExtractText => {
                [num, lb].into_iter().chain(self.sb.map(|sb| (&extract.sb.name, json!(sb)))).collect()
            }
            Operation::Groups => Vec::new(),
            Operation::Search => vec![
                (&search.ips.name, json!(self.addresses)),
                (&search.page_size.name, json!(self.page_size)),
            ],
        };
        case.call.arguments = arguments.into_iter().map(|(name, value)| (name.clone(), value)).collect();
    }
}

/// The variations that no case is about.
fn left_out() -> impl Iterator<Item = &'static str> {
    let rows = include_str!("left_out.txt").lines().filter(|row| !row.starts_with('#'));
    rows.filter_map(|row| row.split_once(": ")).map(|(id, _)| id)
}

/// A case for each variation that a call can meet.
fn variations(contract: &Contract, addresses: &[String]) -> impl Iterator<Item = ClientCase> {
    let ids = crate::lab::variations().iter().map(|variation| &*variation.id);
    let shown = ids.filter(|id| left_out().all(|left_out| left_out != *id));
    shown.filter_map(move |id| {
        let (operation, page_size, is_rejected) = suited(id)?;
        let title = match is_rejected {
            true => format!("a rejection is an error, also where the service decides `{id}`"),
            false => format!("the result is the same where the service decides `{id}`"),
        };
        let mut case =
            ClientCase { variation: Some(id), ..ClientCase::new(Duty::Tolerant, id, title, operation) };
        if is_rejected {
            (case.token, case.expectation) = (CaseToken::Unknown, Expectation::Error);
        } else if id.contains("throttle") || id.contains("unavailable") {
            // A client may give up instead.
            case.expectation = Expectation::Either;
        }
        let told = Arguments { addresses: addresses.to_vec(), page_size, ..Arguments::default() };
        told.tell(contract, &mut case);
        Some(case)
    })
}

/// The call that meets a variation, with its page size, and whether it is rejected. None where a valid call of a client never meets it.
fn suited(id: &str) -> Option<(Operation, usize, bool)> {
    let (family, name) = id.split_once('.')?;
    let (operation, page_size) = match family {
        "rejections" if name.starts_with("static") => (Operation::Groups, 0),
        "rejections" => (Operation::Extract, 0),
        "extract" if name.contains("text") => (Operation::ExtractText, 0),
        "extract" => (Operation::Extract, 0),
        "times" | "addresses" | "search" | "static" => (Operation::Search, 50),
        "http" if name.contains("first") => (Operation::Extract, 0),
        "http" if name.contains("json") || name.contains("ids") => (Operation::Groups, 0),
        "http" => (Operation::Search, 3),
        _ => return None,
    };
    Some((operation, page_size, family == "rejections"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_a_case_whose_steps_are_a_scenario() {
        let contract = Contract::embedded().expect("the embedded contract");
        let places =
            crate::client::case::Places { token: "t", service: "http://127.0.0.1:1", other_port: "2" };
        for row in rows() {
            let case = case(contract, &[], &row).unwrap_or_else(|| panic!("{row:?}"));
            let file = std::path::Path::new(&case.id);
            crate::lab::Scenarios::parse(file, &case.scenario(&places)).expect("a scenario");
        }
    }

    #[test]
    fn what_is_left_out_is_a_variation() {
        let known = crate::lab::variations();
        for id in left_out() {
            assert!(known.iter().any(|variation| variation.id == id), "{id}");
        }
    }
}
