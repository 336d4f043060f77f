//! A token that a command gives anew when the service does not accept it any more.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::{Redactor, Request, Secret};
use crate::lock::lock;

/// Runs the command that gives the account's token, and may take a while.
type GiveToken = Arc<dyn Fn() -> Option<Secret> + Send + Sync>;

/// Where another token comes from when the service rejects the account's one with 401.
#[derive(Clone)]
pub struct TokenRenewal {
    /// The one that checks put into requests.
    first: Secret,
    give: GiveToken,
    /// The others, in the order in which they were given. The last one is sent.
    given: Arc<Mutex<Vec<Secret>>>,
    /// When the command ran last because of a 401.
    asked: Arc<tokio::sync::Mutex<Option<Instant>>>,
}

/// A service that rejects everything must not cost a command each time.
const MIN_INTERVAL: Duration = Duration::from_secs(10);

/// Maximum number of given tokens that are kept to hide them: a watch runs for months, and the patterns of each take memory. No run
/// gets as many.
const MAX_GIVEN: usize = 100;

impl TokenRenewal {
    /// `give` gives another token after `first`; none if it can't.
    pub fn new(first: Secret, give: impl Fn() -> Option<Secret> + Send + Sync + 'static) -> Self {
        Self { first, give: Arc::new(give), given: Arc::default(), asked: Arc::default() }
    }

    /// The token to send now.
    pub(super) fn current(&self) -> Secret {
        lock(&self.given).last().unwrap_or(&self.first).clone()
    }

    /// The current token and the ones before it, apart from the first one, which is a secret of the target.
    pub(super) fn given(&self) -> Vec<Secret> {
        lock(&self.given).clone()
    }

    /// The request with the current token in place of the account's first one, or what is nearly it.
    pub(super) fn applied(&self, request: &Request, current: &Secret) -> Request {
        match current.expose() == self.first.expose() {
            true => request.clone(),
            false => request.with_token(&self.first, current),
        }
    }

    /// Whether there is another token than the `used` one, with which a service rejected a request that it should accept. Asks the
    /// command for one, at most once in a while. From then on `redactor` hides it.
    pub(super) async fn renew(&self, request: &Request, used: &Secret, redactor: &Redactor) -> bool {
        if request.is_invalid() || !request.has_token(self.first.expose()) {
            return false;
        }
        let mut asked = self.asked.lock().await;
        if self.current().expose() != used.expose() {
            // Another request got it meanwhile.
            return true;
        }
        if asked.is_some_and(|asked| asked.elapsed() < MIN_INTERVAL) {
            return false;
        }
        let give = Arc::clone(&self.give);
        let token = tokio::task::spawn_blocking(move || give()).await.ok().flatten();
        *asked = Some(Instant::now());
        let other = token.filter(|token| token.expose() != used.expose() && redactor.hide(token));
        let is_renewed = other.is_some();
        let mut given = lock(&self.given);
        given.extend(other);
        let surplus = given.len().saturating_sub(MAX_GIVEN);
        given.drain(..surplus);
        is_renewed
    }
}

impl std::fmt::Debug for TokenRenewal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TokenRenewal")
    }
}
