//! Lists of records, as far as they may be shown.

use std::{io::Write, ops::ControlFlow};

use super::{Access, RegistryError, Result, Session, Store, accounts, rejected};
use crate::{
    names::nearest,
    printable::write_json,
    store::{
        record::Record,
        record_kind::{Field, Form, RecordKind},
        value::Value,
    },
};

/// A field that must have a value.
#[derive(Clone, Debug)]
pub struct Condition {
    field: &'static Field,
    value: Value<'static>,
}

impl PartialEq for Condition {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.field, other.field) && self.value == other.value
    }
}

impl Condition {
    /// The field has the value that a text of the command line stands for.
    pub fn new(field: &'static Field, text: &str) -> Result<Self> {
        Ok(Self { field, value: field.parse(text).map_err(RegistryError::Rejected)? })
    }

    /// Parses `field=value`.
    pub fn parse(kind: RecordKind, text: &str) -> Result<Self> {
        let (name, value) = text.split_once('=').unwrap_or((text, ""));
        let known: Vec<_> = kind.fields().iter().filter(|field| field.form.can_be_condition()).collect();
        if let Some(field) = known.iter().find(|field| field.name == name && text.contains('=')) {
            return Self::new(field, value);
        }
        let names: Vec<_> = known.iter().map(|field| field.name).collect();
        // What is no name of a field may be a token by mistake, and is not quoted.
        let is_name =
            text.contains('=') && name.len() < 20 && name.bytes().all(|byte| byte.is_ascii_alphabetic());
        let unknown =
            if is_name { format!("unknown field `{name}`") } else { "unknown condition".to_owned() };
        rejected(match nearest(name, &names) {
            Some(near) => format!("{unknown}; did you mean `{near}=…`?"),
            None => format!("{unknown}; expected FIELD=VALUE with one of: {}", names.join(", ")),
        })
    }

    /// The field of this name has this stored value.
    pub(super) fn stored(kind: RecordKind, name: &str, value: Value<'static>) -> Option<Self> {
        Some(Self { field: kind.fields().iter().find(|field| field.name == name)?, value })
    }

    /// Whether the field names a record, perhaps with others.
    pub(super) fn is_of_key(&self, kind: RecordKind) -> bool {
        self.field.form == Form::Number || kind.key().contains(&self.field.name)
    }

    pub(super) fn text(&self) -> Option<&str> {
        if let Value::Text(text) = &self.value { Some(text) } else { None }
    }

    /// The value, as messages show it.
    pub(super) fn shown(&self) -> String {
        self.field.shown(&self.value)
    }
}

impl Store {
    /// Writes the records that meet all conditions as lines of JSON, from one snapshot and in a stable order: without their secrets, and
    /// with the numbers that the database assigned.
    ///
    /// # Errors
    /// A condition names an unknown account, a record cannot be written, after which no more follow, or the storage fails.
    pub async fn list(
        &self,
        kind: RecordKind,
        conditions: Vec<Condition>,
        mut output: impl Write + Send + 'static,
    ) -> Result<()> {
        self.run(Access::Snapshot, move |session| {
            let from = match kind {
                // SQLite keeps this order: for each account the index by address is scanned in order, or searched.
                RecordKind::Instance => {
                    "accounts AS a CROSS JOIN instances AS t WHERE t.account_id = a.id".to_owned()
                }
                _ => format!("{} WHERE TRUE", kind.from()),
            };
            let mut query = Query::new(&kind.select(&from)).only(session, &conditions)?;
            query.push(order(kind));
            session.each::<RegistryError>(&query.sql, &query.values, &mut |row| {
                let listed = Record::from_row(kind, row)?.listed()?;
                write_json(&mut output, &listed).map_err(RegistryError::Output)?;
                Ok(ControlFlow::Continue(()))
            })?;
            output.flush().map_err(RegistryError::Output)
        })
        .await
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
        for Condition { field: Field { column, form, .. }, value } in conditions {
            if *value == Value::Null {
                self.push(&format!("AND t.{column} IS NULL"));
                continue;
            }
            let place = self.values.len() + 1;
            self.values.push(match (form, value) {
                (Form::Account, Value::Text(name)) => accounts::find(session, name)?.into(),
                (_, value) => value.clone(),
            });
            self.push(&match form {
                Form::Covers => format!("AND t.first <= ${place} AND t.last >= ${place}"),
                _ => format!("AND t.{column} = ${place}"),
            });
        }
        Ok(self)
    }
}
