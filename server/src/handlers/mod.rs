//! Handlers: they take a request apart, call the domain and put its result into the answer. Requests are destructured
//! without `..`, so that a new parameter or field stops the build until somebody decides what it means.

mod extract;
mod groups;
mod search;

use dropshot::{ApiDescription, RequestContext};

use crate::{
    api::generated::{
        Api, ExtractProxies, ListStaticGroups, SearchStaticInstances, api_mod, refuse_other_methods,
    },
    edge::{
        call::{Context, Served, serve},
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

enum Handlers {}

impl Api for Handlers {
    type Context = Context;

    fn extract_proxies(
        rqctx: RequestContext<Context>,
        request: Received<ExtractProxies>,
    ) -> impl Future<Output = Served<ExtractProxies>> + Send {
        serve(rqctx, request)
    }

    fn list_static_groups(
        rqctx: RequestContext<Context>,
        request: Received<ListStaticGroups>,
    ) -> impl Future<Output = Served<ListStaticGroups>> + Send {
        serve(rqctx, request)
    }

    fn search_static_instances(
        rqctx: RequestContext<Context>,
        request: Received<SearchStaticInstances>,
    ) -> impl Future<Output = Served<SearchStaticInstances>> + Send {
        serve(rqctx, request)
    }
}
