use super::*;

fn parse(text: &str) -> Result<Config, String> {
    let variable = |name: &str| (name == "HELD").then(|| "hunter2".to_owned());
    Config::parse(Path::new("c.toml"), text, &variable).map_err(|error| error.to_string())
}

#[test]
fn each_example_of_a_fact_is_read() {
    // There are no such files.
    let with_file = [Fact::KnownInstances, Fact::Canaries];
    for fact in Fact::ALL.into_iter().filter(|fact| !with_file.contains(fact)) {
        let text = format!("[facts]\n{} = {}", fact.key(), fact.example().replace("NAME", "HELD"));
        assert!(parse(&text).expect(&text).facts.has(fact), "{text}");
    }
}
