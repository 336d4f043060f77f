use std::{
    future::IntoFuture,
    net::Ipv4Addr,
    time::{Duration, SystemTime},
};

use serde::{Serialize, Serializer};

use crate::{
    Client, Endpoint, Error, Protocol, Separator, TextEntry, WithResponse,
    contract::ExtractProxiesHeaders,
    generated::types,
    integer::to_i64,
    options::{CallOptions, PendingCall, call_options},
    retry::{new_request_id, retry_after},
};

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

/// The result of [`Client::extract`]. As JSON it has its field names in camel case, `partial`, `retryAfter` in whole seconds, and no
/// `headers`.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Extraction {
    /// The gateways, in the order of the response.
    pub endpoints: Vec<Endpoint>,
    /// Number of gateways that were requested.
    pub requested: i64,
    /// Number of gateways that the service declares to have returned (`X-Proxy-Returned-Count`); that of `endpoints` when it
    /// declares none.
    pub returned: i64,
    /// Whether `endpoints` holds fewer gateways than were requested (`extract.partial`).
    #[serde(rename = "partial")]
    pub is_partial: bool,
    /// The counts and the flag of a partial result as the service sent them, for comparison; `is_partial` relies on the
    /// number of gateways alone.
    #[serde(skip)]
    pub headers: ExtractProxiesHeaders,
    /// How long to wait before the next extraction, where the response of a partial result says so with `Retry-After`.
    #[serde(serialize_with = "in_seconds")]
    pub retry_after: Option<Duration>,
    /// The caller's IPv4 address as the service sees it (`extract.request-ip`), which the account's whitelist must contain;
    /// `None` when the response has none.
    pub request_ip: Option<Ipv4Addr>,
    /// Pass it to [`Extract::request_id`] to receive the same gateways again.
    pub request_id: String,
    /// The service's description of the result; empty when it sends none.
    pub message: String,
}

/// The result of [`Client::extract_text`]. As JSON it is as an [`Extraction`].
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TextExtraction {
    /// The body of the response.
    pub raw: String,
    /// All entries, in the order of the text.
    pub entries: Vec<TextEntry>,
    /// Number of gateways that were requested.
    pub requested: i64,
    /// Whether the text has fewer entries than were requested.
    #[serde(rename = "partial")]
    pub is_partial: bool,
    /// See [`Extraction::headers`].
    #[serde(skip)]
    pub headers: ExtractProxiesHeaders,
    /// See [`Extraction::retry_after`].
    #[serde(serialize_with = "in_seconds")]
    pub retry_after: Option<Duration>,
    /// Pass it to [`ExtractText::request_id`] to receive the same gateways again.
    pub request_id: String,
}

impl TextExtraction {
    /// The gateways of the entries in the form `host:port`.
    pub fn endpoints(&self) -> impl Iterator<Item = &Endpoint> {
        self.entries.iter().filter_map(|entry| match entry {
            TextEntry::Endpoint(endpoint) => Some(endpoint),
            TextEntry::Unparsed(_) => None,
        })
    }

    /// The entries in another form: the contract leaves the layout open (`open.extract.txt-layout`), and some services add user
    /// and password.
    pub fn unparsed(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().filter_map(|entry| match entry {
            TextEntry::Endpoint(_) => None,
            TextEntry::Unparsed(text) => Some(text.as_str()),
        })
    }
}

#[expect(clippy::ref_option, reason = "as serde calls it")]
fn in_seconds<S: Serializer>(wait: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
    wait.map(|wait| wait.as_secs()).serialize(serializer)
}

#[derive(Clone, Debug, Default)]
struct Options {
    count: i64,
    region: Option<String>,
    protocol: Option<Protocol>,
    request_id: Option<String>,
    call: CallOptions,
}

macro_rules! options {
    ($name:ident, $result:ident) => {
        call_options!($name, options.call);

        impl $name {
            /// Country code of the gateways, from the country directory and in upper case, such as `USA`: a service may take
            /// another spelling for a country without gateways. Default, and when empty: any country
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
            /// [`REQUEST_ID_MAX_UTF8_BYTES`](crate::contract::ExtractProxies::REQUEST_ID_MAX_UTF8_BYTES) bytes of UTF-8. Default, and
            /// when empty: a random one.
            ///
            /// For a known request id the service returns the same gateways again, so pass
            /// [`Error::request_id`] to repeat an interrupted extraction (`extract.idempotent`).
            pub fn request_id(mut self, id: impl Into<String>) -> Self {
                self.options.request_id = Some(id.into());
                self
            }

            /// Repeats the extraction that failed with `error`, under its request id: where the service has extracted
            /// already, it returns those gateways instead of extracting again (`extract.idempotent`). Pass the same count
            /// and options. An error without a request id, before which nothing was sent, has no effect.
            pub fn resume(mut self, error: &Error) -> Self {
                if let Some(id) = error.request_id() {
                    self.options.request_id = Some(id.to_owned());
                }
                self
            }

            /// The request id that this extraction will be sent with; makes one where none is set.
            ///
            /// Call it before an await that may be cancelled: without the request id, gateways that the service extracted
            /// for a dropped future are lost.
            ///
            /// ```no_run
            /// # async fn run(client: sallyport_client::Client) -> Result<(), sallyport_client::Error> {
            /// use std::time::Duration;
            ///
            /// let mut call = client.extract(3);
            /// let id = call.ensure_request_id().to_owned();
            /// if tokio::time::timeout(Duration::from_secs(5), call.into_future()).await.is_err() {
            ///     let extraction = client.extract(3).request_id(id).await?;
            /// }
            /// # Ok(())
            /// # }
            /// ```
            pub fn ensure_request_id(&mut self) -> &str {
                let id = self.options.take_request_id();
                self.options.request_id.insert(id)
            }

            /// Sends the extraction and returns its result together with the response.
            ///
            /// # Errors
            /// As [`Client::extract`].
            pub async fn with_response(self) -> Result<WithResponse<$result>, Error> {
                self.send().await
            }
        }

        impl IntoFuture for $name {
            type Output = Result<$result, Error>;
            type IntoFuture = PendingCall<$result>;

            fn into_future(self) -> Self::IntoFuture {
                Box::pin(async { Ok(self.send().await?.value) })
            }
        }
    };
}

/// Builds the request of an extraction in either form, with its id. An empty value counts as absent.
macro_rules! request {
    ($builder:expr, $options:ident, $id:ident) => {{
        let mut request = $builder.num($options.count).request_id($id.as_str());
        if let Some(region) = $options.region.filter(|region| !region.is_empty()) {
            request = request.regions(region);
        }
        if let Some(protocol) = $options.protocol {
            request = request.protocol(protocol);
        }
        request
    }};
}

options!(Extract, Extraction);
options!(ExtractText, TextExtraction);

impl Extract {
    pub(crate) fn new(client: Client, count: i64) -> Self {
        Self { client, options: Options { count, ..Options::default() } }
    }

    async fn send(self) -> Result<WithResponse<Extraction>, Error> {
        let mut options = self.options;
        let (requested, request_id) = (options.count, options.take_request_id());
        let generated = self.client.generated_for(options.call);
        let response = request!(generated.extract_proxies(), options, request_id).send().await?;
        let headers = ExtractProxiesHeaders::read(&response.headers);
        let retry_after = retry_after(&response.headers, SystemTime::now());
        Ok(response.map(|types::ExtractSuccess { data, msg, request_ip, code: _, success: _ }| {
            let received = to_i64(data.len());
            Extraction {
                requested,
                returned: headers.x_proxy_returned_count.filter(|count| *count >= 0).unwrap_or(received),
                // The contract leaves the value of `X-Proxy-Partial` open, so the number of gateways decides.
                is_partial: received < requested,
                headers,
                retry_after,
                request_ip: request_ip.and_then(|ip| ip.parse().ok()),
                request_id,
                message: msg.unwrap_or_default(),
                endpoints: data,
            }
        }))
    }
}

impl ExtractText {
    pub(crate) fn new(client: Client, count: i64, separator: Separator) -> Self {
        Self { client, options: Options { count, ..Options::default() }, separator }
    }

    async fn send(self) -> Result<WithResponse<TextExtraction>, Error> {
        let mut options = self.options;
        let (requested, request_id) = (options.count, options.take_request_id());
        options.call.separator = Some(self.separator.clone());
        let generated = self.client.generated_for(options.call);
        let mut call = request!(generated.extract_proxies_text(), options, request_id)
            .return_type(types::ReturnType::Txt)
            .lb(self.separator.code());
        if let Separator::Custom(text) = self.separator
            && !text.is_empty()
        {
            call = call.sb(text);
        }
        let response = call.send().await?;
        let (raw, headers) = (response.body.clone(), response.headers.clone());
        Ok(response.map(|entries| TextExtraction {
            is_partial: to_i64(entries.len()) < requested,
            retry_after: retry_after(&headers, SystemTime::now()),
            headers: ExtractProxiesHeaders::read(&headers),
            raw: String::from_utf8_lossy(&raw).into_owned(),
            entries,
            requested,
            request_id,
        }))
    }
}

impl Options {
    /// The request id, without which an extraction cannot be repeated.
    fn take_request_id(&mut self) -> String {
        self.request_id.take().filter(|id| !id.is_empty()).unwrap_or_else(new_request_id)
    }
}
