//! Integers that Dropshot would round, because it emits them through floating point.

use super::{Lint, Part, Rule};

pub(super) const RULE: Rule =
    Rule { id: "large-integer", rejects: "an integer above 2^53, which emission would round", run };

const EXACT: u64 = 1 << 53;

fn run(lint: &mut Lint<'_>) {
    for node in lint.parts(Part::Schema) {
        for (keyword, value) in node.members().filter(|(keyword, _)| *keyword != "example") {
            let values = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
            for number in values.iter().filter(|value| value.is_number()) {
                if number.as_i64().is_none_or(|whole| whole.unsigned_abs() > EXACT) && !number.is_f64() {
                    let message = format!("`{keyword}`: {number} would be rounded in the server's document");
                    let help = format!("stay within ±{EXACT}; int64 needs no bound of its own");
                    lint.report(&node, node.at(keyword), message, help);
                }
            }
        }
    }
}
