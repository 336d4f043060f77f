//! The kinds of records and their fields, and how they are stored in and read from both databases.

use super::{
    StoreError,
    packed::spin,
    record::{
        AccountRecord, EntitlementRecord, GatewayRecord, GroupRecord, InstanceRecord, Record, TokenRecord,
        WhitelistRecord,
    },
    value::{Column as _, FromRow, Row, Value, from_row},
};
use crate::domain::{instance::Status, protocol::Protocol, token::TokenKind};

/// The kind of a record. Declared with every field, so that imports, exports and the administration know the same ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the kind of the record of that name")]
pub enum RecordKind {
    Account,
    Token,
    Whitelist,
    Entitlement,
    Gateway,
    Group,
    Instance,
}

/// A field of a kind of records.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Name in JSON and in conditions.
    pub name: &'static str,
    /// Column of the table.
    pub(super) column: &'static str,
    /// What its values are.
    pub form: Form,
    /// What it means, for `--help`.
    pub help: &'static str,
    /// The value of a new record that does not have the field, in JSON; `None` if every record must have it.
    pub default: Option<&'static str>,
    /// Whether tables for people have a column for it.
    pub in_tables: bool,
}

/// What the values of a field are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The name of the account that owns the record.
    Account,
    /// Any text.
    Text,
    /// One of these names.
    Name(&'static [&'static str]),
    /// An integer.
    Integer,
    /// True or false.
    Flag,
    /// A time with its zone.
    Time,
    /// An IP address.
    Address,
    /// A list of texts.
    List,
    /// A JSON object.
    Object,
    /// A secret: it can be put, and is never shown.
    Password,
    /// A digest, which is neither put nor shown.
    Digest,
    /// A number that the database assigns. It is in no import.
    Number,
    /// An address between the columns `first` and `last`. Only a condition.
    Covers,
    /// The texts from which the fields `first` and `last` are made. Only to be put.
    Range,
}

const fn field(name: &'static str, column: &'static str, form: Form, help: &'static str) -> Field {
    Field { name, column, form, help, default: None, in_tables: true }
}

impl Field {
    /// The field of a record that may leave it out.
    const fn or(self, default: &'static str) -> Self {
        Self { default: Some(default), ..self }
    }

    /// A field that only JSON shows.
    const fn in_json(self) -> Self {
        Self { in_tables: false, ..self }
    }

    /// The column, in a query [`RecordKind::from`] the table.
    pub(super) fn selected(&self) -> String {
        match self.form {
            Form::Account => "a.name".to_owned(),
            _ => format!("t.{}", self.column),
        }
    }

    /// Whether a record has the field, and so an import and an export.
    pub(super) const fn is_stored(&self) -> bool {
        !matches!(self.form, Form::Number | Form::Covers | Form::Range)
    }
}

use Form::{Address, Flag, Integer, Text, Time};

const OWNER: Field = field("account", "account_id", Form::Account, "Name of the account that owns it");
const PROTOCOL: Form = Form::Name(&Protocol::NAMES);
const STATUS: Form = Form::Name(&Status::NAMES);
const KIND: Form = Form::Name(&TokenKind::NAMES);
const EXPIRY: Field =
    field("expiresAt", "expires_at", Time, "Time at which it expires; null for never").or("null");
const USERNAME: Field =
    field("username", "username", Text, "Proxy user name, part of no response").or("null");
const PASSWORD: Field =
    field("password", "password", Form::Password, "Proxy password, part of no response").or("null");

/// What is declared of a kind.
struct Declaration {
    /// Name in JSON and on the command line.
    name: &'static str,
    /// What one record is called in messages.
    noun: &'static str,
    table: &'static str,
    /// The fields by which a record is known.
    key: &'static [&'static str],
    /// Those that are stored are in the order of the record's own fields.
    fields: &'static [Field],
}

const ACCOUNT: Declaration = Declaration {
    name: "account",
    noun: "account",
    table: "accounts",
    key: &["name"],
    fields: &[
        field("name", "name", Text, "Name, unique among all accounts"),
        field("realNameVerified", "real_name_verified", Flag, "Whether it has passed real-name verification")
            .or("false"),
    ],
};

const TOKEN: Declaration = Declaration {
    name: "token",
    noun: "token",
    table: "tokens",
    key: &["id"],
    fields: &[
        field("id", "id", Form::Number, "Number of the token"),
        OWNER,
        field("sha256", "sha256", Form::Digest, "SHA-256 of the token"),
        field("kind", "kind", KIND, "`api` for every operation, `link` for extraction only"),
        field("createdAt", "created_at", Time, "Time at which it was issued"),
        EXPIRY,
        field("revokedAt", "revoked_at", Time, "Time at which it was revoked").or("null"),
    ],
};

const WHITELIST: Declaration = Declaration {
    name: "whitelist",
    noun: "whitelist entry",
    table: "whitelist",
    key: &["account", "first", "last"],
    fields: &[
        field("id", "id", Form::Number, "Number of the entry, in place of account and addresses"),
        OWNER,
        field("first", "first", Address, "First IPv4 address"),
        field("last", "last", Address, "Last IPv4 address; the first one if left out").or("null"),
        field("enabled", "enabled", Flag, "Whether callers from there are let in").or("true"),
        EXPIRY,
        field(
            "range",
            "",
            Form::Range,
            "In place of first and last: 192.0.2.1, 192.0.2.1-192.0.2.9 or 192.0.2.0/24",
        ),
        field("covers", "", Form::Covers, "An IPv4 address of the range"),
    ],
};

const ENTITLEMENT: Declaration = Declaration {
    name: "entitlement",
    noun: "entitlement",
    table: "entitlements",
    key: &["account", "protocol"],
    fields: &[
        OWNER,
        field("protocol", "protocol", PROTOCOL, "Protocol of the gateways that the account may extract"),
        EXPIRY,
    ],
};

const GATEWAY: Declaration = Declaration {
    name: "gateway",
    noun: "gateway",
    table: "gateways",
    key: &["host", "port", "region", "protocol"],
    fields: &[
        field("host", "host", Text, "Host name or address"),
        field("port", "port", Integer, "Port"),
        field("region", "region", Text, "Code of the region, for example USA"),
        field("protocol", "protocol", PROTOCOL, "Protocol; a gateway that speaks both has two records"),
        USERNAME,
        PASSWORD,
    ],
};

const GROUP: Declaration = Declaration {
    name: "group",
    noun: "group",
    table: "groups",
    key: &["groupId"],
    fields: &[
        OWNER,
        field("groupId", "id", Integer, "Number; a new group gets one that no group has had"),
        field("name", "name", Text, "Name"),
        field("createdAt", "created_at", Time, "Time of creation; now for a new group"),
        field("updatedAt", "updated_at", Time, "Time of the last change; now if left out"),
    ],
};

const INSTANCE: Declaration = Declaration {
    name: "instance",
    noun: "instance",
    table: "instances",
    key: &["instanceId"],
    fields: &[
        OWNER,
        field("orderNo", "order_no", Text, "Number of the order").or("null"),
        field("instanceId", "id", Integer, "Number, unique among all instances"),
        field("offerId", "offer_id", Integer, "Number of the product").in_json(),
        field("status", "status", STATUS, "Status; active sets activatedAt if there is none"),
        field("ip", "ip", Address, "Address"),
        field("port", "port", Integer, "Port"),
        field("protocols", "protocols", Form::List, "Protocols, for example http,socks5").in_json(),
        field("countryCode", "country_code", Text, "Code of the country"),
        field("cityCode", "city_code", Text, "Code of the city"),
        field("ispType", "isp_type", Integer, "1 standard, 2 native").in_json(),
        EXPIRY,
        field("activatedAt", "activated_at", Time, "Time of activation; null if there was none")
            .or("null")
            .in_json(),
        field("capabilities", "capabilities", Form::Object, "Capabilities, a JSON object").or("{}").in_json(),
        field("groupId", "group_id", Integer, "Number of a group of the same account; null for none")
            .or("null"),
        USERNAME.in_json(),
        PASSWORD.in_json(),
    ],
};

impl RecordKind {
    /// Every kind, each after those that its records refer to.
    pub const ALL: [Self; 7] = [
        Self::Account,
        Self::Token,
        Self::Whitelist,
        Self::Entitlement,
        Self::Gateway,
        Self::Group,
        Self::Instance,
    ];

    const fn declaration(self) -> &'static Declaration {
        match self {
            Self::Account => &ACCOUNT,
            Self::Token => &TOKEN,
            Self::Whitelist => &WHITELIST,
            Self::Entitlement => &ENTITLEMENT,
            Self::Gateway => &GATEWAY,
            Self::Group => &GROUP,
            Self::Instance => &INSTANCE,
        }
    }

    /// The kind's name in JSON and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.declaration().name
    }

    /// What one record is called in messages.
    #[must_use]
    pub const fn noun(self) -> &'static str {
        self.declaration().noun
    }

    /// The fields of the records.
    #[must_use]
    pub const fn fields(self) -> &'static [Field] {
        self.declaration().fields
    }

    /// The fields by which a record is known.
    #[must_use]
    pub const fn key(self) -> &'static [&'static str] {
        self.declaration().key
    }

    /// The table of the records.
    pub(super) const fn table(self) -> &'static str {
        self.declaration().table
    }

    /// The fields that are stored.
    pub(super) fn stored(self) -> impl Iterator<Item = &'static Field> {
        self.fields().iter().filter(|field| field.is_stored())
    }

    /// The columns that [`Record::values`] fills: those of the stored fields, and those that a gateway gets besides.
    fn columns(self) -> Vec<&'static str> {
        let assigned: &[_] = if self == Self::Gateway { &["id", "spin"] } else { &[] };
        self.stored().map(|field| field.column).chain(assigned.iter().copied()).collect()
    }

    /// Adds one record.
    pub(super) fn insert(self) -> String {
        let columns = self.columns();
        let values: Vec<_> = (1..=columns.len()).map(|number| format!("${number}")).collect();
        format!("INSERT INTO {} ({}) VALUES ({})", self.table(), columns.join(", "), values.join(", "))
    }

    /// Adds records by PostgreSQL's binary `COPY`.
    #[cfg(feature = "postgres")]
    pub(super) fn copy(self) -> String {
        format!("COPY {} ({}) FROM STDIN (FORMAT binary)", self.table(), self.columns().join(", "))
    }

    /// Selects every record of this kind, in SQL that both databases speak.
    pub(super) fn select(self) -> String {
        let columns: Vec<_> = self.stored().map(Field::selected).collect();
        let order = if self == Self::Entitlement { "t.account_id, t.protocol" } else { "t.id" };
        format!("SELECT {} FROM {} ORDER BY {order}", columns.join(", "), self.from())
    }

    /// The table `t`, and its owners `a`.
    pub(super) fn from(self) -> String {
        let table = self.table();
        match self.stored().any(|field| field.form == Form::Account) {
            true => format!("{table} AS t JOIN accounts AS a ON a.id = t.account_id"),
            false => format!("{table} AS t"),
        }
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
