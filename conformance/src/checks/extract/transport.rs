//! The three ways in which an extraction carries its token.

use crate::check::Probe;
use crate::wire::Request;

/// One way to carry the token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Transport {
    Query,
    Header,
    Bearer,
}

impl Transport {
    pub(super) const ALL: [Self; 3] = [Self::Query, Self::Header, Self::Bearer];

    /// The request with a token carried in this way.
    pub(super) fn carry(self, probe: &Probe<'_>, request: Request, token: &str) -> Request {
        let extract = &probe.contract().extract;
        match self {
            Self::Query => request.query(&extract.api_key.name, token),
            Self::Header => request.header(&extract.api_key_header, token),
            Self::Bearer => request.header("Authorization", format!("Bearer {token}")),
        }
    }

    /// For the label of a case.
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Query => "query",
            Self::Header => "header",
            Self::Bearer => "bearer",
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Query => "the query",
            Self::Header => "the header of its own",
            Self::Bearer => "Authorization: Bearer",
        }
    }
}
