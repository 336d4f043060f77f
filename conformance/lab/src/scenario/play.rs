//! Plays scenarios: counts requests, and lets their steps happen.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex};

use sallyport_conformance_base::files;
use sallyport_conformance_base::lock;
use serde::Serialize;
use serde_json::json;

use super::file::{self, ScenarioError};
use super::step::{Step, StepServer};
use super::{DEFAULT, SCENARIO_HEADER, Scenario};
use crate::context::Context;
use crate::exchange::{ProxiedRequest, Reply};
use crate::journal::{Change, Layer, edit, note};
use crate::upstream::{Handler, Upstream};

const MAX_RUNS: usize = 1_000;

/// Scenarios and how far each of them is played. It may be changed while a lab runs.
#[derive(Debug, Default)]
pub struct Scenarios {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    scenarios: BTreeMap<String, Scenario>,
    playing: BTreeMap<String, ScenarioInstance>,
}

#[derive(Debug)]
struct ScenarioInstance {
    /// Requests so far, by operation or `any`.
    counts: BTreeMap<&'static str, u64>,
    random: fastrand::Rng,
    /// Steps that have happened, which may remember something.
    layers: HashMap<(&'static str, usize), Arc<Layer>>,
}

/// How far an instance of a scenario is played.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Progress {
    /// `NAME` or `NAME/RUN`.
    pub instance: String,
    /// Requests that were counted, by operation or `any`.
    pub requests: BTreeMap<&'static str, u64>,
}

impl Scenarios {
    /// Reads scenarios from a file. Fails where it cannot be read, or has a mistake: file, line, column and what was expected.
    pub fn read(file: &Path) -> Result<Self, ScenarioError> {
        let text = files::read_text(file, files::MAX_BYTES);
        let text =
            text.map_err(|error| ScenarioError(format!("{}: cannot be read: {error}", file.display())))?;
        Self::parse(file, &text)
    }

    /// Reads scenarios from a text; `file` names it in errors. Fails where it has a mistake.
    pub fn parse(file: &Path, text: &str) -> Result<Self, ScenarioError> {
        let scenarios = file::parse(file, text)?;
        Ok(Self { state: Mutex::new(State { scenarios, ..State::default() }) })
    }

    /// Replaces the scenarios by those of a text and restarts. Fails as [`Scenarios::parse`] does; then the old ones continue.
    pub fn replace(&self, file: &Path, text: &str) -> Result<(), ScenarioError> {
        let scenarios = file::parse(file, text)?;
        *lock(&self.state) = State { scenarios, ..State::default() };
        Ok(())
    }

    /// Restarts a scenario with its instances, one instance, or all of them. Returns how many instances were playing.
    pub fn reset(&self, name: Option<&str>) -> usize {
        let mut state = lock(&self.state);
        let before = state.playing.len();
        let is_of = |key: &str, name: &str| {
            key == name || key.strip_prefix(name).is_some_and(|rest| rest.starts_with('/'))
        };
        state.playing.retain(|key, _| name.is_some_and(|name| !is_of(key, name)));
        before - state.playing.len()
    }

    /// The names of the scenarios.
    pub fn names(&self) -> Vec<String> {
        lock(&self.state).scenarios.keys().cloned().collect()
    }

    /// The instances that are played.
    pub fn progress(&self) -> Vec<Progress> {
        let state = lock(&self.state);
        let progress = |(instance, playing): (&String, &ScenarioInstance)| Progress {
            instance: instance.clone(),
            requests: playing.counts.clone(),
        };
        state.playing.iter().map(progress).collect()
    }

    /// The step that happens to the next request of an operation; none when it passes unchanged.
    fn next(
        &self,
        key: &str,
        operation: &'static str,
        context: &Context,
    ) -> Result<Option<Arc<Layer>>, String> {
        let name = key.split('/').next().unwrap_or_default();
        let mut state = lock(&self.state);
        let State { scenarios, playing } = &mut *state;
        let Some(scenario) = scenarios.get(name) else {
            if name == DEFAULT {
                return Ok(None);
            }
            let known = scenarios.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
            let known = if known.is_empty() { "none" } else { &known };
            return Err(format!("unknown scenario; expected one of: {known}"));
        };
        if !playing.contains_key(key) && playing.len() >= MAX_RUNS {
            return Err(format!("at most {MAX_RUNS} runs of scenarios at once; reset some of them"));
        }
        let playing = playing.entry(key.to_owned()).or_insert_with(|| ScenarioInstance {
            counts: BTreeMap::new(),
            random: fastrand::Rng::with_seed(scenario.seed),
            layers: HashMap::new(),
        });
        for list in [operation, "any"] {
            let steps = scenario.steps.get(list).map_or(&[][..], Vec::as_slice);
            let count = playing.counts.entry(list).or_default();
            let Some(index) = step_at(steps, *count) else { continue };
            *count += 1;
            let Some(step) = steps.get(index) else { continue };
            // Every request draws, so that the draws of later ones do not depend on the steps before them.
            if playing.random.f64() >= step.probability.unwrap_or(1.0) {
                return Ok(None);
            }
            let layer = playing.layers.entry((list, index)).or_insert_with(|| {
                let by = format!("scenario {name}, step {} of {list}", index + 1);
                Arc::new(layer(by, step, context))
            });
            return Ok(Some(Arc::clone(layer)));
        }
        Ok(None)
    }
}

/// The step that request number `count` (from 0) is in; none after the last one.
fn step_at(steps: &[Step], count: u64) -> Option<usize> {
    let mut before = 0;
    steps.iter().position(|step| {
        before += u64::from(step.times.unwrap_or(1));
        step.is_forever || count < before
    })
}

/// A step in front of what the context passes requests on to, with the fault or the variation that it names between them.
fn layer(by: String, step: &Step, context: &Context) -> Layer {
    let backend = &context.backend;
    let next = match step.row {
        Some(row) => Upstream::new(row.layer(&context.upstream, backend)),
        None => context.upstream.clone(),
    };
    Layer::new(by.clone(), &next, backend, |context| StepServer { name: by, step: step.clone(), context })
}

pub(crate) struct ScenarioServer {
    pub(crate) scenarios: Arc<Scenarios>,
    pub(crate) context: Context,
}

impl Handler for ScenarioServer {
    async fn handle(&self, mut request: ProxiedRequest) -> Reply {
        if request.headers.get_all(SCENARIO_HEADER).iter().count() > 1 {
            return rejection("expected it once");
        }
        let selected = request.headers.remove(SCENARIO_HEADER);
        let key = selected.as_ref().map_or(Some(DEFAULT), |value| value.to_str().ok());
        let Some(key) = key.filter(|key| key.len() <= 128) else {
            return rejection("expected NAME or NAME/RUN of at most 128 characters");
        };
        let Some(operation) = self.context.operation(&request) else {
            return self.context.upstream.call(&request).await;
        };
        let next = self.scenarios.next(key, operation.id(), &self.context);
        let is_known =
            next.is_ok() && (selected.is_some() || lock(&self.scenarios.state).scenarios.contains_key(key));
        // The name of a run is free, and the log shows no token.
        let backend = &self.context.backend;
        let mut secrets = backend.facts.secrets().chain([&backend.token]);
        if is_known && !secrets.any(|secret| key.contains(secret.expose())) {
            edit(|entry| entry.scenario = Some(key.to_owned()));
        }
        match next {
            Ok(Some(layer)) => layer.handle(request).await,
            Ok(None) => self.context.upstream.call(&request).await,
            Err(reason) => rejection(&reason),
        }
    }
}

/// The response of the lab itself to a header that selects nothing.
fn rejection(reason: &str) -> Reply {
    note(Change { by: SCENARIO_HEADER.to_owned(), what: vec![format!("rejected: {reason}")] });
    Reply::json_with(400, &json!({"code": 40000, "message": format!("{SCENARIO_HEADER}: {reason}")}))
}
