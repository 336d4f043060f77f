//! `listStaticGroups`.

use super::{Call, Handler, Purpose};
use crate::{
    api::generated::{
        GroupsData, GroupsSuccess, ListStaticGroups, ListStaticGroupsHeaders, ListStaticGroupsRequest,
    },
    domain::SmolStr,
    edge::responding::{
        api_error::ApiError,
        response::{Constant, Content, Success},
    },
};

impl Handler for ListStaticGroups {
    const PURPOSE: Purpose = Purpose::Static;

    async fn handle(call: Call<'_>, request: ListStaticGroupsRequest) -> Result<Success<Self>, ApiError> {
        let ListStaticGroupsRequest {} = request;
        let items = call.service.groups(&call.token).await?;
        let request_id = SmolStr::new(call.request_id);
        let content = Content::Json(GroupsSuccess {
            code: Constant,
            message: "ok".into(),
            request_id: request_id.clone(),
            data: GroupsData { items },
        });
        Ok(Success { content, headers: ListStaticGroupsHeaders { x_request_id: request_id } })
    }
}
