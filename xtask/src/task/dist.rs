//! `cargo xtask dist`: what a release consists of.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use regex::Regex;
use serde_json::Value;

use super::{
    cannot_write, read,
    wheel::{self, Wheel},
    write,
};

/// The programs that are released: name, folder of the package, and features without which there is no program.
const PROGRAMS: [(&str, &str, &[&str]); 3] = [
    ("conformance", "conformance", &[]),
    ("server", "server", &[]),
    ("sallyport", "client", &["--features", "sallyport-client/cli"]),
];

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Write to this folder, which is created [default: target/dist of the workspace].
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Build for this target, which `rustup target add` installs [default: this machine].
    #[arg(long, value_name = "TRIPLE")]
    target: Option<String>,
    /// Build with this profile; `dev` is quick and large.
    #[arg(long, value_name = "NAME", default_value = "release")]
    profile: String,
    /// Pack the programs of this folder, and build none.
    #[arg(long, value_name = "FOLDER", conflicts_with = "profile")]
    built: Option<PathBuf>,
    /// Build only this program: conformance, server or sallyport; may be repeated [default: all].
    #[arg(long, value_name = "NAME", value_parser = ["conformance", "server", "sallyport"])]
    program: Vec<String>,
}

/// Builds the programs and writes, for each, an archive and a wheel; at last the checksums of all.
///
/// Fails with a report when something does not build or cannot be written.
pub(crate) fn run(root: &Path, arguments: &Arguments) -> Result<String, String> {
    let out = arguments.out.clone().unwrap_or_else(|| root.join("target/dist"));
    let out = std::path::absolute(out).map_err(|error| format!("error: {error}\n"))?;
    let printed = output(Command::new("rustc").arg("-vV"), "rustc -vV")?;
    let host = printed.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default();
    let target = arguments.target.as_deref().unwrap_or(host);
    let version = env!("CARGO_PKG_VERSION");
    let mut written = Vec::new();
    for (program, folder, features) in PROGRAMS {
        if !arguments.program.is_empty() && !arguments.program.iter().any(|name| name == program) {
            continue;
        }
        let shown = if program == "sallyport" { program.to_owned() } else { format!("sallyport-{program}") };
        let name = format!("{shown}-{version}-{target}");
        let package = format!("sallyport-{folder}");
        let built = match &arguments.built {
            Some(folder) => folder.join(program),
            None => build(root, program, &package, features, arguments)?,
        };
        let staged = out.join(format!(".{name}"));
        let packed = stage(root, program, folder, &built, &staged.join(&name), target == host)
            .and_then(|()| pack(&staged, &name, &out));
        // Whether it was packed or not.
        fs::remove_dir_all(&staged).map_err(|error| cannot_write(&staged, &error))?;
        written.push(packed?);
        let binary = fs::read(&built).map_err(|error| format!("error: cannot read {program}: {error}\n"))?;
        if let Some(platform) = wheel::platform(target, &binary) {
            // Nothing lies beside it.
            let readme = &links(&read(&root.join(folder).join("README.md"))?, folder, |_| Ok(false))?;
            let wheel = Wheel { package: &package, version, program, readme, platform: &platform };
            written.push(wheel.write(&binary, &out).map_err(|error| cannot_write(&out, &error))?);
        }
    }
    let sums = format!("SHA256SUMS-{version}-{target}");
    let checked = output(Command::new("sha256sum").current_dir(&out).args(&written), "sha256sum")?;
    write(&out.join(&sums), &checked)?;
    written.push(sums);
    Ok(written.iter().map(|file| format!("wrote {}\n", out.join(file).display())).collect())
}

/// Builds a program and returns its path.
fn build(
    root: &Path,
    program: &str,
    package: &str,
    features: &[&str],
    arguments: &Arguments,
) -> Result<PathBuf, String> {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command
        .current_dir(root)
        .args(["build", "--locked", "--bin", program, "--package", package])
        .args(features);
    command.args(["--profile", &arguments.profile, "--message-format", "json-render-diagnostics"]);
    command.args(arguments.target.iter().flat_map(|target| ["--target", target]));
    // The build takes minutes, so cargo's progress is shown.
    let printed = output(command.stderr(Stdio::inherit()), &format!("cargo build --bin {program}"))?;
    let messages = printed.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut programs = messages.filter(|message| message["target"]["name"] == program);
    let built = programs.find_map(|message| Some(PathBuf::from(message["executable"].as_str()?)));
    built.ok_or_else(|| format!("error: cargo names no program `{program}` among what it built\n"))
}

/// Gathers what an archive holds. Completions and man pages come from the program, so only one that runs here can write them.
fn stage(
    root: &Path,
    program: &str,
    folder: &str,
    built: &Path,
    staging: &Path,
    runs_here: bool,
) -> Result<(), String> {
    let files = ["LICENSE-APACHE", "LICENSE-MIT", "CHANGELOG.md"].map(|file| root.join(file));
    let copy = |from: &Path, to: PathBuf| {
        make_folder(to.parent().unwrap_or(staging))?;
        fs::copy(from, &to).map(drop).map_err(|error| cannot_write(&to, &error))
    };
    for file in files.iter().map(PathBuf::as_path).chain([built]) {
        copy(file, staging.join(file.file_name().unwrap_or_default()))?;
    }
    // The README, its other pages, and the files of the folder that they link; sources are for a clone.
    let folder_path = root.join(folder);
    let pages = fs::read_dir(&folder_path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    for page in pages.map_err(|error| format!("error: cannot read {folder}: {error}\n"))? {
        let page = page.path();
        if page.extension().is_none_or(|end| end != "md") {
            continue;
        }
        let text = links(&read(&page)?, folder, |path| {
            let (file, to) = (folder_path.join(path), staging.join(path));
            let is_packed = !path.starts_with("../") && !path.starts_with("src/") && file.is_file();
            if is_packed && !path.ends_with(".md") {
                copy(&file, to)?;
            }
            Ok(is_packed)
        })?;
        write(&staging.join(page.file_name().unwrap_or_default()), &text)?;
    }
    if !runs_here {
        return Ok(());
    }
    let pages = staging.join("man/man1");
    make_folder(&pages)?;
    for shell in ["bash", "zsh", "fish"] {
        let mut command = Command::new(built);
        let script =
            output(command.env_clear().args(["completions", shell]), &format!("{program} completions"))?;
        write(&staging.join(format!("completions/{program}.{shell}")), &script)?;
    }
    output(Command::new(built).env_clear().arg("man").arg(pages), &format!("{program} man")).map(drop)
}

/// Packs the folder `name` of `staged` as a `.tar.gz` into `out`: sorted, without owners and times, so that the same files make
/// the same archive.
fn pack(staged: &Path, name: &str, out: &Path) -> Result<String, String> {
    let archive = format!("{name}.tar.gz");
    let mut command = Command::new("tar");
    command.args(["--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner"]);
    command.arg("--mode=u+rw,go+r-w");
    command.args(["--use-compress-program=gzip -n -9", "--create", "--file"]).arg(out.join(&archive));
    output(command.arg("--directory").arg(staged).arg(name), "tar (GNU tar is needed)")?;
    Ok(archive)
}

/// A page of a folder in which links to files that are not packed name them in words.
fn links(
    page: &str,
    folder: &str,
    mut is_packed: impl FnMut(&str) -> Result<bool, String>,
) -> Result<String, String> {
    let link = Regex::new(r"\[([^\]]+)\]\(([^():#]+)(?:#[^()]*)?\)");
    let link = link.map_err(|error| format!("error: {error}\n"))?;
    let (mut text, mut end) = (String::new(), 0);
    for found in link.captures_iter(page) {
        let (whole, shown, path) = (found.get_match(), &found[1], &found[2]);
        text.push_str(&page[end..whole.start()]);
        end = whole.end();
        if is_packed(path)? {
            text.push_str(whole.as_str());
            continue;
        }
        let place = path.strip_prefix("../").map_or_else(|| format!("{folder}/{path}"), str::to_owned);
        text.push_str(&format!("{shown} (`{place}` in the repository)"));
    }
    Ok(text + &page[end..])
}

fn make_folder(folder: &Path) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|error| cannot_write(folder, &error))
}

/// What a command prints. `shown` is its name in errors.
fn output(command: &mut Command, shown: &str) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("error: cannot start `{shown}`: {error}\n"))?;
    if !output.status.success() {
        let messages = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{messages}error: `{shown}` failed ({})\n", output.status));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_files_make_the_same_archive() {
        let folder = tempfile::tempdir().unwrap();
        let packed = |at: &str, modified: u64| {
            let staged = folder.path().join(at);
            fs::create_dir_all(staged.join("a/b")).unwrap();
            let file = fs::File::create(staged.join("a/b/c")).unwrap();
            let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(modified);
            file.set_modified(time).unwrap();
            fs::read(staged.join(pack(&staged, "a", &staged).unwrap())).unwrap()
        };
        assert_eq!(packed("one", 1_000_000), packed("two", 2_000_000));
        assert!(pack(folder.path(), "missing", folder.path()).is_err());
    }

    #[test]
    fn no_link_of_a_packed_page_leads_nowhere() {
        let page = "a [wheel](../README.md#install), [LAB](LAB.md#a), [here](#b), [a\nb](src/x.rs), [w](https://x.invalid/y)";
        assert_eq!(
            links(page, "suite", |path| Ok(path == "LAB.md")).unwrap(),
            "a wheel (`README.md` in the repository), [LAB](LAB.md#a), [here](#b), a\nb (`suite/src/x.rs` in the repository), \
             [w](https://x.invalid/y)"
        );
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        for (folder, page) in
            [("conformance", "EVIDENCE.md"), ("server", "README.md"), ("client", "README.md")]
        {
            let staging = tempfile::tempdir().unwrap();
            stage(root, "x", folder, &root.join("Cargo.toml"), staging.path(), false).unwrap();
            let text = fs::read_to_string(staging.path().join(page)).unwrap();
            let is_there = |path: &str| Ok(staging.path().join(path).is_file());
            assert_eq!(links(&text, folder, is_there).unwrap(), text, "{folder}");
        }
    }

    #[test]
    fn a_command_that_fails_is_named_with_what_it_says() {
        let error = output(Command::new("sh").args(["-c", "echo why >&2; exit 3"]), "sh").unwrap_err();
        assert!(error.starts_with("why\nerror: `sh` failed"), "{error}");
        assert!(output(&mut Command::new("/missing/program"), "x").unwrap_err().contains("cannot start `x`"));
    }
}
