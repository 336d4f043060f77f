//! Server errors that may be momentary: HTTP 500, and those of a gateway in front of the service (502, 504).

use std::collections::BTreeMap;
use std::sync::Mutex;

use serde_json::Value;

use crate::lock::lock;
use crate::wire::{Exchange, TransientFailure};

/// How often a server error with each code recurred when its request was sent again.
#[derive(Debug, Default)]
pub(crate) struct RecurringErrors(Mutex<BTreeMap<String, u32>>);

/// A code that recurred so often stands for a rejection, and is final.
const FINAL: u32 = 3;

impl RecurringErrors {
    /// Whether the response may be another one when the request is sent again. Without a code it always may.
    pub(super) fn may_pass(&self, exchange: &Exchange) -> bool {
        let is_final =
            |code: &Value| lock(&self.0).get(&code.to_string()).is_some_and(|times| *times >= FINAL);
        is_server_error(exchange) && !business_code(exchange).is_some_and(is_final)
    }

    /// Counts a server error that recurred.
    pub(super) fn add(&self, exchange: &Exchange) {
        if let Some(code) = business_code(exchange) {
            *lock(&self.0).entry(code.to_string()).or_default() += 1;
        }
    }
}

pub(super) fn is_server_error(exchange: &Exchange) -> bool {
    TransientFailure::new(&exchange.result) == Some(TransientFailure::ServerError)
}

/// The code of a rejection in a response, a number or a string.
pub(super) fn business_code(exchange: &Exchange) -> Option<&Value> {
    let code = exchange.result.as_ref().ok().and_then(|response| response.at("/code"));
    code.filter(|code| code.is_number() || code.as_str().is_some_and(|code| !code.is_empty()))
}
