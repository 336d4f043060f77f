//! Writes what a tester may know of the sample data to a folder that the conformance suite reads.

use std::{
    collections::BTreeSet,
    fs::{DirBuilder, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::Path,
};

use minijinja::{Environment, Value, syntax::SyntaxConfig, value::Serde};
use serde_json::json;

use super::seed::{Sample, SampleToken};
use crate::domain::address::Address;

/// The configuration in the folder. Its keys are those of `[facts]` of the suite's configuration.
pub const CONFIGURATION: &str = "conformance.toml";

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
    write_file(&folder.join(CONFIGURATION), &configuration(sample).map_err(io::Error::other)?)
}

/// The configuration as TOML. Values are written as JSON, which is valid TOML as well.
fn configuration(sample: &Sample) -> Result<String, minijinja::Error> {
    let mut template = Environment::new();
    template.set_syntax(SyntaxConfig::builder().trim_blocks(true).keep_trailing_newline(true).build()?);
    template.add_filter("json", |value: Value| json!(value).to_string());
    let keys = sample.tokens.list().map(|token| token.key).into_iter();
    let protocols: BTreeSet<_> = sample.gateways.keys().map(|(_, protocol)| protocol).collect();
    let pools = sample.gateways.iter().map(|((region, protocol), gateways)| {
        json!({ "region": region, "protocol": protocol, "gateways": gateways })
    });
    let facts = json!({
        "keys": keys.filter(|key| !matches!(*key, "api-key" | "expired-api-key")).collect::<Vec<_>>(),
        "groups": sample.groups,
        "orders": sample.orders.iter().map(|(number, addresses)| json!({ "number": number, "addresses": texts(addresses) })).collect::<Vec<_>>(),
        "foreign_addresses": texts(&sample.foreign_addresses),
        "foreign_order": sample.foreign_order,
        "foreign_group": sample.foreign_group,
        "shared_addresses": texts(sample.shared_addresses.first()),
        "regions": [sample.plentiful_region, sample.scarce_region, sample.empty_region],
        "protocols": protocols,
        "pools": pools.collect::<Vec<_>>(),
    });
    template.render_str(include_str!("facts.toml.jinja"), Value::from(Serde(facts)))
}

fn texts<'a>(addresses: impl IntoIterator<Item = &'a Address>) -> Vec<String> {
    addresses.into_iter().map(ToString::to_string).collect()
}

fn lines(items: impl Iterator<Item = String>) -> String {
    items.map(|item| item + "\n").collect()
}

fn write_file(path: &Path, text: &str) -> io::Result<()> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?.write_all(text.as_bytes())
}
