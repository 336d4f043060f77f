//! Where the reports of a run go: files, standard output, and GitHub's runner.

use std::fs::{File, OpenOptions};
use std::hash::{BuildHasher as _, Hasher as _};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use sallyport_conformance::report::{self, Format};
use sallyport_conformance::{Report, files};

use super::UsageError;
use super::output::{Output, not_written};

/// The variable by which GitHub's runner names the file of the job summary.
const SUMMARY: &str = "GITHUB_STEP_SUMMARY";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReportRequest {
    /// Of GitHub, these are annotations beside what people read, and the job summary.
    pub(crate) format: Format,
    /// None for standard output; what people read goes to standard error then. GitHub's has none either, and stands beside that text.
    pub(crate) file: Option<PathBuf>,
}

impl ReportRequest {
    /// A parser of requests for a report in one of these formats.
    pub(crate) fn one_of(formats: &'static [Format]) -> impl Fn(&str) -> Result<Self, String> + Clone {
        move |text| Self::parse(formats, text)
    }

    fn parse(formats: &[Format], text: &str) -> Result<Self, String> {
        let (name, path) = text.split_once('=').unwrap_or((text, ""));
        let format = Format::named(name).filter(|format| formats.contains(format));
        let is_complete = if format == Some(Format::Github) { text == name } else { !path.is_empty() };
        let file = (!["", "-"].contains(&path)).then(|| path.into());
        let request = format.filter(|_| is_complete).map(|format| Self { format, file });
        request.ok_or_else(|| {
            let forms = formats.iter().map(|format| match format {
                Format::Github => format.name().to_owned(),
                format => format!("{}=FILE", format.name()),
            });
            format!("expected {}", forms.collect::<Vec<_>>().join(", "))
        })
    }

    fn is_to_stdout(&self) -> bool {
        self.file.is_none() && self.format != Format::Github
    }

    /// The file without regard to how its path is written. A device, such as `/dev/null`, takes a report in each format. Without a file
    /// only GitHub's has its format here, which is not the one on standard output.
    fn place(&self) -> (Option<PathBuf>, Option<Format>) {
        let Some(path) = &self.file else { return (None, (!self.is_to_stdout()).then_some(self.format)) };
        if let Ok(known) = path.canonicalize() {
            let is_device = !known.is_file();
            return (Some(known), is_device.then_some(self.format));
        }
        // The file does not exist yet, but its folder does, or else it cannot be written.
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new(".")).canonicalize();
        let path = match (folder, path.file_name()) {
            (Ok(folder), Some(name)) => folder.join(name),
            _ => path.clone(),
        };
        (Some(path), None)
    }
}

impl std::fmt::Display for ReportRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.format.name())?;
        match &self.file {
            Some(path) => write!(f, "={}", path.display()),
            None => f.write_str(if self.is_to_stdout() { "=-" } else { "" }),
        }
    }
}

pub(crate) struct Reports<'a> {
    requests: &'a [ReportRequest],
    /// Where progress and summary go beside them.
    pub(crate) output: Output,
}

impl<'a> Reports<'a> {
    /// Files that can't be written are better known before the run than after it, and so are two reports in one place.
    pub(crate) fn open(requests: &'a [ReportRequest]) -> Result<Self, UsageError> {
        let mut places: Vec<(_, &ReportRequest)> = Vec::new();
        for request in requests {
            let place = request.place();
            if let Some((_, first)) = places.iter().find(|(known, _)| *known == place) {
                return Err(format!(
                    "--report: `{first}` and `{request}` write to the same place; expected one report for each file"
                )
                .into());
            }
            places.push((place, request));
        }
        for request in requests {
            let Some(path) = &request.file else { continue };
            check(path).map_err(|error| {
                let folder =
                    path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.exists());
                let create = |folder: &Path| format!("; create the folder {} first", folder.display());
                let advice = folder.map(create).unwrap_or_default();
                format!("--report: {}: cannot be written: {error}{advice}", path.display())
            })?;
        }
        let is_stdout = requests.iter().any(ReportRequest::is_to_stdout);
        Ok(Self { requests, output: if is_stdout { Output::Stderr } else { Output::Stdout } })
    }

    /// Writes what was asked for; annotations go to `output`. What cannot be written keeps nothing else from being written.
    pub(crate) fn write(&self, report: &Report) {
        self.write_rendered(|format, writer| format.write(report, writer));
        if self.has_workflow() {
            append_summary(report);
        }
    }

    /// The same for another kind of report, which `render` writes in each format that was asked for.
    pub(crate) fn write_rendered(&self, render: impl Fn(Format, &mut dyn io::Write) -> io::Result<()>) {
        let mut output = self.output;
        for request in self.requests {
            let render = |writer: &mut dyn io::Write| render(request.format, writer);
            let written = match &request.file {
                None if request.is_to_stdout() => render(&mut io::BufWriter::new(Output::Stdout)),
                None => render(&mut output),
                Some(path) if is_special(path) => write_through(path, render),
                Some(path) => files::replace(path, render),
            };
            if let Err(error) = written {
                not_written(&format!("the report `{request}`"), &error);
            }
        }
    }

    fn has_workflow(&self) -> bool {
        self.requests.iter().any(|request| request.format == Format::Github)
    }

    /// Keeps GitHub's runner from taking what a service says for commands, until the text that is returned is printed.
    pub(crate) fn without_commands(&self) -> String {
        if !self.has_workflow() {
            return String::new();
        }
        let (stop, resume) = report::without_commands(&unguessable());
        self.output.print(&stop);
        resume
    }
}

/// Whether a path is of a pipe or a device, which is written to as it is, and not of a file, which is replaced.
fn is_special(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

fn check(path: &Path) -> io::Result<()> {
    if is_special(path) {
        // Opening a pipe waits for its reader, who would take what comes before the report for its end.
        return Ok(());
    }
    // Whoever can write to the folder, such as the author of a commit, must not choose what is written over.
    if path.is_symlink() {
        return Err(io::Error::other("it is a symbolic link; pass the path of the file, or `-`"));
    }
    files::check(path)
}

fn write_through(path: &Path, render: impl Fn(&mut dyn io::Write) -> io::Result<()>) -> io::Result<()> {
    let mut writer = io::BufWriter::new(File::options().write(true).open(path)?);
    render(&mut writer)?;
    writer.flush()
}

/// Outside of GitHub's runner there is no such file, and the annotations alone are printed.
fn append_summary(report: &Report) {
    let Some(path) = std::env::var_os(SUMMARY).filter(|path| !path.is_empty()) else { return };
    let path = PathBuf::from(path);
    let opened = OpenOptions::new().create(true).append(true).open(&path);
    let summary = report::job_summary(report).map_err(io::Error::other);
    if let Err(error) = opened.and_then(|mut file| file.write_all(summary?.as_bytes())) {
        not_written(&format!("the summary of {SUMMARY} to {}", path.display()), &error);
    }
}

/// A word that no service can know: the keys of the standard library's hashers come from the operating system.
fn unguessable() -> String {
    let number = || std::hash::RandomState::new().build_hasher().finish();
    format!("conformance-{:016x}{:016x}", number(), number())
}
