//! Entitlements: the protocols that an account may extract.

use super::{ListEntry, Query, Registry, RegistryError, Result, Session, accounts};
use crate::{domain::protocol::Protocol, store::record::EntitlementRecord};

/// Selects entitlements.
#[derive(Clone, Debug, Default)]
pub struct EntitlementFilter {
    /// Those of the account of that name.
    pub account: Option<String>,
    /// Those for this protocol.
    pub protocol: Option<Protocol>,
}

impl ListEntry for EntitlementRecord {
    type Filter = EntitlementFilter;

    fn query(session: &mut dyn Session, filter: &EntitlementFilter) -> Result<Query> {
        let account = accounts::find_any(session, filter.account.as_ref())?;
        Ok(Query::new(
            "SELECT a.name, e.protocol, e.expires_at
             FROM entitlements AS e JOIN accounts AS a ON a.id = e.account_id WHERE TRUE",
        )
        .only("e.account_id", account)
        .only("e.protocol", filter.protocol)
        .then("ORDER BY a.name, e.protocol"))
    }
}

impl Registry {
    /// Entitles an account to a protocol, until a time or without expiry. Replaces an earlier entitlement.
    ///
    /// # Errors
    /// The account is unknown.
    pub async fn grant(&self, entitlement: EntitlementRecord) -> Result<()> {
        self.change(move |session| {
            let EntitlementRecord { account, protocol, expires_at } = entitlement;
            let account = accounts::find(session, &account)?;
            session.execute(
                "INSERT INTO entitlements (account_id, protocol, expires_at) VALUES ($1, $2, $3)
                 ON CONFLICT (account_id, protocol) DO UPDATE SET expires_at = excluded.expires_at",
                &[account.into(), protocol.into(), expires_at.into()],
            )?;
            Ok(())
        })
        .await
    }

    /// Revokes the entitlement of an account for a protocol.
    ///
    /// # Errors
    /// The account is unknown, or it has no entitlement for the protocol.
    pub async fn revoke_entitlement(&self, account: String, protocol: Protocol) -> Result<()> {
        self.change(move |session| {
            let id = accounts::find(session, &account)?;
            let removed = session.execute(
                "DELETE FROM entitlements WHERE account_id = $1 AND protocol = $2",
                &[id.into(), protocol.into()],
            )?;
            if removed == 0 {
                return Err(RegistryError::Unknown(format!(
                    "account {account:?} has no entitlement for {protocol}; `server entitlement list` shows what it \
                     has"
                )));
            }
            Ok(())
        })
        .await
    }
}
