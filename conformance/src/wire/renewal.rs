//! A token that a command gives anew when the service does not accept it any more.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::Mutex;

use super::{Redactor, Request, Secret};

/// Runs the command that gives the account's token, and may take a while.
type GiveToken = Arc<dyn Fn() -> Option<Secret> + Send + Sync>;

/// Where another token comes from when the service rejects the account's one with 401.
#[derive(Clone)]
pub struct TokenRenewal {
    /// The one that checks put into requests.
    first: Secret,
    give: GiveToken,
    state: Arc<Mutex<State>>,
}

struct State {
    /// The one that is sent.
    current: Secret,
    /// When the command ran last because of a 401.
    asked: Option<Instant>,
}

/// A service that rejects everything must not cost a command each time.
const MIN_INTERVAL: Duration = Duration::from_secs(10);

impl TokenRenewal {
    /// `give` gives another token after `first`; none if it can't.
    pub fn new(first: Secret, give: impl Fn() -> Option<Secret> + Send + Sync + 'static) -> Self {
        let state = State { current: first.clone(), asked: None };
        Self { first, give: Arc::new(give), state: Arc::new(Mutex::new(state)) }
    }

    /// The token to send now.
    pub(super) async fn current(&self) -> Secret {
        self.state.lock().await.current.clone()
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
        let mut state = self.state.lock().await;
        if state.current.expose() != used.expose() {
            // Another request got it meanwhile.
            return true;
        }
        if state.asked.is_some_and(|asked| asked.elapsed() < MIN_INTERVAL) {
            return false;
        }
        let give = Arc::clone(&self.give);
        let given = tokio::task::spawn_blocking(move || give()).await.ok().flatten();
        state.asked = Some(Instant::now());
        let other = given.filter(|given| given.expose() != used.expose() && redactor.hide(given));
        let is_renewed = other.is_some();
        state.current = other.unwrap_or_else(|| used.clone());
        is_renewed
    }
}

impl std::fmt::Debug for TokenRenewal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TokenRenewal")
    }
}
