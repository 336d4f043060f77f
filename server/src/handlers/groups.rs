//! `listStaticGroups`.

use crate::{
    api::generated::{
        GroupsData, GroupsSuccess, ListStaticGroups, ListStaticGroupsCacheControl, ListStaticGroupsHeaders,
        ListStaticGroupsRequest, StaticGroup,
    },
    domain::{access::Purpose, instance::Group},
    edge::{
        operation::{Call, Handler},
        responding::{
            api_error::ApiError,
            response::{Constant, Content, Success},
        },
        types::integer::BoundedInteger,
    },
};

impl Handler for ListStaticGroups {
    const PURPOSE: Purpose = Purpose::Static;

    async fn handle(call: Call<'_>, request: ListStaticGroupsRequest) -> Result<Success<Self>, ApiError> {
        let ListStaticGroupsRequest { credential } = request;
        let groups = call.service.groups(&credential).await?;
        let items = groups.into_iter().map(item).collect::<Result<_, _>>()?;
        let content = Content::Json(GroupsSuccess {
            code: Constant,
            message: "ok".to_owned(),
            request_id: call.request_id.to_owned(),
            data: GroupsData { items },
        });
        let headers = ListStaticGroupsHeaders {
            cache_control: ListStaticGroupsCacheControl::NoStore,
            x_request_id: call.request_id.to_owned(),
        };
        Ok(Success { content, headers })
    }
}

fn item(group: Group) -> Result<StaticGroup, ApiError> {
    let Group { id, name, created_at, updated_at } = group;
    Ok(StaticGroup { group_id: BoundedInteger::new(id)?, name, created_at, updated_at })
}
