//! The kinds of records, and how the records of each kind are stored in and read from both databases.

use std::net::IpAddr;

use super::{
    StoreError,
    packed::{Json, StoredIp, spin},
    record::{
        AccountRecord, EntitlementRecord, GatewayRecord, GroupRecord, InstanceRecord, ProxyPassword, Record,
        TokenRecord, WhitelistRecord,
    },
    row::{Row, Value},
};

/// The kind of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecordKind {
    Account,
    Token,
    Whitelist,
    Entitlement,
    Gateway,
    Group,
    Instance,
}

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

    /// The table of the records, and the columns that [`Record::values`] fills.
    const fn table(self) -> (&'static str, &'static str) {
        match self {
            Self::Account => ("accounts", "name, real_name_verified"),
            Self::Token => ("tokens", "account_id, sha256, kind, created_at, expires_at, revoked_at"),
            Self::Whitelist => ("whitelist", "account_id, first, last, enabled, expires_at"),
            Self::Entitlement => ("entitlements", "account_id, protocol, expires_at"),
            Self::Gateway => ("gateways", "id, host, port, region, protocol, spin, username, password"),
            Self::Group => ("groups", "id, account_id, name, created_at, updated_at"),
            Self::Instance => (
                "instances",
                "id, account_id, ip, port, order_no, offer_id, status, protocols, country_code, city_code, \
                 isp_type, expires_at, activated_at, capabilities, group_id, username, password",
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

    /// Selects every record of this kind, in SQL that both databases speak. The columns are in the order of the record's fields.
    pub(super) const fn select(self) -> &'static str {
        match self {
            Self::Account => {
                "SELECT name, real_name_verified FROM accounts ORDER BY id"
            }
            Self::Token => {
                "SELECT a.name, t.sha256, t.kind, t.created_at, t.expires_at, t.revoked_at
                 FROM tokens AS t JOIN accounts AS a ON a.id = t.account_id ORDER BY t.id"
            }
            Self::Whitelist => {
                "SELECT a.name, w.first, w.last, w.enabled, w.expires_at
                 FROM whitelist AS w JOIN accounts AS a ON a.id = w.account_id ORDER BY w.id"
            }
            Self::Entitlement => {
                "SELECT a.name, e.protocol, e.expires_at
                 FROM entitlements AS e JOIN accounts AS a ON a.id = e.account_id ORDER BY e.account_id, e.protocol"
            }
            Self::Gateway => {
                "SELECT host, port, region, protocol, username, password FROM gateways ORDER BY id"
            }
            Self::Group => {
                "SELECT a.name, g.id, g.name, g.created_at, g.updated_at
                 FROM groups AS g JOIN accounts AS a ON a.id = g.account_id ORDER BY g.id"
            }
            Self::Instance => {
                "SELECT a.name, i.order_no, i.id, i.offer_id, i.status, i.ip, i.port, i.protocols, i.country_code,
                 i.city_code, i.isp_type, i.expires_at, i.activated_at, i.capabilities, i.group_id, i.username,
                 i.password
                 FROM instances AS i JOIN accounts AS a ON a.id = i.account_id ORDER BY i.id"
            }
        }
    }

    /// The record of a row that [`select`](Self::select) returns.
    pub(super) fn read(self, mut row: Row<'_>) -> Result<Record, StoreError> {
        Ok(match self {
            Self::Account => {
                Record::Account(AccountRecord { name: row.take()?, real_name_verified: row.take()? })
            }
            Self::Token => Record::Token(TokenRecord {
                account: row.take()?,
                sha256: row.take()?,
                kind: row.take()?,
                created_at: row.take()?,
                expires_at: row.take()?,
                revoked_at: row.take()?,
            }),
            Self::Whitelist => Record::Whitelist(WhitelistRecord {
                account: row.take()?,
                first: StoredIp(row.take()?).v4()?,
                last: Some(StoredIp(row.take()?).v4()?),
                enabled: row.take()?,
                expires_at: row.take()?,
            }),
            Self::Entitlement => Record::Entitlement(EntitlementRecord {
                account: row.take()?,
                protocol: row.take()?,
                expires_at: row.take()?,
            }),
            Self::Gateway => Record::Gateway(GatewayRecord {
                host: row.take()?,
                port: row.take()?,
                region: row.take()?,
                protocol: row.take()?,
                username: row.take()?,
                password: row.take::<Option<String>>()?.map(ProxyPassword::new),
            }),
            Self::Group => Record::Group(GroupRecord {
                account: row.take()?,
                group_id: row.take()?,
                name: row.take()?,
                created_at: row.take()?,
                updated_at: row.take()?,
            }),
            Self::Instance => Record::Instance(Box::new(InstanceRecord {
                account: row.take()?,
                order_no: row.take()?,
                instance_id: row.take()?,
                offer_id: row.take()?,
                status: row.take()?,
                ip: row.take()?,
                port: row.take()?,
                protocols: row.take::<Json<_>>()?.0,
                country_code: row.take()?,
                city_code: row.take()?,
                isp_type: row.take()?,
                expires_at: row.take()?,
                activated_at: row.take()?,
                capabilities: row.take::<Json<_>>()?.0,
                group_id: row.take()?,
                username: row.take()?,
                password: row.take::<Option<String>>()?.map(ProxyPassword::new),
            })),
        })
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
        Ok(match self {
            Self::Account(AccountRecord { name, real_name_verified }) => {
                vec![name.as_str().into(), (*real_name_verified).into()]
            }
            Self::Token(TokenRecord { account: _, sha256, kind, created_at, expires_at, revoked_at }) => {
                vec![
                    owner.into(),
                    (*sha256).into(),
                    (*kind).into(),
                    (*created_at).into(),
                    (*expires_at).into(),
                    (*revoked_at).into(),
                ]
            }
            Self::Whitelist(WhitelistRecord { account: _, first, last, enabled, expires_at }) => vec![
                owner.into(),
                IpAddr::V4(*first).into(),
                IpAddr::V4(last.unwrap_or(*first)).into(),
                (*enabled).into(),
                (*expires_at).into(),
            ],
            Self::Entitlement(EntitlementRecord { account: _, protocol, expires_at }) => {
                vec![owner.into(), (*protocol).into(), (*expires_at).into()]
            }
            Self::Gateway(GatewayRecord { host, port, region, protocol, username, password }) => vec![
                gateway.into(),
                host.as_str().into(),
                (*port).into(),
                region.as_str().into(),
                (*protocol).into(),
                spin(gateway).into(),
                username.as_deref().into(),
                password.as_ref().map(ProxyPassword::expose).into(),
            ],
            Self::Group(GroupRecord { account: _, group_id, name, created_at, updated_at }) => vec![
                (*group_id).into(),
                owner.into(),
                name.as_str().into(),
                (*created_at).into(),
                (*updated_at).into(),
            ],
            Self::Instance(instance) => instance_values(instance, owner)?,
        })
    }
}

fn instance_values(instance: &InstanceRecord, owner: i64) -> Result<Vec<Value<'_>>, StoreError> {
    let InstanceRecord {
        account: _,
        order_no,
        instance_id,
        offer_id,
        status,
        ip,
        port,
        protocols,
        country_code,
        city_code,
        isp_type,
        expires_at,
        activated_at,
        capabilities,
        group_id,
        username,
        password,
    } = instance;
    Ok(vec![
        (*instance_id).into(),
        owner.into(),
        (*ip).into(),
        (*port).into(),
        order_no.as_deref().into(),
        (*offer_id).into(),
        (*status).into(),
        Value::json(protocols)?,
        country_code.as_str().into(),
        city_code.as_str().into(),
        (*isp_type).into(),
        (*expires_at).into(),
        (*activated_at).into(),
        Value::json(capabilities)?,
        (*group_id).into(),
        username.as_deref().into(),
        password.as_ref().map(ProxyPassword::expose).into(),
    ])
}
