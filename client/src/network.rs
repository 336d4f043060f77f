//! A company's network: its certificate authority, the caller's certificate, its proxy, and what is wrong with a connection.

use std::{env, path::PathBuf};

use reqwest::Url;
use secrecy::{ExposeSecret, SecretString};

use crate::Error;

/// Schemes of proxies that reqwest knows.
const SCHEMES: [&str; 6] = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"];

/// What a [`ClientBuilder`](crate::ClientBuilder) knows of the network. Files are read when the client is built.
#[derive(Debug, Default)]
pub(crate) struct Network {
    pub(crate) ca_file: Option<PathBuf>,
    /// The files of the certificate and of its key.
    pub(crate) identity: Option<(PathBuf, PathBuf)>,
    pub(crate) proxy: Option<SecretString>,
}

impl Network {
    /// Applies it to the builder of a client for `url`. A service that `is_local` is on this machine, whose loopback no proxy can
    /// reach, and over plain http one would receive the token unencrypted; so only a given one is used.
    pub(crate) fn apply(
        &self,
        builder: reqwest::ClientBuilder,
        url: &Url,
        is_local: bool,
        is_own_builder: bool,
    ) -> Result<reqwest::ClientBuilder, Error> {
        let builder = if is_local { builder.no_proxy() } else { builder };
        let builder = match &self.proxy {
            Some(proxy) => {
                let url = proxy.expose_secret();
                let proxy = reqwest::Proxy::all(url).ok().filter(|_| is_proxy(url));
                builder.proxy(proxy.ok_or_else(|| no_proxy("proxy"))?)
            }
            None if is_local || is_own_builder => builder,
            None => known_proxies(url.scheme()).map(|()| builder)?,
        };
        self.certificates(builder)
    }

    #[cfg(not(any(feature = "rustls", feature = "native-tls")))]
    fn certificates(&self, builder: reqwest::ClientBuilder) -> Result<reqwest::ClientBuilder, Error> {
        match (&self.ca_file, &self.identity) {
            (None, None) => Ok(builder),
            _ => Err(Error::configuration("certificates need TLS, which this build lacks")),
        }
    }

    #[cfg(any(feature = "rustls", feature = "native-tls"))]
    fn certificates(&self, mut builder: reqwest::ClientBuilder) -> Result<reqwest::ClientBuilder, Error> {
        // No message repeats a key.
        let invalid =
            |path: &PathBuf, what: &str| Error::configuration(format!("{}: {what}", path.display()));
        let read = |path: &PathBuf| {
            std::fs::read(path).map_err(|error| invalid(path, &format!("cannot be read: {error}")))
        };
        let has = |pem: &[u8], text: &str| pem.windows(text.len()).any(|part| part == text.as_bytes());
        const CERTIFICATE: &str = "-----BEGIN CERTIFICATE-----";
        if let Some(path) = &self.ca_file {
            let pem = read(path)?;
            let authorities = reqwest::Certificate::from_pem_bundle(&pem).ok();
            let authorities = authorities.filter(|_| has(&pem, CERTIFICATE));
            builder = builder.tls_certs_merge(
                authorities.ok_or_else(|| invalid(path, "expected certificates in PEM format"))?,
            );
        }
        if let Some((certificate_path, key_path)) = &self.identity {
            let (certificate, key) = (read(certificate_path)?, read(key_path)?);
            if !has(&certificate, CERTIFICATE) {
                return Err(invalid(certificate_path, "expected a certificate in PEM format"));
            }
            if has(&key, "-----BEGIN ENCRYPTED PRIVATE KEY-----") || has(&key, "Proc-Type: 4,ENCRYPTED") {
                let what = "expected a private key without a passphrase, found an encrypted one; \
                            `openssl pkey -in FILE -out FILE` decrypts it";
                return Err(invalid(key_path, what));
            }
            #[cfg(feature = "rustls")]
            let identity = reqwest::Identity::from_pem(&[certificate, b"\n".to_vec(), key].concat());
            #[cfg(not(feature = "rustls"))]
            let identity = reqwest::Identity::from_pkcs8_pem(&certificate, &key);
            builder = builder
                .identity(identity.map_err(|_| invalid(key_path, "expected a private key in PEM format"))?);
        }
        Ok(builder)
    }
}

/// Rejects a proxy of the environment that reqwest would ignore, so that a connection would bypass it.
fn known_proxies(scheme: &str) -> Result<(), Error> {
    let names = [scheme, "all"].map(|of| format!("{of}_proxy"));
    let names = names.iter().flat_map(|name| [name.to_ascii_uppercase(), name.clone()]);
    let is_ignored = |name: &String| env::var(name).is_ok_and(|url| !url.is_empty() && !is_proxy(&url));
    match names.into_iter().find(is_ignored) {
        Some(name) => Err(no_proxy(&format!("environment variable {name}"))),
        None => Ok(()),
    }
}

/// Whether a text is the URL of a proxy; without a scheme, that of an HTTP proxy. Behind a path, a query or a second `@` stands the
/// rest of a password that is not percent-encoded, and what looks like the host is a part of the password.
fn is_proxy(text: &str) -> bool {
    let url = if text.contains("://") { Url::parse(text) } else { Url::parse(&format!("http://{text}")) };
    url.is_ok_and(|url| {
        let is_bare = matches!(url.path(), "" | "/") && url.query().is_none() && url.fragment().is_none();
        is_bare && url.has_host() && SCHEMES.contains(&url.scheme())
    }) && text.parse::<http::Uri>().is_ok()
        && text.matches('@').count() <= 1
}

/// The value may hold a password, so it is not shown.
fn no_proxy(place: &str) -> Error {
    let known = SCHEMES.join(", ");
    Error::configuration(format!(
        "{place}: expected the URL of a proxy with one of the schemes {known}, without a path; in user and password, percent-encode \
         `@`, `:`, `/`, `#` and `?`"
    ))
}

/// What is wrong with a connection in words, and what to do, where more is known than an error of TLS or of a proxy says.
pub(crate) fn problem(error: &reqwest::Error) -> Option<&'static str> {
    use std::{error::Error as _, iter};

    let mut causes = iter::successors(error.source(), |&cause| cause.source());
    causes.find_map(|cause| {
        if cause.to_string() == "tunnel error: proxy authorization required" {
            return Some(
                "the proxy requires a user and a password, or rejects them; add them to the URL of the proxy",
            );
        }
        #[cfg(feature = "rustls")]
        {
            tls_error(cause).and_then(of_tls)
        }
        #[cfg(not(feature = "rustls"))]
        None
    })
}

/// The error of TLS in one of I/O, whose source is not the error inside of it but the source of that.
#[cfg(feature = "rustls")]
fn tls_error<'a>(mut error: &'a (dyn std::error::Error + 'static)) -> Option<&'a rustls::Error> {
    loop {
        match error.downcast_ref() {
            Some(tls) => return Some(tls),
            None => error = error.downcast_ref::<std::io::Error>()?.get_ref()?,
        }
    }
}

#[cfg(feature = "rustls")]
fn of_tls(error: &rustls::Error) -> Option<&'static str> {
    use rustls::{AlertDescription as Alert, CertificateError as Certificate, Error, InvalidMessage};

    Some(match error {
        Error::InvalidCertificate(Certificate::UnknownIssuer) => {
            "its authority is unknown here; pass the authority's certificate to ca_file()"
        }
        Error::InvalidCertificate(Certificate::Expired | Certificate::ExpiredContext { .. }) => {
            "it has expired; renew it, or correct the clock of this machine"
        }
        Error::InvalidCertificate(
            Certificate::NotValidForName | Certificate::NotValidForNameContext { .. },
        ) => "it is for another host; set a base URL with a host that it names",
        Error::InvalidMessage(InvalidMessage::InvalidContentType) => {
            "this port speaks plain http; use http:// in the base URL, or the port of https"
        }
        Error::AlertReceived(Alert::CertificateRequired) => {
            "the service requires a client certificate; pass one to client_certificate()"
        }
        Error::AlertReceived(
            Alert::BadCertificate
            | Alert::CertificateExpired
            | Alert::CertificateRevoked
            | Alert::CertificateUnknown
            | Alert::DecryptError
            | Alert::UnknownCA,
        ) => "the service rejects the client certificate; pass one that its authority has issued",
        _ => return None,
    })
}
