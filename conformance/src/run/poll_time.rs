use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use futures::future::BoxFuture;

/// A future that measures the time in which it is polled, apart from the time in which it waits.
pub(super) struct PollTimer<'a, T> {
    inner: BoxFuture<'a, T>,
    busy: Duration,
}

impl<'a, T> PollTimer<'a, T> {
    pub(super) fn new(inner: impl Future<Output = T> + Send + 'a) -> Self {
        Self { inner: Box::pin(inner), busy: Duration::ZERO }
    }
}

impl<T> Future for PollTimer<'_, T> {
    type Output = (T, Duration);

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let begun = Instant::now();
        let polled = self.inner.as_mut().poll(context);
        self.busy += begun.elapsed();
        polled.map(|value| (value, self.busy))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn waiting_is_not_counted() {
        let ((), busy) = PollTimer::new(tokio::time::sleep(Duration::from_millis(60))).await;
        assert!(busy < Duration::from_millis(40), "{busy:?}");
    }
}
