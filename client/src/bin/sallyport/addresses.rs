//! The addresses of a search: arguments, files and standard input.

use std::{
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
};

use sallyport_client::{Address, InvalidArgument};

use crate::failure::Failure;

/// Maximum number of invalid addresses that are listed.
const MAX_LISTED: usize = 10;

/// Whether a path stands for standard input.
pub(crate) fn is_standard_input(path: &Path) -> bool {
    path == Path::new("-")
}

/// Reads all addresses. A failure lists the invalid ones with their files and lines.
pub(crate) fn read(arguments: &[String], files: &[PathBuf]) -> Result<Vec<Address>, Failure> {
    if arguments.is_empty() && files.is_empty() {
        return Err(Failure::usage(
            "missing addresses; pass them as arguments, in a file (--file FILE) or on standard input (--file -)",
        ));
    }
    let (mut addresses, mut invalid) = (Vec::new(), Vec::new());
    let mut add = |text: &str, place: &dyn Fn() -> String| match text.parse() {
        Ok(address) => addresses.push(address),
        Err(error) => {
            let InvalidArgument { expected, found, .. } = error;
            invalid.push(format!("{}: expected {expected}, found {found}", place()));
        }
    };
    for (number, argument) in (1..).zip(arguments) {
        add(argument, &|| format!("argument {number}"));
    }
    for path in files {
        let (name, text) = content(path)?;
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim();
            if !line.is_empty() && !line.starts_with('#') {
                add(line, &|| format!("{name}:{number}"));
            }
        }
    }
    let count = invalid.len();
    if count > 0 {
        if count > MAX_LISTED {
            invalid.truncate(MAX_LISTED);
            invalid.push(format!("and {} more", count - MAX_LISTED));
        }
        let noun = if count == 1 { "address" } else { "addresses" };
        let message = format!("{count} invalid {noun}; nothing was sent");
        return Err(Failure { details: invalid, ..Failure::usage(message) });
    }
    if addresses.is_empty() {
        let names: Vec<String> = files.iter().map(|path| name(path)).collect();
        return Err(Failure::usage(format!("no addresses in {}; expected one per line", names.join(", "))));
    }
    Ok(addresses)
}

/// The name of a file in messages, and its text without a byte order mark, as some editors begin a file with one.
fn content(path: &Path) -> Result<(String, String), Failure> {
    let name = name(path);
    let text = if is_standard_input(path) {
        let mut text = String::new();
        io::stdin().read_to_string(&mut text).map(|_| text)
    } else {
        fs::read_to_string(path)
    };
    match text {
        Ok(text) => Ok((name, text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            Err(Failure::usage(format!("cannot read the addresses in {name}: expected text in UTF-8")))
        }
        Err(error) => Err(Failure::usage(format!("cannot read the addresses in {name}: {error}"))),
    }
}

fn name(path: &Path) -> String {
    if is_standard_input(path) { "standard input".to_owned() } else { path.display().to_string() }
}
