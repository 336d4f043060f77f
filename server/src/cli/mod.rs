//! The program's commands. Results go to standard output, messages to standard error, all through `terminal`.

mod data;
mod records;
mod run;
mod settings;
mod terminal;
mod token;
mod usage;

use std::{
    env,
    ffi::{OsStr, OsString},
    io::{self, Write as _},
    path::PathBuf,
    process::ExitCode,
    sync::Arc,
};

use clap::{CommandFactory as _, Parser, Subcommand};
use sallyport_server::store::{Location, OpenMode, Store};

use records::{LIST, OfKind, PUT, REMOVE};
use terminal::{ignore_closed_pipe, print_error_line, print_line};

/// Serve proxy extraction and static IP queries from a SQLite or PostgreSQL database.
#[derive(Parser)]
#[command(name = "server", version, arg_required_else_help = true, after_help = include_str!("help.txt").trim_end())]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Serve until SIGINT or SIGTERM, then finish the requests under way.
    Run(Box<settings::Arguments>),
    /// Fill a database with sample data and print its tokens, which are not shown again.
    Seed {
        #[command(flatten)]
        database: Database,
        /// Write what a tester may know of the sample data to a new folder.
        ///
        /// `conformance run --config FOLDER/conformance.toml` reads it. The folder has the tokens, in files that only you can read.
        #[arg(long, value_name = "FOLDER")]
        facts: Option<PathBuf>,
    },
    /// Create an empty database, or bring the tables of an existing one up to date.
    Create(Database),
    /// Add the records of a JSON lines file, all or none.
    Import {
        #[command(flatten)]
        database: Database,
        /// Read this file, one JSON object per line; `-` is standard input.
        file: PathBuf,
    },
    /// Write every record to a JSON lines file; the server may be running.
    ///
    /// The file holds proxy passwords, and tokens as SHA-256 hashes.
    Export {
        #[command(flatten)]
        database: Database,
        /// Write to this new file, which only you can read; `-` is standard output.
        file: PathBuf,
    },
    /// List the records of a kind, without secrets.
    List(OfKind<LIST>),
    /// Create records of a kind, or change those that are stored, all or none.
    Put(OfKind<PUT>),
    /// Remove records of a kind, all or none.
    Remove(OfKind<REMOVE>),
    /// Issue, rotate and revoke tokens.
    #[command(subcommand, after_help = token::EXAMPLES)]
    Token(token::Command),
    /// Print the OpenAPI document of the contract, as JSON.
    Openapi,
    /// Print the contract and the error codes of this server as one HTML page.
    Docs,
    /// Print a completion script for a shell.
    Completions {
        /// Choose the shell.
        shell: clap_complete::Shell,
    },
    /// Write man pages, one for each command, to a folder that exists.
    Man {
        /// Folder, for example /usr/local/share/man/man1.
        folder: PathBuf,
    },
}

/// Where the database is.
#[derive(clap::Args)]
struct Database {
    /// Use this database: a file, or postgres://user:password@host/database.
    ///
    /// Pass a URL with a password in the environment variable: other users of the machine can see command lines.
    // Not parsed by clap, whose error would quote the password. The help must not show the environment variable's value.
    #[arg(long, value_name = "FILE|URL", env = "SALLYPORT_DB", hide_env_values = true)]
    db: OsString,
}

impl Database {
    /// Opens the database, which must exist.
    async fn open(&self) -> Result<Arc<Store>, Failure> {
        Ok(self.location()?.open(OpenMode::Existing).await?)
    }

    fn location(&self) -> Result<Location, Failure> {
        location(&self.db)
    }
}

fn location(db: &OsStr) -> Result<Location, Failure> {
    Location::try_from(db).map_err(|error| Failure::Usage(error.to_string()))
}

/// The flag that confirms a change that cannot be undone.
#[derive(clap::Args)]
struct Confirmation {
    /// Confirm the change, which cannot be undone.
    #[arg(long, short)]
    yes: bool,
}

impl Confirmation {
    fn require(&self, change: &str) -> Result<(), Failure> {
        match self.yes {
            true => Ok(()),
            false => Err(Failure::Usage(format!(
                "this would {change}, which cannot be undone; pass --yes to confirm"
            ))),
        }
    }
}

/// Why a command failed.
enum Failure {
    /// Invalid usage.
    Usage(String),
    /// Anything else.
    Failed(String),
    /// The same, with one line for each problem.
    FailedWithDetails(String, Vec<String>),
    /// A failure that is already in the log.
    Logged,
}

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Failed(error.to_string())
    }
}

/// Parses the command line and executes the command.
pub(crate) fn main() -> ExitCode {
    match usage::parse(env::args_os()).and_then(|cli| execute(cli.command)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Failed(line)) => failed(1, &line),
        Err(Failure::Usage(line)) => failed(2, &line),
        Err(Failure::Logged) => ExitCode::FAILURE,
        Err(Failure::FailedWithDetails(line, details)) => {
            let code = failed(1, &line);
            details.iter().for_each(|detail| print_error_line(&format!("  {detail}")));
            code
        }
    }
}

fn failed(code: u8, line: &str) -> ExitCode {
    print_error_line(&format!("error: {line}"));
    ExitCode::from(code)
}

fn execute(command: Command) -> Result<(), Failure> {
    let runtime = tokio::runtime::Runtime::new()?;
    match command {
        Command::Run(arguments) => runtime.block_on(run::run(*arguments)),
        Command::Seed { database, facts } => runtime.block_on(data::seed(&database, facts.as_deref())),
        Command::Create(database) => runtime.block_on(data::create(&database)),
        Command::Import { database, file } => runtime.block_on(data::import(&database, &file)),
        Command::Export { database, file } => runtime.block_on(data::export(&database, &file)),
        Command::List(arguments) => runtime.block_on(records::list(arguments)),
        Command::Put(arguments) => runtime.block_on(records::put(arguments)),
        Command::Remove(arguments) => runtime.block_on(records::remove(arguments)),
        Command::Token(command) => runtime.block_on(token::execute(command)),
        Command::Openapi => print_own(&(serde_json::to_string_pretty(&sallyport_server::openapi())? + "\n")),
        Command::Docs => print_own(&sallyport_server::contract_page()),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "server", &mut script);
            print_own(&String::from_utf8_lossy(&script))
        }
        Command::Man { folder } => clap_mangen::generate_to(Cli::command(), &folder)
            .map_err(|error| Failure::Failed(format!("{}: {error}", folder.display()))),
    }
}

/// Prints a text of this program unchanged.
fn print_own(text: &str) -> Result<(), Failure> {
    io::stdout().write_all(text.as_bytes()).or_else(ignore_closed_pipe)
}
