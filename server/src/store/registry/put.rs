//! Puts records: creates them, or changes the given fields of those that are stored.

use std::ops::ControlFlow;

use jiff::Timestamp;
use serde::de::DeserializeSeed as _;

use super::{
    RegistryError, Result, Session, Store, accounts,
    list::{Condition, Query},
    rejected, rules,
};
use crate::store::{
    Conflict, StoreError,
    record::Record,
    record_kind::{Field, Form, RecordKind},
    value::Value,
};

impl Store {
    /// Puts records of one kind, all or none. A record whose key is stored keeps the fields that are not given; a new one gets their
    /// default values. Returns in words what was done to each.
    ///
    /// # Errors
    /// A record is not complete or not valid, or contradicts what is stored.
    pub async fn put(&self, kind: RecordKind, records: Vec<Record>, now: Timestamp) -> Result<Vec<String>> {
        if kind == RecordKind::Token {
            return rejected("a token cannot be put; issue one with `server token issue`, or import it");
        }
        self.change(kind, move |session| {
            let is_batch = records.len() > 1;
            let put = |(place, given)| {
                let written = put(session, given, now);
                // The number, because a key may be a token or have a password by mistake.
                written.map_err(|error| if is_batch { error.in_record(place + 1) } else { error })
            };
            records.into_iter().enumerate().map(put).collect()
        })
        .await
    }
}

fn put(session: &mut dyn Session, mut given: Record, now: Timestamp) -> Result<String> {
    let kind = given.kind;
    if kind == RecordKind::Group && given.value("groupId").is_none() {
        given.set("groupId", rules::new_group_number(session)?.into());
    }
    let key = key(&given)?;
    let stored = find(session, kind, &key)?;
    if kind == RecordKind::Whitelist && given.value("id").is_some() && stored.is_none() {
        return Err(unknown(kind, &key));
    }
    let mut record = stored.clone().unwrap_or_else(|| Record::new(kind, []));
    if kind == RecordKind::Group {
        record.set("updatedAt", now.into());
    }
    given
        .given()
        .filter(|(field, _)| field.is_stored())
        .for_each(|(field, value)| record.set(field.name, value.clone()));
    record.derive().map_err(RegistryError::Rejected)?;
    let fields = record.fill(|field| default(kind, field, now));
    if !fields.is_empty() {
        return Err(RegistryError::Missing { kind, fields });
    }
    // Looked up first, so that the rules may quote the name of the account.
    let owner = record.owner().map(|name| accounts::find(session, name)).transpose()?.unwrap_or_default();
    rules::check(session, stored.as_ref(), &given, &mut record, now)?;
    match write(session, &record, owner, stored.is_some().then_some(&key)) {
        Err(RegistryError::Store(StoreError::Conflict(Some(Conflict::AlreadyExists), _))) => {
            let fields = kind.key().join(", ");
            return rejected(format!("another {} with the same {fields} is stored already", kind.noun()));
        }
        written => written?,
    }
    // The key is that of the record as it is stored now.
    let record = find(session, kind, &self::key(&record)?)?.unwrap_or(record);
    let name = match record.listed()?.get("id") {
        Some(number) => format!("{} {number}", kind.noun()),
        None => record.shown(),
    };
    Ok(format!("{name} {}", if stored.is_none() { "created" } else { "changed" }))
}

/// The value of a new record that is put without the field.
fn default(kind: RecordKind, field: &Field, now: Timestamp) -> Option<Value<'static>> {
    match (kind, field.name) {
        (RecordKind::Group, "createdAt") => Some(now.into()),
        _ => field.deserialize(&mut serde_json::Deserializer::from_str(field.default?)).ok(),
    }
}

/// The conditions that only the record with the key of these fields meets.
fn key(given: &Record) -> Result<Vec<Condition>> {
    let kind = given.kind;
    let has_number = kind == RecordKind::Whitelist && given.value("id").is_some();
    let names = if has_number { &["id"] } else { kind.key() };
    let key = |name: &&str| Condition::stored(kind, name, given.value(name)?.clone());
    let key: Vec<_> = names.iter().filter_map(key).collect();
    if key.len() == names.len() {
        return Ok(key);
    }
    let is_missing = |field: &&Field| names.contains(&field.name) && given.value(field.name).is_none();
    Err(RegistryError::Missing { kind, fields: kind.fields().iter().filter(is_missing).collect() })
}

pub(super) fn shown(key: &[Condition]) -> String {
    key.iter().map(Condition::shown).collect::<Vec<_>>().join(" ")
}

pub(super) fn unknown(kind: RecordKind, key: &[Condition]) -> RegistryError {
    let (noun, name) = (kind.noun(), kind.name());
    RegistryError::Unknown(format!("unknown {noun} {}; `server list {name}` shows all", shown(key)))
}

/// The stored record, locked until the transaction ends.
pub(super) fn find(session: &mut dyn Session, kind: RecordKind, key: &[Condition]) -> Result<Option<Record>> {
    let mut query = Query::new(&kind.select(&format!("{} WHERE TRUE", kind.from()))).only(session, key)?;
    match session.dialect().row_lock {
        "" => {}
        lock => query.push(&format!("{lock} OF t")),
    }
    let mut found = None;
    session.each::<RegistryError>(&query.sql, &query.values, &mut |row| {
        found = Some(Record::from_row(kind, row)?);
        Ok(ControlFlow::Break(()))
    })?;
    Ok(found)
}

/// Stores a record, in place of the one with this key.
fn write(
    session: &mut dyn Session,
    record: &Record,
    owner: i64,
    replaced: Option<&Vec<Condition>>,
) -> Result<()> {
    let kind = record.kind;
    let Some(key) = replaced else {
        let mut number = 0;
        if kind == RecordKind::Gateway {
            session.batch(session.dialect().lock_numbers)?;
            number = session.number("SELECT coalesce(max(id), 0) FROM gateways", &[])?.saturating_add(1);
        }
        session.execute(&kind.insert(), &record.row(owner, number))?;
        return Ok(());
    };
    let mut query = Query::new(&format!("UPDATE {} AS t SET", kind.table()));
    // A record stays with its account.
    let is_changed = |field: &Field| field.is_stored() && field.form != Form::Account;
    for (field, value) in record.given().filter(|(field, _)| is_changed(field)) {
        let comma = if query.values.is_empty() { "" } else { "," };
        query.values.push(value.clone());
        query.push(&format!("{comma} {} = ${}", field.column, query.values.len()));
    }
    query.push("WHERE TRUE");
    if kind.has_owner() {
        query.values.push(owner.into());
        query.push(&format!("AND t.account_id = ${}", query.values.len()));
    }
    let query = query.only(session, key)?;
    session.execute(&query.sql, &query.values)?;
    Ok(())
}
