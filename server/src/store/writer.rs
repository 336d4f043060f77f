//! The thread that writes where a database has one writer at a time. Queued changes are committed together, so that they share one sync.

use std::{
    io, iter,
    sync::mpsc::{self, SyncSender, TrySendError},
    thread::JoinHandle,
};

use tokio::sync::oneshot;

use super::{Result, StoreError, Work, session::Session};

/// Maximum number of changes in one commit.
const MAX_BATCH: usize = 256;

/// Maximum number of queued changes. A change is made even if its caller has disconnected, so callers that disconnect and retry
/// could otherwise queue changes without bound while another process holds the lock.
const MAX_QUEUED: usize = 1024;

/// A change, and who is told when it is durable.
type Job = (Work, oneshot::Sender<Result<()>>);

/// Handle of the writing thread. When this is dropped, the thread ends after the queued changes.
#[derive(Debug)]
pub(super) struct Writer {
    jobs: Option<SyncSender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// A thread that makes every change in this session.
    pub(super) fn start(mut session: impl Session + Send + 'static) -> io::Result<Self> {
        let (jobs, queue) = mpsc::sync_channel(MAX_QUEUED);
        let work = move || {
            while let Ok(first) = queue.recv() {
                commit_together(&mut session, iter::once(first).chain(queue.try_iter()).take(MAX_BATCH));
            }
        };
        let thread = std::thread::Builder::new().name("writer".to_owned()).spawn(work)?;
        Ok(Self { jobs: Some(jobs), thread: Some(thread) })
    }

    /// Makes a change in a transaction, perhaps with others, and returns when it is durable. A change that fails is rolled
    /// back without affecting the others. It is made even if the caller stops waiting. If too many changes are queued, it fails at
    /// once.
    pub(super) async fn write(&self, change: Work) -> Result<()> {
        let (reply, response) = oneshot::channel();
        let queue = self.jobs.as_ref().ok_or(StoreError::Closed)?;
        queue.try_send((change, reply)).map_err(|error| match error {
            TrySendError::Full(_) => StoreError::Busy(format!("{MAX_QUEUED} changes wait to be written")),
            TrySendError::Disconnected(_) => StoreError::Closed,
        })?;
        response.await.unwrap_or(Err(StoreError::Closed))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has already been logged.
            let _ = thread.join();
        }
    }
}

fn commit_together(session: &mut dyn Session, batch: impl Iterator<Item = Job>) {
    // What all changes so far have come to, with a savepoint for the next one.
    let mut so_far = session.batch(&format!("{}; SAVEPOINT change", session.dialect().change));
    let make = |(change, reply): Job| {
        let made = so_far.clone().and_then(|()| change(session));
        if so_far.is_ok() {
            let end = if made.is_ok() { "RELEASE change; SAVEPOINT change" } else { "ROLLBACK TO change" };
            // After some disk errors SQLite has rolled back the whole transaction, in which the savepoint was. Further changes would
            // start a new one and be committed.
            so_far = session.batch(end).map_err(|_| {
                let reason = "another change of the same transaction failed, so none was made";
                StoreError::Unavailable(reason.to_owned())
            });
        }
        (made, reply)
    };
    let made: Vec<_> = batch.map(make).collect();
    let committed = so_far.and_then(|()| session.batch("COMMIT"));
    if committed.is_err() {
        // If there is no transaction any more, this fails, and nothing is left to be done.
        let _ = session.batch("ROLLBACK");
    }
    for (made, reply) in made {
        // The caller may have stopped waiting.
        let _ = reply.send(made.and(committed.clone()));
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;
    use crate::store::{Conflict, sqlite::SqliteSession};

    /// A writer of an empty database with one table.
    fn start() -> Writer {
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch("CREATE TABLE entries (value TEXT UNIQUE)").unwrap();
        Writer::start(SqliteSession(db)).unwrap()
    }

    fn insert(value: &'static str) -> impl Fn(&mut dyn Session) -> Result<()> {
        move |session| session.execute("INSERT INTO entries VALUES ($1)", &[value.into()]).map(drop)
    }

    async fn write(
        writer: &Writer,
        change: impl FnOnce(&mut dyn Session) -> Result<()> + Send + 'static,
    ) -> Result<()> {
        writer.write(Box::new(change)).await
    }

    #[tokio::test]
    async fn queued_changes_share_a_commit_and_fail_separately() {
        // SQLite itself ends the transaction when the disk fails.
        for (statement, is_committed) in [("SELECT 1", true), ("ROLLBACK", false)] {
            let writer = start();
            let (release, held) = mpsc::channel::<()>();
            let first = write(&writer, move |session| {
                // Until the others are queued, so that they are taken together.
                held.recv().map_err(|_| StoreError::Closed)?;
                insert("first")(session)?;
                session.batch(statement)
            });
            let bad =
                |session: &mut dyn Session| insert("bad")(session).and_then(|()| insert("good")(session));
            let (good, bad) = (write(&writer, insert("good")), write(&writer, bad));
            let last = write(&writer, insert("last"));
            let release = async { release.send(()).unwrap() };
            let (first, good, bad, last, ()) = tokio::join!(first, good, bad, last, release);
            assert_eq!([first.is_ok(), good.is_ok(), last.is_ok()], [is_committed; 3]);
            let conflicts = matches!(bad, Err(StoreError::Conflict(Some(Conflict::AlreadyExists), _)));
            assert!(if is_committed { conflicts } else { bad.is_err() }, "{bad:?}");
            write(&writer, move |session| {
                let entries: Vec<String> = session.all("SELECT value FROM entries ORDER BY value", &[])?;
                // What was reported as failed is not there.
                assert_eq!(entries, if is_committed { vec!["first", "good", "last"] } else { Vec::new() });
                Ok(())
            })
            .await
            .unwrap();
        }
    }

    #[tokio::test]
    async fn disconnected_callers_fill_the_queue_only_up_to_its_bound() {
        let writer = start();
        let (release, held) = mpsc::channel::<()>();
        let (begun, begins) = mpsc::channel::<()>();
        let stuck = write(&writer, move |_| {
            begun.send(()).map_err(|_| StoreError::Closed)?;
            held.recv().map_err(|_| StoreError::Closed)
        });
        let mut stuck = Box::pin(stuck);
        assert!(futures::poll!(stuck.as_mut()).is_pending());
        begins.recv().unwrap();
        let mut rejected = 0;
        for _ in 0..MAX_QUEUED + 10 * MAX_BATCH {
            let mut left = Box::pin(write(&writer, |_| Ok(())));
            if let std::task::Poll::Ready(response) = futures::poll!(left.as_mut()) {
                assert!(matches!(response, Err(StoreError::Busy { .. })), "{response:?}");
                rejected += 1;
            }
        }
        // The writer takes a batch at a time besides.
        assert!(rejected >= 9 * MAX_BATCH, "{rejected}");
        release.send(()).unwrap();
        stuck.await.unwrap();
        write(&writer, |_| Ok(())).await.unwrap();
    }
}
