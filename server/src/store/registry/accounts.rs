//! Accounts, and the records that they own.

use serde::Serialize;

use super::{ListEntry, Query, Registry, RegistryError, Result, Session, Value};
use crate::{domain::token::Token, names::nearest, printable::counted, store::record::AccountRecord};

/// Selects accounts.
#[derive(Clone, Debug, Default)]
pub struct AccountFilter {
    /// Those that have, or have not, passed real-name verification.
    pub real_name_verified: Option<bool>,
}

/// An account with the number of records that it owns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "each count is that of the things that it is named after")]
pub struct AccountSummary {
    /// Unique name.
    pub name: String,
    /// Whether it has passed real-name verification.
    pub real_name_verified: bool,
    pub tokens: i64,
    pub whitelist: i64,
    pub entitlements: i64,
    pub groups: i64,
    pub instances: i64,
}

impl AccountSummary {
    /// The counts in words, such as "2 tokens, 1 group"; `None` when all are zero.
    #[must_use]
    pub fn in_words(&self) -> Option<String> {
        let Self { name: _, real_name_verified: _, tokens, whitelist, entitlements, groups, instances } =
            self;
        let all = [
            (tokens, "token"),
            (whitelist, "whitelist entry"),
            (entitlements, "entitlement"),
            (groups, "group"),
            (instances, "instance"),
        ];
        let some: Vec<_> = all.iter().filter(|(count, _)| **count > 0).collect();
        let words: Vec<_> = some.iter().map(|(count, noun)| counted(**count, noun)).collect();
        (!words.is_empty()).then(|| words.join(", "))
    }
}

impl ListEntry for AccountRecord {
    type Filter = AccountFilter;

    fn query(_: &mut dyn Session, filter: &AccountFilter) -> Result<Query> {
        Ok(Query::new("SELECT name, real_name_verified FROM accounts WHERE TRUE")
            .only("real_name_verified", filter.real_name_verified)
            .then("ORDER BY name"))
    }
}

/// Maximum length of an account's name, in characters.
const MAX_NAME_LENGTH: usize = 200;

impl Registry {
    /// Adds an account.
    ///
    /// # Errors
    /// The name already exists, or it is invalid: empty, too long, or with characters that people cannot type.
    pub async fn add_account(&self, account: AccountRecord) -> Result<()> {
        self.change(move |session| {
            let AccountRecord { name, real_name_verified } = account;
            check_name(&name)?;
            let added = session.execute(
                "INSERT INTO accounts (name, real_name_verified) VALUES ($1, $2) ON CONFLICT DO NOTHING",
                &[name.as_str().into(), real_name_verified.into()],
            )?;
            if added == 0 {
                return Err(RegistryError::AlreadyExists(format!("account {name:?} already exists")));
            }
            Ok(())
        })
        .await
    }

    /// One account, with the number of records that it owns.
    ///
    /// # Errors
    /// The account is unknown.
    pub async fn account(&self, name: String) -> Result<AccountSummary> {
        self.read(move |session| {
            let account = find(session, &name)?;
            belongings(session, account, name)
        })
        .await
    }

    /// Sets whether an account has passed real-name verification.
    ///
    /// # Errors
    /// The account is unknown.
    pub async fn verify_account(&self, name: String, verified: bool) -> Result<()> {
        self.change(move |session| {
            let account = find(session, &name)?;
            session.execute(
                "UPDATE accounts SET real_name_verified = $1 WHERE id = $2",
                &[verified.into(), account.into()],
            )?;
            Ok(())
        })
        .await
    }

    /// Removes an account, and the extractions that are stored under its request ids. With `with_data` it also removes all
    /// other records of the account.
    ///
    /// # Errors
    /// The account is unknown, or it owns records and `with_data` is false.
    pub async fn remove_account(&self, name: String, with_data: bool) -> Result<AccountSummary> {
        self.change(move |session| {
            let lock = session.row_lock();
            let account = find_with_lock(session, &name, lock)?;
            let belongings = belongings(session, account, name)?;
            if !with_data && let Some(words) = belongings.in_words() {
                return Err(RegistryError::InUse(format!(
                    "account {:?} has {words}; remove them first, or all together with --with-data",
                    belongings.name
                )));
            }
            super::numbers::retire_all(session, account)?;
            for table in ["extractions", "instances", "groups", "entitlements", "whitelist", "tokens"] {
                session.execute(&format!("DELETE FROM {table} WHERE account_id = $1"), &[account.into()])?;
            }
            session.execute("DELETE FROM accounts WHERE id = $1", &[account.into()])?;
            Ok(belongings)
        })
        .await
    }
}

/// The number of an account.
pub(super) fn find(session: &mut dyn Session, name: &str) -> Result<i64> {
    find_with_lock(session, name, "")
}

/// The same with the suffix [`Session::row_lock`], which locks the account against additions until the transaction ends.
fn find_with_lock(session: &mut dyn Session, name: &str, lock: &str) -> Result<i64> {
    let found = session.first(&format!("SELECT id FROM accounts WHERE name = $1 {lock}"), &[name.into()])?;
    match found {
        Some(id) => Ok(id),
        None => Err(unknown(session, name)?),
    }
}

/// The number of the account that a filter names.
pub(super) fn find_any(session: &mut dyn Session, name: Option<&String>) -> Result<Option<i64>> {
    name.map(|name| find(session, name)).transpose()
}

fn unknown(session: &mut dyn Session, name: &str) -> Result<RegistryError> {
    // The text may be a token by mistake; a token of another service can only be recognised by its length.
    const MAX_SHOWN: usize = 40;
    let secret = Token::resembles(name) || name.chars().count() > MAX_SHOWN;
    let shown = if secret { "of that name".to_owned() } else { format!("named {name:?}") };
    let names: Vec<String> = session.all("SELECT name FROM accounts", &[])?;
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let advice = match nearest(name, &names) {
        Some(near) => format!("did you mean {near:?}?"),
        None => "`server account list` shows all".to_owned(),
    };
    Ok(RegistryError::Unknown(format!("unknown account {shown}; {advice}")))
}

fn belongings(session: &mut dyn Session, account: i64, name: String) -> Result<AccountSummary> {
    let id = [Value::from(account)];
    let verified = session.first("SELECT real_name_verified FROM accounts WHERE id = $1", &id)?;
    let mut count =
        |table: &str| session.number(&format!("SELECT count(*) FROM {table} WHERE account_id = $1"), &id);
    Ok(AccountSummary {
        name,
        real_name_verified: verified.unwrap_or(false),
        tokens: count("tokens")?,
        whitelist: count("whitelist")?,
        entitlements: count("entitlements")?,
        groups: count("groups")?,
        instances: count("instances")?,
    })
}

fn check_name(name: &str) -> Result<()> {
    let rejected = |reason: &str| Err(RegistryError::Rejected(reason.to_owned()));
    if Token::resembles(name) {
        return rejected("expected a name for the account, found what looks like a token; choose a name");
    }
    if name.trim() != name || name.is_empty() || name.chars().any(char::is_control) {
        return rejected(
            "expected a name for the account that is not empty, without control characters and without spaces at its \
             ends",
        );
    }
    if name.chars().count() > MAX_NAME_LENGTH {
        return Err(RegistryError::Rejected(format!(
            "expected a name for the account of at most {MAX_NAME_LENGTH} characters, found {}; shorten it",
            name.chars().count()
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_names_are_rejected() {
        for good in ["acme", "Acme, Inc.", "北京公司", "a", &"x".repeat(MAX_NAME_LENGTH)] {
            assert!(check_name(good).is_ok(), "{good}");
        }
        for bad in ["", " acme", "acme\n", "a\u{1b}[31m", &"x".repeat(MAX_NAME_LENGTH + 1)] {
            assert!(matches!(check_name(bad), Err(RegistryError::Rejected(_))), "{bad:?}");
        }
        let token = Token::generate(crate::domain::token::TokenKind::Api);
        let error = check_name(token.expose()).unwrap_err();
        assert!(!error.to_string().contains(token.expose()), "{error}");
    }

    #[test]
    fn counts_are_put_in_words() {
        let mut all = AccountSummary {
            name: "acme".to_owned(),
            real_name_verified: true,
            tokens: 1,
            whitelist: 2,
            entitlements: 0,
            groups: 0,
            instances: 3,
        };
        assert_eq!(all.in_words().as_deref(), Some("1 token, 2 whitelist entries, 3 instances"));
        (all.tokens, all.whitelist, all.instances) = (0, 0, 0);
        assert_eq!(all.in_words(), None);
    }
}
