use std::fs::File;
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::path::Path;

use sallyport_conformance::config::{Answers, quoted, template};
use sallyport_conformance::run::Profile;
use sallyport_conformance::target::{Fact, TargetError, fact_from};
use sallyport_conformance::{Facts, Secret, Target, Verdict, files};

use super::UsageError;
use super::output::print;

/// `conformance init`.
pub(crate) fn init(file: &Path, force: bool, ask_always: bool) -> Result<Verdict, UsageError> {
    if file.exists() && !force {
        return Err(format!("{} already exists; choose another name or pass --force", file.display()).into());
    }
    let asked = ask_always || io::stdin().is_terminal() && io::stdout().is_terminal();
    let answers = if asked { ask(file.parent().unwrap_or(Path::new("")))? } else { Answers::default() };
    let text = template(&answers);
    let written: io::Result<()> = if force {
        files::replace(file, |open| open.write_all(text.as_bytes()))
    } else {
        // Another process may have created it since the check above.
        File::create_new(file).and_then(|mut open| open.write_all(text.as_bytes()))
    };
    written.map_err(|error| format!("{}: {error}", file.display()))?;
    let url = if answers.base_url.is_none() { "write base-url into it, " } else { "" };
    print(&format!(
        "wrote {0}; {url}set SALLYPORT_API_KEY and see what would run: conformance plan --config {0}\n",
        file.display()
    ));
    Ok(Verdict::Conforms)
}

/// `folder` is that of the configuration, to which paths in it are relative.
fn ask(folder: &Path) -> Result<Answers, UsageError> {
    let profiles = Profile::ALL.map(Profile::name).join(", ");
    let base_url = loop {
        let Some(url) = line("Base URL of the service")? else { break None };
        match checked(&url, &Facts::default()) {
            Ok(()) => break Some(url),
            Err(TargetError::PlainHttp) => {
                print("plain http sends the token unencrypted; runs need allow-http = true in the file\n");
                break Some(url);
            }
            Err(error) => print(&format!("{error}\n")),
        }
    };
    let profile = loop {
        match line(&format!("Profile ({profiles})"))? {
            None => break None,
            Some(name) => match Profile::named(&name) {
                Some(profile) => break Some(profile),
                None => print(&format!("expected one of {profiles}\n")),
            },
        }
    };
    let (mut facts, mut known) = (Vec::new(), Facts::default());
    // A list of tokens with reasons is easier to write than to be asked for; the template shows its form.
    for fact in Fact::ALL.into_iter().filter(|fact| *fact != Fact::RejectedTokens) {
        facts.extend(answered(fact, &mut known, folder)?.map(|value| (fact, value)));
    }
    Ok(Answers { base_url, profile, facts })
}

/// What is wrong with a base URL and facts, as a run would say before it sends anything.
fn checked(base_url: &str, facts: &Facts) -> Result<(), TargetError> {
    let token = Secret::new("API_KEY", "the token is not asked for");
    Target::new(base_url, token, facts.clone(), false).map(drop)
}

/// Asks for a fact until the answer has its form and contradicts none of the `known` facts, or is empty; gives the value as the
/// configuration writes it.
fn answered(fact: Fact, known: &mut Facts, folder: &Path) -> Result<Option<String>, UsageError> {
    let (question, kind) = question(fact);
    loop {
        let Some(answer) = line(&question)? else { return Ok(None) };
        let file = folder.join(&answer);
        let value = match kind {
            Kind::SecretVariable => is_variable(&answer)
                .then(|| format!("{{ env = {} }}", quoted(&answer)))
                .ok_or_else(|| "expected the name of a variable, not the secret itself".to_owned()),
            Kind::SecretFile if file.is_file() => Ok(format!("{{ file = {} }}", quoted(&answer))),
            Kind::SecretFile => Err(format!("expected a file, found none at {}", file.display())),
            Kind::Instances => supplied(known, fact, &file.to_string_lossy())
                .map(|_| format!("{{ file = {} }}", quoted(&answer))),
            Kind::Value => supplied(known, fact, &answer).map(|facts| facts.toml(fact).unwrap_or_default()),
        };
        match value {
            Ok(value) => return Ok(Some(value)),
            Err(reason) => print(&format!("{reason}\n")),
        }
    }
}

/// Adds a fact to the `known` ones, if it has its form and contradicts none of them.
fn supplied<'a>(known: &'a mut Facts, fact: Fact, answer: &str) -> Result<&'a Facts, String> {
    let mut facts = known.clone();
    fact_from(&mut facts, fact, answer).map_err(|error| error.to_string())?;
    match checked("https://localhost", &facts) {
        Err(TargetError::Facts(wrong)) => Err(wrong.join("; ")),
        Err(error) => Err(error.to_string()),
        Ok(()) => {
            *known = facts;
            Ok(known)
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
