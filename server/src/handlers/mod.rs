//! Handlers: they take a request apart, call the domain and put its result into the answer. Requests are destructured
//! without `..`, so that a new parameter or field stops the build until somebody decides what it means.

mod extract;
mod groups;
mod search;

use dropshot::{ApiDescription, RequestContext};

use crate::{
    api::generated::{
        Api, ExtractError, ExtractProxies, ListStaticGroups, SearchStaticInstances, StaticError, api_mod,
        refuse_other_methods,
    },
    edge::{
        answer::Answer,
        call::{Context, serve},
        received::Received,
    },
};

/// The API of this server, with all methods of all its paths.
///
/// # Errors
/// Says which endpoints Dropshot refuses, which the generator is there to prevent.
pub(crate) fn api() -> Result<ApiDescription<Context>, String> {
    let mut api = api_mod::api_description::<Handlers>().map_err(|error| error.to_string())?;
    refuse_other_methods(&mut api).map_err(|error| error.to_string())?;
    Ok(api)
}

/// The operations of this server, by their `operationId`.
///
/// # Errors
/// As [`api`].
pub(crate) fn operations() -> Result<Vec<String>, String> {
    let router = api()?.into_router();
    let shown = router.endpoints(None).filter(|(_, _, endpoint)| endpoint.visible);
    Ok(shown.map(|(_, _, endpoint)| endpoint.operation_id.clone()).collect())
}

enum Handlers {}

impl Api for Handlers {
    type Context = Context;

    async fn extract_proxies(
        rqctx: RequestContext<Context>,
        request: Received<ExtractProxies>,
    ) -> Result<Answer<ExtractProxies>, ExtractError> {
        Ok(serve(rqctx, request, extract::handle).await)
    }

    async fn list_static_groups(
        rqctx: RequestContext<Context>,
        request: Received<ListStaticGroups>,
    ) -> Result<Answer<ListStaticGroups>, StaticError> {
        Ok(serve(rqctx, request, groups::handle).await)
    }

    async fn search_static_instances(
        rqctx: RequestContext<Context>,
        request: Received<SearchStaticInstances>,
    ) -> Result<Answer<SearchStaticInstances>, StaticError> {
        Ok(serve(rqctx, request, search::handle).await)
    }
}
