//! `sallyport`: extraction, groups and searches from the command line.

mod addresses;
mod args;
mod connect;
mod extract;
mod failure;
#[rustfmt::skip]
mod generated;
mod output;
mod parse;
mod search;
mod signals;
mod waits;

use std::{
    env,
    io::{self, Write},
    process::ExitCode,
};

use clap::{
    CommandFactory, Parser,
    error::{ContextKind, ContextValue, ErrorKind},
};
use sallyport_client::printable;

use args::{Arguments, Command};
use failure::Failure;

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return invalid_usage(error),
    };
    match run(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) if failure.is_broken_pipe => ExitCode::SUCCESS,
        Err(failure) => fail(&failure, asks_for_json()),
    }
}

/// `call` with the value of an option, where there is one.
fn set<C, T>(call: C, value: Option<T>, setter: impl FnOnce(C, T) -> C) -> C {
    match value {
        Some(value) => setter(call, value),
        None => call,
    }
}

/// Reports a failure, and returns its exit code.
fn fail(failure: &Failure, is_json: bool) -> ExitCode {
    if is_json {
        print_json(&failure.json());
    } else {
        failure.lines().iter().for_each(|line| print_error(line));
    }
    ExitCode::from(failure.exit_code)
}

/// Writes a line to standard error.
#[expect(clippy::print_stderr, reason = "the only place where the program writes to standard error")]
fn print_error(line: &str) {
    eprintln!("{}", printable(line));
}

/// Writes a value as a line of JSON to standard error.
fn print_json(value: &serde_json::Value) {
    let mut line = Vec::new();
    // Writing to a vector cannot fail.
    let _ = output::json(&mut line, value);
    print_error(String::from_utf8_lossy(&line).trim_end());
}

/// Writes clap's output. An error repeats arguments, whose escape sequences clap would write unchanged; help and version
/// hold only our own text.
fn invalid_usage(mut error: clap::Error) -> ExitCode {
    // For `--token` clap suggests the hidden alias of an option; suggest the name that the help shows.
    let hidden = ContextValue::String("--token-file".to_owned());
    if error.get(ContextKind::SuggestedArg) == Some(&hidden) {
        error.insert(ContextKind::SuggestedArg, ContextValue::String("--api-key-file".to_owned()));
    }
    let text = error.render().to_string();
    if !error.use_stderr() {
        // A failure to write cannot be reported anywhere.
        let _ = error.print();
    } else if asks_for_json() || error.kind() == ErrorKind::ValueValidation {
        // The first paragraph says what is wrong; usage and tips do not help with an invalid value.
        let lines = text.lines().take_while(|line| !line.is_empty()).map(str::trim);
        let message = lines.collect::<Vec<_>>().join(" ");
        let message = message.strip_prefix("error: ").unwrap_or(&message);
        return fail(&Failure::usage(printable(message)), asks_for_json());
    } else {
        text.lines().for_each(print_error);
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

/// Whether the arguments, which may be invalid, ask for JSON, and so the error too.
fn asks_for_json() -> bool {
    let arguments: Vec<String> =
        env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect();
    let is_json = |format: &str| matches!(format, "json" | "jsonl");
    arguments
        .iter()
        .any(|argument| argument == "--json" || argument.strip_prefix("--format=").is_some_and(is_json))
        || arguments.windows(2).any(|pair| pair[0] == "--format" && is_json(&pair[1]))
}

fn run(arguments: Arguments) -> Result<(), Failure> {
    let Arguments { connection, command } = arguments;
    if let Command::Completions { shell } = command {
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut Arguments::command(), "sallyport", &mut script);
        return Ok(io::stdout().write_all(&script)?);
    }
    if let Command::Man { folder } = command {
        return Ok(clap_mangen::generate_to(Arguments::command(), &folder)?);
    }
    if let Command::Search(options) = &command {
        connect::read_standard_input_once(&connection, &options.file)?;
    }
    let client = connect::connect(&connection)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        match command {
            Command::Extract(options) => extract::run(&client, options).await,
            Command::Listing(listing) => listing.run(&client).await,
            Command::Search(options) => search::run(&client, options).await,
            Command::Completions { .. } | Command::Man { .. } => Ok(()),
        }
    })
}
