//! Every record, from one snapshot.

use rusqlite::{Connection, Row};

use super::extract::time;
use crate::store::{
    Sink, StoreError, UnloadError,
    packed::{Json, StoredIp, StoredTime},
    record::{
        AccountRecord, EntitlementRecord, GatewayRecord, GroupRecord, InstanceRecord, ProxyPassword, Record,
        RecordCounts, TokenRecord, WhitelistRecord,
    },
    record_kind::RecordKind,
};

pub(super) fn unload(snapshot: &Connection, mut sink: Box<dyn Sink>) -> Result<RecordCounts, UnloadError> {
    let mut unloaded = RecordCounts::default();
    for kind in RecordKind::ALL {
        let mut statement = snapshot.prepare(kind.select()).map_err(StoreError::from)?;
        let mut rows = statement.query([]).map_err(StoreError::from)?;
        while let Some(row) = rows.next().map_err(StoreError::from)? {
            let record = read(kind, row)?;
            sink.write(&record)?;
            unloaded.count(&record);
        }
    }
    sink.finish()?;
    Ok(unloaded)
}

fn read(kind: RecordKind, row: &Row<'_>) -> Result<Record, StoreError> {
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

fn account(row: &Row<'_>) -> Result<Record, StoreError> {
    Ok(Record::Account(AccountRecord { name: row.get(0)?, real_name_verified: row.get(1)? }))
}

fn token(row: &Row<'_>) -> Result<Record, StoreError> {
    Ok(Record::Token(TokenRecord {
        account: row.get(0)?,
        sha256: row.get(1)?,
        kind: row.get(2)?,
        created_at: row.get::<_, StoredTime>(3)?.0,
        expires_at: time(row, 4)?,
        revoked_at: time(row, 5)?,
    }))
}

fn whitelist(row: &Row<'_>) -> Result<Record, StoreError> {
    Ok(Record::Whitelist(WhitelistRecord {
        account: row.get(0)?,
        first: row.get::<_, StoredIp>(1)?.v4()?,
        last: Some(row.get::<_, StoredIp>(2)?.v4()?),
        enabled: row.get(3)?,
        expires_at: time(row, 4)?,
    }))
}

fn entitlement(row: &Row<'_>) -> Result<Record, StoreError> {
    Ok(Record::Entitlement(EntitlementRecord {
        account: row.get(0)?,
        protocol: row.get(1)?,
        expires_at: time(row, 2)?,
    }))
}

fn gateway(row: &Row<'_>) -> Result<Record, StoreError> {
    Ok(Record::Gateway(GatewayRecord {
        host: row.get(0)?,
        port: row.get(1)?,
        region: row.get(2)?,
        protocol: row.get(3)?,
        username: row.get(4)?,
        password: row.get::<_, Option<String>>(5)?.map(ProxyPassword::new),
    }))
}

fn group(row: &Row<'_>) -> Result<Record, StoreError> {
    Ok(Record::Group(GroupRecord {
        account: row.get(0)?,
        group_id: row.get(1)?,
        name: row.get(2)?,
        created_at: row.get::<_, StoredTime>(3)?.0,
        updated_at: row.get::<_, StoredTime>(4)?.0,
    }))
}

fn instance(row: &Row<'_>) -> Result<Record, StoreError> {
    let (StoredIp(ip), Json(protocols), Json(capabilities)) = (row.get(5)?, row.get(7)?, row.get(13)?);
    Ok(Record::Instance(Box::new(InstanceRecord {
        account: row.get(0)?,
        order_no: row.get(1)?,
        instance_id: row.get(2)?,
        offer_id: row.get(3)?,
        status: row.get(4)?,
        ip,
        port: row.get(6)?,
        protocols,
        country_code: row.get(8)?,
        city_code: row.get(9)?,
        isp_type: row.get(10)?,
        expires_at: time(row, 11)?,
        activated_at: time(row, 12)?,
        capabilities,
        group_id: row.get(14)?,
        username: row.get(15)?,
        password: row.get::<_, Option<String>>(16)?.map(ProxyPassword::new),
    })))
}
