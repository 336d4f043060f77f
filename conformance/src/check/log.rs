use std::sync::{Mutex, PoisonError};

use crate::lock;
use crate::report::pretty_json;
use crate::wire::{Exchange, RecordedExchange, Redactor};

/// A redacted exchange of a run, with its check and case.
#[derive(Debug, Clone)]
pub struct LoggedExchange {
    /// The check.
    pub check: &'static str,
    /// The label of its case; empty for the only case of a check.
    pub case: String,
    /// Request and response.
    pub exchange: RecordedExchange,
    /// Length of the response body in bytes.
    pub response_length: usize,
    /// Whether `exchange` has only the beginning of that body.
    pub is_response_cut: bool,
}

/// The exchanges of a run, sorted by the time at which they were sent.
#[derive(Debug, Clone, Default)]
pub struct RunLog {
    /// The exchanges that were kept.
    pub exchanges: Vec<LoggedExchange>,
    /// Number of exchanges beyond the limits of the log.
    pub left_out: usize,
}

/// Collects the exchanges of a run.
#[derive(Debug, Default)]
pub(crate) struct ExchangeLog(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    log: RunLog,
    bytes: usize,
}

impl ExchangeLog {
    const BODY_LIMIT: usize = 256 * 1024;
    /// Maximum size of all exchanges in JSON, and maximum number: an exploration that runs for hours must not fill the memory.
    const MAX_BYTES: usize = 128 << 20;
    const MAX_EXCHANGES: usize = 20_000;

    /// Keeps an exchange, without its secrets.
    pub(crate) fn keep(&self, (check, case): (&'static str, &str), exchange: &Exchange, redactor: &Redactor) {
        {
            let mut kept = lock(&self.0);
            if kept.log.exchanges.len() >= Self::MAX_EXCHANGES || kept.bytes >= Self::MAX_BYTES {
                kept.log.left_out += 1;
                return;
            }
        }
        let response_length = exchange.result.as_ref().map_or(0, |response| response.body().len());
        // Outside the lock, because redacting a long body takes milliseconds.
        let (exchange, is_response_cut) = RecordedExchange::with_body(exchange, redactor, Self::BODY_LIMIT);
        let bytes = pretty_json(&exchange).map_or(0, |json| json.len());
        let case = case.to_owned();
        let logged = LoggedExchange { check, case, exchange, response_length, is_response_cut };
        let mut kept = lock(&self.0);
        kept.bytes += bytes;
        kept.log.exchanges.push(logged);
    }

    pub(crate) fn into_log(self) -> RunLog {
        let mut log = self.0.into_inner().unwrap_or_else(PoisonError::into_inner).log;
        log.exchanges.sort_by(|one, other| one.exchange.begun.cmp(&other.exchange.begun));
        log
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::target::Secret;
    use crate::wire::{Request, Response};

    #[test]
    fn what_an_archive_would_hold_is_counted_headers_included() {
        let log = ExchangeLog::default();
        let redactor = Redactor::new([Secret::new("API_KEY", "a-long-secret")]).expect("a redactor");
        let header = |number: u8| (format!("x-{number}"), vec![1_u8; 4_000]);
        let response = Response::new(200, (0..15).map(header).collect(), Bytes::new());
        let request = Request::recorded("GET", "/", "");
        let exchange = Exchange::of_others(request, Ok(response));
        for _ in 0..400 {
            log.keep(("check", ""), &exchange, &redactor);
        }
        let RunLog { exchanges, left_out } = log.into_log();
        assert_eq!(exchanges.len() + left_out, 400);
        // Each of these bytes takes six in JSON, and all else less than a tenth.
        let bytes = |exchanges: usize| exchanges * 15 * 4_000 * 6;
        assert!(bytes(exchanges.len() - 1) < ExchangeLog::MAX_BYTES, "{} exchanges", exchanges.len());
        assert!(bytes(exchanges.len()) * 11 / 10 > ExchangeLog::MAX_BYTES, "{} exchanges", exchanges.len());
    }
}
