//! The progress of a load: records stored, lines rejected with their reasons.

use std::ops::ControlFlow;

use super::{
    BadLines, LoadError, StoreError,
    record::{EntitlementRecord, GatewayRecord, Record, RecordCounts, WhitelistRecord},
};

/// Why a record is not stored.
#[derive(Debug)]
pub(super) enum RecordError {
    /// The record is invalid or conflicts with what is stored.
    Line(String),
    /// The storage failed.
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

    /// A record with the same identity is already stored.
    pub(super) fn already_exists(record: &Record) -> Self {
        Self::Line(format!("{} already exists", describe(record)))
    }

    /// A foreign key of the record is not stored. It is the group, because accounts are looked up before.
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

/// Rejects a whitelist entry whose range ends before it begins.
pub(super) fn check_range(record: &Record) -> Result<(), RecordError> {
    match record {
        Record::Whitelist(WhitelistRecord { first, last: Some(last), .. }) if last < first => {
            Err(RecordError::Line(format!("the range ends at {last}, before it begins at {first}")))
        }
        _ => Ok(()),
    }
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

    /// Adds a rejected line. Breaks when [`BadLines::MAX`] is reached.
    ///
    /// # Errors
    /// The storage failed.
    pub(super) fn reject(&mut self, number: u64, error: RecordError) -> Result<ControlFlow<()>, LoadError> {
        match error {
            RecordError::Store(error) => Err(error.into()),
            RecordError::Line(reason) => {
                self.bad.lines.push((number, reason));
                self.bad.cut_short = self.bad.lines.len() == BadLines::MAX;
                Ok(if self.bad.cut_short { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
            }
        }
    }

    /// The numbers of loaded records, or the invalid lines in order.
    pub(super) fn finish(mut self) -> Result<RecordCounts, LoadError> {
        if self.bad.lines.is_empty() {
            return Ok(self.loaded);
        }
        self.bad.lines.sort();
        Err(LoadError::Rejected(self.bad))
    }
}
