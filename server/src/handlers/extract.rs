//! `extractProxies`.

use crate::{
    api::generated::{
        ExtractProxies, ExtractProxiesHeaders, ExtractProxiesRequest, ExtractSuccess, ProxyEndpoint,
        ProxyProtocol, ReturnType,
    },
    domain::{
        access::Purpose,
        extraction::{Endpoint, ExtractCommand, Extraction, Parameters, Region},
        protocol::Protocol,
    },
    edge::{
        operation::{Call, Handler},
        responding::{
            api_error::ApiError,
            response::{Constant, ConstantBool, Content, PlainText, SendsText, Success},
        },
    },
};

impl SendsText for ExtractProxies {}

impl Handler for ExtractProxies {
    const PURPOSE: Purpose = Purpose::Extraction;

    async fn handle(call: Call<'_>, request: ExtractProxiesRequest) -> Result<Success<Self>, ApiError> {
        let ExtractProxiesRequest { num, regions, protocol, return_type, lb, sb, request_id } = request;
        let region = if regions == ExtractProxiesRequest::REGIONS_DEFAULT {
            Region::Everywhere
        } else {
            Region::Only(regions)
        };
        let protocol = match protocol {
            ProxyProtocol::Http => Protocol::Http,
            ProxyProtocol::Socks5 => Protocol::Socks5,
        };
        let command = ExtractCommand {
            token: call.token,
            caller_ip: call.caller_ip,
            parameters: Parameters { count: num, region, protocol },
            request_id,
        };
        let extraction = call.service.extract(command).await?;

        let headers = ExtractProxiesHeaders {
            x_proxy_requested_count: Some(extraction.requested.into()),
            x_proxy_returned_count: Some(extraction.returned().into()),
            x_proxy_partial: Some(extraction.is_partial().to_string()),
        };
        let content = match return_type {
            ReturnType::Json => Content::Json(body(extraction)),
            ReturnType::Txt => {
                // A code without text requires `sb`.
                let separator = lb.separator().or(sb.as_deref()).unwrap_or_default();
                Content::Text(PlainText(lines(&extraction.endpoints, separator)))
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
        msg: "ok".to_owned(),
        data: data.collect(),
        request_ip: caller_ip,
    }
}

/// `host:port` entries with the separator between them and none at the end (`open.extract.txt-layout`). IPv6 addresses are in
/// brackets.
fn lines(endpoints: &[Endpoint], separator: &str) -> String {
    let entry = |Endpoint { host, port }: &Endpoint| {
        if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
    };
    endpoints.iter().map(entry).collect::<Vec<_>>().join(separator)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_are_between_entries_only() {
        let endpoint = |host: &str| Endpoint { host: host.to_owned(), port: 1 };
        let endpoints = [endpoint("gw.invalid"), endpoint("192.0.2.1"), endpoint("2001:db8::1")];
        assert_eq!(lines(&endpoints, "/br"), "gw.invalid:1/br192.0.2.1:1/br[2001:db8::1]:1");
        assert_eq!(lines(&endpoints[..1], "\r\n"), "gw.invalid:1");
    }
}
