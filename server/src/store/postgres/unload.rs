//! Every record, from one snapshot.

use deadpool_postgres::Client;
use futures::TryStreamExt as _;
use tokio::sync::mpsc::{self, Receiver};
use tokio_postgres::{IsolationLevel, Row};

use super::{
    codec::{get, number, port, time},
    schema,
};
use crate::store::{
    Sink, StoreError, UnloadError,
    packed::{Json, StoredIp, StoredTime},
    record::{
        AccountRecord, EntitlementRecord, GatewayRecord, GroupRecord, InstanceRecord, ProxyPassword, Record,
        RecordCounts, TokenRecord, WhitelistRecord,
    },
    record_kind::RecordKind,
};

/// Maximum number of records that wait for the sink.
const AHEAD: usize = 4096;

pub(super) async fn unload(client: &mut Client, sink: Box<dyn Sink>) -> Result<RecordCounts, UnloadError> {
    let (records, queue) = mpsc::channel(AHEAD);
    let taking = tokio::task::spawn_blocking(move || take(sink, queue));
    let read = send(client, records).await;
    // When the sink fails, reading ends as well; the sink's error is the one to report.
    let taken = taking.await.map_err(|error| StoreError::Internal { reason: error.to_string() })??;
    read?;
    Ok(taken)
}

/// Sends every record. Ends early, without error, when the receiver is gone.
async fn send(client: &mut Client, records: mpsc::Sender<Option<Record>>) -> Result<(), StoreError> {
    let snapshot = client
        .build_transaction()
        .isolation_level(IsolationLevel::RepeatableRead)
        .read_only(true)
        .start()
        .await?;
    schema::take_time(&snapshot).await?;
    for kind in RecordKind::ALL {
        let none: [&str; 0] = [];
        let mut rows = std::pin::pin!(snapshot.query_raw(kind.select(), none).await?);
        while let Some(row) = rows.try_next().await? {
            if records.send(Some(read(kind, &row)?)).await.is_err() {
                return Ok(());
            }
        }
    }
    // `None` marks the end of the records; without it the sink does not complete its output.
    let _ = records.send(None).await;
    Ok(())
}

fn take(mut sink: Box<dyn Sink>, mut queue: Receiver<Option<Record>>) -> std::io::Result<RecordCounts> {
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

fn read(kind: RecordKind, row: &Row) -> Result<Record, StoreError> {
    match kind {
        RecordKind::Account => account(row),
        RecordKind::Token => token(row),
        RecordKind::Whitelist => whitelist(row),
        RecordKind::Entitlement => entitlement(row),
        RecordKind::Gateway => gateway(row),
        RecordKind::Group => group(row),
        RecordKind::Instance => instance(row),
    }
}

fn account(row: &Row) -> Result<Record, StoreError> {
    Ok(Record::Account(AccountRecord { name: get(row, 0)?, real_name_verified: get(row, 1)? }))
}

fn token(row: &Row) -> Result<Record, StoreError> {
    Ok(Record::Token(TokenRecord {
        account: get(row, 0)?,
        sha256: get(row, 1)?,
        kind: get(row, 2)?,
        created_at: get::<StoredTime>(row, 3)?.0,
        expires_at: time(row, 4)?,
        revoked_at: time(row, 5)?,
    }))
}

fn whitelist(row: &Row) -> Result<Record, StoreError> {
    Ok(Record::Whitelist(WhitelistRecord {
        account: get(row, 0)?,
        first: get::<StoredIp>(row, 1)?.v4()?,
        last: Some(get::<StoredIp>(row, 2)?.v4()?),
        enabled: get(row, 3)?,
        expires_at: time(row, 4)?,
    }))
}

fn entitlement(row: &Row) -> Result<Record, StoreError> {
    Ok(Record::Entitlement(EntitlementRecord {
        account: get(row, 0)?,
        protocol: get(row, 1)?,
        expires_at: time(row, 2)?,
    }))
}

fn gateway(row: &Row) -> Result<Record, StoreError> {
    Ok(Record::Gateway(GatewayRecord {
        host: get(row, 0)?,
        port: port(get(row, 1)?)?,
        region: get(row, 2)?,
        protocol: get(row, 3)?,
        username: get(row, 4)?,
        password: get::<Option<String>>(row, 5)?.map(ProxyPassword::new),
    }))
}

fn group(row: &Row) -> Result<Record, StoreError> {
    Ok(Record::Group(GroupRecord {
        account: get(row, 0)?,
        group_id: get(row, 1)?,
        name: get(row, 2)?,
        created_at: get::<StoredTime>(row, 3)?.0,
        updated_at: get::<StoredTime>(row, 4)?.0,
    }))
}

fn instance(row: &Row) -> Result<Record, StoreError> {
    let (StoredIp(ip), Json(protocols), Json(capabilities)) = (get(row, 5)?, get(row, 7)?, get(row, 13)?);
    Ok(Record::Instance(Box::new(InstanceRecord {
        account: get(row, 0)?,
        order_no: get(row, 1)?,
        instance_id: get(row, 2)?,
        offer_id: get(row, 3)?,
        status: get(row, 4)?,
        ip,
        port: port(get(row, 6)?)?,
        protocols,
        country_code: get(row, 8)?,
        city_code: get(row, 9)?,
        isp_type: number(row, 10)?,
        expires_at: time(row, 11)?,
        activated_at: time(row, 12)?,
        capabilities,
        group_id: get(row, 14)?,
        username: get(row, 15)?,
        password: get::<Option<String>>(row, 16)?.map(ProxyPassword::new),
    })))
}
