//! Handlers: they destructure a parsed request, call the domain and build the response. Requests are destructured without `..`, so
//! that a new parameter or field does not compile until its handling is written.

mod extract;
mod groups;
mod search;

use dropshot::{ApiDescription, RequestContext};

use crate::{
    api::generated::{
        Api, ExtractProxies, ListStaticGroups, SearchStaticInstances, api_mod, reject_other_methods,
    },
    domain::access::Purpose,
    edge::{
        operation::{Call, Handler},
        raw_request::RawRequest,
        serve::{Context, HandlerResult, serve},
    },
};

/// The API of this server, with all methods of all its paths.
pub(crate) fn api() -> Result<ApiDescription<Context>, String> {
    let mut api = api_mod::api_description::<Handlers>().map_err(|error| error.to_string())?;
    reject_other_methods(&mut api).map_err(|error| error.to_string())?;
    Ok(api)
}

enum Handlers {}

impl Api for Handlers {
    type Context = Context;

    fn extract_proxies(
        rqctx: RequestContext<Context>,
        request: RawRequest<ExtractProxies>,
    ) -> impl Future<Output = HandlerResult<ExtractProxies>> + Send {
        serve(rqctx, request)
    }

    fn list_static_groups(
        rqctx: RequestContext<Context>,
        request: RawRequest<ListStaticGroups>,
    ) -> impl Future<Output = HandlerResult<ListStaticGroups>> + Send {
        serve(rqctx, request)
    }

    fn search_static_instances(
        rqctx: RequestContext<Context>,
        request: RawRequest<SearchStaticInstances>,
    ) -> impl Future<Output = HandlerResult<SearchStaticInstances>> + Send {
        serve(rqctx, request)
    }
}
