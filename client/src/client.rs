use std::sync::Arc;

use crate::{
    Address, ClientBuilder, Extract, ExtractText, InvalidArgument, Search, Separator, generated,
    integer::to_i64, options::CallOptions, sender::Sender, transport::Transport,
};

/// Calls the service with the token of one account. Clones share connections and settings.
#[derive(Clone, Debug)]
pub struct Client {
    transport: Arc<Transport>,
}

impl Client {
    /// A [`ClientBuilder`] with the default settings.
    pub fn builder() -> ClientBuilder {
        ClientBuilder::default()
    }

    pub(crate) fn new(transport: Arc<Transport>) -> Self {
        Self { transport }
    }

    /// Extracts up to `count` gateways, from [`NUM_MINIMUM`](crate::contract::ExtractProxies::NUM_MINIMUM) to
    /// [`NUM_MAXIMUM`](crate::contract::ExtractProxies::NUM_MAXIMUM) (`extract.num-range`). Await the result to send the request.
    ///
    /// The service may return fewer ([`Extraction::is_partial`](crate::Extraction::is_partial)), or none with
    /// [`Error::Shortage`](crate::Error::Shortage). Retries repeat the extraction under one request id, so that no gateway is extracted twice;
    /// [`Error::request_id`](crate::Error::request_id) returns it when the call fails nevertheless.
    ///
    /// # Errors
    /// When awaited: [`Error::InvalidArgument`](crate::Error::InvalidArgument) before anything is sent, when `count` or an option is outside its range;
    /// [`Error::Configuration`](crate::Error::Configuration) for a token of a
    /// [`TokenSource`](crate::TokenSource) that cannot be sent; otherwise any other [`Error`](crate::Error).
    ///
    /// ```no_run
    /// # async fn run(client: sallyport_client::Client) -> Result<(), sallyport_client::Error> {
    /// use sallyport_client::Protocol;
    ///
    /// let extraction = client.extract(10).region("USA").protocol(Protocol::Socks5).await?;
    /// println!("{} of {}", extraction.endpoints.len(), extraction.requested);
    /// # Ok(())
    /// # }
    /// ```
    pub fn extract(&self, count: impl TryInto<i64>) -> Extract {
        Extract::new(self.clone(), to_i64(count))
    }

    /// Extracts gateways as [`extract`](Self::extract) does, in a plain-text response.
    ///
    /// A [`Separator::Custom`] is a non-empty text of at most
    /// [`SB_MAX_UTF8_BYTES`](crate::contract::ExtractProxies::SB_MAX_UTF8_BYTES) bytes of UTF-8 (`extract.sb-length`). A text without
    /// a declared length that does not end with the separator counts as interrupted, because its last port may be cut.
    ///
    /// # Errors
    /// As [`extract`](Self::extract).
    pub fn extract_text(&self, count: impl TryInto<i64>, separator: Separator) -> ExtractText {
        ExtractText::new(self.clone(), to_i64(count), separator)
    }

    /// Searches the account's static instances by address. Add filters to the result, then await it for all instances, or
    /// send it with [`page`](Search::page), [`pages`](Search::pages) or [`stream`](Search::stream).
    ///
    /// One request takes from [`IPS_MIN_ITEMS`](crate::contract::SearchStaticInstances::IPS_MIN_ITEMS) to
    /// [`IPS_MAX_DISTINCT`](crate::contract::SearchStaticInstances::IPS_MAX_DISTINCT) distinct addresses
    /// (`search.ips-dedup-limit`); call [`in_batches`](Search::in_batches) for more. An address that is not valid
    /// (`search.ips-item`) is an [`Error::InvalidArgument`](crate::Error::InvalidArgument) when the search is sent.
    ///
    /// ```no_run
    /// # async fn run(client: sallyport_client::Client) -> Result<(), sallyport_client::Error> {
    /// use sallyport_client::GroupFilter;
    ///
    /// let page = client.search(["203.0.113.7", "[2001:db8::1]:8080"]).group(GroupFilter::Ungrouped).page(1).await?;
    /// println!("{} instances in all", page.total);
    /// # Ok(())
    /// # }
    /// ```
    pub fn search<I>(&self, addresses: I) -> Search
    where
        I: IntoIterator,
        I::Item: TryInto<Address>,
        <I::Item as TryInto<Address>>::Error: Into<InvalidArgument>,
    {
        let addresses: Result<Vec<Address>, InvalidArgument> =
            addresses.into_iter().map(|address| address.try_into().map_err(Into::into)).collect();
        Search::new(self.clone(), addresses)
    }

    /// The generated client, for what this one does not offer.
    ///
    /// It shares limits, token, retries, timeouts, errors and the check of the business code with this client.
    pub fn generated(&self) -> generated::Client {
        self.generated_for(CallOptions::default())
    }

    /// The generated client for one call.
    pub(crate) fn generated_for(&self, options: CallOptions) -> generated::Client {
        let transport = self.transport.clone();
        generated::Client::new_with_client(
            &self.transport.base,
            self.transport.http.clone(),
            Sender { transport, options },
        )
    }
}
