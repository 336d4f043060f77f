use std::{future::IntoFuture, pin::Pin};

use crate::{Client, Error, Group, WithResponse, contract, options::CallOptions, with_response::Recorder};

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
        let recorder = Recorder::default();
        let groups = self.send(Some(recorder.clone())).await?;
        Ok(recorder.attach(groups))
    }

    async fn send(self, recorder: Option<Recorder>) -> Result<Vec<Group>, Error> {
        let generated = self.client.generated_for(None, self.options, recorder);
        let call = contract::ListStaticGroups {}.call(&generated)?;
        match call.send().await {
            Ok(response) => Ok(response.into_inner().data.items),
            Err(error) => Err(generated.failure(error)),
        }
    }
}

impl IntoFuture for ListGroups {
    type Output = Result<Vec<Group>, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.send(None))
    }
}
