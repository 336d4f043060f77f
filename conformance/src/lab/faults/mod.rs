//! The words that rows and variations are made of.

pub(crate) mod row;

pub(crate) mod condition;
pub(crate) mod edit;
pub(crate) mod part;
pub(crate) mod search;
pub(crate) mod token;

/// The words of rows.
pub(crate) mod words {
    pub(crate) use super::condition::*;
    pub(crate) use super::edit::*;
    pub(crate) use super::part::*;
    pub(crate) use super::row::*;
    pub(crate) use super::search::*;
    pub(crate) use super::token::*;
}

use row::OnReply;

use crate::lab::Call;

/// Changes the text of a response, which `how` gets with what separates its entries.
pub(crate) fn retext(how: impl Fn(&str, &str) -> String + Send + Sync) -> impl OnReply {
    move |call, reply| reply.body = how(&reply.text(), &separator(call)).into()
}

/// What separates the entries of a plain-text response.
pub(crate) fn separator(call: &Call<'_>) -> String {
    let extract = &call.contract.extract;
    extract.separator(call.param(&extract.lb.name), call.param(&extract.sb.name))
}
