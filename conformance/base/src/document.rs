//! TOML, read key by key: each error has its place and what to do, and no error repeats a value of the wrong type.

use std::cell::RefCell;
use std::fmt;
use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::files;
use crate::wire::Secret;

/// A configuration error, with its position and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct ConfigError {
    file: PathBuf,
    /// Line, and column in characters, both from 1.
    place: Option<(usize, usize)>,
    message: String,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = self.place.map(|(line, _)| format!(":{line}")).unwrap_or_default();
        write!(f, "{}{line}: {}", self.file.display(), self.message)
    }
}

impl ConfigError {
    /// An error of the file as a whole.
    pub fn of_file(file: &Path, message: impl Into<String>) -> Self {
        Self { file: file.to_owned(), place: None, message: message.into() }
    }

    /// The error with file, line and column.
    pub fn with_column(&self) -> String {
        let Some((line, column)) = self.place else { return self.to_string() };
        format!("{}:{line}:{column}: {}", self.file.display(), self.message)
    }
}

/// A text with the file that names it in errors and beside which the files lie that it names.
#[derive(Clone, Copy)]
pub struct Document<'a> {
    file: &'a Path,
    text: &'a str,
    /// Looks up environment variables for secrets.
    variable: &'a dyn Fn(&str) -> Option<String>,
}

/// A table. Every key that was not asked for is unknown.
pub struct Section<'a> {
    document: Document<'a>,
    table: &'a DeTable<'a>,
    known: RefCell<Vec<String>>,
    /// Its key; empty for the root.
    key: String,
    offset: usize,
}

/// A value with its place.
#[derive(Clone)]
pub struct Item<'a> {
    document: Document<'a>,
    value: &'a Spanned<DeValue<'a>>,
    key: String,
}

impl<'a> Document<'a> {
    /// Parses TOML and passes its root to `read`.
    pub fn parse<T>(
        file: &'a Path,
        text: &'a str,
        variable: &'a dyn Fn(&str) -> Option<String>,
        read: impl FnOnce(&Section<'_>) -> Result<T, ConfigError>,
    ) -> Result<T, ConfigError> {
        let document = Self { file, text, variable };
        let root = DeTable::parse(text).map_err(|error| {
            let offset = error.span().map_or(0, |span| span.start);
            document.error(offset, error.message())
        })?;
        Section { document, table: root.get_ref(), known: RefCell::default(), key: String::new(), offset: 0 }
            .read_all(read)
    }

    fn error(&self, offset: usize, message: impl Into<String>) -> ConfigError {
        let before = String::from_utf8_lossy(self.text.as_bytes().get(..offset).unwrap_or_default());
        let line = 1 + before.matches('\n').count();
        let column = 1 + before.rsplit('\n').next().unwrap_or_default().chars().count();
        ConfigError { file: self.file.to_owned(), place: Some((line, column)), message: message.into() }
    }
}

impl<'a> Section<'a> {
    /// Reads the section with `read`, which must ask for every key.
    fn read_all<T>(self, read: impl FnOnce(&Self) -> Result<T, ConfigError>) -> Result<T, ConfigError> {
        let read = read(&self)?;
        let known = self.known.take();
        let unknown = self.table.iter().find(|(name, _)| !known.iter().any(|key| key == name.get_ref()));
        let Some((name, _)) = unknown else { return Ok(read) };
        let expected = format!("expected one of {}", known.join(", "));
        let advice = advice(name.get_ref(), known.iter().map(String::as_str), &expected);
        let place = if self.key.is_empty() { String::new() } else { format!(" in [{}]", self.key) };
        let message = format!("unknown key `{}`{place}; {advice}", name.get_ref());
        Err(self.document.error(name.span().start, message))
    }

    /// The value of a key, which is known from then on.
    pub fn get(&self, key: &str) -> Option<Item<'a>> {
        self.known.borrow_mut().push(key.to_owned());
        let (_, value) = self.table.iter().find(|(name, _)| name.get_ref() == key)?;
        Some(Item { document: self.document, value, key: key.to_owned() })
    }

    /// The same, or what is missing.
    pub fn require(&self, key: &str) -> Result<Item<'a>, ConfigError> {
        let missing = || self.document.error(self.offset, format!("`{}`: missing key `{key}`", self.key));
        self.get(key).ok_or_else(missing)
    }

    /// The value of a key, if it exists.
    pub fn read<T>(
        &self,
        key: &str,
        read: impl FnOnce(&Item<'a>) -> Result<T, ConfigError>,
    ) -> Result<Option<T>, ConfigError> {
        self.get(key).map(|item| read(&item)).transpose()
    }

    /// The table of a key, if it exists.
    pub fn section<T>(
        &self,
        key: &str,
        read: impl FnOnce(&Section<'a>) -> Result<T, ConfigError>,
    ) -> Result<Option<T>, ConfigError> {
        self.get(key).map(|item| item.section(read)).transpose()
    }

    /// All entries of a table with arbitrary keys.
    pub fn entries(&self) -> Vec<(String, Item<'a>)> {
        let keys: Vec<String> = self.table.keys().map(|name| name.get_ref().to_string()).collect();
        keys.into_iter().filter_map(|key| self.get(&key).map(|item| (key, item))).collect()
    }
}

impl<'a> Item<'a> {
    /// What was expected in its place.
    pub fn wrong(&self, expected: &str) -> ConfigError {
        self.because(&format!("expected {expected}"))
    }

    /// An error at this value that says all by itself.
    pub fn because(&self, message: &str) -> ConfigError {
        self.document.error(self.value.span().start, format!("`{}`: {message}", self.key))
    }

    /// One of some names; the error has the nearest one.
    pub fn named<T>(&self, named: impl Fn(&str) -> Option<T>, allowed: &[&str]) -> Result<T, ConfigError> {
        let found = self.string()?;
        named(&found).ok_or_else(|| {
            let near = did_you_mean(&found, allowed);
            self.wrong(&format!("one of {}, found `{found}`{near}", allowed.join(", ")))
        })
    }

    /// The error of an unknown id, with the nearest known one.
    pub fn unknown(&self, kind: &str, found: &str, known: &[&str]) -> ConfigError {
        let near = did_you_mean(found, known);
        self.wrong(&format!("the id of a {kind}, found `{found}`{near}"))
    }

    /// It as a text.
    pub fn string(&self) -> Result<String, ConfigError> {
        let text = self.value.get_ref().as_str().ok_or_else(|| self.wrong_type("a string"))?;
        Ok(text.to_owned())
    }

    /// It as a Boolean value.
    pub fn boolean(&self) -> Result<bool, ConfigError> {
        self.value.get_ref().as_bool().ok_or_else(|| self.wrong_type("true or false"))
    }

    /// An integer in a range that its type holds.
    pub fn number<T: TryFrom<i64>>(&self, allowed: std::ops::RangeInclusive<i64>) -> Result<T, ConfigError> {
        let expected = match (*allowed.start(), *allowed.end()) {
            (start, i64::MAX) => format!("an integer of at least {start}"),
            (start, end) => format!("an integer from {start} to {end}"),
        };
        let integer = self.value.get_ref().as_integer().ok_or_else(|| self.wrong_type(&expected))?;
        let number = i64::from_str_radix(&integer.as_str().replace('_', ""), integer.radix());
        let number = number.ok().filter(|number| allowed.contains(number));
        number.and_then(|number| number.try_into().ok()).ok_or_else(|| self.wrong(&expected))
    }

    /// A number above 0, up to 1.
    pub fn share(&self) -> Result<f64, ConfigError> {
        const EXPECTED: &str = "a number above 0, up to 1";
        let text = match self.value.get_ref() {
            DeValue::Float(number) => number.as_str(),
            DeValue::Integer(number) => number.as_str(),
            _ => return Err(self.wrong_type(EXPECTED)),
        };
        let number = text.replace('_', "").parse().ok();
        number.filter(|number| *number > 0.0 && *number <= 1.0).ok_or_else(|| self.wrong(EXPECTED))
    }

    /// A date without a time, bare or in quotes.
    pub fn date(&self) -> Result<jiff::civil::Date, ConfigError> {
        let text = match self.value.get_ref() {
            DeValue::Datetime(date) => date.to_string(),
            DeValue::String(text) => text.to_string(),
            _ => String::new(),
        };
        text.parse().map_err(|_| self.wrong("a date such as 2030-12-31"))
    }

    /// It as a list of texts.
    pub fn strings(&self) -> Result<Vec<String>, ConfigError> {
        self.items("a list of strings")?.iter().map(Item::string).collect()
    }

    /// A list of strings, or `{ file = "PATH" }` of a file with one on each line, in which `#` begins a comment line.
    pub(crate) fn lines(&self) -> Result<Vec<String>, ConfigError> {
        if !self.is_table() {
            return self.strings();
        }
        let text = self.content(&self.file_path("a list of strings or { file = \"PATH\" }")?)?;
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        Ok(lines.map(str::to_owned).collect())
    }

    /// A secret, which the document must not contain itself: `{ env = "NAME" }` or `{ file = "PATH" }`.
    pub fn secret(&self, name: &'static str) -> Result<Secret, ConfigError> {
        const EXPECTED: &str = "{ env = \"NAME\" } or { file = \"PATH\" }";
        if self.is_string() {
            let expected = format!("{EXPECTED}; a secret has no place in the configuration itself");
            return Err(self.wrong(&expected));
        }
        let (env, file) = self.section_of(EXPECTED, |source| {
            Ok((source.read("env", Item::string)?, source.read("file", Item::string)?))
        })?;
        let text = match (env, file) {
            (Some(name), None) => (self.document.variable)(&name)
                .ok_or_else(|| self.wrong(&format!("the variable {name} to be set, found that it is not")))?,
            (None, Some(path)) => self.content(&self.beside(&path))?,
            _ => return Err(self.wrong(EXPECTED)),
        };
        match text.trim() {
            "" => Err(self.wrong("a secret, found an empty one")),
            text => Ok(Secret::new(name, text)),
        }
    }

    /// The path of `{ file = "PATH" }`.
    pub(crate) fn file_path(&self, expected: &str) -> Result<PathBuf, ConfigError> {
        let path = self
            .section_of(expected, |table| table.get("file").ok_or_else(|| self.wrong(expected))?.string());
        path.map(|path| self.beside(&path))
    }

    /// A path, which is relative to the folder of the document.
    pub fn beside(&self, path: &str) -> PathBuf {
        self.document.file.parent().unwrap_or(Path::new("")).join(path)
    }

    fn content(&self, path: &Path) -> Result<String, ConfigError> {
        files::read_text(path, files::MAX_BYTES).map_err(|error| {
            self.wrong(&format!("a file that can be read, found {}: {error}", path.display()))
        })
    }

    /// Whether it is a text.
    pub fn is_string(&self) -> bool {
        self.value.get_ref().is_str()
    }

    /// Whether it is a table.
    pub fn is_table(&self) -> bool {
        self.value.get_ref().is_table()
    }

    /// Its elements; `expected` names the list.
    pub fn items(&self, expected: &str) -> Result<Vec<Item<'a>>, ConfigError> {
        let array = self.value.get_ref().as_array().ok_or_else(|| self.wrong_type(expected))?;
        let item = |value| Item { document: self.document, value, key: self.key.clone() };
        Ok(array.iter().map(item).collect())
    }

    /// Reads a table with `read`, which must ask for every key.
    pub fn section<T>(
        &self,
        read: impl FnOnce(&Section<'a>) -> Result<T, ConfigError>,
    ) -> Result<T, ConfigError> {
        self.section_of("a table", read)
    }

    /// The same, where the error of another type names the form that the table must have.
    pub(crate) fn section_of<T>(
        &self,
        expected: &str,
        read: impl FnOnce(&Section<'a>) -> Result<T, ConfigError>,
    ) -> Result<T, ConfigError> {
        let table = self.value.get_ref().as_table().ok_or_else(|| self.wrong_type(expected))?;
        let (key, offset) = (self.key.clone(), self.value.span().start);
        Section { document: self.document, table, known: RefCell::default(), key, offset }.read_all(read)
    }

    /// Whether it is a list, or several tables with one name.
    pub fn is_list(&self) -> bool {
        self.value.get_ref().is_array()
    }

    /// The error of a value of another type.
    fn wrong_type(&self, expected: &str) -> ConfigError {
        // The value is not shown: it may be a secret in the wrong place.
        self.wrong(&format!("{expected}, found {}", article(self.value.get_ref().type_str())))
    }
}

fn article(kind: &str) -> String {
    let article = if kind.starts_with(['a', 'i', 'o']) { "an" } else { "a" };
    format!("{article} {kind}")
}

fn did_you_mean(found: &str, known: &[&str]) -> String {
    match advice(found, known.iter().copied(), "") {
        near if near.is_empty() => near,
        near => format!("; {near}"),
    }
}

/// Names the most similar known name, or says something else if no name is similar.
pub fn advice<'a>(found: &str, known: impl IntoIterator<Item = &'a str>, otherwise: &str) -> String {
    const MIN_SIMILARITY: f64 = 0.75;
    let scored = known.into_iter().map(|name| (strsim::jaro_winkler(found, name), name));
    let similar = scored.filter(|(similarity, _)| *similarity >= MIN_SIMILARITY);
    let best = similar.max_by(|a, b| a.0.total_cmp(&b.0));
    best.map_or_else(|| otherwise.to_owned(), |(_, near)| format!("did you mean `{near}`?"))
}
