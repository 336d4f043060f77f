//! The kinds of records, and how those of one kind are read from a database.

use super::{
    StoreError,
    packed::{Json, StoredIp},
    record::{
        AccountRecord, EntitlementRecord, GatewayRecord, GroupRecord, InstanceRecord, ProxyPassword, Record,
        TokenRecord, WhitelistRecord,
    },
    row::Row,
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

    /// Every record of this kind, in the SQL that all databases speak. Columns come in the order of the record's fields.
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
    pub(super) fn read(self, mut row: Row) -> Result<Record, StoreError> {
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
