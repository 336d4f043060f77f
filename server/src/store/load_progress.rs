//! The progress of a load: records stored, lines rejected with their reasons.

use std::{net::IpAddr, ops::ControlFlow};

use super::{
    BadLines, LoadError, StoreError,
    packed::StoredIp,
    record::{EntitlementRecord, GatewayRecord, Record, RecordCounts, WhitelistRecord},
};

/// Why a record is not stored.
#[derive(Debug)]
pub(super) enum RecordError {
    /// The line contradicts what is stored, or itself.
    Line(String),
    /// The storage failed, whatever the line says.
    Store(StoreError),
}

impl<E: Into<StoreError>> From<E> for RecordError {
    fn from(error: E) -> Self {
        Self::Store(error.into())
    }
}

impl RecordError {
    /// The record names an account that is not stored.
    pub(super) fn unknown_account(name: &str) -> Self {
        Self::Line(format!("unknown account {name:?}; its record must come first"))
    }

    /// What identifies the record is already stored.
    pub(super) fn already_exists(record: &Record) -> Self {
        Self::Line(format!("{} already exists", describe(record)))
    }

    /// A foreign key of the record is not stored. Accounts were looked up before, so it is the group.
    pub(super) fn unknown_group(record: &Record) -> Self {
        let what = describe(record);
        Self::Line(format!("the group of {what} is not a group of its account; its record must come first"))
    }
}

/// The record in an error message.
pub(super) fn describe(record: &Record) -> String {
    match record {
        Record::Account(account) => format!("an account named {:?}", account.name),
        Record::Token(_) => "a token with this digest".to_owned(),
        Record::Whitelist(_) => "this whitelist entry".to_owned(),
        Record::Entitlement(EntitlementRecord { account, protocol, .. }) => {
            format!("an entitlement of {account:?} for {protocol}")
        }
        Record::Gateway(GatewayRecord { host, port, region, protocol, .. }) => {
            format!("a {protocol} gateway {host}:{port} in {region}")
        }
        Record::Group(group) => format!("a group {}", group.group_id.get()),
        Record::Instance(instance) => format!("an instance {}", instance.instance_id.get()),
    }
}

/// First and last address of a whitelist entry.
pub(super) fn range(entry: &WhitelistRecord) -> Result<[StoredIp; 2], RecordError> {
    let (first, last) = (entry.first, entry.last.unwrap_or(entry.first));
    if last < first {
        return Err(RecordError::Line(format!("the range ends at {last}, before it begins at {first}")));
    }
    Ok([first, last].map(|ip| StoredIp(IpAddr::V4(ip))))
}

/// Records and rejected lines so far.
#[derive(Debug, Default)]
pub(super) struct LoadProgress {
    loaded: RecordCounts,
    bad: BadLines,
}

impl LoadProgress {
    /// Counts a record that was stored.
    pub(super) fn stored(&mut self, record: &Record) {
        self.loaded.count(record);
    }

    /// Adds a rejected line. Breaks when [`BadLines::MOST`] is reached.
    ///
    /// # Errors
    /// The storage failed.
    pub(super) fn reject(&mut self, number: u64, error: RecordError) -> Result<ControlFlow<()>, LoadError> {
        match error {
            RecordError::Store(error) => Err(error.into()),
            RecordError::Line(reason) => {
                self.bad.lines.push((number, reason));
                self.bad.cut_short = self.bad.lines.len() == BadLines::MOST;
                Ok(if self.bad.cut_short { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
            }
        }
    }

    /// What was loaded, if every line was valid.
    ///
    /// # Errors
    /// The invalid lines, by number.
    pub(super) fn finish(mut self) -> Result<RecordCounts, LoadError> {
        if self.bad.lines.is_empty() {
            return Ok(self.loaded);
        }
        self.bad.lines.sort();
        Err(LoadError::Rejected(self.bad))
    }
}
