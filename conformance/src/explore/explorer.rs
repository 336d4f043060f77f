use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::Progress;
use super::query::Query;
use crate::check::{Probe, Stop};
use crate::checks::relation::{Page, ResultSet, Survey, page, read};
use crate::wire::Request;

/// Sends the searches of an exploration, within its limits.
pub(super) struct Explorer<'a, 'p> {
    pub(super) probe: &'a Probe<'p>,
    pub(super) survey: &'a Survey,
    pub(super) progress: &'a Progress,
    pub(super) max_requests: u64,
    pub(super) begun: Instant,
    pub(super) time: Duration,
}

impl Explorer<'_, '_> {
    pub(super) fn may_continue(&self) -> bool {
        self.progress.sent.load(Ordering::Relaxed) < self.max_requests && !self.is_over()
    }

    pub(super) fn is_over(&self) -> bool {
        self.begun.elapsed() >= self.time
    }

    /// The result of a query; none when it is not accepted.
    pub(super) async fn read(&mut self, query: &Query) -> Result<Option<ResultSet>, Stop> {
        self.send(&query.request(self.probe, self.survey, false)).await
    }

    /// The result of a request; none when it is not accepted.
    pub(super) async fn send(&mut self, request: &Request) -> Result<Option<ResultSet>, Stop> {
        let found = judged(read(self.probe, request).await)?;
        self.count(found.as_ref().map_or(1, |found| found.exchanges.len()));
        Ok(found)
    }

    /// One page of a request.
    pub(super) async fn page(
        &mut self,
        request: &Request,
        number: usize,
        size: usize,
    ) -> Result<Option<Page>, Stop> {
        let [number, size] = [number, size].map(|count| i64::try_from(count).unwrap_or(i64::MAX));
        let page = judged(page(self.probe, request, number, size).await)?;
        self.count(1);
        Ok(page)
    }

    fn count(&self, requests: usize) {
        let requests = u64::try_from(requests).unwrap_or(u64::MAX);
        self.progress.sent.fetch_add(requests, Ordering::Relaxed);
    }
}

/// None for a rejection, throttling and an invalid response, which violate no relation.
fn judged<T>(read: Result<T, Stop>) -> Result<Option<T>, Stop> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(Stop::Inconclusive(_) | Stop::Skip(_)) => Ok(None),
        Err(stop @ (Stop::Error(_) | Stop::Budget(_))) => Err(stop),
    }
}
