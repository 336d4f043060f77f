//! How changes are judged: by what they do to the requests that are accepted and to the responses that are sent, and by a table of
//! the changes about which that says too little (`rules.yaml`).

use std::{collections::BTreeMap, sync::LazyLock};

use minijinja::{Environment, Expression, Value, value::Serde};
use serde::Deserialize;
use serde_json::Value as Json;

use super::change::shown;
use crate::table::Direction;

/// What a change means for callers that follow the older document, from harmless to serious.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Verdict {
    /// Only texts changed.
    Documentation,
    /// Callers need not change.
    Compatible,
    /// Only a person can say whether callers or services break.
    Decision,
    /// A caller that followed the older document fails.
    Breaking,
}

/// What a change does to the set of valid requests or responses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, strum::Display)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub(super) enum Effect {
    Narrows,
    Widens,
    /// A part that may be left out is new.
    Adds,
    /// A part that could be left out is gone.
    Removes,
}

/// A kind of change, and its verdict.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rule {
    /// Stable id, part of fingerprints.
    pub(crate) id: String,
    pub(crate) verdict: Verdict,
    /// Whether a service that conformed to the older document may fail the newer suite.
    pub(crate) services_may_fail: bool,
    /// What changed, in a few words.
    pub(crate) means: &'static str,
    /// What to do.
    pub(crate) advice: &'static str,
}

impl Verdict {
    pub(crate) const ALL: [Verdict; 4] =
        [Verdict::Breaking, Verdict::Decision, Verdict::Compatible, Verdict::Documentation];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Verdict::Breaking => "breaking",
            Verdict::Decision => "needs a decision",
            Verdict::Compatible => "compatible",
            Verdict::Documentation => "documentation",
        }
    }
}

/// The file `rules.yaml`, which says what its parts are.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Table {
    effects: BTreeMap<String, Judgement>,
    rules: BTreeMap<String, Judgement>,
    without_effect: BTreeMap<String, Json>,
    differences: Vec<Difference>,
    witnesses: Vec<Difference>,
}

/// A verdict, whether conforming services may fail, what it means and what to do.
type Judgement = (Verdict, bool, String, String);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Difference {
    when: String,
    is: String,
    effect: Option<Effect>,
}

#[expect(clippy::expect_used, reason = "a part of this program, which every comparison reads")]
static TABLE: LazyLock<Table> =
    LazyLock::new(|| serde_saphyr::from_str(include_str!("rules.yaml")).expect("the rules of differences"));

/// A value as the expressions name it.
pub(super) fn known(said: Option<&Json>) -> Value {
    said.map_or(Value::UNDEFINED, |value| Serde(value).into())
}

/// The words of the expressions.
static WORDS: LazyLock<Environment<'_>> = LazyLock::new(|| {
    let mut words = Environment::new();
    words.add_filter("shown", |one: Value| shown(&Json::deserialize(one).unwrap_or_default()));
    words.add_test("reordered", |one: Value, other: Value| {
        let sorted = |list: Value| {
            let mut texts: Vec<_> =
                list.try_iter().into_iter().flatten().map(|one| format!("{one:?}")).collect();
            texts.sort_unstable();
            texts
        };
        !one.is_undefined() && !other.is_undefined() && sorted(one) == sorted(other)
    });
    words.add_test("respelled", |one: Value, other: Value| {
        one.as_str().zip(other.as_str()).is_some_and(|(one, other)| one.eq_ignore_ascii_case(other))
    });
    words.add_test("extending", |one: Value, other: Value| {
        let has = |name| one.get_item(&name).ok() == other.get_item(&name).ok();
        other.try_iter().into_iter().flatten().all(has)
    });
    words
});

/// Rows whose expressions are compiled.
type Rows = Vec<(Expression<'static, 'static>, &'static Difference)>;

#[expect(clippy::expect_used, reason = "a part of this program, which every comparison reads")]
fn compiled(rows: &'static [Difference]) -> Rows {
    rows.iter().map(|one| (WORDS.compile_expression(&one.when).expect("an expression"), one)).collect()
}

static DIFFERENCES: LazyLock<Rows> = LazyLock::new(|| compiled(&TABLE.differences));

static WITNESSES: LazyLock<Rows> = LazyLock::new(|| compiled(&TABLE.witnesses));

/// What a row that differs is: the id of a rule, or another word, with its effect. `known` is what the expressions may name.
pub(super) fn difference(known: &BTreeMap<&str, Value>) -> (String, Option<Effect>) {
    first(&DIFFERENCES, known)
}

/// The witness of a breaking change; empty without one.
pub(super) fn witness(known: &BTreeMap<&str, Value>) -> String {
    first(&WITNESSES, known).0
}

#[expect(clippy::expect_used, reason = "expressions of this program, whose last one always holds")]
fn first(rows: &Rows, known: &BTreeMap<&str, Value>) -> (String, Option<Effect>) {
    let holds = |when: &Expression<'_, '_>| when.eval(known).expect("the value of an expression").is_true();
    let (_, Difference { is, effect, .. }) = rows.iter().find(|(when, _)| holds(when)).expect("the last one");
    (WORDS.render_str(is, known).expect("a text"), *effect)
}

/// Whether a value says what its absence says.
pub(super) fn is_without_effect(keyword: &str, value: &Json) -> bool {
    TABLE.without_effect.get(keyword) == Some(value)
}

impl Rule {
    /// The rule with that id in the table; a change without one is unclassified.
    pub(super) fn named(id: &str) -> Rule {
        match TABLE.rules.get(id) {
            Some(judgement) => Rule::new(id, judgement),
            None => Rule::new("unclassified", &TABLE.rules["unclassified"]),
        }
    }

    /// The rule for a change with that effect, such as `request-limit` and `narrowed`, unless the table has one.
    pub(super) fn by_effect(id: &str, direction: Direction, effect: Effect) -> Rule {
        let side = if direction == Direction::Request { direction } else { Direction::Response };
        let effect = format!("{side} {effect}");
        Rule::new(id, TABLE.rules.get(id).unwrap_or_else(|| &TABLE.effects[&effect]))
    }

    fn new(id: &str, (verdict, services_may_fail, means, advice): &'static Judgement) -> Rule {
        let (verdict, services_may_fail) = (*verdict, *services_may_fail);
        Rule { id: id.to_owned(), verdict, services_may_fail, means, advice }
    }

    /// The section of a changelog that the change belongs to.
    pub(super) fn section(&self) -> &'static str {
        match &self.id {
            id if id.contains("-added") => "Added",
            id if id.contains("-removed") => "Removed",
            _ => "Changed",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_that_no_rule_knows_needs_a_decision() {
        assert_eq!(Rule::named("no such rule").verdict, Verdict::Decision);
        for id in TABLE.differences.iter().filter(|one| one.effect.is_none()).map(|one| one.is.as_str()) {
            let is_known =
                ["none", "each-value"].contains(&id) || id.contains('{') || TABLE.rules.contains_key(id);
            assert!(is_known, "{id}");
        }
    }
}
