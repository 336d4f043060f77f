//! A program as a Python wheel, which `pip`, `pipx` and `uvx` install where there is no Rust: a zip archive with metadata.

use std::{fs::File, io::Write as _, path::Path};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use regex::bytes::Regex;
use sha2::{Digest as _, Sha256};
use zip::{ZipWriter, write::SimpleFileOptions};

/// What a wheel is made of.
pub(super) struct Wheel<'a> {
    /// For example `sallyport-server`.
    pub(super) package: &'a str,
    pub(super) version: &'a str,
    /// The name by which the program is installed.
    pub(super) program: &'a str,
    /// What the program is, in Markdown.
    pub(super) readme: &'a str,
    /// Where it runs, see [`platform`].
    pub(super) platform: &'a str,
}

/// The platform of a target in the words of Python; `None` where wheels are not supported. A program that is linked to glibc runs with
/// the latest version that its symbols name, and with later ones.
pub(super) fn platform(target: &str, binary: &[u8]) -> Option<String> {
    let (architecture, rest) = target.split_once('-')?;
    let symbols = Regex::new(r"GLIBC_2\.([0-9]{1,3})\x00").ok()?;
    let minors =
        symbols.captures_iter(binary).filter_map(|found| str::from_utf8(&found[1]).ok()?.parse::<u16>().ok());
    Some(match (architecture, rest) {
        (_, "unknown-linux-musl") => format!("manylinux2014_{architecture}.musllinux_1_1_{architecture}"),
        (_, "unknown-linux-gnu") => format!("manylinux_2_{}_{architecture}", minors.max()?),
        ("aarch64", "apple-darwin") => "macosx_11_0_arm64".to_owned(),
        ("x86_64", "apple-darwin") => "macosx_10_12_x86_64".to_owned(),
        _ => return None,
    })
}

impl Wheel<'_> {
    /// Writes the wheel with the program into `folder`, and returns its name. The same files make the same wheel.
    pub(super) fn write(&self, binary: &[u8], folder: &Path) -> std::io::Result<String> {
        let Wheel { package, version, program, readme, platform } = self;
        let stem = format!("{}-{version}", package.replace('-', "_"));
        let (name, info) = (format!("{stem}-py3-none-{platform}.whl"), format!("{stem}.dist-info"));
        let tags: String = platform.split('.').map(|one| format!("Tag: py3-none-{one}\n")).collect();
        let metadata = format!(
            "Metadata-Version: 2.1\nName: {package}\nVersion: {version}\nLicense: {}\n\
             Description-Content-Type: text/markdown\n\n{readme}",
            env!("CARGO_PKG_LICENSE")
        );
        let about =
            format!("Wheel-Version: 1.0\nGenerator: cargo xtask dist\nRoot-Is-Purelib: false\n{tags}");
        let files = [
            (format!("{stem}.data/scripts/{program}"), binary.to_vec(), 0o755),
            (format!("{info}/METADATA"), metadata.into_bytes(), 0o644),
            (format!("{info}/WHEEL"), about.into_bytes(), 0o644),
        ];
        let record = files.iter().map(|(path, bytes, _)| {
            format!("{path},sha256={},{}\n", URL_SAFE_NO_PAD.encode(Sha256::digest(bytes)), bytes.len())
        });
        let record = format!("{}{info}/RECORD,,\n", record.collect::<String>());
        let record = (format!("{info}/RECORD"), record.into_bytes(), 0o644);
        let mut archive = ZipWriter::new(File::create(folder.join(&name))?);
        for (path, bytes, mode) in files.iter().chain([&record]) {
            archive.start_file(path, SimpleFileOptions::DEFAULT.unix_permissions(*mode))?;
            archive.write_all(bytes)?;
        }
        archive.finish()?;
        Ok(name)
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_wheel_is_installed_into_an_empty_environment_and_its_program_runs() {
        let folder = tempfile::tempdir().unwrap();
        let environment = folder.path().join("environment");
        let made = Command::new("python3").args(["-m", "venv"]).arg(&environment).output();
        if !made.is_ok_and(|made| made.status.success()) {
            // Past the test harness, which shows what is printed only for tests that fail.
            let _ = writeln!(std::io::stderr(), "SKIPPED wheels: python3 with venv is not installed");
            return;
        }
        let built = b"#!/bin/sh\necho installed\n";
        let platform = if cfg!(target_os = "linux") { "linux_x86_64" } else { "any" };
        let platform = if std::env::consts::ARCH == "x86_64" { platform } else { "any" };
        let wheel = Wheel { package: "a-program", version: "1.2.3", program: "it", readme: "# It", platform };
        let name = wheel.write(built, folder.path()).unwrap();
        let bytes = std::fs::read(folder.path().join(&name)).unwrap();
        wheel.write(built, folder.path()).unwrap();
        assert_eq!(
            std::fs::read(folder.path().join(&name)).unwrap(),
            bytes,
            "the same files make the same wheel"
        );
        let pip = Command::new(environment.join("bin/pip"))
            .args(["install", "--no-index", "--disable-pip-version-check"])
            .arg(folder.path().join(&name))
            .output()
            .unwrap();
        assert!(pip.status.success(), "{}", String::from_utf8_lossy(&pip.stderr));
        let ran = Command::new(environment.join("bin/it")).output().unwrap();
        assert_eq!(ran.stdout, b"installed\n");
        let shown = Command::new(environment.join("bin/pip")).args(["show", "a-program"]).output().unwrap();
        assert!(String::from_utf8_lossy(&shown.stdout).contains("Version: 1.2.3"), "{shown:?}");
    }

    #[test]
    fn platforms_are_named_as_python_does() {
        let symbols = b"\0GLIBC_2.9\0GLIBC_2.34\0GLIBC_2.2.5\0";
        for (target, binary, expected) in [
            ("x86_64-unknown-linux-gnu", &symbols[..], Some("manylinux_2_34_x86_64")),
            ("x86_64-unknown-linux-gnu", b"", None),
            ("aarch64-unknown-linux-musl", b"", Some("manylinux2014_aarch64.musllinux_1_1_aarch64")),
            ("aarch64-apple-darwin", b"", Some("macosx_11_0_arm64")),
            ("x86_64-pc-windows-msvc", b"", None),
        ] {
            assert_eq!(platform(target, binary).as_deref(), expected, "{target}");
        }
    }
}
