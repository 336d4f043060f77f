//! Bodies: serde_json decides what is JSON, and the first name that an object repeats is found beside it.

use proptest::{collection::vec, prelude::*};
use sallyport_server::edge::reading::json::Json;
use serde_json::{Map, Value, json};

use super::texts;

const PARTS: &str = "{¦}¦[¦]¦,¦:¦\"a\"¦\"\\u00e9\"¦\"\\ud83d\\ude00\"¦\"\\ud800\"¦\"\\x\"¦\"¦\\¦null¦true¦false¦nul¦0¦-0¦\
    01¦1.5¦1e3¦1e999¦18446744073709551616¦-9223372036854775808¦-¦.¦ ¦\n¦\u{1}¦\u{feff}¦\
    {\"a\":1,\"a\":2}¦[[1],{}]";

/// Levels of containers in a value that is read.
const DEEPEST: usize = 127;

/// A value whose objects may have a name twice.
#[derive(Clone, Debug)]
enum Tree {
    Leaf(Value),
    Array(Vec<Self>),
    Object(Vec<(String, Self)>),
}

impl Tree {
    fn text(&self) -> String {
        match self {
            Self::Leaf(value) => value.to_string(),
            Self::Array(items) => format!("[{}]", items.iter().map(Self::text).collect::<Vec<_>>().join(",")),
            Self::Object(members) => {
                let member = |(name, value): &(String, Self)| format!("{}:{}", json!(name), value.text());
                format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(","))
            }
        }
    }

    /// The value with the first of equal members. Adds the repeated names, in the order in which their values end.
    fn value(&self, repeated: &mut Vec<String>) -> Value {
        match self {
            Self::Leaf(value) => value.clone(),
            Self::Array(items) => items.iter().map(|item| item.value(repeated)).collect(),
            Self::Object(members) => {
                let mut object = Map::new();
                for (name, value) in members {
                    let value = value.value(repeated);
                    if object.contains_key(name) {
                        repeated.push(name.clone());
                    } else {
                        object.insert(name.clone(), value);
                    }
                }
                object.into()
            }
        }
    }
}

fn trees() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from)
    ];
    leaf.prop_map(Tree::Leaf).prop_recursive(4, 32, 4, |inner| {
        let members = vec(("[abc\\u{e9}]", inner.clone()), 0..4).prop_map(Tree::Object);
        prop_oneof![vec(inner, 0..4).prop_map(Tree::Array), members]
    })
}

#[test]
fn depth_is_bounded_in_one_place() {
    for depth in [DEEPEST - 1, DEEPEST, DEEPEST + 1, 50_000] {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let nested = format!("{}0{}", open.repeat(depth), close.repeat(depth));
            assert_eq!(
                Json::parse(nested.as_bytes(), usize::MAX).is_ok(),
                depth <= DEEPEST,
                "{depth} of {open}"
            );
        }
    }
}

proptest! {
    #[test]
    fn the_first_of_equal_members_counts_and_its_name_is_known(tree in trees()) {
        let mut repeated = Vec::new();
        let value = tree.value(&mut repeated);
        let read = Json::parse(tree.text().as_bytes(), usize::MAX).unwrap();
        prop_assert_eq!(read, Json { value, repeated: repeated.into_iter().next() });
    }

    #[test]
    fn any_text_is_json_if_serde_json_says_so(text in texts(PARTS), bytes: Vec<u8>) {
        for bytes in [text.as_bytes(), &bytes] {
            match (Json::parse(bytes, usize::MAX), serde_json::from_slice::<Value>(bytes)) {
                (Ok(read), Ok(value)) => prop_assert!(read.value == value || read.repeated.is_some(), "{read:?}"),
                (read, value) => prop_assert!(read.is_err() && value.is_err(), "{read:?} is not {value:?}"),
            }
        }
    }
}
