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
    match command {
        Command::Run(arguments) => run::run(*arguments).await,
        Command::Plan(arguments) => run::plan(*arguments).await,
        Command::List { format } => describe::list(format),
        Command::Explain { clause } => describe::explained(&clause),
        Command::Replay { report, check, allow_other_target, target } => {
            replay::replay(&report, check.as_deref(), allow_other_target, &target).await
        }
        Command::Evidence { report, finding, output } => saved::evidence(&report, &finding, &output),
        Command::Baseline { report, reason, until } => saved::baseline(&report, &reason, until),
        Command::Record { folder, target } => snapshot::record(&folder, &target).await,
        Command::Compare { before, after, target } => {
            snapshot::compare(&before, after.as_deref(), &target).await
        }
        Command::Observe(arguments) => observe::run(&arguments),
        Command::Judge(arguments) => judge::judge(*arguments).await,
        Command::Watch(arguments) => watch::run(*arguments).await,
        Command::Faults { glob, clause, json } => lab::faults(glob.as_ref(), clause.as_deref(), json),
        Command::Variations { glob, json } => lab::variations(glob.as_ref(), json),
        Command::Proxy(arguments) => lab::proxy(*arguments).await,
        #[cfg(feature = "embedded")]
        Command::Client(arguments) => program::client::client(*arguments).await,
        #[cfg(not(feature = "embedded"))]
        Command::Client(_) => Err(run::NO_EMBEDDED_SERVER.into()),
        Command::Init { file, force } => init::init(&file, force),
        Command::Docs => describe::docs(),
        Command::Schema => {
            output::print(&report::schema()?);
            Ok(Verdict::Conforms)
        }
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "conformance", &mut script);
            output::print(&String::from_utf8(script)?);
            Ok(Verdict::Conforms)
        }
        Command::Man { folder } => {
            clap_mangen::generate_to(Arguments::command(), &folder).map_err(files::named(&folder))?;
            Ok(Verdict::Conforms)
        }
    }
}
