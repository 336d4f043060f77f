use std::sync::Arc;

use crate::{
    Address, ClientBuilder, Error, Extract, ExtractText, Group, Refused, Search, Separator, contract,
    generated, hooks::Hooks, transport::Transport,
};

/// The service, as one account sees it. Clones share connections.
///
/// ```no_run
/// # async fn run() -> Result<(), sallyport_client::Error> {
/// use sallyport_client::Client;
///
/// let client = Client::builder().base_url("https://api.invalid").token_from_env().build()?;
/// let extraction = client.extract(3).await?;
/// for endpoint in &extraction.endpoints {
///     println!("{endpoint}");
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Client {
    transport: Arc<Transport>,
}

impl Client {
    /// Starts to set up a client.
    pub fn builder() -> ClientBuilder {
        ClientBuilder::default()
    }

    pub(crate) fn new(transport: Arc<Transport>) -> Self {
        Self { transport }
    }

    /// Takes up to `count` gateways out of the pool.
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
    pub fn extract(&self, count: u32) -> Extract {
        Extract::new(self.clone(), count)
    }

    /// As [`extract`](Self::extract), with the answer as plain text.
    ///
    /// ```no_run
    /// # async fn run(client: sallyport_client::Client) -> Result<(), sallyport_client::Error> {
    /// use sallyport_client::Separator;
    ///
    /// let text = client.extract_text(10, Separator::Lf).await?;
    /// std::fs::write("gateways.txt", &text.raw).expect("the file can be written");
    /// # Ok(())
    /// # }
    /// ```
    pub fn extract_text(&self, count: u32, separator: Separator) -> ExtractText {
        ExtractText::new(self.clone(), count, separator)
    }

    /// The account's groups, ascending by id.
    ///
    /// # Errors
    /// Any [`Error`].
    ///
    /// ```no_run
    /// # async fn run(client: sallyport_client::Client) -> Result<(), sallyport_client::Error> {
    /// for group in client.groups().await? {
    ///     println!("{} {}", group.group_id, group.name);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn groups(&self) -> Result<Vec<Group>, Error> {
        let generated = self.generated();
        let call = contract::ListStaticGroups {}.call(&generated)?;
        match call.send().await {
            Ok(answer) => Ok(answer.into_inner().data.items),
            Err(error) => Err(generated.failure(error)),
        }
    }

    /// Looks for the account's instances at the given addresses.
    ///
    /// An address that cannot be read is refused when the search is sent.
    ///
    /// ```no_run
    /// # async fn run(client: sallyport_client::Client) -> Result<(), sallyport_client::Error> {
    /// use sallyport_client::GroupChoice;
    ///
    /// let page = client.search(["203.0.113.7", "[2001:db8::1]:8080"]).group(GroupChoice::Ungrouped).page(1).await?;
    /// println!("{} instances in all", page.total);
    /// # Ok(())
    /// # }
    /// ```
    pub fn search<I>(&self, addresses: I) -> Search
    where
        I: IntoIterator,
        I::Item: TryInto<Address>,
        <I::Item as TryInto<Address>>::Error: Into<Refused>,
    {
        let read: Result<Vec<Address>, Refused> =
            addresses.into_iter().map(|address| address.try_into().map_err(Into::into)).collect();
        Search::new(self.clone(), read)
    }

    /// The client that progenitor generates, for what this one does not offer.
    ///
    /// Its requests leave through the same hooks: token, retries and the business code are taken care of, and
    /// [`failure`](generated::Client::failure) turns its error into ours. Limits are checked only when the request comes
    /// from [`contract`], for example from [`contract::ExtractProxies::call`].
    pub fn generated(&self) -> generated::Client {
        let transport = self.transport.clone();
        generated::Client::new_with_client(
            &transport.base,
            transport.http.clone(),
            Hooks::new(transport.clone()),
        )
    }
}
