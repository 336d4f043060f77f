use super::debug_as;

/// A certificate and its key, by which a service or a proxy in front of it recognises the caller.
#[derive(Clone)]
pub struct ClientIdentity(pub(super) reqwest::Identity);

/// Why there is no [`ClientIdentity`]. It shows nothing of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum IdentityError {
    /// There is no certificate.
    #[error("client certificate: expected a certificate in PEM format")]
    Certificate,
    /// There is no key.
    #[error("client key: expected a private key in PEM format (PKCS #8, PKCS #1 or SEC 1)")]
    Key,
    /// The key has a passphrase.
    #[error(
        "client key: expected a private key without a passphrase, found an encrypted one; `openssl pkey -in FILE -out FILE` \
         decrypts it"
    )]
    EncryptedKey,
}

impl ClientIdentity {
    /// A certificate, with those of intermediate authorities behind it, and its key, both in PEM. One text may hold both.
    ///
    /// # Errors
    /// When one of them is missing or not in PEM, and when the key is encrypted. Whether the key belongs to the certificate is found
    /// out when a client is set up.
    pub fn new(certificate: &[u8], key: &[u8]) -> Result<Self, IdentityError> {
        let has = |pem: &[u8], text: &str| pem.windows(text.len()).any(|part| part == text.as_bytes());
        if !has(certificate, "-----BEGIN CERTIFICATE-----") {
            return Err(IdentityError::Certificate);
        }
        if has(key, "-----BEGIN ENCRYPTED PRIVATE KEY-----") || has(key, "Proc-Type: 4,ENCRYPTED") {
            return Err(IdentityError::EncryptedKey);
        }
        let both = [certificate, b"\n", key].concat();
        reqwest::Identity::from_pem(&both).map(Self).map_err(|_| IdentityError::Key)
    }
}

debug_as!(ClientIdentity, |_| "ClientIdentity");
