//! Why a connection does not come about, in words, and what to do about it.

use std::error::Error;
use std::io;

use rustls::{AlertDescription, CertificateError, Error as TlsError, InconsistentKeys, InvalidMessage};

use super::FailureKind;

/// What hyper says of a proxy that wants a user and a password, and of one that does not connect to the service. Its type is not
/// public.
const PROXY_AUTHORIZATION: &str = "tunnel error: proxy authorization required";
const NO_TUNNEL: &str = "tunnel error: unsuccessful";

/// The kind of a failure to connect whose cause is known, and what is wrong in words.
pub(super) fn of_connection(error: &(dyn Error + 'static)) -> Option<(FailureKind, String)> {
    if let Some(words) = causes(error).find_map(tls_error).and_then(of_tls) {
        return Some((FailureKind::Handshake, words));
    }
    causes(error).find_map(|cause| match cause.to_string().as_str() {
        PROXY_AUTHORIZATION => {
            let words =
                "the proxy requires a user and a password, or rejects them; add them to the URL of the proxy";
            Some((FailureKind::Handshake, words.to_owned()))
        }
        NO_TUNNEL => Some((FailureKind::Connect, "the proxy does not connect to the service".to_owned())),
        _ => None,
    })
}

/// The error of TLS in one of I/O, whose source is not the error inside of it but the source of that.
fn tls_error<'a>(mut error: &'a (dyn Error + 'static)) -> Option<&'a TlsError> {
    loop {
        match error.downcast_ref() {
            Some(tls) => return Some(tls),
            None => error = error.downcast_ref::<io::Error>()?.get_ref()?,
        }
    }
}

/// None for an error that says enough by itself.
fn of_tls(error: &TlsError) -> Option<String> {
    use AlertDescription as Alert;
    use CertificateError as Certificate;
    let words = match error {
        TlsError::InvalidCertificate(invalid) => match invalid {
            Certificate::UnknownIssuer => {
                "its certificate is not trusted, because its authority is unknown here; pass the certificate of the authority \
                 with --ca-file"
            }
            Certificate::Expired | Certificate::ExpiredContext { .. } => {
                "its certificate has expired; renew it, or correct the clock of this machine"
            }
            Certificate::NotValidYet | Certificate::NotValidYetContext { .. } => {
                "its certificate is not valid yet; correct the clock of this machine"
            }
            Certificate::NotValidForName | Certificate::NotValidForNameContext { .. } => {
                "its certificate is for another host; set a base URL with a host that the certificate names"
            }
            _ => "its certificate is not accepted; replace it",
        },
        TlsError::InvalidMessage(InvalidMessage::InvalidContentType) => {
            "this port speaks plain http; use http:// in the base URL, or the port of https"
        }
        TlsError::InconsistentKeys(InconsistentKeys::KeyMismatch) => {
            "the client key does not belong to the client certificate"
        }
        TlsError::AlertReceived(Alert::CertificateRequired) => {
            "it requires a client certificate; pass --client-certificate and --client-key"
        }
        TlsError::AlertReceived(
            Alert::AccessDenied
            | Alert::BadCertificate
            | Alert::CertificateExpired
            | Alert::CertificateRevoked
            | Alert::CertificateUnknown
            | Alert::DecryptError
            | Alert::UnknownCA
            | Alert::UnsupportedCertificate,
        ) => {
            "it rejects the client certificate; pass one that its authority has issued and that has not expired"
        }
        TlsError::AlertReceived(Alert::HandshakeFailure | Alert::ProtocolVersion)
        | TlsError::PeerIncompatible(_) => {
            "it agrees to no version of TLS (1.2 or 1.3) or cipher of the suite, or it requires a client certificate \
             (--client-certificate)"
        }
        _ => return None,
    };
    Some(words.to_owned())
}

/// An error and its causes.
pub(super) fn causes<'a>(
    error: &'a (dyn Error + 'static),
) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error| (*error).source())
}

/// An error and its causes, on one line.
pub(super) fn with_causes(error: &(dyn Error + 'static)) -> String {
    causes(error).map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
