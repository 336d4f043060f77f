//! What the tests of several folders use.

pub(crate) mod frames;
pub(crate) mod identity;
pub(crate) mod paused_store;
pub(crate) mod server_process;
pub(crate) mod shared_buffer;
pub(crate) mod tls_client;
pub(crate) mod wire;
