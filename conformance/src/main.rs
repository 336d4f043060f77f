//! The program `conformance`.

mod arguments;

use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};
use sallyport_conformance::report::{self, Detail, Progress, Screen, Style};
use sallyport_conformance::target::facts_from;
use sallyport_conformance::{
    Contract, Facts, Options, Report, Secret, Selection, Suite, Target, Verdict, registry,
};

use arguments::{Arguments, Command, ListFormat, RunArguments};

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let command = arguments.command.unwrap_or(Command::Run(arguments.run));
    let done = match command {
        Command::Run(arguments) => run(arguments).await,
        Command::List { format } => list(format),
        Command::Explain { clause } => explain(&clause),
        Command::Completions { shell } => {
            clap_complete::generate(shell, &mut Arguments::command(), "conformance", &mut std::io::stdout());
            Ok(Verdict::Conforms)
        }
    };
    match done {
        Ok(verdict) => ExitCode::from(verdict.exit_code()),
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "conformance: {error}");
            ExitCode::from(Verdict::USAGE)
        }
    }
}

/// A mistake in usage or configuration, in one line.
type UsageError = Box<dyn std::error::Error>;

async fn run(arguments: RunArguments) -> Result<Verdict, UsageError> {
    let contract = Contract::embedded()?;
    let selection = Selection { only: arguments.only, skip: arguments.skip };
    if let Some(idle) = selection.idle(&registry()) {
        return Err(format!("`{}` selects no check: see `conformance list`", idle.as_str()).into());
    }
    let mut options = Options { selection, ..Options::default() };
    if let Some(concurrency) = arguments.concurrency {
        options.budget.concurrency = usize::from(concurrency.get());
    }
    if let Some(requests) = arguments.max_requests {
        options.budget.requests = requests;
    }
    if let Some(gateways) = arguments.max_gateways {
        options.budget.gateways = gateways;
    }
    let report = match &arguments.base_url {
        Some(base_url) => {
            let token = std::env::var("SALLYPORT_API_KEY").ok().filter(|token| !token.is_empty());
            let token = token.ok_or("set SALLYPORT_API_KEY to the account's token")?;
            let facts: Facts = facts_from(|variable| std::env::var(variable).ok())?;
            let target = Target::new(base_url, Secret::new("API_KEY", token), facts, arguments.allow_http)?;
            run_against(contract, &target, options).await?
        }
        None => run_embedded(contract, options).await?,
    };
    for request in &arguments.report {
        let written = report::json(&report).map_err(UsageError::from).and_then(|text| {
            std::fs::write(&request.path, text)
                .map_err(|error| format!("{}: {error}", request.path.display()).into())
        });
        written?;
    }
    Ok(report.verdict)
}

async fn run_against(contract: &Contract, target: &Target, options: Options) -> Result<Report, UsageError> {
    let screen = Screen { style: style(), width: None, detail: Detail::Normal };
    let progress = Progress::new(std::io::stdout(), screen, false);
    let report = Suite::new(contract, target, options)?.run(&progress).await;
    let mut stdout = std::io::stdout();
    write!(stdout, "{}{}", report::failures(&report, &screen), report::summary(&report, &screen))?;
    Ok(report)
}

#[cfg(feature = "embedded")]
async fn run_embedded(contract: &Contract, options: Options) -> Result<Report, UsageError> {
    let reference = sallyport_conformance::embedded::Reference::start().await?;
    let report = run_against(contract, reference.target(), options).await;
    reference.close().await;
    report
}

#[cfg(not(feature = "embedded"))]
async fn run_embedded(_: &Contract, _: Options) -> Result<Report, UsageError> {
    Err("this build has no embedded server: give --base-url".into())
}

fn list(format: ListFormat) -> Result<Verdict, UsageError> {
    let checks = registry();
    let mut stdout = std::io::stdout();
    match format {
        ListFormat::Text => {
            for check in checks {
                writeln!(stdout, "{}  {}  [{}]", check.id, check.title, check.clauses.join(", "))?;
            }
        }
        ListFormat::Json => {
            let checks: Vec<_> = checks
                .iter()
                .map(|check| {
                    serde_json::json!({
                        "id": check.id,
                        "title": check.title,
                        "clauses": check.clauses,
                        "operation": check.operation,
                    })
                })
                .collect();
            writeln!(stdout, "{}", serde_json::to_string_pretty(&checks)?)?;
        }
    }
    Ok(Verdict::Conforms)
}

fn explain(id: &str) -> Result<Verdict, UsageError> {
    let contract = Contract::embedded()?;
    let clause = contract.catalogue.clause(id).ok_or_else(|| {
        format!("`{id}` is no clause: see `conformance list` for checks with the clauses they cite")
    })?;
    let mut stdout = std::io::stdout();
    writeln!(stdout, "{} (section {})\n\n  {}\n", clause.id, clause.section, clause.text)?;
    if let Some(reason) = &clause.reason {
        writeln!(stdout, "It can't be seen over HTTP. {reason}\n")?;
    }
    let mut checks = registry();
    checks.retain(|check| check.clauses.contains(&id));
    writeln!(stdout, "{} checks cite it:", checks.len())?;
    for check in checks {
        writeln!(stdout, "  {}  {}", check.id, check.title)?;
        for fact in check.needs {
            writeln!(stdout, "      needs {fact}")?;
        }
    }
    Ok(Verdict::Conforms)
}

/// Colours on a terminal, unless `NO_COLOR` is set.
fn style() -> Style {
    let no_colour = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    if std::io::stdout().is_terminal() && !no_colour { Style::Coloured } else { Style::Plain }
}
