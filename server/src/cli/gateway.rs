//! `server gateway`.

use std::{
    env,
    fs::File,
    io::{self, Read as _},
    net::Ipv6Addr,
    path::{Path, PathBuf},
};

use clap::{Args, Subcommand};
use sallyport_server::{
    domain::protocol::Protocol,
    printable::counted,
    store::{
        record::{GatewayRecord, ProxyPassword},
        registry::{GatewayEntry, GatewayFilter, GatewayName},
    },
};

use super::{
    Failure,
    argument::{WithDatabase, named},
    confirm::Confirmation,
    listing::{Line, ListArguments, or_dash},
    print_line,
};

pub(super) const EXAMPLES: &str = "\
Examples:
  server gateway add gw1.example:20001 --region USA --protocol socks5
  server gateway add gw1.example:20001 --region USA --protocol http --username u --password-file gw.secret
  printf %s \"$PASSWORD\" | server gateway add gw2.example:1080 --region DEU --protocol http --username u --password-file -
  server gateway remove gw1.example:20001        in every region and for every protocol

To add many gateways at once, use `server import`.";

/// Environment variable with the password, used without --password-file.
const PASSWORD: &str = "SALLYPORT_GATEWAY_PASSWORD";

/// Maximum length of a password, in bytes.
const MAX_PASSWORD_BYTES: u64 = 4096;

/// Commands for gateways.
#[derive(Subcommand)]
pub(super) enum Command {
    /// Add a gateway to the pool.
    Add(WithDatabase<Add>),
    /// List gateways; passwords are not shown.
    List(WithDatabase<List>),
    /// Remove gateways from the pool.
    Remove(WithDatabase<Remove>),
}

#[derive(Args)]
pub(super) struct Add {
    /// Host name or address with a port: gw1.example:20001, 192.0.2.1:1080 or [2001:db8::1]:1080.
    // Not parsed by clap, whose error would quote a password that was passed here by mistake.
    #[arg(value_name = "HOST:PORT")]
    endpoint: String,
    /// Add the gateway to the region with this code, for example USA.
    #[arg(long, value_name = "CODE")]
    region: String,
    /// Set the protocol of the gateway; for one that speaks both, run the command once for each.
    #[arg(long, value_parser = named(Protocol::ALL, Protocol::name))]
    protocol: Protocol,
    /// Set the proxy user name; its password is read from --password-file, or else from SALLYPORT_GATEWAY_PASSWORD.
    #[arg(long, value_name = "NAME")]
    username: Option<String>,
    /// Read the password from the first line of this file; `-` is standard input.
    #[arg(long, value_name = "FILE", requires = "username")]
    password_file: Option<PathBuf>,
}

#[derive(Args)]
pub(super) struct List {
    /// Show only gateways of this host.
    #[arg(long)]
    host: Option<String>,
    /// Show only gateways of this region.
    #[arg(long, value_name = "CODE")]
    region: Option<String>,
    /// Show only gateways of this protocol.
    #[arg(long, value_parser = named(Protocol::ALL, Protocol::name))]
    protocol: Option<Protocol>,
    #[command(flatten)]
    list: ListArguments,
}

#[derive(Args)]
pub(super) struct Remove {
    /// Host name or address with a port.
    #[arg(value_name = "HOST:PORT")]
    endpoint: String,
    /// Remove it only from this region [default: all regions]
    #[arg(long, value_name = "CODE")]
    region: Option<String>,
    /// Remove it only for this protocol [default: all protocols]
    #[arg(long, value_parser = named(Protocol::ALL, Protocol::name))]
    protocol: Option<Protocol>,
    #[command(flatten)]
    confirmation: Confirmation,
}

impl Line for GatewayEntry {
    const HEAD: &'static [&'static str] = &["host", "port", "region", "protocol", "user name", "password"];

    fn cells(&self) -> Vec<String> {
        let Self { host, port, region, protocol, username, has_password } = self;
        let password = if *has_password { "stored" } else { "-" };
        vec![
            host.clone(),
            port.to_string(),
            region.clone(),
            protocol.to_string(),
            or_dash(username.as_ref()),
            password.to_owned(),
        ]
    }
}

pub(super) async fn execute(command: Command) -> Result<(), Failure> {
    match command {
        Command::Add(on) => {
            let (host, port) = endpoint(&on.arguments.endpoint)?;
            let password = password(on.arguments.username.is_some(), on.arguments.password_file.as_deref())?;
            let (registry, Add { region, protocol, username, .. }) = on.open().await?;
            let name = GatewayName { host, port, region: Some(region), protocol: Some(protocol) };
            let GatewayName { host, region, .. } = name.clone();
            let region = region.unwrap_or_default();
            registry.add_gateway(GatewayRecord { host, port, region, protocol, username, password }).await?;
            print_line(&format!("gateway {name} added"))
        }
        Command::List(on) => {
            let (registry, List { host, region, protocol, list }) = on.open().await?;
            list.print::<GatewayEntry>(&registry, GatewayFilter { host, region, protocol }).await
        }
        Command::Remove(on) => {
            let (host, port) = endpoint(&on.arguments.endpoint)?;
            on.arguments.confirmation.check_terminal()?;
            let (registry, Remove { region, protocol, confirmation, .. }) = on.open().await?;
            let name = GatewayName { host, port, region, protocol };
            let count = registry.count_gateways(name.clone()).await?;
            confirmation.ask(&format!("Remove {name}, {}?", counted(count, "gateway")))?;
            let count = registry.remove_gateways(name.clone()).await?;
            print_line(&format!("{name} removed, {}", counted(count, "gateway")))
        }
    }
}

/// Parses host and port. No error quotes the text, because it may hold a password.
fn endpoint(text: &str) -> Result<(String, u16), Failure> {
    let expected = || {
        Failure::Usage(
            "expected HOST:PORT for the gateway, for example gw1.example:20001, with a port from 1 to 65535; pass \
             the user name and the password with --username and --password-file"
                .to_owned(),
        )
    };
    let (host, port) = text.rsplit_once(':').ok_or_else(expected)?;
    let port = port.parse().ok().filter(|port| *port > 0).ok_or_else(expected)?;
    let host = match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        Some(ip) => ip.parse::<Ipv6Addr>().map_err(|_| expected())?.to_canonical().to_string(),
        None => host.to_owned(),
    };
    let bad = |letter: char| letter.is_control() || letter.is_whitespace() || "@/[]".contains(letter);
    let colons = host.contains(':') && host.parse::<Ipv6Addr>().is_err();
    if host.is_empty() || host.contains(bad) || colons || !text.starts_with('[') && host.contains(':') {
        return Err(expected());
    }
    Ok((host, port))
}

/// Reads the password, if the gateway has a user.
fn password(has_user: bool, file: Option<&Path>) -> Result<Option<ProxyPassword>, Failure> {
    if !has_user {
        return Ok(None);
    }
    let wrong = |file: &Path, reason: &dyn std::fmt::Display| {
        Failure::Failed(format!("{}: {reason}; pass a file whose first line is the password", file.display()))
    };
    let text = match file {
        Some(file) => {
            let input: Box<dyn io::Read> = if file == Path::new("-") {
                Box::new(io::stdin())
            } else {
                Box::new(File::open(file).map_err(|error| wrong(file, &error))?)
            };
            let mut bytes = Vec::new();
            input
                .take(MAX_PASSWORD_BYTES + 1)
                .read_to_end(&mut bytes)
                .map_err(|error| wrong(file, &error))?;
            if bytes.len() as u64 > MAX_PASSWORD_BYTES {
                return Err(wrong(file, &format!("expected at most {MAX_PASSWORD_BYTES} bytes")));
            }
            // The error of the conversion would hold the bytes.
            let text = String::from_utf8(bytes).map_err(|_| wrong(file, &"the text is not UTF-8"))?;
            let line = text.lines().next().unwrap_or_default().to_owned();
            if line.is_empty() {
                return Err(wrong(file, &"the first line is empty"));
            }
            line
        }
        None => match env::var(PASSWORD) {
            Ok(text) => text,
            Err(env::VarError::NotPresent) => return Ok(None),
            Err(env::VarError::NotUnicode(_)) => {
                return Err(Failure::Usage(format!("{PASSWORD} is not UTF-8; use --password-file")));
            }
        },
    };
    if text.is_empty() || text.chars().any(char::is_control) {
        let line = "expected a password without control characters that is not empty";
        return Err(Failure::Usage(line.to_owned()));
    }
    Ok(Some(ProxyPassword::new(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_and_ports() {
        for (text, host, port) in [
            ("gw1.example:20001", "gw1.example", 20001),
            ("192.0.2.1:1", "192.0.2.1", 1),
            ("[2001:db8::1]:65535", "2001:db8::1", 65535),
        ] {
            assert_eq!(endpoint(text).ok(), Some((host.to_owned(), port)), "{text}");
        }
        for text in [
            "gw1.example",
            "gw1.example:0",
            "gw1.example:65536",
            ":80",
            "user:very-secret@gw1.example:80",
            "2001:db8::1:80",
            "[very-secret]:80",
            "http://gw1.example:80",
            "gw1 .example:80",
        ] {
            let Err(Failure::Usage(line)) = endpoint(text) else { panic!("{text}") };
            assert!(line.contains("HOST:PORT") && !line.contains("very-secret"), "{line}");
        }
    }
}
