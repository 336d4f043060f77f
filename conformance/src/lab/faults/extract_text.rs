//! Faults in plain-text responses and their separators.

use super::condition::{
    LB, SB, by_header, in_text, num, of_scarce_region, sent, with_other_protocol, without,
};
use super::edit::respond;
use super::separator;
use crate::lab::exchange::{ProxiedRequest, Reply};
use crate::lab::{Context, Fault};
use serde_json::json;

pub(crate) fn faults() -> Vec<Fault> {
    [named(), custom(), range(), required(), length()].into_iter().flatten().collect()
}

fn named() -> Vec<Fault> {
    let wrong = |id, breaks, text: &'static str, instead: &'static str| {
        Fault::reply(id, breaks, move |context, seen, reply| rejoin(context, seen, reply, instead))
            .when(in_text)
            .when(move |context, seen| !is_custom(context, seen) && separator(context, seen) == text)
    };
    let absent = |context: &Context, seen: &ProxiedRequest| sent(context, seen, LB).is_none();
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
            .when(move |context, seen| !absent(context, seen)),
        reply("first-only", "Only the first separator is the one asked for.", |context, seen, reply| {
            let text = String::from_utf8_lossy(&reply.body).into_owned();
            let separator = separator(context, seen);
            if let Some((first, rest)) = text.split_once(&separator) {
                reply.body = format!("{first}{separator}{}", rest.replace(&separator, "\u{20}")).into();
            }
        })
        .when(in_text),
        reply("last-missing", "The last two entries are not separated.", |context, seen, reply| {
            let text = String::from_utf8_lossy(&reply.body).into_owned();
            if let Some((before, last)) = text.rsplit_once(&separator(context, seen)) {
                reply.body = format!("{before}{last}").into();
            }
        })
        .when(in_text),
        reply(
            "not-when-scarce",
            "A partial result is separated by LF whatever was asked for.",
            |context, seen, reply| {
                rejoin(context, seen, reply, "\n");
            }
        )
        .when(in_text)
        .when(of_scarce_region),
        wrong("br-as-lf-when-scarce", "In a partial result /br comes as LF.", "/br", "\n")
            .when(of_scarce_region),
    ]
}

fn custom() -> Vec<Fault> {
    let changed = |id, breaks, how: fn(&str) -> String| {
        Fault::reply(id, breaks, move |context, seen, reply| {
            let instead = how(&separator(context, seen));
            rejoin(context, seen, reply, &instead);
        })
        .when(in_text)
        .when(is_custom)
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
        changed("custom-with-break", "The value of sb is followed by a line break.", |text| format!(
            "{text}\n"
        )),
        changed("custom-lower-case", "Capitals in sb become small letters.", str::to_lowercase),
    ]
}

fn range() -> Vec<Fault> {
    let number = |context: &Context, seen: &ProxiedRequest| {
        sent(context, seen, LB).and_then(|lb| lb.parse::<i64>().ok())
    };
    let word = move |context: &Context, seen: &ProxiedRequest| {
        sent(context, seen, LB).is_some() && number(context, seen).is_none()
    };
    let listed = |context: &Context, seen: &ProxiedRequest| {
        sent(context, seen, LB)
            .is_none_or(|lb| context.contract.extract.lb.schema.values.iter().any(|value| *value == lb))
    };
    let codes = |context: &Context| {
        let values = context.contract.extract.lb.schema.values.iter();
        values.filter_map(|value| value.as_str()?.parse::<i64>().ok()).collect::<Vec<_>>()
    };
    let below = move |context: &Context, seen: &ProxiedRequest| {
        number(context, seen).is_some_and(|lb| codes(context).iter().all(|code| lb < *code))
    };
    let above = move |context: &Context, seen: &ProxiedRequest| {
        number(context, seen).is_some_and(|lb| codes(context).iter().all(|code| lb > *code))
    };
    let default = without(LB);
    faults_of![
        "extract.separator-range/",
        request("below", "An lb below the list means the default.", default).when(below),
        request("above", "An lb above the list means the default.", default).when(above),
        request("unlisted", "An lb outside the list means the default.", default)
            .when(move |context, seen| !listed(context, seen)),
        request("negative", "A negative lb means the default.", default)
            .when(move |context, seen| number(context, seen).is_some_and(|lb| lb < 0)),
        request("word", "An lb that is no number means the default.", default).when(word),
        request(
            "above-other-protocol",
            "An lb above the list means the default for the other protocol.",
            default
        )
        .when(above)
        .when(with_other_protocol),
        request("two-digits", "Only the first digit of lb counts.", move |context, seen| {
            let lb = sent(context, seen, LB).filter(|lb| lb.len() > 1);
            if let Some(first) = lb.and_then(|lb| lb.chars().next()) {
                seen.set_param(&context.contract.extract.lb.name, &first.to_string());
            }
        }),
        reject("listed-rejected", "The last listed lb is rejected.").when(is_custom),
        reply(
            "breaks",
            "An lb outside the list breaks the service.",
            respond(500, json!({"message": "index out of range"}))
        )
        .when(above),
    ]
}

fn required() -> Vec<Fault> {
    let absent = move |context: &Context, seen: &ProxiedRequest| {
        is_custom(context, seen) && sent(context, seen, SB).is_none()
    };
    let empty = move |context: &Context, seen: &ProxiedRequest| {
        is_custom(context, seen) && sent(context, seen, SB).as_deref() == Some("")
    };
    let default = |context: &Context, seen: &mut ProxiedRequest| {
        without(LB)(context, seen);
        without(SB)(context, seen);
    };
    let several = |context: &Context, seen: &ProxiedRequest| num(context, seen).is_some_and(|num| num > 1);
    faults_of![
        "extract.sb-required/",
        request("absent", "Without sb the default separator is used.", default).when(absent),
        request("empty", "With an empty sb the default separator is used.", default).when(empty),
        request("absent-other-protocol", "sb may be absent for the other protocol.", default)
            .when(absent)
            .when(with_other_protocol),
        request("absent-for-several", "sb may be absent when several are asked for.", default)
            .when(absent)
            .when(several),
        request("absent-for-one", "sb may be absent when there is nothing to separate.", default)
            .when(absent)
            .when(move |context, seen| !several(context, seen)),
        request("empty-for-several", "sb may be empty when several are asked for.", default)
            .when(empty)
            .when(several),
        reply("absent-breaks", "An absent sb breaks the service.", respond(500, json!({"message": "null"})))
            .when(absent),
    ]
}

fn length() -> Vec<Fault> {
    let sb = |context: &Context, seen: &ProxiedRequest| sent(context, seen, SB).unwrap_or_default();
    let limit = |context: &Context| context.contract.extract.separator_bytes;
    let cut = move |context: &Context, seen: &mut ProxiedRequest| {
        let mut sb = sb(context, seen);
        while sb.len() > limit(context) {
            sb.pop();
        }
        seen.set_param(&context.contract.extract.sb.name, &sb);
    };
    let over = move |context: &Context, seen: &ProxiedRequest| sb(context, seen).len() > limit(context);
    let one_over =
        move |context: &Context, seen: &ProxiedRequest| sb(context, seen).len() == limit(context) + 1;
    let wide = move |context: &Context, seen: &ProxiedRequest| !sb(context, seen).is_ascii();
    faults_of![
        "extract.sb-length/",
        request("cut", "An sb that is too long is cut.", cut).when(over),
        request("one-more", "The limit of sb is one byte too high.", cut).when(one_over),
        request("one-more-ascii", "The limit of sb is one byte too high for ASCII.", cut)
            .when(over)
            .when(move |context, seen| !wide(context, seen)),
        request("characters", "The length of sb is counted in characters.", cut)
            .when(over)
            .when(move |context, seen| sb(context, seen).chars().count() <= limit(context)),
        request("utf-16", "The length of sb is counted in units of UTF-16.", cut)
            .when(over)
            .when(move |context, seen| sb(context, seen).encode_utf16().count() <= limit(context)),
        reject("one-less", "The limit is one byte too low.")
            .when(move |context, seen| sb(context, seen).len() == limit(context)),
        reject("longest-wide-rejected", "The longest sb is rejected when it has wide characters.")
            .when(move |context, seen| sb(context, seen).len() == limit(context))
            .when(wide),
        reject("encoded", "The percent-encoded form is measured.").when(move |context, seen| {
            sb(context, seen)
                .bytes()
                .map(|byte| if byte.is_ascii_alphanumeric() || byte == b'-' { 1 } else { 3 })
                .sum::<usize>()
                > limit(context)
        }),
        reply(
            "breaks",
            "An sb that is too long breaks the service.",
            respond(500, json!({"message": "buffer"}))
        )
        .when(over),
    ]
}

fn is_custom(context: &Context, seen: &ProxiedRequest) -> bool {
    sent(context, seen, LB).as_ref() == Some(&context.contract.extract.custom_separator)
}

fn rejoin(context: &Context, seen: &ProxiedRequest, reply: &mut Reply, instead: &str) {
    if context.accepted(seen, reply) {
        let text = String::from_utf8_lossy(&reply.body).into_owned();
        reply.body = text.replace(&separator(context, seen), instead).into();
    }
}
