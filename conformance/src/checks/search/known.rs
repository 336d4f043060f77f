//! Compares instances of the console with those that a search finds.

use super::*;
use crate::checks::relation::values::agrees;
use crate::target::KnownInstance;

pub(super) static PROGRAMS: &[Program] = &[active("search.instance.known", cases)];

const MAX_INSTANCES: usize = 100;
/// Maximum number of cases for each kind of lookup.
const MAX_CASES: usize = 4;

/// Fields that may have changed since the export, so a difference is a warning.
pub(super) const CHANGEABLE: [&str; 5] = ["status", "expiresAt", "activatedAt", "capabilities", "groupId"];

fn cases(scope: &Scope<'_>) -> Vec<Case> {
    // Without the fact, a plan still shows cases.
    let chunks = scope.facts.known_instances.len().div_ceil(MAX_INSTANCES).clamp(1, MAX_CASES);
    let ways = [("with ports", true), ("without ports", false)];
    let cases = ways.into_iter().flat_map(|(way, has_port)| {
        (0..chunks).map(move |chunk| {
            Case::for_data(format!("{way} {}", chunk + 1), Cost::requests(2), (has_port, chunk), known)
        })
    });
    cases.collect()
}

async fn known(probe: &Probe<'_>, (has_port, chunk): (bool, usize)) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let all = &probe.facts().known_instances;
    let chunk: Vec<_> = spread(all).into_iter().skip(chunk * MAX_INSTANCES).take(MAX_INSTANCES).collect();
    let items: BTreeSet<_> = chunk.iter().map(|instance| item(search, instance, has_port)).collect();
    let items: BTreeSet<_> = items.into_iter().take(search.distinct_items).collect();
    let found = read(probe, &probe.search(items.iter().map(String::as_str))).await?;
    let clause = if has_port { SearchMatchPort } else { SearchMatchAnyPort };
    let is_asked = |instance: &&KnownInstance| items.contains(&item(search, instance, has_port));
    judge(probe, clause, &chunk.into_iter().filter(is_asked).collect::<Vec<_>>(), &found);
    Ok(())
}

/// For each field the instances with the largest, the longest and a value of each form, which databases may change, and some others.
fn spread(all: &[KnownInstance]) -> Vec<&KnownInstance> {
    let count = all.len().min(MAX_INSTANCES * MAX_CASES);
    let names: BTreeSet<&String> = all.iter().flat_map(|instance| instance.fields.keys()).collect();
    let extreme = |name: &&String| {
        let number = |at: &usize| all[*at].fields.get(*name).and_then(number).unwrap_or(f64::MIN);
        let length = |at: &usize| all[*at].fields.get(*name).map_or(0, |value| value.to_string().len());
        let largest = (0..all.len()).max_by(|one, other| number(one).total_cmp(&number(other)));
        let forms = forms(all, name);
        largest.into_iter().chain((0..all.len()).max_by_key(length)).chain(forms).collect::<Vec<_>>()
    };
    let extremes = names.iter().flat_map(extreme);
    let mut seen = BTreeSet::new();
    let places = extremes.chain((0..count).map(|at| at * all.len() / count));
    places.filter(|at| seen.insert(*at)).take(count).map(|at| &all[at]).collect()
}

/// The first instance with each form of a field, such as a time with a fraction. Letters and digits are equal in a form.
fn forms(all: &[KnownInstance], name: &str) -> Vec<usize> {
    const MAX_FORMS: usize = 6;
    let form = |value: &Json| -> String {
        let kind = |character: char| match character {
            '0'..='9' => '0',
            _ if character.is_alphabetic() => 'a',
            other => other,
        };
        value.to_string().chars().map(kind).collect()
    };
    let mut seen = BTreeSet::new();
    let is_new = |at: &usize| all[*at].fields.get(name).is_some_and(|value| seen.insert(form(value)));
    (0..all.len()).filter(is_new).take(MAX_FORMS).collect()
}

/// A number, or the text of a number in CSV.
fn number(value: &Json) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.parse().ok())
}

fn item(search: &Search, instance: &KnownInstance, has_port: bool) -> String {
    let host = &instance.spelling;
    match has_port && search.ports.contains(&instance.port) {
        true if host.contains(':') => format!("[{host}]:{}", instance.port),
        true => format!("{host}:{}", instance.port),
        false => host.clone(),
    }
}

fn judge(probe: &Probe<'_>, clause: Clause, expected: &[&KnownInstance], found: &ResultSet) {
    let at = |known: &KnownInstance| {
        let here =
            move |instance: &&Instance| instance.ip == known.ip.to_canonical() && instance.port == known.port;
        found.instances.values().filter(here).collect::<Vec<_>>()
    };
    let missing: Vec<_> = expected.iter().filter(|known| at(known).is_empty()).collect();
    let variable = Fact::KnownInstances.variable();
    if let Some(first) = missing.first() {
        let wanted = format!("{}, as supplied by {variable}", quantity(expected.len(), "known instance"));
        let missing = quantity(missing.len(), "instance");
        let actual = format!("{missing} missing, such as {} port {}", first.spelling, first.port);
        probe.finding(clause, &wanted, &actual, &found.evidence());
    }
    // For each field, the first instance that differs, and the number of those that do.
    let mut differing_in: BTreeMap<&String, (&KnownInstance, Differing<'_>, usize)> = BTreeMap::new();
    for &known in expected {
        // Several instances may have the address and port, so the most similar one counts.
        let differences = at(known).into_iter().map(|instance| differing(known, instance));
        for (name, difference) in differences.min_by_key(Vec::len).unwrap_or_default() {
            differing_in.entry(name).or_insert((known, difference, 0)).2 += 1;
        }
    }
    for (name, (known, (value, shown), count)) in differing_in {
        let KnownInstance { spelling, port, .. } = known;
        let expected = format!("{spelling} port {port} with {name} {value}, as supplied by {variable}");
        let others = match count - 1 {
            0 => String::new(),
            others => format!("; {name} also differs in {}", quantity(others, "other instance")),
        };
        let actual = format!("{name} is {shown}{others}");
        if CHANGEABLE.contains(&name.as_str()) {
            let expected = format!("{expected}, unless it has changed since");
            probe.warning(SearchInstance, &expected, &actual, &found.evidence());
        } else {
            probe.finding(SearchInstance, &expected, &actual, &found.evidence());
        }
    }
}

/// The known value of a field, and another one that a response shows.
type Differing<'a> = (&'a Json, &'a Json);

/// The fields that differ. Those that the response lacks, such as comments in the console, are not compared.
fn differing<'a>(known: &'a KnownInstance, shown: &'a Instance) -> Vec<(&'a String, Differing<'a>)> {
    let fields = known.fields.iter().filter_map(|(name, value)| Some((name, (value, shown.field(name)?))));
    fields.filter(|(_, (value, shown))| !agrees(value, shown)).collect()
}
