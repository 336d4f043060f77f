//! `conformance faults`, `variations` and `proxy` as people use them.

use futures::future::BoxFuture;
use sallyport_conformance::lab::{self, Handler, ProxiedRequest, Proxy, Reply, Upstream};
use serde_json::Value;

use super::Running;
use super::program_run::{AssertOutput as _, Folder, RunningProgram, TOKEN, program, run, text};

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

/// The program while it serves.
struct Serving(RunningProgram);

impl Serving {
    fn start(arguments: &[&str]) -> Self {
        Self::start_until(arguments, "try curl")
    }

    fn start_until(arguments: &[&str], what: &str) -> Self {
        let mut running = RunningProgram::start(&mut program(arguments));
        running.read_until(what);
        Self(running)
    }

    fn printed(&self) -> &str {
        &self.0.printed
    }

    fn read_until(&mut self, what: &str) {
        self.0.read_until(what);
    }

    /// The word after another one.
    fn word_after(&self, word: &str) -> String {
        let mut words = self.printed().split_whitespace();
        words.find(|found| *found == word).expect("the word");
        words.next().expect("a further word").to_owned()
    }

    /// Sends SIGINT, and returns all that was printed.
    fn stop(mut self) -> (Option<i32>, String) {
        self.0.send("-INT");
        self.0.finish()
    }
}

/// The JSON of a response.
fn fetch(request: impl FnOnce(&reqwest::Client) -> reqwest::RequestBuilder) -> Value {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let http = reqwest::Client::builder().no_proxy().build().expect("a client");
    runtime.block_on(async {
        let text = request(&http).send().await.expect("a response").text().await.expect("a body");
        serde_json::from_str(&text).expect("JSON")
    })
}

#[test]
fn the_embedded_server_is_served_with_a_fault_until_ctrl_c() {
    let mut serving = Serving::start(&["proxy", "--embedded", "--fault", "groups.order/descending"]);
    let (base, control) = (serving.word_after("lab"), serving.word_after("control"));
    let token = serving.printed().split("SALLYPORT_API_KEY=").nth(1).and_then(|rest| rest.split('\n').next());
    let token = token.expect("the sandbox's own token").to_owned();
    let url = format!("{base}/openapi/v1/static/groups?api_key={token}");
    let body = fetch(|http| http.get(&url));
    assert_eq!(body["code"], 200);
    let rebound = fetch(|http| http.get(&url).header("host", "rebound.example"));
    assert!(
        rebound["message"].as_str().is_some_and(|message| message.contains("expected a Host")),
        "{rebound}"
    );
    serving.read_until("groups.order/descending: response body");
    let log = fetch(|http| http.get(format!("{control}/log")));
    assert_eq!(log["requests"][0]["changes"][0]["by"], "groups.order/descending");
    let (code, printed) = serving.stop();
    assert_eq!(code, Some(0), "{printed}");
    assert!(printed.contains("1 request, 1 changed"), "{printed}");
}

#[test]
fn programs_read_json_and_may_know_the_tokens() {
    let folder = Folder::new();
    let scenario = folder.write("busy.toml", "[[busy.groups]]\nstatus = 503\n");
    let of_embedded = ["proxy", "--embedded", "--output", "json", "--sandbox-tokens", "fixed"];
    let others = ["--scenario", &scenario, "--fault", "groups.order/descending"];
    let arguments = [of_embedded.as_slice(), &others].concat();
    let started =
        |serving: &Serving| -> Value { serde_json::from_str(serving.printed()).expect("one object") };
    let mut serving = Serving::start_until(&arguments, "baseUrl");
    let first = started(&serving);
    let [base, token, control] =
        ["baseUrl", "token", "control"].map(|name| first[name].as_str().expect(name));
    assert!(first["notes"][0].as_str().is_some(), "{first}");
    let body = fetch(|http| http.get(format!("{base}/openapi/v1/static/groups?api_key={token}")));
    assert_eq!(body["code"], 200);
    serving.read_until("{");
    let entry: Value =
        serde_json::from_str(serving.printed().lines().nth(1).expect("a second line")).expect("JSON");
    assert_eq!(entry, fetch(|http| http.get(format!("{control}/log")))["requests"][0]);
    let (code, printed) = serving.stop();
    assert!(code == Some(0) && printed.lines().count() == 2, "{printed}");
    let again = Serving::start_until(&arguments, "baseUrl");
    assert_eq!(started(&again)["token"], first["token"]);
    again.stop();
}

#[tokio::test]
async fn another_upstream_is_served_and_no_token_is_printed() {
    let behind = Running::start("").await;
    let (url, token) = (behind.proxy.base_url(), behind.token().to_owned());
    tokio::task::spawn_blocking(move || {
        let folder = Folder::new();
        let scenario = folder.write("busy.toml", "[[default.groups]]\nstatus = 429\nretry-after = 1\n");
        let seeded = ["--scenario", &scenario, "--pedantic", "--seed", "3"];
        let mut serving = Serving::start(&[["proxy", "--upstream", &url].as_slice(), &seeded].concat());
        let base = serving.word_after("lab");
        let url = format!("{base}/openapi/v1/static/groups");
        for key in [TOKEN, &token] {
            fetch(|http| {
                let request = http.get(&url).query(&[("api_key", key), (key, "1")]).header("x-api-key", key);
                request.bearer_auth("cAn4ry-bearer")
            });
        }
        serving.read_until("2 GET groups");
        let (code, printed) = serving.stop();
        assert_eq!(code, Some(0), "{printed}");
        assert!(
            printed.contains("scenario default, step 1 of groups: responded itself with status 429"),
            "{printed}"
        );
        for secret in [TOKEN, &token, "cAn4ry"] {
            assert!(!printed.contains(secret), "{printed}");
        }
    })
    .await
    .expect("a thread");
}

#[tokio::test]
async fn a_configuration_supplies_the_upstream_and_a_fault_says_what_it_lacks() {
    let behind = Running::start("").await;
    let (url, token) = (behind.proxy.base_url(), behind.token().to_owned());
    let second = behind.reference.target().facts.second_token.clone().expect("a second account");
    tokio::task::spawn_blocking(move || {
        let folder = Folder::new();
        let config = &folder.write("c.toml", "[facts]\nforeign-group = 7\n");
        folder.write("second.txt", second.expose());
        run(&["proxy", "--config", config, "--fault", "groups.token/two-accounts"])
            .assert(2, &["base-url; write it there, or pass --upstream"]);

        let fault = "groups.token/two-accounts";
        let arguments = ["proxy", "--config", config, "--fault", fault, "--fault", "groups.order/descending"];
        folder.write("c.toml", format!("base-url = \"{url}\"\n"));
        let (_, printed) = Serving::start(&arguments).stop();
        let warning = format!("   warning {fault} changes nothing without SALLYPORT_SECOND_API_KEY\n");
        assert!(printed.contains(&warning), "{printed}");
        assert_eq!(printed.matches("changes nothing without").count(), 1, "{printed}");

        folder.write(
            "c.toml",
            format!("base-url = \"{url}\"\n[facts]\nsecond-api-key = {{ file = \"second.txt\" }}\n"),
        );
        let mut serving = Serving::start(&arguments);
        assert!(!serving.printed().contains("warning"), "{}", serving.printed());
        let groups = format!("{}/openapi/v1/static/groups", serving.word_after("lab"));
        fetch(|http| http.get(&groups).query(&[("api_key", token.as_str()), ("api_key", second.expose())]));
        serving.read_until(&format!("      {fault}: "));
        let (_, printed) = serving.stop();
        assert!(!printed.contains(second.expose()) && !printed.contains(&token), "{printed}");

        // A command gives the account's token, as for `run`.
        folder.write(
            "c.toml",
            format!("base-url = \"{url}\"\napi-key = {{ command = [\"echo\", \"{token}\"] }}\n"),
        );
        let mut command = program(&["proxy", "--config", config, "--fault", "extract.whitelist/once"]);
        let printed = RunningProgram::start(command.env_remove("SALLYPORT_API_KEY")).read_until("try curl");
        assert!(!printed.contains("without SALLYPORT_API_KEY"), "{printed}");

        let mut without = program(&["proxy", "--upstream", &url, "--fault", "extract.whitelist/once"]);
        let mut without = RunningProgram::start(without.env_remove("SALLYPORT_API_KEY"));
        let warned = without.read_until("changes nothing without");
        let wanted = "SALLYPORT_API_KEY and SALLYPORT_NOT_WHITELISTED_API_KEY";
        assert!(warned.trim_end().ends_with(wanted), "{warned}");
    })
    .await
    .expect("a thread");
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
    let url = service.base_url();
    tokio::task::spawn_blocking(move || {
        let folder = Folder::new();
        folder.write("key.txt", "gAteway-kEy-77");
        let config =
            format!("base-url = \"{url}\"\n[connection.headers]\nx-gateway = {{ file = \"key.txt\" }}\n");
        let serving = Serving::start(&["proxy", "--config", &folder.write("c.toml", config)]);
        let groups = format!("{}/openapi/v1/static/groups", serving.word_after("lab"));
        let got = fetch(|http| http.get(&groups).header("x-gateway", "the caller's"));
        let (_, printed) = serving.stop();
        assert_eq!(got["got"], "gAteway-kEy-77");
        assert!(!printed.contains("warning") && !printed.contains("gAteway"), "{printed}");
    })
    .await
    .expect("a thread");
}
