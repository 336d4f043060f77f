//! Compiles what is generated from `fixtures/library.yaml`. Our own document uses a part of what the generators support, and the
//! rest must not break unnoticed until an operation needs it.

use std::{collections::BTreeMap, fs, path::Path, process::Command};

use serde_json::Value;

use crate::{document::Document, emit, fixture::LIBRARY, model::Contract, problem::Problem, task};

/// The crate around the generated file of the server: it has the modules that the file uses from the crate of the server.
const SERVER: &str = "pub use sallyport_server::{domain, edge, named};
pub mod api { pub mod generated; }";

/// The crate around the generated files of the client. What sends is a stand-in, since it knows the operations of our document.
const CLIENT: &str = r#"
#[path = "ROOT/client/src/lenient.rs"] mod lenient;
#[path = "ROOT/client/src/integer.rs"] mod integer;
#[path = "contract/generated.rs"] pub mod contract;
#[path = "plain/generated.rs"] mod plain;
pub mod generated;
#[path = "ROOT/client/src/operation.rs"] mod operation;
#[path = "ROOT/client/src/with_response.rs"] mod with_response;
mod options {
    #[derive(Clone, Debug, Default)]
    pub struct CallOptions;
    pub type PendingCall<T> = std::pin::Pin<Box<dyn Future<Output = Result<T, crate::Error>> + Send>>;
    macro_rules! call_options { ($($any:tt)*) => {} }
    pub(crate) use call_options;
}
pub use {plain::*, sallyport_client::{Address, Error, TextEntry, jiff}, with_response::WithResponse};
#[derive(Clone, Debug)]
pub struct Client;
impl Client {
    fn generated_for(&self, _: options::CallOptions) -> generated::Client { todo!() }
}
#[derive(Clone, Debug)]
pub struct Sender;
impl Sender {
    pub(crate) async fn send<T>(
        &self, _: reqwest::Result<reqwest::Request>, _: &'static operation::Operation, _: fn() -> T,
    ) -> Result<WithResponse<T>, Error> { todo!() }
}
mod response {
    pub fn json<T: serde::de::DeserializeOwned>() -> T { todo!() }
    pub fn text() -> Vec<crate::TextEntry> { todo!() }
    pub fn ignore() {}
}"#;

/// The crate around the generated commands of the client's program.
const PROGRAM: &str = r#"
mod generated;
mod args {
    #[derive(clap::Args)]
    pub struct ListingOptions {}
    impl ListingOptions {
        pub fn write<T: serde::Serialize>(self, _: &[T], _: &[(&str, &str)]) -> Result<(), crate::failure::Failure> { Ok(()) }
    }
}
mod failure { pub struct Failure; impl From<sallyport_client::Error> for Failure { fn from(_: sallyport_client::Error) -> Self { Self } } }
mod parse {
    pub fn text(text: &str) -> Result<String, String> { Ok(text.to_owned()) }
    pub fn one_of<T>(known: &'static [&'static str]) -> impl clap::builder::TypedValueParser<Value = T>
    where T: std::str::FromStr<Err: std::error::Error + Send + Sync> + Clone + Send + Sync + 'static {
        use clap::builder::TypedValueParser as _;
        clap::builder::PossibleValuesParser::new(known).try_map(|text| text.parse::<T>())
    }
}
fn set<C, T>(call: C, value: Option<T>, setter: impl FnOnce(C, T) -> C) -> C { match value { Some(value) => setter(call, value), None => call } }
"#;

#[test]
fn the_library_has_each_kind_of_operation() {
    let contract = Contract::read(&Document::parse(LIBRARY).unwrap()).unwrap();
    let operations = &contract.operations;
    for method in ["get", "put", "post", "delete", "patch"] {
        assert!(operations.iter().any(|operation| operation.method == method.to_uppercase()), "{method}");
    }
    for status in ["200", "201", "202", "204"] {
        assert!(operations.iter().any(|operation| operation.success.status == status), "{status}");
    }
}

#[test]
fn what_is_generated_from_the_library_compiles() {
    let artifacts = emit::code(&Document::parse(LIBRARY).unwrap());
    let artifacts = artifacts.map_err(|problems| Problem::list(&problems)).unwrap();
    let root = task::root(&std::env::current_dir().unwrap()).unwrap();
    let mut crates = built_crates(&root);
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    for artifact in &artifacts {
        write(&artifact.path.replace("/src/", "/"), &artifact.contents);
    }
    write("server/lib.rs", SERVER);
    write("client/lib.rs", &CLIENT.replace("ROOT", root.to_str().unwrap()));
    write("client/bin/sallyport/lib.rs", PROGRAM);
    for name in ["server", "client", "client/bin/sallyport"] {
        let said = compile(&folder.path().join(name), &crates);
        assert!(said.is_ok(), "the generated code of {name}: {}", said.unwrap_err());
        if name == "client" {
            let client = folder.path().join("client/libclient.rmeta");
            crates.insert("sallyport_client".to_owned(), client.display().to_string());
        }
    }
    let program = &artifacts.iter().find(|artifact| artifact.path.contains("/bin/")).unwrap().contents;
    let program = program.split_whitespace().collect::<String>();
    for part in [
        "client.shelf()",
        "client.authors(options.country, options.genres, options.alive",
        // clap takes a list and a boolean for optional by itself.
        "required = true, value_parser = crate::parse::one_of::<sallyport_client::contract::Genre>",
        "required = true, action = clap::ArgAction::Set",
    ] {
        assert!(program.contains(&part.replace(' ', "")), "{part}: {program}");
    }
    // It can fail.
    write("server/api/generated.rs", "use crate::edge::missing;");
    assert!(compile(&folder.path().join("server"), &crates).unwrap_err().contains("missing"));
}

/// The crates that server and client are built from, by name, as `cargo test --workspace` has built them: with other features, all would
/// be built a second time.
fn built_crates(root: &Path) -> BTreeMap<String, String> {
    let output = Command::new(env!("CARGO"))
        .current_dir(root)
        .args(["test", "--no-run", "--locked", "--workspace", "--lib", "--bins"])
        .args(["--message-format", "json-render-diagnostics"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut crates: BTreeMap<String, (usize, String)> = BTreeMap::new();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let message: Value = serde_json::from_str(line).unwrap();
        if message["profile"]["test"] == true {
            continue;
        }
        let files = message["filenames"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let Some(file) = files.into_iter().find(|file| !file.ends_with(".rmeta")) else { continue };
        let name = message["target"]["name"].as_str().unwrap().replace('-', "_");
        // A crate that macros are made of as well is built twice, and has fewer features there.
        let features = message["features"].as_array().map_or(0, Vec::len);
        if crates.get(&name).is_none_or(|(known, _)| *known < features) {
            crates.insert(name, (features, file.to_owned()));
        }
    }
    crates.into_iter().map(|(name, (_, file))| (name, file)).collect()
}

/// Checks the crate in `folder` as `cargo check` would.
fn compile(folder: &Path, crates: &BTreeMap<String, String>) -> Result<(), String> {
    let mut command = Command::new("rustc");
    command.args(["--edition", "2024", "--crate-type", "lib", "--emit", "metadata", "--cap-lints", "allow"]);
    command.arg("--crate-name").arg(folder.file_name().unwrap());
    command.arg("--out-dir").arg(folder).arg(folder.join("lib.rs"));
    let used = [
        "bytes",
        "clap",
        "dropshot",
        "http",
        "jiff",
        "progenitor_client",
        "reqwest",
        "schemars",
        "serde",
        "serde_json",
    ];
    for name in used.into_iter().chain(["sallyport_client", "sallyport_contract", "sallyport_server"]) {
        let Some(file) = crates.get(name) else { continue };
        command.arg("--extern").arg(format!("{name}={file}"));
    }
    let deps = Path::new(&crates["serde"]).parent().unwrap();
    command.arg("-L").arg(format!("dependency={}", deps.display()));
    let output = command.output().map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(()) } else { Err(said) }
}
