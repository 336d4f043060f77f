//! `server group`.

use clap::{Args, Subcommand};
use jiff::Timestamp;
use sallyport_server::{
    printable::counted,
    store::{record::GroupRecord, registry::GroupFilter},
};

use super::{
    Failure,
    argument::{WithDatabase, id},
    confirm::Confirmation,
    listing::{Line, ListArguments, ShowArguments},
    print_line,
};

pub(super) const EXAMPLES: &str = "\
Examples:
  server group add --account acme warehouse
  server group rename 11 'warehouse east'
  server group remove 11 --ungroup     remove the group and keep its instances";

/// Commands for groups of static instances.
#[derive(Subcommand)]
pub(super) enum Command {
    /// Add a group to an account, under a number that no group has had before.
    Add(WithDatabase<Add>),
    /// List groups by number.
    List(WithDatabase<List>),
    /// Rename a group.
    Rename(WithDatabase<Rename>),
    /// Remove a group.
    Remove(WithDatabase<Remove>),
}

#[derive(Args)]
pub(super) struct Add {
    /// Name of the account.
    #[arg(long, value_name = "NAME")]
    account: String,
    /// Name of the group.
    name: String,
    #[command(flatten)]
    show: ShowArguments,
}

#[derive(Args)]
pub(super) struct List {
    /// Show only groups of this account.
    #[arg(long, value_name = "NAME")]
    account: Option<String>,
    #[command(flatten)]
    list: ListArguments,
}

#[derive(Args)]
pub(super) struct Rename {
    /// Number of the group, as `list` shows it.
    number: String,
    /// New name.
    name: String,
}

#[derive(Args)]
pub(super) struct Remove {
    /// Number of the group, as `list` shows it.
    number: String,
    /// Remove the group even if it has instances, which then have no group.
    #[arg(long)]
    ungroup: bool,
    #[command(flatten)]
    confirmation: Confirmation,
}

impl Line for GroupRecord {
    const HEAD: &'static [&'static str] = &["number", "account", "name", "created", "updated"];

    fn cells(&self) -> Vec<String> {
        let Self { account, group_id, name, created_at, updated_at } = self;
        vec![
            group_id.get().to_string(),
            account.clone(),
            name.clone(),
            created_at.to_string(),
            updated_at.to_string(),
        ]
    }
}

pub(super) async fn execute(command: Command) -> Result<(), Failure> {
    match command {
        Command::Add(on) => {
            let (registry, Add { account, name, show }) = on.open().await?;
            let group = registry.add_group(account, name, Timestamp::now()).await?;
            let words = format!("group {} added to account {:?}", group.group_id.get(), group.account);
            show.print_or(&group, &words)
        }
        Command::List(on) => {
            let (registry, List { account, list }) = on.open().await?;
            list.print::<GroupRecord>(&registry, GroupFilter { account }).await
        }
        Command::Rename(on) => {
            let id = id("group", &on.arguments.number)?;
            let (registry, Rename { number: _, name }) = on.open().await?;
            registry.rename_group(id, name.clone(), Timestamp::now()).await?;
            print_line(&format!("group {} renamed to {name:?}", id.get()))
        }
        Command::Remove(on) => {
            let id = id("group", &on.arguments.number)?;
            on.arguments.confirmation.check_terminal()?;
            let (registry, Remove { number: _, ungroup, confirmation }) = on.open().await?;
            let (group, held) = registry.group(id).await?;
            if ungroup || held == 0 {
                let (number, name, account) = (id.get(), group.name, group.account);
                confirmation.ask(&format!(
                    "Remove group {number}, {name:?} of account {account:?}, which has {}?",
                    counted(held, "instance")
                ))?;
            }
            let left = registry.remove_group(id, ungroup).await?;
            print_line(&format!("group {} removed; it had {}", id.get(), counted(left, "instance")))
        }
    }
}
