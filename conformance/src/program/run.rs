use std::num::NonZeroU64;
use std::time::Duration;

use sallyport_conformance::detection::Matrix;
use sallyport_conformance::explore::Exploration;
use sallyport_conformance::report::{self, Detail, Format, Progress, quantity};
use sallyport_conformance::run::{Glob, Plan, PlannedCheck, SavedReport};
use sallyport_conformance::target::Fact;
use sallyport_conformance::{Contract, Options, Report, Suite, Target, Verdict};

use super::UsageError;
use super::arguments::RunArguments;
use super::lab::SandboxTokens;
use super::output::Output;
use super::replay::read_report;
use super::reports::Reports;
use super::setup::{AccountToken, Setup, select};
use super::signals::Signals;

pub(crate) async fn run(arguments: RunArguments) -> Result<Verdict, UsageError> {
    let contract = Contract::embedded()?;
    let setup = selected(Setup::new(&arguments.target, AccountToken::Required)?, &arguments)?;
    let described = setup.described()?;
    let Setup { target, mut options, .. } = setup;
    options.retries = Some(arguments.retries.into());
    options.explore = arguments.explore.map(|seconds| Exploration {
        time: Duration::from_secs(seconds.get().into()),
        requests: arguments.explore_requests.map_or(Exploration::REQUESTS, NonZeroU64::get),
        seed: arguments.seed.unwrap_or_default(),
    });
    options.fail_fast = arguments.fail_fast;
    // A name of the tester must not hide that no service of theirs was tested.
    options.implementation = options.implementation.or(arguments.implementation);
    options.keep_exchanges = arguments.report.iter().any(|request| request.format == Format::Har);
    let before = arguments.since.as_deref().map(read_report).transpose()?;
    let reports = Reports::open(&arguments.report)?;
    let output = reports.output;
    let detail = match (arguments.quiet, arguments.verbose) {
        (true, _) => Detail::Quiet,
        (_, true) => Detail::Verbose,
        _ => Detail::Normal,
    };
    let resume = reports.without_commands();
    if detail > Detail::Quiet {
        output.print(&described);
    }
    let ran = with_target(target, None, async |target| {
        observed(contract, target, options, detail, output, before.as_ref()).await
    })
    .await;
    output.print(&resume);
    let report = ran?;
    reports.write(&report);
    let json = arguments.report.iter().find(|request| request.format == Format::Json);
    let command =
        json.and_then(|json| report::first_evidence(&report, &json.file.as_ref()?.display().to_string()));
    if let Some(command) = command.filter(|_| detail > Detail::Quiet) {
        output.print(&format!("{:>16} {}\n", "as one file", report::plain(&command)));
    }
    Ok(report.verdict)
}

/// Runs the suite with progress, findings and summary. A signal ends the run and keeps its results; a later one ends the program.
pub(crate) async fn observed(
    contract: &Contract,
    target: &Target,
    options: Options,
    detail: Detail,
    output: Output,
    before: Option<&SavedReport>,
) -> Result<Report, UsageError> {
    let screen = output.screen(detail);
    let suite = Suite::new(contract, target, options)?;
    let signals = Signals::listen(suite.stopper.clone(), Signals::TIME_WITH_REPORTS, Verdict::Incomplete)?;
    let mut report = suite.run(&Progress::new(output, screen, output.is_terminal())).await;
    if let Some(before) = before {
        report.compare_with(before);
    }
    signals.only_write(report.verdict);
    output.print(&report::failures(&report, &screen));
    output.print(&report::summary(&report, &screen));
    Ok(report)
}

/// Calls `work` with the target, or when there is none with the embedded reference server, which has these tokens.
pub(crate) async fn with_target<T>(
    target: Option<Target>,
    tokens: Option<SandboxTokens>,
    work: impl AsyncFnOnce(&Target) -> Result<T, UsageError>,
) -> Result<T, UsageError> {
    if let Some(target) = target {
        return work(&target).await;
    }
    #[cfg(feature = "embedded")]
    {
        let tokens = tokens.unwrap_or_default();
        let reference = sallyport_conformance::embedded::Reference::start_with(tokens).await?;
        let done = work(reference.target()).await;
        reference.close().await;
        done
    }
    #[cfg(not(feature = "embedded"))]
    {
        drop(tokens);
        Err(NO_EMBEDDED_SERVER.into())
    }
}

fn selected(mut setup: Setup, arguments: &RunArguments) -> Result<Setup, UsageError> {
    setup.options.detect = arguments.detect;
    setup.options.inferred = arguments.inferred.unwrap_or(setup.options.inferred);
    setup.options.gates = arguments.gates.over(std::mem::take(&mut setup.options.gates));
    // A pattern that matches no clause would be met by every run.
    let contract = Contract::embedded()?;
    let is_idle = |glob: &&Glob| !contract.catalogue.observable().any(|clause| glob.matches(clause.id.id()));
    if let Some(idle) = setup.options.gates.require.iter().find(is_idle) {
        return Err(format!(
            "--require {}: it matches no clause that responses can show; `conformance list` names the clauses",
            idle.as_str()
        )
        .into());
    }
    select(&arguments.selection, &mut setup.options)?;
    Ok(setup)
}

pub(crate) async fn plan(arguments: RunArguments) -> Result<String, UsageError> {
    let contract = Contract::embedded()?;
    let setup = selected(Setup::new(&arguments.target, AccountToken::Unused)?, &arguments)?;
    let described = setup.described()?;
    let Setup { target, options, .. } = setup;
    let profile = options.profile;
    let planned = with_target(target, None, async |target| {
        let suite = Suite::new(contract, target, options)?;
        // Protocols are looked for only where no extraction is served.
        let facts = [Fact::OwnAddresses, Fact::EmptyRegion, Fact::ScarceRegion];
        let looked_for = facts.into_iter().filter(|fact| suite.looks_for(*fact)).map(|fact| fact.to_string());
        let looked_for = looked_for.collect::<Vec<_>>();
        Ok((suite.plan.clone(), looked_for))
    });
    let (plan, looked_for) = planned.await?;
    let matrix = Matrix::embedded()?;
    let mut text = format!("{described}{:>16} {}\n\n", "profile", profile.name());
    for planned in &plan.planned {
        let id = planned.check.id;
        let line = match planned.skipped() {
            None => {
                let cost = planned.cost();
                let cases = cases(planned).unwrap_or_default();
                format!("{:>5} requests {:>4} gateways  {id}{cases}\n", cost.requests, cost.gateways)
            }
            Some(reason) => format!("{:>29}  {id}: {}\n", "skipped", report::plain(&reason)),
        };
        text.push_str(&line);
    }
    text.push_str(&sum(&plan));
    if !looked_for.is_empty() {
        let facts = looked_for.join(", ");
        text.push_str(&format!("the run first looks for {facts}; what it finds adds cases\n"));
    }
    Ok(text + &format!("the run {}\n", report::detected(&plan.detection(matrix), "would notice")))
}

fn cases(planned: &PlannedCheck) -> Option<String> {
    let (running, all) = (planned.running().count(), planned.cases.len());
    (running < all).then(|| format!(" ({running} of {all} cases)"))
}

fn sum(plan: &Plan) -> String {
    let skipped = plan.planned.iter().filter(|planned| planned.skipped().is_some()).count();
    let cost = plan.cost();
    let more = if plan.is_limited() {
        "; requests and gateways that these cases do not use are spent on other cases"
    } else {
        ""
    };
    format!(
        "\n{} would run, {skipped} would be skipped; at most {} and {}, without retries{more}\n",
        quantity(plan.planned.len() - skipped, "check"),
        quantity(cost.requests, "request"),
        quantity(cost.gateways, "gateway")
    )
}

/// What a command says that needs the embedded server in a build without it.
#[cfg(not(feature = "embedded"))]
pub(crate) const NO_EMBEDDED_SERVER: &str =
    "this build has no embedded server; install the suite without --no-default-features";
