use std::collections::BTreeSet;
use std::net::IpAddr;

use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::check::{Check, Complaint, Cost, Judgement, Run, Severity, Sighting};
use crate::contract::{OperationId, Search};
use crate::relation::{Instance, address_of};

pub(super) static CHECK: Check = Check {
    id: "search.intersection.watched",
    title: "every instance of every answer fits all that its request asks for",
    operation: Some(OperationId::Search),
    clauses: &[
        "search.activated-range",
        "search.city",
        "search.country",
        "search.group",
        "search.intersection",
        "search.match-any-port",
        "search.match-port",
        "search.page-size",
        "search.status",
        "search.total",
    ],
    needs: &[],
    cost: Cost::requests(0),
    run: Run::Watch(watch),
};

fn watch(sighting: &Sighting<'_>) -> Option<Vec<Complaint>> {
    let search = &sighting.contract.search;
    if *sighting.judgement != Judgement::Accepted {
        return None;
    }
    let sent: Value = serde_json::from_slice(&sighting.request.body_bytes()?).ok()?;
    let sent = sent.as_object()?;
    let items = sighting.answer.at("/data/items")?.as_array()?;
    let mut complaints = Vec::new();
    for instance in items.iter().filter_map(|item| Instance::read(search, item)) {
        complaints.extend(filters(search, sent, &instance));
    }
    complaints.extend(strangers(search, sent, items));
    complaints.extend(counts(search, sent, items.len(), sighting.answer.at("/data/total")?.as_u64()?));
    Some(complaints)
}

fn complaint(clause: &str, expected: String, actual: String) -> Complaint {
    Complaint { clause: clause.to_owned(), key: String::new(), severity: Severity::Fail, expected, actual }
}

/// The filters that an instance shows by itself and does not pass.
fn filters(search: &Search, sent: &Map<String, Value>, instance: &Instance) -> Vec<Complaint> {
    let text = |name: &str| sent.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let time = |name: &str| text(name).and_then(|text| text.parse::<Timestamp>().ok());
    let group = sent.get(&search.group_id.name).and_then(Value::as_i64);
    let status = text(&search.status.name);
    let country = text(&search.country_code.name);
    let city = text(&search.city_code.name);
    let from = time(&search.activated_from.name);
    let to = time(&search.activated_to.name);
    let group_fits = group.is_none_or(|group| instance.group.unwrap_or(0) == group);
    let within = |bound: Option<Timestamp>, fits: fn(Timestamp, Timestamp) -> bool| {
        bound.is_none_or(|bound| instance.activated.is_some_and(|activated| fits(activated, bound)))
    };
    let in_range =
        within(from, |activated, from| activated >= from) && within(to, |activated, to| activated <= to);
    let shown = [
        (
            "search.status",
            status.is_none_or(|status| status == instance.status),
            status,
            instance.status.clone(),
        ),
        (
            "search.country",
            country.is_none_or(|country| country.eq_ignore_ascii_case(&instance.country)),
            country,
            instance.country.clone(),
        ),
        ("search.city", city.is_none_or(|city| city == instance.city), city, instance.city.clone()),
        ("search.group", group_fits, None, format!("group {:?}", instance.group)),
        ("search.activated-range", in_range, None, format!("activated {:?}", instance.activated)),
    ];
    let unfit = shown.into_iter().filter(|(_, fits, ..)| !fits);
    let complaints = unfit.flat_map(|(clause, _, asked, shown)| {
        let asked = asked.map_or_else(|| format!("group {group:?} from {from:?} to {to:?}"), str::to_owned);
        let expected = format!("only instances that fit {asked}");
        let actual = format!("instance {} with {shown}", instance.id);
        // Whatever filter it is, the result is then no intersection.
        [clause, "search.intersection"].map(|clause| complaint(clause, expected.clone(), actual.clone()))
    });
    complaints.collect()
}

/// Instances at addresses or ports that were not asked for. When an item can't be read here, nothing is said.
fn strangers(search: &Search, sent: &Map<String, Value>, items: &[Value]) -> Vec<Complaint> {
    let asked = sent.get(&search.ips.name).and_then(Value::as_array);
    let asked: Option<BTreeSet<(IpAddr, Option<i64>)>> =
        asked.into_iter().flatten().map(|item| address_of(item.as_str()?)).collect();
    let Some(asked) = asked else { return Vec::new() };
    let addresses: BTreeSet<IpAddr> = asked.iter().map(|(ip, _)| *ip).collect();
    let mut complaints = Vec::new();
    for instance in items.iter().filter_map(|item| Instance::read(search, item)) {
        let actual = format!("instance {} at {} port {}", instance.id, instance.ip, instance.port);
        if !addresses.contains(&instance.ip) {
            let expected = "only instances at the addresses asked for".to_owned();
            complaints.push(complaint("search.match-any-port", expected, actual));
        } else if !asked.contains(&(instance.ip, None))
            && !asked.contains(&(instance.ip, Some(instance.port)))
        {
            let expected = format!("only the ports of {} that were asked for", instance.ip);
            complaints.push(complaint("search.match-port", expected, actual));
        }
    }
    complaints
}

/// A page holds at most its size, and one that is not full ends the result.
fn counts(search: &Search, sent: &Map<String, Value>, came: usize, total: u64) -> Vec<Complaint> {
    let whole = |name: &str, default: i64| match sent.get(name) {
        None => u64::try_from(default).ok(),
        Some(value) => value.as_u64(),
    };
    let (Some(page), Some(size)) = (
        whole(&search.page.name, search.default_page),
        whole(&search.page_size.name, search.default_page_size),
    ) else {
        return Vec::new();
    };
    let came = u64::try_from(came).unwrap_or(u64::MAX);
    let mut complaints = Vec::new();
    if came > size {
        complaints.push(complaint(
            "search.page-size",
            format!("at most {size} instances on a page"),
            came.to_string(),
        ));
    }
    let first = u64::try_from(*search.pages.start()).unwrap_or(1);
    let before = page.saturating_sub(first).saturating_mul(size);
    let fits = if came == 0 { page != first || total == 0 } else { total >= before + came };
    let ends = came == 0 || came >= size || total == before + came;
    if !fits || !ends {
        let expected = format!("a total that fits {came} instances on page {page} of {size}");
        complaints.push(complaint("search.total", expected, format!("total {total}")));
    }
    if came > 0 && came < size && total > before + came {
        // Either of them is wrong, and it can't be told which.
        let expected = format!("{size} instances on page {page} of {total} in all");
        complaints.push(complaint("search.page-size", expected, came.to_string()));
    }
    complaints
}
