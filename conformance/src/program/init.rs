use std::fs::OpenOptions;
use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::path::Path;

use sallyport_conformance::Verdict;
use sallyport_conformance::config::{Answers, template};
use sallyport_conformance::run::Profile;

use super::UsageError;
use super::run::print;

/// `conformance init`.
pub(crate) fn init(file: &Path, force: bool) -> Result<Verdict, UsageError> {
    if file.exists() && !force {
        return Err(format!("{} already exists; choose another name or pass --force", file.display()).into());
    }
    let asked = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let answers = if asked { ask()? } else { Answers::default() };
    let mut opening = OpenOptions::new();
    // Another process may have created it since the check above.
    if force {
        opening.create(true).truncate(true)
    } else {
        opening.create_new(true)
    };
    let written =
        opening.write(true).open(file).and_then(|mut open| open.write_all(template(&answers).as_bytes()));
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
    let own = line("Addresses of the account's instances, separated by commas")?.unwrap_or_default();
    let own_addresses =
        own.split(',').map(str::trim).filter(|address| !address.is_empty()).map(str::to_owned);
    Ok(Answers { base_url, profile, own_addresses: own_addresses.collect() })
}

/// A response; none when it is left empty.
fn line(question: &str) -> Result<Option<String>, UsageError> {
    print(&format!("{question} (empty to leave out): "));
    std::io::stdout().flush()?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    let answer = answer.trim();
    Ok((!answer.is_empty()).then(|| answer.to_owned()))
}
