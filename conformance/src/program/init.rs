use std::fs::File;
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::path::Path;

use sallyport_conformance::config::{Answers, quoted, template};
use sallyport_conformance::run::Profile;
use sallyport_conformance::target::{Fact, KnownInstance, fact_from};
use sallyport_conformance::{Facts, Verdict, files};

use super::UsageError;
use super::output::print;

/// `conformance init`.
pub(crate) fn init(file: &Path, force: bool, ask_always: bool) -> Result<Verdict, UsageError> {
    if file.exists() && !force {
        return Err(format!("{} already exists; choose another name or pass --force", file.display()).into());
    }
    let asked = ask_always || io::stdin().is_terminal() && io::stdout().is_terminal();
    let answers = if asked { ask()? } else { Answers::default() };
    let text = template(&answers);
    let written: io::Result<()> = if force {
        files::replace(file, |open| open.write_all(text.as_bytes()))
    } else {
        // Another process may have created it since the check above.
        File::create_new(file).and_then(|mut open| open.write_all(text.as_bytes()))
    };
    written.map_err(|error| format!("{}: {error}", file.display()))?;
    print(&format!(
        "wrote {0}; set SALLYPORT_API_KEY and see what would run: conformance plan --config {0}\n",
        file.display()
    ));
    Ok(Verdict::Conforms)
}

fn ask() -> Result<Answers, UsageError> {
    let profiles = Profile::ALL.map(Profile::name).join(", ");
    let base_url = line("Base URL of the service")?;
    let profile = loop {
        match line(&format!("Profile ({profiles})"))? {
            None => break None,
            Some(name) => match Profile::named(&name) {
                Some(profile) => break Some(profile),
                None => print(&format!("expected one of {profiles}\n")),
            },
        }
    };
    let mut facts = Vec::new();
    // A list of tokens with reasons is easier to write than to be asked for; the template shows its form.
    for fact in Fact::ALL.into_iter().filter(|fact| *fact != Fact::RejectedTokens) {
        facts.extend(answered(fact)?.map(|value| (fact, value)));
    }
    Ok(Answers { base_url, profile, facts })
}

/// Asks for a fact until the answer has its form or is empty; gives the value as the configuration writes it.
fn answered(fact: Fact) -> Result<Option<String>, UsageError> {
    let (question, kind) = question(fact);
    loop {
        let Some(answer) = line(&question)? else { return Ok(None) };
        let value = match kind {
            Kind::SecretVariable => is_variable(&answer)
                .then(|| format!("{{ env = {} }}", quoted(&answer)))
                .ok_or_else(|| "expected the name of a variable, not the secret itself".to_owned()),
            Kind::SecretFile => Ok(format!("{{ file = {} }}", quoted(&answer))),
            Kind::Instances => {
                let read =
                    KnownInstance::read(Path::new(&answer)).map_err(|reason| format!("expected {reason}"));
                read.map(|_| format!("{{ file = {} }}", quoted(&answer)))
            }
            Kind::Value => {
                let mut facts = Facts::default();
                let read = fact_from(&mut facts, fact, &answer).map_err(|error| error.to_string());
                read.map(|()| facts.toml(fact).unwrap_or_default())
            }
        };
        match value {
            Ok(value) => return Ok(Some(value)),
            Err(reason) => print(&format!("{reason}\n")),
        }
    }
}

/// How a fact is asked for.
#[derive(Clone, Copy)]
enum Kind {
    /// The variable that holds a secret: the secret itself has no place in the configuration.
    SecretVariable,
    /// The file that holds secrets.
    SecretFile,
    /// A file of instances.
    Instances,
    /// The value in the form of its variable.
    Value,
}

fn question(fact: Fact) -> (String, Kind) {
    let what = fact.description();
    match fact {
        Fact::SecondToken
        | Fact::EmptyToken
        | Fact::LinkCredential
        | Fact::RevokedToken
        | Fact::TokenNotWhitelisted
        | Fact::TokenNotVerified
        | Fact::TokenNotEntitled
        | Fact::TokenPartlyEntitled => (format!("Variable that holds {what}"), Kind::SecretVariable),
        Fact::Canaries => (format!("File that holds {what}, one a line"), Kind::SecretFile),
        Fact::KnownInstances => (format!("Path of {what}"), Kind::Instances),
        Fact::Orders => (format!("{what}, as NUMBER=ADDRESS+ADDRESS, separated by commas"), Kind::Value),
        Fact::KnownGateways => {
            (format!("{what}, as REGION/PROTOCOL=HOST:PORT+HOST:PORT, separated by commas"), Kind::Value)
        }
        Fact::OwnAddresses | Fact::ForeignAddresses | Fact::EntitledProtocols | Fact::OwnGroups => {
            (format!("{what}, separated by commas"), Kind::Value)
        }
        Fact::RejectedTokens
        | Fact::ForeignOrder
        | Fact::ForeignGroup
        | Fact::SharedAddress
        | Fact::PlentifulRegion
        | Fact::ScarceRegion
        | Fact::EmptyRegion
        | Fact::EgressIp => (what.to_owned(), Kind::Value),
    }
}

/// Whether a text has the form of a variable's name, which hardly any token has.
fn is_variable(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_uppercase() || c == '_')
        && text.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

/// A response; none when it is left empty.
fn line(question: &str) -> Result<Option<String>, UsageError> {
    print(&format!("{question} (empty to leave out): "));
    io::stdout().flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    let answer = answer.trim();
    Ok((!answer.is_empty()).then(|| answer.to_owned()))
}
