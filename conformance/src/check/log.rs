use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;

use crate::wire::{Exchange, RecordedExchange, Redactor};

/// An exchange of a run, kept with the check and the case that it is of. It holds no secret.
#[derive(Debug, Clone)]
pub struct LoggedExchange {
    /// The check.
    pub check: &'static str,
    /// The label of its case; empty for the only case of a check.
    pub case: String,
    /// When the request was sent.
    pub begun: Timestamp,
    /// Request and response.
    pub exchange: RecordedExchange,
    /// Length of the response body in bytes.
    pub response_length: usize,
    /// Whether `exchange` has the beginning of that body only.
    pub is_response_cut: bool,
}

/// The exchanges of a run, sorted by the time when they were sent.
#[derive(Debug, Clone, Default)]
pub struct RunLog {
    /// Those that were kept.
    pub exchanges: Vec<LoggedExchange>,
    /// Number of those that were not: the log is limited.
    pub left_out: usize,
}

/// Keeps the exchanges of a run as they come.
#[derive(Debug, Default)]
pub(crate) struct ExchangeLog {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    log: RunLog,
    bytes: usize,
}

impl ExchangeLog {
    /// Most bytes of a response body that are kept.
    const BODY_LIMIT: usize = 256 * 1024;
    /// Bytes of bodies, and number of exchanges, after which no more are kept: a run that explores for hours must not fill
    /// the memory, and nobody opens such an archive.
    const MOST_BYTES: usize = 128 << 20;
    const MOST: usize = 20_000;

    /// Keeps an exchange, without its secrets.
    pub(crate) fn keep(&self, (check, case): (&'static str, &str), exchange: &Exchange, redactor: &Redactor) {
        {
            let mut kept = self.lock();
            if kept.log.exchanges.len() >= Self::MOST || kept.bytes >= Self::MOST_BYTES {
                kept.log.left_out += 1;
                return;
            }
        }
        let begun = Timestamp::now().checked_sub(exchange.elapsed).unwrap_or_default();
        let response_length = exchange.result.as_ref().map_or(0, |response| response.body().len());
        // Outside of the lock: to search a long body for secrets takes milliseconds.
        let (exchange, is_response_cut) = RecordedExchange::with_body(exchange, redactor, Self::BODY_LIMIT);
        let body = |body: &Option<String>| body.as_ref().map_or(0, String::len);
        let bytes = body(&exchange.request_body) + body(&exchange.response_body);
        let case = case.to_owned();
        let logged = LoggedExchange { check, case, begun, exchange, response_length, is_response_cut };
        let mut kept = self.lock();
        kept.bytes += bytes;
        kept.log.exchanges.push(logged);
    }

    /// What was kept.
    pub(crate) fn into_log(self) -> RunLog {
        let mut log = self.kept.into_inner().unwrap_or_else(PoisonError::into_inner).log;
        log.exchanges.sort_by_key(|logged| logged.begun);
        log
    }

    /// Whatever panicked while it held the lock has pushed an exchange, or has not.
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
