//! `server list`, `server put` and `server remove`, each with a subcommand for each kind of records. [`RecordKind`] declares the kinds
//! and their fields.

use std::{
    fs::File,
    io::{self, BufWriter, IsTerminal as _, Read as _},
    path::Path,
};

use clap::{
    Arg, ArgAction, ArgMatches, Args, FromArgMatches, builder::PossibleValuesParser, error::ErrorKind,
};
use jiff::Timestamp;
use sallyport_server::store::{
    Field, Form, RecordKind,
    record::{Record, reason},
    registry::{Condition, Dependents, RegistryError},
};

use super::{Confirmation, Database, Failure, print_line, terminal::ignore_closed_pipe};

/// An example of `list`, `put` and `remove` for each kind, in the order of the kinds: `examples.txt` has one in each line.
fn example(kind: RecordKind, verb: usize) -> &'static str {
    let place = kind as usize * VERBS.len() + verb;
    include_str!("examples.txt").lines().nth(place).unwrap_or_default()
}

/// A verb on the records of a kind, at its place among [`VERBS`].
pub(super) struct OfKind<const VERB: usize> {
    kind: RecordKind,
    arguments: ArgMatches,
}

/// Builds the command for the records of a kind. The derived arguments have an `about` of their own, which it replaces.
type Build = fn(RecordKind, clap::Command) -> clap::Command;

pub(super) const LIST: usize = 0;
pub(super) const PUT: usize = 1;
pub(super) const REMOVE: usize = 2;

/// The verbs, in the order of their [`example`]s.
const VERBS: [Build; 3] = [list_command, put_command, remove_command];

impl<const VERB: usize> Args for OfKind<VERB> {
    fn augment_args(command: clap::Command) -> clap::Command {
        // Tokens have verbs of their own for what changes them.
        let kinds = RecordKind::ALL.into_iter().filter(|kind| VERB == LIST || *kind != RecordKind::Token);
        let examples: String = kinds.clone().map(|kind| format!("\n  {}", example(kind, VERB))).collect();
        let subcommands = kinds.map(|kind| {
            let example = format!("Example:\n  {}", example(kind, VERB));
            VERBS[VERB](kind, clap::Command::new(kind.name()).after_help(example))
        });
        let command = command.subcommand_required(true).arg_required_else_help(true);
        command.after_help(format!("Examples:{examples}")).subcommands(subcommands)
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl<const VERB: usize> FromArgMatches for OfKind<VERB> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let (name, arguments) = matches.subcommand().unzip();
        let kind = name.and_then(RecordKind::from_name);
        let (kind, arguments) =
            kind.zip(arguments).ok_or_else(|| clap::Error::new(ErrorKind::MissingSubcommand))?;
        Ok(Self { kind, arguments: arguments.clone() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Selects records.
#[derive(Args)]
struct Selected {
    #[command(flatten)]
    database: Database,
    /// Select only records whose field has this value; given several times, all must hold.
    #[arg(long = "where", value_name = "FIELD=VALUE")]
    conditions: Vec<String>,
}

impl Selected {
    fn conditions(&self, kind: RecordKind) -> Result<Vec<Condition>, Failure> {
        self.conditions.iter().map(|text| Condition::parse(kind, text).map_err(wrong_argument)).collect()
    }
}

/// A mistake in an argument is wrong usage.
fn wrong_argument(error: impl std::fmt::Display) -> Failure {
    Failure::Usage(error.to_string())
}

fn list_command(kind: RecordKind, command: clap::Command) -> clap::Command {
    let fields = kind.fields().iter().filter(|field| field.form.can_be_condition());
    let width = fields.clone().map(|field| field.name.len()).max().unwrap_or(0);
    let lines: String = fields.map(|field| format!("\n  {:<width$}  {}", field.name, field.help)).collect();
    let example = example(kind, LIST);
    Selected::augment_args(command)
        .about(format!("List each {} as a line of JSON, without secrets", kind.noun()))
        .after_help(format!("Fields for --where:{lines}\n\nExample:\n  {example}"))
}

pub(super) async fn list(OfKind { kind, arguments }: OfKind<LIST>) -> Result<(), Failure> {
    let selected = Selected::from_arg_matches(&arguments)?;
    let conditions = selected.conditions(kind)?;
    let (store, output) = (selected.database.open().await?, BufWriter::new(io::stdout()));
    match store.list(kind, conditions, output).await {
        Err(RegistryError::Output(error)) => ignore_closed_pipe(error),
        listed => Ok(listed?),
    }
}

fn put_command(kind: RecordKind, command: clap::Command) -> clap::Command {
    let about = format!("Create or change one {}, or several as JSON on standard input", kind.noun());
    let flags = kind.fields().iter().filter(|field| field.form.can_be_put()).map(|field| {
        let arg = Arg::new(field.name).long(flag(field)).help(field.help).help_heading("Fields");
        match field.form {
            // What begins with a hyphen is the next flag, because the value may be left out.
            Form::Flag => arg.num_args(0..=1).default_missing_value("true"),
            Form::Name(names) => arg.value_parser(PossibleValuesParser::new(names)),
            _ => arg.allow_hyphen_values(true),
        }
    });
    Database::augment_args(command).about(about).args(flags)
}

/// The flag for a field: its name in lower case, with hyphens.
fn flag(field: &Field) -> String {
    let upper = |letter: char| letter.is_ascii_uppercase().then_some('-');
    let letters = field.name.chars().flat_map(|letter| upper(letter).into_iter().chain([letter]));
    let name: String = letters.map(|letter| letter.to_ascii_lowercase()).collect();
    // A password on a command line could be read by other users of the machine.
    if field.form == Form::Password { format!("{name}-file") } else { name }
}

pub(super) async fn put(OfKind { kind, arguments }: OfKind<PUT>) -> Result<(), Failure> {
    let database = Database::from_arg_matches(&arguments)?;
    let given = |field: &'static Field| {
        let value = arguments.try_get_one::<String>(field.name).ok().flatten()?;
        Some((field, value.clone()))
    };
    let fields: Vec<_> = kind.fields().iter().filter_map(given).collect();
    let has_flags = !fields.is_empty();
    // All of the input is read before the database is opened: a pipe that stalls must not hold a lock.
    let records = if has_flags { vec![record(kind, &fields)?] } else { records_from_input(kind)? };
    let written = database.open().await?.put(kind, records, Timestamp::now()).await;
    let written = written.map_err(|error| match error {
        RegistryError::Missing { kind, fields } if has_flags => {
            let flags: Vec<_> = fields.iter().map(|field| format!("--{}", flag(field))).collect();
            Failure::Usage(format!("{}: missing {}", kind.noun(), flags.join(", ")))
        }
        error => error.into(),
    })?;
    written.iter().try_for_each(|words| print_line(words))
}

/// A record of the fields that flags give.
fn record(kind: RecordKind, fields: &[(&'static Field, String)]) -> Result<Record, Failure> {
    let is_input = |(field, text): &(&Field, String)| field.form == Form::Password && text == "-";
    // It is not read, because it may be meant for another program, such as the shell's `read`.
    let waiting = rustix::io::ioctl_fionread(io::stdin()).unwrap_or(0);
    if waiting > 0 && !io::stdin().is_terminal() && !fields.iter().any(is_input) {
        let line = "expected flags for the fields or records on standard input, found both; leave out the flags, or pass \
                    `</dev/null`";
        return Err(Failure::Usage(line.to_owned()));
    }
    let value = |(field, text): &(&'static Field, String)| {
        let text = if field.form == Form::Password { &password(Path::new(text))? } else { text };
        Ok((field.name, field.parse(text).map_err(wrong_argument)?))
    };
    let fields = fields.iter().map(value).collect::<Result<Vec<_>, Failure>>()?;
    let mut record = Record::new(kind, fields);
    record.derive().map_err(wrong_argument)?;
    Ok(record)
}

/// The records on standard input: JSON objects, one after another.
fn records_from_input(kind: RecordKind) -> Result<Vec<Record>, Failure> {
    let (mut bytes, mut records) = (Vec::new(), Vec::new());
    if !io::stdin().is_terminal() {
        io::stdin().read_to_end(&mut bytes)?;
    }
    let mut json = serde_json::Deserializer::from_slice(&bytes);
    // Until only white space is left.
    while json.end().is_err() {
        let record = Record::read_put(kind, &mut json);
        records.push(record.map_err(|error| {
            let (number, line, column) = (records.len() + 1, error.line(), error.column());
            Failure::Failed(format!("record {number}, line {line}, column {column}: {}", reason(&error)))
        })?);
    }
    if records.is_empty() {
        let line = "expected flags for the fields, or JSON records on standard input";
        return Err(Failure::Usage(line.to_owned()));
    }
    Ok(records)
}

const MAX_PASSWORD_BYTES: u64 = 4096;

/// Reads a password from the first line of a file; `-` is standard input. No error quotes it.
fn password(file: &Path) -> Result<String, Failure> {
    let wrong = |reason: &dyn std::fmt::Display| {
        Failure::Failed(format!("{}: {reason}; pass a file whose first line is the password", file.display()))
    };
    let input: Box<dyn io::Read> = match file.to_str() {
        Some("-") => Box::new(io::stdin()),
        _ => Box::new(File::open(file).map_err(|error| wrong(&error))?),
    };
    let mut bytes = Vec::new();
    input.take(MAX_PASSWORD_BYTES + 1).read_to_end(&mut bytes).map_err(|error| wrong(&error))?;
    if bytes.len() as u64 > MAX_PASSWORD_BYTES {
        return Err(wrong(&format!("expected at most {MAX_PASSWORD_BYTES} bytes")));
    }
    // The error of the conversion would hold the bytes.
    let text = String::from_utf8(bytes).map_err(|_| wrong(&"the text is not UTF-8"))?;
    match text.lines().next() {
        Some(line) if !line.is_empty() => Ok(line.to_owned()),
        _ => Err(wrong(&"the first line is empty")),
    }
}

const WITH_DATA: &str = "with-data";
const UNGROUP: &str = "ungroup";

fn remove_command(kind: RecordKind, command: clap::Command) -> clap::Command {
    let (noun, name) = (kind.noun(), kind.name());
    let help = format!("Remove the record that this names, as `server list {name}` shows it, or several");
    let keys = Arg::new("keys").value_name(key_names(kind)).num_args(1..);
    let command = Confirmation::augment_args(Selected::augment_args(command))
        .about(format!("Remove each {noun} that is named or that meets all conditions, all or none"))
        .arg(keys.conflicts_with("conditions").help(help));
    let (name, help) = match kind {
        RecordKind::Account => {
            (WITH_DATA, "Also remove its tokens, whitelist entries, entitlements, groups and instances")
        }
        RecordKind::Group => (UNGROUP, "Remove the group even if it has instances, which then have no group"),
        _ => return command,
    };
    command.arg(Arg::new(name).long(name).action(ArgAction::SetTrue).help(help))
}

/// The texts that name a record, for example `HOST PORT REGION PROTOCOL`.
fn key_names(kind: RecordKind) -> String {
    let names: Vec<_> = kind.named_by().into_iter().map(|field| flag(field).to_uppercase()).collect();
    names.join(" ")
}

pub(super) async fn remove(OfKind { kind, arguments }: OfKind<REMOVE>) -> Result<(), Failure> {
    let selected = Selected::from_arg_matches(&arguments)?;
    let confirmation = Confirmation::from_arg_matches(&arguments)?;
    let is_set = |name| arguments.try_get_one::<bool>(name).ok().flatten().is_some_and(|is_set| *is_set);
    let dependents = Dependents { with_data: is_set(WITH_DATA), ungroup: is_set(UNGROUP) };
    let keys = arguments.try_get_many::<String>("keys").ok().flatten();
    let keys: Vec<String> = keys.into_iter().flatten().cloned().collect();
    let conditions = selected.conditions(kind)?;
    let names = kind.named_by();
    let mut keys: Vec<_> = keys.chunks(names.len()).collect();
    keys.sort();
    let key = |key: &&[String]| -> Result<Vec<Condition>, Failure> {
        let condition =
            |(field, text): (&&'static Field, &String)| Condition::new(field, text).map_err(wrong_argument);
        names.iter().zip(*key).map(condition).collect()
    };
    let selection = match (keys.is_empty(), conditions.is_empty()) {
        (false, _) if keys.iter().all(|key| key.len() == names.len()) => {
            let mut selection: Vec<Vec<Condition>> = Vec::new();
            for key in keys.iter().map(key) {
                let key = key?;
                // A record may be named twice, also in two spellings.
                if !selection.contains(&key) {
                    selection.push(key);
                }
            }
            selection
        }
        (true, false) => vec![conditions],
        _ => {
            let expected =
                format!("expected the records to remove: {} or --where FIELD=VALUE", key_names(kind));
            return Err(Failure::Usage(expected));
        }
    };
    let store = selected.database.open().await?;
    if !confirmation.yes {
        let words = store.removal(kind, selection, dependents).await?;
        return confirmation.require(&format!("remove {words}"));
    }
    print_line(&format!("removed {}", store.remove(kind, selection, dependents).await?))
}
