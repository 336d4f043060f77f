//! `conformance faults`, `variations` and `proxy`.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use clap::Args;
use sallyport_conformance::config::{Connection, advice, integer};
use sallyport_conformance::contract::{Clause, OperationId};
use sallyport_conformance::lab::{
    self, Backend, Control, Entry, Journal, Lab, LocalOnly, Proxy, ProxyOptions, Row, Scenarios,
};
use sallyport_conformance::report::{plain, quantity};
use sallyport_conformance::run::{Glob, Stopper};
use sallyport_conformance::wire::WireOptions;
use sallyport_conformance::{Contract, Target, Verdict};
use serde_json::json;

use super::UsageError;
use super::arguments::{ListFormat, loopback};
use super::output::{listed, print};
use super::run::with_target;
use super::setup::Setup;
use super::signals::Signals;

#[cfg(feature = "embedded")]
pub(crate) use sallyport_conformance::lab::SandboxTokens;
/// Not read: without the embedded server, --embedded is an error.
#[cfg(not(feature = "embedded"))]
pub(crate) type SandboxTokens = String;

/// What the lab serves, and where.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("backend").required(true).multiple(true).args(["upstream", "embedded", "config"]))]
pub(crate) struct ProxyArguments {
    /// Proxy the service at this URL, for example https://staging.example.com. Its redirects are passed on, not followed.
    #[arg(long, value_name = "URL")]
    pub(crate) upstream: Option<String>,
    /// Proxy the embedded reference server with sample data.
    #[arg(long, conflicts_with_all = ["upstream", "config", "connection"])]
    pub(crate) embedded: bool,
    /// Choose the tokens of the embedded server: `random`, `fixed` for the same ones each time, or a seed such as 7 for others
    /// [default: random]. Everybody who has this program can know tokens that are not random.
    #[arg(long, value_name = "TOKENS", conflicts_with_all = ["upstream", "config"])]
    pub(crate) sandbox_tokens: Option<SandboxTokens>,
    /// Choose the output format; json prints an object with the addresses and, with --embedded, the token, then one object for
    /// each request, each on a line.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ListFormat::Text, hide_possible_values = true)]
    pub(crate) output: ListFormat,
    /// Take the upstream, its token and the facts from this configuration file, as `run` does. --upstream and environment
    /// variables take precedence over it.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Break a clause in this way, for example search.paging/overlap; may be repeated. `conformance faults` lists the ids.
    #[arg(long, value_name = "ID")]
    pub(crate) fault: Vec<String>,
    /// Decide unspecified behaviour in this way, for example http.in-pieces; may be repeated. `conformance variations` lists the
    /// ids.
    #[arg(long, value_name = "ID")]
    pub(crate) variation: Vec<String>,
    /// Play the scenarios of this file, for example busy.toml.
    #[arg(long, value_name = "FILE")]
    pub(crate) scenario: Option<PathBuf>,
    /// Choose a variation at random for each request, so that clients cannot rely on unspecified behaviour.
    #[arg(long)]
    pub(crate) pedantic: bool,
    /// Choose the variations of --pedantic by this seed, for example 7 [default: a random one, which is printed].
    #[arg(long, value_name = "N", requires = "pedantic", value_parser = integer::<u64>(0..=u64::MAX))]
    pub(crate) seed: Option<u64>,
    /// Listen on this address; port 0 chooses a free one.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    pub(crate) listen: SocketAddr,
    /// Serve the control endpoint (change and reset scenarios, read the log) on this loopback address.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0", value_parser = loopback)]
    pub(crate) control: SocketAddr,
    #[command(flatten)]
    pub(crate) connection: Connection,
}

pub(crate) fn faults(glob: Option<&Glob>, clause: Option<&str>, json: bool) -> Result<String, UsageError> {
    let known = Clause::ALL.iter().map(|clause| clause.id());
    let otherwise = "`conformance list` names those with checks";
    let parse = |id| Clause::from_id(id).ok_or_else(|| unknown("clause", id, known, otherwise));
    let clause = clause.map(parse).transpose()?;
    let is_chosen = |fault: &&Row| clause.is_none_or(|clause| fault.clause() == clause);
    let faults = matching(lab::faults().iter().filter(is_chosen), glob, "fault", "search.paging/*")?;
    let object = |fault: &&Row| {
        let operations = names(&fault.operations());
        json!({ "id": fault.id, "clause": fault.clause(), "breaks": fault.breaks, "operations": operations })
    };
    let line = |fault: &&Row| {
        format!("{}  {}  [{}]\n", fault.id, fault.breaks, names(&fault.operations()).join(", "))
    };
    listed(&faults, json, object, line)
}

pub(crate) fn variations(glob: Option<&Glob>, json: bool) -> Result<String, UsageError> {
    let variations = matching(lab::variations().iter(), glob, "variation", "http.*")?;
    let object = |variation: &&Row| json!({ "id": variation.id, "decides": variation.breaks });
    let line = |variation: &&Row| format!("{}  {}\n", variation.id, variation.breaks);
    listed(&variations, json, object, line)
}

fn matching<'r>(
    rows: impl Iterator<Item = &'r Row>,
    glob: Option<&Glob>,
    kind: &str,
    example: &str,
) -> Result<Vec<&'r Row>, UsageError> {
    let rows: Vec<&Row> = rows.filter(|row| glob.is_none_or(|glob| glob.matches(&row.id))).collect();
    match glob.filter(|_| rows.is_empty()) {
        None => Ok(rows),
        Some(glob) => {
            let pattern = glob.as_str();
            Err(format!("`{pattern}` matches no {kind}; expected a pattern such as '{example}'").into())
        }
    }
}

fn names(operations: &[OperationId]) -> Vec<&'static str> {
    operations.iter().map(|operation| operation.id()).collect()
}

/// `conformance proxy`: serves until Ctrl-C or SIGTERM.
pub(crate) async fn proxy(mut arguments: ProxyArguments) -> Result<Verdict, UsageError> {
    // Before anything else, so that an early Ctrl-C ends it properly.
    let stopper = Stopper::default();
    Signals::listen(stopper.clone(), Signals::TIME, Verdict::Conforms)?;
    // Reject unknown ids before anything listens.
    let faults = named("fault", &arguments.fault, lab::faults())?;
    let variations = named("variation", &arguments.variation, lab::variations())?;
    let scenarios = match &arguments.scenario {
        Some(file) => Scenarios::read(file)?,
        None => Scenarios::default(),
    };
    let upstream = (!arguments.embedded).then(|| Setup::of_upstream(&mut arguments)).transpose()?;
    let (target, options) = upstream.unzip();
    let options = options.unwrap_or_default();
    let tokens = arguments.sandbox_tokens.take();
    with_target(target, tokens, async |target| {
        serve(&arguments, (target, &options), &stopper, faults, variations, Arc::new(scenarios)).await
    })
    .await
}

async fn serve(
    arguments: &ProxyArguments,
    (target, options): (&Target, &WireOptions),
    stopper: &Stopper,
    faults: Vec<&'static Row>,
    variations: Vec<&'static Row>,
    scenarios: Arc<Scenarios>,
) -> Result<Verdict, UsageError> {
    let contract = Contract::embedded()?;
    let is_json = arguments.output == ListFormat::Json;
    let (requests, changed) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let journal = Arc::new(Journal::observed({
        let (requests, changed) = (Arc::clone(&requests), Arc::clone(&changed));
        move |entry: &Entry| {
            requests.fetch_add(1, Ordering::Relaxed);
            changed.fetch_add(u64::from(!entry.changes.is_empty()), Ordering::Relaxed);
            print(&if is_json { format!("{}\n", json!(entry)) } else { line(entry) });
        }
    }));
    let capitals = variations.iter().any(|variation| variation.has_capitals());
    let mut text = String::new();
    let mut note = |label: &str, words: &str| _ = writeln!(text, "{label:>10} {words}");
    let mut lab = Lab::new(Backend::connected(contract, target, options)?).journal(&journal);
    for variation in variations {
        note("variation", &format!("{}: {}", variation.id, variation.breaks));
        lab = lab.row(variation);
    }
    for fault in faults {
        note("fault", &format!("{}: {}", fault.id, fault.breaks));
        let lacks = fault.lacks(Setup::has_token(target), &target.facts);
        if !lacks.is_empty() {
            note("warning", &format!("{} changes nothing without {}", fault.id, lacks.join(" and ")));
        }
        lab = lab.row(fault);
    }
    if arguments.pedantic {
        let seed = arguments.seed.unwrap_or_else(|| fastrand::u64(..1 << 32));
        note("pedantic", &format!("another variation for each request; --seed {seed} repeats them"));
        lab = lab.pedantic(seed);
    }
    for name in scenarios.names() {
        note("scenario", &plain(&name));
    }
    if let Some(file) = &arguments.scenario
        && !scenarios.names().iter().any(|name| name == lab::DEFAULT)
    {
        let file = file.display().to_string();
        let words = "requests without X-Lab-Scenario pass unchanged";
        note("warning", &format!("{} has no scenario `{}`: {words}", plain(&file), lab::DEFAULT));
    }
    let mut upstream = lab.scenarios(&scenarios).into_upstream();
    if arguments.listen.ip().is_loopback() {
        upstream = lab::Upstream::new(LocalOnly(upstream));
    }
    let options = ProxyOptions { address: arguments.listen, capitals, ..ProxyOptions::default() };
    let bound = |address| move |error| UsageError::from(format!("cannot listen on {address}: {error}"));
    let proxy = Proxy::start_with(upstream, options).await.map_err(bound(arguments.listen))?;
    if !arguments.listen.ip().is_loopback() {
        note("warning", "other machines can reach this address, and tokens reach it unencrypted");
    }
    let options = ProxyOptions { address: arguments.control, ..ProxyOptions::default() };
    let control = lab::Upstream::new(Control::new(&scenarios, &journal));
    let control = Proxy::start_with(control, options).await.map_err(bound(arguments.control))?;

    let (base, control_base, groups) = (proxy.base_url(), control.base_url(), contract.groups());
    let behind = if arguments.embedded { "the embedded server" } else { target.base().as_str() };
    // A token of sample data, which only the embedded server knows.
    let token = arguments.embedded.then(|| target.token.expose());
    if is_json {
        let mut started = json!({ "baseUrl": base, "control": control_base, "upstream": behind });
        started["notes"] = text.lines().map(str::trim).collect();
        if let Some(token) = token {
            started["token"] = token.into();
        }
        print(&format!("{started}\n"));
    } else {
        let (path, name) = (&groups.path, &groups.api_key.name);
        let export = token.map(|token| format!("       try export SALLYPORT_API_KEY={token}\n"));
        print(&format!(
            "       lab {base} in front of {}\n   control {control_base}\n{text}{}       try \
            curl --get '{base}{path}' --data-urlencode \"{name}=$SALLYPORT_API_KEY\"\n\n",
            plain(behind),
            export.unwrap_or_default(),
        ));
    }
    stopper.stopped().await;
    if !is_json {
        let requests = quantity(requests.load(Ordering::Relaxed), "request");
        print(&format!("\n{requests}, {} changed\n", changed.load(Ordering::Relaxed)));
    }
    Ok(Verdict::Conforms)
}

fn line(entry: &Entry) -> String {
    let Entry { number, method, operation, scenario, request_id, status, elapsed_ms, changes } = entry;
    let operation = operation.unwrap_or("(another path)");
    let of = scenario.as_deref().map(|run| format!(" ({})", plain(run))).unwrap_or_default();
    let id = request_id.map(|id| format!(", request id {id}")).unwrap_or_default();
    let mut text = format!("{number:>5} {method} {operation} {status} {elapsed_ms} ms{id}{of}\n");
    for change in changes {
        let _ = writeln!(text, "      {}: {}", plain(&change.by), plain(&change.what.join(", ")));
    }
    text
}

fn named<'r>(kind: &str, ids: &[String], all: &'r [Row]) -> Result<Vec<&'r Row>, UsageError> {
    let named = |id: &String| {
        let lists = format!("`conformance {kind}s` lists them");
        let known = all.iter().find(|row| row.id == *id);
        known.ok_or_else(|| unknown(kind, id, all.iter().map(|row| &*row.id), &lists))
    };
    ids.iter().map(named).collect()
}

/// The error of an unknown id, with the nearest known one.
pub(super) fn unknown<'a>(
    kind: &str,
    id: &str,
    known: impl Iterator<Item = &'a str>,
    otherwise: &str,
) -> UsageError {
    format!("unknown {kind} `{id}`; {}", advice(id, known, otherwise)).into()
}
