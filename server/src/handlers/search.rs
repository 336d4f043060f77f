//! `searchStaticInstances`.

use crate::{
    api::generated::{
        Capabilities, InstanceStatus, SearchData, SearchRequest, SearchStaticInstances,
        SearchStaticInstancesHeaders, SearchStaticInstancesRequest, SearchSuccess, StaticInstance, TermRule,
    },
    domain::{
        DateTime,
        access::Purpose,
        instance::{self, Id, Instance, Status},
        search::{Filters, GroupSelection, SearchCommand},
    },
    edge::{
        operation::{Call, Handler},
        responding::{
            api_error::ApiError,
            response::{Constant, Content, Success},
        },
    },
};

impl Handler for SearchStaticInstances {
    const PURPOSE: Purpose = Purpose::Static;

    async fn handle(
        call: Call<'_>,
        request: SearchStaticInstancesRequest,
    ) -> Result<Success<Self>, ApiError> {
        let SearchStaticInstancesRequest { body } = request;
        let SearchRequest {
            ips,
            order_no,
            group_id,
            country_code,
            city_code,
            status,
            page,
            page_size,
            activated_from,
            activated_to,
        } = body;
        let group = match group_id.flatten() {
            None => GroupSelection::Any,
            Some(id) => Id::new(id).map_or(GroupSelection::Ungrouped, GroupSelection::Group),
        };
        let status = status.map(|status| match status {
            InstanceStatus::Provisioning => Status::Provisioning,
            InstanceStatus::Active => Status::Active,
            InstanceStatus::Expired => Status::Expired,
            InstanceStatus::Cancelled => Status::Cancelled,
            InstanceStatus::Failed => Status::Failed,
        });
        let command = SearchCommand {
            addresses: ips,
            filters: Filters {
                order_no,
                group,
                country_code,
                city_code,
                status,
                activated_from: activated_from.map(|DateTime(instant)| instant),
                activated_to: activated_to.map(|DateTime(instant)| instant),
            },
            page,
            page_size,
        };
        let found = call.service.search(&call.token, command).await?;

        let content = Content::Json(SearchSuccess {
            code: Constant,
            message: "ok".to_owned(),
            request_id: call.request_id.to_owned(),
            data: SearchData {
                items: found.items.into_iter().map(item).collect(),
                page: page.into(),
                page_size: page_size.into(),
                total: i64::try_from(found.total).unwrap_or(i64::MAX),
            },
        });
        let headers = SearchStaticInstancesHeaders { x_request_id: call.request_id.to_owned() };
        Ok(Success { content, headers })
    }
}

fn item(instance: Instance) -> StaticInstance {
    let Instance {
        id,
        offer_id,
        status,
        ip,
        port,
        protocols,
        country_code,
        city_code,
        isp_type,
        expires_at,
        activated_at,
        capabilities,
        group_id,
    } = instance;
    let status = match status {
        Status::Provisioning => InstanceStatus::Provisioning,
        Status::Active => InstanceStatus::Active,
        Status::Expired => InstanceStatus::Expired,
        Status::Cancelled => InstanceStatus::Cancelled,
        Status::Failed => InstanceStatus::Failed,
    };
    StaticInstance {
        instance_id: id.get(),
        offer_id: offer_id.get(),
        status,
        ip: ip.to_string(),
        port: port.into(),
        protocols,
        country_code,
        city_code,
        isp_type: isp_type.into(),
        expires_at,
        activated_at,
        capabilities: declared(capabilities),
        group_id: group_id.map(Id::get),
    }
}

fn declared(capabilities: instance::Capabilities) -> Capabilities {
    let instance::Capabilities {
        purchase,
        renew,
        convert_trial,
        trial_days,
        change_ip,
        select_replacement,
        custom_credentials,
        random_credentials,
        max_batch_size,
    } = capabilities;
    Capabilities {
        purchase: purchase.map(term_rule),
        renew: renew.map(term_rule),
        convert_trial: convert_trial.map(term_rule),
        trial_days: trial_days.map(i64::from),
        change_ip,
        select_replacement,
        custom_credentials,
        random_credentials,
        max_batch_size: max_batch_size.map(i64::from),
    }
}

fn term_rule(rule: instance::TermRule) -> TermRule {
    let instance::TermRule { allowed_days, min_days, max_days, step_days } = rule;
    TermRule {
        allowed_days: allowed_days.map(|days| days.into_iter().map(i64::from).collect()),
        min_days: min_days.map(i64::from),
        max_days: max_days.map(i64::from),
        step_days: step_days.map(i64::from),
    }
}
