//! Runs a command once for each case, side by side, and kills what outlives its time.

use std::ffi::OsString;
use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use futures::StreamExt as _;
use serde_json::json;

use super::case::{CaseToken, ClientCase, Place, Places};
use super::command::execute;
use super::error::ClientSuiteError;
use super::evidence::{Evidence, Exit, ids};
use super::folding;
use super::outcome;
use super::recorder::{Elsewhere, OwnRequestIds, Recorder};
use super::report::ClientReport;
use super::result::{ClientCaseResult, ClientFinding};
use crate::check::{InferredClauses, Outcome};
use crate::checks::UNKNOWN_TOKEN;
use crate::contract::Contract;
use crate::embedded::Reference;
use crate::lab::{Backend, Lab, ProxiedRequest, Proxy, ProxyOptions, Scenarios, Upstream};
use crate::lock;
use crate::run::Glob;
use crate::target::Secret;

/// Number of addresses that a search asks for. They hold more than ten instances, a number at which careless clients stop.
const ADDRESSES: usize = 6;

/// Number of cases after which a run ends, if the command has neither sent a request nor answered in any of them.
const MOST_IDLE: usize = 8;

/// A client to test.
#[derive(Debug, Clone)]
pub struct ClientSuite {
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// Only cases whose id or duty matches; all of them when it is empty.
    pub only: Vec<Glob>,
    /// Maximum number of cases at the same time. Default: 8.
    pub concurrency: usize,
    /// What findings count on what the contract presupposes and does not state. Default: as failures.
    pub inferred: InferredClauses,
    /// The tester's own tokens. The command gets no variable `SALLYPORT_…` of the tester, and no report shows them.
    pub secrets: Vec<Secret>,
}

impl ClientSuite {
    /// All cases, eight at a time.
    #[must_use]
    pub fn new(command: Vec<OsString>) -> Self {
        Self {
            command,
            only: Vec::new(),
            concurrency: 8,
            inferred: InferredClauses::default(),
            secrets: Vec::new(),
        }
    }

    /// Runs the cases. `finished` receives each result.
    ///
    /// # Errors
    /// Nothing ran: the command cannot be started, or the lab cannot be set up.
    pub async fn run(&self, finished: impl Fn(&ClientCaseResult)) -> Result<ClientReport, ClientSuiteError> {
        self.run_until(std::future::pending(), finished).await
    }

    /// Runs the cases until `stopped` ends: then commands are killed, and cases without a result are errors.
    ///
    /// # Errors
    /// Nothing ran: the command cannot be started, or the lab cannot be set up.
    pub async fn run_until(
        &self,
        stopped: impl Future<Output = ()>,
        finished: impl Fn(&ClientCaseResult),
    ) -> Result<ClientReport, ClientSuiteError> {
        let begun = (Instant::now(), jiff::Timestamp::now());
        let program = self.command.first().ok_or(ClientSuiteError::NoCommand)?;
        let reference = Reference::start().await?;
        let contract = Contract::embedded().map_err(ClientSuiteError::lab)?;
        let world = World::new(contract, &reference).await?;
        let cases = self.cases(contract, &world.addresses)?;
        let running = cases.iter().map(|case| world.result(case, self));
        let mut running = futures::stream::iter(running).buffer_unordered(self.concurrency.max(1));
        let mut results = Vec::new();
        let mut stopped = std::pin::pin!(stopped);
        let stopped = loop {
            let result = tokio::select! {
                result = running.next() => result,
                () = &mut stopped => break Some("the run was interrupted"),
            };
            let Some(result) = result.transpose()? else { break None };
            finished(&result);
            results.push(result);
            // For instance, the script that an interpreter is to run is missing.
            if results.len() == MOST_IDLE && results.iter().all(ClientCaseResult::never_began) {
                break Some("in none of them did the command send a request or answer");
            }
        };
        // Commands that are still running are killed when they are dropped.
        drop(running);
        if let Some(reason) = stopped {
            let has_result = |case: &&ClientCase| results.iter().any(|result| result.id == case.id);
            let rest: Vec<_> = cases.iter().filter(|case| !has_result(case)).collect();
            results.extend(rest.into_iter().map(|case| ClientCaseResult::not_run(case, reason)));
        }
        // In the order of the cases, whichever ended first.
        results.sort_by_key(|result| cases.iter().position(|case| case.id == result.id));
        folding::refer(&cases, &mut results);
        reference.close().await;
        let program = Path::new(program).file_name().unwrap_or(program).to_string_lossy().into_owned();
        Ok(ClientReport::new(contract, program, begun, results))
    }

    /// The cases that run. `addresses` are those that hold instances in the sandbox.
    ///
    /// # Errors
    /// A pattern fits no case.
    pub fn cases(
        &self,
        contract: &'static Contract,
        addresses: &[String],
    ) -> Result<Vec<ClientCase>, ClientSuiteError> {
        let cases = super::cases(contract, addresses);
        let fits = |case: &ClientCase, glob: &Glob| glob.matches(&case.id) || glob.matches(case.duty.id());
        if let Some(idle) = self.only.iter().find(|glob| !cases.iter().any(|case| fits(case, glob))) {
            return Err(ClientSuiteError::Idle(idle.as_str().to_owned()));
        }
        let is_chosen =
            |case: &ClientCase| self.only.is_empty() || self.only.iter().any(|glob| fits(case, glob));
        Ok(cases.into_iter().filter(is_chosen).collect())
    }
}

/// What the cases share: the embedded server, and what a search finds there.
struct World {
    contract: &'static Contract,
    backend: Arc<Backend>,
    addresses: Vec<String>,
    instances: Vec<i64>,
}

impl World {
    async fn new(contract: &'static Contract, reference: &Reference) -> Result<Self, ClientSuiteError> {
        let backend = Backend::new(contract, reference.target()).map_err(ClientSuiteError::lab)?;
        let own = &reference.target().facts.own_addresses;
        let addresses: Vec<String> = own.iter().take(ADDRESSES).cloned().collect();
        let search = &contract.search;
        let mut request = ProxiedRequest::new(hyper::Method::POST, &*search.operation.path);
        request
            .headers
            .insert(hyper::header::CONTENT_TYPE, hyper::header::HeaderValue::from_static("application/json"));
        request.set_param(&search.operation.api_key.name, backend.token.expose());
        request.set_json(&json!({
            (search.ips.name.as_str()): addresses,
            (search.page_size.name.as_str()): search.page_sizes.end(),
        }));
        let found = backend.upstream.call(&request).await.json();
        let instances = ids(&found, "instanceId").collect();
        Ok(Self { contract, backend, addresses, instances })
    }

    async fn result(
        &self,
        case: &ClientCase,
        suite: &ClientSuite,
    ) -> Result<ClientCaseResult, ClientSuiteError> {
        let begun = Instant::now();
        let evidence = self.evidence(case, suite).await?;
        let is_skipped =
            evidence.executions.iter().any(|execution| execution.exit == Exit::Code(outcome::NOT_SUPPORTED));
        let mut findings = Vec::new();
        let outcome = if is_skipped {
            Outcome::Skipped(format!("the command does not support `{}`", case.call.operation.name()))
        } else {
            findings = ClientFinding::distinct(outcome::problems(case, &evidence), suite.inferred);
            outcome::of(case, &evidence, &findings)
        };
        if matches!(outcome, Outcome::Error(_)) {
            findings.clear();
        }
        Ok(ClientCaseResult::new(case, &evidence, (outcome, findings), begun.elapsed()))
    }

    /// Executes the command in front of the lab of a case.
    async fn evidence(&self, case: &ClientCase, suite: &ClientSuite) -> Result<Evidence, ClientSuiteError> {
        let token = match case.token {
            CaseToken::Plain => self.backend.token.clone(),
            CaseToken::Base64 => Secret::new("API_KEY", "bGFi+token/of+7d1f=="),
            CaseToken::Unknown => Secret::new("API_KEY", UNKNOWN_TOKEN),
        };
        let leaks = Arc::default();
        let elsewhere = Elsewhere { token: token.clone(), leaks: Arc::clone(&leaks) };
        let other_host = Proxy::start(Upstream::new(elsewhere)).await.map_err(ClientSuiteError::lab)?;

        let upstream = self.backend.upstream.clone();
        let known_as = (case.token == CaseToken::Base64).then(|| (token.clone(), self.backend.token.clone()));
        let own = OwnRequestIds { upstream, contract: self.contract, id: case.id.clone(), known_as };
        let backend = Backend { upstream: Upstream::new(own), ..Backend::clone(&self.backend) };
        let mut layers = Lab::new(Arc::new(backend));
        let mut options = ProxyOptions { capitals: case.capitals, ..ProxyOptions::default() };
        let scenarios = Arc::new(Scenarios::default());
        if let Some(variation) = case.variation {
            options.capitals = variation.has_capitals();
            layers = layers.row(variation);
        }
        if !case.steps.is_empty() {
            layers = layers.scenarios(&scenarios);
        }
        let recorder = Recorder::new(&self.backend, layers.into_upstream());
        let proxy = Proxy::start_with(Upstream::new(Arc::clone(&recorder)), options).await;
        let proxy = proxy.map_err(ClientSuiteError::lab)?;
        let port = proxy.address().port();
        if !case.steps.is_empty() {
            let (service, other_port) = (proxy.base_url(), other_host.address().port().to_string());
            let places = Places { token: token.expose(), service: &service, other_port: &other_port };
            let file = Path::new(&case.id);
            scenarios.replace(file, &case.scenario(&places)).map_err(ClientSuiteError::lab)?;
        }
        let base_url = match &case.place {
            Place::Lab => proxy.base_url(),
            Place::PlainHttp(prefix) => format!("{prefix}{}:{port}", Ipv4Addr::UNSPECIFIED),
            Place::Nobody => format!("http://127.0.0.1:{}", closed_port().map_err(ClientSuiteError::lab)?),
        };
        let mut executions = Vec::new();
        for number in 0..case.executions {
            recorder.execution.store(number, Ordering::Relaxed);
            let first_request = || recorder.first_request(number);
            let secrets = (&token, &*suite.secrets);
            executions.push(execute(&suite.command, case, &base_url, secrets, first_request).await?);
        }
        drop(proxy);
        let asked = case.call.arguments.get(&self.contract.search.ips.name);
        let searches_all = asked == Some(&json!(self.addresses));
        Ok(Evidence {
            operation: case.call.operation,
            executions,
            requests: std::mem::take(&mut *lock(&recorder.recorded)),
            leaks: leaks.load(Ordering::Relaxed),
            instances: if searches_all { self.instances.clone() } else { Vec::new() },
            token,
            secrets: suite.secrets.clone(),
            contract: self.contract,
        })
    }
}

/// A port at which nobody listens.
fn closed_port() -> std::io::Result<u16> {
    std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr().map(|address| address.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_search_finds_more_instances_than_careless_clients_read() {
        let reference = Reference::start().await.expect("the reference server");
        let contract = Contract::embedded().expect("the embedded contract");
        let world = World::new(contract, &reference).await.expect("a world");
        assert!(world.instances.len() > 10, "{:?} hold {:?}", world.addresses, world.instances);
        reference.close().await;
    }
}
