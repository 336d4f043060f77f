//! Runs the rows of `server.txt`, with those that a fault and decisions have in place of some.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

use minijinja::value::{Object, Serde};
use minijinja::{Error, Expression, Value};
use serde_json::Value as Json;

use super::words::{End, Gone, WORDS};

/// A row: what a name is, or how a member of its object changes.
#[derive(Debug)]
pub(crate) struct Rule {
    /// The operation that it is for; `*` or nothing for each.
    pub(crate) operation: &'static str,
    pub(crate) name: &'static str,
    /// The path of a member, as a JSON pointer.
    path: Option<&'static str>,
    /// The section that runs for each element of the list that the expression gives.
    each: Option<&'static str>,
    expression: Expression<'static, 'static>,
}

/// A line of a section.
#[derive(Debug)]
enum Row {
    Rule(Rule),
    Use(&'static str),
}

/// The sections of the server, by name.
static SECTIONS: LazyLock<HashMap<&str, Vec<Row>>> = LazyLock::new(|| {
    let (mut sections, mut name) = (HashMap::<_, Vec<_>>::new(), "");
    let lines = include_str!("../server.txt").lines();
    for line in lines.filter(|line| !line.is_empty() && !line.trim_start().starts_with('#')) {
        match line.strip_prefix("  ").map(|row| (row, row.strip_prefix("use "))) {
            None => name = line,
            Some((_, Some(other))) => sections.entry(name).or_default().push(Row::Use(other)),
            Some((row, None)) => sections.entry(name).or_default().push(Row::Rule(Rule::parse(row))),
        }
    }
    sections
});

/// Whether an operation has a row of that name; `*` or nothing stands for any.
pub(crate) fn has_row(operation: &str, wanted: &str) -> bool {
    let error = if operation == "extract" { "extract_error" } else { "static_error" };
    let mut sections: Vec<&str> = match operation {
        "" | "*" => SECTIONS.keys().copied().collect(),
        _ => vec![operation, error],
    };
    while let Some(section) = sections.pop() {
        for row in &SECTIONS[section] {
            match row {
                Row::Use(other) => sections.push(other),
                Row::Rule(rule) if rule.name == wanted => return true,
                Row::Rule(rule) => sections.extend(rule.each),
            }
        }
    }
    false
}

impl Rule {
    /// The rules of a row, divided by semicolons outside of quotes.
    pub(crate) fn parse_all(row: &'static str) -> Vec<Self> {
        let mut is_quoted = false;
        let rules = row.split(move |c| {
            is_quoted ^= c == '"';
            c == ';' && !is_quoted
        });
        rules.map(|rule| Self::parse(rule.trim_start())).collect()
    }

    fn parse(text: &'static str) -> Self {
        let (place, source) = text.split_once(": ").unwrap_or_else(|| panic!("no rule: {text}"));
        let at = place.find('/').unwrap_or(place.len());
        let (place, path) = place.split_at(at);
        let (operation, name) = place.split_once('.').unwrap_or(("", place));
        let each = source.strip_prefix("each ").and_then(|rest| rest.split_once(" in "));
        let (each, source) = each.map_or((None, source), |(section, list)| (Some(section), list));
        let expression = WORDS.compile_expression(source).unwrap_or_else(|error| panic!("{text}: {error}"));
        Self { operation, name, path: Some(path).filter(|path| !path.is_empty()), each, expression }
    }
}

/// What a server does differently: one fault at most, perhaps in one circumstance alone, and its decisions on unspecified behaviour.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// The circumstance, behind an `@`.
    pub(crate) circumstance: Option<String>,
    pub(crate) fault: Vec<Rule>,
    /// The rows of its decisions.
    pub(crate) decided: Vec<Rule>,
}

/// What rows know, by name; the innermost counts.
#[derive(Debug)]
pub(crate) struct Scope {
    own: Mutex<HashMap<&'static str, Value>>,
    /// An object whose members are known by their names.
    object: Option<Value>,
    outer: Option<Arc<Self>>,
}

impl Scope {
    pub(crate) fn new<T>(outer: Option<&Arc<Self>>, known: T) -> Arc<Self>
    where
        T: IntoIterator<Item = (&'static str, Value)>,
    {
        let outer = outer.map(Arc::clone);
        Arc::new(Self { own: Mutex::new(known.into_iter().collect()), outer, object: None })
    }

    pub(crate) fn set(&self, name: &'static str, value: Value) {
        self.own.lock().expect("nothing panics while it holds the names").insert(name, value);
    }

    pub(crate) fn get(&self, name: &str) -> Option<Value> {
        let own = self.own.lock().expect("nothing panics while it holds the names").get(name).cloned();
        let member = || self.object.as_ref()?.get_attr(name).ok().filter(|value| !value.is_undefined());
        own.or_else(member).or_else(|| self.outer.as_ref()?.get(name))
    }
}

impl Object for Scope {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.get(key.as_str()?)
    }

    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Value> {
        self.get(key)
    }
}

pub(crate) struct Call<'a> {
    pub(crate) changes: &'a Changes,
    pub(crate) operation: String,
}

impl Call<'_> {
    /// Runs the rows of a section; the last value is that of the section. The error is what ends the call.
    pub(crate) fn run(&self, section: &str, scope: &Arc<Scope>) -> Result<Value, Value> {
        let mut last = Value::from(());
        for row in SECTIONS.get(section).unwrap_or_else(|| panic!("unknown section `{section}`")) {
            match row {
                Row::Use(other) => last = self.run(other, scope)?,
                // Nothing else asks for a circumstance.
                Row::Rule(rule)
                    if rule.name.starts_with('@')
                        && self.changes.circumstance.as_deref() != Some(rule.name) => {}
                Row::Rule(rule) => {
                    last = self.value(rule, scope)?;
                    scope.set(rule.name, last.clone());
                }
            }
        }
        Ok(last)
    }

    /// What a row gives, or the first row in place of it that says something, with the changes of its members.
    fn value(&self, row: &Rule, scope: &Arc<Scope>) -> Result<Value, Value> {
        let is_here = || {
            let circumstance = self.changes.circumstance.as_deref();
            circumstance.is_none_or(|name| scope.get(name).is_some_and(|value| value.is_true()))
        };
        let is_own = |rule: &&Rule| {
            rule.name == row.name && (matches!(rule.operation, "" | "*") || rule.operation == self.operation)
        };
        let fault = self.changes.fault.iter().filter(is_own).filter(|_| is_here());
        let changes: Vec<&Rule> = fault.chain(self.changes.decided.iter().filter(is_own)).collect();
        let mut value = Value::UNDEFINED;
        for rule in changes.iter().copied().filter(|rule| rule.path.is_none()).chain([row]) {
            if value.is_undefined() {
                value = self.evaluate(rule, scope)?;
            }
        }
        let mut value = if value.is_undefined() { Value::from(()) } else { value };
        for (rule, path) in changes.iter().filter_map(|rule| Some((rule, rule.path?))) {
            value = self.changed(rule, path, value, scope)?;
        }
        Ok(value)
    }

    fn evaluate(&self, rule: &Rule, scope: &Arc<Scope>) -> Result<Value, Value> {
        let value = rule.expression.eval(Value::from_dyn_object(Arc::clone(scope)));
        let value = value.map_err(|error| end(rule, &error))?;
        let Some(section) = rule.each.filter(|_| !value.is_undefined()) else { return Ok(value) };
        let mut all = Vec::new();
        for (at, it) in value.try_iter().expect("`each` has a list").enumerate() {
            let inner = Scope::new(Some(scope), [("it", it), ("at", at.into())]);
            all.push(self.run(section, &inner)?);
        }
        all.retain(|value| !Gone::is(value));
        Ok(all.into())
    }

    /// An object with a member that a rule changes. The rule knows its members, and the present `value` or none.
    fn changed(&self, rule: &Rule, path: &str, object: Value, scope: &Arc<Scope>) -> Result<Value, Value> {
        let mut json = serde_json::to_value(&object).expect("a value of JSON");
        let (parent, name) = path.rsplit_once('/').unwrap_or_default();
        let Some(members) = json.pointer_mut(parent).and_then(Json::as_object_mut) else { return Ok(object) };
        let value = Value::from(Serde(members.get(name).cloned().unwrap_or_default()));
        let known = Scope {
            own: Mutex::new(HashMap::from([("value", value)])),
            object: Some(object),
            outer: Some(Arc::clone(scope)),
        };
        match self.evaluate(rule, &Arc::new(known))? {
            new if new.is_undefined() => {}
            new if Gone::is(&new) => drop(members.remove(name)),
            new => {
                drop(members.insert(name.to_owned(), serde_json::to_value(&new).expect("a value of JSON")))
            }
        }
        Ok(Value::from(Serde(json)))
    }
}

/// What ends a call; any other error is one of the row.
fn end(rule: &Rule, error: &Error) -> Value {
    let source = std::error::Error::source(error).and_then(|source| source.downcast_ref::<End>());
    source.unwrap_or_else(|| panic!("{}: {error:#}", rule.name)).0.clone()
}
