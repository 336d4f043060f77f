//! Exports every record from one snapshot.

use deadpool_postgres::Client;
use futures::TryStreamExt as _;
use tokio::sync::mpsc::{self, Receiver};
use tokio_postgres::IsolationLevel;

use super::{codec::columns, schema};
use crate::store::{
    Result, Sink, StoreError, UnloadError,
    record::{Record, RecordCounts},
    record_kind::RecordKind,
};

/// Maximum number of records that are queued for the sink.
const MAX_QUEUED: usize = 4096;

pub(super) async fn unload(client: &mut Client, sink: Box<dyn Sink>) -> Result<RecordCounts, UnloadError> {
    let (records, queue) = mpsc::channel(MAX_QUEUED);
    let writing = tokio::task::spawn_blocking(move || write(sink, queue));
    let read = send(client, records).await;
    // If the sink fails, reading ends as well; the sink's error is reported.
    let written = writing.await.map_err(|error| StoreError::Internal(error.to_string()))??;
    read?;
    Ok(written)
}

/// Sends every record. Ends early, without error, when the receiver is gone.
async fn send(client: &mut Client, records: mpsc::Sender<Option<Record>>) -> Result<()> {
    let snapshot = client
        .build_transaction()
        .isolation_level(IsolationLevel::RepeatableRead)
        .read_only(true)
        .start()
        .await?;
    schema::lift_statement_timeout(&snapshot).await?;
    for kind in RecordKind::ALL {
        let none: [&str; 0] = [];
        let mut rows = std::pin::pin!(snapshot.query_raw(&kind.select(), none).await?);
        while let Some(row) = rows.try_next().await? {
            if records.send(Some(kind.read(columns(&row)?)?)).await.is_err() {
                return Ok(());
            }
        }
    }
    // `None` marks the end of the records; without it the sink does not complete its output.
    let _ = records.send(None).await;
    Ok(())
}

fn write(mut sink: Box<dyn Sink>, mut queue: Receiver<Option<Record>>) -> std::io::Result<RecordCounts> {
    let mut unloaded = RecordCounts::default();
    while let Some(record) = queue.blocking_recv() {
        match record {
            Some(record) => {
                sink.write(&record)?;
                unloaded.count(&record);
            }
            None => sink.finish()?,
        }
    }
    Ok(unloaded)
}
