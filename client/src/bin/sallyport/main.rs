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
        Err(error) => return wrong_usage(&error),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever reads the output has had enough; `head` does that.
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(failure) => {
            tell(&format!("sallyport: {failure}"));
            failure.exit_code()
        }
    }
}

/// Writes a line to standard error.
#[expect(clippy::print_stderr, reason = "the one place where the program tells what went wrong")]
fn tell(line: &str) {
    eprintln!("{}", printable(line));
}

/// Shows what clap has to say. Help and version are all ours; an error repeats arguments, whose escape sequences clap
/// would pass on as its own.
fn wrong_usage(error: &clap::Error) -> ExitCode {
    if error.use_stderr() {
        error.render().to_string().lines().for_each(tell);
    } else {
        // Nobody is left to be told that this cannot be written.
        let _ = error.print();
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

fn run(arguments: Arguments) -> Result<(), Failure> {
    if let Command::Completions { shell } = arguments.command {
        clap_complete::generate(shell, &mut Arguments::command(), "sallyport", &mut io::stdout());
        return Ok(());
    }
    let client = connect(&arguments.connection)?;
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Failure::Output)?;
    runtime.block_on(async {
        match arguments.command {
            Command::Extract(options) => extract::run(&client, options).await,
            Command::Groups(options) => groups::run(&client, options).await,
            Command::Search(options) => search::run(&client, options).await,
            Command::Completions { .. } => Ok(()),
        }
    })
}

fn connect(connection: &Connection) -> Result<Client, Failure> {
    let Some(base_url) = &connection.base_url else {
        return Err(Failure::usage("no base URL; give --base-url or set SALLYPORT_BASE_URL"));
    };
    let builder = Client::builder()
        .base_url(base_url)
        .allow_http(connection.allow_http)
        .total_timeout(Duration::from_secs(connection.timeout))
        .retry(RetryPolicy { retries: connection.retries, ..RetryPolicy::default() });
    let builder = match &connection.token_file {
        Some(path) => {
            let text = std::fs::read_to_string(path).map_err(|error| {
                Failure::usage(format!("the token file {} cannot be read: {error}", path.display()))
            })?;
            builder.token(text.trim())
        }
        None => builder.token_from_env(),
    };
    Ok(builder.build()?)
}
