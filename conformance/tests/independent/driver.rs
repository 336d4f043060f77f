//! Runs the suite against a server of this test. All that is used of the suite's API stands here.

use std::net::Ipv4Addr;
use std::time::{Duration, Instant};

use sallyport_conformance::check::Severity;
use sallyport_conformance::run::{Glob, Profile};
use sallyport_conformance::target::{Fact, GatewayPool, KnownGateway, KnownInstance, KnownOrder};
use sallyport_conformance::{
    Contract, Facts, Options, Outcome, Secret, Selection, SilentObserver, Suite, Target, Verdict,
};
use serde_json::json;

use crate::faults::Fault;
use crate::server::Server;
use crate::server::behaviour::{Decisions, Size};
use crate::server::time::Time;
use crate::server::world::{self, Instance, MAIN_AT, SECOND_AT, World};

/// How the suite is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Full,
    Production,
    Token,
    ProductionToken,
}

impl Mode {
    pub(crate) const ALL: [(&'static str, Self); 4] = [
        ("full", Self::Full),
        ("production", Self::Production),
        ("token", Self::Token),
        ("production-token", Self::ProductionToken),
    ];

    fn has_facts(self) -> bool {
        matches!(self, Self::Full | Self::Production)
    }

    fn profile(self) -> Profile {
        match self {
            Self::Full | Self::Token => Profile::Full,
            Self::Production | Self::ProductionToken => Profile::Production,
        }
    }
}

/// What came out of a run.
#[derive(Debug, Clone)]
pub(crate) struct RunResult {
    pub(crate) verdict: Verdict,
    /// Findings of failed checks: check, clause, and what was expected and found.
    pub(crate) failures: Vec<(String, String, String)>,
    /// Warnings, in the same form.
    pub(crate) warnings: Vec<(String, String, String)>,
    /// Checks without a result or with changing ones, with the reason.
    pub(crate) unsettled: Vec<String>,
    pub(crate) stopped: Option<String>,
    pub(crate) requests: u64,
    pub(crate) gateways: u64,
    pub(crate) elapsed: Duration,
    /// How often a request came to the place of the fault.
    pub(crate) reached: usize,
    /// The cases of the checks that ran, by check.
    pub(crate) cases: Vec<(String, String)>,
    /// The failing ones: the check that found something, and the check and label of the case.
    pub(crate) failing: Vec<(String, String, String)>,
}

impl RunResult {
    /// Whether the run shows the fault.
    pub(crate) fn is_caught(&self, fault: &Fault) -> bool {
        self.verdict == Verdict::Findings && !self.failures.is_empty()
            || fault.is_inferred && self.warnings.iter().any(|(_, clause, _)| clause == fault.clause)
    }

    /// Whether a finding names the fault's clause.
    pub(crate) fn cites(&self, clause: &str) -> bool {
        self.failures.iter().chain(&self.warnings).any(|(_, cited, _)| cited == clause)
    }
}

/// When a run ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EndOfRun {
    /// The first failure.
    Failure,
    /// The last check.
    End,
    /// The last check, and nothing is tried again.
    EndOnce,
}

/// Runs the suite against a server with a fault: the checks of its clause first, and all of them when those show
/// nothing; one failure suffices. A production run chooses its checks by what they cost together, so that it is never narrowed.
pub(crate) fn run_fault(fault: &Fault, mode: Mode) -> RunResult {
    if mode.profile() == Profile::Full {
        let narrow = run(fault.id, decisions_of(fault), mode, &[fault.clause], EndOfRun::Failure);
        if narrow.is_caught(fault) {
            return narrow;
        }
    }
    run(fault.id, decisions_of(fault), mode, &["*"], EndOfRun::Failure)
}

/// The same, with all failing cases of the checks that were run.
pub(crate) fn record_fault(fault: &Fault) -> RunResult {
    let narrow = run(fault.id, decisions_of(fault), Mode::Full, &[fault.clause], EndOfRun::EndOnce);
    if narrow.failing.is_empty() {
        return run(fault.id, decisions_of(fault), Mode::Full, &["*"], EndOfRun::EndOnce);
    }
    narrow
}

pub(crate) fn decisions_of(fault: &Fault) -> Decisions {
    // The first text of an address can only be told from the last where a spelling matters.
    Decisions { stored_spelling_only: fault.clause == "search.ips-first-text", ..Decisions::default() }
}

/// Runs the suite once.
pub(crate) fn run(
    fault: &str,
    decisions: Decisions,
    mode: Mode,
    only: &[&str],
    until: EndOfRun,
) -> RunResult {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let size = decisions.size;
        let server = Server::new(fault, decisions);
        let (address, accept) = server.listen().await.expect("a port of the loopback interface");
        let facts = if mode.has_facts() { facts(size) } else { Facts::default() };
        let token = Secret::new("API_KEY", world::MAIN);
        let target =
            Target::new(&format!("http://{address}"), token, facts, false).expect("a loopback address");
        let mut budget = mode.profile().budget();
        // Loopback needs no slow pace. The account is larger than most: a whole run that ends at the ceiling of requests
        // would say nothing of the checks behind it.
        budget.rate = None;
        if mode.profile() == Profile::Full {
            budget.requests *= 4;
        }
        let selection =
            Selection { only: only.iter().map(|glob| Glob::new(*glob)).collect(), skip: Vec::new() };
        let options = Options {
            selection,
            profile: mode.profile(),
            budget,
            fail_fast: until == EndOfRun::Failure,
            retries: u32::from(until != EndOfRun::EndOnce),
            ..Options::default()
        };
        let contract = Contract::embedded().expect("the contract is generated");
        let begun = Instant::now();
        let report = Suite::new(contract, &target, options).expect("a suite").run(&SilentObserver).await;
        accept.abort();
        let has_panicked = server.has_panicked.load(std::sync::atomic::Ordering::Relaxed);
        assert!(!has_panicked, "the server panicked with `{fault}`");
        let mut measured = RunResult {
            verdict: report.verdict,
            failures: Vec::new(),
            warnings: Vec::new(),
            unsettled: Vec::new(),
            stopped: report.stopped.clone(),
            requests: report.usage.requests,
            gateways: report.usage.gateways,
            elapsed: begun.elapsed(),
            reached: server.fault.reached.load(std::sync::atomic::Ordering::Relaxed),
            cases: Vec::new(),
            failing: report.failing_cases().map(owned).collect(),
        };
        for check in &report.checks {
            measured.cases.extend(check.cases.iter().map(|case| (check.id.to_owned(), case.label.clone())));
            match &check.outcome {
                Outcome::Flaky(reason) | Outcome::Inconclusive(reason) | Outcome::Error(reason) => {
                    measured.unsettled.push(format!("{}: {reason}", check.id));
                }
                _ => {}
            }
            for finding in &check.findings {
                let text = format!("expected {}, found {}", finding.expected, finding.actual);
                let entry = (check.id.to_owned(), finding.clause.to_string(), text);
                match (&check.outcome, finding.severity) {
                    (Outcome::Failed, Severity::Fail) => measured.failures.push(entry),
                    (Outcome::Failed | Outcome::Warning, Severity::Warn) => measured.warnings.push(entry),
                    _ => {}
                }
            }
        }
        measured
    })
}

fn owned((judge, check, label): (&str, &str, &str)) -> (String, String, String) {
    (judge.to_owned(), check.to_owned(), label.to_owned())
}

/// All that a tester can know of the server's data.
pub(crate) fn facts(size: Size) -> Facts {
    let world = world::build(size);
    let own = addresses(&world, MAIN_AT);
    let foreign: Vec<String> =
        addresses(&world, SECOND_AT).into_iter().filter(|ip| !own.contains(ip)).collect();
    let secret = |fact: Fact, value: &str| Some(Secret::new(fact.variable(), value));
    let mut orders: Vec<KnownOrder> = Vec::new();
    for instance in &world.accounts[MAIN_AT].instances {
        let address = instance.ip.to_string();
        match orders.iter_mut().find(|order| order.number == instance.order) {
            Some(order) if order.addresses.contains(&address) || order.addresses.len() > 9 => {}
            Some(order) => order.addresses.push(address),
            None => orders.push(KnownOrder { number: instance.order.clone(), addresses: vec![address] }),
        }
    }
    let passwords = [MAIN_AT, SECOND_AT].into_iter().flat_map(|at| {
        let all = &world.accounts[at].instances;
        all.iter().take(2).chain(all.iter().skip(2).step_by(5)).map(|instance| instance.password.clone())
    });
    Facts {
        own_addresses: own,
        orders,
        foreign_addresses: foreign,
        foreign_order: Some(world.accounts[SECOND_AT].instances[0].order.clone()),
        foreign_group: Some(44),
        shared_address: Some(world::v4(0).to_string()),
        second_token: secret(Fact::SecondToken, world::SECOND),
        empty_token: secret(Fact::EmptyToken, world::EMPTY),
        link_credential: secret(Fact::LinkCredential, world::LINK),
        revoked_token: secret(Fact::RevokedToken, world::REVOKED),
        token_not_whitelisted: secret(Fact::TokenNotWhitelisted, world::NOT_WHITELISTED),
        token_not_verified: secret(Fact::TokenNotVerified, world::NOT_VERIFIED),
        token_not_entitled: secret(Fact::TokenNotEntitled, world::NOT_ENTITLED),
        token_partly_entitled: secret(Fact::TokenPartlyEntitled, world::PARTLY),
        plentiful_region: Some(world::PLENTIFUL.into()),
        scarce_region: Some(world::SCARCE.into()),
        empty_region: Some(world::EMPTY_REGION.into()),
        known_gateways: world
            .gateways
            .iter()
            .filter(|((region, _), gateways)| *region != "GLOBAL" && !gateways.is_empty())
            .map(|((region, protocol), gateways)| GatewayPool {
                region: (*region).into(),
                protocol: (*protocol).into(),
                gateways: gateways
                    .iter()
                    .map(|gateway| KnownGateway { host: gateway.host.clone(), port: gateway.port })
                    .collect(),
            })
            .collect(),
        entitled_protocols: vec!["http".into(), "socks5".into()],
        own_groups: world.accounts[MAIN_AT].groups.iter().map(|group| group.id).collect(),
        known_instances: world.accounts[MAIN_AT].instances.iter().step_by(7).map(known).collect(),
        rejected_tokens: Vec::new(),
        egress_ip: Some(Ipv4Addr::LOCALHOST),
        canaries: passwords.map(|password| Secret::new(Fact::Canaries.variable(), password)).collect(),
    }
}

fn known(instance: &Instance) -> KnownInstance {
    let time = |time: &Option<Time>| time.as_ref().map_or(json!(null), |time| json!(time.text));
    let fields = json!({
        "instanceId": instance.id, "offerId": instance.offer, "status": instance.status,
        "countryCode": instance.country, "cityCode": instance.city, "ispType": instance.isp,
        "expiresAt": time(&instance.expires), "activatedAt": time(&instance.activated), "groupId": instance.group,
    });
    KnownInstance {
        ip: instance.ip,
        spelling: instance.ip.to_string(),
        port: instance.port.into(),
        order: Some(instance.order.clone()),
        fields: fields.as_object().cloned().unwrap_or_default(),
    }
}

fn addresses(world: &World, account: usize) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for instance in &world.accounts[account].instances {
        let address = instance.ip.to_string();
        if all.last() != Some(&address) {
            all.push(address);
        }
    }
    all
}
