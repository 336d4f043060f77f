//! The thread that writes. Queued changes are committed together, so that they share one sync.

use std::{
    io, iter,
    sync::mpsc::{self, Receiver, SyncSender, TrySendError},
    thread::JoinHandle,
};

use rusqlite::{Connection, Transaction, TransactionBehavior};
use tokio::sync::oneshot;

use crate::store::{Result, StoreError};

/// Maximum number of changes in one commit.
const MAX_BATCH: usize = 256;

/// Maximum number of queued changes. A change is made even if its caller has disconnected, so callers that disconnect and retry
/// could otherwise queue changes without bound while another process holds the lock.
const MAX_QUEUED: usize = 1024;

/// Makes a change, or is told that no transaction could be started. The reply is sent after the commit.
type Job = Box<dyn FnOnce(Result<&mut Transaction<'_>>) -> Reply + Send>;
type Reply = Box<dyn FnOnce(Result<()>)>;

/// Handle of the writing thread. When this is dropped, the thread ends after the queued changes.
#[derive(Debug)]
pub(super) struct Writer {
    jobs: Option<SyncSender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(super) fn start(db: Connection) -> io::Result<Self> {
        let (jobs, queue) = mpsc::sync_channel(MAX_QUEUED);
        let thread =
            std::thread::Builder::new().name("sqlite-writer".to_owned()).spawn(|| work(db, queue))?;
        Ok(Self { jobs: Some(jobs), thread: Some(thread) })
    }

    /// Runs `change` in a transaction, perhaps with others, and returns when it is durable. A change that fails is rolled
    /// back without affecting the others. It is made even if the caller stops waiting. If too many changes are queued, it fails at
    /// once.
    pub(super) async fn write(
        &self,
        change: impl FnOnce(&Connection) -> Result<()> + Send + 'static,
    ) -> Result<()> {
        let (reply, response) = oneshot::channel();
        let job: Job = Box::new(move |transaction| {
            let outcome = transaction.and_then(|all| in_savepoint(all, change));
            Box::new(move |committed| {
                // The caller may have stopped waiting.
                let _ = reply.send(outcome.and(committed));
            })
        });
        let queue = self.jobs.as_ref().ok_or(StoreError::Closed)?;
        queue.try_send(job).map_err(|error| match error {
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

fn work(mut db: Connection, queue: Receiver<Job>) {
    while let Ok(first) = queue.recv() {
        let batch = iter::once(first).chain(queue.try_iter()).take(MAX_BATCH);
        commit_together(&mut db, batch);
    }
}

fn commit_together(db: &mut Connection, batch: impl Iterator<Item = Job>) {
    let (responses, committed): (Vec<Reply>, _) =
        match db.transaction_with_behavior(TransactionBehavior::Immediate) {
            Ok(mut all) => {
                let change = |job: Job| {
                    // After some disk errors SQLite has rolled back the whole transaction. Further jobs would start a new one and be
                    // committed.
                    let is_rolled_back = all.is_autocommit();
                    job(if is_rolled_back { Err(rolled_back_with_others()) } else { Ok(&mut all) })
                };
                (batch.map(change).collect(), all.commit())
            }
            Err(error) => (batch.map(|job| job(Err(StoreError::from(&error)))).collect(), Err(error)),
        };
    for response in responses {
        response(committed.as_ref().copied().map_err(StoreError::from));
    }
}

fn rolled_back_with_others() -> StoreError {
    StoreError::Unavailable("another change of the same transaction failed, so none was made".to_owned())
}

fn in_savepoint(all: &mut Transaction<'_>, change: impl FnOnce(&Connection) -> Result<()>) -> Result<()> {
    let mine = all.savepoint()?;
    change(&mine)?;
    Ok(mine.commit()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A writer of an empty database with these tables.
    fn start(tables: &str) -> Writer {
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch(tables).unwrap();
        Writer::start(db).unwrap()
    }

    fn insert(db: &Connection, value: &str) -> Result<()> {
        db.execute("INSERT INTO entries VALUES (?1)", [value])?;
        Ok(())
    }

    async fn assert_entries(writer: &Writer, expected: &'static str) {
        let select = "SELECT coalesce(group_concat(value, ' ' ORDER BY value), '') FROM entries";
        let check = move |db: &Connection| {
            let found: String = db.query_row(select, [], |row| row.get(0))?;
            if found == expected { Ok(()) } else { Err(StoreError::Internal(found)) }
        };
        writer.write(check).await.unwrap();
    }

    #[tokio::test]
    async fn queued_changes_share_a_commit_and_fail_separately() {
        let writer = start("CREATE TABLE entries (value TEXT UNIQUE NOT NULL)");
        let (release, held) = mpsc::channel::<()>();

        let first = writer.write(move |db| {
            // Until the others are queued, so that they are taken together.
            held.recv().map_err(|_| StoreError::Closed)?;
            insert(db, "first")
        });
        let good = writer.write(|db| insert(db, "good"));
        let bad = writer.write(|db| insert(db, "bad").and_then(|()| insert(db, "good")));
        let last = writer.write(|db| insert(db, "last"));
        let release = async {
            release.send(()).unwrap();
        };
        let (first, good, bad, last, ()) = tokio::join!(first, good, bad, last, release);
        assert!(first.is_ok() && good.is_ok() && last.is_ok());
        assert!(matches!(bad, Err(StoreError::AlreadyExists(_))), "{bad:?}");
        assert_entries(&writer, "first good last").await;
    }

    #[tokio::test]
    async fn nothing_is_committed_after_a_rollback_of_the_transaction() {
        let writer = start("CREATE TABLE entries (value TEXT UNIQUE NOT NULL)");
        let (release, held) = mpsc::channel::<()>();
        let first = writer.write(move |db| {
            held.recv().map_err(|_| StoreError::Closed)?;
            insert(db, "first")?;
            // As SQLite itself does when the disk fails.
            db.execute_batch("ROLLBACK").map_err(StoreError::from)
        });
        let second = writer.write(|db| insert(db, "second"));
        let release = async {
            release.send(()).unwrap();
        };
        let (first, second, ()) = tokio::join!(first, second, release);
        assert!(first.is_err() && second.is_err(), "{first:?} {second:?}");
        // Both changes were reported as failed.
        assert_entries(&writer, "").await;
    }

    #[tokio::test]
    async fn disconnected_callers_fill_the_queue_only_up_to_its_bound() {
        let writer = start("CREATE TABLE entries (value TEXT)");
        let (release, held) = mpsc::channel::<()>();
        let (begun, begins) = mpsc::channel::<()>();
        let stuck = writer.write(move |_| {
            begun.send(()).map_err(|_| StoreError::Closed)?;
            held.recv().map_err(|_| StoreError::Closed)
        });
        let mut stuck = Box::pin(stuck);
        assert!(futures::poll!(stuck.as_mut()).is_pending());
        begins.recv().unwrap();
        let mut rejected = 0;
        for _ in 0..MAX_QUEUED + 10 * MAX_BATCH {
            let mut left = Box::pin(writer.write(|db| insert(db, "left")));
            if let std::task::Poll::Ready(response) = futures::poll!(left.as_mut()) {
                assert!(matches!(response, Err(StoreError::Busy { .. })), "{response:?}");
                rejected += 1;
            }
        }
        // The writer takes a batch at a time besides.
        assert!(rejected >= 9 * MAX_BATCH, "{rejected}");
        release.send(()).unwrap();
        stuck.await.unwrap();
        writer.write(|db| insert(db, "good")).await.unwrap();
    }
}
