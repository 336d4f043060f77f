//! The program's commands. Results go to standard output, everything else to standard error, all by `terminal`.

mod account;
mod argument;
mod config;
mod confirm;
mod data;
mod entitlement;
mod gateway;
mod group;
mod instance;
mod listing;
mod run;
mod settings;
mod terminal;
mod token;
mod whitelist;

use std::{
    env,
    ffi::{OsStr, OsString},
    io::{self, Write as _},
    process::ExitCode,
    sync::Arc,
};

use clap::{CommandFactory as _, Parser, Subcommand};
use sallyport_server::store::{Location, OpenMode, Store};

use terminal::{remark, say, unless_closed};

/// Serves proxy extraction and static IP queries from a SQLite or PostgreSQL database.
#[derive(Parser)]
#[command(name = "server", version, arg_required_else_help = true, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  server run                              a sandbox with sample data, which is gone when it ends
  server seed --db sandbox.db             the same data in a file; prints the tokens
  server run --db sandbox.db              serves that file
  server import --db real.db data.jsonl   real data, all or nothing
  server export --db real.db data.jsonl   everything, for a backup or another database
  server account add --db real.db acme    accounts, tokens, whitelist and the rest by hand
  server token issue --db real.db --account acme
  server config check --config sallyport.toml

Exit codes: 0 done, 1 failed, 2 wrong usage. A failure is one line on standard error.";

#[derive(Subcommand)]
enum Command {
    /// Serve until SIGINT or SIGTERM, then finish what has begun.
    Run(Box<settings::Arguments>),
    /// Look at the configuration of `run`.
    #[command(subcommand)]
    Config(config::Command),
    /// Fill a database with sample data and print its tokens, this once.
    Seed(data::SeedArguments),
    /// Add records from a file of JSON lines, all or nothing.
    Import(data::ImportArguments),
    /// Write every record to a file of JSON lines, while the server runs. It has proxy passwords, and tokens as hashes.
    Export(data::ExportArguments),
    /// Look after accounts and their real-name verification.
    #[command(subcommand, after_help = account::EXAMPLES)]
    Account(account::Command),
    /// Issue, list, rotate and revoke tokens.
    #[command(subcommand, after_help = token::EXAMPLES)]
    Token(token::Command),
    /// Look after the addresses from which accounts may extract.
    #[command(subcommand, after_help = whitelist::EXAMPLES)]
    Whitelist(whitelist::Command),
    /// Look after the protocols that accounts may extract.
    #[command(subcommand, after_help = entitlement::EXAMPLES)]
    Entitlement(entitlement::Command),
    /// Look after the pool of gateways.
    #[command(subcommand, after_help = gateway::EXAMPLES)]
    Gateway(gateway::Command),
    /// Look after groups of static instances.
    #[command(subcommand, after_help = group::EXAMPLES)]
    Group(group::Command),
    /// Look after static instances.
    #[command(subcommand, after_help = instance::EXAMPLES)]
    Instance(instance::Command),
    /// Print the OpenAPI document that the running API emits.
    Openapi,
    /// Print the contract as one HTML page, with the refusals of this server.
    Docs,
    /// Print a completion script for a shell.
    Completions {
        /// Shell to write it for.
        shell: clap_complete::Shell,
    },
}

/// Where the database is.
#[derive(clap::Args)]
struct Database {
    /// File of the database, or postgres://user:password@host/database; a URL with a password is better kept in the
    /// environment, since other users can see command lines.
    // Not parsed by clap, whose error would repeat the password, as the help would what is in the environment.
    #[arg(long, value_name = "FILE|URL", env = "SALLYPORT_DB", hide_env_values = true)]
    db: OsString,
}

impl Database {
    /// Opens the database, which must be there.
    async fn open(&self) -> Result<Arc<dyn Store>, Failure> {
        Ok(self.location()?.open(OpenMode::Existing).await?)
    }

    fn location(&self) -> Result<Location, Failure> {
        location(&self.db)
    }
}

fn location(db: &OsStr) -> Result<Location, Failure> {
    Location::try_from(db).map_err(|error| Failure::Usage(error.to_string()))
}

/// Why a command did not do what it was asked.
enum Failure {
    /// The command line asks for something that cannot be.
    Usage(String),
    /// Anything else.
    Failed(String),
    /// The same, with a line on each thing that is wrong.
    Listed(String, Vec<String>),
}

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Failed(error.to_string())
    }
}

/// Reads the command line and does what it says.
pub(crate) fn main() -> ExitCode {
    match config::parse(env::args_os().collect()).and_then(|(cli, sources)| execute(cli.command, &sources)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Failed(line)) => failed(1, &line),
        Err(Failure::Usage(line)) => failed(2, &line),
        Err(Failure::Listed(line, details)) => {
            let code = failed(1, &line);
            details.iter().for_each(|detail| remark(&format!("  {detail}")));
            code
        }
    }
}

fn failed(code: u8, line: &str) -> ExitCode {
    remark(&format!("error: {line}"));
    ExitCode::from(code)
}

fn execute(command: Command, sources: &[String]) -> Result<(), Failure> {
    let runtime = tokio::runtime::Runtime::new()?;
    match command {
        Command::Run(arguments) => runtime.block_on(run::run(*arguments)),
        Command::Config(command) => config::execute(command, sources),
        Command::Seed(arguments) => runtime.block_on(data::seed(&arguments)),
        Command::Import(arguments) => runtime.block_on(data::import(&arguments)),
        Command::Export(arguments) => runtime.block_on(data::export(&arguments)),
        Command::Account(command) => runtime.block_on(account::execute(command)),
        Command::Token(command) => runtime.block_on(token::execute(command)),
        Command::Whitelist(command) => runtime.block_on(whitelist::execute(command)),
        Command::Entitlement(command) => runtime.block_on(entitlement::execute(command)),
        Command::Gateway(command) => runtime.block_on(gateway::execute(command)),
        Command::Group(command) => runtime.block_on(group::execute(command)),
        Command::Instance(command) => runtime.block_on(instance::execute(command)),
        Command::Openapi => {
            print_own(&(serde_json::to_string_pretty(&sallyport_server::emitted_openapi())? + "\n"))
        }
        Command::Docs => print_own(&sallyport_server::contract_page()),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "server", &mut script);
            print_own(&String::from_utf8_lossy(&script))
        }
    }
}

/// Writes a text that is all this program's own, line ends included.
fn print_own(text: &str) -> Result<(), Failure> {
    io::stdout().write_all(text.as_bytes()).or_else(unless_closed)
}
