//! Listings: what the account has of one kind, and passes the filters of a body. Each is a row.

use super::{Call, Handler, Purpose};
use crate::{
    api::generated::*,
    domain::{SmolStr, ports::Query, search::Filters},
    edge::responding::{
        api_error::ApiError,
        response::{Constant, Content, Success},
    },
};

/// The operation, its query, and the types of its request and response. Every property of a body is a filter.
macro_rules! listing {
    ($operation:ident, Query::$query:ident, $request:ident { $($body:ident)? }, $success:ident { $data:ident }, $headers:ident) => {
        impl Handler for $operation {
            const PURPOSE: Purpose = Purpose::Static;

            async fn handle(call: Call<'_>, request: $request) -> Result<Success<Self>, ApiError> {
                let $request { $(mut $body)? } = request;
                let filters = Vec::<Filters>::from([$($body.take_filters())?]).concat();
                let items = call.service.list(Query::$query, &call.token, filters).await?;
                let request_id = SmolStr::new(call.request_id);
                let content = Content::Json($success {
                    code: Constant,
                    message: "ok".into(),
                    request_id: request_id.clone(),
                    data: $data { items },
                });
                Ok(Success { content, headers: $headers { x_request_id: request_id } })
            }
        }
    };
}

listing!(
    ListStaticGroups,
    Query::Groups,
    ListStaticGroupsRequest {},
    GroupsSuccess { GroupsData },
    ListStaticGroupsHeaders
);
