use super::*;
use crate::target::Fact;

fn parse(text: &str) -> Result<Config, String> {
    let variable = |name: &str| (name == "HELD").then(|| "hunter2".to_owned());
    Config::parse(Path::new("c.toml"), text, &variable).map_err(|error| error.to_string())
}

#[test]
fn everything_is_read() {
    let config = parse(
        r#"
        base-url = "https://api.invalid"
        profile = "smoke"
        only = ["search.*"]
        api-key = { env = "HELD" }
        allow-http = true
        [budget]
        gateways = 0
        seconds = 90
        rate = 2
        [connection]
        timeout-seconds = 5
        ca-file = "ca.pem"
        client-certificate = "client.pem"
        client-key = "key.pem"
        wait = "90s"
        [connection.headers]
        X-Open = "seen"
        X-Held = { env = "HELD" }
        [facts]
        own-addresses = ["203.0.113.7"]
        orders = [{ number = "SO-1", addresses = ["203.0.113.7", "[2001:db8::1]:80"] }]
        foreign-group = 7
        entitled-protocols = ["http"]
        known-gateways = [{ region = "USA", protocol = "http", gateways = ["gw.invalid:80", "[2001:db8::1]:80"] }]
        egress-ip = "198.51.100.4"
        second-api-key = { env = "HELD" }
        canaries = { env = "HELD" }
        [[expected-failure]]
        clause = "search.total"
        reason = "ticket 9"
        until = 2030-01-31
        "#,
    )
    .expect("a good configuration");
    assert_eq!(config.profile, Some(Profile::Smoke));
    let budget = config.ceilings.over(Profile::Smoke.budget());
    assert_eq!((budget.gateways, budget.wall), (0, Duration::from_secs(90)));
    assert_eq!(budget.requests, Profile::Smoke.budget().requests);
    assert_eq!(config.connection.ca_file.as_deref(), Some(Path::new("ca.pem")));
    assert_eq!(config.connection.client_key.as_deref(), Some(Path::new("key.pem")));
    assert!(config.connection.allow_http);
    assert_eq!(config.connection.wait, Some(Duration::from_secs(90)));
    let public: Vec<bool> = config.connection.headers.iter().map(|header| header.public).collect();
    assert!(public.contains(&true) && public.contains(&false));
    for fact in [
        Fact::OwnAddresses,
        Fact::Orders,
        Fact::KnownGateways,
        Fact::EntitledProtocols,
        Fact::ForeignGroup,
        Fact::EgressIp,
        Fact::SecondToken,
    ] {
        assert!(config.facts.has(fact), "{fact:?}");
    }
    assert_eq!(config.expected[0].until, jiff::civil::date(2030, 1, 31));
    assert!(!format!("{config:?}").contains("hunter2"));
}

#[test]
fn the_template_is_a_configuration_and_names_every_fact() {
    let empty = template();
    let config = parse(&empty).expect("a template is a good configuration");
    assert!(config.base_url.is_none() && Fact::ALL.iter().all(|fact| !config.facts.has(*fact)));
    for fact in Fact::ALL {
        assert!(empty.contains(&format!("# {} = ", fact.key())), "{fact:?}");
    }
}

#[test]
fn every_comment_of_the_template_can_be_uncommented() {
    let uncommented = |line: &str| {
        let line = line.strip_prefix("# ").filter(|line| line.contains(" = ") || line.starts_with("[["));
        line.map(|line| line.replace("\"NAME\"", "\"HELD\"").replace("\"MY_TOKEN\"", "\"HELD\""))
    };
    for line in template().lines().filter_map(uncommented) {
        let key = line.split(' ').next().unwrap_or_default();
        // Only facts can be tested alone, and the files of the examples do not exist.
        let place = if fact_keys().contains(&key.to_owned()) { "[facts]\n" } else { "" };
        if line.contains("file = ") && !line.contains("# or") || line.starts_with("[[") || place.is_empty() {
            continue;
        }
        parse(&format!("{place}{line}")).unwrap_or_else(|error| panic!("{line}: {error}"));
    }
}

fn fact_keys() -> Vec<String> {
    Fact::ALL.into_iter().map(Fact::key).collect()
}

#[test]
fn the_first_facts_take_precedence() {
    let over = parse("[facts]\nforeign-group = 1").expect("good").facts;
    let under = parse("[facts]\nforeign-group = 2\nforeign-order = \"SO-2\"").expect("good").facts;
    let both = over.over(under);
    assert_eq!((both.foreign_group, both.foreign_order.as_deref()), (Some(1), Some("SO-2")));
}
