use super::fact_key;
use crate::run::Profile;
use crate::target::{Fact, quoted};

/// The values that `init` asks for.
#[derive(Debug, Clone, Default)]
pub struct Answers {
    /// Base URL of the target.
    pub base_url: Option<String>,
    /// Name of the profile.
    pub profile: Option<Profile>,
    /// Facts with their values in TOML.
    pub facts: Vec<(Fact, String)>,
}

const TEMPLATE: &str = include_str!("template.toml");

/// A configuration with a comment on every key. Keys without an answer are commented out.
pub fn template(answers: &Answers) -> String {
    let fact = |fact: Fact| {
        let answer = answers.facts.iter().find(|(answered, _)| *answered == fact);
        let (mark, value) = answer.map_or(("# ", fact.example()), |(_, value)| ("", value.as_str()));
        format!("# {}\n{mark}{} = {value}\n", fact.description(), fact_key(fact))
    };
    let line = |key: &str, answer: Option<&str>, example: &str| {
        let mark = if answer.is_some() { "" } else { "# " };
        format!("{mark}{key} = {}", quoted(answer.unwrap_or(example)))
    };
    let default = Profile::Production.name();
    let values = [
        ("{profiles}", Profile::ALL.map(Profile::name).join(", ")),
        ("{default-profile}", default.to_owned()),
        ("{gateways}", Profile::Full.budget().gateways.to_string()),
        ("{profile}", line("profile", answers.profile.map(Profile::name), default)),
        ("{facts}", Fact::ALL.into_iter().map(fact).collect()),
        ("{base-url}", line("base-url", answers.base_url.as_deref(), "https://api.example.com")),
    ];
    values.into_iter().fold(TEMPLATE.to_owned(), |text, (name, value)| text.replace(name, &value))
}
