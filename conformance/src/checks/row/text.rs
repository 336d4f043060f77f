//! Rows as text, below their rule in `rules.txt`. A row says what must follow (`reject`, `accept`, or the id of an unspecified
//! behaviour) and its label; behind bars, what differs from the valid request, and in which forms of an extraction.

use serde_json::Value as Json;

use super::edit::{Edit, JSON, Value};
use super::{Base, Row, accept, each, either, reject};
use crate::checks::extraction::{Extraction, Place};
use crate::contract::{Clause, Contract, Operation, OperationId, Unspecified};
use crate::wire::Request;

/// The row of a line for each of its forms; none when it can't be read.
pub(in crate::checks) fn read(
    operation: OperationId,
    line: &'static str,
    contract: &Contract,
) -> Option<Vec<Row>> {
    let (row, rest) = line.trim_start().split_once(" | ").unwrap_or((line.trim_start(), ""));
    let (must, label) = row.split_once(' ')?;
    let (mut edits, mut shown, mut forms) = (Vec::new(), Vec::new(), vec![Extraction::PLAIN]);
    let (mut why, mut clause) = (None, None);
    for part in rest.split_terminator(" | ") {
        match part.split_once(' ') {
            Some(("why", words)) => why = Some(words.to_owned()),
            Some(("of", id)) => clause = Some(Clause::from_id(id)?),
            Some(("in", "every form")) => forms = Extraction::all(&contract.extract),
            Some(("in", "JSON and text")) => forms = vec![Extraction::PLAIN, Extraction::TEXT],
            _ => {
                edits.push(edit(contract.operation(operation), part)?);
                shown.push(part);
            }
        }
    }
    let shown = if shown.is_empty() { label.to_owned() } else { format!("{label}: {}", shown.join(" and ")) };
    let row = match must {
        "reject" => reject(label, why.unwrap_or(shown), edits),
        "accept" => accept(label, why.unwrap_or(shown), edits),
        unspecified => {
            either(Unspecified::from_id(unspecified)?, label, why.as_deref().unwrap_or(label), edits)
        }
    };
    let row = clause.into_iter().fold(row, Row::citing);
    Some(match operation {
        OperationId::Extract => each(&forms, [row]),
        other => vec![row.of(Base::Static(other))],
    })
}

/// A request with the differences of a row, which depend on the contract alone. None if they can't be read.
pub(crate) fn changed(
    contract: &Contract,
    operation: OperationId,
    request: Request,
    differences: &'static str,
) -> Option<Request> {
    let operation = contract.operation(operation);
    let edits =
        differences.split_terminator(" | ").map(|part| edit(operation, part)).collect::<Option<Vec<_>>>()?;
    Some(edits.iter().fold(request, |request, edit| edit.change(contract, &[], request)))
}

/// `-PART` leaves it out, `PART=VALUE` sets it, `+NAME=VALUE` sets a part that the document lacks, `?NAME=VALUE` adds a parameter to the
/// query, `body: TEXT` and `body as MEDIA: TEXT` replace the body. None for a part that the document lacks without saying so.
fn edit(operation: &Operation, text: &'static str) -> Option<Edit> {
    let parameters = operation.parameters.iter().map(|one| &one.name);
    let mut parts = parameters.chain(operation.body.iter().map(|one| &one.name));
    if let Some(part) = text.strip_prefix('-') {
        return parts.any(|known| known == part).then_some(Edit::Drop(part));
    }
    if let Some(body) = text.strip_prefix("body") {
        let (media, text) = body.split_once(':')?;
        return Some(Edit::Body(media.strip_prefix(" as ").unwrap_or(JSON), text.trim_start()));
    }
    Some(match (text, text.split_once('=')) {
        ("id in query", _) => Edit::Id(Place::Query, 0),
        ("id in header", _) => Edit::Id(Place::Header, 0),
        (_, Some((part, text))) => match (part.strip_prefix('+'), part.strip_prefix('?')) {
            (Some(part), _) => Edit::Set(part, value(text)),
            (_, Some(part)) => Edit::Add(part, value(text)),
            _ => parts.any(|known| known == part).then(|| Edit::Set(part, value(text)))?,
        },
        _ => return None,
    })
}

/// `min`, `max-1` and so on are of the range in the document, `listed` is its first value, `default` the one without a parameter, `an
/// order` one of the account, and `-×max+1` repeats a character up to one byte more than a separator may have. All else is JSON, or a text.
fn value(text: &'static str) -> Value {
    let distance = |text: &str, from| {
        let by = text.strip_prefix(from)?;
        if by.is_empty() { Some(0) } else { by.parse::<i64>().ok() }
    };
    let filled = || {
        let (character, length) = text.split_once('×')?;
        Some(Value::Filled(character.parse().ok()?, distance(length, "max")?.try_into().ok()?))
    };
    match (distance(text, "min"), distance(text, "max"), text) {
        (Some(by), ..) => Value::Min(by),
        (_, Some(by), _) => Value::Max(by),
        (.., "listed") => Value::Listed,
        (.., "default") => Value::Default,
        (.., "an order") => Value::Order("SO-1"),
        _ => filled().unwrap_or_else(|| serde_json::from_str(text).map_or(Value::Word(text), Value::Json)),
    }
}

/// The text of a body. In it, `…` stands for the members of the valid one, and `\…` for the same within a text; `␤`, `␍`, `␉`, `␀` and
/// `␠` are the characters that they show; `×1000` behind it repeats it.
pub(super) fn body(text: &str, valid: &str) -> String {
    let members = valid.strip_prefix('{').and_then(|members| members.strip_suffix('}')).unwrap_or(valid);
    let quoted = Json::from(members).to_string();
    let (text, times) = text.rsplit_once('×').unwrap_or((text, "1"));
    let shown = [('␤', "\n"), ('␍', "\r"), ('␉', "\t"), ('␀', "\0"), ('␠', " ")];
    let text = shown.iter().fold(text.to_owned(), |text, (shown, meant)| text.replace(*shown, meant));
    let text = text.replace("\\…", &quoted[1..quoted.len() - 1]).replace('…', members);
    text.repeat(times.parse().unwrap_or(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_written_with_the_members_of_the_valid_one() {
        for (text, expected) in [
            ("{…,}", r#"{"a":1,}"#),
            (r#""{\…}""#, r#""{\"a\":1}""#),
            ("␍␤[{…}]␉␀␠", "\r\n[{\"a\":1}]\t\0 "),
            ("[×3", "[[["),
        ] {
            assert_eq!(body(text, r#"{"a":1}"#), expected);
        }
    }
}
