//! Writes what a tester may know of the sample data to a folder that the conformance suite reads.

use std::{
    fmt::Write as _,
    fs::{DirBuilder, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::Path,
};

use serde_json::json;

use super::seed::{Sample, SampleToken};
use crate::domain::address::Address;

/// The configuration in the folder. Its keys are those of `[facts]` of the suite's configuration.
pub const CONFIGURATION: &str = "conformance.toml";

/// Maximum number of orders and of foreign addresses in the configuration; more would not help a tester.
const MAX_LISTED: usize = 20;

/// Writes the facts to a new folder that only its owner can read: the configuration names a file for each token.
pub fn write(folder: &Path, sample: &Sample) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(folder)?;
    for SampleToken { key, token, .. } in sample.tokens.list() {
        write_file(&folder.join(format!("{key}.txt")), &format!("{}\n", token.expose()))?;
    }
    write_file(&folder.join("own-addresses.txt"), &lines(sample.addresses.iter().map(ToString::to_string)))?;
    write_file(&folder.join("canaries.txt"), &lines(sample.canaries.iter().cloned()))?;
    let instances = serde_json::to_string_pretty(&sample.instances).map_err(io::Error::other)?;
    write_file(&folder.join("instances.json"), &instances)?;
    write_file(&folder.join(CONFIGURATION), &configuration(sample))
}

/// The configuration as TOML. Strings are written as JSON, which is valid TOML as well.
fn configuration(sample: &Sample) -> String {
    let file = |name: &str| format!("{{ file = \"{name}.txt\" }}");
    let mut text =
        String::from("# What is known of the sample data: conformance run --config FILE --base-url URL\n");
    let mut line = |key: &str, value: String| {
        // Writing to a String does not fail.
        let _ = writeln!(text, "{key} = {value}");
    };
    line("api-key", file("api-key"));
    line("\n[facts]\negress-ip", json!("127.0.0.1").to_string());
    let keys = sample.tokens.list().map(|token| token.key);
    for key in keys.into_iter().filter(|key| !matches!(*key, "api-key" | "expired-api-key")) {
        line(key, file(key));
    }
    let expired = file("expired-api-key");
    line(
        "rejected-tokens",
        format!("[{{ reason = \"revoked\", token = {expired}, note = \"it has expired\" }}]"),
    );
    line("canaries", file("canaries"));
    line("own-addresses", file("own-addresses"));
    line("known-instances", "{ file = \"instances.json\" }".to_owned());
    line("own-groups", json!(sample.groups).to_string());
    let orders = sample.orders.iter().take(MAX_LISTED).map(|order| {
        format!("  {{ number = {}, addresses = {} }},\n", json!(order.number), texts(&order.addresses))
    });
    line("orders", format!("[\n{}]", orders.collect::<String>()));
    let foreign = &sample.foreign_addresses;
    line("foreign-addresses", texts(&foreign[..foreign.len().min(MAX_LISTED)]));
    line("foreign-order", json!(sample.foreign_order).to_string());
    line("foreign-group", json!(sample.foreign_group).to_string());
    if let Some(shared) = sample.shared_addresses.first() {
        line("shared-address", json!(shared.to_string()).to_string());
    }
    line("plentiful-region", json!(sample.plentiful_region).to_string());
    line("scarce-region", json!(sample.scarce_region).to_string());
    line("empty-region", json!(sample.empty_region).to_string());
    let mut protocols: Vec<&str> = sample.gateways.iter().map(|pool| pool.protocol.as_str()).collect();
    protocols.sort_unstable();
    protocols.dedup();
    line("entitled-protocols", json!(protocols).to_string());
    let pools = sample.gateways.iter().map(|pool| {
        let gateways: Vec<String> = pool.gateways.iter().map(|(host, port)| endpoint(host, *port)).collect();
        let (region, protocol) = (json!(pool.region), json!(pool.protocol));
        format!("  {{ region = {region}, protocol = {protocol}, gateways = {} }},\n", json!(gateways))
    });
    line("known-gateways", format!("[\n{}]", pools.collect::<String>()));
    text
}

fn endpoint(host: &str, port: u16) -> String {
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}

fn texts(addresses: &[Address]) -> String {
    json!(addresses.iter().map(ToString::to_string).collect::<Vec<_>>()).to_string()
}

fn lines(items: impl Iterator<Item = String>) -> String {
    items.map(|item| item + "\n").collect()
}

fn write_file(path: &Path, text: &str) -> io::Result<()> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?.write_all(text.as_bytes())
}
