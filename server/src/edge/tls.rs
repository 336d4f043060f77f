//! Loads the server's certificate and its key from PEM files.

use std::{
    fmt, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use dropshot::ConfigTls;
use rustls::{
    ServerConfig,
    crypto::aws_lc_rs,
    pki_types::{
        CertificateDer, PrivateKeyDer,
        pem::{self, PemObject as _, SectionKind},
    },
    sign::CertifiedKey,
};

/// A certificate chain with its key. Its `Debug` shows neither.
#[derive(Clone)]
pub struct Identity(Arc<ServerConfig>);

/// Why certificate and key cannot be used. No error shows any part of a key.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The file cannot be read.
    #[error("{}: {reason}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The error of the system.
        reason: io::Error,
    },
    /// The file has unexpected content.
    #[error("{}: expected {expected}, found {found}; {help}", file.display())]
    Content {
        /// The file.
        file: PathBuf,
        /// The expected content.
        expected: &'static str,
        /// The actual content, without any part of a key.
        found: String,
        /// What to do.
        help: &'static str,
    },
    /// Certificate and key do not match.
    #[error(
        "{} and {}: expected a certificate and its private key: {reason}; the first certificate of the file must be \
         the server's own",
        certificates.display(),
        key.display()
    )]
    Mismatch {
        /// File of the certificates.
        certificates: PathBuf,
        /// File of the key.
        key: PathBuf,
        /// The error of rustls.
        reason: rustls::Error,
    },
}

impl Identity {
    /// Loads a chain, the server's own certificate first, and its key (PKCS#8, PKCS#1 or SEC1), all as PEM.
    ///
    /// # Errors
    /// A file cannot be read or has other content, or the key does not match the certificate.
    pub fn load(certificates: &Path, key: &Path) -> Result<Self, TlsError> {
        let chain = read_chain(certificates)?;
        let mismatch = |reason| TlsError::Mismatch {
            certificates: certificates.to_owned(),
            key: key.to_owned(),
            reason,
        };
        let provider = Arc::new(aws_lc_rs::default_provider());
        let certified = CertifiedKey::from_der(chain, read_key(key)?, &provider).map_err(mismatch)?;
        let resolver = rustls::sign::SingleCertAndKey::from(certified);
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(mismatch)?
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(resolver));
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
    let expected = "certificates as PEM";
    let content = |found: String, help| TlsError::Content { file: file.to_owned(), expected, found, help };
    let bytes = read(file)?;
    let chain = CertificateDer::pem_slice_iter(&bytes)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| content(malformed(&error), "create the file again"))?;
    if chain.is_empty() {
        return Err(content(
            sections(&bytes),
            "the file must begin with -----BEGIN CERTIFICATE-----; `openssl x509 -inform der` converts DER",
        ));
    }
    Ok(chain)
}

fn read_key(file: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    let expected = "one private key as PEM (PKCS#8, PKCS#1 or SEC1)";
    let content = |found: String, help| TlsError::Content { file: file.to_owned(), expected, found, help };
    let bytes = read(file)?;
    let mut keys = PrivateKeyDer::pem_slice_iter(&bytes)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| content(malformed(&error), "create the file again"))?;
    match (keys.pop(), keys.len()) {
        (Some(key), 0) => Ok(key),
        (Some(_), more) => {
            Err(content(format!("{} keys", more + 1), "keep only the key of the certificate in it"))
        }
        (None, _) if is_encrypted(&bytes) => Err(content(
            "an encrypted key".to_owned(),
            "decrypt it with `openssl pkcs8` and protect the file by its permissions",
        )),
        (None, _) => Err(content(
            sections(&bytes),
            "`openssl pkcs8 -topk8 -nocrypt` writes a key in the right form, from PEM or, with `-inform der`, from DER",
        )),
    }
}

fn read(file: &Path) -> Result<Vec<u8>, TlsError> {
    std::fs::read(file).map_err(|reason| TlsError::Unreadable { file: file.to_owned(), reason })
}

/// The errors of rustls show section names and no content.
fn malformed(error: &pem::Error) -> String {
    format!("invalid PEM ({error})")
}

/// rustls skips encrypted keys, so they are detected here.
fn is_encrypted(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    text.contains("-----BEGIN ENCRYPTED PRIVATE KEY-----") || text.contains("Proc-Type: 4,ENCRYPTED")
}

/// The names of the PEM sections of a file, without their content.
fn sections(bytes: &[u8]) -> String {
    let names: Vec<_> = <(SectionKind, Vec<u8>)>::pem_slice_iter(bytes)
        .filter_map(Result::ok)
        .map(|(kind, _)| format!("{kind:?}"))
        .collect();
    if names.is_empty() { "no PEM".to_owned() } else { names.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Files {
        folder: tempfile::TempDir,
        pair: rcgen::CertifiedKey<rcgen::KeyPair>,
    }

    impl Files {
        fn new() -> Self {
            let pair = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
            Self { folder: tempfile::tempdir().unwrap(), pair }
        }

        /// The outcome for files with this content.
        fn load(&self, certificate: &str, key: &[u8]) -> Result<Identity, String> {
            let path = |name| self.folder.path().join(name);
            std::fs::write(path("chain.pem"), certificate).unwrap();
            std::fs::write(path("key.pem"), key).unwrap();
            Identity::load(&path("chain.pem"), &path("key.pem")).map_err(|error| error.to_string())
        }
    }

    #[test]
    fn errors_name_the_file_and_its_content() {
        let files = Files::new();
        let (certificate, key) = (files.pair.cert.pem(), files.pair.signing_key.serialize_pem());
        let (der, other) =
            (files.pair.signing_key.serialize_der(), Files::new().pair.signing_key.serialize_pem());
        let encrypted = key.replace("PRIVATE KEY", "ENCRYPTED PRIVATE KEY");
        let damaged = key.replace("-----END", "----END");
        let both = format!("{key}{other}");
        assert!(files.load(&certificate, key.as_bytes()).is_ok());
        for (chain, key, told) in [
            (certificate.as_str(), der.as_slice(), "key.pem: expected one private key as PEM"),
            (&certificate, der.as_slice(), "found no PEM; `openssl pkcs8"),
            (&certificate, certificate.as_bytes(), "found Certificate;"),
            (&certificate, encrypted.as_bytes(), "found an encrypted key; decrypt it"),
            (&certificate, both.as_bytes(), "found 2 keys"),
            (&certificate, damaged.as_bytes(), "found invalid PEM"),
            (&certificate, other.as_bytes(), "expected a certificate and its private key"),
            (&key, key.as_bytes(), "chain.pem: expected certificates as PEM, found PrivateKey"),
            ("", key.as_bytes(), "found no PEM; the file must begin with"),
        ] {
            let error = files.load(chain, key).unwrap_err();
            assert!(error.contains(told), "{error}\n lacks: {told}");
            let body = files.pair.signing_key.serialize_pem();
            assert!(!error.contains(body.lines().nth(1).unwrap()), "a part of the key is shown");
        }
        let missing = Identity::load(Path::new("nowhere.pem"), Path::new("key.pem")).unwrap_err();
        assert!(missing.to_string().starts_with("nowhere.pem: "), "{missing}");
    }
}
