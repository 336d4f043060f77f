//! The client of a command.

use std::{
    env,
    io::{self, IsTerminal, Read},
    path::PathBuf,
    time::Duration,
};

use sallyport_client::{
    BASE_URL_VARIABLE, Client, ClientBuilder, Error, RetryPolicy,
    secrecy::{ExposeSecret, SecretString},
};

use crate::{addresses::is_standard_input, args::Connection, failure::Failure, set, waits::WaitReporter};

/// Maximum length of a token from standard input, in bytes; the same as that of a file.
const MAX_TOKEN: u64 = 16 << 10;

/// Rejects arguments that would read standard input twice, since the second read would find it empty.
pub(crate) fn read_standard_input_once(connection: &Connection, files: &[PathBuf]) -> Result<(), Failure> {
    let token = connection.api_key_file.iter();
    if token.chain(files).filter(|path| is_standard_input(path)).count() > 1 {
        return Err(Failure::usage(
            "standard input can be read once; expected a single `-` among --file and --api-key-file",
        ));
    }
    Ok(())
}

/// Builds the client.
pub(crate) fn connect(connection: &Connection) -> Result<Client, Failure> {
    let from_env = || env::var(BASE_URL_VARIABLE).ok().filter(|url| !url.is_empty());
    let Some(base_url) = connection.base_url.clone().or_else(from_env) else {
        return Err(Failure::usage(format!("missing base URL; pass --base-url or set {BASE_URL_VARIABLE}")));
    };
    let builder = Client::builder()
        .base_url(base_url)
        .allow_http(connection.allow_http)
        .total_timeout(Duration::from_secs(connection.timeout.into()))
        .retry(RetryPolicy {
            max_retries: connection.retries,
            max_retry_after: connection.max_wait.map(|seconds| Duration::from_secs(seconds.into())),
            ..RetryPolicy::default()
        });
    let builder = set(builder, connection.ca_file.as_ref(), ClientBuilder::ca_file);
    let builder = set(builder, connection.proxy.as_deref(), ClientBuilder::proxy);
    let builder = match (&connection.client_certificate, &connection.client_key) {
        (Some(certificate), key) => {
            builder.client_certificate(certificate, key.as_ref().unwrap_or(certificate))
        }
        (None, Some(_)) => return Err(Failure::usage("--client-key needs --client-certificate")),
        (None, None) => builder,
    };
    let builder = match connection.verbose || io::stderr().is_terminal() {
        true => builder.middleware(WaitReporter { max_retries: connection.retries }),
        false => builder,
    };
    let builder = match &connection.api_key_file {
        Some(path) if is_standard_input(path) => builder.token(standard_input()?),
        Some(path) => builder.token_file(path),
        None => builder.token_from_env(),
    };
    let is_from_input = connection.api_key_file.as_deref().is_some_and(is_standard_input);
    builder.build().map_err(|error| match error {
        Error::Configuration(text) if is_from_input && text.starts_with("invalid token") => {
            Failure::usage(format!("standard input: {text}"))
        }
        other => other.into(),
    })
}

/// The token on standard input. No message holds a part of it.
fn standard_input() -> Result<SecretString, Failure> {
    let mut text = String::new();
    let read = io::stdin().take(MAX_TOKEN + 1).read_to_string(&mut text);
    let text = SecretString::from(text);
    let invalid = |reason: &str| Failure::usage(format!("cannot read the token on standard input: {reason}"));
    read.map_err(|error| invalid(&error.kind().to_string()))?;
    match text.expose_secret().trim() {
        "" => Err(invalid("it is empty")),
        token if token.len() as u64 > MAX_TOKEN => {
            Err(invalid(&format!("expected at most {MAX_TOKEN} bytes, found more")))
        }
        token => Ok(SecretString::from(token)),
    }
}
