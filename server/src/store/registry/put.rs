//! Puts records: creates them, or changes the given fields of those that are stored.

use jiff::Timestamp;
use serde_json::{Map, Value as Json};

use super::{
    Registry, RegistryError, Result, Session, accounts,
    list::{self, Condition, Entry, Query},
    rejected, rules,
};
use crate::store::{
    StoreError,
    record::{Record, reason},
    record_kind::{Form, RecordKind},
};

/// A record that was put.
#[derive(Clone, Debug)]
pub struct Written {
    /// The kind and the key, such as `group 12`.
    pub name: String,
    /// Whether it is new.
    pub is_new: bool,
    /// What is stored now.
    pub entry: Entry,
}

impl Registry {
    /// Puts records by the names of their fields, all or none. A record whose key is stored keeps the fields that are not given; a
    /// new one gets their default values.
    ///
    /// # Errors
    /// A record is not complete or not valid, or contradicts what is stored.
    pub async fn put(&self, kind: RecordKind, records: Vec<Entry>, now: Timestamp) -> Result<Vec<Written>> {
        if kind == RecordKind::Token {
            return rejected("a token cannot be put; issue one with `server token issue`, or import it");
        }
        self.change(kind, move |session| {
            let is_batch = records.len() > 1;
            let put = |(place, given)| {
                let written = put(session, kind, given, now);
                // The number, because a key may be a token or have a password by mistake.
                written.map_err(|error| if is_batch { error.in_record(place + 1) } else { error })
            };
            records.into_iter().enumerate().map(put).collect()
        })
        .await
    }
}

fn put(session: &mut dyn Session, kind: RecordKind, mut given: Entry, now: Timestamp) -> Result<Written> {
    rules::normalize(kind, &mut given)?;
    if kind == RecordKind::Group && !given.contains_key("groupId") {
        given.insert("groupId".to_owned(), rules::new_group_number(session)?.into());
    }
    let key = key(kind, &given)?;
    let stored = find(session, kind, &key)?;
    // The number is only a key, and no field of the record.
    if kind == RecordKind::Whitelist && given.remove("id").is_some() && stored.is_none() {
        return Err(unknown(kind, &key));
    }
    let before = stored.as_ref().map(members).transpose()?.unwrap_or_default();
    let mut fields = if stored.is_some() { before.clone() } else { defaults(kind, now) };
    if kind == RecordKind::Group {
        fields.insert("updatedAt".to_owned(), now.to_string().into());
    }
    fields.extend(given.clone());
    let record =
        serde_json::from_value(Json::Object(Map::from_iter([(kind.name().to_owned(), fields.into())])));
    let mut record: Record = match record {
        Ok(record) => record,
        Err(error) => return rejected(format!("{}: {}", kind.noun(), reason(&error))),
    };
    // Looked up first, so that the rules may quote the name of the account.
    let owner = record.owner().map(|name| accounts::find(session, name)).transpose()?.unwrap_or_default();
    // What is stored may be old, imported or expired by now, and is no reason to reject a change of something else.
    let after = members(&record)?;
    given.retain(|name, _| before.get(name) != after.get(name));
    rules::check(session, stored.as_ref(), &given, &mut record, now)?;
    match write(session, kind, &record, owner, stored.is_some().then_some(&key)) {
        Err(RegistryError::Store(StoreError::AlreadyExists(_))) => {
            let fields = kind.key().join(", ");
            return rejected(format!("another {} with the same {fields} is stored already", kind.noun()));
        }
        written => written?,
    }
    // The key is that of the record as it is stored now.
    let key = if kind == RecordKind::Whitelist { self::key(kind, &members(&record)?)? } else { key };
    let entry = list::first(session, kind, &key)?.unwrap_or_default();
    let shown = match entry.get("id") {
        Some(number) => number.to_string(),
        None => shown(&key),
    };
    Ok(Written { name: format!("{} {shown}", kind.noun()), is_new: stored.is_none(), entry })
}

/// The conditions that only the record with the key of these fields meets.
fn key(kind: RecordKind, fields: &Entry) -> Result<Vec<Condition>> {
    let names = if kind == RecordKind::Whitelist && fields.contains_key("id") { &["id"] } else { kind.key() };
    let condition = |name: &&'static str| {
        let value = fields.get(*name).cloned().and_then(|value| Condition::new(kind, name, value));
        value.ok_or_else(|| {
            RegistryError::Rejected(format!("{}: missing field `{name}`, part of its key", kind.noun()))
        })
    };
    names.iter().map(condition).collect()
}

fn shown(key: &[Condition]) -> String {
    key.iter().map(Condition::shown).collect::<Vec<_>>().join(" ")
}

pub(super) fn unknown(kind: RecordKind, key: &[Condition]) -> RegistryError {
    let (noun, name) = (kind.noun(), kind.name());
    RegistryError::Unknown(format!("unknown {noun} {}; `server list {name}` shows all", shown(key)))
}

/// The stored record, locked until the transaction ends.
fn find(session: &mut dyn Session, kind: RecordKind, key: &[Condition]) -> Result<Option<Record>> {
    let columns: Vec<_> = kind.stored().map(|field| field.selected()).collect();
    let select = format!("SELECT {} FROM {} WHERE TRUE", columns.join(", "), kind.from());
    let mut query = Query::new(&select).only(session, key)?;
    match session.row_lock() {
        "" => {}
        lock => query.push(&format!("{lock} OF t")),
    }
    let mut found = None;
    session.each::<RegistryError>(&query.sql, &query.values, &mut |row| {
        found = Some(kind.read(row)?);
        Ok(std::ops::ControlFlow::Break(()))
    })?;
    Ok(found)
}

/// The fields of a record, secrets included.
fn members(record: &Record) -> Result<Entry> {
    match serde_json::to_value(record) {
        Ok(Json::Object(kinds)) => match kinds.into_iter().next() {
            Some((_, Json::Object(fields))) => Ok(fields),
            _ => rejected("a record has no fields; this is a bug, please report it"),
        },
        _ => rejected("a record cannot be written as JSON; this is a bug, please report it"),
    }
}

/// The fields of a new record that may be left out.
fn defaults(kind: RecordKind, now: Timestamp) -> Entry {
    let default = |text: &str| serde_json::from_str(text).unwrap_or(Json::Null);
    let defaults = kind.stored().filter_map(|field| Some((field.name.to_owned(), default(field.default?))));
    let mut fields: Entry = defaults.collect();
    if kind == RecordKind::Group {
        fields.insert("createdAt".to_owned(), now.to_string().into());
    }
    fields
}

/// Stores a record, in place of the one with this key.
fn write(
    session: &mut dyn Session,
    kind: RecordKind,
    record: &Record,
    owner: i64,
    replaced: Option<&Vec<Condition>>,
) -> Result<()> {
    let Some(key) = replaced else {
        let mut number = 0;
        if kind == RecordKind::Gateway {
            session.lock_numbers()?;
            number = session.number("SELECT coalesce(max(id), 0) FROM gateways", &[])?.saturating_add(1);
        }
        session.execute(&kind.insert(), &record.values(owner, number)?)?;
        return Ok(());
    };
    let mut query = Query::new(&format!("UPDATE {} AS t SET", kind.table()));
    // A record stays with its account, by which a cluster may distribute the table.
    for (field, value) in
        kind.stored().zip(record.values(owner, 0)?).filter(|(field, _)| field.form != Form::Account)
    {
        let comma = if query.values.is_empty() { "" } else { "," };
        query.values.push(value.into_owned());
        query.push(&format!("{comma} {} = ${}", field.column, query.values.len()));
    }
    query.push("WHERE TRUE");
    if record.owner().is_some() {
        query.values.push(owner.into());
        query.push(&format!("AND t.account_id = ${}", query.values.len()));
    }
    let query = query.only(session, key)?;
    session.execute(&query.sql, &query.values)?;
    Ok(())
}

impl RecordKind {
    /// The only field of the key, for kinds whose records can be named by one text.
    #[must_use]
    pub fn single_key(self) -> Option<&'static str> {
        let number = self.fields().iter().find(|field| field.form == Form::Number);
        match (number, self.key()) {
            (Some(number), _) => Some(number.name),
            (None, [name]) => Some(name),
            (None, _) => None,
        }
    }
}
