//! The programs of one of the two documents, built outside of the repository.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use super::process::{Background, bounded};
use crate::{
    document::Document,
    emit,
    problem::DOCUMENT,
    task::{
        cargo::{PACKAGES, PROGRAM_ARGUMENTS, built_programs, cargo},
        render,
    },
};

/// What a side is built from.
#[derive(Debug)]
pub(in crate::task) enum Source<'a> {
    /// The working tree.
    Tree,
    /// A revision of git, with its own code.
    Revision(&'a str),
    /// A file: the code of the last commit, generated from this document.
    File { document: &'a Document, text: &'a str, name: &'a str },
}

/// The programs that take part.
const PROGRAMS: [&str; 3] = ["server", "conformance", "sallyport"];

/// How long a server may take until it listens, and a seed until it is done.
const SHORT: Duration = Duration::from_secs(60);

/// The built programs of a side.
#[derive(Debug)]
pub(super) struct Side {
    programs: BTreeMap<String, PathBuf>,
    folder: PathBuf,
    /// What was built, from what and in which time.
    pub(super) built: String,
}

/// A server of a side with sample data, and the folder of facts about them.
#[derive(Debug)]
pub(super) struct SampleServer {
    _server: Background,
    pub(super) url: String,
    pub(super) facts: PathBuf,
}

impl Side {
    /// Builds the side `name` in `work`, whose `target` both sides share.
    pub(super) fn build(
        root: &Path,
        work: &Path,
        name: &str,
        source: &Source<'_>,
        limit: Duration,
    ) -> Result<Self, String> {
        let folder = work.join(name);
        clear(&folder)?;
        let (sources, described) = match source {
            Source::Tree => (root.to_owned(), "the working tree".to_owned()),
            Source::Revision(revision) => {
                (check_out(root, &folder, revision)?, format!("revision {revision}"))
            }
            Source::File { document, text, name } => {
                let sources = check_out(root, &folder, "HEAD")?;
                generate(&sources, document, text)?;
                (sources, format!("the code of HEAD generated from {name}"))
            }
        };
        let begun = Instant::now();
        let built = build(&sources, &work.join("target"), limit);
        let seconds = begun.elapsed().as_secs();
        let programs = built.and_then(|built| keep(&built, &folder));
        if !matches!(source, Source::Tree) {
            leave(root, &sources);
        }
        let programs = programs.map_err(|error| {
            format!("{error}error: the {name} side ({described}) does not build; name a revision whose code fits its document\n")
        })?;
        Ok(Self { programs, folder, built: format!("{name}: {described}, built in {seconds} s") })
    }

    /// Where the suite of this side writes its report.
    pub(super) fn report(&self) -> PathBuf {
        self.folder.join("report.json")
    }

    /// A command of one of the programs.
    pub(super) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.programs.get(program).cloned().unwrap_or_default());
        for (name, _) in std::env::vars_os() {
            // The programs must not read the SALLYPORT_ variables of the caller.
            if name.to_string_lossy().starts_with("SALLYPORT_") {
                command.env_remove(name);
            }
        }
        command.current_dir(&self.folder);
        command
    }

    /// Serves sample data on a free port of this machine.
    pub(super) fn serve(&self) -> Result<SampleServer, String> {
        let (data, facts) = (self.folder.join("sample.db"), self.folder.join("facts"));
        let seeded = bounded(
            self.command("server").arg("seed").arg("--db").arg(&data).arg("--facts").arg(&facts),
            SHORT,
        )?;
        if !seeded.status.success() {
            return Err(format!("{}error: cannot fill a database with sample data\n", seeded.stderr));
        }
        let mut command = self.command("server");
        command.arg("run").arg("--db").arg(&data).args(["--listen", "127.0.0.1:0"]);
        let (server, url) = Background::start(&mut command, "listening on ", SHORT)?;
        Ok(SampleServer { _server: server, url, facts })
    }
}

/// A folder that is empty, or was never there.
fn clear(folder: &Path) -> Result<(), String> {
    let failed = |error| format!("error: cannot clear {}: {error}\n", folder.display());
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(failed)?;
    }
    fs::create_dir_all(folder).map_err(failed)
}

/// A worktree of the revision.
fn check_out(root: &Path, folder: &Path, revision: &str) -> Result<PathBuf, String> {
    let sources = folder.join("source");
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        bounded(command.current_dir(root).args(arguments), SHORT)
    };
    // One of an earlier run whose folder is gone.
    git(&["worktree", "prune"])?;
    let place = sources.to_string_lossy().into_owned();
    let added = git(&["worktree", "add", "--quiet", "--detach", "--force", &place, revision])?;
    if added.status.success() {
        return Ok(sources);
    }
    Err(format!("{}error: cannot check out `{revision}`\n", added.stderr))
}

/// Removes a worktree; what is left of it after a failure is pruned by the next run.
fn leave(root: &Path, sources: &Path) {
    let mut command = Command::new("git");
    let place = sources.to_string_lossy().into_owned();
    let _ = bounded(command.current_dir(root).args(["worktree", "remove", "--force", &place]), SHORT);
}

/// Writes the document and all code that is generated from it.
fn generate(sources: &Path, document: &Document, text: &str) -> Result<(), String> {
    let write = |path: &str, contents: &str| {
        fs::write(sources.join(path), contents)
            .map_err(|error| format!("error: cannot write {path}: {error}\n"))
    };
    write(DOCUMENT, text)?;
    for artifact in emit::code(document).map_err(|problems| render(&problems))? {
        write(artifact.path, &artifact.contents)?;
    }
    Ok(())
}

fn build(sources: &Path, target: &Path, limit: Duration) -> Result<BTreeMap<String, PathBuf>, String> {
    // Both sides build packages of the same names into one folder, and Cargo compares modification times: files of a working
    // tree may be older than what was built from the other side.
    let mut clean = cargo();
    clean.current_dir(sources).args(["clean", "--quiet", "--locked", "--target-dir"]).arg(target);
    clean.args(PACKAGES);
    let ended = bounded(&mut clean, SHORT)?;
    if !ended.status.success() {
        return Err(ended.stderr);
    }
    let mut command = cargo();
    command
        .current_dir(sources)
        .args(["build", "--locked", "--message-format", "json-render-diagnostics", "--target-dir"])
        .arg(target)
        .args(PACKAGES)
        .args(PROGRAM_ARGUMENTS);
    let ended = bounded(&mut command, limit)?;
    if !ended.status.success() {
        return Err(ended.stderr);
    }
    Ok(built_programs(&ended.stdout))
}

/// Copies the programs, since the other side builds into the same folder.
fn keep(built: &BTreeMap<String, PathBuf>, folder: &Path) -> Result<BTreeMap<String, PathBuf>, String> {
    let copy = |name: &str| {
        let from = built.get(name).ok_or_else(|| format!("error: cargo built no `{name}`\n"))?;
        let to = folder.join(name);
        fs::copy(from, &to).map_err(|error| format!("error: cannot copy {}: {error}\n", from.display()))?;
        Ok((name.to_owned(), to))
    };
    PROGRAMS.into_iter().map(copy).collect()
}
