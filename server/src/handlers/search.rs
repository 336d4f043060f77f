//! `searchStaticInstances`.

use super::{Call, Handler, Purpose};
use crate::{
    api::generated::{
        SearchData, SearchStaticInstances, SearchStaticInstancesHeaders, SearchStaticInstancesRequest,
        SearchSuccess,
    },
    domain::{SmolStr, search::SearchQuery},
    edge::responding::{
        api_error::ApiError,
        response::{Constant, Content, Success},
    },
};

impl Handler for SearchStaticInstances {
    const PURPOSE: Purpose = Purpose::Static;

    async fn handle(
        call: Call<'_>,
        request: SearchStaticInstancesRequest,
    ) -> Result<Success<Self>, ApiError> {
        // Every other property is a filter: the lint of the document sees to that.
        let SearchStaticInstancesRequest { mut body } = request;
        let (page, page_size, filters) = (body.page, body.page_size, body.take_filters());
        let query = SearchQuery { addresses: body.ips, filters, page, page_size };
        let found = call.service.search(&call.token, query).await?;
        let request_id = SmolStr::new(call.request_id);
        let data = SearchData {
            items: found.items,
            page: page.into(),
            page_size: page_size.into(),
            total: found.total,
        };
        let content = Content::Json(SearchSuccess {
            code: Constant,
            message: "ok".into(),
            request_id: request_id.clone(),
            data,
        });
        Ok(Success { content, headers: SearchStaticInstancesHeaders { x_request_id: request_id } })
    }
}
