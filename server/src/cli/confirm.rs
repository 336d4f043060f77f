//! Asks for confirmation before a change that cannot be undone.

use std::io::{self, BufRead, IsTerminal as _, Write};

use sallyport_server::printable::printable;

use super::Failure;

/// The flag that confirms in advance.
#[derive(clap::Args)]
pub(super) struct Confirmation {
    /// Do not ask for confirmation; required when standard input is not a terminal.
    #[arg(long, short)]
    yes: bool,
}

impl Confirmation {
    /// Fails if confirmation is required and standard input is not a terminal.
    pub(super) fn check_terminal(&self) -> Result<(), Failure> {
        if self.yes || io::stdin().is_terminal() {
            return Ok(());
        }
        let line = "this cannot be undone, and standard input is not a terminal on which to ask; pass --yes to confirm";
        Err(Failure::Usage(line.to_owned()))
    }

    /// Asks for confirmation, unless `--yes` was given.
    pub(super) fn ask(&self, question: &str) -> Result<(), Failure> {
        if self.yes || agreed(question, &mut io::stdin().lock(), &mut io::stderr())? {
            return Ok(());
        }
        Err(Failure::Failed("not confirmed; nothing was changed".to_owned()))
    }
}

/// Whether the answer is yes. Anything else, also no answer, is no.
fn agreed(question: &str, answers: &mut impl BufRead, output: &mut impl Write) -> io::Result<bool> {
    write!(output, "{} This cannot be undone. [y/N] ", printable(question))?;
    output.flush()?;
    let mut answer = String::new();
    answers.read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_yes_is_yes() {
        for (answer, expected) in [
            ("y\n", true),
            ("YES\n", true),
            (" yes ", true),
            ("\n", false),
            ("", false),
            ("no\n", false),
            ("yy\n", false),
        ] {
            let mut asked = Vec::new();
            assert_eq!(
                agreed("Remove it?", &mut answer.as_bytes(), &mut asked).unwrap(),
                expected,
                "{answer:?}"
            );
            assert_eq!(asked, b"Remove it? This cannot be undone. [y/N] ");
        }
    }
}
