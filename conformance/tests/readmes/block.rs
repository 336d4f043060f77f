//! The console blocks of a page.

/// A block, with its commands.
pub(crate) struct Block {
    /// From 1.
    pub(crate) line: usize,
    /// Commands without prompt and remark.
    pub(crate) commands: Vec<String>,
    /// Why it is not run.
    pub(crate) not_run: Option<String>,
}

const NOT_RUN: &str = "<!-- not run: ";

/// Blocks of `console`, where commands stand behind `$ ` and the rest is output, and of `sh`, where every line is a command.
pub(crate) fn blocks(readme: &str, text: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let (mut open, mut not_run): (Option<(Block, bool)>, Option<String>) = (None, None);
    for (number, line) in text.lines().enumerate() {
        if let Some(reason) = line.strip_prefix(NOT_RUN).and_then(|rest| rest.strip_suffix(" -->")) {
            not_run = Some(reason.to_owned());
            continue;
        }
        match (&mut open, line) {
            (None, "```console" | "```sh") => {
                let block = Block { line: number + 1, commands: Vec::new(), not_run: not_run.take() };
                open = Some((block, line == "```console"));
            }
            (Some(_), "```") => found.extend(open.take().map(|(block, _)| block)),
            (Some((block, is_console)), line) => {
                let command = if *is_console { line.strip_prefix("$ ") } else { Some(line) };
                let command = command.map(without_remark).filter(|command| !command.is_empty());
                block.commands.extend(command.map(str::to_owned));
            }
            (None, line) if !line.trim().is_empty() => {
                assert!(not_run.is_none(), "{readme}:{number}: no block follows the reason");
            }
            (None, _) => {}
        }
    }
    found
}

/// A remark begins with a number sign behind two spaces or more.
fn without_remark(line: &str) -> &str {
    line.split_once("  #").map_or(line, |(command, _)| command).trim()
}
