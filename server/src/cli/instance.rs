//! `server instance`.

use std::net::IpAddr;

use clap::{Args, Subcommand};
use jiff::Timestamp;
use sallyport_server::{
    domain::instance::{Id, Status},
    store::registry::{GroupChoice, InstanceEntry, InstanceFilter},
};

use super::{
    Failure,
    argument::{ConfirmedNumbers, WithDatabase, future, id, ids, in_words, is_or_are, named},
    listing::{Line, ListArguments, ShowArguments, or_dash},
    print_line,
};

pub(super) const EXAMPLES: &str = "\
Examples:
  server instance list --ip 203.0.113.7                     list the instances at this address
  server instance list --account acme --status active --json
  server instance set-status expired 9001 9002
  server instance renew 9001 9002 --expires 2027-01-01T00:00:00Z
  server instance move 9001 --group 11
  server instance move 9001 --group none

To add instances, use `server import`.";

/// Commands for static instances.
#[derive(Subcommand)]
pub(super) enum Command {
    /// List instances by account and address; passwords are not shown.
    List(WithDatabase<List>),
    /// Show one instance, without its password.
    Show(WithDatabase<Show>),
    /// Set the status of instances, all or none; the first change to active sets the activation time.
    SetStatus(WithDatabase<SetStatus>),
    /// Set the time at which instances expire, all or none; expired ones become active again.
    Renew(WithDatabase<Renew>),
    /// Move instances into a group of their account, or out of their groups, all or none.
    Move(WithDatabase<Move>),
    /// Remove instances, all or none.
    Remove(WithDatabase<ConfirmedNumbers>),
}

#[derive(Args)]
pub(super) struct List {
    /// Show only instances of this account.
    #[arg(long, value_name = "NAME")]
    account: Option<String>,
    /// Show only instances of this group; `none` for instances without a group.
    #[arg(long, value_name = "NUMBER|none")]
    group: Option<String>,
    /// Show only instances with this status.
    #[arg(long, value_parser = named(Status::ALL, Status::name))]
    status: Option<Status>,
    /// Show only instances with this address.
    #[arg(long, value_name = "ADDRESS")]
    ip: Option<IpAddr>,
    /// Show only instances of this country.
    #[arg(long, value_name = "CODE")]
    country: Option<String>,
    /// Show only instances of this city.
    #[arg(long, value_name = "CODE")]
    city: Option<String>,
    /// Show only instances of this order.
    #[arg(long, value_name = "NUMBER")]
    order: Option<String>,
    #[command(flatten)]
    list: ListArguments,
}

#[derive(Args)]
pub(super) struct Show {
    /// Number of the instance, as `list` shows it.
    number: String,
    #[command(flatten)]
    show: ShowArguments,
}

#[derive(Args)]
pub(super) struct SetStatus {
    /// New status.
    #[arg(value_parser = named(Status::ALL, Status::name))]
    status: Status,
    /// Numbers of the instances, as `list` shows them.
    #[arg(required = true, value_name = "NUMBER")]
    numbers: Vec<String>,
}

#[derive(Args)]
pub(super) struct Renew {
    /// Numbers of the instances, as `list` shows them.
    #[arg(required = true, value_name = "NUMBER")]
    numbers: Vec<String>,
    /// Let the instances expire at this time, for example 2027-01-01T00:00:00Z.
    #[arg(long, value_name = "TIME", value_parser = future)]
    expires: Timestamp,
}

#[derive(Args)]
pub(super) struct Move {
    /// Numbers of the instances, as `list` shows them.
    #[arg(required = true, value_name = "NUMBER")]
    numbers: Vec<String>,
    /// Move the instances into this group; `none` moves them out of their groups.
    #[arg(long, value_name = "NUMBER|none")]
    group: String,
}

impl Line for InstanceEntry {
    const HEAD: &'static [&'static str] =
        &["number", "account", "address", "port", "status", "country", "city", "group", "order", "expires"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.instance_id.get().to_string(),
            self.account.clone(),
            self.ip.to_string(),
            self.port.to_string(),
            self.status.to_string(),
            self.country_code.clone(),
            self.city_code.clone(),
            or_dash(self.group_id.map(|group| group.get())),
            or_dash(self.order_no.as_ref()),
            or_dash(self.expires_at),
        ]
    }
}

pub(super) async fn execute(command: Command) -> Result<(), Failure> {
    match command {
        Command::List(on) => {
            let group = on.arguments.group.as_deref().map(group).transpose()?;
            let (registry, List { account, status, ip, country, city, order, list, group: _ }) =
                on.open().await?;
            let filter = InstanceFilter {
                account,
                group,
                status,
                ip: ip.map(|ip| ip.to_canonical()),
                country_code: country,
                city_code: city,
                order_no: order,
            };
            list.print::<InstanceEntry>(&registry, filter).await
        }
        Command::Show(on) => {
            let id = id("instance", &on.arguments.number)?;
            let (registry, Show { number: _, show }) = on.open().await?;
            show.print(&registry.instance(id).await?)
        }
        Command::SetStatus(on) => {
            let ids = ids("instance", &on.arguments.numbers)?;
            let (registry, SetStatus { status, numbers: _ }) = on.open().await?;
            registry.set_instance_status(ids.clone(), status, Timestamp::now()).await?;
            print_line(&format!("{} {} {status}", in_words("instance", &ids), is_or_are(&ids)))
        }
        Command::Renew(on) => {
            let ids = ids("instance", &on.arguments.numbers)?;
            let (registry, Renew { numbers: _, expires }) = on.open().await?;
            registry.renew_instances(ids.clone(), expires, Timestamp::now()).await?;
            let verb = if ids.len() == 1 { "expires" } else { "expire" };
            print_line(&format!("{} {verb} at {expires}", in_words("instance", &ids)))
        }
        Command::Move(on) => {
            let (ids, to) = (ids("instance", &on.arguments.numbers)?, group(&on.arguments.group)?);
            let (registry, _) = on.open().await?;
            registry.move_instances(ids.clone(), to).await?;
            let place = match to {
                GroupChoice::In(group) => format!("in group {}", group.get()),
                GroupChoice::Ungrouped => "in no group".to_owned(),
            };
            print_line(&format!("{} {} {place}", in_words("instance", &ids), is_or_are(&ids)))
        }
        Command::Remove(on) => {
            let question = |ids: &[Id]| format!("Remove {}?", in_words("instance", ids));
            let (registry, ids) = on.confirm("instance", question).await?;
            registry.remove_instances(ids.clone()).await?;
            print_line(&format!("{} {} removed", in_words("instance", &ids), is_or_are(&ids)))
        }
    }
}

/// A group by its number, or none.
fn group(text: &str) -> Result<GroupChoice, Failure> {
    if text == "none" { Ok(GroupChoice::Ungrouped) } else { id("group", text).map(GroupChoice::In) }
}
