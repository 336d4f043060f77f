//! The program `conformance`.

#![allow(
    rustdoc::bare_urls,
    rustdoc::broken_intra_doc_links,
    reason = "docs of arguments are their help, which is plain text"
)]

mod program;

use std::io::Write as _;
use std::process::ExitCode;

use clap::CommandFactory as _;
use program::arguments::{Arguments, Command};
use program::{UsageError, describe, init, judge, lab, observe, output, replay, run, saved, snapshot, watch};
use sallyport_conformance::{Verdict, files, report};

#[tokio::main]
async fn main() -> ExitCode {
    report::hush_panics();
    let arguments = Arguments::read();
    let command = arguments.command.unwrap_or_else(|| Command::Run(Box::new(arguments.run)));
    match execute(command).await {
        Ok(verdict) => ExitCode::from(output::exit_code(verdict)),
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "conformance: {}", report::plain(&error.to_string()));
            ExitCode::from(Verdict::USAGE)
        }
    }
}

async fn execute(command: Command) -> Result<Verdict, UsageError> {
    let text = match command {
        Command::Run(arguments) => return run::run(*arguments).await,
        Command::Plan(arguments) => run::plan(*arguments).await?,
        Command::List { format } => describe::list(format)?,
        Command::Explain { clause } => describe::explained(&clause)?,
        Command::Replay { report, check, allow_other_target, target } => {
            return replay::replay(&report, check.as_deref(), allow_other_target, &target).await;
        }
        Command::Evidence { report, finding, output } => saved::evidence(&report, &finding, &output)?,
        Command::Baseline { report, reason, until } => saved::baseline(&report, &reason, until)?,
        Command::Record { folder, target } => return snapshot::record(&folder, &target).await,
        Command::Compare { before, after, target } => {
            return snapshot::compare(&before, after.as_deref(), &target).await;
        }
        Command::Observe(arguments) => return observe::run(&arguments),
        Command::Judge(arguments) => return judge::judge(*arguments).await,
        Command::Watch(arguments) => return watch::run(*arguments).await,
        Command::Faults { glob, clause, json } => lab::faults(glob.as_ref(), clause.as_deref(), json)?,
        Command::Variations { glob, json } => lab::variations(glob.as_ref(), json)?,
        Command::Proxy(arguments) => return lab::proxy(*arguments).await,
        #[cfg(feature = "embedded")]
        Command::Client(arguments) => return program::client::client(*arguments).await,
        #[cfg(not(feature = "embedded"))]
        Command::Client(_) => return Err(run::NO_EMBEDDED_SERVER.into()),
        Command::Init { file, force } => init::init(&file, force)?,
        #[cfg(feature = "embedded")]
        Command::Docs => sallyport_conformance::embedded::contract_page(),
        #[cfg(not(feature = "embedded"))]
        Command::Docs => return Err(run::NO_EMBEDDED_SERVER.into()),
        Command::Schema => report::schema()?,
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "conformance", &mut script);
            String::from_utf8(script)?
        }
        Command::Man { folder } => {
            clap_mangen::generate_to(Arguments::command(), &folder).map_err(files::named(&folder))?;
            String::new()
        }
    };
    output::print(&text);
    Ok(Verdict::Conforms)
}
