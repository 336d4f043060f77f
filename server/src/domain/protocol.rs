//! Protocols of gateways.

use serde::{Deserialize, Serialize};

use super::named::named;

/// Protocol that a gateway speaks (`extract.protocol`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// HTTP, with CONNECT for HTTPS targets.
    Http,
    /// SOCKS version 5.
    Socks5,
}

named!(Protocol { Http = "http", Socks5 = "socks5" });
