//! `extractProxies`.

use std::fmt::Write as _;

use smol_str::ToSmolStr as _;

use super::{Call, Handler, Purpose};
use crate::{
    api::generated::{
        ExtractProxies, ExtractProxiesHeaders, ExtractProxiesRequest, ExtractSuccess, ProxyEndpoint,
        ReturnType,
    },
    domain::extraction::{Endpoint, Extraction, ExtractionQuery, Parameters, Region},
    edge::responding::{
        api_error::ApiError,
        response::{Constant, ConstantBool, Content, Success},
    },
};

impl Handler for ExtractProxies {
    const PURPOSE: Purpose = Purpose::Extraction;

    async fn handle(call: Call<'_>, request: ExtractProxiesRequest) -> Result<Success<Self>, ApiError> {
        let ExtractProxiesRequest { num, regions, protocol, return_type, lb, sb, request_id } = request;
        let region = if regions == ExtractProxiesRequest::REGIONS_DEFAULT {
            Region::Everywhere
        } else {
            Region::Only(regions)
        };
        let query = ExtractionQuery {
            digest: call.token.digest(),
            caller_ip: call.caller_ip,
            parameters: Parameters { count: num, region, protocol },
            request_id,
        };
        let extraction = call.service.extract(query).await?;

        let headers = ExtractProxiesHeaders {
            x_proxy_requested_count: Some(extraction.requested.into()),
            x_proxy_returned_count: Some(extraction.returned().into()),
            x_proxy_partial: Some(extraction.is_partial().to_smolstr()),
        };
        let content = match return_type {
            ReturnType::Json => Content::Json(body(extraction)),
            ReturnType::Txt => {
                // A code without text requires `sb`.
                let separator = lb.separator().or(sb.as_deref()).unwrap_or_default();
                Content::Text(lines(&extraction.endpoints, separator))
            }
        };
        Ok(Success { content, headers })
    }
}

fn body(extraction: Extraction) -> ExtractSuccess {
    let Extraction { endpoints, requested: _, caller_ip } = extraction;
    let data =
        endpoints.into_iter().map(|Endpoint { host, port }| ProxyEndpoint { ip: host, port: port.into() });
    ExtractSuccess {
        code: Constant,
        success: ConstantBool,
        msg: "ok".into(),
        data: data.collect(),
        request_ip: caller_ip,
    }
}

/// `host:port` entries with the separator between them and none at the end (`open.extract.txt-layout`). IPv6 addresses are in
/// brackets.
fn lines(endpoints: &[Endpoint], separator: &str) -> String {
    let mut text = String::with_capacity(endpoints.len() * (separator.len() + 32));
    for Endpoint { host, port } in endpoints {
        let (open, close) = if host.contains(':') { ("[", "]") } else { ("", "") };
        let between = if text.is_empty() { "" } else { separator };
        // Writing to a String cannot fail.
        let _ = write!(text, "{between}{open}{host}{close}:{port}");
    }
    text
}
