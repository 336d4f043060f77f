//! `server account`.

use clap::{Args, Subcommand};
use sallyport_server::store::{record::AccountRecord, registry::AccountFilter};

use super::{
    Failure,
    argument::WithDatabase,
    confirm::Confirmation,
    listing::{Line, ListArguments, ShowArguments},
    print_line,
};

pub(super) const EXAMPLES: &str = "\
Examples:
  server account add acme --verified
  server account list --unverified --json
  server account verify acme             passed real-name verification: may extract
  server account remove acme --with-data asks for confirmation first";

/// Commands for accounts.
#[derive(Subcommand)]
pub(super) enum Command {
    /// Add an account.
    Add(WithDatabase<Add>),
    /// List accounts by name.
    List(WithDatabase<List>),
    /// Show an account, and how many tokens, groups, instances and other records it owns.
    Show(WithDatabase<Show>),
    /// Mark an account as real-name verified.
    Verify(WithDatabase<Name>),
    /// Mark an account as not verified; it cannot extract from the next call on.
    Unverify(WithDatabase<Name>),
    /// Remove an account; fails if it owns data, unless --with-data is given.
    Remove(WithDatabase<Remove>),
}

#[derive(Args)]
pub(super) struct Add {
    /// Name of the account, for example acme.
    name: String,
    /// Mark the account as real-name verified.
    #[arg(long)]
    verified: bool,
}

#[derive(Args)]
pub(super) struct List {
    /// Show only verified accounts.
    #[arg(long, conflicts_with = "unverified")]
    verified: bool,
    /// Show only accounts that are not verified.
    #[arg(long)]
    unverified: bool,
    #[command(flatten)]
    list: ListArguments,
}

#[derive(Args)]
pub(super) struct Show {
    /// Name of the account, for example acme.
    name: String,
    #[command(flatten)]
    show: ShowArguments,
}

#[derive(Args)]
pub(super) struct Name {
    /// Name of the account, for example acme.
    name: String,
}

#[derive(Args)]
pub(super) struct Remove {
    /// Name of the account, for example acme.
    name: String,
    /// Also remove its tokens, whitelist entries, entitlements, groups and instances.
    #[arg(long)]
    with_data: bool,
    #[command(flatten)]
    confirmation: Confirmation,
}

impl Line for AccountRecord {
    const HEAD: &'static [&'static str] = &["name", "real name"];

    fn cells(&self) -> Vec<String> {
        let Self { name, real_name_verified } = self;
        vec![name.clone(), if *real_name_verified { "verified" } else { "not verified" }.to_owned()]
    }
}

pub(super) async fn execute(command: Command) -> Result<(), Failure> {
    match command {
        Command::Add(on) => {
            let (registry, Add { name, verified }) = on.open().await?;
            registry.add_account(AccountRecord { name: name.clone(), real_name_verified: verified }).await?;
            print_line(&format!("account {name:?} added"))
        }
        Command::List(on) => {
            let (registry, List { verified, unverified, list }) = on.open().await?;
            let real_name_verified = (verified || unverified).then_some(verified);
            list.print::<AccountRecord>(&registry, AccountFilter { real_name_verified }).await
        }
        Command::Show(on) => {
            let (registry, Show { name, show }) = on.open().await?;
            show.print(&registry.account(name).await?)
        }
        Command::Verify(on) => verify(on, true).await,
        Command::Unverify(on) => verify(on, false).await,
        Command::Remove(on) => {
            on.arguments.confirmation.check_terminal()?;
            let (registry, Remove { name, with_data, confirmation }) = on.open().await?;
            let belongings = registry.account(name.clone()).await?.in_words();
            if with_data || belongings.is_none() {
                let with = belongings.map(|words| format!(" with {words}")).unwrap_or_default();
                confirmation.ask(&format!("Remove account {name:?}{with}?"))?;
            }
            let gone = registry.remove_account(name, with_data).await?;
            let with = gone.in_words().map(|words| format!(", with {words}")).unwrap_or_default();
            print_line(&format!("account {:?} removed{with}", gone.name))
        }
    }
}

async fn verify(on: WithDatabase<Name>, verified: bool) -> Result<(), Failure> {
    let (registry, Name { name }) = on.open().await?;
    registry.verify_account(name.clone(), verified).await?;
    let not = if verified { "" } else { "not " };
    print_line(&format!("account {name:?} is {not}real-name verified"))
}
