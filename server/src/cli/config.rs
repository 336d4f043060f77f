//! The configuration file: TOML whose keys are the long names of the flags of `server run`. Its values go through the parser of
//! the flags, so that both accept the same names and values.

use std::{ffi::OsString, fmt::Display, path::Path};

use clap::{
    Arg, ArgMatches, Args as _, CommandFactory as _, FromArgMatches as _, Subcommand, parser::ValueSource,
};
use sallyport_server::{domain::token::Token, names::nearest};
use toml::Value;

use super::{
    Cli, Failure,
    listing::Table,
    settings::{Arguments, Settings},
    terminal::{print_error_line, print_line},
};

#[derive(Subcommand)]
pub(super) enum Command {
    /// Check the settings that `run` would use, and print the source of each.
    Check(Box<Arguments>),
}

/// Checks that the settings are consistent. [`parse`] has checked each by itself.
pub(super) fn execute(command: Command, sources: &[String]) -> Result<(), Failure> {
    let Command::Check(arguments) = command;
    let settings = Settings::new(*arguments)?;
    settings.warnings().iter().for_each(|line| print_error_line(&format!("warning: {line}")));
    sources.iter().try_for_each(|line| print_line(line))
}

/// Parses the command line and the configuration file. Also returns a line for each setting with its value and source.
pub(super) fn parse(line: Vec<OsString>) -> Result<(Cli, Vec<String>), Failure> {
    let matches = Cli::command().try_get_matches_from(&line).or_else(wrong_usage)?;
    let (command, given) = innermost(&matches);
    let file = given.try_get_one::<std::path::PathBuf>("config").ok().flatten();
    let Some(file) = file else {
        let sources = sources(&command, given, &[]);
        return Ok((read(&matches)?, sources));
    };
    let table = table(file)?;
    let mut all = line.clone();
    let mut filled = Vec::new();
    for (key, value) in &table {
        let flag = flag(&command, key).map_err(|fault| invalid(file, fault))?;
        // Flags and environment variables take precedence over the file.
        let absent =
            matches!(given.value_source(flag.get_id().as_str()), None | Some(ValueSource::DefaultValue));
        for text in texts(key, value).map_err(|fault| invalid(file, fault))? {
            let argument = OsString::from(format!("--{key}={text}"));
            // An overridden value is validated as well: the mistake would show up when the override is removed.
            if absent { all.push(argument) } else { validate_alone(&line, argument, file)? }
        }
        if absent {
            filled.push(key.as_str());
        }
    }
    let matches = Cli::command().try_get_matches_from(all).map_err(|error| invalid(file, brief(&error)))?;
    let (command, given) = innermost(&matches);
    let sources = sources(&command, given, &filled);
    Ok((read(&matches)?, sources))
}

fn read(matches: &ArgMatches) -> Result<Cli, Failure> {
    Cli::from_arg_matches(matches).map_err(|error| Failure::Usage(brief(&error)))
}

/// Prints clap's message and exits. A message that may contain a secret becomes a failure instead: clap quotes unexpected
/// arguments.
fn wrong_usage(error: clap::Error) -> Result<ArgMatches, Failure> {
    if error.use_stderr() && may_hold_secret(&error.to_string()) {
        let line = "an argument looks like a token or a URL with a password, which other users of the machine could read \
                    there; it is not repeated here; see `--help` for the expected arguments";
        return Err(Failure::Usage(line.to_owned()));
    }
    // Help and version are our own text. An error quotes arguments, whose escape sequences clap would print unchanged.
    if error.use_stderr() {
        error.render().to_string().lines().for_each(print_error_line);
        std::process::exit(error.exit_code());
    }
    error.exit()
}

/// Whether a message of clap quotes a token, or a database with its password in the place of another argument.
fn may_hold_secret(message: &str) -> bool {
    Token::resembles(message)
        || message.contains("password=")
        || message.split_once("://").is_some_and(|(_, rest)| rest.contains('@'))
}

/// Validates an argument by itself.
fn validate_alone(line: &[OsString], argument: OsString, file: &Path) -> Result<(), Failure> {
    let name = line.first().cloned().unwrap_or_default();
    let alone = Cli::command().try_get_matches_from([name, "run".into(), argument]);
    alone.map(drop).map_err(|error| invalid(file, brief(&error)))
}

/// The subcommand of the command line, with its arguments.
fn innermost(matches: &ArgMatches) -> (clap::Command, &ArgMatches) {
    let (mut command, mut given) = (Cli::command(), matches);
    command.build();
    while let Some((name, inner)) = given.subcommand() {
        let Some(found) = command.find_subcommand(name).cloned() else { break };
        (command, given) = (found, inner);
    }
    (command, given)
}

fn table(file: &Path) -> Result<toml::Table, Failure> {
    let text = std::fs::read_to_string(file).map_err(|error| invalid(file, error))?;
    text.parse().map_err(|error: toml::de::Error| {
        // The error's own text repeats the line, which may hold a password.
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        invalid(file, format!("line {}: {}", before.matches('\n').count() + 1, error.message()))
    })
}

fn settings(command: &clap::Command) -> impl Iterator<Item = (&Arg, &str)> {
    let settings = command.get_arguments().filter_map(|flag| Some((flag, flag.get_long()?)));
    settings.filter(|(_, name)| !["config", "help", "version"].contains(name))
}

fn flag<'a>(command: &'a clap::Command, key: &str) -> Result<&'a Arg, String> {
    settings(command).find(|(_, name)| *name == key).map(|(flag, _)| flag).ok_or_else(|| {
        let known: Vec<_> = settings(command).map(|(_, name)| name).collect();
        match nearest(key, &known) {
            Some(near) => format!("unknown setting `{}`; did you mean `{near}`?", key.escape_debug()),
            None => {
                format!("unknown setting `{}`; expected one of: {}", key.escape_debug(), known.join(", "))
            }
        }
    })
}

/// The value as texts for the flag, one for each item of a list.
fn texts(key: &str, value: &Value) -> Result<Vec<String>, String> {
    match value {
        Value::String(text) => Ok(vec![text.clone()]),
        Value::Integer(number) => Ok(vec![number.to_string()]),
        Value::Array(items) => items
            .iter()
            .map(|item| texts(key, item))
            .collect::<Result<Vec<_>, _>>()
            .map(|lists| lists.concat()),
        other => Err(format!(
            "`{key}`: expected a string, a number or a list of them, found a {}",
            other.type_str()
        )),
    }
}

/// Each setting with its value and source. Of values that `--help` hides, only that they are set is shown.
fn sources(command: &clap::Command, given: &ArgMatches, filled: &[&str]) -> Vec<String> {
    let line = |(flag, name): (&Arg, &str)| {
        let id = flag.get_id().as_str();
        let source = match given.value_source(id) {
            _ if filled.contains(&name) => "file",
            Some(ValueSource::CommandLine) => "flag",
            Some(ValueSource::EnvVariable) => "environment",
            _ => "default",
        };
        let values = given.get_raw(id).into_iter().flatten().map(|value| value.to_string_lossy());
        let value = match values.collect::<Vec<_>>().join(", ") {
            text if text.is_empty() => "(not set)".to_owned(),
            _ if flag.is_hide_env_values_set() => "(set)".to_owned(),
            text => text,
        };
        vec![name.to_owned(), value, source.to_owned()]
    };
    let mut table = Table::default();
    settings(command).for_each(|setting| table.add(line(setting)));
    table.text().lines().map(str::to_owned).collect()
}

/// Variables whose names look like misspelled ones of settings. One environment may serve several programs, so others are left
/// alone.
pub(super) fn misspelled(variables: impl Iterator<Item = OsString>) -> Vec<String> {
    const PREFIX: &str = "SALLYPORT_";
    let command = Arguments::augment_args(clap::Command::new("run"));
    let known = command.get_arguments().filter_map(|flag| flag.get_env()?.to_str()?.strip_prefix(PREFIX));
    let known: Vec<_> = known.collect();
    let warning = |name: OsString| {
        let name = name.into_string().ok()?;
        let rest = name.strip_prefix(PREFIX).filter(|rest| !known.contains(rest))?;
        let near = nearest(rest, &known)?;
        Some(format!("unknown environment variable {name}, which is ignored; did you mean {PREFIX}{near}?"))
    };
    let mut warnings: Vec<_> = variables.filter_map(warning).collect();
    warnings.sort();
    warnings
}

/// The first line of clap's message, without its `error: `, and what it expects instead.
fn brief(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let mut lines = text.lines().map(str::trim);
    let line = lines.next().unwrap_or_default().trim_start_matches("error: ");
    if may_hold_secret(line) {
        return "a value looks like a token or a URL with a password, and is not repeated here".to_owned();
    }
    match lines.find(|line| line.starts_with("[possible values")) {
        Some(expected) => format!("{line} {expected}"),
        None => line.to_owned(),
    }
}

fn invalid(file: &Path, fault: impl Display) -> Failure {
    Failure::Usage(format!("{}: {fault}", file.display()))
}
