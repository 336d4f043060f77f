//! `conformance faults` and `variations`, and the headers of `conformance proxy`. Its sessions are in `scripts.txt`.

use futures::future::BoxFuture;
use sallyport_conformance::lab::{self, Handler, ProxiedRequest, Proxy, Reply, Upstream};
use serde_json::Value;

use super::program_run::{AssertOutput as _, Folder, RunningProgram, program, run, text};

#[test]
fn faults_are_listed_by_pattern_and_clause() {
    assert_eq!(text(&run(&["faults"]).assert(0, &[])).lines().count(), lab::faults().len());
    let some = run(&["faults", "search.paging/*", "--json"]);
    let faults: Vec<Value> = serde_json::from_slice(&some.stdout).expect("JSON");
    assert!(faults.len() > 5);
    for fault in &faults {
        assert_eq!((&fault["clause"], &fault["operations"][0]), (&"search.paging".into(), &"search".into()));
        assert!(fault["breaks"].as_str().is_some_and(|text| text.ends_with('.')));
    }
    let of_clause = text(&run(&["faults", "--clause", "groups.order"]));
    assert!(of_clause.lines().all(|line| line.starts_with("groups.order/") && line.ends_with("[groups]")));
    let variations: Vec<Value> =
        serde_json::from_slice(&run(&["variations", "--json"]).stdout).expect("JSON");
    for variation in &variations {
        let sentence = variation["decides"].as_str().expect("a sentence");
        assert!(sentence.ends_with('.') && sentence.len() > 20, "{variation}");
    }
    assert_eq!(variations.len(), lab::variations().len());
}

/// A service that says which of its caller's headers it got.
struct HeaderService;

impl Handler for HeaderService {
    fn handle<'a>(&'a self, request: ProxiedRequest) -> BoxFuture<'a, Reply> {
        let headers = request.headers.get_all("x-gateway").iter();
        let got: Vec<_> =
            headers.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()).collect();
        Box::pin(async move { Reply::json_with(200, &serde_json::json!({ "got": got.join(",") })) })
    }
}

#[tokio::test]
async fn the_upstream_gets_the_headers_of_the_configuration() {
    let service = Proxy::start(Upstream::new(HeaderService)).await.expect("a service");
    let folder = Folder::new();
    folder.write("key.txt", "gAteway-kEy-77");
    let config = format!(
        "base-url = \"{}\"\n[connection.headers]\nx-gateway = {{ file = \"key.txt\" }}\n",
        service.base_url()
    );
    let mut serving =
        RunningProgram::start(&mut program(&["proxy", "--config", &folder.write("c.toml", config)]));
    let printed = serving.read_until("try curl");
    let base = printed.split_once(" lab ").and_then(|(_, rest)| rest.split(' ').next()).expect("an address");
    let http = reqwest::Client::builder().no_proxy().build().expect("a client");
    let request = http.get(format!("{base}/openapi/v1/static/groups")).header("x-gateway", "the caller's");
    let got = request.send().await.expect("a response").text().await.expect("a text");
    serving.send("-INT");
    let (_, printed) = serving.finish();
    assert_eq!(got, r#"{"got":"gAteway-kEy-77"}"#);
    assert!(!printed.contains("warning") && !printed.contains("gAteway"), "{printed}");
}
