//! Extractions to ask for.

use std::net::Ipv4Addr;

use sallyport_server::domain::{
    Protocol,
    extraction::{ExtractionQuery, Parameters, Region},
    token::Token,
};

/// HTTP gateways of one region, asked for from loopback and without a request id.
pub(crate) fn command(token: &Token, count: u32, region: &str) -> ExtractionQuery {
    ExtractionQuery {
        digest: token.digest(),
        caller_ip: Some(Ipv4Addr::LOCALHOST),
        parameters: Parameters { count, region: Region::Only(region.to_owned()), protocol: Protocol::Http },
        request_id: None,
    }
}

pub(crate) fn with_id(id: &str, command: ExtractionQuery) -> ExtractionQuery {
    ExtractionQuery { request_id: Some(id.to_owned()), ..command }
}
