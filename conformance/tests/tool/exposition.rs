//! Reads the text format of Prometheus (version 0.0.4) as strictly as its documentation has it.

use std::collections::{BTreeMap, BTreeSet};

/// A sample: its name, its labels and its value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sample {
    pub(crate) name: String,
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) value: f64,
}

/// The samples of a text, or the line that the format does not allow.
pub(crate) fn parse(text: &str) -> Result<Vec<Sample>, String> {
    if !text.ends_with('\n') {
        return Err("the last line does not end".to_owned());
    }
    let (mut samples, mut typed, mut helped) = (Vec::<Sample>::new(), BTreeMap::new(), BTreeSet::new());
    let mut seen = BTreeSet::new();
    let mut last = String::new();
    for line in text.lines() {
        let wrong = |why: &str| Err(format!("{why}: {line}"));
        if let Some(comment) = line.strip_prefix("# ") {
            let mut words = comment.splitn(3, ' ');
            match (words.next(), words.next(), words.next()) {
                (Some("HELP"), Some(name), Some(_)) if is_name(name) => {
                    if !helped.insert(name.to_owned()) {
                        return wrong("a second HELP");
                    }
                }
                (Some("TYPE"), Some(name), Some(kind)) if is_name(name) => {
                    if !["counter", "gauge", "untyped"].contains(&kind) {
                        return wrong("an unknown type");
                    }
                    if typed.insert(name.to_owned(), kind.to_owned()).is_some() {
                        return wrong("a second TYPE");
                    }
                }
                _ => return wrong("a comment of another form"),
            }
            continue;
        }
        let (series, value) = line.rsplit_once(' ').ok_or_else(|| format!("no value: {line}"))?;
        let value: f64 = value.parse().map_err(|_| format!("no number: {line}"))?;
        let (name, labels) = match series.split_once('{') {
            None => (series, BTreeMap::new()),
            Some((name, rest)) => (name, labels(rest.strip_suffix('}').ok_or("no closing brace")?)?),
        };
        if !typed.contains_key(name) {
            return wrong("a sample before its TYPE");
        }
        if name != last && samples.iter().any(|sample| sample.name == name) {
            return wrong("the samples of a metric are not together");
        }
        if !seen.insert((name.to_owned(), labels.clone())) {
            return wrong("the same series twice");
        }
        last = name.to_owned();
        samples.push(Sample { name: name.to_owned(), labels, value });
    }
    Ok(samples)
}

fn labels(text: &str) -> Result<BTreeMap<String, String>, String> {
    let mut labels = BTreeMap::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (name, after) = rest.split_once("=\"").ok_or_else(|| format!("no label: {rest}"))?;
        if !is_name(name) || name.contains(':') {
            return Err(format!("no name of a label: {name}"));
        }
        let (mut value, mut chars) = (String::new(), after.char_indices());
        let end = loop {
            match chars.next() {
                Some((at, '"')) => break at,
                Some((_, '\\')) => match chars.next() {
                    Some((_, 'n')) => value.push('\n'),
                    Some((_, escaped @ ('\\' | '"'))) => value.push(escaped),
                    other => return Err(format!("unknown escape {other:?}")),
                },
                Some((_, c)) => value.push(c),
                None => return Err(format!("a label value that does not end: {after}")),
            }
        };
        if labels.insert(name.to_owned(), value).is_some() {
            return Err(format!("a label twice: {name}"));
        }
        rest = &after[end + 1..];
        rest = match rest.strip_prefix(',') {
            Some(more) if !more.is_empty() => more,
            None if rest.is_empty() => rest,
            _ => return Err(format!("no comma between labels: {rest}")),
        };
    }
    Ok(labels)
}

fn is_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || "_:".contains(c))
        && chars.all(|c| c.is_ascii_alphanumeric() || "_:".contains(c))
}

#[test]
fn the_parser_refuses_what_the_format_does_not_allow() {
    let good = "# HELP a b c\n# TYPE a gauge\na{x=\"1\\\"\\\\\\n\",y=\"\"} 2\na 1e3\n";
    assert_eq!(parse(good).expect("the format").len(), 2);
    for bad in [
        "a 1\n",
        "# TYPE a gauge\na 1",
        "# TYPE a gauge\na x\n",
        "# TYPE a gauge\na{x=1} 1\n",
        "# TYPE a gauge\na{x=\"\\q\"} 1\n",
        "# TYPE a gauge\na{x=\"1\"y=\"2\"} 1\n",
        "# TYPE a gauge\na 1\na 1\n",
        "# TYPE a gauge\n# TYPE b gauge\na 1\nb 1\na{x=\"1\"} 1\n",
    ] {
        assert!(parse(bad).is_err(), "{bad}");
    }
}
