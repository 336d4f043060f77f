//! `sallyport`: extraction, groups and searches from the command line.

mod args;
mod extract;
mod failure;
mod groups;
mod output;
mod search;

use std::{io, process::ExitCode, time::Duration};

use clap::{CommandFactory, Parser};
use sallyport_client::{Client, RetryPolicy, printable};

use args::{Arguments, Command, Connection};
use failure::Failure;

fn main() -> ExitCode {
    let outcome = match Arguments::try_parse() {
        Ok(arguments) => run(arguments),
        Err(error) => return invalid_usage(&error),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        // The reader closed the pipe early, as `head` does.
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(failure) => {
            print_error(&format!("sallyport: {failure}"));
            failure.exit_code()
        }
    }
}

/// Writes a line to standard error.
#[expect(clippy::print_stderr, reason = "the only place where the program writes to standard error")]
fn print_error(line: &str) {
    eprintln!("{}", printable(line));
}

/// Writes clap's output. An error repeats arguments, whose escape sequences clap would write unchanged; help and version
/// hold only our own text.
fn invalid_usage(error: &clap::Error) -> ExitCode {
    if error.use_stderr() {
        error.render().to_string().lines().for_each(print_error);
    } else {
        // A failure to write cannot be reported anywhere.
        let _ = error.print();
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

fn run(arguments: Arguments) -> Result<(), Failure> {
    if let Command::Completions { shell } = arguments.command {
        clap_complete::generate(shell, &mut Arguments::command(), "sallyport", &mut io::stdout());
        return Ok(());
    }
    if let Command::Man { folder } = arguments.command {
        return clap_mangen::generate_to(Arguments::command(), &folder).map_err(Failure::Output);
    }
    let client = connect(&arguments.connection)?;
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Failure::Output)?;
    runtime.block_on(async {
        match arguments.command {
            Command::Extract(options) => extract::run(&client, options).await,
            Command::Groups(options) => groups::run(&client, options).await,
            Command::Search(options) => search::run(&client, options).await,
            Command::Completions { .. } | Command::Man { .. } => Ok(()),
        }
    })
}

fn connect(connection: &Connection) -> Result<Client, Failure> {
    let Some(base_url) = &connection.base_url else {
        return Err(Failure::usage("missing base URL; pass --base-url or set SALLYPORT_BASE_URL"));
    };
    let builder = Client::builder()
        .base_url(base_url)
        .allow_http(connection.allow_http)
        .total_timeout(Duration::from_secs(connection.timeout))
        .retry(RetryPolicy {
            max_retries: connection.retries,
            max_retry_after: connection.max_wait.map(Duration::from_secs),
            ..RetryPolicy::default()
        });
    let builder = match &connection.api_key_file {
        Some(path) => builder.token_file(path),
        None => builder.token_from_env(),
    };
    Ok(builder.build()?)
}
