//! Valid and invalid items of `ips`.

use super::*;
use crate::grammar::{ip_endpoints, ip_ports};

pub(super) static PROGRAMS: &[Program] = &[
    active("search.ips-required.absent", |_| {
        cases(SearchIpsRequired, ABSENT.map(|(label, edits)| invalid(label, edits)))
    }),
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
    active("search.ips-item.open", |_| {
        let open = OPEN.map(|(label, unspecified, item)| {
            either(unspecified, label, &format!("the item {item:?}"), [field(IPS, vec![item])])
        });
        cases(SearchIpsItem, open.map(|row| row.of(Base::SEARCH)))
    }),
    active("search.ips-port.boundaries", port_cases),
];

const ABSENT: [(&str, &[Edit]); 16] = [
    ("absent", &[Drop(IPS)]),
    ("absent beside a status", &[Drop(IPS), Set(STATUS, Value::Listed)]),
    ("absent beside an order number", &[Drop(IPS), Set(ORDER_NO, Value::Order("SO-1"))]),
    ("absent beside a page", &[Drop(IPS), Set(PAGE, Min(0))]),
    ("absent beside a group", &[Drop(IPS), Set(GROUP_ID, Value::Number(1))]),
    ("absent beside the group of ungrouped instances", &[Drop(IPS), Set(GROUP_ID, Value::Number(0))]),
    ("absent beside a country", &[Drop(IPS), Set(COUNTRY_CODE, Value::Word("USA"))]),
    ("absent beside a city", &[Drop(IPS), Set(CITY_CODE, Value::Word("NYC"))]),
    ("absent beside a page size", &[Drop(IPS), Set(PAGE_SIZE, Min(0))]),
    (
        "absent beside an activation time",
        &[Drop(IPS), Set(ACTIVATED_FROM, Value::Word("2020-01-01T00:00:00Z"))],
    ),
    ("null beside a status", &[Set(IPS, Value::Json(Json::Null)), Set(STATUS, Value::Listed)]),
    ("null", &[Set(IPS, Value::Json(Json::Null))]),
    // RFC 8259 compares names by code units (section 8.3): `IPS` is a further field, which is open, and `ips` is absent, which is not.
    ("under its name in capitals", &[Drop(IPS), Set("IPS", ONE_ITEM)]),
    ("under the name of a single item", &[Drop(IPS), Set("ip", ONE_ITEM)]),
    ("within another object", &[Edit::Body(|_, text| format!("{{\"data\":{text}}}"))]),
    (
        "in the query, without a body",
        &[
            Edit::Body(|_, _| String::new()),
            Edit::Change(|_, request| Ok(request.query(IPS, UNKNOWN_ADDRESS))),
        ],
    ),
];

const ONE_ITEM: Value = Value::Items(|_, _| vec![UNKNOWN_ADDRESS.to_owned()]);

const OPEN: [(&str, Unspecified, &str); 7] = [
    ("brackets without a port", Unspecified::AddressesBracketsWithoutPort, "[2001:db8::250]"),
    ("a mapped address", Unspecified::AddressesIpv4Mapped, "::ffff:203.0.113.250"),
    ("a mapped address with a port", Unspecified::AddressesIpv4Mapped, "[::ffff:203.0.113.250]:8080"),
    ("leading zeros", Unspecified::AddressesLeadingZeros, "203.000.113.250"),
    ("leading zeros of a port", Unspecified::AddressesLeadingZeros, "203.0.113.250:08080"),
    ("a space before", Unspecified::AddressesSpaces, " 203.0.113.250"),
    ("a tab after", Unspecified::AddressesSpaces, "203.0.113.250\t"),
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
    let among = among.changing("valid items", [field(IPS, valid_items())], 0);
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
