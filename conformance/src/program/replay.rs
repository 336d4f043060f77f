use std::path::Path;
use std::time::Duration;

use sallyport_conformance::check::InferredClauses;
use sallyport_conformance::explore::{self, Exploration, ExplorationResult};
use sallyport_conformance::observe::{Traffic, observe};
use sallyport_conformance::report::{self, Detail, Screen, plain};
use sallyport_conformance::run::{
    ChangedFinding, FindingChange, Glob, SavedCheck, SavedReport, Session, SessionError, Since,
};
use sallyport_conformance::wire::{RecordedExchange, Request, ThrottlingPolicy};
use sallyport_conformance::{Contract, Options, Report, Secret, Selection, Target, Verdict, files, registry};

use super::UsageError;
use super::arguments::TargetArguments;
use super::output::{Output, print};
use super::run::observed;
use super::setup::{AccountToken, Setup};

/// How the ids of checks end that compare exchanges of recorded traffic.
const RECORDED: &str = ".recorded";

/// `conformance replay`: the findings of a report, or of one check, once more. A finding rests on all requests of its check, so whole
/// checks run. For a passive check the requests of the report are sent again, and an exploration runs again with its seed.
pub(crate) async fn replay(
    path: &Path,
    check: Option<&str>,
    allow_other_target: bool,
    arguments: &TargetArguments,
) -> Result<Verdict, UsageError> {
    let wrong = |message: &str| UsageError::from(format!("{}: {message}", path.display()));
    let mut before = read_report(path)?;
    before.checks.retain(|check| !check.findings.is_empty());
    if let Some(chosen) = check {
        // The number of a finding chooses its check: a finding rests on all requests of it.
        let found = before.findings().find(|(id, check, _)| id == chosen || check.id == chosen);
        let Some(check) = found.map(|(_, check, _)| check.id.clone()) else {
            let known: Vec<&str> = before.checks.iter().map(|known| known.id.as_str()).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            return Err(wrong(&format!(
                "`{chosen}` has no finding in this report; checks with findings: {known}"
            )));
        };
        if Way::of(&check).is_none() {
            return Err(wrong(&format!("this version has no check `{check}`")));
        }
        before.checks.retain(|known| known.id == check);
    }
    let contract = Contract::embedded()?;
    if arguments.embedded {
        return Err(wrong(
            "--embedded: expected the service of the report, by --base-url or a configuration",
        ));
    }
    let Setup { target, mut options, .. } = Setup::new(arguments, AccountToken::Required)?;
    let Some(target) = target else {
        return Err(wrong(
            "expected --base-url (or a configuration with base-url): a report does not decide where tokens are sent",
        ));
    };
    // It names the target without secrets.
    let recorded = &before.target;
    let shown = target.redactor(&options.wire).map(|redactor| redactor.redact(target.base().as_str()));
    let is_same = shown.is_ok_and(|shown| shown.trim_end_matches('/') == recorded.trim_end_matches('/'));
    if !allow_other_target && !is_same {
        let base = target.base();
        return Err(wrong(&format!(
            "expected a report of {base}, found one of `{recorded}`; pass --allow-other-target to replay it against {base}"
        )));
    }
    let of_way = |way: Way| before.checks.iter().filter(move |check| Way::of(&check.id) == Some(way));
    let requests = |way: Way| -> Result<Vec<Request>, UsageError> {
        let mut requests = Vec::new();
        for check in of_way(way) {
            requests.extend(self::requests(check, &target, &options).ok_or_else(|| {
                let id = &check.id;
                wrong(&format!("expected the requests of `{id}` in `exchanges`, found an incomplete one"))
            })?);
        }
        Ok(requests)
    };
    let detail = if check.is_some() { Detail::Verbose } else { Detail::Normal };
    let mut judged = None;
    let recorded = requests(Way::Recorded)?;
    if !recorded.is_empty() {
        let screen = Output::Stdout.screen(detail);
        judged = match judge_again(contract, &target, (&recorded, &options), &screen).await {
            Err(SessionError::Unreachable(verdict, reason)) => {
                print(&screen.line("not reproduced", &reason));
                return Ok(verdict);
            }
            judged => judged?,
        };
    }
    options.requests = requests(Way::Passive)?;
    if of_way(Way::Explored).next().is_some() {
        let missing = || wrong("expected `explored` with `seed`, `seconds` and `requests`, found none");
        let ExplorationResult { seed, seconds, requests, .. } = before.explored.ok_or_else(missing)?;
        let budget = &mut options.budget;
        let (time, requests) = (Duration::from_secs(seconds).min(budget.wall), requests.min(budget.requests));
        // An exploration comes on top of the requests of a run, and here nothing else runs.
        if before.checks.len() == 1 {
            budget.requests = budget.requests.saturating_sub(requests);
        }
        options.explore = Some(Exploration { time, requests, seed });
    }
    let ways = [Way::Active, Way::Passive, Way::Explored];
    let only: Vec<Glob> = ways.into_iter().flat_map(of_way).map(|check| Glob::new(&check.id)).collect();
    if !only.is_empty() {
        options.selection = Selection { only, skip: Vec::new() };
        let mut report = observed(contract, &target, options, detail, Output::Stdout, None).await?;
        if report.verdict.prevents_testing() {
            return Ok(report.verdict);
        }
        report.checks.extend(judged.into_iter().flat_map(|judged| judged.checks));
        judged = Some(report);
    }
    let Some(now) = judged else {
        print("no finding of this report can be replayed\n");
        return Ok(if before.checks.is_empty() { Verdict::Conforms } else { Verdict::Incomplete });
    };
    Ok(conclude(&before, &now))
}

/// How the findings of a check are shown again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Active,
    Passive,
    Explored,
    Recorded,
}

impl Way {
    /// None for a check that this version does not have.
    fn of(check: &str) -> Option<Self> {
        match registry().into_iter().find(|known| known.id == check) {
            Some(known) if known.is_passive() => Some(Self::Passive),
            Some(_) => Some(Self::Active),
            None if check == explore::ID => Some(Self::Explored),
            None => check.ends_with(RECORDED).then_some(Self::Recorded),
        }
    }
}

/// Says for each finding what became of it. Only when all are fixed is that a good verdict.
fn conclude(before: &SavedReport, now: &Report) -> Verdict {
    let since = Since::new(before, now);
    let mut text = String::new();
    for finding in &since.findings {
        let ChangedFinding { clause, change, reason, .. } = finding;
        let word = match change {
            FindingChange::Unchanged => "still failing",
            change => change.name(),
        };
        let reason = reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
        text.push_str(&format!("{word:>16} {}\n", plain(&format!("{} ({clause}){reason}", finding.id()))));
    }
    print(&text);
    let has = |change| since.of(change).next().is_some();
    match () {
        // The check had warnings alone.
        () if since.findings.is_empty() => now.verdict,
        () if has(FindingChange::Unchanged) || has(FindingChange::New) => Verdict::Findings,
        () if has(FindingChange::NotReproduced) => Verdict::Incomplete,
        () => Verdict::Conforms,
    }
}

/// Findings of `observe` that compare exchanges: their requests are sent again, and what comes is judged as traffic of others.
async fn judge_again(
    contract: &Contract,
    target: &Target,
    (requests, options): (&[Request], &Options),
    screen: &Screen,
) -> Result<Option<Report>, SessionError> {
    let session = Session::begin(contract, target, options, true).await?;
    let mut exchanges = Vec::new();
    for request in requests {
        match session.send("replay", request, ThrottlingPolicy::WaitOut).await {
            // What is not sent is not reproduced.
            Err(SessionError::Budget(_)) => {}
            sent => exchanges.push(sent?),
        }
    }
    let Some(traffic) = Traffic::of_exchanges(&session, &exchanges) else { return Ok(None) };
    let mut judged = observe(contract, &traffic, InferredClauses::default());
    judged.checks.retain(|result| Way::of(result.id) == Some(Way::Recorded));
    let lines: String = judged.checks.iter().map(|result| report::check_text(result, screen)).collect();
    print(&format!("{lines}{}", report::failures(&judged, screen)));
    Ok(Some(judged))
}

/// The requests that show the findings of a check, in their order. None if one can't be read.
fn requests(check: &SavedCheck, target: &Target, options: &Options) -> Option<Vec<Request>> {
    let mut of_findings: Vec<Vec<Request>> = Vec::new();
    for finding in &check.findings {
        let requests = check
            .exchanges_of(finding)
            .map(|exchange| again(exchange, target, options))
            .collect::<Option<_>>()?;
        if !of_findings.contains(&requests) {
            of_findings.push(requests);
        }
    }
    Some(of_findings.concat())
}

/// A recorded request as it is sent again, with the secrets of target and extra headers in place of their names. The proxy's password
/// is not among them: a text from somebody else could name it, and it would go to the service. The wire adds the extra headers themselves again.
pub(super) fn again(exchange: &RecordedExchange, target: &Target, options: &Options) -> Option<Request> {
    let secrets: Vec<Secret> = target.secrets().cloned().chain(options.wire.header_secrets()).collect();
    let request = exchange.request(&secrets).filter(|request| request.target().starts_with('/'))?;
    let headers = options.wire.headers.iter();
    Some(headers.fold(request, |request, header| request.without_header(&header.name)))
}

/// Maximum size of a report in JSON, in bytes: many times that of a run with all budgets used up.
pub(super) const MAX_REPORT_BYTES: u64 = 256 << 20;

/// A report that was written before.
pub(super) fn read_report(path: &Path) -> Result<SavedReport, UsageError> {
    let text = files::read_text(path, MAX_REPORT_BYTES).map_err(files::named(path))?;
    SavedReport::parse(&text).map_err(|error| format!("{}: {error}", path.display()).into())
}
