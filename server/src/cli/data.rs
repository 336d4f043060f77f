//! `server seed`, `server import` and `server export`.

use std::{
    fs::{self, File},
    io::{self, BufReader},
    path::{Path, PathBuf},
    sync::Arc,
};

use sallyport_server::{
    data::{export, import, seed},
    store::{LoadError, Location, OpenMode, Store, record::Loaded},
};

use super::{
    Database, Failure,
    terminal::{remark, say},
};

/// What `seed` is told.
#[derive(clap::Args)]
pub(super) struct SeedArguments {
    #[command(flatten)]
    database: Database,
}

/// What `import` is told.
#[derive(clap::Args)]
pub(super) struct ImportArguments {
    #[command(flatten)]
    database: Database,
    /// File to read, one JSON object a line; `-` is standard input.
    file: PathBuf,
}

/// What `export` is told.
#[derive(clap::Args)]
pub(super) struct ExportArguments {
    #[command(flatten)]
    database: Database,
    /// File to write; `-` is standard output.
    file: PathBuf,
}

/// Fills the database and prints the tokens: the one time that they can be seen.
pub(super) async fn seed(arguments: &SeedArguments) -> Result<(), Failure> {
    let made = Made::open(&arguments.database.location()?).await?;
    let sample = seed::seed(made.store.as_ref()).await?;
    made.keep();
    for line in describe(&sample) {
        say(&line)?;
    }
    Ok(())
}

/// Adds the records of a file.
pub(super) async fn import(arguments: &ImportArguments) -> Result<(), Failure> {
    let file = &arguments.file;
    // The input is opened first, so that a wrong name makes no database.
    let input: Box<dyn io::Read + Send> = if file == Path::new("-") {
        Box::new(io::stdin())
    } else {
        let input = File::open(file);
        Box::new(input.map_err(|error| Failure::Failed(format!("{}: {error}", file.display())))?)
    };
    let made = Made::open(&arguments.database.location()?).await?;
    let loaded = import::import(made.store.as_ref(), BufReader::new(input), progress("read"))
        .await
        .map_err(|error| refused(file, &error))?;
    made.keep();
    say(&format!("imported {}", count(&loaded)))
}

/// Bad lines stand below each other, and each is one line whatever is in it.
fn refused(file: &Path, error: &LoadError) -> Failure {
    let text = error.to_string();
    let summary = |text: &str| format!("{}: {text}", file.display());
    let LoadError::Rejected(bad) = error else { return Failure::Failed(summary(&text)) };
    let lines = bad.lines.iter().map(|(number, reason)| format!("line {number}: {reason}"));
    Failure::Listed(summary(text.lines().next().unwrap_or_default()), lines.collect())
}

/// Writes every record to a file, which appears when it is whole, or to standard output.
pub(super) async fn export(arguments: &ExportArguments) -> Result<(), Failure> {
    let (store, file) = (arguments.database.open().await?, &arguments.file);
    let wrong = |error: &dyn std::error::Error| Failure::Failed(format!("{}: {error}", file.display()));
    let progress = progress("written");
    if file == Path::new("-") {
        export::export(store.as_ref(), io::stdout(), progress).await.map_err(|error| wrong(&error))?;
        return Ok(());
    }
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Nobody else may read it: it has proxy passwords.
    let whole = tempfile::NamedTempFile::new_in(folder).map_err(|error| wrong(&error))?;
    let output = whole.reopen().map_err(|error| wrong(&error))?;
    let unloaded = export::export(store.as_ref(), output, progress).await.map_err(|error| wrong(&error))?;
    whole.as_file().sync_all().map_err(|error| wrong(&error))?;
    whole.persist(file).map_err(|error| wrong(&error))?;
    say(&format!("exported {}", count(&unloaded)))
}

/// Says now and then how many lines there are.
fn progress(done: &'static str) -> impl FnMut(u64) + Send + 'static {
    const STEP: u64 = 100_000;
    let mut said = 0;
    move |lines| {
        if lines / STEP > said {
            said = lines / STEP;
            remark(&format!("{lines} lines {done}"));
        }
    }
}

/// The sample data in words, one line each.
pub(super) fn describe(sample: &seed::Sample) -> Vec<String> {
    let mut lines = vec![format!("sample data: {}", count(&sample.loaded)), String::new()];
    lines.push("tokens, shown this once:".to_owned());
    lines.extend(sample.tokens.list().map(|(name, token)| format!("  {name:<30} {}", token.expose())));
    lines.push(String::new());
    lines.push("regions:".to_owned());
    let scarce = format!("{} (scarce, {})", sample.scarce_region, sample.scarce_count);
    let (plentiful, empty) = (&sample.plentiful_region, &sample.empty_region);
    lines.push(format!("  {plentiful} (plentiful), {scarce}, {empty} (empty)"));
    lines
}

fn count(loaded: &Loaded) -> String {
    let Loaded { accounts, tokens, whitelist, entitlements, gateways, groups, instances } = loaded;
    format!(
        "{accounts} accounts, {tokens} tokens, {whitelist} whitelist entries, {entitlements} entitlements, \
         {gateways} gateways, {groups} groups, {instances} instances"
    )
}

/// A database that goes away again if it was made for a command that failed.
struct Made {
    // In this order: SQLite puts its files away before ours is removed.
    store: Arc<dyn Store>,
    undo: Undo,
}

impl Made {
    async fn open(location: &Location) -> Result<Self, Failure> {
        let undo = Undo(match location {
            Location::File(path) if !path.exists() => Some(path.clone()),
            Location::File(_) | Location::Postgres(_) => None,
        });
        Ok(Self { store: location.open(OpenMode::Create).await?, undo })
    }

    fn keep(mut self) {
        self.undo.0 = None;
    }
}

/// Removes the file, if there is one to remove, when it is dropped.
struct Undo(Option<PathBuf>);

impl Drop for Undo {
    fn drop(&mut self) {
        if let Some(path) = self.0.take() {
            // Where it cannot be removed an empty database stays, which does no harm.
            let _ = fs::remove_file(path);
        }
    }
}
