use std::fmt::Write as _;
use std::path::Path;

use sallyport_conformance::contract::{Clause, Unspecified};
use sallyport_conformance::report::{plain, quantity};
use sallyport_conformance::run::SessionError;
use sallyport_conformance::snapshot::{self, Recording};
use sallyport_conformance::{Contract, Verdict, files};

use super::UsageError;
use super::arguments::TargetArguments;
use super::output::{not_written, print};
use super::run::with_target;
use super::setup::{AccountToken, Setup};

pub(crate) async fn record(folder: &Path, arguments: &TargetArguments) -> Result<Verdict, UsageError> {
    // Before requests and gateways are spent on what cannot be kept.
    std::fs::create_dir_all(folder)
        .and_then(|()| files::check(&folder.join("recording")))
        .map_err(|error| format!("{}: cannot be written: {error}", folder.display()))?;
    match observed(arguments).await? {
        Ok(recording) => {
            if let Err(error) = recording.write(folder) {
                not_written("the recording", &error);
                return Ok(Verdict::Conforms);
            }
            print(&format!(
                "wrote {} to {}\n",
                quantity(recording.entries.len(), "case"),
                plain(&folder.to_string_lossy())
            ));
            Ok(Verdict::Conforms)
        }
        Err(verdict) => Ok(verdict),
    }
}

/// `conformance compare`. Differences are no verdict on either side: unspecified behaviour may be decided in any way.
pub(crate) async fn compare(
    before: &Path,
    after: Option<&Path>,
    arguments: &TargetArguments,
) -> Result<Verdict, UsageError> {
    let before = Recording::read(before)?;
    let after = match after {
        Some(folder) => Recording::read(folder)?,
        None => match observed(arguments).await? {
            Ok(recording) => recording,
            Err(verdict) => return Ok(verdict),
        },
    };
    let contract = Contract::embedded()?;
    let differences = before.differences(&after);
    let (mut text, catalogue) = (String::new(), &contract.catalogue);
    for of_subject in differences.chunk_by(|(_, one), (_, other)| one.subject == other.subject) {
        let id = of_subject[0].1.subject.as_str();
        let clause = Clause::from_id(id).map(|clause| &catalogue.clause(clause).text);
        let open = Unspecified::from_id(id).map(|unspecified| &catalogue.unspecified(unspecified).text);
        let _ = writeln!(text, "\n{}: {}", plain(id), clause.or(open).map_or("", String::as_str));
        for (case, difference) in of_subject {
            let _ = writeln!(text, "  {}", plain(case));
            for line in difference.text.split('\n').filter(|line| !line.is_empty()) {
                let _ = writeln!(text, "    {}", plain(line));
            }
        }
    }
    let differ = if differences.len() == 1 { "differs" } else { "differ" };
    let _ = writeln!(text, "\n{} {differ}", quantity(differences.len(), "case"));
    print(&text);
    Ok(if differences.is_empty() { Verdict::Conforms } else { Verdict::Findings })
}

/// Records how the target behaves now; the verdict when that is impossible.
async fn observed(arguments: &TargetArguments) -> Result<Result<Recording, Verdict>, UsageError> {
    let contract = Contract::embedded()?;
    let Setup { target, options, .. } = Setup::new(arguments, AccountToken::Required)?;
    let recorded =
        with_target(target, None, async |target| Ok(snapshot::record(contract, target, &options).await));
    match recorded.await? {
        Ok((recording, left_out)) => {
            if !left_out.is_empty() {
                let names = left_out.join(", ");
                print(&format!("left out, because they would exceed --max-gateways: {names}\n"));
            }
            Ok(Ok(recording))
        }
        Err(SessionError::Setup(error)) => Err(error.into()),
        Err(error) => {
            print(&format!("{}\n", plain(&error.to_string())));
            Ok(Err(match error {
                SessionError::Unreachable(verdict, _) => verdict,
                _ => Verdict::Incomplete,
            }))
        }
    }
}
