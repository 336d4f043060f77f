//! The queries of requests, each written once for both databases. Those for data of an account return nothing if the token is unknown.

use std::{net::IpAddr, ops::ControlFlow, sync::Arc};

use jiff::Timestamp;

use super::{
    Result, StoreError,
    cache::MAX_CACHED_GATEWAYS,
    record_kind::RecordKind,
    session::{Dialect, Session},
    value::{FromRow, Row, Value, from_row, json_text},
};
use crate::api::generated::SearchRequest;
use crate::domain::{
    Protocol, StaticGroup, StaticInstance,
    access::{Account, AccountId, Credential, Entitlement, ProtectedData, WhitelistEntry},
    extraction::{Endpoint, ExtractionData, ExtractionQuery, Parameters, Region, StoredExtraction},
    ports::{Found, Item},
    search::{Condition, Filter, FilterValue, Filters, SearchPage, SearchQuery},
    token::TokenDigest,
};

/// Maximum number of extractions that one transaction deletes, so that other writers do not wait long.
const MAX_DELETED_AT_ONCE: u32 = 500;

/// The statements that are put together for a database, each without and with a condition more.
#[derive(Debug)]
pub(super) struct Statements {
    /// Without and with filters.
    search: [String; 2],
    /// For gateways everywhere and in a region.
    extract: [String; 2],
    gateways: [String; 2],
}

impl Statements {
    /// The statements for a database with this dialect.
    pub(super) fn new(dialect: &Dialect) -> Self {
        let both = |sql: fn(&Dialect, bool) -> String| [false, true].map(|more| sql(dialect, more));
        Self { search: both(search_sql), extract: both(extract_sql), gateways: both(gateways_sql) }
    }
}

/// The code of a region, which is a parameter of the statements for one region.
fn code(region: &Region) -> Option<&str> {
    match region {
        Region::Everywhere => None,
        Region::Only(code) => Some(code),
    }
}

/// The search of a page of instances, with or without conditions beside the addresses. Without them the index alone tells what
/// matches.
#[expect(
    clippy::expect_used,
    reason = "a test builds the statement, and the document does not change while the server runs"
)]
pub fn search_sql(dialect: &Dialect, is_filtered: bool) -> String {
    let mut conditions = String::new();
    if is_filtered {
        for (filter, number) in numbered_filters() {
            // The comparison comes first, because PostgreSQL takes the parameter's type from its first use.
            let condition = condition(dialect, RecordKind::Instance, filter, number)
                .expect("a field of the records of instances");
            conditions.push_str(&format!("AND ({condition} OR ${number} IS NULL) "));
        }
    }
    include_str!("search.sql")
        .replace("MATCHED", dialect.matched)
        .replace("OWNER", &owner("$1"))
        .replace("FILTERS", &conditions)
        .replace("INSTANCE", dialect.instance)
}

/// The choice of gateways with everything else that an extraction needs.
pub fn extract_sql(dialect: &Dialect, in_region: bool) -> String {
    let gateways = matching_gateways(dialect, in_region, "$7");
    include_str!("extract.sql").replace("GATEWAYS", &gateways).replace("OWNER", &owner("$4"))
}

/// The account of the token whose digest is this parameter.
fn owner(digest: &str) -> String {
    format!("(SELECT account_id FROM tokens WHERE sha256 = {digest})")
}

/// All gateways of a protocol, in the order from which extractions choose.
pub fn gateways_sql(dialect: &Dialect, in_region: bool) -> String {
    let gateways = matching_gateways(dialect, in_region, "$3");
    format!("SELECT spin, host, port FROM {gateways} ORDER BY spin LIMIT $2")
}

/// The gateways of protocol $1, along an index in the order of `spin`.
fn matching_gateways(dialect: &Dialect, in_region: bool, region: &str) -> String {
    let (index, region) = if in_region {
        ("gateways_by_region", format!(" AND region = {region}"))
    } else {
        ("gateways_everywhere", String::new())
    };
    format!("{} WHERE protocol = $1{region}", dialect.along("gateways", index))
}

from_row!(Credential: account, kind, expires_at, revoked_at);
from_row!(Endpoint: host, port);
from_row!(StoredExtraction: parameters, endpoints);
from_row!(StaticGroup: group_id, name, created_at, updated_at);
from_row!(
    StaticInstance: instance_id, offer_id, status, ip, port, protocols, country_code, city_code, isp_type, expires_at,
    activated_at, capabilities, group_id
);

/// The stored token; `None` when it is unknown.
pub(super) fn credential(session: &mut dyn Session, digest: TokenDigest) -> Result<Option<Credential>> {
    let select = "SELECT account_id, kind, expires_at, revoked_at FROM tokens WHERE sha256 = $1";
    session.first(select, &[digest.into()])
}

/// What an account has, as a listing shows it.
pub(super) trait Listed: Item + FromRow + Send + 'static {
    /// Selects a token and the items of its account.
    const SELECT: &'static str;
    /// The records whose fields filters name.
    const KIND: RecordKind;
}

/// The columns of an item `i`, by the first of which items are listed, ascending, and which is never null; the items of all accounts, with
/// the column `account_id`; and the kind of their records.
macro_rules! listed {
    ($item:ident: $columns:literal, $items:literal, $kind:ident) => {
        impl Listed for $item {
            const SELECT: &'static str = concat!(
                "SELECT t.account_id, t.kind, t.expires_at, t.revoked_at, ",
                $columns,
                " FROM tokens AS t LEFT JOIN ",
                $items,
                " AS i ON i.account_id = t.account_id"
            );
            const KIND: RecordKind = RecordKind::$kind;
        }
    };
}

listed!(StaticGroup: "i.id, i.name, i.created_at, i.updated_at", "groups", Group);

/// The items of the token's account that pass the filters.
pub(super) fn list<T: Listed>(
    session: &mut dyn Session,
    digest: TokenDigest,
    filters: &Filters,
) -> Found<Vec<T>, StoreError> {
    let mut select = T::SELECT.to_owned();
    let mut values: Vec<Value<'_>> = vec![digest.into()];
    for (filter, value) in filters {
        if is_impossible(session.dialect(), value) {
            select.push_str(" AND 1 = 0");
            continue;
        }
        values.push(value.into());
        let condition = condition(session.dialect(), T::KIND, filter, values.len())?;
        select.push_str(&format!(" AND {condition}"));
    }
    select.push_str(" WHERE t.sha256 = $1 ORDER BY 5");
    let mut found = None;
    session.each::<StoreError>(&select, &values, &mut |mut row| {
        let credential = FromRow::from_row(&mut row)?;
        let (_, items) = found.get_or_insert((credential, Vec::new()));
        items.extend(row.joined()?);
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found.map(|(credential, items)| ProtectedData::new(credential, items)))
}

/// Number of the parameter of the first filter.
const FIRST_FILTER: usize = 7;

/// The filters of a search, each with the number of its parameter.
fn numbered_filters() -> impl Iterator<Item = (&'static Filter, usize)> {
    SearchRequest::FILTERS.iter().zip(FIRST_FILTER..)
}

/// Whether no stored text can match the value of a filter, so that nothing is found.
fn is_impossible(dialect: &Dialect, value: &FilterValue) -> bool {
    matches!(value, FilterValue::Text(text) if !dialect.can_store(text))
}

/// The condition on a record `i` of a filter whose value is the parameter of this number.
fn condition(dialect: &Dialect, kind: RecordKind, filter: &Filter, number: usize) -> Result<String> {
    let Filter { property, field, condition } = filter;
    let Some(column) = kind.stored().find(|one| one.name == *field).map(|one| one.column) else {
        let text = format!("`{property}` finds items by `{field}`, which is no field of their records");
        return Err(StoreError::Internal(text));
    };
    Ok(match condition {
        Condition::Equal => format!("i.{column} = ${number}"),
        Condition::EqualOrNull(null) => format!("coalesce(i.{column}, {null}) = ${number}"),
        Condition::Contains => (dialect.contains)(column, number),
        Condition::AtLeast => format!("i.{column} >= ${number}"),
        Condition::AtMost => format!("i.{column} <= ${number}"),
    })
}

impl<'a> From<&'a FilterValue> for Value<'a> {
    fn from(value: &'a FilterValue) -> Self {
        match value {
            FilterValue::Text(text) => text.as_ref().into(),
            FilterValue::Number(number) => (*number).into(),
            FilterValue::Flag(flag) => (*flag).into(),
            FilterValue::Time(time) => (*time).into(),
        }
    }
}

pub(super) fn search(
    session: &mut dyn Session,
    statements: &Statements,
    digest: TokenDigest,
    query: &SearchQuery,
) -> Found<SearchPage, StoreError> {
    /// Columns before those of the instance.
    const BEFORE_INSTANCE: usize = 5;
    let dialect = session.dialect();
    let is_possible = !query.filters.iter().any(|(_, value)| is_impossible(dialect, value));
    let addresses = if is_possible { query.disjoint_addresses() } else { Vec::new() };
    let is_filtered = is_possible && !query.filters.is_empty();

    let mut buffer = Vec::new();
    let mut values = vec![digest.into(), query.page_size.into(), query.offset().into()];
    values.extend((dialect.addresses)(&addresses, &mut buffer));
    if is_filtered {
        values.extend(numbered_filters().map(|(filter, _)| {
            let set = query.filters.iter().find(|(set, _)| set.property == filter.property);
            set.map(|(_, value)| value).into()
        }));
    }
    let sql = &statements.search[usize::from(is_filtered)];
    let mut found: Option<(Credential, SearchPage)> = None;
    session.each::<StoreError>(sql, &values, &mut |mut row| {
        if let Some((_, page)) = &mut found {
            row.skip(BEFORE_INSTANCE);
            page.items.push(FromRow::from_row(&mut row)?);
            return Ok(ControlFlow::Continue(()));
        }
        let (credential, total) = FromRow::from_row(&mut row)?;
        let mut items = Vec::with_capacity(usize::try_from(total).unwrap_or(0).min(query.page_size as usize));
        // Only a single row can be without an instance.
        items.extend(row.joined()?);
        found = Some((credential, SearchPage { items, total }));
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found.map(|(credential, page)| ProtectedData::new(credential, page)))
}

/// The data of an extraction. The account has the whitelist entries that cover the caller, disabled and expired ones included.
pub(super) fn extraction(
    session: &mut dyn Session,
    statements: &Statements,
    query: &ExtractionQuery,
    pivot: i64,
) -> Found<ExtractionData, StoreError> {
    let ExtractionQuery { digest, caller_ip, parameters, request_id } = query;
    let dialect = session.dialect();
    let region = code(&parameters.region);
    let values = [
        parameters.protocol.into(),
        parameters.count.into(),
        pivot.into(),
        (*digest).into(),
        request_id.as_deref().map_or(Value::Null, |id| dialect.request_id(id)),
        (*caller_ip).into(),
        region.filter(|code| dialect.can_store(code)).into(),
    ];
    let mut parts = ExtractionParts::default();
    session.each::<StoreError>(&statements.extract[usize::from(region.is_some())], &values, &mut |row| {
        parts.add(row)?;
        Ok(ControlFlow::Continue(()))
    })?;
    let Some((is_verified, credential)) = parts.token else { return Ok(None) };
    // The order of the parts of a UNION is not guaranteed.
    parts.gateways.sort_unstable_by_key(|(place, _)| *place);
    let gateways = parts.gateways.into_iter().take(parameters.count as usize);
    let candidates = gateways.map(|(_, gateway)| gateway).collect();
    let ExtractionParts { whitelist, entitlements, stored, .. } = parts;
    let account = Arc::new(Account { is_verified, whitelist, entitlements });
    Ok(Some(ProtectedData::new(credential, ExtractionData { account, stored, candidates })))
}

/// The rows of `extract.sql`.
#[derive(Default)]
struct ExtractionParts {
    /// Whether the account is verified, and the token.
    token: Option<(bool, Credential)>,
    whitelist: Vec<WhitelistEntry>,
    entitlements: Vec<Entitlement>,
    stored: Option<StoredExtraction>,
    /// Gateways by half and spin.
    gateways: Vec<((i64, i64), Endpoint)>,
}

impl ExtractionParts {
    fn add(&mut self, mut row: Row<'_>) -> Result<()> {
        let row = &mut row;
        let part: i64 = row.take()?;
        match part {
            0 => {
                let (is_verified, expires_at, revoked_at) = (row.take()?, row.take()?, row.take()?);
                row.skip(1);
                let kind = row.take()?;
                row.skip(1);
                let account = row.take()?;
                self.token = Some((is_verified, Credential { account, kind, expires_at, revoked_at }));
            }
            1 => {
                let (is_enabled, expires_at) = (row.take()?, row.take()?);
                // A later version or another program may store ranges of IPv6 addresses.
                if let (IpAddr::V4(first), IpAddr::V4(last)) = (row.take()?, row.take()?) {
                    self.whitelist.push(WhitelistEntry { first, last, is_enabled, expires_at });
                }
            }
            2 => {
                row.skip(1);
                let expires_at = row.take()?;
                row.skip(2);
                // A later version may know more protocols.
                if let Some(protocol) = Protocol::from_name(&row.take::<String>()?) {
                    self.entitlements.push(Entitlement { protocol, expires_at });
                }
            }
            3 => {
                row.skip(4);
                self.stored = Some(FromRow::from_row(row)?);
            }
            half => {
                row.skip(4);
                let host = row.take()?;
                row.skip(1);
                let (spin, port) = (row.take()?, row.take()?);
                self.gateways.push(((half, spin), Endpoint { host, port }));
            }
        }
        Ok(())
    }
}

/// All gateways that match an extraction, ascending by spin, or one more than are cached.
pub(super) fn gateways(
    session: &mut dyn Session,
    statements: &Statements,
    parameters: &Parameters,
) -> Result<Vec<(i64, Endpoint)>> {
    let region = code(&parameters.region);
    let limit = MAX_CACHED_GATEWAYS as u64 + 1;
    session.all(
        &statements.gateways[usize::from(region.is_some())],
        &[parameters.protocol.into(), limit.into(), region.into()],
    )
}

/// Stores an extraction, unless one exists under this request id, and returns the stored one. The second of two concurrent calls waits
/// for the first.
pub(super) fn store_extraction(
    session: &mut dyn Session,
    account: AccountId,
    request_id: &str,
    extraction: StoredExtraction,
    now: Timestamp,
) -> Result<StoredExtraction> {
    let (dialect, account) = (session.dialect(), Value::from(account));
    let request_id = dialect.request_id(request_id);
    let StoredExtraction { parameters, endpoints } = &extraction;
    let added = session.execute(
        "INSERT INTO extractions (account_id, request_id, parameters, endpoints, created_at)
         VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING",
        &[account.clone(), request_id.clone(), json_text(parameters)?, json_text(endpoints)?, now.into()],
    )?;
    if added == 1 {
        return Ok(extraction);
    }
    let stored = session.first(
        "SELECT parameters, endpoints FROM extractions WHERE account_id = $1 AND request_id = $2",
        &[account, request_id],
    )?;
    // Only a server whose clock is far ahead could have deleted it already.
    stored.ok_or_else(|| StoreError::Busy("an extraction was deleted while it was read".to_owned()))
}

/// When the newest extraction was stored.
pub(super) fn newest_extraction(session: &mut dyn Session) -> Result<Option<Timestamp>> {
    let extractions = session.dialect().along("extractions", "extractions_by_age");
    let sql = format!("SELECT created_at FROM {extractions} ORDER BY created_at DESC LIMIT 1");
    session.first(&sql, &[])
}

/// Deletes the oldest extractions that were stored before `end`.
pub(super) fn delete_extractions(session: &mut dyn Session, end: Timestamp) -> Result<u64> {
    let extractions = session.dialect().along("extractions", "extractions_by_age");
    let delete = format!(
        "DELETE FROM extractions WHERE (account_id, request_id) IN (
             SELECT account_id, request_id FROM {extractions} WHERE created_at < $1 ORDER BY created_at
             LIMIT {MAX_DELETED_AT_ONCE})"
    );
    session.execute(&delete, &[end.into()])
}

#[cfg(all(test, feature = "postgres"))]
mod tests {
    use super::*;
    use crate::store::{postgres, sqlite};

    #[test]
    fn every_filter_of_the_document_has_a_condition_and_a_parameter() {
        for dialect in [&sqlite::DIALECT, &postgres::DIALECT] {
            for (is_filtered, filters) in [(false, 0), (true, SearchRequest::FILTERS.len())] {
                let sql = search_sql(dialect, is_filtered);
                let last = FIRST_FILTER - 1 + filters;
                assert!(
                    sql.contains(&format!("${last}")) && !sql.contains(&format!("${}", last + 1)),
                    "{sql}"
                );
                assert!(!sql.contains("FILTERS") && !sql.contains("MATCHED"), "{sql}");
                assert_eq!((dialect.addresses)(&[], &mut Vec::new()).len(), FIRST_FILTER - 4);
            }
        }
    }
}
