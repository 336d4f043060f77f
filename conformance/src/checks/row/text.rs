//! Rows as text, below their rule in `rules.txt`. README.md says what their parts mean.

use std::str::FromStr;

use serde_json::Value as Json;

use super::edit::{Credential, Edit, JSON, Value, of_bytes, range, with};
use super::{Base, Judge, Must, Reads, Row, Shared, Then, Unless, Valid};
use crate::check::{Cost, Stop};
use crate::checks::extract::FLOWS;
use crate::checks::extraction::{Extraction, Place, Transport, by_country};
use crate::checks::search::addresses::are_items;
use crate::checks::token::{WrongToken, renamed};
use crate::contract::part::{COUNTRY, LB, NUM, REGIONS, REQUEST_ID, REQUEST_ID_HEADER, RETURN_TYPE, SB};
use crate::contract::{Clause, Contract, Input, Operation, OperationId, Unspecified};
use crate::target::{Fact, Facts};
use crate::wire::Request;

/// The rows of the lines below a rule; none when one of them can't be read. Those of a rule of all operations say which one they are of,
/// or are extractions.
pub(crate) fn read(
    operation: impl Into<Option<OperationId>>,
    lines: impl Iterator<Item = &'static str>,
    contract: &Contract,
) -> Option<Vec<Row>> {
    let operation = operation.into().unwrap_or(OperationId::Extract);
    let reader = Reader { operation: contract.operation(operation), contract };
    let (mut rows, mut common, mut turn, mut turns) = (Vec::new(), "", 0, None);
    for line in lines.map(str::trim_start) {
        if let Some(parts) = line.strip_prefix("every row | ") {
            common = parts;
            continue;
        }
        let (head, own) = line.split_once(" | ").unwrap_or((line, ""));
        let parts = common.split_terminator(" | ").chain(own.split_terminator(" | "));
        let (row, forms) = reader.row(head, parts)?;
        let next = if let Forms::InTurns(count, list) = forms { Some((count, list)) } else { None };
        turn = if next == turns { turn + 1 } else { 0 };
        turns = next;
        let forms = match forms {
            Forms::InTurns(count, list) => reader.in_turn(turn, count, list)?,
            Forms::Each(forms) => forms,
            Forms::None => {
                rows.push(row);
                continue;
            }
        };
        rows.extend(forms.into_iter().map(|form| row.clone().in_form(form)));
    }
    Some(rows)
}

struct Reader<'a> {
    operation: &'a Operation,
    contract: &'a Contract,
}

enum Forms {
    /// Of another operation.
    None,
    Each(Vec<Extraction>),
    /// The first of a list, and one or two others of it in turn.
    InTurns(usize, &'static str),
}

/// The first words of parts that no flow reads.
const NOT_OF_FLOWS: &str = "about after: doubtful even gives judged like of or separated to why with";

impl Reader<'_> {
    /// The first form and one of the others in turn, for long lists of similar values; or three forms, one of them combined.
    fn in_turn(&self, turn: usize, count: usize, list: &str) -> Option<Vec<Extraction>> {
        let forms = Extraction::named(&self.contract.extract, list)?;
        let (combined, single): (Vec<_>, Vec<_>) =
            forms.iter().skip(1).partition(|form| count > 2 && form.is_combined());
        let others = [&combined, &single].into_iter();
        let others = others.filter_map(|others| others.get(turn % others.len().max(1)).copied());
        Some(forms.first().into_iter().chain(others).cloned().collect())
    }

    fn forms(&self, words: &'static str) -> Option<Forms> {
        Some(match words.split_once(" of ") {
            Some(("two", list)) => Forms::InTurns(2, list),
            Some(("three", list)) => Forms::InTurns(3, list),
            _ => Forms::Each(Extraction::named(&self.contract.extract, words)?),
        })
    }

    /// A number of gateways.
    fn number<T: FromStr>(&self, text: &str) -> Option<T> {
        value(text, NUM, self.contract)?.text(&Facts::default()).parse().ok()
    }

    /// A text of so many gateways with a custom separator.
    fn separated(&self, num: i64) -> Option<Valid> {
        let mut edits = self.edits("lb=custom & sb=\"|\"")?;
        edits.insert(0, Edit::Set(NUM, Value::Json(num.into())));
        let (name, gateways) = (format!("with a custom separator, num={num}"), u32::try_from(num).ok()?);
        Some(Valid { name, edits, gateways, is_doubtful: false })
    }

    /// Edits, and before a colon words about them.
    fn described(&self, text: &'static str) -> Option<(String, Vec<Edit>)> {
        let (words, edits) = text.split_once(": ").unwrap_or((text, ""));
        Some((spaced(words), self.edits(edits)?))
    }

    fn edits(&self, text: &'static str) -> Option<Vec<Edit>> {
        text.split_terminator(" & ").map(|edit| self.edit(edit)).collect()
    }

    fn then(&self, text: &'static str) -> Option<Then> {
        let (words, edits) = self.described(text)?;
        Some(match (&*words, words.split_once(", ")) {
            ("alike", _) => Then::Alike,
            ("other", _) => Then::Other(edits),
            ("invalid", _) => Then::Invalid(edits),
            (_, Some(("again", words))) => Then::Again(None, words.to_owned(), edits),
            (_, Some((again, words))) => {
                let clause = Clause::from_id(again.strip_prefix("again of ")?)?;
                Then::Again(Some(clause), words.to_owned(), edits)
            }
            _ => return None,
        })
    }

    fn row(&self, head: &str, parts: impl Iterator<Item = &'static str>) -> Option<(Row, Forms)> {
        let (must, label) = head.split_once(' ').unwrap_or((head, ""));
        let (mut edits, mut sent, mut forms) = (Vec::new(), Vec::new(), Forms::Each(vec![Extraction::PLAIN]));
        let (mut why, mut gateways, mut unless, mut judges) = (None, 1, Unless::Finding, Vec::new());
        let (mut like, mut even_as_text, mut are_forms_changed, mut shares) = (None, false, false, None);
        let (mut operation, mut words) = (self.operation.id, Vec::new());
        let mut row = Row::new(Base::Extract(Extraction::PLAIN), None, "", false, Vec::new());
        for part in parts {
            let (word, rest) = part.split_once(' ').unwrap_or((part, ""));
            words.push(word);
            match (word, rest) {
                ("why", words) => why = Some(spaced(words)),
                ("of", id) => row.clause = Some(Clause::from_id(id)?),
                ("needs", key) => row.needs.push(fact(key)?),
                ("with", valid) => (row.valid.name, row.valid.edits) = self.described(valid)?,
                ("doubtful", "") => row.valid.is_doubtful = true,
                ("separated", num) => row.valid = self.separated(self.number(num)?)?,
                ("by", "the link credential") => row.base = Base::Link(Extraction::PLAIN),
                ("after:", edits) => row.before = Some(self.edits(edits)?),
                ("costs", cost) => {
                    let (requests, gateways) = cost.strip_suffix(" gateways")?.split_once(" requests, ")?;
                    row.cost = Some(Cost::extraction(requests.parse().ok()?, self.number(gateways)?));
                }
                ("to", id) => operation = OperationId::from_id(id)?,
                ("about", number) => row.subject = Some(number.parse().ok()?),
                ("and", request) => row.requests.push(self.described(request)?),
                ("then", what) => row.then.push(self.then(what)?),
                // The list would replace the change.
                ("in", _) if are_forms_changed => return None,
                ("in", list) => forms = self.forms(list)?,
                ("like", label) => like = Extraction::named(&self.contract.extract, label)?.pop(),
                (
                    property @ ("asked" | "ids" | "protocol" | "region" | "separator" | "spelled" | "tokens"),
                    words,
                ) => {
                    are_forms_changed = true;
                    let Forms::Each(forms) = &mut forms else { continue };
                    let extract = &self.contract.extract;
                    forms.iter_mut().try_for_each(|form| form.change(extract, property, words))?;
                }
                ("gives", count) => gateways = self.number(count)?,
                ("judged", words) => judges.push(Judge::named(words)?),
                ("or", words) => unless = Unless::named(words)?,
                ("even", "as text") => even_as_text = true,
                ("shares", control) => shares = Some(Shared::named(control)?),
                _ => {
                    edits.push(self.edit(part)?);
                    sent.push(part);
                }
            }
        }
        let flow = FLOWS.iter().find(|(known, ..)| *known == must);
        // Only what is accepted has something behind it, and only a flow says what it shares.
        if (must != "accept" && !row.then.is_empty()) || (flow.is_none() && shares.is_some()) {
            return None;
        }
        let last = edits.last().and_then(|edit| match edit {
            Edit::Set(_, value) => Some(value.text(&Facts::default())),
            _ => None,
        });
        // What can't be seen in a label is escaped in words.
        let [label, mut shown] = [last.clone(), last.map(|last| format!("{last:?}"))]
            .map(|last| meant(&label.replace("{}", last.as_deref().unwrap_or("{}"))));
        row.must = match must {
            "reject" => Must::Reject { even_as_text },
            "accept" => Must::Serve { gateways, unless, judges },
            "alike" => {
                row.cost.get_or_insert(Cost::extraction(2, 2));
                Must::BeAlike
            }
            "short" => {
                let Forms::Each(forms) = &forms else { return None };
                Must::BeShort { like: like.or_else(|| forms.first().cloned())? }
            }
            _ if let Some((_, reads, flow)) = flow => {
                let is_read = match reads {
                    Reads::Form => row.requests.len() == 1 && edits.is_empty(),
                    Reads::Request => row.requests.len() == 1 && !edits.iter().any(Edit::needs_probe),
                    Reads::Requests(most) => row.requests.len() <= *most,
                };
                let is_extraction = operation == OperationId::Extract && !matches!(row.base, Base::Link(_));
                let has_others = NOT_OF_FLOWS.split(' ').any(|word| words.contains(&word));
                // Its cost does not follow from its requests.
                row.cost.filter(|_| is_read && is_extraction && !has_others)?;
                Must::Flow(*flow, shares)
            }
            unspecified => {
                shown = format!("{label}: {}", sent.join(" and "));
                Must::RespondSomehow(Unspecified::from_id(unspecified)?)
            }
        };
        let has_no_form = matches!(row.must, Must::RespondSomehow(_) | Must::BeShort { .. });
        row.has_whole_label = label.starts_with('=') || has_no_form;
        row.label = label.strip_prefix('=').unwrap_or(&label).to_owned();
        let words = why.unwrap_or_else(|| shown.strip_prefix('=').unwrap_or(&shown).to_owned());
        row.requests[0] = (words, edits);
        Some(match operation {
            OperationId::Extract => (row, forms),
            operation => (Row { base: Base::Static(operation), ..row }, Forms::None),
        })
    }

    /// None for a part that the document lacks, unless a plus before its name says so.
    fn edit(&self, text: &'static str) -> Option<Edit> {
        let is_known = |part: &str| {
            let parameters = self.operation.parameters.iter().map(|one| &one.name);
            parameters.chain(self.operation.body.iter().map(|one| &one.name)).any(|known| known == part)
        };
        let named = |part: &'static str| part.strip_prefix('+').or_else(|| is_known(part).then_some(part));
        if let Some(part) = text.strip_prefix('-') {
            return is_known(part).then_some(Edit::Drop(part));
        }
        if let Some(expression) = text.strip_prefix("items: ") {
            return are_items(&self.contract.search, expression).then_some(Edit::Items(expression));
        }
        if let Some(header) = text.strip_prefix("header ") {
            let (name, value) = header.split_once('=')?;
            return Some(with(move |_, request| Ok(request.header(name, value))));
        }
        if let Some(body) = text.strip_prefix("body") {
            let (media, text) = body.split_once(':')?;
            let (text, times) = text.trim_start().rsplit_once('×').unwrap_or((text.trim_start(), "1"));
            let are_known = names(text).iter().all(|(name, is_further)| *is_further || is_known(name));
            let times = times.parse().ok().filter(|_| are_known)?;
            return Some(Edit::Body(media.strip_prefix(" as ").unwrap_or(JSON), text, times));
        }
        if let Some(edit) = of_caller(text) {
            return Some(edit);
        }
        Some(match (text, text.split_once('=')) {
            ("alone", _) => with(|probe, _| Ok(probe.any_search())),
            ("country for regions", _) => {
                with(|probe, request| Ok(by_country(&probe.contract().extract, request)))
            }
            (_, Some((part, text))) => match part.strip_prefix('?') {
                Some(part) => Edit::Add(named(part)?, value(text, part, self.contract)?),
                None => Edit::Set(named(part)?, value(text, part, self.contract)?),
            },
            _ => return None,
        })
    }
}

/// What differs in the token, the request id, the claimed address, the query as a whole, or the method.
fn of_caller(text: &'static str) -> Option<Edit> {
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    Some(match (word, rest) {
        ("by", words) => Edit::By(credential(words)?),
        ("token", rest) => {
            let Some((place, words)) = rest.split_once(": ") else { return renamed(rest) };
            match place.strip_prefix("in ") {
                Some(place) => Edit::Token(Transport::named(place)?, credential(words)?),
                None => Edit::AddToken(credential(words).filter(|_| place == "again")?),
            }
        }
        ("no", "token") => Edit::NoToken,
        ("method", name) => with(move |_, request| Ok(request.method(name).giving_nothing())),
        ("no", "id in header") => with(|_, request| Ok(request.without_header(REQUEST_ID_HEADER))),
        ("id", "of other letters") => with(|probe, request| {
            Ok(request.query(REQUEST_ID, format!("\u{e9}\u{4e2d}{}", probe.fresh_request_id())))
        }),
        ("id", rest) => {
            let (number, place) = rest
                .strip_prefix("in ")
                .map_or_else(|| rest.split_once(" in "), |place| Some(("0", place)))?;
            Edit::Id(Place::named(place)?, number.parse().ok()?)
        }
        ("claim", claimed) => {
            let (header, address) = claimed.split_once('=')?;
            Edit::Claim(header, address)
        }
        ("raw", rest) => {
            let query = rest.strip_prefix("query ")?;
            with(move |_, request| Ok(request.raw_query(query)))
        }
        _ => return None,
    })
}

/// `own`, the label of a wrong token, `rejected` with the place of one in the list of rejected ones, or the key of a fact.
fn credential(words: &str) -> Option<Credential> {
    let wrong = || WrongToken::all().find(|wrong| wrong.label == words).map(Credential::Wrong);
    match words.split_once(' ') {
        None if words == "own" => Some(Credential::Own),
        Some(("rejected", index)) => Some(Credential::Supplied(Fact::RejectedTokens, index.parse().ok()?)),
        _ => wrong().or_else(|| Some(Credential::Supplied(fact(words)?, 0))),
    }
}

/// Differences between ampersands. What can't be read is an error of the suite in each case that it is for.
pub(crate) fn edits(operation: OperationId, text: &'static str) -> Vec<Edit> {
    let contract = Contract::embedded().ok();
    let reader = contract.map(|contract| Reader { operation: contract.operation(operation), contract });
    let wrong = || vec![with(move |_, _| Err(Stop::Error(format!("`{text}` can't be read"))))];
    reader.and_then(|reader| reader.edits(text)).unwrap_or_else(wrong)
}

/// A request with the differences of a row, which depend on the contract alone. None if they can't be read.
pub(crate) fn changed(
    contract: &Contract,
    operation: OperationId,
    request: Request,
    differences: &'static str,
) -> Option<Request> {
    let reader = Reader { operation: contract.operation(operation), contract };
    let mut parts = differences.split_terminator(" | ");
    parts.try_fold(request, |request, part| {
        let edit = reader.edit(part).filter(|edit| !edit.needs_probe())?;
        Some(edit.change(contract, &Facts::default(), request))
    })
}

/// The fact with this key in the configuration.
pub(crate) fn fact(key: &str) -> Option<Fact> {
    Fact::ALL.into_iter().find(|fact| fact.key() == key)
}

/// `min`, `max-1`, `max×10` are of the range in the document, `listed` is its first value, `default` the one without a parameter, `custom` the
/// code of a custom separator, and `-×max+1` a character up to one byte more than a separator may have. All else is JSON, or a text.
fn value(text: &str, part: &str, contract: &Contract) -> Option<Value> {
    let distance = |text: &str, from| {
        let by = text.strip_prefix(from)?;
        if by.is_empty() { Some(0) } else { by.parse::<i64>().ok() }
    };
    let name = if part == COUNTRY { REGIONS } else { part };
    let parameter = || contract.extract.operation.parameters.iter().find(|known| known.name == name);
    let property = || contract.search.operation.body.iter().find(|known| known.name == part);
    let json = match (distance(text, "min"), distance(text, "max"), text.split_once('×')) {
        (Some(by), ..) => (range(contract, part).start() + by).into(),
        (_, Some(by), _) => (range(contract, part).end() + by).into(),
        (.., Some(("max", times))) => (range(contract, part).end() * times.parse::<i64>().ok()?).into(),
        (.., Some(_)) if part != SB => return None,
        (.., Some((character, length))) => {
            let more = usize::try_from(distance(length, "max")?).ok()?;
            of_bytes(character.parse().ok()?, contract.extract.separator_bytes + more).into()
        }
        _ => match text {
            "listed" => property()?.schema.values.first()?.clone(),
            "default" => match parameter().map(Input::default_text).filter(|text| !text.is_empty()) {
                Some(default) => default.into(),
                None => property()?.schema.default.clone()?,
            },
            "custom" => (part == LB).then_some(contract.extract.custom_separator.as_str())?.into(),
            "text" => (part == RETURN_TYPE).then_some(contract.extract.text.as_str())?.into(),
            "an order" => return Some(Value::Of(an_order)),
            "the plentiful region" => {
                return Some(Value::Of(|facts| facts.plentiful_region.as_deref().into()));
            }
            "the empty region" => return Some(Value::Of(|facts| facts.empty_region.as_deref().into())),
            "the scarce region" => return Some(Value::Of(|facts| facts.scarce_region.as_deref().into())),
            _ => serde_json::from_str(text).unwrap_or_else(|_| text.into()),
        },
    };
    Some(Value::Json(json))
}

/// An order of the account, or another number if none is known.
fn an_order(facts: &Facts) -> Json {
    facts.orders.first().map_or("SO-1", |order| &order.number).into()
}

/// The names of members in the text of a body, and whether a plus says that the document lacks one.
fn names(text: &str) -> Vec<(String, bool)> {
    let pieces: Vec<&str> = text.split(['"', '\'']).collect();
    let name = |piece: &[&str]| {
        let name: String = serde_json::from_str(&format!("\"{}\"", piece[1])).ok()?;
        piece[2].trim_start().starts_with(':').then(|| (name, piece[0].ends_with('+')))
    };
    pieces.windows(3).step_by(2).filter_map(name).collect()
}

/// A text in which `␤`, `␍`, `␉`, `␀` and `␠` stand for the characters that they show.
fn meant(text: &str) -> String {
    let shown = [('␤', "\n"), ('␍', "\r"), ('␉', "\t"), ('␀', "\0"), ('␠', " ")];
    shown.iter().fold(text.to_owned(), |text, (shown, meant)| text.replace(*shown, meant))
}

/// Words in which `␠` stands for a space where one would end them.
fn spaced(words: &str) -> String {
    words.replace('␠', " ")
}

/// The text of a body. In it, `…` stands for the members of the valid one, and `\…` for the same within a text, `:min` is the smallest
/// value of a member, and a plus stands before the name of a further one.
pub(super) fn body(text: &str, valid: &str, contract: &Contract) -> String {
    let members = valid.strip_prefix('{').and_then(|members| members.strip_suffix('}')).unwrap_or(valid);
    let quoted = Json::from(members).to_string();
    let mut text = meant(text).replace("+\"", "\"");
    if let Some(name) = text.split_once(":min").and_then(|(before, _)| before.rsplit('"').nth(1)) {
        let least = format!(":{}", range(contract, name).start());
        text = text.replace(":min", &least);
    }
    text.replace("\\…", &quoted[1..quoted.len() - 1]).replace('…', members)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_written_with_the_members_of_the_valid_one() {
        let contract = Contract::embedded().expect("contract");
        for (text, expected) in [
            ("{…,}", r#"{"a":1,}"#),
            (r#""{\…}""#, r#""{\"a\":1}""#),
            ("␍␤[{…}]␉␀␠", "\r\n[{\"a\":1}]\t\0 "),
            (r#"{"page":min,+"note":+1}"#, r#"{"page":1,"note":+1}"#),
        ] {
            assert_eq!(body(text, r#"{"a":1}"#, contract), expected);
        }
    }

    #[test]
    fn words_may_have_what_ends_them() {
        let contract = Contract::embedded().expect("contract");
        let lines = ["reject a | why b:␠c | and d:␠e: page=2"];
        let rows = read(OperationId::Search, lines.into_iter(), contract).expect("a row");
        let words: Vec<_> = rows[0].requests.iter().map(|(words, _)| words.as_str()).collect();
        assert_eq!(words, ["b: c", "d: e"]);
    }

    #[test]
    fn what_the_document_lacks_is_no_row() {
        let contract = Contract::embedded().expect("contract");
        let can_read = |line| read(OperationId::Search, std::iter::once(line), contract).is_some();
        let known = [
            "reject a | page=1",
            "reject a | -ips",
            "reject a | +a=1",
            "reject a | ?+a=1",
            "reject a | ?page=1",
            r#"reject a | body: {"page":1,+"a":1}"#,
            "reject a | body: [×10",
            "reject a | status=listed",
        ];
        let unknown = [
            "reject a | pages=1",
            "reject a | -a",
            "reject a | ?a=1",
            r#"reject a | body: {"a":1}"#,
            "reject a | body: [×a",
            "reject a | status=default",
            "reject a | page=listed",
            "reject a | page=a×max",
            "refuse a | page=1",
            "reject a | items: 3 houses",
            "reject a | items: houses",
            "reject a | items: houses[:2] + items",
            "reject a | items: items[2:]",
            r#"reject a | items: "203.0.113.250""#,
            "reject a | page=1 | then alike",
        ];
        assert_eq!(known.into_iter().chain(unknown).filter(|line| can_read(line)).collect::<Vec<_>>(), known);
        let form = |line| read(OperationId::Extract, std::iter::once(line), contract).is_some();
        assert!(form("accept a | in text | tokens header") && !form("accept a | tokens header | in text"));
        assert!(form("accept a | tokens query, bearer") && !form("accept a | tokens bearer, query"));
        assert!(form("accept a | ids query, header") && !form("accept a | ids query, query"));
    }

    #[test]
    fn what_a_flow_does_not_read_is_no_part_of_its_row() {
        let contract = Contract::embedded().expect("contract");
        let can_read =
            |operation, line: String| read(operation, std::iter::once(&*line.leak()), contract).is_some();
        let form =
            |line: &str| can_read(OperationId::Extract, format!("{line} | costs 1 requests, 1 gateways"));
        for row in [
            "as-many a | num=4",
            "after-empty a | in text",
            "concurrent a | id in query",
            "forged a | claim X=a | and b: claim X=c",
            "link a | shares its control",
        ] {
            assert!(form(row) && !can_read(OperationId::Extract, row.to_owned()), "{row}");
            for part in [
                "why b",
                "of extract.count",
                "with b: num=4",
                "doubtful",
                "separated 4",
                "after: num=4",
                "then alike",
                "gives 4",
                "judged by itself",
                "or nothing",
                "even as text",
                "like text",
                "about 0",
                "by the link credential",
                "to groups",
            ] {
                assert!(!form(&format!("{row} | {part}")), "{row}: {part}");
            }
        }
        for row in [
            "as-many a | id in query",
            "as-many a | num=4 | and b: num=5",
            "after-empty a | num=4",
            "concurrent a | and b: num=4",
            "reject a | num=0 | shares its control",
        ] {
            assert!(!form(row), "{row}");
        }
        assert!(!can_read(
            OperationId::Search,
            "as-many a | page=1 | costs 1 requests, 1 gateways".to_owned()
        ));
    }
}
