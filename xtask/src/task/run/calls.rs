//! How the client sends the witness of a change.

use serde_json::Value;

use crate::diff::{Change, witness::witness};

/// An address at which no instance is, for calls that need one.
const ADDRESS: &str = "192.0.2.1";

/// The arguments of the client's program by where a value is sent, as the ledger names places.
const OPTIONS: [(&str, &str, &str); 14] = [
    ("extractProxies", "query num", ""),
    ("extractProxies", "query regions", "--region"),
    ("extractProxies", "query protocol", "--protocol"),
    ("extractProxies", "query request_id", "--request-id"),
    ("searchStaticInstances", "body ips[]", ""),
    ("searchStaticInstances", "body orderNo", "--order"),
    ("searchStaticInstances", "body groupId", "--group"),
    ("searchStaticInstances", "body countryCode", "--country"),
    ("searchStaticInstances", "body cityCode", "--city"),
    ("searchStaticInstances", "body status", "--status"),
    ("searchStaticInstances", "body page", "--page"),
    ("searchStaticInstances", "body pageSize", "--page-size"),
    ("searchStaticInstances", "body activatedFrom", "--activated-from"),
    ("searchStaticInstances", "body activatedTo", "--activated-to"),
];

/// The arguments for the witness of a change: the call with the value at its place, or the plain call of the operation; `None`
/// where the client's program does not have the operation.
pub(super) fn arguments(change: &Change) -> Option<Vec<String>> {
    let operation = change.operation.as_deref()?;
    let value = witness(change).and_then(|witness| witness.value).and_then(|value| text(&value));
    let option = OPTIONS.iter().find(|(of, at, _)| *of == operation && *at == change.at);
    let (command, plain) = match operation {
        "extractProxies" => ("extract", "1"),
        "listStaticGroups" => return Some(vec!["groups".to_owned()]),
        "searchStaticInstances" => ("search", ADDRESS),
        _ => return None,
    };
    let words = match (option, value) {
        (Some((_, _, "")), Some(value)) => vec![command.to_owned(), value],
        (Some((_, _, flag)), Some(value)) => {
            vec![command.to_owned(), plain.to_owned(), format!("{flag}={value}")]
        }
        _ => vec![command.to_owned(), plain.to_owned()],
    };
    // The service decides about page sizes of single pages alone.
    let is_page_size = words.last().is_some_and(|word| word.starts_with("--page-size="));
    Some(words.into_iter().chain(is_page_size.then(|| "--page=1".to_owned())).collect())
}

/// A value as an argument; a list is not one.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;
    use crate::{
        diff,
        document::Document,
        fixture::{contract, edited},
        problem::DOCUMENT,
    };

    fn words(edit: &str) -> Vec<String> {
        let diff = diff::compare(&contract(), &edited(edit), date(2026, 6, 1)).unwrap();
        let found: Vec<_> = diff.changes.iter().filter(|change| witness(change).is_some()).collect();
        arguments(found.first().expect("a breaking change")).unwrap_or_default()
    }

    #[test]
    fn a_witness_becomes_an_argument() {
        assert_eq!(words("minimum: 1, maximum: «100→50» }"), ["extract", "51"]);
        assert_eq!(words("enum: [http«, socks5→»]"), ["extract", "1", "--protocol=socks5"]);
        let narrower = words("          maximum: «1000→500»\n");
        assert_eq!(narrower, ["search", ADDRESS, "--page-size=501", "--page=1"]);
    }

    /// Without its row the client would send a call without the value, and nothing would say so.
    #[test]
    fn every_property_of_the_search_has_an_argument() {
        let root = crate::task::root(&std::env::current_dir().unwrap()).unwrap();
        let document = Document::load(&root.join(DOCUMENT)).unwrap();
        let properties = document.get("/components/schemas/SearchRequest/properties").unwrap();
        for name in properties.as_object().unwrap().keys() {
            let place = format!("body {name}");
            assert!(OPTIONS.iter().any(|(_, at, _)| at.trim_end_matches("[]") == place), "{place}");
        }
    }

    #[test]
    fn what_the_client_cannot_say_is_a_plain_call() {
        assert_eq!(words("x-max-utf8-bytes: «32→31» }"), ["extract", "1"]);
        let header = words("groupId, name, createdAt«, updatedAt→»]");
        assert_eq!(header, ["groups"]);
    }
}
