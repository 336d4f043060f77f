//! The lab over real sockets: scenarios, transport faults, the control endpoint, and the program `proxy`.

#![expect(clippy::expect_used, reason = "a test that cannot go on has failed")]

mod every_fault;
mod for_users;
mod program;
mod scenarios;
mod scripts;
mod transport;

use std::path::Path;
use std::sync::Arc;

use sallyport_conformance::Contract;
use sallyport_conformance::embedded::Reference;
use sallyport_conformance::lab::{Backend, Control, Journal, Lab, Proxy, ProxyOptions, Scenarios, Upstream};

use crate::support::program as program_run;

/// A lab in front of the embedded server.
pub(crate) struct Running {
    pub(crate) reference: Reference,
    pub(crate) proxy: Proxy,
    pub(crate) control: Proxy,
    pub(crate) journal: Arc<Journal>,
    pub(crate) http: reqwest::Client,
}

impl Running {
    /// A lab that plays scenarios.
    pub(crate) async fn start(scenarios: &str) -> Self {
        Self::with(scenarios, |lab| lab).await
    }

    /// The same with further layers behind the scenarios.
    pub(crate) async fn with(scenarios: &str, layers: impl FnOnce(Lab) -> Lab) -> Self {
        let reference = Reference::start().await.expect("the reference server starts");
        let contract = Contract::embedded().expect("the contract");
        let backend = Backend::new(contract, reference.target()).expect("a client");
        let scenarios = Arc::new(Scenarios::parse(Path::new("test.toml"), scenarios).expect("scenarios"));
        let journal = Arc::new(Journal::default());
        let lab = layers(Lab::new(backend)).scenarios(&scenarios).journal(&journal);
        let proxy = Proxy::start(lab.into_upstream()).await.expect("a port");
        let control = Upstream::new(Control::new(&scenarios, &journal));
        let control = Proxy::start_with(control, ProxyOptions::default()).await.expect("a port");
        let http = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none());
        Self { reference, proxy, control, journal, http: http.build().expect("a client") }
    }

    pub(crate) fn token(&self) -> &str {
        self.reference.target().token.expose()
    }

    /// A listing through the lab.
    pub(crate) fn groups(&self) -> reqwest::RequestBuilder {
        let url = format!("{}/openapi/v1/static/groups", self.proxy.base_url());
        self.http.get(url).query(&[("api_key", self.token())])
    }

    /// The status of a listing.
    pub(crate) async fn status(&self) -> u16 {
        self.groups().send().await.expect("a response").status().as_u16()
    }
}
