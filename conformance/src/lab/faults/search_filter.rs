//! Faults in single filters, also where they show beside another one or with few items alone.

use serde_json::{Value, json};

use super::words::*;
use crate::lab::{Call, Fault};

pub(crate) fn faults() -> Vec<Fault> {
    faults! {
        "search.status/" {
            "ignored" + [ports]: "status is ignored" if not(unlisted) => ignore(STATUS);
            "expired-is-cancelled": "expired finds what was cancelled." if has(STATUS, |text| text == "expired") => put_value(STATUS, "cancelled");
            "failed-is-any": "failed finds everything." if has(STATUS, |text| text == "failed") => ignore(STATUS);
            "provisioning-hidden": "Without a status, what is being provisioned is not shown."
                if not(with(STATUS)) => lose(|_, item| item["status"] == "provisioning");
            "never-activated-hidden": "A status finds only what was activated." if with(STATUS) => lose(|_, item| item["activatedAt"].is_null());
            "active-and-expired": "active finds what is expired too." if with_filters(1)
                => loose(STATUS, |asked, value| asked == value || (asked == "active" && value == "expired"));
            "unlisted": "An unlisted status finds nothing instead of being rejected." if unlisted => ignore_and_find_nothing(STATUS);
            "unlisted-is-any": "An unlisted status finds everything." if unlisted => ignore(STATUS);
            "number": "A number is taken for a status." if has(STATUS, Value::is_number) => ignore_and_find_nothing(STATUS);
            "list": "A list of statuses is accepted." if has(STATUS, Value::is_array) => ignore_and_find_nothing(STATUS);
            "commas": "Of several statuses between commas the first one counts."
                => respell(STATUS, |text| text.split_once(',').map(|(first, _)| first.to_owned()));
            "cancelled-rejected": "A listed status is rejected." if has(STATUS, |text| text == "cancelled") => reject;
            "unknown-shown": "An instance has a status that is not listed." => set("/data/items/-/status", "suspended");
            "beginning": "The beginning of a status stands for it." => request(|call| {
                let asked = text(call, STATUS).filter(|asked| asked.len() > 2).unwrap_or_default();
                let mut statuses = call.contract.search.statuses.iter();
                if let Some(status) = statuses.find(|status| **status != asked && status.starts_with(&asked)).filter(|_| !asked.is_empty()) {
                    put(call, STATUS, status.clone());
                }
            });
            "unlisted-beside-group": "Beside a group any status is accepted." if has(STATUS, Value::is_string), unlisted, with(GROUP) => ignore(STATUS);
            "unlisted-on-later-pages": "On later pages an unlisted status is ignored." if later_page, unlisted => ignore(STATUS);
            "last-listed-beside-time": "Beside an activation time the last status of the list is rejected."
                if with(FROM), that(|call| text(call, STATUS).as_ref() == call.contract.search.statuses.last()) => reject;
            "ignored-before-the-items": "A status that is written before the items is ignored." if that(|call| {
                let (search, body) = (&call.contract.search, call.json());
                let place = |name: &str| body.as_object()?.keys().position(|key| key == name);
                place(&search.status.name).zip(place(&search.ips.name)).is_some_and(|(status, ips)| status < ips)
            }) => ignore(STATUS);
            "ignored-on-pages-of-a-hundred": "On pages of a hundred the status is ignored." if has(SIZE, |size| size == 100) => ignore(STATUS);
            "ignored-for-one-ipv6": "For one IPv6 address the status is ignored." if one_v6 => ignore(STATUS);
            "without-accents": "A status matches without its accents." => as_status(|asked, status| without_accents(asked) == status);
            "in-any-script": "Statuses are equal when they are equal in capitals." => as_status(|asked, status| {
                !asked.is_ascii() && asked.to_uppercase() == status.to_uppercase()
            });
            "invisible": "Invisible characters of a status are ignored."
                => as_status(|asked, status| asked.strip_suffix('\u{200b}') == Some(status));
            "line-break": "A line break behind a status is ignored." => as_status(|asked, status| asked.strip_suffix('\n') == Some(status));
            "ignored-for-many-repeated": "The status is ignored when many items are repeated." if many, with_duplicates => ignore(STATUS);
        }
        "search.group/" {
            "ignored": "groupId is ignored." if that(|call| integer(call, GROUP) >= Some(0)) => ignore(GROUP);
            "zero-is-all" : "0 stands for all groups." if ungrouped => ignore(GROUP);
            "zero-is-all-with-ports": "0 stands for all groups when items have ports." if ungrouped, all_with_ports => ignore(GROUP);
            "null-is-ungrouped": "null stands for ungrouped instances." if null_group => put_value(GROUP, 0);
            "null-rejected": "null is rejected." if null_group => reject;
            "null-drops-status": "With groupId null the status is ignored." if null_group => ignore(STATUS);
            "null-is-ungrouped-beside-order": "Beside an order number null stands for ungrouped instances."
                if null_group, with(ORDER) => put_value(GROUP, 0);
            "zero-rejected": "groupId 0 is rejected." if ungrouped => reject;
            "negative": "A negative groupId is ignored." if that(|call| integer(call, GROUP).is_some_and(|group| group < 0)) => ignore(GROUP);
            "negative-beside-order": "Beside an order number -1 means all groups." if with(ORDER), has(GROUP, |group| group == -1) => ignore(GROUP);
            "huge": "A groupId with a fraction is ignored." if has(GROUP, Value::is_f64) => ignore(GROUP);
            "fraction-cut": "The fraction of a groupId is cut off." => request(|call| {
                if let Some(group) = value(call, GROUP).filter(Value::is_f64) {
                    put(call, GROUP, group.as_f64().unwrap_or_default() as i64);
                }
            });
            "wraps": "A group number loses all but its lower 32 bits." => request(|call| {
                if let Some(group) = integer(call, GROUP).filter(|group| *group > i64::from(u32::MAX)) {
                    put(call, GROUP, group % (1 << 32));
                }
            });
            "absent-is-ungrouped": "Without groupId, IPv6 addresses show ungrouped instances only."
                if that(|call| integer(call, GROUP).is_none() && !null_group(call) && call.memory.calls() > 4) => put_value(GROUP, 0);
            "ipv6-ungrouped": "A group shows no IPv6 instances." if grouped => lose_v6;
            "one-instance": "A group shows one instance only." if grouped => success(|_, body| {
                let Some(items) = items(body) else { return };
                items.truncate(1);
                body["data"]["total"] = json!(items.len());
            });
            "next-group": "A search for the largest group finds the instances of another one."
                if has(GROUP, |group| group == 17) => put_value(GROUP, 11);
            "foreign-shown": "The group of another account is shown to who names it." if known(Fact::ForeignGroup), foreign_group => as_second();
            "foreign-told": "A foreign group is rejected where an unknown one finds nothing."
                if known(Fact::ForeignGroup), foreign_group => respond(403, json!({"code": 403, "message": "this group belongs to another account"}));
            "ignored-for-one-ipv4": "For one IPv4 address the group is ignored." if one_v4 => ignore(GROUP);
        }
        "search.country/" {
            "ignored" + [ports]: "countryCode is ignored" => ignore(COUNTRY_CODE);
            "prefix": "A code matches by its beginning." if with_filters(1) => loose(COUNTRY_CODE, is_prefix);
            "suffix": "A code matches by its end." if with_filters(1) => loose(COUNTRY_CODE, is_suffix);
            "longer": "More than a code matches it." if with_filters(1) => loose(COUNTRY_CODE, is_extension);
            "contained": "A code that contains another one matches it." if with_filters(1) => loose(COUNTRY_CODE, is_part);
            "pattern": "A code is taken for a pattern." if with_filters(1) => loose(COUNTRY_CODE, is_pattern);
            "regular-expression": "A code is taken for a regular expression." if with_filters(1) => loose(COUNTRY_CODE, is_expression);
            "percent-decoded": "A code is percent-decoded." if with_filters(1) => loose(COUNTRY_CODE, |asked, value| {
                percent_encoding::percent_decode_str(asked).decode_utf8_lossy() == value
            });
            "without-accents": "A code matches without its accents."
                if with_filters(1) => loose(COUNTRY_CODE, |asked, value| without_accents(asked) == value);
            "star": "A star stands for every country." if has(COUNTRY_CODE, |code| code == "*") => ignore(COUNTRY_CODE);
            "first-letter": "Codes are told apart by their first letter."
                if with_filters(1) => loose(COUNTRY_CODE, |asked, value| asked.chars().next() == value.chars().next());
            "ipv6-lost": "A country shows no IPv6 instances." if with(COUNTRY_CODE) => lose_v6;
            "last-lost": "A country loses its last instance." if with(COUNTRY_CODE) => success(|_, body| {
                drop(items(body).and_then(Vec::pop));
                body["data"]["total"] = json!(total(body) - 1);
            });
            "one-swapped": "One country stands for another." if has(COUNTRY_CODE, |code| code == "JPN") => put_value(COUNTRY_CODE, "BRA");
            "object": "An object is taken for a code." if has(COUNTRY_CODE, Value::is_object) => ignore(COUNTRY_CODE);
            "first-of-list": "countryCode may be a list, whose first code counts."
                if has(COUNTRY_CODE, |codes| codes.as_array().is_some_and(|codes| !codes.is_empty()))
                => request(|call| put(call, COUNTRY_CODE, value(call, COUNTRY_CODE).map(|codes| codes[0].clone())));
            "ignored-for-one-ipv6": "For one IPv6 address the country is ignored." if one_v6 => ignore(COUNTRY_CODE);
        }
        "search.city/" {
            "ignored" + [ports]: "cityCode is ignored" => ignore(CITY);
            "prefix": "A code matches by its beginning." if with_filters(1) => loose(CITY, is_prefix);
            "suffix": "A code matches by its end." if with_filters(1) => loose(CITY, is_suffix);
            "longer": "More than a code matches it." if with_filters(1) => loose(CITY, is_extension);
            "pattern": "A code is taken for a pattern." if with_filters(1) => loose(CITY, is_pattern);
            "unquoted": "Quotes around a code are taken off." if with_filters(1) => loose(CITY, |asked, value| asked.trim_matches('"') == value);
            "invisible": "Invisible characters of a code are ignored."
                if with_filters(1) => loose(CITY, |asked, value| asked.trim_end_matches('\u{200b}') == value);
            "whole-country": "A city finds its whole country." if has(CITY, |city| city == "LAX") => request(|call| {
                ignore(CITY)(call);
                put(call, COUNTRY_CODE, "USA");
            });
            "ipv6-lost": "A city shows no IPv6 instances." if with(CITY) => lose_v6;
            "one-swapped": "One city stands for another." if has(CITY, |code| code == "REK") => put_value(CITY, "SAO");
            "list": "A list is taken for a code." if has(CITY, Value::is_array) => ignore(CITY);
            "ignored-in-large-batches": "cityCode is ignored for more than 200 items." if batch_of(201..) => ignore(CITY);
            "ignored-on-nearly-the-largest-pages": "On pages of one less than the largest size the city is ignored."
                if that(|call| integer(call, SIZE) == Some(call.contract.search.page_sizes.end() - 1)) => ignore(CITY);
            "ignored-for-one-ipv4": "For one IPv4 address the city is ignored." if one_v4 => ignore(CITY);
        }
        "search.order-number/" {
            "ignored": "orderNo is ignored." => ignore(ORDER);
            "unknown-is-any": "An unknown order number finds everything."
                if that(|call| text(call, ORDER).is_some_and(|number| !is_own(call, &number))) => ignore(ORDER);
            "prefix": "The beginning of an order number matches it." if known(Fact::Orders) => near(is_prefix);
            "suffix": "The end of an order number matches it." if known(Fact::Orders) => near(is_suffix);
            "longer": "More than an order number matches it." if known(Fact::Orders) => near(is_extension);
            "contained": "A text that contains an order number matches it." if known(Fact::Orders) => near(is_part);
            "pattern": "An order number is taken for a pattern." if known(Fact::Orders) => near(is_pattern);
            "any-case": "An order number matches in any letter case." if known(Fact::Orders) => near(str::eq_ignore_ascii_case);
            "alternatives": "Order numbers with bars between them are alternatives."
                if known(Fact::Orders) => near(|asked, number| asked.split('|').any(|one| one == number));
            "apostrophe-breaks": "An apostrophe in an order number breaks the server."
                if has(ORDER, |number| number.as_str().is_some_and(|number| number.contains('\''))) => respond(500, json!({"message": "syntax error"}));
            "one-address": "An order finds the instances of one address." if with(ORDER) => success(|_, body| {
                let first = items(body).and_then(|items| items.first()).map(|item| item["ip"].clone());
                lose_where(body, |item| Some(&item["ip"]) != first.as_ref());
            });
            "ipv6-lost": "An order shows no IPv6 instances." if with(ORDER) => lose_v6;
            "finds-nothing": "An order number finds nothing." if with(ORDER) => find_nothing;
            "foreign-shown": "The order of another account is shown to who names it." if known(Fact::ForeignOrder), foreign_order => as_second();
            "foreign-told": "A foreign order number is rejected where an unknown one finds nothing."
                if known(Fact::ForeignOrder), foreign_order => respond(403, json!({"code": 403, "message": "not your order"}));
            "foreign-counted": "The instances of a foreign order are counted." if known(Fact::ForeignOrder), foreign_order => set("/data/total", 3);
            "boolean": "true is taken for an order number." if has(ORDER, Value::is_boolean) => ignore(ORDER);
            "wide": "Characters in full width count as narrow ones." => request(|call| {
                let narrow = |character: char| match u32::from(character) {
                    wide @ 0xff01..=0xff5e => char::from_u32(wide - 0xfee0).unwrap_or(character),
                    _ => character,
                };
                if let Some(order) = text(call, ORDER) {
                    put(call, ORDER, order.chars().map(narrow).collect::<String>());
                }
            });
            "ends-at-nul": "An order number ends at a NUL." => request(|call| {
                if let Some((order, _)) = text(call, ORDER).as_deref().and_then(|order| order.split_once('\0')) {
                    put(call, ORDER, order);
                }
            });
            "ignored-for-one-ipv4": "For one IPv4 address the order number is ignored." if one_v4 => ignore(ORDER);
            "ignored-for-many": "For more than a hundred items the order number is ignored." if many => ignore(ORDER);
        }
    }
}

fn unlisted(call: &Call<'_>) -> bool {
    value(call, STATUS)
        .is_some_and(|sent| !call.contract.search.statuses.iter().any(|status| sent == status.as_str()))
}

fn ungrouped(call: &Call<'_>) -> bool {
    integer(call, GROUP) == Some(0)
}

fn grouped(call: &Call<'_>) -> bool {
    integer(call, GROUP) > Some(0)
}

fn null_group(call: &Call<'_>) -> bool {
    call.json().get(&call.contract.search.group_id.name).is_some_and(Value::is_null)
}

fn foreign_group(call: &Call<'_>) -> bool {
    integer(call, GROUP) == call.facts.foreign_group
}

fn foreign_order(call: &Call<'_>) -> bool {
    text(call, ORDER) == call.facts.foreign_order
}

/// One address without a port is asked for.
fn one(call: &Call<'_>, of_v6: bool) -> bool {
    matches!(&ips(call)[..], [item] if is_v6(item) == of_v6 && !has_port(item))
}

fn one_v4(call: &Call<'_>) -> bool {
    one(call, false)
}

fn one_v6(call: &Call<'_>) -> bool {
    one(call, true)
}

fn many(call: &Call<'_>) -> bool {
    distinct(call) > 100
}

// How a filter that should be equal is compared loosely: what was asked, and the value of an instance.

fn is_prefix(asked: &str, value: &str) -> bool {
    value.starts_with(asked)
}

fn is_suffix(asked: &str, value: &str) -> bool {
    value.ends_with(asked)
}

fn is_extension(asked: &str, value: &str) -> bool {
    asked.starts_with(value)
}

fn is_part(asked: &str, value: &str) -> bool {
    asked.contains(value)
}

fn is_pattern(asked: &str, value: &str) -> bool {
    asked == value || asked.strip_suffix('%').is_some_and(|start| value.starts_with(start))
}

/// Every point stands for any character.
fn is_expression(asked: &str, value: &str) -> bool {
    let fits = |(asked, shown): (char, char)| asked == '.' || asked == shown;
    asked.chars().count() == value.chars().count() && asked.chars().zip(value.chars()).all(fits)
}

fn without_accents(text: &str) -> String {
    let plain = |letter: char| "ÁáÉéÍíÓóÚúĆćŃń".chars().position(|accented| accented == letter);
    let plain =
        |letter: char| plain(letter).and_then(|at| "AaEeIiOoUuCcNn".chars().nth(at)).unwrap_or(letter);
    text.chars().map(plain).collect()
}

/// Takes an unlisted status for the listed one that fits.
fn as_status(fits: fn(&str, &str) -> bool) -> impl OnRequest {
    move |call| {
        let Some(asked) = text(call, STATUS).filter(|_| unlisted(call)) else { return };
        let listed = call.contract.search.statuses.iter().find(|status| fits(&asked, status)).cloned();
        if let Some(status) = listed {
            put(call, STATUS, status);
        }
    }
}

/// Searches without a filter, and keeps the instances whose field `fits` what was asked.
fn loose(which: Part, fits: fn(&str, &str) -> bool) -> Act {
    serve(move |call| {
        Box::pin(async move {
            let Some(asked) = text(&call, which) else { return call.send().await };
            let mut all = call.clone();
            ignore(which)(&mut all);
            let mut reply = all.send().await;
            if all.accepted(&reply) {
                let field = which.name(&call);
                let is_other = |item: &Value| !item[field].as_str().is_some_and(|value| fits(&asked, value));
                reply.edit(|body| lose_where(body, is_other));
            }
            reply
        })
    })
}

fn is_own(call: &Call<'_>, number: &str) -> bool {
    call.facts.orders.iter().any(|order| order.number == number)
}

/// Searches by the own order that an order number comes near to.
fn near(fits: fn(&str, &str) -> bool) -> impl OnRequest {
    move |call| {
        let Some(asked) = text(call, ORDER).filter(|asked| !is_own(call, asked)) else { return };
        if let Some(order) = call.facts.orders.iter().find(|order| fits(&asked, &order.number)) {
            put(call, ORDER, order.number.clone());
        }
    }
}
