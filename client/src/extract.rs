use std::{fmt, future::IntoFuture, net::Ipv4Addr, pin::Pin};

use bytes::Bytes;
use futures_util::TryStreamExt;

use crate::{
    Client, Endpoint, Error, Protocol, Separator,
    contract::{self, ExtractProxiesHeaders},
    generated::types,
    response::RawResponse,
    retry::new_request_id,
    text::{Entries, entries},
};

type Pending<T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send>>;

/// An extraction that is not sent yet; see [`Client::extract`]. Await it to send it.
#[derive(Clone, Debug)]
#[must_use = "an extraction is sent when it is awaited"]
pub struct Extract {
    client: Client,
    options: Options,
}

/// An extraction with a plain-text response that is not sent yet; see [`Client::extract_text`]. Await it to send it.
#[derive(Clone, Debug)]
#[must_use = "an extraction is sent when it is awaited"]
pub struct ExtractText {
    client: Client,
    options: Options,
    separator: Separator,
}

/// The result of [`Client::extract`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Extraction {
    /// The gateways, in the order of the response.
    pub endpoints: Vec<Endpoint>,
    /// Number of gateways that were requested.
    pub requested: u32,
    /// Number of gateways that the service declares to have returned (`X-Proxy-Returned-Count`); that of `endpoints` when it
    /// declares none.
    pub returned: usize,
    /// Whether `endpoints` holds fewer gateways than were requested (`extract.partial`).
    pub is_partial: bool,
    /// The caller's IPv4 address as the service sees it (`extract.request-ip`), which the account's whitelist must contain;
    /// `None` when the response has none.
    pub request_ip: Option<Ipv4Addr>,
    /// Pass it to [`Extract::request_id`] to receive the same gateways again.
    pub request_id: String,
    /// The service's description of the result; empty when it sends none.
    pub message: String,
}

/// The result of [`Client::extract_text`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TextExtraction {
    /// The body of the response.
    pub raw: String,
    /// The gateways of the entries in the form `host:port`.
    pub endpoints: Vec<Endpoint>,
    /// The entries in another form: the contract leaves the layout open (`open.extract.txt-layout`), and some services add
    /// user and password.
    pub unparsed: Vec<String>,
    /// Number of gateways that were requested.
    pub requested: u32,
    /// Whether the text has fewer entries than were requested.
    pub is_partial: bool,
    /// Pass it to [`ExtractText::request_id`] to receive the same gateways again.
    pub request_id: String,
}

#[derive(Clone, Debug)]
struct Options {
    count: u32,
    region: Option<String>,
    protocol: Option<Protocol>,
    request_id: Option<String>,
}

macro_rules! options {
    ($name:ident) => {
        impl $name {
            /// Country code of the gateways, from the country directory. Default, and when empty: any country
            /// (`extract.regions-default`).
            pub fn region(mut self, region: impl Into<String>) -> Self {
                self.options.region = Some(region.into());
                self
            }

            /// Protocol of the gateways. Default: [`Protocol::Http`] (`extract.protocol`).
            pub fn protocol(mut self, protocol: Protocol) -> Self {
                self.options.protocol = Some(protocol);
                self
            }

            /// Request id of the extraction, of at most
            /// [`REQUEST_ID_MAX_UTF8_BYTES`](contract::ExtractProxies::REQUEST_ID_MAX_UTF8_BYTES) bytes of UTF-8. Default, and
            /// when empty: a random one.
            ///
            /// The service answers a known request id with the gateways that it returned before, so pass
            /// [`Error::request_id`] to repeat an interrupted extraction (`extract.idempotent`).
            pub fn request_id(mut self, id: impl Into<String>) -> Self {
                self.options.request_id = Some(id.into());
                self
            }
        }
    };
}

options!(Extract);
options!(ExtractText);

impl Extract {
    pub(crate) fn new(client: Client, count: u32) -> Self {
        Self { client, options: Options::new(count) }
    }
}

impl ExtractText {
    pub(crate) fn new(client: Client, count: u32, separator: Separator) -> Self {
        Self { client, options: Options::new(count), separator }
    }
}

impl IntoFuture for Extract {
    type Output = Result<Extraction, Error>;
    type IntoFuture = Pending<Extraction>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let requested = self.options.count;
            let (input, request_id) = self.options.input(None);
            let generated = self.client.generated();
            let response = match input.call(&generated)?.send().await {
                Ok(response) => response,
                Err(error) => return Err(generated.failure(error).with_request_id(&request_id)),
            };
            let headers = ExtractProxiesHeaders::read(response.headers());
            let types::ExtractSuccess { data, msg, request_ip, code: _, success: _ } = response.into_inner();
            Ok(Extraction {
                requested,
                returned: returned(&headers).unwrap_or(data.len()),
                is_partial: is_partial(requested, data.len()),
                request_ip: request_ip.and_then(|ip| ip.parse().ok()),
                request_id,
                message: msg.unwrap_or_default(),
                endpoints: data,
            })
        })
    }
}

impl IntoFuture for ExtractText {
    type Output = Result<TextExtraction, Error>;
    type IntoFuture = Pending<TextExtraction>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let requested = self.options.count;
            let (input, request_id) = self.options.input(Some(&self.separator));
            let generated = self.client.generated_with(Some(self.separator.clone()));
            let response = match input.call_text(&generated)?.send().await {
                Ok(response) => response,
                Err(error) => return Err(generated.failure(error).with_request_id(&request_id)),
            };
            let (status, headers) = (response.status(), response.headers().clone());
            // The hooks have read the body already, so this cannot fail.
            let body: Vec<Bytes> = response.into_inner_stream().try_collect().await.unwrap_or_default();
            let body = Bytes::from(body.concat());
            let raw = String::from_utf8_lossy(&body);
            match entries(&raw, &self.separator) {
                Ok(Entries { endpoints, unparsed }) => Ok(TextExtraction {
                    is_partial: is_partial(requested, endpoints.len() + unparsed.len()),
                    raw: raw.into_owned(),
                    endpoints,
                    unparsed,
                    requested,
                    request_id,
                }),
                Err(reason) => {
                    let response = RawResponse { status, headers, body: body.clone() };
                    Err(generated.unexpected_body(reason, &response).with_request_id(&request_id))
                }
            }
        })
    }
}

impl Options {
    fn new(count: u32) -> Self {
        Self { count, region: None, protocol: None, request_id: None }
    }

    /// Everything that is sent, and the request id in it.
    fn input(self, separator: Option<&Separator>) -> (contract::ExtractProxies, String) {
        // An empty value counts as absent, and an extraction without a request id cannot be repeated.
        let is_present = |text: &String| !text.is_empty();
        let request_id = self.request_id.filter(is_present).unwrap_or_else(new_request_id);
        let input = contract::ExtractProxies {
            num: self.count.into(),
            regions: self.region.filter(is_present),
            protocol: self.protocol,
            return_type: separator.map(|_| types::ReturnType::Txt),
            lb: separator.map(Separator::code),
            sb: match separator {
                Some(Separator::Custom(text)) => Some(text.clone()),
                _ => None,
            },
            request_id: Some(request_id.clone()),
        };
        (input, request_id)
    }
}

/// `host:port`, with brackets around an IPv6 address.
impl fmt::Display for Endpoint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.ip.contains(':') {
            write!(out, "[{}]:{}", self.ip, self.port)
        } else {
            write!(out, "{}:{}", self.ip, self.port)
        }
    }
}

/// The contract leaves the value of `X-Proxy-Partial` open, so the counts decide.
fn is_partial(requested: u32, returned: usize) -> bool {
    usize::try_from(requested).is_ok_and(|requested| returned < requested)
}

fn returned(headers: &ExtractProxiesHeaders) -> Option<usize> {
    usize::try_from(headers.x_proxy_returned_count?).ok()
}
