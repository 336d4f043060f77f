//! The tables that records are loaded into, with the columns that a record fills.

use tokio_postgres::types::Type;

/// A table and some of its columns.
pub(super) struct Table {
    name: &'static str,
    columns: &'static [(&'static str, Type)],
}

impl Table {
    /// Copies rows of these columns.
    pub(super) fn copy(&self) -> String {
        format!("COPY {} ({}) FROM STDIN (FORMAT binary)", self.name, self.names())
    }

    /// Adds one row of these columns.
    pub(super) fn insert(&self) -> String {
        let values: Vec<_> = (1..=self.columns.len()).map(|place| format!("${place}")).collect();
        format!("INSERT INTO {} ({}) VALUES ({})", self.name, self.names(), values.join(", "))
    }

    pub(super) fn types(&self) -> Vec<Type> {
        self.columns.iter().map(|(_, kind)| kind.clone()).collect()
    }

    fn names(&self) -> String {
        self.columns.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
    }
}

pub(super) static ACCOUNTS: Table =
    Table { name: "accounts", columns: &[("name", Type::TEXT), ("real_name_verified", Type::BOOL)] };

pub(super) static TOKENS: Table = Table {
    name: "tokens",
    columns: &[
        ("account_id", Type::INT8),
        ("sha256", Type::BYTEA),
        ("kind", Type::TEXT),
        ("created_at", Type::BYTEA),
        ("expires_at", Type::BYTEA),
        ("revoked_at", Type::BYTEA),
    ],
};

pub(super) static WHITELIST: Table = Table {
    name: "whitelist",
    columns: &[
        ("account_id", Type::INT8),
        ("first", Type::BYTEA),
        ("last", Type::BYTEA),
        ("enabled", Type::BOOL),
        ("expires_at", Type::BYTEA),
    ],
};

pub(super) static ENTITLEMENTS: Table = Table {
    name: "entitlements",
    columns: &[("account_id", Type::INT8), ("protocol", Type::TEXT), ("expires_at", Type::BYTEA)],
};

pub(super) static GATEWAYS: Table = Table {
    name: "gateways",
    columns: &[
        ("id", Type::INT8),
        ("host", Type::TEXT),
        ("port", Type::INT4),
        ("region", Type::TEXT),
        ("protocol", Type::TEXT),
        ("spin", Type::INT8),
        ("username", Type::TEXT),
        ("password", Type::TEXT),
    ],
};

pub(super) static GROUPS: Table = Table {
    name: "groups",
    columns: &[
        ("id", Type::INT8),
        ("account_id", Type::INT8),
        ("name", Type::TEXT),
        ("created_at", Type::BYTEA),
        ("updated_at", Type::BYTEA),
    ],
};

pub(super) static INSTANCES: Table = Table {
    name: "instances",
    columns: &[
        ("id", Type::INT8),
        ("account_id", Type::INT8),
        ("ip", Type::BYTEA),
        ("port", Type::INT4),
        ("order_no", Type::TEXT),
        ("offer_id", Type::INT8),
        ("status", Type::TEXT),
        ("protocols", Type::TEXT),
        ("country_code", Type::TEXT),
        ("city_code", Type::TEXT),
        ("isp_type", Type::INT8),
        ("expires_at", Type::BYTEA),
        ("activated_at", Type::BYTEA),
        ("capabilities", Type::TEXT),
        ("group_id", Type::INT8),
        ("username", Type::TEXT),
        ("password", Type::TEXT),
    ],
};
