//! A certificate of our own for this machine.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rcgen::{CertifiedKey, KeyPair, generate_simple_self_signed};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use sallyport_server::edge::tls::Identity;

/// A certificate for 127.0.0.1, signed by itself, and its key.
pub(crate) struct Pair(CertifiedKey<KeyPair>);

impl Pair {
    pub(crate) fn new() -> Self {
        Self(generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("a certificate"))
    }

    /// As PEM.
    pub(crate) fn certificate(&self) -> String {
        self.0.cert.pem()
    }

    pub(crate) fn der(&self) -> CertificateDer<'static> {
        self.0.cert.der().clone()
    }

    /// Writes certificate and key into `folder` and says where.
    pub(crate) fn write(&self, folder: &Path) -> (PathBuf, PathBuf) {
        let (certificate, key) = (folder.join("chain.pem"), folder.join("key.pem"));
        std::fs::write(&certificate, self.certificate()).expect("written");
        std::fs::write(&key, self.0.signing_key.serialize_pem()).expect("written");
        (certificate, key)
    }

    /// What a front over HTTP/2 needs.
    pub(crate) fn over_http2(&self) -> rustls::ServerConfig {
        let key = PrivateKeyDer::try_from(self.0.signing_key.serialize_der()).expect("a key");
        let mut config = rustls::ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(vec![self.der()], key)
            .expect("a certificate and its key");
        config.alpn_protocols = vec![b"h2".to_vec()];
        config
    }

    /// As the server reads it.
    pub(crate) fn identity(&self) -> Identity {
        let folder = tempfile::tempdir().expect("a folder");
        let (certificate, key) = self.write(folder.path());
        Identity::load(&certificate, &key).expect("an identity")
    }
}
