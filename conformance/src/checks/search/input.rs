//! Valid and invalid items of `ips`.

use super::*;
use crate::grammar::{ip_endpoints, ip_ports};

pub(super) static PROGRAMS: &[Program] = &[
    active("search.ips-item.forms", |scope| {
        let spellings = ip_endpoints(&scope.contract.search.ports);
        // Valid spellings of one kind share a request, which is far below the limit on items.
        let forms = by_reason(spellings).into_iter().filter(|reason| reason.is_valid).map(|reason| {
            let why = format!("{}: {:?}", reason.text, reason.spellings);
            valid(why, [field(IPS, reason.spellings)]).labelled(reason.text)
        });
        cases(SearchIpsItem, forms)
    }),
    active("search.ips-item.malformed", |scope| {
        let texts = malformed(by_reason(ip_endpoints(&scope.contract.search.ports)));
        let others = NO_TEXTS.into_iter().enumerate();
        let others = others.map(|(first, (reason, items))| (reason, first, items()));
        texts.chain(others).flat_map(|kind| malformed_cases(SearchIpsItem, kind)).collect()
    }),
    active("search.ips-port.boundaries", port_cases),
];

type Items = fn() -> Vec<Json>;

const NO_TEXTS: [(&str, Items); 5] = [
    ("a number", || vec![json!(3_405_803_994_u32), json!(0)]),
    ("null", || vec![Json::Null]),
    ("a boolean", || vec![json!(true), json!(false)]),
    ("an object", || vec![json!({"ip": UNKNOWN_ADDRESS}), json!({})]),
    ("an array", || vec![json!([UNKNOWN_ADDRESS]), json!([])]),
];

/// Items of one kind: why they are malformed, the place of the first one in its list, and the items.
type Malformed = (&'static str, usize, Vec<Json>);

fn malformed(reasons: Vec<Reason>) -> impl Iterator<Item = Malformed> {
    let malformed = reasons.into_iter().filter(|reason| !reason.is_valid);
    malformed
        .map(|reason| (reason.text, reason.first, reason.spellings.into_iter().map(Json::from).collect()))
}

fn port_cases(scope: &Scope<'_>) -> Vec<Case> {
    let range = &scope.contract.search.ports;
    let (min, max) = (*range.start(), *range.end());
    let ports = BTreeSet::from([min, max, min - 1, max + 1, -1, i64::MAX]);
    let bounds = [UNKNOWN_ADDRESS, "[2001:db8::250]"].into_iter().flat_map(|address| {
        let items = ports.iter().map(move |port| (port, format!("{address}:{port}")));
        items.map(|(port, item)| {
            let row = valid_if(range.contains(port), format!("the item {item}"), [field(IPS, vec![&*item])]);
            row.labelled(item).finding_nothing("one item")
        })
    });
    let malformed = malformed(by_reason(ip_ports(range)));
    let malformed = malformed.flat_map(|kind| malformed_cases(SearchIpsPort, kind));
    cases(SearchIpsPort, bounds).into_iter().chain(malformed).collect()
}

/// Each malformed item of one kind alone, and among valid ones, where a lenient server ignores it. The place among the others
/// rotates. Of a long list, half are sent among valid items.
fn malformed_cases(clause: Clause, (reason, first, items): Malformed) -> Vec<Case> {
    // Lists alternate between IPv4 and IPv6, so this selects places 0, 3, 4, 7 and so on to get both.
    let is_sent = |place: usize| items.len() <= FEW_ITEMS || (place + place / 2).is_multiple_of(2);
    let some = items.iter().enumerate().filter(|(place, _)| is_sent(*place)).map(|(_, item)| item.clone());
    let among = some.enumerate().map(|(index, item)| {
        let place = [0, VALID_ITEMS / 2, VALID_ITEMS][(first + index) % 3];
        let mut batch: Vec<Json> = valid_items().into_iter().map(Json::from).collect();
        batch.insert(place, item.clone());
        let why = format!("the item {item}, {reason}, at place {place} among valid ones");
        (why, field(IPS, batch))
    });
    let alone =
        items.iter().map(|item| (format!("the item {item}, {reason}"), field(IPS, vec![item.clone()])));
    let among = each_invalid(format!("{reason}, among valid items"), among);
    let among = among.changing("valid items", [field(IPS, valid_items())]);
    let alone = each_invalid(reason, alone).finding_nothing("one item").with_first_alone();
    cases(clause, alone.into_iter().chain([among]))
}

fn valid_items() -> Vec<String> {
    addresses::distinct(VALID_ITEMS)
}

/// Up to this number, all malformed items of one kind are sent among valid ones.
const FEW_ITEMS: usize = 4;

/// Valid items that are sent beside a malformed one.
const VALID_ITEMS: usize = 4;
