use std::future::IntoFuture;

use crate::{
    Client, Error, Group, WithResponse,
    options::{CallOptions, PendingCall},
};

/// A listing of groups that is not sent yet; see [`Client::groups`]. Await it to send it.
#[derive(Clone, Debug)]
#[must_use = "a listing is sent when it is awaited"]
pub struct ListGroups {
    client: Client,
    options: CallOptions,
}

crate::options::call_options!(ListGroups, options);

impl ListGroups {
    pub(crate) fn new(client: Client) -> Self {
        Self { client, options: CallOptions::default() }
    }

    /// Sends the listing and returns the groups together with the response.
    ///
    /// # Errors
    /// As [`Client::groups`].
    pub async fn with_response(self) -> Result<WithResponse<Vec<Group>>, Error> {
        let generated = self.client.generated_for(self.options);
        let response = generated.list_static_groups().send().await?;
        Ok(response.map(|success| success.data.items))
    }
}

impl IntoFuture for ListGroups {
    type Output = Result<Vec<Group>, Error>;
    type IntoFuture = PendingCall<Vec<Group>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async { Ok(self.with_response().await?.value) })
    }
}
