//! The faults, by the operation and the rule that they break.

#[macro_use]
pub(crate) mod row;

mod all;
pub(crate) mod condition;
pub(crate) mod edit;
mod extract_access;
mod extract_choice;
mod extract_count;
mod extract_identity;
mod extract_rare;
mod extract_response;
mod extract_text;
mod groups;
pub(crate) mod part;
mod plain;
pub(crate) mod search;
mod search_account;
mod search_filter;
mod search_input;
mod search_intersection;
mod search_item;
mod search_match;
mod search_page;
mod search_shape;
mod search_time;
mod token;

/// The words of rows.
pub(crate) mod words {
    pub(crate) use super::condition::*;
    pub(crate) use super::edit::*;
    pub(crate) use super::part::*;
    pub(crate) use super::row::*;
    pub(crate) use super::search::*;
    pub(crate) use super::token::*;
    pub(crate) use crate::target::Fact;
}

use row::OnReply;

use crate::lab::exchange::Reply;
use crate::lab::{Call, Fault};

pub(crate) fn all() -> Vec<Fault> {
    let tables = [
        all::faults,
        extract_access::faults,
        extract_response::faults,
        extract_choice::faults,
        extract_count::faults,
        extract_identity::faults,
        extract_rare::faults,
        extract_text::faults,
        groups::faults,
        plain::faults,
        search_account::faults,
        search_filter::faults,
        search_input::faults,
        search_intersection::faults,
        search_item::faults,
        search_match::faults,
        search_page::faults,
        search_shape::faults,
        search_time::faults,
    ];
    tables.into_iter().flat_map(|faults| faults()).collect()
}

/// Changes the text of a response, which `how` gets with what separates its entries.
pub(crate) fn retext(how: impl Fn(&str, &str) -> String + Send + Sync) -> impl OnReply {
    move |call, reply| reply.body = how(&reply.text(), &separator(call)).into()
}

/// Puts a comma too many into a JSON object.
fn no_json(_: &Call<'_>, reply: &mut Reply) {
    if let Some(open) = reply.text().strip_suffix('}').filter(|_| !reply.json().is_null()) {
        reply.body = format!("{open},}}").into();
    }
}

/// What separates the entries of a plain-text response.
pub(crate) fn separator(call: &Call<'_>) -> String {
    let extract = &call.contract.extract;
    extract.separator(call.param(&extract.lb.name), call.param(&extract.sb.name))
}
