use serde_json::{Value, json};

use crate::checks::relation::{Query, kinds};
use crate::checks::{UNKNOWN_ADDRESS, UNKNOWN_TOKEN, changed, plain, with_input};
use crate::contract::{Clause, Contract, Input, Operation, OperationId, Place, Unspecified, boundaries};
use crate::target::Target;
use crate::wire::Request;

/// One request, and what its response shows.
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

/// Every case that can be made from the contract for this target.
pub(super) fn cases(contract: &Contract, target: &Target) -> Vec<Case> {
    let mut cases = Cases::default();
    of_extract(contract, target, &mut cases);
    for operation in contract.plain.values().filter(|operation| operation.is_safe) {
        of_plain(operation, target.token.expose(), &mut cases);
    }
    of_search(contract, target, &mut cases);
    cases.0
}

#[derive(Default)]
struct Cases(Vec<Case>);

impl Cases {
    fn add(&mut self, operation: &str, name: &str, subject: &'static str, request: Request, gateways: u64) {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
        let name: String = name.chars().map(plain).collect();
        let base = format!("{operation}.{}", name.trim_matches('-'));
        let mut name = base.clone();
        let mut number = 1;
        while self.0.iter().any(|case| case.name == name) {
            number += 1;
            name = format!("{base}-{number}");
        }
        self.0.push(Case { name, subject, request, gateways });
    }

    /// Those of `cases.txt`, as changes of a valid request that takes so many gateways.
    fn written(&mut self, contract: &Contract, operation: OperationId, good: &Request, gateways: u64) {
        let rows = include_str!("cases.txt").lines();
        let rows = rows.filter_map(|row| row.strip_prefix(operation.id())?.strip_prefix('.'));
        for row in rows {
            let (name, rest) = row.split_once(" | ").unwrap_or((row, ""));
            let (subject, differences) = rest.split_once(" | ").unwrap_or((rest, ""));
            let request = changed(contract, operation, good.clone(), differences);
            let gateways = if Clause::from_id(subject).is_some() { 0 } else { gateways };
            request
                .into_iter()
                .for_each(|request| self.add(operation.id(), name, subject, request, gateways));
        }
    }

    fn tokens(&mut self, operation: &str, api_key: &Input, good: &Request) {
        let token = Clause::AllTokenRequired.id();
        let with = |token: &str| good.clone().query(&api_key.name, token);
        self.add(operation, "without a token", token, good.clone().without_query(&api_key.name), 0);
        self.add(operation, "with an empty token", token, with(""), 0);
        self.add(operation, "with an unknown token", token, with(UNKNOWN_TOKEN), 0);
    }

    /// Values at the bounds of an input and beyond, from the document; of a parameter only those that are rejected.
    fn input(&mut self, operation: &str, input: &Input, good: &Request) {
        let values = boundaries(&input.schema).into_iter();
        for value in values.filter(|value| input.place == Place::Body || !value.allowed) {
            let Some(clause) = input.citations.clause(value.keyword) else { continue };
            let name = format!("{} {}", input.name, value.reason);
            let request = with_input(good.clone(), input, Some(value.value));
            self.add(operation, &name, clause.id(), request, 0);
        }
    }
}

fn of_extract(contract: &Contract, target: &Target, cases: &mut Cases) {
    let extract = &contract.extract;
    let fewest = extract.num_range.start();
    let gateways = u64::try_from(*fewest).unwrap_or(1);
    let bare = Request::to(&extract.operation)
        .query(&extract.num.name, fewest)
        .query(&extract.operation.api_key.name, target.token.expose());
    let good = match &target.facts.plentiful_region {
        Some(region) => bare.query(&extract.regions.name, region),
        None => bare,
    };
    let with = |parameter: &Input, value: &str| good.clone().query(&parameter.name, value);
    cases.add("extract", "as json", Clause::ExtractEnvelope.id(), good.clone(), gateways);
    let as_text = with(&extract.return_type, &extract.text);
    cases.add("extract", "as text", Unspecified::ExtractTxtLayout.id(), as_text, gateways);
    let by_post = good.clone().method("POST");
    cases.add("extract", "by post", Unspecified::ExtractPost.id(), by_post, gateways);
    cases.written(contract, OperationId::Extract, &good, gateways);
    if let Some(region) = &target.facts.empty_region {
        let request = with(&extract.regions, region);
        cases.add("extract", "empty region", Clause::ExtractShortageRetryAfter.id(), request, 0);
    }
    cases.tokens("extract", &extract.operation.api_key, &good);
    for parameter in [&extract.num, &extract.protocol, &extract.return_type, &extract.lb] {
        cases.input("extract", parameter, &good);
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
    operation.parameters.iter().chain(&operation.body).for_each(|input| cases.input(name, input, &good));
}

fn of_search(contract: &Contract, target: &Target, cases: &mut Cases) {
    let search = &contract.search;
    let own = target.facts.own_addresses.first().map_or(UNKNOWN_ADDRESS, String::as_str);
    let sent = |query: Query| query.request_with(search, target.token.expose());
    let at = |item: &str| Query::new([item.to_owned()]);
    let good = sent(at(own));
    cases.written(contract, OperationId::Search, &good, 0);
    let mut add =
        |name: &str, subject: &'static str, request: Request| cases.add("search", name, subject, request, 0);
    if let Some(foreign) = target.facts.foreign_addresses.first() {
        add("foreign address", Clause::SearchNoReveal.id(), sent(at(foreign)));
    }
    for kind in kinds().filter(|kind| kind.is_free_text()) {
        let (label, with) = (kind.label(), |value: Value| good.clone().field(&kind.property.name, value));
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
    cases.tokens("search", &search.operation.api_key, &good);
    let filters = search.filters.iter().map(|filter| &filter.property);
    for property in filters.chain([&search.page, &search.page_size]) {
        cases.input("search", property, &good);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_a_case() {
        let contract = Contract::embedded().expect("contract");
        for line in
            include_str!("cases.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
        {
            let mut parts = line.splitn(3, " | ");
            let id = parts.next().and_then(|name| OperationId::from_id(name.split('.').next()?)).expect(line);
            let subject = parts.next().expect(line);
            assert!(Clause::from_id(subject).is_some() || Unspecified::from_id(subject).is_some(), "{line}");
            let good = plain(contract.operation(id), "the-token");
            assert!(changed(contract, id, good, parts.next().unwrap_or_default()).is_some(), "{line}");
        }
    }
}
