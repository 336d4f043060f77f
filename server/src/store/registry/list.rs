//! Lists of records, as far as they may be shown.

use std::{io, net::IpAddr, ops::ControlFlow};

use jiff::Timestamp;
use serde_json::{Map, Value as Json};

use super::{Registry, RegistryError, Result, Session, accounts, rejected};
use crate::{
    names::nearest,
    store::{
        StoreError,
        record_kind::{Field, Form, RecordKind},
        value::{Row, Value},
    },
};

/// A record without its secrets, by the names of its fields: `hasPassword` is in place of a password, and a number that the
/// database assigned is beside the record's own fields.
pub type Entry = Map<String, Json>;

/// A field that must have a value.
#[derive(Clone, Debug)]
pub struct Condition {
    field: &'static Field,
    value: Json,
}

impl Condition {
    /// Parses `field=value`.
    ///
    /// # Errors
    /// The kind has no such field, the field cannot be a condition, or its value is invalid.
    pub fn parse(kind: RecordKind, text: &str) -> Result<Self> {
        let (name, value) = text.split_once('=').unwrap_or((text, ""));
        let known: Vec<_> = kind.fields().iter().filter(|field| field.form.can_be_condition()).collect();
        let names: Vec<_> = known.iter().map(|field| field.name).collect();
        // The text is not quoted, because it may be a token by mistake.
        let Some(field) = known.into_iter().find(|field| field.name == name && text.contains('=')) else {
            let advice = match nearest(name, &names) {
                Some(near) => format!("did you mean `{near}=…`?"),
                None => format!("expected FIELD=VALUE with one of: {}", names.join(", ")),
            };
            return rejected(format!("unknown condition; {advice}"));
        };
        Ok(Self { field, value: field.parse(value)? })
    }

    /// The field of this name equals this value, which may be of a wrong type.
    pub(super) fn new(kind: RecordKind, name: &str, value: Json) -> Option<Self> {
        Some(Self { field: kind.fields().iter().find(|field| field.name == name)?, value })
    }

    /// The value, if it is a text.
    pub(super) fn text(&self) -> Option<&str> {
        self.value.as_str()
    }

    /// The value, as messages show it.
    pub(super) fn shown(&self) -> String {
        match &self.value {
            Json::String(text) => format!("{text:?}"),
            other => other.to_string(),
        }
    }
}

impl Form {
    /// Whether records can be selected by such a field.
    #[must_use]
    pub fn can_be_condition(self) -> bool {
        !matches!(self, Self::List | Self::Object | Self::Password | Self::Digest | Self::Range)
    }

    /// Whether records can be put with such a field.
    #[must_use]
    pub fn can_be_put(self) -> bool {
        !matches!(self, Self::Digest | Self::Covers)
    }
}

impl Field {
    /// The value that a text of the command line stands for.
    ///
    /// # Errors
    /// Says what was expected. The text is not quoted, because it may be a token by mistake.
    pub fn parse(&self, text: &str) -> Result<Json> {
        if text == "null" && self.default == Some("null") {
            return Ok(Json::Null);
        }
        let value = match self.form {
            Form::Integer | Form::Number | Form::Flag | Form::Object => {
                serde_json::from_str(text).unwrap_or(Json::Null)
            }
            Form::List => text.split(',').map(Json::from).collect(),
            _ => text.into(),
        };
        self.stored_value(&value).map(|_| value)
    }

    /// The value as the column stores it.
    fn stored_value(&self, value: &Json) -> Result<Value<'static>> {
        let (stored, expected) = match self.form {
            Form::Integer | Form::Number => {
                (value.as_i64().map(Value::Number), "an integer of at most 64 bits")
            }
            Form::Flag => (value.as_bool().map(Value::Flag), "true or false"),
            Form::List => (value.is_array().then(|| text(value.to_string())), "a list of texts"),
            Form::Object => (value.is_object().then(|| text(value.to_string())), "a JSON object"),
            Form::Time => {
                let time = value.as_str().and_then(|text| text.parse::<Timestamp>().ok());
                (time.map(Into::into), "a time with its zone, for example 2027-01-01T00:00:00Z")
            }
            Form::Address | Form::Covers => {
                let ip = value.as_str().and_then(|text| text.parse::<IpAddr>().ok());
                (ip.map(|ip| ip.to_canonical().into()), "an IP address, for example 192.0.2.1")
            }
            Form::Name(names) => {
                let name = value.as_str().filter(|name| names.contains(name));
                let expected = format!("`{}`: expected one of: {}", self.name, names.join(", "));
                return name.map_or(rejected(expected), |name| Ok(text(name.to_owned())));
            }
            Form::Account | Form::Text | Form::Password | Form::Digest | Form::Range => {
                (value.as_str().map(|it| text(it.to_owned())), "a text")
            }
        };
        stored.map_or_else(|| rejected(format!("`{}`: expected {expected}", self.name)), Ok)
    }

    /// The column of a list, `None` for what is not shown.
    fn listed(&self) -> Option<(&'static str, String)> {
        match self.form {
            Form::Digest | Form::Covers | Form::Range => None,
            Form::Password => Some(("hasPassword", format!("{} IS NOT NULL", self.selected()))),
            _ => Some((self.name, self.selected())),
        }
    }

    /// Reads the column of a list.
    fn read(&self, row: &mut Row<'_>) -> Result<Json, StoreError> {
        Ok(match self.form {
            Form::Integer | Form::Number => row.take::<Option<i64>>()?.into(),
            Form::Flag | Form::Password => row.take::<bool>()?.into(),
            Form::Time => row.take::<Option<Timestamp>>()?.map(|time| time.to_string()).into(),
            Form::Address => row.take::<IpAddr>()?.to_string().into(),
            Form::List | Form::Object => serde_json::from_str(&row.take::<String>()?)
                .map_err(|error| StoreError::Corrupt(format!("`{}`: {error}", self.name)))?,
            Form::Account | Form::Text | Form::Name(_) => row.take::<Option<String>>()?.into(),
            Form::Digest | Form::Covers | Form::Range => Json::Null,
        })
    }
}

fn text(text: String) -> Value<'static> {
    Value::Text(text.into())
}

impl RecordKind {
    /// The names of the columns that a list has in a table for people.
    #[must_use]
    pub fn table_columns(self) -> Vec<&'static str> {
        let shown = self.fields().iter().filter(|field| field.in_tables);
        shown.filter_map(|field| field.listed().map(|(name, _)| name)).collect()
    }
}

/// Receives the entries of a list, on a thread that may block.
pub trait ListConsumer: Send + 'static {
    /// Receives one entry.
    ///
    /// # Errors
    /// The entry cannot be written; no more follow then.
    fn take(&mut self, entry: Entry) -> io::Result<()>;
}

impl ListConsumer for Vec<Entry> {
    fn take(&mut self, entry: Entry) -> io::Result<()> {
        self.push(entry);
        Ok(())
    }
}

impl Registry {
    /// Passes at most `limit` entries that meet all conditions to `consumer`, from one snapshot and in a stable order. Returns the
    /// consumer, and whether there are more entries.
    ///
    /// # Errors
    /// A condition names an unknown account, the consumer fails, or the storage fails.
    pub async fn list<C: ListConsumer>(
        &self,
        kind: RecordKind,
        conditions: Vec<Condition>,
        limit: Option<u32>,
        mut consumer: C,
    ) -> Result<(C, bool)> {
        self.read(move |session| {
            let mut query = Query::new(&select(kind)).only(session, &conditions)?;
            query.push(order(kind));
            if let Some(limit) = limit {
                // One more, to find out whether there are more entries.
                query.values.push(Value::Number(i64::from(limit) + 1));
                query.push(&format!("LIMIT ${}", query.values.len()));
            }
            let (mut count, mut more) = (0_u64, false);
            session.each::<RegistryError>(&query.sql, &query.values, &mut |mut row| {
                more = limit.is_some_and(|limit| count == u64::from(limit));
                if more {
                    return Ok(ControlFlow::Break(()));
                }
                count += 1;
                consumer.take(read(kind, &mut row)?).map_err(RegistryError::Output)?;
                Ok(ControlFlow::Continue(()))
            })?;
            Ok((consumer, more))
        })
        .await
    }
}

/// The first entry that meets the conditions.
pub(super) fn first(
    session: &mut dyn Session,
    kind: RecordKind,
    conditions: &[Condition],
) -> Result<Option<Entry>> {
    let query = Query::new(&select(kind)).only(session, conditions)?;
    let mut first = None;
    session.each::<RegistryError>(&query.sql, &query.values, &mut |mut row| {
        first = Some(read(kind, &mut row)?);
        Ok(ControlFlow::Break(()))
    })?;
    Ok(first)
}

fn select(kind: RecordKind) -> String {
    let columns: Vec<_> = kind.fields().iter().filter_map(Field::listed).map(|(_, column)| column).collect();
    let columns = columns.join(", ");
    match kind {
        // The accounts come first, so that for each of them the index by address is scanned in order, or searched.
        RecordKind::Instance => {
            format!("SELECT {columns} FROM accounts AS a CROSS JOIN instances AS t WHERE t.account_id = a.id")
        }
        _ => format!("SELECT {columns} FROM {} WHERE TRUE", kind.from()),
    }
}

const fn order(kind: RecordKind) -> &'static str {
    match kind {
        RecordKind::Account => "ORDER BY t.name",
        RecordKind::Entitlement => "ORDER BY a.name, t.protocol",
        RecordKind::Instance => "ORDER BY a.id, t.ip, t.port, t.id",
        RecordKind::Token | RecordKind::Whitelist | RecordKind::Gateway | RecordKind::Group => {
            "ORDER BY t.id"
        }
    }
}

fn read(kind: RecordKind, row: &mut Row<'_>) -> Result<Entry, StoreError> {
    let listed = kind.fields().iter().filter_map(|field| Some((field, field.listed()?.0)));
    listed.map(|(field, name)| Ok((name.to_owned(), field.read(row)?))).collect()
}

/// A statement on one table, built condition by condition.
pub(super) struct Query {
    pub(super) sql: String,
    pub(super) values: Vec<Value<'static>>,
}

impl Query {
    /// Starts with `sql`, which must have a `WHERE` before conditions are added.
    pub(super) fn new(sql: &str) -> Self {
        Self { sql: sql.to_owned(), values: Vec::new() }
    }

    /// Adds text, whose parameters are among the values.
    pub(super) fn push(&mut self, sql: &str) {
        self.sql.push(' ');
        self.sql.push_str(sql);
    }

    /// Adds conditions on the table `t`.
    pub(super) fn only(mut self, session: &mut dyn Session, conditions: &[Condition]) -> Result<Self> {
        for Condition { field, value } in conditions {
            let Field { column, form, .. } = **field;
            if value.is_null() {
                self.push(&format!("AND t.{column} IS NULL"));
                continue;
            }
            let place = self.values.len() + 1;
            let condition = match form {
                Form::Covers => format!("AND t.first <= ${place} AND t.last >= ${place}"),
                _ => format!("AND t.{column} = ${place}"),
            };
            self.values.push(match (form, value.as_str()) {
                (Form::Account, Some(name)) => accounts::find(session, name)?.into(),
                _ => field.stored_value(value)?,
            });
            self.push(&condition);
        }
        Ok(self)
    }
}
