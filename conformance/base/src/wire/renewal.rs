//! A token that a command gives anew when the service does not accept it any more.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::{Redactor, Request, Secret, debug_as};
use crate::lock;

/// Runs the command that gives the account's token, and may take a while.
type GiveToken = Arc<dyn Fn() -> Option<Secret> + Send + Sync>;

/// Where another token comes from when the service rejects the account's one with 401.
#[derive(Clone)]
pub struct TokenRenewal {
    /// The one that checks put into requests.
    pub(super) first: Secret,
    give: GiveToken,
    state: Arc<Mutex<State>>,
    /// Held while the command runs, so that it runs once for all requests that are rejected meanwhile.
    running: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Default)]
struct State {
    /// The tokens after the first one, in the order in which they were given. The last one is sent.
    given: Vec<Secret>,
    /// How many there were in all.
    count: u64,
    /// When the command ran last because of a 401.
    asked: Option<Instant>,
    /// Whether the service has accepted the current token.
    is_accepted: bool,
}

/// A service that rejects everything must not cost a command each time. One that has accepted the token rejects it because it ended.
const MIN_INTERVAL: Duration = Duration::from_secs(10);
const MIN_LIFETIME: Duration = Duration::from_secs(1);

/// Maximum number of given tokens that stay hidden: a watch runs for months, and the patterns of each take memory.
const MAX_GIVEN: usize = 100;

impl TokenRenewal {
    /// `give` gives another token after `first`; none if it can't.
    pub fn new(first: Secret, give: impl Fn() -> Option<Secret> + Send + Sync + 'static) -> Self {
        Self { first, give: Arc::new(give), state: Arc::default(), running: Arc::default() }
    }

    /// The token to send now.
    pub(super) fn current(&self) -> Secret {
        lock(&self.state).given.last().unwrap_or(&self.first).clone()
    }

    /// The current token and the ones before it, apart from the first one, which is a secret of the target.
    pub(super) fn given(&self) -> Vec<Secret> {
        lock(&self.state).given.clone()
    }

    /// How often the service got another token.
    pub(super) fn count(&self) -> u64 {
        lock(&self.state).count
    }

    /// Whether a request has the account's token, and a service should accept it.
    pub(super) fn concerns(&self, request: &Request) -> bool {
        !request.is_invalid() && request.has_token(self.first.expose())
    }

    /// Notes that the service accepted this token.
    pub(super) fn note_accepted(&self, used: &Secret) {
        let is_current = self.current().expose() == used.expose();
        lock(&self.state).is_accepted |= is_current;
    }

    /// Whether there is another token than the `used` one, with which a service rejected a request that it should accept. Asks the
    /// command for one, at most once in a while. From then on `redactor` hides it.
    pub(super) async fn renew(&self, used: &Secret, redactor: &Redactor) -> bool {
        let _running = self.running.lock().await;
        if self.current().expose() != used.expose() {
            // Another request got it meanwhile.
            return true;
        }
        let interval = if lock(&self.state).is_accepted { MIN_LIFETIME } else { MIN_INTERVAL };
        if lock(&self.state).asked.is_some_and(|asked| asked.elapsed() < interval) {
            return false;
        }
        let give = Arc::clone(&self.give);
        let token = tokio::task::spawn_blocking(move || give()).await.ok().flatten();
        let other = token.filter(|token| token.expose() != used.expose() && redactor.hide(token));
        let mut state = lock(&self.state);
        state.asked = Some(Instant::now());
        state.is_accepted = false;
        let Some(other) = other else { return false };
        state.given.push(other);
        state.count = state.count.saturating_add(1);
        let surplus = state.given.len().saturating_sub(MAX_GIVEN);
        state.given.drain(..surplus);
        true
    }
}

debug_as!(TokenRenewal, |_| "TokenRenewal");
