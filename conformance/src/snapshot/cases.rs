use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::checks::relation::{Query, kinds};
use crate::checks::{UNKNOWN_ADDRESS, plain};
use crate::contract::{
    Boundary, Clause, Contract, Extract, Operation, Parameter, Property, Search, Unspecified, boundaries,
};
use crate::target::Target;
use crate::wire::Request;

/// One request, and what its response shows.
#[derive(Debug)]
pub(super) struct Case {
    /// `operation.case`, which is also the name of its file.
    pub(super) name: String,
    /// Id of the clause or of the unspecified behaviour that it shows.
    pub(super) subject: &'static str,
    /// What is sent.
    pub(super) request: Request,
    /// Gateways that it may take.
    pub(super) gateways: u64,
}

/// A token that no service has given out.
const UNKNOWN_TOKEN: &str = "sallyport-unknown-token";

/// Every case that can be made from the contract for this target.
pub(super) fn cases(contract: &Contract, target: &Target) -> Vec<Case> {
    let mut cases = Cases::default();
    of_extract(&contract.extract, target, &mut cases);
    for operation in contract.plain.values().filter(|operation| operation.is_safe) {
        of_plain(operation, target.token.expose(), &mut cases);
    }
    of_search(&contract.search, target, &mut cases);
    cases.all
}

#[derive(Debug, Default)]
struct Cases {
    all: Vec<Case>,
    names: BTreeSet<String>,
}

impl Cases {
    fn add(&mut self, operation: &str, name: &str, subject: &'static str, request: Request, gateways: u64) {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
        let name: String = name.chars().map(plain).collect();
        let base = format!("{operation}.{}", name.trim_matches('-'));
        let mut name = base.clone();
        let mut number = 1;
        while !self.names.insert(name.clone()) {
            number += 1;
            name = format!("{base}-{number}");
        }
        self.all.push(Case { name, subject, request, gateways });
    }

    fn tokens(&mut self, operation: &str, api_key: &Parameter, good: &Request) {
        let token = Clause::AllTokenRequired.id();
        let with = |token: &str| good.clone().query(&api_key.name, token);
        self.add(operation, "without a token", token, good.clone().without_query(&api_key.name), 0);
        self.add(operation, "with an empty token", token, with(""), 0);
        self.add(operation, "with an unknown token", token, with(UNKNOWN_TOKEN), 0);
    }

    /// Values that are rejected, from the document.
    fn rejected_parameter(&mut self, operation: &str, parameter: &Parameter, good: &Request) {
        for case in boundaries(&parameter.schema).into_iter().filter(|case| !case.allowed) {
            let Some(clause) = parameter.citations.clause(case.keyword) else { continue };
            let request = good.clone().query(&parameter.name, case.text());
            self.add(operation, &named(&parameter.name, &case), clause.id(), request, 0);
        }
    }

    /// Values at the bounds and beyond, from the document.
    fn property(&mut self, operation: &str, property: &Property, good: &Request) {
        for case in boundaries(&property.schema) {
            let Some(clause) = property.citations.clause(case.keyword) else { continue };
            let name = named(&property.name, &case);
            self.add(operation, &name, clause.id(), good.clone().field(&property.name, case.value), 0);
        }
    }
}

fn named(name: &str, case: &Boundary) -> String {
    format!("{name} {}", case.reason)
}

fn of_extract(extract: &Extract, target: &Target, cases: &mut Cases) {
    let fewest = extract.num_range.start();
    let gateways = u64::try_from(*fewest).unwrap_or(1);
    let bare = Request::to(&extract.operation)
        .query(&extract.num.name, fewest)
        .query(&extract.operation.api_key.name, target.token.expose());
    let good = match &target.facts.plentiful_region {
        Some(region) => bare.query(&extract.regions.name, region),
        None => bare,
    };
    let with = |parameter: &Parameter, value: &str| good.clone().query(&parameter.name, value);
    let mut open = |name: &str, subject: &'static str, request: Request| {
        cases.add("extract", name, subject, request, gateways);
    };
    open("as json", Clause::ExtractEnvelope.id(), good.clone());
    open("as text", Unspecified::ExtractTxtLayout.id(), with(&extract.return_type, &extract.text));
    open("unknown region", Unspecified::ExtractUnknownRegion.id(), with(&extract.regions, "ZZZ"));
    let repeated = good.clone().add_query(&extract.num.name, fewest);
    open("repeated num", Unspecified::ExtractRepeatedParameter.id(), repeated);
    open("empty lb", Unspecified::ExtractEmptyParameter.id(), with(&extract.lb, ""));
    open("unused sb", Unspecified::ExtractUnusedSeparator.id(), with(&extract.sb, ";"));
    open("by post", Unspecified::ExtractPost.id(), good.clone().method("POST"));
    if let Some(region) = &target.facts.empty_region {
        let request = with(&extract.regions, region);
        cases.add("extract", "empty region", Clause::ExtractShortageRetryAfter.id(), request, 0);
    }
    cases.tokens("extract", &extract.operation.api_key, &good);
    let without_num = good.clone().without_query(&extract.num.name);
    cases.add("extract", "without num", Clause::ExtractNumRequired.id(), without_num, 0);
    for parameter in [&extract.num, &extract.protocol, &extract.return_type, &extract.lb] {
        cases.rejected_parameter("extract", parameter, &good);
    }
}

fn of_plain(operation: &Operation, token: &str, cases: &mut Cases) {
    let (name, api_key) = (operation.id.id(), &operation.api_key);
    let good = plain(operation, token);
    cases.add(name, "listed", operation.success.clause.id(), good.clone(), 0);
    cases.tokens(name, api_key, &good);
    let repeated = good.clone().add_query(&api_key.name, UNKNOWN_TOKEN);
    cases.add(name, "two tokens", operation.token_clause.id(), repeated, 0);
    let bare = good.clone().without_query(&api_key.name);
    let in_header = bare.header("Authorization", format!("Bearer {token}"));
    cases.add(name, "token in a header", Unspecified::StaticTokenTransport.id(), in_header, 0);
    let unknown = good.clone().add_query("sallyport", "1");
    cases.add(name, "unknown parameter", Unspecified::StaticUnknownFields.id(), unknown, 0);
    operation.parameters.iter().for_each(|parameter| cases.rejected_parameter(name, parameter, &good));
    operation.body.iter().for_each(|property| cases.property(name, property, &good));
}

fn of_search(search: &Search, target: &Target, cases: &mut Cases) {
    let own = target.facts.own_addresses.first().map_or(UNKNOWN_ADDRESS, String::as_str);
    let at = |item: &str| Query::new([item.to_owned()]);
    let sent = |query: Query| query.request_with(search, target.token.expose());
    let good = sent(at(own));
    let ips = |items: Value| good.clone().field(&search.ips.name, items);
    let with = |property: &Property, value: Value| good.clone().field(&property.name, value);
    let body = |kind: &str, text: &str| good.clone().body(kind, text.to_owned());
    let mut add =
        |name: &str, subject: &'static str, request: Request| cases.add("search", name, subject, request, 0);
    add("own address", Clause::SearchEnvelope.id(), good.clone());
    add("nobody's address", Clause::SearchNoReveal.id(), sent(at(UNKNOWN_ADDRESS)));
    if let Some(foreign) = target.facts.foreign_addresses.first() {
        add("foreign address", Clause::SearchNoReveal.id(), sent(at(foreign)));
    }
    let without_ips = with(&search.page, json!(1)).without_field(&search.ips.name);
    add("without ips", Clause::SearchIpsRequired.id(), without_ips);
    add("no ips", Clause::SearchIpsAllOrNothing.id(), ips(json!([])));
    add("cidr", Clause::SearchIpsItem.id(), ips(json!(["203.0.113.0/24"])));
    add("zone", Clause::SearchIpsItem.id(), ips(json!(["fe80::1%eth0"])));
    add("fragment", Clause::SearchIpsItem.id(), ips(json!(["203.0.113"])));
    add("port 0", Clause::SearchIpsPort.id(), ips(json!(["203.0.113.250:0"])));
    add("not an object", Clause::SearchJsonBody.id(), body("application/json", "[]"));
    add("cut short", Clause::SearchJsonBody.id(), body("application/json", "{\"ips\": ["));
    let bracketed = ips(json!(["[2001:db8::1]"]));
    add("brackets without a port", Unspecified::AddressesBracketsWithoutPort.id(), bracketed);
    add("mapped", Unspecified::AddressesIpv4Mapped.id(), ips(json!(["::ffff:203.0.113.250"])));
    add("leading zeros", Unspecified::AddressesLeadingZeros.id(), ips(json!(["203.0.113.007"])));
    add("spaces", Unspecified::AddressesSpaces.id(), ips(json!([" 203.0.113.250 "])));
    let past_end = Query { page: Some(*search.pages.end()), ..at(own) };
    add("page past the end", Unspecified::SearchPagePastEnd.id(), sent(past_end));
    for kind in kinds().filter(|kind| kind.is_free_text()) {
        let (label, with) = (kind.label(), |value: Value| with(&kind.property, value));
        let unknown = Unspecified::SearchUnknownFilter.id();
        // A code of the form that the document's example has; whether one of another form is an error is another question.
        let text = match kind.property.schema.example.as_ref().and_then(Value::as_str) {
            Some(example) if example.len() == 3 => "ZZZ",
            _ => "sallyport-none",
        };
        add(&format!("unknown {label}"), unknown, sent(at(own).filtered([kind.text(text)])));
        add(&format!("empty {label}"), Unspecified::SearchEmptyFilter.id(), with(json!("")));
        add(&format!("null {label}"), Unspecified::StaticNullOptional.id(), with(Value::Null));
    }
    add("page as a fraction", Unspecified::StaticFractionalInteger.id(), with(&search.page, json!(1.0)));
    add("unknown field", Unspecified::StaticUnknownFields.id(), good.clone().field("sallyport", 1));
    let as_text = json!({ search.ips.name.as_str(): [own] }).to_string();
    add("as text", Unspecified::StaticContentType.id(), body("text/plain", &as_text));
    cases.tokens("search", &search.operation.api_key, &good);
    let filters = search.filters.iter().map(|filter| &filter.property);
    for property in filters.chain([&search.page, &search.page_size]) {
        cases.property("search", property, &good);
    }
}
