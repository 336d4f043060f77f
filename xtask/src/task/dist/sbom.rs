//! A software bill of materials in the form of CycloneDX 1.6: every crate that is built into a program.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use serde_json::{Value, json};

use super::{super::cargo::cargo, output};

/// The bill of a package for a target, as JSON.
pub(super) fn sbom(
    root: &Path,
    package: &str,
    feature: Option<&str>,
    target: &str,
) -> Result<String, String> {
    // Only what cargo would build: without tests, and with these features alone.
    let mut command = cargo();
    command.current_dir(root).args(["tree", "--locked", "--package", package, "--target", target]);
    command.args(["--edges", "normal,build", "--prefix", "none", "--no-dedupe", "--format", "{p}|{l}"]);
    if let Some(feature) = feature {
        command.args(["--features", feature]);
    }
    let tree = output(&mut command, "cargo tree")?;
    let path = root.join("Cargo.lock");
    let lock = fs::read_to_string(&path)
        .map_err(|error| format!("error: cannot read {}: {error}\n", path.display()))?;
    let text = serde_json::to_string_pretty(&bill(&tree, &lock)?);
    text.map(|text| text + "\n")
        .map_err(|error| format!("error: the bill of materials is not JSON: {error}\n"))
}

fn bill(tree: &str, lock: &str) -> Result<Value, String> {
    let checksums = checksums(lock);
    let mut crates = BTreeSet::new();
    let mut first = None;
    for line in tree.lines().filter(|line| !line.is_empty()) {
        let known = parse(line).ok_or_else(|| format!("error: unexpected output of cargo tree: {line}\n"))?;
        first.get_or_insert_with(|| known.clone());
        crates.insert(known);
    }
    let first = first.ok_or("error: cargo tree prints nothing\n")?;
    let component = |(name, version, licence): &(String, String, String), kind: &str| {
        let reference = format!("pkg:cargo/{name}@{version}");
        let mut component = json!({
            "type": kind, "bom-ref": reference, "name": name, "version": version, "purl": reference,
        });
        if !licence.is_empty() {
            // Crates of long ago have a slash for OR.
            component["licenses"] = json!([{ "expression": licence.replace('/', " OR ") }]);
        }
        if let Some(checksum) = checksums.get(&(name.as_str(), version.as_str())) {
            component["hashes"] = json!([{ "alg": "SHA-256", "content": checksum }]);
        }
        component
    };
    let components: Vec<Value> =
        crates.iter().filter(|known| **known != first).map(|known| component(known, "library")).collect();
    Ok(json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": { "component": component(&first, "application") },
        "components": components,
    }))
}

/// "name v1.2.3 (proc-macro)|MIT" as name, version and licence.
fn parse(line: &str) -> Option<(String, String, String)> {
    let (package, licence) = line.split_once('|')?;
    let mut words = package.split(' ');
    let (name, version) = (words.next()?, words.next()?.strip_prefix('v')?);
    Some((name.to_owned(), version.to_owned(), licence.trim_end_matches(" (*)").to_owned()))
}

/// Checksums of crates by name and version. Crates of this workspace have none.
fn checksums(lock: &str) -> BTreeMap<(&str, &str), &str> {
    let mut found = BTreeMap::new();
    for package in lock.split("[[package]]").skip(1) {
        let value = |key: &str| {
            let line = package.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = \""));
            line.map(|line| line.trim_end_matches('"'))
        };
        if let (Some(name), Some(version), Some(checksum)) =
            (value("name"), value("version"), value("checksum"))
        {
            found.insert((name, version), checksum);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCK: &str = "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nchecksum = \"00ff\"\ndependencies = [\n \"b\",\n]\n\n\
                        [[package]]\nname = \"program\"\nversion = \"0.1.0\"\n";

    #[test]
    fn each_crate_stands_in_the_bill_once() {
        let tree = "program v0.1.0 (/somewhere/private)|MIT\na v1.0.0|MIT/Apache-2.0\n\nb v2.0.0 (proc-macro)|MIT\na v1.0.0|MIT/Apache-2.0\n";
        let bill = bill(tree, LOCK).unwrap();
        assert_eq!(bill["metadata"]["component"]["name"], "program");
        assert_eq!(
            bill["components"],
            json!([
                { "type": "library", "bom-ref": "pkg:cargo/a@1.0.0", "name": "a", "version": "1.0.0",
                  "purl": "pkg:cargo/a@1.0.0", "licenses": [{ "expression": "MIT OR Apache-2.0" }],
                  "hashes": [{ "alg": "SHA-256", "content": "00ff" }] },
                { "type": "library", "bom-ref": "pkg:cargo/b@2.0.0", "name": "b", "version": "2.0.0",
                  "purl": "pkg:cargo/b@2.0.0", "licenses": [{ "expression": "MIT" }] },
            ])
        );
        assert!(!bill.to_string().contains("private"), "a path of this machine");
        assert!(super::bill("?", LOCK).is_err() && super::bill("", LOCK).is_err());
    }
}
