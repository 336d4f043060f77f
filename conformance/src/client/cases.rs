//! The cases: the rows of `cases.txt`, and one for each variation of the lab that a call can meet.

use std::time::Duration;

use serde_json::json;

use super::case::{CaseToken, ClientCase, Expectation, Place, judge_named, judge_of};
use super::duty::Duty;
use super::protocol::{Call, Operation};
use crate::checks::UNKNOWN_ADDRESS;
use crate::contract::Contract;

/// What the file says of itself: a row is the id and the title of a case, what is called with which options, and the steps of a scenario.
const ROWS: &str = include_str!("cases.txt");

/// Time limit of a call unless a case is about time: enough for every wait of a case.
const LIMIT: Duration = Duration::from_secs(12);

/// Every case. `addresses` are those that searches ask for: some that hold instances of the account.
#[must_use]
pub fn all(contract: &Contract, addresses: &[String]) -> Vec<ClientCase> {
    let rows = rows().into_iter().filter_map(|row| case(contract, addresses, &row));
    rows.chain(variations(contract, addresses)).collect()
}

/// The lines of each row.
fn rows() -> Vec<Vec<&'static str>> {
    let lines: Vec<&str> = ROWS.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    let rows = lines.chunk_by(|_, next| next.starts_with("  "));
    rows.map(|row| row.iter().map(|line| line.strip_prefix("  ").unwrap_or(line)).collect()).collect()
}

/// The case of a row; none where the row has a mistake.
fn case(contract: &Contract, addresses: &[String], row: &[&str]) -> Option<ClientCase> {
    let [head, called, steps @ ..] = row else { return None };
    let (id, title) = head.split_once(": ")?;
    let (duty, name) = id.split_once('.')?;
    let duty = Duty::from_id(&format!("client.{duty}"))?;
    let mut words = called.split(' ');
    let operation = words.next().and_then(Operation::named)?;
    let mut case = ClientCase {
        id: format!("{duty}.{name}"),
        duty,
        title: title.to_owned(),
        call: Call { operation, arguments: serde_json::Map::new() },
        expectation: Expectation::Result,
        limit: LIMIT,
        executions: 1,
        steps: steps.join("\n"),
        variation: None,
        place: Place::Lab,
        capitals: false,
        token: CaseToken::Plain,
        judge: judge_of(duty),
    };
    let (mut ips, mut page_size, mut lb, mut sb) = (json!(addresses), 50, "4", None);
    for word in words {
        let (option, value) = word.split_once('=').unwrap_or((word, ""));
        match option {
            "page-size" => page_size = value.parse().ok()?,
            "finds-nothing" => ips = json!([UNKNOWN_ADDRESS]),
            "lb" => lb = value,
            "sb" => sb = Some(value),
            "expects" if value == "error" => case.expectation = Expectation::Error,
            "expects" if value == "either" => case.expectation = Expectation::Either,
            "seconds" => case.limit = Duration::from_secs(value.parse().ok()?),
            "executions" => case.executions = value.parse().ok()?,
            "variation" => {
                case.variation = Some(crate::lab::variations().iter().find(|one| one.id == value)?)
            }
            "capitals" => case.capitals = true,
            "token-in-base64" => case.token = CaseToken::Base64,
            "unknown-token" => case.token = CaseToken::Unknown,
            "plain-http" => case.place = Place::PlainHttp(value.to_owned()),
            "judged" => case.judge = Some(judge_named(value)?),
            "nobody" => case.place = Place::Nobody,
            _ => return None,
        }
    }
    let (extract, search) = (&contract.extract, &contract.search);
    let arguments = match operation {
        Operation::Extract => vec![(&extract.num, json!(3))],
        Operation::ExtractText => {
            let sb = sb.map(|sb| (&extract.sb, json!(sb)));
            [(&extract.num, json!(4)), (&extract.lb, json!(lb))].into_iter().chain(sb).collect()
        }
        Operation::Groups => Vec::new(),
        Operation::Search => vec![(&search.ips, ips), (&search.page_size, json!(page_size))],
    };
    case.call.arguments = arguments.into_iter().map(|(input, value)| (input.name.clone(), value)).collect();
    Some(case)
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
        let (called, is_rejected) = suited(id)?;
        let (title, expects) = match is_rejected {
            true => ("a rejection is an error, also", " unknown-token expects=error"),
            // A client may give up instead.
            false if id.contains("throttle") || id.contains("unavailable") => {
                ("the result is the same", " expects=either")
            }
            false => ("the result is the same", ""),
        };
        let head = format!("tolerant.{id}: {title} where the service decides `{id}`");
        case(contract, addresses, &[&head, &format!("{called} variation={id}{expects}")])
    })
}

/// The call that meets a variation, as a row has it, and whether it is rejected. None where a valid call of a client never meets it.
fn suited(id: &str) -> Option<(&'static str, bool)> {
    let (family, name) = id.split_once('.')?;
    let called = match family {
        "rejections" if name.starts_with("static") => "groups",
        "rejections" => "extract",
        "extract" if name.contains("text") => "extract_text",
        "extract" => "extract",
        "times" | "addresses" | "search" | "static" => "search",
        "http" if name.contains("first") => "extract",
        "http" if name.contains("json") || name.contains("ids") => "groups",
        "http" => "search page-size=3",
        _ => return None,
    };
    Some((called, family == "rejections"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_a_case_whose_steps_are_a_scenario_or_leaves_out_a_variation() {
        let contract = Contract::embedded().expect("the embedded contract");
        let places =
            crate::client::case::Places { token: "t", service: "http://127.0.0.1:1", other_port: "2" };
        for row in rows() {
            let case = case(contract, &[], &row).unwrap_or_else(|| panic!("{row:?}"));
            let file = std::path::Path::new(&case.id);
            crate::lab::Scenarios::parse(file, &case.scenario(&places)).expect("a scenario");
        }
        let known = crate::lab::variations();
        for id in left_out() {
            assert!(known.iter().any(|variation| variation.id == id), "{id}");
        }
    }
}
