//! A command that prints the account's token.

use sallyport_contract::command;

use super::Secret;

/// A program and its arguments, which prints the account's token. No shell is involved, and nothing that it prints is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenCommand {
    program: String,
    arguments: Vec<String>,
}

/// Why a command gave no token.
#[derive(Debug, thiserror::Error)]
#[error("the command `{program}` for the token {reason}; its output is never shown, so run it by itself")]
pub struct TokenCommandError {
    program: String,
    reason: String,
}

impl TokenCommand {
    /// None without a program.
    pub fn new(words: Vec<String>) -> Option<Self> {
        let mut words = words.into_iter();
        let program = words.next().filter(|program| !program.is_empty())?;
        Some(Self { program, arguments: words.collect() })
    }

    /// Runs it, and waits for the token.
    ///
    /// # Errors
    /// It cannot be started, fails, takes more than 30 s, or prints something else than one line with one word.
    pub fn run(&self) -> Result<Secret, TokenCommandError> {
        let failed = |reason: String| TokenCommandError { program: self.program.clone(), reason };
        let text = command::output(&self.program, &self.arguments, command::TIME).map_err(failed)?;
        match text.trim() {
            token if !token.is_empty() && !token.contains(char::is_whitespace) => {
                Ok(Secret::new("API_KEY", token))
            }
            _ => Err(failed("printed something else than one token".to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_one_word_and_nothing_of_the_output_is_shown() {
        let run = |words: &[&str]| {
            let words = words.iter().map(|word| (*word).to_owned()).collect();
            TokenCommand::new(words).expect("a program").run()
        };
        assert_eq!(run(&["printf", "hunter2-$HOME\n"]).expect("a token").expose(), "hunter2-$HOME");
        for (words, reason) in [
            (["printf", "hunter2 twice"], "printed something else than one token"),
            (["printf", ""], "printed something else than one token"),
            (["cat", "/no/such/hunter2"], "failed (exit status: 1)"),
        ] {
            let error = run(&words).expect_err("no token").to_string();
            assert!(error.contains(reason) && !error.contains("hunter2"), "{error}");
        }
        assert!(TokenCommand::new(Vec::new()).is_none());
    }
}
