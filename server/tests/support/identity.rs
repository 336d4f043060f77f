//! A certificate of our own for this machine.

#![allow(dead_code, reason = "the suite's tests use the rest")]

use std::path::{Path, PathBuf};

use rcgen::{CertifiedKey, KeyPair, generate_simple_self_signed};
use rustls::pki_types::CertificateDer;
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

    /// As the server reads it.
    pub(crate) fn identity(&self) -> Identity {
        let folder = tempfile::tempdir().expect("a folder");
        let (certificate, key) = self.write(folder.path());
        Identity::load(&certificate, &key).expect("an identity")
    }
}
