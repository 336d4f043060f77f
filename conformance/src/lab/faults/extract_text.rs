//! Faults in plain-text responses and their separators.

use super::condition::{
    LB, SB, by_header, for_several, in_text, is, is_custom, of_scarce_region, put_param, respell, sent, with,
    with_other_protocol, without,
};
use super::edit::respond;
use super::{retext, separator};
use crate::lab::exchange::Reply;
use crate::lab::{Call, Fault};
use serde_json::json;

pub(crate) fn faults() -> Vec<Fault> {
    [named(), custom(), range(), required(), length()].into_iter().flatten().collect()
}

fn named() -> Vec<Fault> {
    let wrong = |id, breaks, text: &'static str, instead: &'static str| {
        Fault::new(id, breaks)
            .when(in_text)
            .when(move |call| !is_custom(call) && separator(call) == text)
            .reply(move |call, reply| rejoin(call, reply, instead))
    };
    let absent = |call: &Call<'_>| sent(call, LB).is_none();
    faults_of![
        "extract.separator/",
        wrong("crlf-as-lf", "CRLF comes as LF.", "\r\n", "\n"),
        wrong("crlf-as-cr", "CRLF comes as CR.", "\r\n", "\r"),
        wrong("crlf-turned", "CRLF comes as LF and CR.", "\r\n", "\n\r"),
        wrong("crlf-twice", "CRLF comes twice.", "\r\n", "\r\n\r\n"),
        wrong("br-as-html", "The text /br comes as an HTML tag.", "/br", "<br/>"),
        wrong("br-in-capitals", "The text /br comes in capitals.", "/br", "/BR"),
        wrong("br-with-break", "The text /br is followed by a line break.", "/br", "/br\n"),
        wrong("br-as-break", "The text /br comes as a line break.", "/br", "\r\n"),
        wrong("cr-as-lf", "CR comes as LF.", "\r", "\n"),
        wrong("cr-as-crlf", "CR comes as CRLF.", "\r", "\r\n"),
        wrong("lf-as-crlf", "LF comes as CRLF.", "\n", "\r\n"),
        wrong("lf-as-cr", "LF comes as CR.", "\n", "\r"),
        wrong("tab-as-spaces", "TAB comes as spaces.", "\t", "    "),
        wrong("tab-as-escape", "TAB comes as a backslash and a t.", "\t", "\\t"),
        wrong("tab-as-spaces-other-protocol", "TAB comes as a space for the other protocol.", "\t", " ")
            .when(with_other_protocol),
        wrong("lf-as-crlf-by-header", "LF comes as CRLF with X-API-Key.", "\n", "\r\n").when(by_header),
        wrong("default-as-lf", "Without lb entries are separated by LF.", "\r\n", "\n").when(absent),
        wrong("default-as-comma", "Without lb entries are separated by a comma.", "\r\n", ",").when(absent),
        wrong("named-default-as-lf", "The default, named, comes as LF.", "\r\n", "\n")
            .when(move |call| !absent(call)),
        fault("first-only", "Only the first separator is the one asked for.").when(in_text).reply(retext(
            |text, separator| match text.split_once(separator) {
                Some((first, rest)) => format!("{first}{separator}{}", rest.replace(separator, "\u{20}")),
                None => text.to_owned(),
            }
        )),
        fault("last-missing", "The last two entries are not separated.").when(in_text).reply(retext(
            |text, separator| match text.rsplit_once(separator) {
                Some((before, last)) => format!("{before}{last}"),
                None => text.to_owned(),
            }
        )),
        fault("not-when-scarce", "A partial result is separated by LF whatever was asked for.")
            .when(in_text)
            .when(of_scarce_region)
            .reply(|call, reply| rejoin(call, reply, "\n")),
        wrong("br-as-lf-when-scarce", "In a partial result /br comes as LF.", "/br", "\n")
            .when(of_scarce_region),
    ]
}

fn custom() -> Vec<Fault> {
    let changed = |id, breaks, how: fn(&str) -> String| {
        Fault::new(id, breaks).when(in_text).when(is_custom).reply(move |call, reply| {
            let instead = how(&separator(call));
            rejoin(call, reply, &instead);
        })
    };
    let basic_plane = |text: &str| text.chars().filter(|c| u32::from(*c) <= 0xffff).collect();
    let encoded_twice = |text: &str| text.bytes().map(char::from).collect();
    let first_character = |text: &str| text.chars().take(1).collect();
    faults_of![
        "extract.separator/",
        changed("custom-as-default", "The value of sb is ignored.", |_| "\r\n".to_owned()),
        changed("custom-trimmed", "Spaces around the value of sb are lost.", |text| {
            text.trim().to_owned()
        }),
        changed("custom-ascii", "Wide characters of sb become question marks.", |text| {
            text.chars().map(|c| if c.is_ascii() { c } else { '?' }).collect()
        }),
        changed("custom-basic-plane", "Characters of sb beyond 16 bits are lost.", basic_plane),
        changed("custom-twice-encoded", "Wide characters of sb are encoded twice.", encoded_twice),
        changed("custom-first-character", "Only the first character of sb is used.", first_character),
        changed("custom-plus", "A plus in sb becomes a space.", |text| text.replace('+', " ")),
        changed("custom-percent", "A percent sign in sb is lost.", |text| text.replace('%', "")),
        changed("custom-html", "An ampersand in sb is escaped for HTML.", |text| {
            text.replace('&', "&amp;")
        }),
        changed("custom-reference", "A dollar in sb is read as a reference.", |text| {
            text.replace("$1", "")
        }),
        changed("custom-with-break", "The value of sb is followed by a line break.", |text| {
            format!("{text}\n")
        }),
        changed("custom-lower-case", "Capitals in sb become small letters.", str::to_lowercase),
    ]
}

fn range() -> Vec<Fault> {
    let number = |call: &Call<'_>| sent(call, LB).and_then(|lb| lb.parse::<i64>().ok());
    let listed = |call: &Call<'_>, lb: String| call.contract.extract.lb.schema.values.contains(&json!(lb));
    let codes = |call: &Call<'_>| {
        let values = call.contract.extract.lb.schema.values.iter();
        values.filter_map(|value| value.as_str()?.parse::<i64>().ok()).collect::<Vec<_>>()
    };
    let below =
        move |call: &Call<'_>| number(call).is_some_and(|lb| codes(call).iter().all(|code| lb < *code));
    let above =
        move |call: &Call<'_>| number(call).is_some_and(|lb| codes(call).iter().all(|code| lb > *code));
    let default = without(LB);
    faults_of![
        "extract.separator-range/",
        fault("below", "An lb below the list means the default.").when(below).request(default),
        fault("above", "An lb above the list means the default.").when(above).request(default),
        fault("unlisted", "An lb outside the list means the default.")
            .when(move |call| sent(call, LB).is_some_and(|lb| !listed(call, lb)))
            .request(default),
        fault("negative", "A negative lb means the default.")
            .when(move |call| number(call).is_some_and(|lb| lb < 0))
            .request(default),
        fault("word", "An lb that is no number means the default.")
            .when(with(LB))
            .when(move |call| number(call).is_none())
            .request(default),
        fault("above-other-protocol", "An lb above the list means the default for the other protocol.")
            .when(above)
            .when(with_other_protocol)
            .request(default),
        fault("two-digits", "Only the first digit of lb counts.").request(respell(LB, |lb| {
            let is_longer = lb.len() > 1;
            lb.chars().next().filter(|_| is_longer).map(String::from)
        })),
        reject("listed-rejected", "The last listed lb is rejected.").when(is_custom),
        fault("breaks", "An lb outside the list breaks the service.")
            .when(above)
            .reply(respond(500, json!({"message": "index out of range"}))),
    ]
}

fn required() -> Vec<Fault> {
    let absent = move |call: &Call<'_>| is_custom(call) && sent(call, SB).is_none();
    let empty = move |call: &Call<'_>| is_custom(call) && is(SB, "")(call);
    let default = |call: &mut Call<'_>| {
        without(LB)(call);
        without(SB)(call);
    };
    faults_of![
        "extract.sb-required/",
        fault("absent", "Without sb the default separator is used.").when(absent).request(default),
        fault("empty", "With an empty sb the default separator is used.").when(empty).request(default),
        fault("absent-other-protocol", "sb may be absent for the other protocol.")
            .when(absent)
            .when(with_other_protocol)
            .request(default),
        fault("absent-for-several", "sb may be absent when several are asked for.")
            .when(absent)
            .when(for_several)
            .request(default),
        fault("absent-for-one", "sb may be absent when there is nothing to separate.")
            .when(absent)
            .when(|call| !for_several(call))
            .request(default),
        fault("empty-for-several", "sb may be empty when several are asked for.")
            .when(empty)
            .when(for_several)
            .request(default),
        fault("absent-breaks", "An absent sb breaks the service.")
            .when(absent)
            .reply(respond(500, json!({"message": "null"}))),
    ]
}

fn length() -> Vec<Fault> {
    let sb = |call: &Call<'_>| sent(call, SB).unwrap_or_default();
    let limit = |call: &Call<'_>| call.contract.extract.separator_bytes;
    let cut = move |call: &mut Call<'_>| {
        let mut sb = sb(call);
        while sb.len() > limit(call) {
            sb.pop();
        }
        put_param(call, SB, &sb);
    };
    let over = move |call: &Call<'_>| sb(call).len() > limit(call);
    let at_limit = move |call: &Call<'_>| sb(call).len() == limit(call);
    let one_over = move |call: &Call<'_>| sb(call).len() == limit(call) + 1;
    let wide = move |call: &Call<'_>| !sb(call).is_ascii();
    faults_of![
        "extract.sb-length/",
        fault("cut", "An sb that is too long is cut.").when(over).request(cut),
        fault("one-more", "The limit of sb is one byte too high.").when(one_over).request(cut),
        fault("one-more-ascii", "The limit of sb is one byte too high for ASCII.")
            .when(over)
            .when(move |call| !wide(call))
            .request(cut),
        fault("characters", "The length of sb is counted in characters.")
            .when(over)
            .when(move |call| sb(call).chars().count() <= limit(call))
            .request(cut),
        fault("utf-16", "The length of sb is counted in units of UTF-16.")
            .when(over)
            .when(move |call| sb(call).encode_utf16().count() <= limit(call))
            .request(cut),
        reject("one-less", "The limit is one byte too low.").when(at_limit),
        reject("longest-wide-rejected", "The longest sb is rejected when it has wide characters.")
            .when(at_limit)
            .when(wide),
        reject("encoded", "The percent-encoded form is measured.").when(move |call| {
            let length = |byte: u8| if byte.is_ascii_alphanumeric() || byte == b'-' { 1 } else { 3 };
            sb(call).bytes().map(length).sum::<usize>() > limit(call)
        }),
        fault("breaks", "An sb that is too long breaks the service.")
            .when(over)
            .reply(respond(500, json!({"message": "buffer"}))),
    ]
}

fn rejoin(call: &Call<'_>, reply: &mut Reply, instead: &str) {
    if call.accepted(reply) {
        let text = reply.text();
        reply.body = text.replace(&separator(call), instead).into();
    }
}
