//! The kinds of records, and how the records of each kind are stored in and read from both databases.

use super::{
    StoreError,
    packed::spin,
    record::{
        AccountRecord, EntitlementRecord, GatewayRecord, GroupRecord, InstanceRecord, Record, TokenRecord,
        WhitelistRecord,
    },
    value::{Column as _, FromRow, Row, Value, from_row},
};

/// The kind of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordKind {
    Account,
    Token,
    Whitelist,
    Entitlement,
    Gateway,
    Group,
    Instance,
}

/// Columns of gateways that are not fields of the record.
const ASSIGNED: &str = ", id, spin";

impl RecordKind {
    /// Every kind, each after those that its records refer to.
    pub(super) const ALL: [Self; 7] = [
        Self::Account,
        Self::Token,
        Self::Whitelist,
        Self::Entitlement,
        Self::Gateway,
        Self::Group,
        Self::Instance,
    ];

    /// The table of the records, and the columns that [`Record::values`] fills: those of the record's fields, in their order, and
    /// [`ASSIGNED`] ones.
    const fn table(self) -> (&'static str, &'static str) {
        match self {
            Self::Account => ("accounts", "name, real_name_verified"),
            Self::Token => ("tokens", "account_id, sha256, kind, created_at, expires_at, revoked_at"),
            Self::Whitelist => ("whitelist", "account_id, first, last, enabled, expires_at"),
            Self::Entitlement => ("entitlements", "account_id, protocol, expires_at"),
            Self::Gateway => ("gateways", "host, port, region, protocol, username, password, id, spin"),
            Self::Group => ("groups", "account_id, id, name, created_at, updated_at"),
            Self::Instance => (
                "instances",
                "account_id, order_no, id, offer_id, status, ip, port, protocols, country_code, city_code, isp_type, \
                 expires_at, activated_at, capabilities, group_id, username, password",
            ),
        }
    }

    /// Adds one record.
    pub(super) fn insert(self) -> String {
        let (table, columns) = self.table();
        let values: Vec<_> = (1..=columns.split(", ").count()).map(|number| format!("${number}")).collect();
        format!("INSERT INTO {table} ({columns}) VALUES ({})", values.join(", "))
    }

    /// Adds records by PostgreSQL's binary `COPY`.
    #[cfg(feature = "postgres")]
    pub(super) fn copy(self) -> String {
        let (table, columns) = self.table();
        format!("COPY {table} ({columns}) FROM STDIN (FORMAT binary)")
    }

    /// Selects every record of this kind, in SQL that both databases speak.
    pub(super) fn select(self) -> String {
        let (table, columns) = self.table();
        let column = |column| match column {
            "account_id" => "a.name".to_owned(),
            column => format!("t.{column}"),
        };
        let selected: Vec<_> = columns.trim_end_matches(ASSIGNED).split(", ").map(column).collect();
        let owner =
            if columns.starts_with("account_id") { "JOIN accounts AS a ON a.id = t.account_id" } else { "" };
        let order = if self == Self::Entitlement { "t.account_id, t.protocol" } else { "t.id" };
        format!("SELECT {} FROM {table} AS t {owner} ORDER BY {order}", selected.join(", "))
    }

    /// The record of a row that [`select`](Self::select) returns.
    pub(super) fn read(self, mut row: Row<'_>) -> Result<Record, StoreError> {
        let row = &mut row;
        Ok(match self {
            Self::Account => Record::Account(FromRow::from_row(row)?),
            Self::Token => Record::Token(FromRow::from_row(row)?),
            Self::Whitelist => Record::Whitelist(FromRow::from_row(row)?),
            Self::Entitlement => Record::Entitlement(FromRow::from_row(row)?),
            Self::Gateway => Record::Gateway(FromRow::from_row(row)?),
            Self::Group => Record::Group(FromRow::from_row(row)?),
            Self::Instance => Record::Instance(Box::new(FromRow::from_row(row)?)),
        })
    }
}

/// Reads a record from a row, and lists its values, in the order of these fields.
macro_rules! stored_record {
    ($record:ident: $($field:ident),+) => {
        from_row!($record: $($field),+);

        impl $record {
            fn values(&self) -> Result<Vec<Value<'_>>, StoreError> {
                let Self { $($field),+ } = self;
                Ok(vec![$($field.value()?),+])
            }
        }
    };
}

stored_record!(AccountRecord: name, real_name_verified);
stored_record!(TokenRecord: account, sha256, kind, created_at, expires_at, revoked_at);
stored_record!(EntitlementRecord: account, protocol, expires_at);
stored_record!(GatewayRecord: host, port, region, protocol, username, password);
stored_record!(GroupRecord: account, group_id, name, created_at, updated_at);
stored_record!(InstanceRecord: account, order_no, instance_id, offer_id, status, ip, port, protocols, country_code,
    city_code, isp_type, expires_at, activated_at, capabilities, group_id, username, password);

from_row!(WhitelistRecord: account, first, last, enabled, expires_at);

impl WhitelistRecord {
    fn values(&self) -> Result<Vec<Value<'_>>, StoreError> {
        let Self { account, first, last, enabled, expires_at } = self;
        let last = last.unwrap_or(*first);
        Ok(vec![account.value()?, (*first).into(), last.into(), (*enabled).into(), (*expires_at).into()])
    }
}

impl Record {
    /// The kind of the record.
    pub(super) const fn kind(&self) -> RecordKind {
        match self {
            Self::Account(_) => RecordKind::Account,
            Self::Token(_) => RecordKind::Token,
            Self::Whitelist(_) => RecordKind::Whitelist,
            Self::Entitlement(_) => RecordKind::Entitlement,
            Self::Gateway(_) => RecordKind::Gateway,
            Self::Group(_) => RecordKind::Group,
            Self::Instance(_) => RecordKind::Instance,
        }
    }

    /// The name of the account that owns the record, for kinds that have an owner.
    pub(super) fn owner(&self) -> Option<&str> {
        match self {
            Self::Account(_) | Self::Gateway(_) => None,
            Self::Token(TokenRecord { account, .. })
            | Self::Whitelist(WhitelistRecord { account, .. })
            | Self::Entitlement(EntitlementRecord { account, .. })
            | Self::Group(GroupRecord { account, .. }) => Some(account),
            Self::Instance(instance) => Some(&instance.account),
        }
    }

    /// The values of the columns. `owner` is the number of the record's account, and `gateway` the number that a gateway
    /// gets; kinds without them ignore them.
    pub(super) fn values(&self, owner: i64, gateway: i64) -> Result<Vec<Value<'_>>, StoreError> {
        let mut values = match self {
            Self::Account(account) => account.values(),
            Self::Token(token) => token.values(),
            Self::Whitelist(entry) => entry.values(),
            Self::Entitlement(entitlement) => entitlement.values(),
            Self::Gateway(gateway) => gateway.values(),
            Self::Group(group) => group.values(),
            Self::Instance(instance) => instance.values(),
        }?;
        match self.kind() {
            RecordKind::Account => {}
            RecordKind::Gateway => values.extend([gateway.into(), spin(gateway).into()]),
            _ => values[0] = owner.into(),
        }
        Ok(values)
    }
}
