//! Faults in plain-text responses and their separators.

use super::condition::{by_header, in_text, num, of_scarce_region, with_other_protocol};
use super::separator;
use crate::lab::exchange::{ProxiedRequest, Reply};
use crate::lab::{Context, Fault};

/// All of them.
pub(crate) fn faults() -> Vec<Fault> {
    [named(), custom(), range(), required(), length()].into_iter().flatten().collect()
}

fn named() -> Vec<Fault> {
    let wrong = |id, breaks, text: &'static str, instead: &'static str| {
        Fault::reply(id, breaks, move |context, seen, reply| rejoin(context, seen, reply, instead))
            .when(in_text)
            .when(move |context, seen| !is_custom(context, seen) && separator(context, seen) == text)
    };
    let absent = |context: &Context, seen: &ProxiedRequest| lb(context, seen).is_none();
    vec![
        wrong("extract.separator/crlf-as-lf", "CRLF comes as LF.", "\r\n", "\n"),
        wrong("extract.separator/crlf-as-cr", "CRLF comes as CR.", "\r\n", "\r"),
        wrong("extract.separator/crlf-turned", "CRLF comes as LF and CR.", "\r\n", "\n\r"),
        wrong("extract.separator/crlf-twice", "CRLF comes twice.", "\r\n", "\r\n\r\n"),
        wrong("extract.separator/br-as-html", "The text /br comes as an HTML tag.", "/br", "<br/>"),
        wrong("extract.separator/br-in-capitals", "The text /br comes in capitals.", "/br", "/BR"),
        wrong("extract.separator/br-with-break", "The text /br is followed by a line break.", "/br", "/br\n"),
        wrong("extract.separator/br-as-break", "The text /br comes as a line break.", "/br", "\r\n"),
        wrong("extract.separator/cr-as-lf", "CR comes as LF.", "\r", "\n"),
        wrong("extract.separator/cr-as-crlf", "CR comes as CRLF.", "\r", "\r\n"),
        wrong("extract.separator/lf-as-crlf", "LF comes as CRLF.", "\n", "\r\n"),
        wrong("extract.separator/lf-as-cr", "LF comes as CR.", "\n", "\r"),
        wrong("extract.separator/tab-as-spaces", "TAB comes as spaces.", "\t", "    "),
        wrong("extract.separator/tab-as-escape", "TAB comes as a backslash and a t.", "\t", "\\t"),
        wrong(
            "extract.separator/tab-as-spaces-other-protocol",
            "TAB comes as a space for the other protocol.",
            "\t",
            " ",
        )
        .when(with_other_protocol),
        wrong("extract.separator/lf-as-crlf-by-header", "LF comes as CRLF with X-API-Key.", "\n", "\r\n")
            .when(by_header),
        wrong("extract.separator/default-as-lf", "Without lb entries are separated by LF.", "\r\n", "\n")
            .when(absent),
        wrong(
            "extract.separator/default-as-comma",
            "Without lb entries are separated by a comma.",
            "\r\n",
            ",",
        )
        .when(absent),
        wrong("extract.separator/named-default-as-lf", "The default, named, comes as LF.", "\r\n", "\n")
            .when(move |context, seen| !absent(context, seen)),
        Fault::reply(
            "extract.separator/first-only",
            "Only the first separator is the one asked for.",
            |context, seen, reply| {
                let text = String::from_utf8_lossy(&reply.body).into_owned();
                let separator = separator(context, seen);
                if let Some((first, rest)) = text.split_once(&separator) {
                    reply.body = format!("{first}{separator}{}", rest.replace(&separator, "\u{20}")).into();
                }
            },
        )
        .when(in_text),
        Fault::reply(
            "extract.separator/last-missing",
            "The last two entries are not separated.",
            |context, seen, reply| {
                let text = String::from_utf8_lossy(&reply.body).into_owned();
                if let Some((before, last)) = text.rsplit_once(&separator(context, seen)) {
                    reply.body = format!("{before}{last}").into();
                }
            },
        )
        .when(in_text),
        Fault::reply(
            "extract.separator/not-when-scarce",
            "A partial result is separated by LF whatever was asked for.",
            |context, seen, reply| {
                rejoin(context, seen, reply, "\n");
            },
        )
        .when(in_text)
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
    vec![
        changed("extract.separator/custom-as-default", "The value of sb is ignored.", |_| "\r\n".to_owned()),
        changed("extract.separator/custom-trimmed", "Spaces around the value of sb are lost.", |text| {
            text.trim().to_owned()
        }),
        changed("extract.separator/custom-ascii", "Wide characters of sb become question marks.", |text| {
            text.chars().map(|c| if c.is_ascii() { c } else { '?' }).collect()
        }),
        changed(
            "extract.separator/custom-basic-plane",
            "Characters of sb beyond 16 bits are lost.",
            |text| text.chars().filter(|c| u32::from(*c) <= 0xffff).collect(),
        ),
        changed(
            "extract.separator/custom-twice-encoded",
            "Wide characters of sb are encoded twice.",
            |text| text.bytes().map(char::from).collect(),
        ),
        changed(
            "extract.separator/custom-first-character",
            "Only the first character of sb is used.",
            |text| text.chars().take(1).collect(),
        ),
        changed("extract.separator/custom-plus", "A plus in sb becomes a space.", |text| {
            text.replace('+', " ")
        }),
        changed("extract.separator/custom-percent", "A percent sign in sb is lost.", |text| {
            text.replace('%', "")
        }),
        changed("extract.separator/custom-html", "An ampersand in sb is escaped for HTML.", |text| {
            text.replace('&', "&amp;")
        }),
        changed("extract.separator/custom-reference", "A dollar in sb is read as a reference.", |text| {
            text.replace("$1", "")
        }),
        changed(
            "extract.separator/custom-with-break",
            "The value of sb is followed by a line break.",
            |text| format!("{text}\n"),
        ),
        changed(
            "extract.separator/custom-lower-case",
            "Capitals in sb become small letters.",
            str::to_lowercase,
        ),
    ]
}

fn range() -> Vec<Fault> {
    let number =
        |context: &Context, seen: &ProxiedRequest| lb(context, seen).and_then(|lb| lb.parse::<i64>().ok());
    let listed = |context: &Context, seen: &ProxiedRequest| {
        lb(context, seen)
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
    let default =
        |context: &Context, seen: &mut ProxiedRequest| seen.drop_param(&context.contract.extract.lb.name);
    vec![
        Fault::request("extract.separator-range/below", "An lb below the list means the default.", default)
            .when(below),
        Fault::request("extract.separator-range/above", "An lb above the list means the default.", default)
            .when(above),
        Fault::request(
            "extract.separator-range/unlisted",
            "An lb outside the list means the default.",
            default,
        )
        .when(move |context, seen| !listed(context, seen)),
        Fault::request("extract.separator-range/negative", "A negative lb means the default.", default)
            .when(move |context, seen| number(context, seen).is_some_and(|lb| lb < 0)),
        Fault::request("extract.separator-range/word", "An lb that is no number means the default.", default)
            .when(move |context, seen| lb(context, seen).is_some() && number(context, seen).is_none()),
        Fault::request(
            "extract.separator-range/above-other-protocol",
            "An lb above the list means the default for the other protocol.",
            default,
        )
        .when(above)
        .when(with_other_protocol),
        Fault::request(
            "extract.separator-range/two-digits",
            "Only the first digit of lb counts.",
            move |context, seen| {
                let lb = lb(context, seen).filter(|lb| lb.len() > 1);
                if let Some(first) = lb.and_then(|lb| lb.chars().next()) {
                    seen.set_param(&context.contract.extract.lb.name, &first.to_string());
                }
            },
        ),
        Fault::request(
            "extract.separator-range/listed-rejected",
            "The last listed lb is rejected.",
            Context::reject,
        )
        .when(is_custom),
        Fault::reply(
            "extract.separator-range/breaks",
            "An lb outside the list breaks the service.",
            |_, _, reply| {
                *reply = Reply::json_with(500, &serde_json::json!({"message": "index out of range"}));
            },
        )
        .when(above),
    ]
}

fn required() -> Vec<Fault> {
    let sb = |context: &Context, seen: &ProxiedRequest| seen.param(&context.contract.extract.sb.name);
    let absent = move |context: &Context, seen: &ProxiedRequest| {
        is_custom(context, seen) && sb(context, seen).is_none()
    };
    let empty = move |context: &Context, seen: &ProxiedRequest| {
        is_custom(context, seen) && sb(context, seen).as_deref() == Some("")
    };
    let default = |context: &Context, seen: &mut ProxiedRequest| {
        seen.drop_param(&context.contract.extract.lb.name);
        seen.drop_param(&context.contract.extract.sb.name);
    };
    let several = |context: &Context, seen: &ProxiedRequest| num(context, seen).is_some_and(|num| num > 1);
    vec![
        Fault::request("extract.sb-required/absent", "Without sb the default separator is used.", default)
            .when(absent),
        Fault::request(
            "extract.sb-required/empty",
            "With an empty sb the default separator is used.",
            default,
        )
        .when(empty),
        Fault::request(
            "extract.sb-required/absent-other-protocol",
            "sb may be absent for the other protocol.",
            default,
        )
        .when(absent)
        .when(with_other_protocol),
        Fault::request(
            "extract.sb-required/absent-for-several",
            "sb may be absent when several are asked for.",
            default,
        )
        .when(absent)
        .when(several),
        Fault::request(
            "extract.sb-required/absent-for-one",
            "sb may be absent when there is nothing to separate.",
            default,
        )
        .when(absent)
        .when(move |context, seen| !several(context, seen)),
        Fault::request(
            "extract.sb-required/empty-for-several",
            "sb may be empty when several are asked for.",
            default,
        )
        .when(empty)
        .when(several),
        Fault::reply(
            "extract.sb-required/absent-breaks",
            "An absent sb breaks the service.",
            |_, _, reply| {
                *reply = Reply::json_with(500, &serde_json::json!({"message": "null"}));
            },
        )
        .when(absent),
    ]
}

fn length() -> Vec<Fault> {
    let sb = |context: &Context, seen: &ProxiedRequest| {
        seen.param(&context.contract.extract.sb.name).unwrap_or_default()
    };
    let limit = |context: &Context| context.contract.extract.separator_bytes;
    let cut = move |context: &Context, seen: &mut ProxiedRequest| {
        let mut sb = sb(context, seen);
        while sb.len() > limit(context) {
            sb.pop();
        }
        seen.set_param(&context.contract.extract.sb.name, &sb);
    };
    let over = move |context: &Context, seen: &ProxiedRequest| sb(context, seen).len() > limit(context);
    let wide = move |context: &Context, seen: &ProxiedRequest| !sb(context, seen).is_ascii();
    vec![
        Fault::request("extract.sb-length/cut", "An sb that is too long is cut.", cut).when(over),
        Fault::request("extract.sb-length/one-more", "The limit of sb is one byte too high.", cut)
            .when(move |context, seen| sb(context, seen).len() == limit(context) + 1),
        Fault::request(
            "extract.sb-length/one-more-ascii",
            "The limit of sb is one byte too high for ASCII.",
            cut,
        )
        .when(over)
        .when(move |context, seen| !wide(context, seen)),
        Fault::request("extract.sb-length/characters", "The length of sb is counted in characters.", cut)
            .when(over)
            .when(move |context, seen| sb(context, seen).chars().count() <= limit(context)),
        Fault::request("extract.sb-length/utf-16", "The length of sb is counted in units of UTF-16.", cut)
            .when(over)
            .when(move |context, seen| sb(context, seen).encode_utf16().count() <= limit(context)),
        Fault::request("extract.sb-length/one-less", "The limit is one byte too low.", Context::reject)
            .when(move |context, seen| sb(context, seen).len() == limit(context)),
        Fault::request(
            "extract.sb-length/longest-wide-rejected",
            "The longest sb is rejected when it has wide characters.",
            Context::reject,
        )
        .when(move |context, seen| sb(context, seen).len() == limit(context))
        .when(wide),
        Fault::request("extract.sb-length/encoded", "The percent-encoded form is measured.", Context::reject)
            .when(move |context, seen| {
                sb(context, seen)
                    .bytes()
                    .map(|byte| if byte.is_ascii_alphanumeric() || byte == b'-' { 1 } else { 3 })
                    .sum::<usize>()
                    > limit(context)
            }),
        Fault::reply(
            "extract.sb-length/breaks",
            "An sb that is too long breaks the service.",
            |_, _, reply| {
                *reply = Reply::json_with(500, &serde_json::json!({"message": "buffer"}));
            },
        )
        .when(over),
    ]
}

fn lb(context: &Context, seen: &ProxiedRequest) -> Option<String> {
    seen.param(&context.contract.extract.lb.name)
}

fn is_custom(context: &Context, seen: &ProxiedRequest) -> bool {
    lb(context, seen).as_ref() == Some(&context.contract.extract.custom_separator)
}

fn rejoin(context: &Context, seen: &ProxiedRequest, reply: &mut Reply, instead: &str) {
    if context.accepted(seen, reply) {
        let text = String::from_utf8_lossy(&reply.body).into_owned();
        reply.body = text.replace(&separator(context, seen), instead).into();
    }
}
