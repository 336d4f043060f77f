//! `listStaticGroups`.

use crate::{
    api::generated::{
        GroupsData, GroupsSuccess, ListStaticGroups, ListStaticGroupsCacheControl, ListStaticGroupsHeaders,
        ListStaticGroupsRequest, StaticGroup,
    },
    domain::{access::Purpose, instance::Group},
    edge::{
        answer::{Always, Content, Success},
        call::{Call, Handler},
        integer::Within,
        refused::Refused,
    },
};

impl Handler for ListStaticGroups {
    const PURPOSE: Purpose = Purpose::Static;

    async fn handle(call: Call<'_>, request: ListStaticGroupsRequest) -> Result<Success<Self>, Refused> {
        let ListStaticGroupsRequest { credential } = request;
        let groups = call.service.groups(&credential).await?;
        let items = groups.into_iter().map(item).collect::<Result<_, _>>()?;
        let content = Content::Json(GroupsSuccess {
            code: Always,
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

fn item(group: Group) -> Result<StaticGroup, Refused> {
    let Group { id, name, created_at, updated_at } = group;
    Ok(StaticGroup { group_id: Within::new(id)?, name, created_at, updated_at })
}
