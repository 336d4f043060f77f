//! Runs a command once for each case, side by side, and kills what outlives its time.

use std::ffi::OsString;
use std::net::Ipv4Addr;
use std::path::{Component, Path};
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use futures::StreamExt as _;
use futures::future::BoxFuture;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::json;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Command;

use super::case::{ClientCase, Place, Stage};
use super::duty::Duty;
use super::evidence::{Evidence, Execution, Exit, Problem, Recorded};
use super::protocol::{Input, Operation, Output};
use super::report::{CaseOutcome, ClientCaseResult, ClientFinding, ClientReport};
use crate::contract::Contract;
use crate::embedded::{Reference, ReferenceError};
use crate::lab::{
    self, Backend, Context, Handler, Lab, ProxiedRequest, Proxy, ProxyOptions, Reply, Scenarios, Upstream,
};
use crate::quantity::quantity;
use crate::run::Glob;
use crate::target::Secret;

/// Exit code of a command that does not support an operation.
pub(super) const NOT_SUPPORTED: i32 = 64;

/// A command may take so much longer than the time of the call: it has to start, too.
const GRACE: Duration = Duration::from_secs(2);

/// Then it is killed.
const KILLED_AFTER: Duration = Duration::from_secs(4);

/// What is kept of standard output and standard error, in bytes each (1 MiB).
const MAX_OUTPUT: usize = 1 << 20;

/// What is kept of the requests of a case.
const MAX_REQUESTS: usize = 1_000;

/// Fewest instances that a search of several pages finds.
const INSTANCES: usize = 7;

/// A client to test.
#[derive(Debug, Clone)]
pub struct ClientSuite {
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// Only cases whose id or duty matches; all of them when it is empty.
    pub only: Vec<Glob>,
    /// Maximum number of cases at the same time. Default: 8.
    pub concurrency: usize,
}

/// Why no case ran.
#[derive(Debug, thiserror::Error)]
pub enum ClientSuiteError {
    /// A pattern fits nothing.
    #[error("`{0}` matches no case; see `conformance client --list`")]
    Idle(String),
    /// No command.
    #[error("missing command; expected `conformance client -- COMMAND`")]
    NoCommand,
    /// It does not start.
    #[error("cannot start `{program}`: {reason}")]
    Command {
        /// The program.
        program: String,
        /// Why.
        reason: String,
    },
    /// The embedded server is missing.
    #[error(transparent)]
    Reference(#[from] ReferenceError),
    /// The embedded contract is incomplete, a proxy cannot listen, or TLS cannot be initialised.
    #[error("the lab cannot be set up: {0}")]
    Lab(String),
}

impl ClientSuite {
    /// All cases, eight at a time.
    #[must_use]
    pub fn new(command: Vec<OsString>) -> Self {
        Self { command, only: Vec::new(), concurrency: 8 }
    }

    /// Runs the cases. `finished` is told each result as it comes.
    ///
    /// # Errors
    /// Nothing ran: the command cannot be started, or the lab cannot be set up.
    pub async fn run(&self, finished: impl Fn(&ClientCaseResult)) -> Result<ClientReport, ClientSuiteError> {
        let begun = (Instant::now(), jiff::Timestamp::now());
        let program = self.command.first().ok_or(ClientSuiteError::NoCommand)?;
        let reference = Reference::start().await?;
        let contract = Contract::embedded().map_err(|error| ClientSuiteError::Lab(error.to_string()))?;
        let world = World::new(contract, &reference).await?;
        let cases = self.cases(contract, &world.addresses)?;
        let running = cases.iter().map(|case| world.result(case, &self.command));
        let mut running = futures::stream::iter(running).buffer_unordered(self.concurrency.max(1));
        let mut results = Vec::new();
        while let Some(result) = running.next().await {
            let result = result?;
            finished(&result);
            results.push(result);
        }
        drop(running);
        // In the order of the cases, whichever ended first.
        results.sort_by_key(|result| cases.iter().position(|case| case.id == result.id));
        reference.close().await;
        let program = Path::new(program).file_name().unwrap_or(program).to_string_lossy().into_owned();
        Ok(ClientReport::new(contract, (program, self.source()), begun, results))
    }

    /// The first file below the working folder that the command names.
    fn source(&self) -> Option<String> {
        let is_below = |path: &&Path| {
            let is_plain = |part| matches!(part, Component::Normal(_) | Component::CurDir);
            path.components().all(is_plain) && path.is_file()
        };
        let mut paths = self.command.iter().map(Path::new);
        paths.find(is_below).map(|path| path.to_string_lossy().into_owned())
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
        let backend = Backend::new(contract, reference.target())
            .map_err(|error| ClientSuiteError::Lab(error.to_string()))?;
        let mut world = Self { contract, backend, addresses: Vec::new(), instances: Vec::new() };
        for address in &reference.target().facts.own_addresses {
            world.addresses.push(address.clone());
            world.instances = world.found(&world.addresses).await;
            if world.instances.len() >= INSTANCES {
                break;
            }
        }
        Ok(world)
    }

    /// The ids of the instances at some addresses.
    async fn found(&self, addresses: &[String]) -> Vec<i64> {
        let search = &self.contract.search;
        let mut request = ProxiedRequest {
            method: hyper::Method::POST,
            path: search.operation.path.clone(),
            query: None,
            headers: hyper::HeaderMap::new(),
            body: bytes::Bytes::new(),
        };
        request
            .headers
            .insert(hyper::header::CONTENT_TYPE, hyper::header::HeaderValue::from_static("application/json"));
        request.set_param(&search.api_key.name, self.backend.token.expose());
        request.set_json(&json!({
            (search.ips.name.as_str()): addresses,
            (search.page_size.name.as_str()): search.page_sizes.end(),
        }));
        let body = self.backend.upstream.call(&request).await.json();
        let items = body["data"]["items"].as_array().into_iter().flatten();
        items.filter_map(|item| item["instanceId"].as_i64()).collect()
    }

    async fn result(
        &self,
        case: &ClientCase,
        command: &[OsString],
    ) -> Result<ClientCaseResult, ClientSuiteError> {
        let begun = Instant::now();
        let evidence = self.evidence(case, command).await?;
        let is_skipped =
            evidence.executions.iter().any(|execution| execution.exit == Exit::Code(NOT_SUPPORTED));
        let problems = if is_skipped { Vec::new() } else { all_problems(case, &evidence) };
        let requests = evidence
            .requests
            .iter()
            .map(|recorded| format!("{:.3} s: {}", recorded.at.as_secs_f64(), recorded.line()));
        let mut findings: Vec<ClientFinding> = problems.into_iter().map(ClientFinding::from).collect();
        let outcome = match is_skipped {
            true => {
                CaseOutcome::Skipped(format!("the command does not support `{}`", case.call.operation.name()))
            }
            false => outcome(&evidence, &findings),
        };
        if matches!(outcome, CaseOutcome::Error(_)) {
            findings.clear();
        }
        Ok(ClientCaseResult {
            id: case.id.clone(),
            duty: case.duty,
            title: case.title.clone(),
            outcome,
            findings,
            requests: requests.take(50).collect(),
            standard_error: excerpt(&evidence),
            elapsed_ms: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
        })
    }

    /// Executes the command in front of the lab of a case.
    async fn evidence(&self, case: &ClientCase, command: &[OsString]) -> Result<Evidence, ClientSuiteError> {
        let lab_error = |error: &dyn std::fmt::Display| ClientSuiteError::Lab(error.to_string());
        let token = match case.has_valid_token {
            true => self.backend.token.clone(),
            false => Secret::new("API_KEY", "unknown-token-of-the-lab-7d1f"),
        };
        let elsewhere = Elsewhere::default();
        let other_host =
            Proxy::start(Upstream::new(elsewhere.clone())).await.map_err(|error| lab_error(&error))?;

        let mut layers = Lab::new(Arc::clone(&self.backend));
        let mut options = ProxyOptions::default();
        match &case.stage {
            Stage::Plain => {}
            Stage::Variation(id) => {
                let variation = lab::variations().into_iter().find(|variation| variation.id == *id);
                let variation =
                    variation.ok_or_else(|| ClientSuiteError::Lab(format!("unknown variation `{id}`")))?;
                options.capitals = variation.capitals;
                layers = layers.variation(variation);
            }
            Stage::Scenario(steps) => {
                let url = format!("http://localhost:{}", other_host.address().port());
                // Steps name their operation: `[[groups]]` is the step `[[default.groups]]` of a scenario file.
                let steps = steps.replace("[[", "[[default.").replace("{elsewhere}", &url);
                let steps = steps.replace("{token}", token.expose());
                let scenarios =
                    Scenarios::parse(Path::new(&case.id), &steps).map_err(|error| lab_error(&error))?;
                layers = layers.scenarios(&Arc::new(scenarios));
            }
        }
        let recorder = Arc::new(Recorder::new(&self.backend, layers.into_upstream()));
        let proxy = Proxy::start_with(Upstream::new(RecordingServer(Arc::clone(&recorder))), options).await;
        let proxy = proxy.map_err(|error| lab_error(&error))?;
        let port = proxy.address().port();
        let base_url = match case.place {
            Place::Lab => proxy.base_url(),
            Place::PlainHttp => format!("http://{}:{port}", Ipv4Addr::UNSPECIFIED),
            Place::Nobody => {
                format!("http://127.0.0.1:{}", closed_port().map_err(|error| lab_error(&error))?)
            }
        };
        let mut executions = Vec::new();
        for number in 0..case.executions {
            recorder.execution.store(number, Ordering::Relaxed);
            executions.push(execute(command, case, &base_url, &token).await?);
        }
        drop(proxy);
        Ok(Evidence {
            operation: case.call.operation,
            executions,
            requests: std::mem::take(&mut *recorder.recorded()),
            elsewhere: elsewhere.seen(),
            instances: if searches_all(case, &self.addresses) { self.instances.clone() } else { Vec::new() },
            token,
            contract: self.contract,
        })
    }
}

/// Whether a case searches for the addresses that hold something.
fn searches_all(case: &ClientCase, addresses: &[String]) -> bool {
    let asked = case.call.arguments.values().find_map(|value| value.as_array());
    case.call.operation == Operation::Search && asked.is_some_and(|asked| asked.iter().eq(addresses.iter()))
}

/// The problems of the case, and those that are judged in every case.
fn all_problems(case: &ClientCase, evidence: &Evidence) -> Vec<Problem> {
    let mut problems = case.problems(evidence);
    let mut begun = Duration::ZERO;
    for (number, execution) in evidence.executions.iter().enumerate() {
        for (name, text) in [("output", &execution.stdout), ("error", &execution.stderr)] {
            if shows(text, &evidence.token) {
                problems.push(Problem::new(
                    Duty::TokenPrivate,
                    format!("standard {name} without the token"),
                    "the token stands in it".to_owned(),
                ));
            }
        }
        // A busy machine starts a command late: its time counts from its first request.
        let first = evidence.requests.iter().find(|recorded| recorded.execution == number);
        let starting = first.map_or(Duration::ZERO, |recorded| recorded.at.saturating_sub(begun));
        begun += execution.elapsed;
        if execution.elapsed.saturating_sub(starting) > case.limit + GRACE || execution.exit == Exit::Killed {
            let actual = match execution.exit {
                Exit::Killed => format!("it was killed after {:.1} s", execution.elapsed.as_secs_f64()),
                _ => format!("it took {:.1} s", execution.elapsed.as_secs_f64()),
            };
            let expected = format!("the call ends within its {} s", case.limit.as_secs_f64());
            problems.push(Problem::new(Duty::TimeLimit, expected, actual));
        }
    }
    let leaked = evidence.elsewhere.iter().filter(|request| carries(request, &evidence.token)).count();
    if leaked > 0 {
        problems.push(Problem::new(
            Duty::TokenPrivate,
            "no token at the other host that a redirect names",
            format!("{} there with the token", quantity(leaked, "request")),
        ));
    }
    problems.dedup();
    problems
}

fn outcome(evidence: &Evidence, findings: &[ClientFinding]) -> CaseOutcome {
    let never_began = evidence.requests.is_empty()
        && evidence.executions.iter().any(|execution| {
            !matches!(execution.exit, Exit::Code(0 | 1) | Exit::Killed) && execution.output.is_none()
        });
    // A command that cannot even start shows nothing of the client.
    let shows_token = findings.iter().any(|finding| finding.duty == Duty::TokenPrivate);
    if !findings.is_empty() && (!never_began || shows_token) {
        return CaseOutcome::Failed;
    }
    let broken = evidence.executions.iter().find_map(|execution| match execution.exit {
        Exit::Code(0) if !execution.output.as_ref().is_some_and(Output::is_answer) => {
            Some("standard output is not one JSON object with a result or an error".to_owned())
        }
        Exit::Code(0 | 1) => None,
        Exit::Code(code) => Some(format!("exit code {code}; expected 0, 1 or {NOT_SUPPORTED}")),
        Exit::Signal => Some("ended by a signal".to_owned()),
        Exit::Killed => Some("killed".to_owned()),
    });
    broken.map_or(CaseOutcome::Passed, CaseOutcome::Error)
}

/// Runs the command once.
async fn execute(
    command: &[OsString],
    case: &ClientCase,
    base_url: &str,
    token: &Secret,
) -> Result<Execution, ClientSuiteError> {
    let (program, arguments) = command.split_first().ok_or(ClientSuiteError::NoCommand)?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env("SALLYPORT_BASE_URL", base_url)
        .env("SALLYPORT_API_KEY", token.expose())
        // A proxy of the environment cannot reach the lab.
        .env("NO_PROXY", "*")
        .env("no_proxy", "*")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    // A group of its own, so that what the command starts ends with it.
    #[cfg(unix)]
    command.process_group(0);
    let begun = Instant::now();
    let mut child = command.spawn().map_err(|error| ClientSuiteError::Command {
        program: Path::new(program).display().to_string(),
        reason: error.to_string(),
    })?;
    let group = Group(child.id());
    let input = serde_json::to_vec(&Input::new(case.call.clone(), case.limit)).unwrap_or_default();
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let work = async {
        let write = async {
            if let Some(mut stdin) = stdin {
                // Who does not read its input fails by its answer.
                let _ = stdin.write_all(&input).await;
                let _ = stdin.write_all(b"\n").await;
            }
        };
        let ((), stdout, stderr, status) =
            tokio::join!(write, bounded(stdout), bounded(stderr), child.wait());
        (stdout, stderr, status)
    };
    let ended = tokio::time::timeout(case.limit + KILLED_AFTER, work).await;
    let elapsed = begun.elapsed();
    let Ok((stdout, stderr, status)) = ended else {
        drop(group);
        let _ = child.kill().await;
        return Ok(Execution {
            exit: Exit::Killed,
            stdout: Vec::new(),
            stderr: Vec::new(),
            elapsed,
            output: None,
        });
    };
    let exit = status.ok().and_then(|status| status.code()).map_or(Exit::Signal, Exit::Code);
    let output = serde_json::from_slice(&stdout).ok();
    Ok(Execution { exit, stdout, stderr, elapsed, output })
}

/// A command and what it starts in its process group. Killed when this is dropped: when the call has ended, when its time is
/// over, and when the run is interrupted.
struct Group(Option<u32>);

impl Drop for Group {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(group) = self.0.and_then(|group| i32::try_from(group).ok()) {
            let group = nix::unistd::Pid::from_raw(group);
            let _ = nix::sys::signal::killpg(group, nix::sys::signal::Signal::SIGKILL);
        }
    }
}

/// Reads to the end and keeps the beginning.
async fn bounded(source: Option<impl AsyncRead + Unpin>) -> Vec<u8> {
    let (mut kept, mut buffer) = (Vec::new(), vec![0; 16 << 10]);
    let Some(mut source) = source else { return kept };
    while let Ok(count @ 1..) = source.read(&mut buffer).await {
        let room = MAX_OUTPUT.saturating_sub(kept.len()).min(count);
        kept.extend_from_slice(buffer.get(..room).unwrap_or_default());
    }
    kept
}

/// A port at which nobody listens.
fn closed_port() -> std::io::Result<u16> {
    std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr().map(|address| address.port())
}

/// The forms in which a text may show the token.
fn forms(token: &Secret) -> Vec<String> {
    let token = token.expose();
    let percent = utf8_percent_encode(token, NON_ALPHANUMERIC).to_string();
    let mut base64 = BASE64_STANDARD.encode(token);
    // The last characters depend on what follows.
    base64.truncate(base64.len().saturating_sub(4));
    let mut forms = vec![token.to_owned(), percent.to_lowercase(), percent, base64];
    forms.retain(|form| form.len() >= 6);
    forms
}

fn shows(text: &[u8], token: &Secret) -> bool {
    let text = String::from_utf8_lossy(text);
    forms(token).iter().any(|form| text.contains(form.as_str()))
}

fn carries(request: &ProxiedRequest, token: &Secret) -> bool {
    let headers = request.headers.values().any(|value| shows(value.as_bytes(), token));
    let line = format!("{} {}", request.path, request.query.as_deref().unwrap_or_default());
    headers || shows(line.as_bytes(), token) || shows(&request.body, token)
}

/// The end of standard error for the report; none where it shows the token.
fn excerpt(evidence: &Evidence) -> Option<String> {
    const MOST: usize = 400;
    let text = &evidence.executions.last()?.stderr;
    if text.is_empty() || shows(text, &evidence.token) {
        return None;
    }
    let text = String::from_utf8_lossy(text);
    let text = text.trim();
    let start = text.char_indices().rev().nth(MOST - 1).map_or(0, |(index, _)| index);
    Some(text.get(start..).unwrap_or_default().to_owned())
}

/// Another host, which records what arrives.
#[derive(Debug, Clone, Default)]
struct Elsewhere(Arc<Mutex<Vec<ProxiedRequest>>>);

impl Elsewhere {
    fn seen(&self) -> Vec<ProxiedRequest> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Handler for Elsewhere {
    fn handle<'a>(&'a self, request: ProxiedRequest) -> BoxFuture<'a, Reply> {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() < MAX_REQUESTS {
            seen.push(request);
        }
        let reply = Reply::json_with(404, &json!({"code": 40400, "message": "this is another host"}));
        Box::pin(std::future::ready(reply))
    }
}

/// Records what arrives at the lab, and what it responds.
struct Recorder {
    begun: Instant,
    execution: AtomicUsize,
    recorded: Mutex<Vec<Recorded>>,
    context: Context,
}

impl Recorder {
    fn new(backend: &Arc<Backend>, upstream: Upstream) -> Self {
        let context = Context::before(upstream, backend);
        Self { begun: Instant::now(), execution: AtomicUsize::new(0), recorded: Mutex::default(), context }
    }

    fn recorded(&self) -> std::sync::MutexGuard<'_, Vec<Recorded>> {
        self.recorded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct RecordingServer(Arc<Recorder>);

impl Handler for RecordingServer {
    fn handle<'a>(&'a self, request: ProxiedRequest) -> BoxFuture<'a, Reply> {
        let Self(recorder) = self;
        Box::pin(async move {
            let (at, execution) = (recorder.begun.elapsed(), recorder.execution.load(Ordering::Relaxed));
            let operation = recorder.context.operation(&request);
            // Where the caller leaves, this future ends; the request has arrived all the same.
            let index = {
                let mut recorded = recorder.recorded();
                if recorded.len() < MAX_REQUESTS {
                    recorded.push(Recorded {
                        execution,
                        at,
                        replied: at,
                        replied_at: SystemTime::now(),
                        operation,
                        request: request.clone(),
                        reply: Reply {
                            framing: lab::Framing::Silent(Duration::ZERO),
                            ..Reply::json_with(504, &serde_json::Value::Null)
                        },
                    });
                }
                recorded.len() - 1
            };
            let reply = recorder.context.upstream.call(&request).await;
            let (replied, replied_at) = (recorder.begun.elapsed(), SystemTime::now());
            if let Some(place) = recorder.recorded().get_mut(index) {
                *place = Recorded { replied, replied_at, reply: reply.clone(), ..place.clone() };
            }
            reply
        })
    }
}
