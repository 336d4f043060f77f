//! Bounds that no value can satisfy.

use serde_json::Value;

use super::{Lint, Part, Rule};

pub(super) const RULE: Rule = Rule { id: "bounds", rejects: "a lower bound above its upper bound", run };

const PAIRS: [(&str, &str); 4] = [
    ("minimum", "maximum"),
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("x-max-distinct", "maxItems"),
];

fn run(lint: &mut Lint<'_>) {
    for node in lint.parts(Part::Schema).into_iter().chain(lint.parts(Part::Ports)) {
        for (low, high) in PAIRS {
            let number = |keyword| node.value.get(keyword).and_then(Value::as_f64);
            let (Some(lower), Some(upper)) = (number(low), number(high)) else { continue };
            if lower > upper {
                let message = format!("`{low}: {lower}` is above `{high}: {upper}`");
                lint.report(&node, node.at(low), message, format!("lower `{low}` or raise `{high}`"));
            }
        }
    }
}
