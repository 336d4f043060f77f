//! `cargo xtask dist`: what a release consists of.

mod archive;
mod sbom;

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use sha2::{Digest, Sha256};

use super::cargo::{built_programs, cargo};

/// A program that is released.
struct Program {
    name: &'static str,
    package: &'static str,
    /// Feature of the package without which there is no program.
    feature: Option<&'static str>,
    readme: &'static str,
}

const PROGRAMS: [Program; 3] = [
    Program {
        name: "conformance",
        package: "sallyport-conformance",
        feature: None,
        readme: "conformance/README.md",
    },
    Program { name: "server", package: "sallyport-server", feature: None, readme: "server/README.md" },
    Program {
        name: "sallyport",
        package: "sallyport-client",
        feature: Some("sallyport-client/cli"),
        readme: "client/README.md",
    },
];

/// Shells with completions; a script has its shell as extension.
const SHELLS: [&str; 3] = ["bash", "zsh", "fish"];

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
    /// Build only this program: conformance, server or sallyport; may be repeated [default: all].
    #[arg(long, value_name = "NAME", value_parser = ["conformance", "server", "sallyport"])]
    program: Vec<String>,
}

/// Builds the programs and writes, for each, an archive and a software bill of materials; at last the checksums of all.
///
/// Fails with a report when something does not build or cannot be written.
pub(crate) fn run(root: &Path, arguments: &Arguments) -> Result<String, String> {
    let out = arguments.out.clone().unwrap_or_else(|| root.join("target/dist"));
    fs::create_dir_all(&out).map_err(|error| cannot_write(&out, &error))?;
    let host = host()?;
    let target = arguments.target.as_deref().unwrap_or(&host);
    let version = env!("CARGO_PKG_VERSION");
    let chosen = |program: &&Program| {
        arguments.program.is_empty() || arguments.program.iter().any(|name| name == program.name)
    };
    let mut written = Vec::new();
    for program in PROGRAMS.iter().filter(chosen) {
        let built = build(root, program, arguments)?;
        let name = format!("sallyport-{}-{version}-{target}", program.name.trim_start_matches("sallyport"));
        let name = name.replace("--", "-");
        let staged = tempfile(&out, &name)?;
        let staging = staged.join(&name);
        stage(root, program, &built, &staging, target == host)?;
        let archive = archive::pack(&staged, &name, &out);
        // Whether it was packed or not.
        fs::remove_dir_all(&staged).map_err(|error| cannot_write(&staged, &error))?;
        written.push(archive?);
        let bill = out.join(format!("{name}.cdx.json"));
        write(&bill, sbom::sbom(root, program.package, program.feature, target)?.as_bytes())?;
        written.push(bill);
    }
    let sums = out.join(format!("SHA256SUMS-{version}-{target}"));
    write(&sums, checksums(&written)?.as_bytes())?;
    written.push(sums);
    Ok(written.iter().map(|file| format!("wrote {}\n", file.display())).collect())
}

/// The target of this machine, as cargo calls it.
fn host() -> Result<String, String> {
    let printed = output(Command::new("rustc").arg("-vV"), "rustc -vV")?;
    let host = printed.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| "error: `rustc -vV` names no host\n".to_owned())
}

/// Builds a program and returns its path.
fn build(root: &Path, program: &Program, arguments: &Arguments) -> Result<PathBuf, String> {
    let mut command = cargo();
    command.current_dir(root);
    command.args(["build", "--locked", "--bin", program.name, "--package", program.package]);
    command.args(["--profile", &arguments.profile, "--message-format", "json-render-diagnostics"]);
    if let Some(feature) = program.feature {
        command.args(["--features", feature]);
    }
    if let Some(target) = &arguments.target {
        command.args(["--target", target]);
    }
    // The build takes minutes, so cargo's progress is shown.
    let printed = output(command.stderr(Stdio::inherit()), &format!("cargo build --bin {}", program.name))?;
    let built = built_programs(&printed).remove(program.name);
    built.ok_or_else(|| format!("error: cargo names no program `{}` among what it built\n", program.name))
}

/// Gathers what an archive holds. Completions and man pages come from the program, so only one that runs here can write them.
fn stage(
    root: &Path,
    program: &Program,
    built: &Path,
    staging: &Path,
    runs_here: bool,
) -> Result<(), String> {
    let folder = |name: &str| -> Result<PathBuf, String> {
        let folder = staging.join(name);
        fs::create_dir_all(&folder).map_err(|error| cannot_write(&folder, &error))?;
        Ok(folder)
    };
    folder("")?;
    let copy = |from: &Path, name: &OsStr| {
        let to = staging.join(name);
        fs::copy(from, &to).map(drop).map_err(|error| cannot_write(&to, &error))
    };
    copy(built, built.file_name().unwrap_or(OsStr::new(program.name)))?;
    copy(&root.join(program.readme), OsStr::new("README.md"))?;
    for file in ["LICENSE-APACHE", "LICENSE-MIT", "CHANGELOG.md"] {
        copy(&root.join(file), OsStr::new(file))?;
    }
    if !runs_here {
        return Ok(());
    }
    let completions = folder("completions")?;
    for shell in SHELLS {
        let script = output(
            Command::new(built).env_clear().args(["completions", shell]),
            &format!("{} completions", program.name),
        )?;
        write(&completions.join(format!("{}.{shell}", program.name)), script.as_bytes())?;
    }
    output(
        Command::new(built).env_clear().arg("man").arg(folder("man/man1")?),
        &format!("{} man", program.name),
    )
    .map(drop)
}

/// A new folder below `out`, on the same file system.
fn tempfile(out: &Path, name: &str) -> Result<PathBuf, String> {
    let folder = out.join(format!(".{name}.{}", std::process::id()));
    fs::create_dir(&folder).map_err(|error| cannot_write(&folder, &error))?;
    Ok(folder)
}

/// Lines as `sha256sum --check` reads them.
fn checksums(files: &[PathBuf]) -> Result<String, String> {
    let mut text = String::new();
    for file in files {
        let bytes =
            fs::read(file).map_err(|error| format!("error: cannot read {}: {error}\n", file.display()))?;
        let digest: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        text.push_str(&format!("{digest}  {name}\n"));
    }
    Ok(text)
}

fn write(file: &Path, bytes: &[u8]) -> Result<(), String> {
    fs::write(file, bytes).map_err(|error| cannot_write(file, &error))
}

fn cannot_write(file: &Path, error: &std::io::Error) -> String {
    format!("error: cannot write {}: {error}\n", file.display())
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
    fn checksums_are_those_that_sha256sum_checks() {
        let folder = ::tempfile::tempdir().unwrap();
        let file = folder.path().join("a.txt");
        fs::write(&file, "abc").unwrap();
        let text = checksums(&[file]).unwrap();
        assert_eq!(text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  a.txt\n");
        fs::write(folder.path().join("SHA256SUMS"), text).unwrap();
        let checked =
            Command::new("sha256sum").args(["--check", "SHA256SUMS"]).current_dir(folder.path()).output();
        assert!(checked.unwrap().status.success());
    }

    #[test]
    fn a_command_that_fails_is_named_with_what_it_says() {
        let error = output(Command::new("sh").args(["-c", "echo why >&2; exit 3"]), "sh").unwrap_err();
        assert!(error.starts_with("why\nerror: `sh` failed"), "{error}");
        assert!(output(&mut Command::new("/missing/program"), "x").unwrap_err().contains("cannot start `x`"));
    }
}
