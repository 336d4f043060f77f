//! Records as they are loaded into a storage. They refer to accounts by name.
//!
//! The same types are the lines of an import file; `server/README.md` describes them for people. Times are RFC 3339
//! with a zone and keep their nanoseconds.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr},
};

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use crate::domain::{
    instance::{Capabilities, Id, Status},
    protocol::Protocol,
    token::{TokenDigest, TokenKind},
};

/// A line of input.
#[derive(Debug)]
pub struct Line {
    /// Its number, from 1.
    pub number: u64,
    /// Its length, which bounds how many lines are in memory at once.
    pub bytes: usize,
    /// The record, or why the line cannot be parsed.
    pub record: Result<Record, String>,
}

/// Number of records of each kind that were loaded or exported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "each field is the number of records of the kind that it is named after")]
pub struct RecordCounts {
    pub accounts: u64,
    pub tokens: u64,
    pub whitelist: u64,
    pub entitlements: u64,
    pub gateways: u64,
    pub groups: u64,
    pub instances: u64,
}

impl RecordCounts {
    /// Counts a record.
    pub(super) fn count(&mut self, record: &Record) {
        let RecordCounts { accounts, tokens, whitelist, entitlements, gateways, groups, instances } = self;
        let count = match record {
            Record::Account(_) => accounts,
            Record::Token(_) => tokens,
            Record::Whitelist(_) => whitelist,
            Record::Entitlement(_) => entitlements,
            Record::Gateway(_) => gateways,
            Record::Group(_) => groups,
            Record::Instance(_) => instances,
        };
        *count += 1;
    }
}

/// A record. In JSON it is an object with one member, whose name is the kind.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Record {
    /// An account. It comes before what belongs to it.
    Account(AccountRecord),
    /// A token, by its digest.
    Token(TokenRecord),
    /// A range of addresses from which the account may extract.
    Whitelist(WhitelistRecord),
    /// A protocol that the account may extract.
    Entitlement(EntitlementRecord),
    /// A gateway of the pool, which belongs to no account.
    Gateway(GatewayRecord),
    /// A group of static instances.
    Group(GroupRecord),
    /// A static instance.
    Instance(Box<InstanceRecord>),
}

/// An account.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AccountRecord {
    /// Unique name.
    pub name: String,
    /// Whether it has passed real-name verification.
    pub real_name_verified: bool,
}

/// A token as it is stored.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TokenRecord {
    /// Name of the account.
    pub account: String,
    /// SHA-256 of the token, in 64 hexadecimal digits.
    #[serde(serialize_with = "write_digest", deserialize_with = "read_digest")]
    pub sha256: TokenDigest,
    /// Which operations accept it.
    pub kind: TokenKind,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it expires; `None` for never.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked; `None` if it was not.
    pub revoked_at: Option<Timestamp>,
}

/// A range of addresses, both ends included.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WhitelistRecord {
    /// Name of the account.
    pub account: String,
    /// First address.
    #[serde(deserialize_with = "read_ipv4")]
    pub first: Ipv4Addr,
    /// Last address; the first one when left out.
    #[serde(default, deserialize_with = "read_last")]
    pub last: Option<Ipv4Addr>,
    /// Whether the owner has enabled it.
    pub enabled: bool,
    /// When it expires; `None` for never.
    pub expires_at: Option<Timestamp>,
}

/// The right to extract gateways of one protocol.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EntitlementRecord {
    /// Name of the account.
    pub account: String,
    /// The protocol.
    pub protocol: Protocol,
    /// When it expires; `None` for never.
    pub expires_at: Option<Timestamp>,
}

/// A gateway. User name and password are kept for the operator and never part of a response.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GatewayRecord {
    /// Host name or address. An address has its shortest spelling, so that a gateway is stored once.
    #[serde(deserialize_with = "read_host")]
    pub host: String,
    /// Port.
    pub port: u16,
    /// Code of its region.
    pub region: String,
    /// The protocol that it speaks.
    pub protocol: Protocol,
    /// Proxy user name.
    pub username: Option<String>,
    /// Proxy password.
    pub password: Option<ProxyPassword>,
}

/// A group of static instances.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GroupRecord {
    /// Name of the account.
    pub account: String,
    /// Identifier, unique among all groups.
    pub group_id: Id,
    /// Name.
    pub name: String,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// A static instance: the fields that the contract describes (2.3), and some that no response shows. Fields that the
/// contract calls nullable must be present, as `null` or with a value.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(
    missing_docs,
    reason = "the contract describes the fields, 2.3; user name and password are those of a gateway"
)]
pub struct InstanceRecord {
    /// Name of the account.
    pub account: String,
    /// Number of the order with which it was bought.
    pub order_no: Option<String>,
    /// Unique among all instances.
    pub instance_id: Id,
    pub offer_id: Id,
    pub status: Status,
    /// Address, never IPv4-mapped: an import converts that spelling to the IPv4 address.
    #[serde(deserialize_with = "read_ip")]
    pub ip: IpAddr,
    pub port: u16,
    pub protocols: Vec<String>,
    pub country_code: String,
    pub city_code: String,
    pub isp_type: u32,
    #[serde(deserialize_with = "Option::deserialize")]
    pub expires_at: Option<Timestamp>,
    #[serde(deserialize_with = "Option::deserialize")]
    pub activated_at: Option<Timestamp>,
    pub capabilities: Capabilities,
    /// Group, which must belong to the same account.
    #[serde(deserialize_with = "Option::deserialize")]
    pub group_id: Option<Id>,
    pub username: Option<String>,
    pub password: Option<ProxyPassword>,
}

/// A proxy password. It has no `Display`, and its `Debug` is redacted.
#[derive(Clone, PartialEq, Eq, Serialize)]
pub struct ProxyPassword(String);

impl ProxyPassword {
    /// Wraps a password.
    #[must_use]
    pub fn new(password: impl Into<String>) -> Self {
        Self(password.into())
    }

    /// The password itself, to store it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ProxyPassword {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ProxyPassword(redacted)")
    }
}

impl<'de> Deserialize<'de> for ProxyPassword {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // serde's own error would quote a password that is written as a number.
        match serde_json::Value::deserialize(deserializer)? {
            serde_json::Value::String(password) => Ok(Self(password)),
            _ => Err(D::Error::custom("password must be a text in quotes, or null")),
        }
    }
}

/// Why a record cannot be read, without its place.
#[cfg(feature = "admin")]
pub(crate) fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    if crate::domain::token::Token::resembles(&text) {
        return "a value looks like a token, and is not repeated here".to_owned();
    }
    let reason = text.split(" at line ").next().unwrap_or(&text);
    // serde names the type of the field, which says nothing to a person.
    match reason.rsplit_once(", expected ") {
        Some((found, "u16")) => format!("{found}, expected an integer from 0 to {}", u16::MAX),
        Some((found, "u32")) => format!("{found}, expected an integer from 0 to {}", u32::MAX),
        Some((found, "u64" | "NonZeroI64" | "i64")) => {
            format!("{found}, expected an integer of at most 64 bits")
        }
        _ => reason.to_owned(),
    }
}

fn read_ip<'de, D: Deserializer<'de>>(deserializer: D) -> Result<IpAddr, D::Error> {
    IpAddr::deserialize(deserializer).map(|ip| ip.to_canonical())
}

fn read_host<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    String::deserialize(deserializer).map(canonical_host)
}

/// A host; an address in the spelling in which it is stored.
pub(super) fn canonical_host(host: String) -> String {
    host.parse::<IpAddr>().map_or(host, |ip| ip.to_canonical().to_string())
}

fn read_ipv4<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Ipv4Addr, D::Error> {
    match read_ip(deserializer)? {
        IpAddr::V4(ip) => Ok(ip),
        IpAddr::V6(_) => Err(D::Error::custom("expected an IPv4 address, found an IPv6 address")),
    }
}

fn read_last<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Ipv4Addr>, D::Error> {
    #[derive(Deserialize)]
    struct Last(#[serde(deserialize_with = "read_ipv4")] Ipv4Addr);
    Ok(Option::<Last>::deserialize(deserializer)?.map(|Last(ip)| ip))
}

fn read_digest<'de, D: Deserializer<'de>>(deserializer: D) -> Result<TokenDigest, D::Error> {
    let text = String::deserialize(deserializer)?;
    // The text is not quoted, because it may be the token itself by mistake.
    TokenDigest::from_hex(&text).ok_or_else(|| D::Error::custom("sha256 must be 64 hexadecimal digits"))
}

fn write_digest<S: Serializer>(digest: &TokenDigest, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&digest.to_hex())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_neither_shown_nor_quoted() {
        let line = r#"{"host":"h","port":1,"region":"USA","protocol":"http","password":"12345"}"#;
        let gateway: GatewayRecord = serde_json::from_str(line).unwrap();
        assert!(!format!("{gateway:?}").contains("12345"));
        assert_eq!(gateway.password.as_ref().map(ProxyPassword::expose), Some("12345"));
        let error = serde_json::from_str::<GatewayRecord>(&line.replace("\"12345\"", "12345")).unwrap_err();
        assert!(error.to_string().starts_with("password must be a text"), "{error}");
        let without = serde_json::from_str::<GatewayRecord>(&line.replace("\"12345\"", "null")).unwrap();
        assert_eq!(without.password, None);
    }
}
