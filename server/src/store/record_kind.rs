//! The kinds of records with their fields, as `records.txt` declares them. Imports, exports, lists, changes and removals, the flags of
//! the command line and its help follow from these declarations, and so does the SQL for them.

use std::sync::LazyLock;

use super::value::Value;
use crate::domain::{Protocol, Status, token::TokenKind};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the kind of the record of that name")]
pub enum RecordKind {
    Account,
    Token,
    Whitelist,
    Entitlement,
    Gateway,
    Group,
    Instance,
}

/// A field of a kind of records.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Name in JSON and in conditions.
    pub name: &'static str,
    /// Column of the table.
    pub(super) column: &'static str,
    /// What its values are.
    pub form: Form,
    /// What it means, for `--help`.
    pub help: &'static str,
    /// The value, in JSON, of a new record that is put without the field; `None` if it must be given.
    pub(super) default: Option<&'static str>,
    /// Whether a record of an import may leave it out.
    pub(super) is_optional: bool,
    /// What a value that is put must be. Imports take other values, which a database may have from elsewhere.
    pub(super) rule: Option<Rule>,
}

/// What a value must be, beside its form.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    pub(super) is_met: fn(&Value<'_>) -> bool,
    pub(super) expected: &'static str,
}

/// What the values of a field are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString)]
#[strum(serialize_all = "lowercase")]
pub enum Form {
    /// The name of the account that owns the record.
    Account,
    /// Any text.
    Text,
    /// A host name or an address, which is stored in its shortest spelling, so that a gateway is stored once.
    Host,
    /// One of these names.
    #[strum(disabled)]
    Name(&'static [&'static str]),
    /// An integer from the first to the last of these.
    #[strum(disabled)]
    Integer(i64, i64),
    /// True or false.
    Flag,
    /// A time with its zone, from year 0 on, because RFC 3339 has no other. It keeps its nanoseconds.
    Time,
    /// An IP address. An IPv4-mapped one is stored as the IPv4 address.
    Address,
    /// An IPv4 address.
    Ipv4,
    /// A list of texts.
    List,
    /// The capabilities of an instance, a JSON object.
    Object,
    /// A secret: it can be put, and is never shown.
    Password,
    /// A digest, which is neither put nor shown.
    Digest,
    /// A number that the database assigns. It is in no import.
    Number,
    /// An address between the columns `first` and `last`. Only a condition.
    Covers,
    /// The texts from which the fields `first` and `last` are made. Only to be put.
    Range,
}

impl Field {
    /// Whether the value may be null.
    pub(super) fn is_nullable(&self) -> bool {
        self.default == Some("null")
    }

    /// The column, in a query [`RecordKind::from`] the table.
    pub(super) fn selected(&self) -> String {
        match self.form {
            Form::Account => "a.name".to_owned(),
            _ => format!("t.{}", self.column),
        }
    }

    /// Whether rows have the field.
    pub(super) const fn is_selected(&self) -> bool {
        !matches!(self.form, Form::Covers | Form::Range)
    }

    /// Whether a record has the field, and so an import and an export.
    pub(super) const fn is_stored(&self) -> bool {
        !matches!(self.form, Form::Number | Form::Covers | Form::Range)
    }
}

impl Form {
    /// Whether records can be selected by such a field.
    pub const fn can_be_condition(self) -> bool {
        !matches!(self, Self::List | Self::Object | Self::Password | Self::Digest | Self::Range)
    }

    /// Whether records can be put with such a field.
    pub const fn can_be_put(self) -> bool {
        !matches!(self, Self::Digest | Self::Covers)
    }

    /// What a value must be, for messages.
    pub(super) fn expected(self) -> String {
        match self {
            Self::Integer(min, i64::MAX) => format!("an integer of at least {min}"),
            Self::Integer(min, max) => format!("an integer from {min} to {max}"),
            Self::Name(names) => format!("one of: {}", names.join(", ")),
            Self::Number => "an integer of at least 1".to_owned(),
            Self::Flag => "true or false".to_owned(),
            Self::Time => "a time with its zone, for example 2027-01-01T00:00:00Z".to_owned(),
            Self::Address => "an IP address, for example 192.0.2.1".to_owned(),
            Self::Ipv4 | Self::Covers => "an IPv4 address, for example 192.0.2.1".to_owned(),
            Self::List => "a list of texts".to_owned(),
            Self::Object => "a JSON object".to_owned(),
            Self::Digest => "64 hexadecimal digits".to_owned(),
            Self::Account | Self::Text | Self::Host | Self::Password | Self::Range => "a text".to_owned(),
        }
    }
}

/// What is declared of a kind.
struct Declaration {
    name: &'static str,
    noun: &'static str,
    table: &'static str,
    key: Vec<&'static str>,
    fields: Vec<Field>,
}

const DECLARED: &str = include_str!("records.txt");

/// In the order of the enum.
static DECLARATIONS: LazyLock<Vec<Declaration>> = LazyLock::new(|| {
    let kinds = DECLARED.split("\n\n").skip(2).map(|kind| {
        let mut lines = kind.lines();
        let [name, noun, table, key] = columns(lines.next().unwrap_or_default());
        Declaration {
            name,
            noun,
            table,
            key: key.split(' ').collect(),
            fields: lines.map(Field::declared).collect(),
        }
    });
    kinds.collect()
});

#[expect(clippy::expect_used, reason = "the rows are constants, and the tests read them")]
fn columns<const N: usize>(row: &'static str) -> [&'static str; N] {
    row.split('|').map(str::trim).collect::<Vec<_>>().try_into().expect("a row with all columns")
}

impl Field {
    #[expect(clippy::expect_used, reason = "as for the columns")]
    fn declared(row: &'static str) -> Self {
        let [name, column, form, left_out, rule, help] = columns(row);
        let default = Some(left_out.trim_end_matches(" if put")).filter(|default| *default != "required");
        let rule = (!rule.is_empty()).then(|| Rule::declared(rule).expect("a known rule"));
        let form = Form::declared(form).expect("a known form");
        Self { name, column, form, help, default, is_optional: left_out == "null", rule }
    }
}

impl Form {
    fn declared(text: &str) -> Option<Self> {
        Some(match text {
            "protocol" => Self::Name(&Protocol::NAMES),
            "status" => Self::Name(&Status::NAMES),
            "token kind" => Self::Name(&TokenKind::NAMES),
            _ => match text.strip_prefix("integer ") {
                None => text.parse().ok()?,
                Some(bounds) => {
                    let mut bounds = bounds.split(' ').map(str::parse);
                    Self::Integer(bounds.next()?.ok()?, bounds.next().unwrap_or(Ok(i64::MAX)).ok()?)
                }
            },
        })
    }
}

impl Rule {
    /// The rule of this name, which has a row of its own in `records.txt`.
    fn declared(name: &str) -> Option<Self> {
        let is_met: fn(&Value<'_>) -> bool = match name {
            "account name" => is_account_name,
            "host" => is_host,
            "code" => is_code,
            "typed text" | "typed password" => is_typed,
            "ISP type" => |isp_type: &Value<'_>| matches!(isp_type, Value::Number(1 | 2)),
            _ => return None,
        };
        let mut rules = DECLARED.split("\n\n").nth(1)?.lines().map(columns);
        let expected = rules.find_map(|[rule, expected]| (rule == name).then_some(expected))?;
        Some(Self { is_met, expected })
    }
}

fn text<'a>(value: &'a Value<'_>) -> &'a str {
    if let Value::Text(text) = value { text } else { "" }
}

/// Callers compare codes exactly, so that another spelling would never be found.
fn is_code(value: &Value<'_>) -> bool {
    text(value).len() == 3 && text(value).bytes().all(|byte| byte.is_ascii_uppercase())
}

fn is_typed(value: &Value<'_>) -> bool {
    !text(value).is_empty() && !text(value).chars().any(char::is_control)
}

fn is_account_name(value: &Value<'_>) -> bool {
    const MAX_LENGTH: usize = 200;
    let name = text(value);
    is_typed(value)
        && name.trim() == name
        && name.chars().count() <= MAX_LENGTH
        && !crate::domain::token::Token::resembles(name)
}

/// Whether there is neither a port nor a user name beside the host.
fn is_host(value: &Value<'_>) -> bool {
    let host = text(value);
    let is_bad = |letter: char| letter.is_control() || letter.is_whitespace() || "@/[]".contains(letter);
    let has_port = host.contains(':') && host.parse::<std::net::Ipv6Addr>().is_err();
    !host.is_empty() && !host.contains(is_bad) && !has_port
}

impl RecordKind {
    /// Every kind, each after those that its records refer to.
    pub const ALL: [Self; 7] = [
        Self::Account,
        Self::Token,
        Self::Whitelist,
        Self::Entitlement,
        Self::Gateway,
        Self::Group,
        Self::Instance,
    ];

    fn declaration(self) -> &'static Declaration {
        &DECLARATIONS[self as usize]
    }

    /// The kind of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The kind's name in JSON and on the command line.
    pub fn name(self) -> &'static str {
        self.declaration().name
    }

    /// What one record is called in messages.
    pub fn noun(self) -> &'static str {
        self.declaration().noun
    }

    /// The fields of the records.
    pub fn fields(self) -> &'static [Field] {
        &self.declaration().fields
    }

    /// The fields by which a record is known.
    pub(super) fn key(self) -> &'static [&'static str] {
        &self.declaration().key
    }

    /// The fields that name a record on the command line: its number if the database assigned one, or else its key.
    pub fn named_by(self) -> Vec<&'static Field> {
        let fields = self.fields();
        match fields.first() {
            Some(number) if number.form == Form::Number => vec![number],
            _ => fields.iter().filter(|field| self.key().contains(&field.name)).collect(),
        }
    }

    pub(super) fn table(self) -> &'static str {
        self.declaration().table
    }

    pub(super) fn stored(self) -> impl Iterator<Item = &'static Field> {
        self.fields().iter().filter(|field| field.is_stored())
    }

    /// Whether an account owns the records.
    pub(super) fn has_owner(self) -> bool {
        self.stored().any(|field| field.form == Form::Account)
    }

    /// The columns that [`Record::row`](super::record::Record::row) fills: those of the stored fields, and those that a gateway gets
    /// besides.
    fn columns(self) -> Vec<&'static str> {
        let assigned: &[_] = if self == Self::Gateway { &["id", "spin"] } else { &[] };
        self.stored().map(|field| field.column).chain(assigned.iter().copied()).collect()
    }

    /// Adds one record.
    pub(super) fn insert(self) -> String {
        let columns = self.columns();
        let values: Vec<_> = (1..=columns.len()).map(|number| format!("${number}")).collect();
        format!("INSERT INTO {} ({}) VALUES ({})", self.table(), columns.join(", "), values.join(", "))
    }

    /// Adds records by PostgreSQL's binary `COPY`.
    #[cfg(feature = "postgres")]
    pub(super) fn copy(self) -> String {
        format!("COPY {} ({}) FROM STDIN (FORMAT binary)", self.table(), self.columns().join(", "))
    }

    /// Selects the fields of the records `t` with their owners `a`, in SQL that both databases speak.
    pub(super) fn select(self, from: &str) -> String {
        let columns: Vec<_> =
            self.fields().iter().filter(|it| it.is_selected()).map(Field::selected).collect();
        format!("SELECT {} FROM {from}", columns.join(", "))
    }

    /// Selects every record of this kind for an export.
    pub(super) fn select_all(self) -> String {
        let order = if self == Self::Entitlement { "t.account_id, t.protocol" } else { "t.id" };
        self.select(&format!("{} ORDER BY {order}", self.from()))
    }

    /// The table `t`, and its owners `a`.
    pub(super) fn from(self) -> String {
        let table = self.table();
        match self.has_owner() {
            true => format!("{table} AS t JOIN accounts AS a ON a.id = t.account_id"),
            false => format!("{table} AS t"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value as Json;

    use super::*;

    /// A record that an import accepts is shown as it is, so the forms are what keeps the document's constraints of responses.
    #[test]
    fn no_field_can_hold_what_the_document_forbids_in_responses() {
        let file: Json = serde_json::from_str(sallyport_contract::JSON).unwrap();
        let document = &file["document"];
        for (kind, schema) in [
            (RecordKind::Gateway, "ProxyEndpoint"),
            (RecordKind::Group, "StaticGroup"),
            (RecordKind::Instance, "StaticInstance"),
        ] {
            for (name, property) in
                document["components"]["schemas"][schema]["properties"].as_object().unwrap()
            {
                let name = if kind == RecordKind::Gateway && name == "ip" { "host" } else { name };
                let field = kind.stored().find(|field| field.name == name).unwrap();
                let target = property["$ref"].as_str().map(|target| document.pointer(&target[1..]).unwrap());
                let property = target.unwrap_or(property);
                assert!(!field.is_nullable() || property["nullable"] == true, "{kind:?} {name}");
                for (keyword, value) in property.as_object().unwrap() {
                    let is_kept = match (keyword.as_str(), field.form) {
                        ("description" | "example" | "x-clause" | "nullable", _) => true,
                        ("type", Form::Integer(..)) => value == "integer",
                        ("type", Form::List) => value == "array",
                        ("type", Form::Object) => value == "object",
                        ("type", _) => value == "string",
                        ("minimum", Form::Integer(min, _)) => {
                            value.as_i64().is_some_and(|least| least <= min)
                        }
                        ("format", Form::Integer(..)) => value == "int64",
                        ("format", Form::Time) => value == "date-time",
                        ("enum", Form::Name(names)) => *value == Json::from(names),
                        ("items", Form::List) => value["type"] == "string",
                        // They are read as the type that is generated from them.
                        ("properties", Form::Object) => true,
                        _ => false,
                    };
                    assert!(is_kept, "`{name}` of a {} may break `{keyword}: {value}`", kind.noun());
                }
            }
        }
    }
}
