//! `searchStaticInstances`.

use crate::{
    api::generated::{
        Capabilities, InstanceStatus, SearchData, SearchStaticInstances, SearchStaticInstancesCacheControl,
        SearchStaticInstancesHeaders, SearchStaticInstancesRequest, SearchSuccess, StaticInstance, TermRule,
    },
    domain::{
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
        types::{
            address::IpEndpoint,
            integer::{BoundedInteger, OutOfRange},
            value::Tristate,
        },
    },
};

impl Handler for SearchStaticInstances {
    const PURPOSE: Purpose = Purpose::Static;

    async fn handle(
        call: Call<'_>,
        request: SearchStaticInstancesRequest,
    ) -> Result<Success<Self>, ApiError> {
        let SearchStaticInstancesRequest {
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
            credential,
        } = request;
        let group = match group_id {
            Tristate::Omitted | Tristate::Null => GroupSelection::Any,
            Tristate::Value(id) => Id::new(id.get()).map_or(GroupSelection::Ungrouped, GroupSelection::Group),
        };
        let status = status.map(|status| match status {
            InstanceStatus::Provisioning => Status::Provisioning,
            InstanceStatus::Active => Status::Active,
            InstanceStatus::Expired => Status::Expired,
            InstanceStatus::Cancelled => Status::Cancelled,
            InstanceStatus::Failed => Status::Failed,
        });
        let command = SearchCommand {
            addresses: ips.into_vec().into_iter().map(IpEndpoint::get).collect(),
            filters: Filters {
                order_no,
                group,
                country_code,
                city_code,
                status,
                activated_from,
                activated_to,
            },
            page: page.to_u32(),
            page_size: page_size.to_u32(),
        };
        let found = call.service.search(&credential, command).await?;

        let content = Content::Json(SearchSuccess {
            code: Constant,
            message: "ok".to_owned(),
            request_id: call.request_id.to_owned(),
            data: SearchData {
                items: found.items.into_iter().map(item).collect::<Result<_, _>>()?,
                page: BoundedInteger::new(page.get())?,
                page_size: BoundedInteger::new(page_size.get())?,
                total: BoundedInteger::new(found.total)?,
            },
        });
        let headers = SearchStaticInstancesHeaders {
            cache_control: SearchStaticInstancesCacheControl::NoStore,
            x_request_id: call.request_id.to_owned(),
        };
        Ok(Success { content, headers })
    }
}

fn item(instance: Instance) -> Result<StaticInstance, ApiError> {
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
    Ok(StaticInstance {
        instance_id: BoundedInteger::new(id)?,
        offer_id: BoundedInteger::new(offer_id)?,
        status,
        ip: ip.to_string(),
        port: BoundedInteger::new(port)?,
        protocols,
        country_code,
        city_code,
        isp_type: BoundedInteger::new(isp_type)?,
        expires_at,
        activated_at,
        capabilities: declared(capabilities)?,
        group_id: group_id.map(BoundedInteger::new).transpose()?,
    })
}

fn declared(capabilities: instance::Capabilities) -> Result<Capabilities, OutOfRange> {
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
    Ok(Capabilities {
        purchase: purchase.map(term_rule).transpose()?,
        renew: renew.map(term_rule).transpose()?,
        convert_trial: convert_trial.map(term_rule).transpose()?,
        trial_days: trial_days.map(BoundedInteger::new).transpose()?,
        change_ip,
        select_replacement,
        custom_credentials,
        random_credentials,
        max_batch_size: max_batch_size.map(BoundedInteger::new).transpose()?,
    })
}

fn term_rule(rule: instance::TermRule) -> Result<TermRule, OutOfRange> {
    let instance::TermRule { allowed_days, min_days, max_days, step_days } = rule;
    Ok(TermRule {
        allowed_days: allowed_days.map(|days| days.into_iter().map(i64::from).collect()),
        min_days: min_days.map(BoundedInteger::new).transpose()?,
        max_days: max_days.map(BoundedInteger::new).transpose()?,
        step_days: step_days.map(BoundedInteger::new).transpose()?,
    })
}
