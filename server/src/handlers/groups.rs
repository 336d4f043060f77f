//! `listStaticGroups`.

use crate::{
    api::generated::{
        GroupsData, GroupsSuccess, ListStaticGroups, ListStaticGroupsHeaders, ListStaticGroupsRequest,
        StaticGroup,
    },
    domain::{access::Purpose, instance::Group},
    edge::{
        operation::{Call, Handler},
        responding::{
            api_error::ApiError,
            response::{Constant, Content, Success},
        },
    },
};

impl Handler for ListStaticGroups {
    const PURPOSE: Purpose = Purpose::Static;

    async fn handle(call: Call<'_>, request: ListStaticGroupsRequest) -> Result<Success<Self>, ApiError> {
        let ListStaticGroupsRequest {} = request;
        let groups = call.service.groups(&call.token).await?;
        let items = groups.into_iter().map(item).collect();
        let content = Content::Json(GroupsSuccess {
            code: Constant,
            message: "ok".to_owned(),
            request_id: call.request_id.to_owned(),
            data: GroupsData { items },
        });
        let headers = ListStaticGroupsHeaders { x_request_id: call.request_id.to_owned() };
        Ok(Success { content, headers })
    }
}

fn item(group: Group) -> StaticGroup {
    let Group { id, name, created_at, updated_at } = group;
    StaticGroup { group_id: id.get(), name, created_at, updated_at }
}
