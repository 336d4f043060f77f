//! Handlers: they destructure a parsed request, call the domain and build the response. Requests are destructured without `..`, so
//! that a new parameter or field does not compile until its handling is written.

mod extract;
mod listings;
mod search;

use dropshot::ApiDescription;

use crate::{
    api::generated::each_operation,
    domain::access::Purpose,
    edge::{
        operation::{Call, Handler},
        registration::register,
        serve::Context,
    },
};

/// The API of this server, with all methods of all its paths. An operation without a handler does not compile.
pub(crate) fn api() -> Result<ApiDescription<Context>, String> {
    let mut api = ApiDescription::new();
    macro_rules! register_each {
        ($($operation:ty,)+) => {
            $(register::<$operation>(&mut api).map_err(|error| error.to_string())?;)+
        };
    }
    each_operation!(register_each);
    Ok(api)
}
