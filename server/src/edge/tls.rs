//! Loads the server's certificate and its key from PEM files.

use std::{fmt, path::Path, sync::Arc};

use dropshot::ConfigTls;
use rustls::{
    ServerConfig,
    crypto::aws_lc_rs,
    pki_types::{
        CertificateDer, PrivateKeyDer,
        pem::{self, PemObject},
    },
};

/// A certificate chain with its key. Its `Debug` shows neither.
#[derive(Clone)]
pub struct Identity(Arc<ServerConfig>);

/// Why certificate and key cannot be used: the file, and what is wrong with it. It shows no part of a key.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct TlsError(String);

impl Identity {
    /// Loads a chain, the server's own certificate first, and its key (PKCS#8, PKCS#1 or SEC1), all as PEM.
    pub fn load(certificates: &Path, key: &Path) -> Result<Self, TlsError> {
        let chain = read_chain(certificates)?;
        let mismatch = |reason: rustls::Error| {
            TlsError(format!(
                "{} and {}: expected a certificate and its private key: {reason}; the first certificate of the file must \
                 be the server's own",
                certificates.display(),
                key.display()
            ))
        };
        let mut config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(mismatch)?
            .with_no_client_auth()
            .with_single_cert(chain, read_key(key)?)
            .map_err(mismatch)?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Self(Arc::new(config)))
    }

    /// The configuration for Dropshot.
    pub(crate) fn config(&self) -> ConfigTls {
        ConfigTls::Dynamic(ServerConfig::clone(&self.0))
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Identity(redacted)")
    }
}

fn read_chain(file: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let chain: Vec<_> = read(file, "certificates as PEM")?;
    if chain.is_empty() { Err(content(file, "certificates as PEM", "none")) } else { Ok(chain) }
}

fn read_key(file: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    const EXPECTED: &str = "one private key as PEM (PKCS#8, PKCS#1 or SEC1), not encrypted";
    let mut keys: Vec<_> = read(file, EXPECTED)?;
    match (keys.pop(), keys.len()) {
        (Some(key), 0) => Ok(key),
        (None, _) => Err(content(file, EXPECTED, "none")),
        (Some(_), more) => Err(content(file, EXPECTED, &format!("{}", more + 1))),
    }
}

/// The sections of a PEM file that hold such an item. The errors of rustls show names of sections and no content.
fn read<T: PemObject>(file: &Path, expected: &str) -> Result<Vec<T>, TlsError> {
    let unreadable = |reason| TlsError(format!("{}: {reason}", file.display()));
    let bytes = std::fs::read(file).map_err(unreadable)?;
    let items: Result<_, _> = T::pem_slice_iter(&bytes).collect();
    items.map_err(|error: pem::Error| content(file, expected, &format!("invalid PEM ({error})")))
}

fn content(file: &Path, expected: &str, found: &str) -> TlsError {
    TlsError(format!("{}: expected {expected}, found {found}", file.display()))
}
