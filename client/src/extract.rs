use std::{fmt, future::IntoFuture, net::Ipv4Addr, pin::Pin};

use bytes::Bytes;
use futures_util::TryStreamExt;

use crate::{
    Client, Endpoint, Error, Protocol, Separator,
    contract::{self, ExtractProxiesHeaders},
    generated::types,
    retry::new_request_id,
    text::{Entries, entries},
    verdict::Answer,
};

type Pending<T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send>>;

/// What an extraction is made of. Await it to send it.
#[derive(Clone, Debug)]
#[must_use = "an extraction is sent when it is awaited"]
pub struct Extract {
    client: Client,
    options: Options,
}

/// An extraction whose answer is plain text. Await it to send it.
#[derive(Clone, Debug)]
#[must_use = "an extraction is sent when it is awaited"]
pub struct ExtractText {
    client: Client,
    options: Options,
    separator: Separator,
}

/// Gateways out of the pool.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Extraction {
    /// The gateways.
    pub endpoints: Vec<Endpoint>,
    /// How many were asked for.
    pub requested: u32,
    /// How many the service says it gave; the number of `endpoints` when it does not say.
    pub returned: usize,
    /// Whether there are fewer than were asked for.
    pub partial: bool,
    /// The caller's address as the service sees it, when it is one.
    pub request_ip: Option<Ipv4Addr>,
    /// The number to repeat this extraction with.
    pub request_id: String,
    /// What the service says about the result.
    pub message: String,
}

/// Gateways out of the pool, as text.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TextExtraction {
    /// The text as it came.
    pub raw: String,
    /// The gateways in it.
    pub endpoints: Vec<Endpoint>,
    /// The entries that are no `host:port`: the contract leaves the layout open, and some services add to it.
    pub unread: Vec<String>,
    /// How many were asked for.
    pub requested: u32,
    /// Whether there are fewer than were asked for.
    pub partial: bool,
    /// The number to repeat this extraction with.
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
            /// Country code of the gateways; any country unless set, or when it is empty.
            pub fn region(mut self, region: impl Into<String>) -> Self {
                self.options.region = Some(region.into());
                self
            }

            /// Protocol that the gateways speak; HTTP unless set.
            pub fn protocol(mut self, protocol: Protocol) -> Self {
                self.options.protocol = Some(protocol);
                self
            }

            /// Number of this extraction, at most [`REQUEST_ID_MAX_UTF8_BYTES`](contract::ExtractProxies::REQUEST_ID_MAX_UTF8_BYTES)
            /// long; a random one unless set, or when it is empty. To repeat an interrupted extraction without a second
            /// one being made, give the number that [`Error::request_id`] tells.
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
            let answer = match input.call(&generated)?.send().await {
                Ok(answer) => answer,
                Err(error) => return Err(generated.failure(error).with_request_id(&request_id)),
            };
            let headers = ExtractProxiesHeaders::read(answer.headers());
            let types::ExtractSuccess { data, msg, request_ip, code: _, success: _ } = answer.into_inner();
            Ok(Extraction {
                requested,
                returned: returned(&headers).unwrap_or(data.len()),
                partial: is_partial(requested, data.len()),
                request_ip: request_ip.parse().ok(),
                request_id,
                message: msg,
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
            let generated = self.client.generated();
            let answer = match input.call_text(&generated)?.send().await {
                Ok(answer) => answer,
                Err(error) => return Err(generated.failure(error).with_request_id(&request_id)),
            };
            let (status, headers) = (answer.status(), answer.headers().clone());
            // The hooks have read the body already, so this waits for nothing and cannot fail halfway.
            let body: Vec<Bytes> = answer.into_inner_stream().try_collect().await.unwrap_or_default();
            let body = Bytes::from(body.concat());
            let raw = String::from_utf8_lossy(&body);
            match entries(&raw, &self.separator) {
                Ok(Entries { endpoints, unread }) => Ok(TextExtraction {
                    partial: is_partial(requested, endpoints.len() + unread.len()),
                    raw: raw.into_owned(),
                    endpoints,
                    unread,
                    requested,
                    request_id,
                }),
                Err(reason) => {
                    let answer = Answer { status, headers, body: body.clone() };
                    Err(generated.unreadable(reason, &answer).with_request_id(&request_id))
                }
            }
        })
    }
}

impl Options {
    fn new(count: u32) -> Self {
        Self { count, region: None, protocol: None, request_id: None }
    }

    /// Everything that is sent, and the request number in it.
    fn input(self, separator: Option<&Separator>) -> (contract::ExtractProxies, String) {
        // An empty value would be sent as none, and an extraction without a number cannot be repeated.
        let given = |text: &String| !text.is_empty();
        let request_id = self.request_id.filter(given).unwrap_or_else(new_request_id);
        let input = contract::ExtractProxies {
            num: self.count.into(),
            regions: self.region.filter(given),
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

/// The contract leaves the spelling of its flag open, so the numbers decide.
fn is_partial(requested: u32, given: usize) -> bool {
    usize::try_from(requested).is_ok_and(|requested| given < requested)
}

fn returned(headers: &ExtractProxiesHeaders) -> Option<usize> {
    usize::try_from(headers.x_proxy_returned_count?).ok()
}
