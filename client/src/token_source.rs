//! Sources of the token, for programs that run longer than a token is valid.

use std::{
    fs,
    io::{ErrorKind, Read as _},
    path::{Path, PathBuf},
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use secrecy::{ExposeSecret, SecretString};

use crate::{
    Error,
    secret::{Hidden, Token},
};

/// Maximum length of a token file, in bytes; a longer one holds something else.
const MAX_FILE: u64 = 16 << 10;

/// Does not repeat the content.
const INVALID_CONTENT: &str =
    "expected one token of printable ASCII, found spaces, further lines or other characters";

/// What [`TokenSource::token`] returns.
pub type TokenFuture<'a> = Pin<Box<dyn Future<Output = Result<SecretString, TokenSourceError>> + Send + 'a>>;

/// Why a [`TokenSource`] has no token. Its text becomes part of an [`Error::Token`], so it must not hold a secret.
pub type TokenSourceError = Box<dyn std::error::Error + Send + Sync>;

/// Provides the token of every request, so that a token can be rotated while a program runs.
///
/// [`TokenFile`] is a source, and so is any async closure or function. A source that fetches tokens
/// from elsewhere should keep them: it is asked before each request. Its time counts towards the
/// [`total_timeout`](crate::ClientBuilder::total_timeout) of the call.
///
/// ```
/// use sallyport_client::{Client, secrecy::SecretString};
///
/// let client = Client::builder()
///     .base_url("https://api.invalid")
///     .token_source(|| async { Ok(SecretString::from("token-from-a-vault")) })
///     .build()?;
/// # Ok::<(), sallyport_client::Error>(())
/// ```
pub trait TokenSource: Send + Sync + 'static {
    /// The token for the next request.
    ///
    /// # Errors
    /// An error is treated as temporary: it becomes an [`Error::Token`], and the call is retried by its
    /// [`RetryPolicy`](crate::RetryPolicy).
    fn token(&self) -> TokenFuture<'_>;

    /// Called when the service rejected the last token with HTTP 401. [`token`](Self::token) is called once more after
    /// it; if the token is another one, the request is repeated with it at once.
    fn invalidate(&self) {}
}

impl<F, T> TokenSource for F
where
    F: Fn() -> T + Send + Sync + 'static,
    T: Future<Output = Result<SecretString, TokenSourceError>> + Send + 'static,
{
    fn token(&self) -> TokenFuture<'_> {
        Box::pin(self())
    }
}

/// The token in a file, read again once it is older than [`MAX_AGE`](Self::MAX_AGE); spaces and line ends around the token are
/// ignored.
///
/// The request that finds the token too old reads the file, which blocks for the time of a local read; nothing runs in the background.
/// After HTTP 401 the file is read at once. While the file is missing, unreadable or empty, as for a moment during a
/// rotation, or holds what cannot be a token, the last token stays in use; [`open`](Self::open) reports all of these. Replace the
/// file by renaming another one over it.
///
/// ```no_run
/// # fn run() -> Result<(), sallyport_client::Error> {
/// use sallyport_client::{Client, TokenFile};
///
/// let file = TokenFile::open("/run/secrets/sallyport")?;
/// let client = Client::builder().base_url("https://api.invalid").token_source(file).build()?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct TokenFile {
    path: PathBuf,
    last: Mutex<LastToken>,
}

/// A token, and when its file was read; `None` forces another read.
#[derive(Debug)]
struct LastToken {
    token: SecretString,
    read: Option<Instant>,
}

impl TokenFile {
    /// How long a token is used before its file is read again: one second, so that the calls of a second share one read.
    pub const MAX_AGE: Duration = Duration::from_secs(1);

    /// Reads the file for the first time.
    ///
    /// # Errors
    /// [`Error::Configuration`] with the path when it cannot be read, is empty, holds more than 16 KiB, or something else than one
    /// word of printable ASCII.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, Error> {
        let path = path.into();
        let read = Instant::now();
        let token = load(&path).map_err(|reason| {
            Error::configuration(format!("cannot read the token file {}: {reason}", path.display()))
        })?;
        Ok(Self { path, last: Mutex::new(LastToken { token, read: Some(read) }) })
    }

    /// The token for a request that is sent at `now`.
    fn token_at(&self, now: Instant) -> SecretString {
        let mut last = locked(&self.last);
        if last.read.is_none_or(|read| now.saturating_duration_since(read) >= Self::MAX_AGE) {
            last.read = Some(now);
            if let Ok(token) = load(&self.path) {
                last.token = token;
            }
        }
        last.token.clone()
    }
}

impl TokenSource for TokenFile {
    fn token(&self) -> TokenFuture<'_> {
        Box::pin(std::future::ready(Ok(self.token_at(Instant::now()))))
    }

    fn invalidate(&self) {
        locked(&self.last).read = None;
    }
}

/// The tokens of a client.
#[derive(Debug)]
pub(crate) enum Tokens {
    Fixed(Arc<Token>),
    Source { source: Hidden<Box<dyn TokenSource>>, last: Mutex<Option<Arc<Token>>> },
}

impl Tokens {
    pub(crate) fn fixed(token: SecretString) -> Result<Self, Error> {
        Ok(Self::Fixed(Arc::new(Token::new(token)?)))
    }

    pub(crate) fn from_source(source: impl TokenSource) -> Self {
        Self::Source { source: Hidden(Box::new(source)), last: Mutex::default() }
    }

    /// The token for the next request.
    pub(crate) async fn current(&self) -> Result<Arc<Token>, Error> {
        let (source, last) = match self {
            Self::Fixed(token) => return Ok(token.clone()),
            Self::Source { source, last } => (source, last),
        };
        let secret = source.0.token().await.map_err(|error| {
            let text = error.to_string();
            Error::Token(locked(last).as_ref().map_or_else(|| text.clone(), |token| token.scrub(&text)))
        })?;
        let mut last = locked(last);
        if let Some(token) = last.as_ref().filter(|token| token.expose() == secret.expose_secret()) {
            return Ok(token.clone());
        }
        let token = Arc::new(Token::new(secret)?);
        *last = Some(token.clone());
        Ok(token)
    }

    /// Another token after `rejected`; `None` when there is none.
    pub(crate) async fn after(&self, rejected: &Token) -> Option<Arc<Token>> {
        let Self::Source { source, .. } = self else { return None };
        source.0.invalidate();
        self.current().await.ok().filter(|token| token.expose() != rejected.expose())
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // The value is complete even after a panic elsewhere, because each is replaced in one step.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads the token file. An error never repeats its content.
fn load(path: &Path) -> Result<SecretString, String> {
    let file = fs::File::open(path).map_err(|error| error.to_string())?;
    let mut text = String::new();
    let read = file.take(MAX_FILE + 1).read_to_string(&mut text);
    let text = SecretString::from(text);
    read.map_err(|error| match error.kind() {
        ErrorKind::InvalidData => INVALID_CONTENT.to_owned(),
        kind => kind.to_string(),
    })?;
    if text.expose_secret().len() as u64 > MAX_FILE {
        return Err(format!("expected a token of at most {MAX_FILE} bytes, found more"));
    }
    let token = SecretString::from(text.expose_secret().trim());
    if token.expose_secret().is_empty() {
        return Err("expected a token, found an empty file".to_owned());
    }
    if Token::new(token.clone()).is_err() {
        return Err(INVALID_CONTENT.to_owned());
    }
    Ok(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_again_when_its_token_is_too_old_or_was_rejected() {
        let folder = tempfile::tempdir().unwrap();
        let (path, next) = (folder.path().join("token"), folder.path().join("next"));
        // As a rotation should: by renaming another file over it.
        let replace = |token: &str| fs::write(&next, token).and_then(|()| fs::rename(&next, &path)).unwrap();
        replace("first\n");
        let file = TokenFile::open(&path).unwrap();
        // Not before the file was read, so that no age below is longer than it says.
        let opened = locked(&file.last).read.unwrap();
        let after = |age| file.token_at(opened + age).expose_secret().to_owned();
        let (tick, age) = (Duration::from_nanos(1), TokenFile::MAX_AGE);
        replace("second\n");
        assert_eq!([Duration::ZERO, age - tick, age].map(after), ["first", "first", "second"]);
        replace(" third-token ");
        assert_eq!([2 * age - tick, 2 * age].map(after), ["second", "third-token"]);
        replace("fourth");
        // Of two requests at the same time, the one that asks later may have been sent earlier.
        assert_eq!(after(age), "third-token");
        file.invalidate();
        assert_eq!(after(age), "fourth");
        replace("fifth");
        assert_eq!(after(age), "fourth", "once");
    }
}
