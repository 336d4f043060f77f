//! Protocols of gateways.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Protocol that a gateway speaks (`extract.protocol`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// HTTP, with CONNECT for HTTPS targets.
    Http,
    /// SOCKS version 5.
    Socks5,
}

impl Protocol {
    /// Every protocol.
    pub const ALL: [Self; 2] = [Self::Http, Self::Socks5];

    /// The protocol's name in storage and imports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Socks5 => "socks5",
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
