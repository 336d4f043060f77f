//! `server seed`, `server create`, `server import` and `server export`.

use std::{
    env,
    fs::{self, File},
    io::{self, BufReader},
    os::fd::AsFd as _,
    path::Path,
};

use sallyport_server::{
    data::{
        facts::{CONFIGURATION, write as write_facts},
        import, seed,
    },
    printable::counted,
    sandbox::Sandbox,
    store::{LoadError, OpenError, OpenMode, RecordKind, Unusable, record::RecordCounts},
};

use super::{Database, Failure, print_line};

/// Fills the database and prints the tokens, which are not shown again.
pub(super) async fn seed(database: &Database, facts: Option<&Path>) -> Result<(), Failure> {
    // Checked before the tokens exist, because they are shown only once.
    if let Some(folder) = facts.filter(|folder| folder.exists()) {
        return Err(Failure::Failed(format!("{}: already exists; choose another folder", folder.display())));
    }
    let store = database.location()?.open(OpenMode::Create).await?;
    let sample = seed::seed(store.as_ref()).await?;
    for line in describe(&sample) {
        print_line(&line)?;
    }
    if let Some(folder) = facts {
        let failed = |error| Failure::Failed(format!("{}: {error}", folder.display()));
        write_facts(folder, &sample).map_err(failed)?;
        let file = folder.join(CONFIGURATION);
        print_line("")?;
        print_line(&format!(
            "facts for the conformance suite: conformance run --base-url URL --config {}",
            file.display()
        ))?;
    }
    Ok(())
}

/// Creates an empty database, unless it exists.
pub(super) async fn create(database: &Database) -> Result<(), Failure> {
    let location = database.location()?;
    match location.open(OpenMode::Existing).await {
        Ok(_) => print_line(&format!("{location}: already exists; its tables are up to date")),
        Err(OpenError { reason: Unusable::Missing, .. }) => {
            location.open(OpenMode::Create).await?;
            print_line(&format!("{location}: created, without accounts; add one with `server put account`"))
        }
        Err(error) => Err(error.into()),
    }
}

/// Adds the records of a file.
pub(super) async fn import(database: &Database, file: &Path) -> Result<(), Failure> {
    let wrong = |error: &dyn std::error::Error| Failure::Failed(format!("{}: {error}", file.display()));
    let location = database.location()?;
    // The input is read before the database is opened: a wrong file name must not create a database, and a pipe that stalls
    // must not hold a lock.
    let input = if file == Path::new("-") {
        io::stdin().as_fd().try_clone_to_owned().map(File::from)
    } else {
        File::open(file)
    };
    let input = import::spool(input.map_err(|error| wrong(&error))?).map_err(|error| {
        let (file, folder) = (file.display(), env::temp_dir());
        Failure::Failed(match error.kind() {
            io::ErrorKind::IsADirectory => {
                format!("{file}: is a folder; pass a file, or `-` for standard input")
            }
            _ => format!(
                "{file}: cannot copy the input to {}: {error}; if that folder is full, set TMPDIR to another",
                folder.display()
            ),
        })
    })?;
    let store = location.open(OpenMode::Create).await?;
    let loaded = import::import(store.as_ref(), BufReader::new(input)).await;
    let loaded = loaded.map_err(|error| import_failed(file, &error))?;
    print_line(&format!("imported {}", described_counts(&loaded)))
}

/// The failure of an import, with one line for each invalid line.
fn import_failed(file: &Path, error: &LoadError) -> Failure {
    let text = error.to_string();
    let summary = |text: &str| format!("{}: {text}", file.display());
    let LoadError::Rejected(bad) = error else { return Failure::Failed(summary(&text)) };
    let lines = bad.lines.iter().map(|(number, reason)| format!("line {number}: {reason}"));
    Failure::FailedWithDetails(summary(text.lines().next().unwrap_or_default()), lines.collect())
}

/// Writes every record to standard output, or to a new file, which has its name once it is complete.
pub(super) async fn export(database: &Database, file: &Path) -> Result<(), Failure> {
    let store = database.open().await?;
    let wrong = |error: &dyn std::error::Error| Failure::Failed(format!("{}: {error}", file.display()));
    if file == Path::new("-") {
        return store.export(io::stdout()).await.map(drop).map_err(|error| wrong(&error));
    }
    let exists = || Failure::Failed(format!("{}: already exists; choose another name", file.display()));
    if fs::symlink_metadata(file).is_ok() {
        return Err(exists());
    }
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        let (file, folder) = (file.display(), folder.display());
        return Err(Failure::Failed(format!(
            "{file}: the folder {folder} does not exist; create it, or choose another"
        )));
    }
    // Only the owner may read it, because it has proxy passwords.
    let whole = tempfile::NamedTempFile::new_in(folder).map_err(|error| wrong(&error))?;
    let output = whole.reopen().map_err(|error| wrong(&error))?;
    let exported = store.export(output).await.map_err(|error| wrong(&error))?;
    whole.as_file().sync_all().map_err(|error| wrong(&error))?;
    whole.persist_noclobber(file).map_err(|failed| match failed.error.kind() {
        io::ErrorKind::AlreadyExists => exists(),
        _ => wrong(&failed.error),
    })?;
    print_line(&format!("exported {}", described_counts(&exported)))
}

/// Describes the sample data, in lines.
pub(super) fn describe(sample: &seed::Sample) -> Vec<String> {
    let mut lines = vec![format!("sample data: {}", described_counts(&sample.loaded)), String::new()];
    lines.push("tokens, which are not shown again:".to_owned());
    lines.extend(
        sample.tokens.list().map(|it| {
            format!("  {:<40} {}", format!("{} ({})", it.description, it.account), it.token.expose())
        }),
    );
    lines.push(String::new());
    lines.push("regions:".to_owned());
    let scarce = format!("{} (scarce, {})", sample.scarce_region, sample.scarce_count);
    let (plentiful, empty) = (&sample.plentiful_region, &sample.empty_region);
    lines.push(format!("  {plentiful} (plentiful), {scarce}, {empty} (empty)"));
    lines
}

/// Describes a sandbox: its data, and commands to paste.
pub(super) fn describe_sandbox(sandbox: &Sandbox) -> Vec<String> {
    let mut lines = describe(sandbox.sample());
    let description = sandbox.description();
    lines.extend([String::new(), "commands to paste:".to_owned()]);
    // The environment variables that the client and the suite read.
    lines.push(format!("  export SALLYPORT_BASE_URL={}", description.base_url));
    lines.push(format!("  export SALLYPORT_API_KEY={}", sandbox.token().expose()));
    lines.extend(description.curl.iter().map(|command| format!("  {command}")));
    let clock = &description.clock;
    lines.push(String::new());
    lines.push(format!("the contract: {}", description.docs));
    lines.push(format!("a clock that can be set: curl -X PUT {clock} -d '{{\"advanceSeconds\": 3600}}'"));
    lines.push(String::new());
    lines
}

fn described_counts(counts: &RecordCounts) -> String {
    RecordKind::ALL.map(|kind| counted(counts[kind as usize], kind.noun())).join(", ")
}
