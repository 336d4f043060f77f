use crate::run::Profile;
use crate::target::Fact;

const TEMPLATE: &str = include_str!("template.toml");

/// A configuration with a comment on every key, in which every key is commented out.
pub fn template() -> String {
    let fact = |fact: Fact| format!("# {}\n# {} = {}\n", fact.description(), fact.key(), fact.example());
    let values = [
        ("{profiles}", Profile::ALL.map(Profile::name).join(", ")),
        ("{default-profile}", Profile::Production.name().to_owned()),
        ("{gateways}", Profile::Full.budget().gateways.to_string()),
        ("{facts}", Fact::ALL.into_iter().map(fact).collect()),
    ];
    values.into_iter().fold(TEMPLATE.to_owned(), |text, (name, value)| text.replace(name, &value))
}
