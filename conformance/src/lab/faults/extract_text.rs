//! Faults in plain-text responses and their separators.

use serde_json::json;

use super::words::*;
use super::{retext, separator};
use crate::lab::{Call, Fault};

pub(crate) fn faults() -> Vec<Fault> {
    faults! {
        "extract.separator/" {
            "crlf-as-lf": "CRLF comes as LF." if separated_by("\r\n") => rejoin("\n");
            "crlf-as-cr": "CRLF comes as CR." if separated_by("\r\n") => rejoin("\r");
            "crlf-turned": "CRLF comes as LF and CR." if separated_by("\r\n") => rejoin("\n\r");
            "crlf-twice": "CRLF comes twice." if separated_by("\r\n") => rejoin("\r\n\r\n");
            "br-as-html": "The text /br comes as an HTML tag." if separated_by("/br") => rejoin("<br/>");
            "br-in-capitals": "The text /br comes in capitals." if separated_by("/br") => rejoin("/BR");
            "br-with-break": "The text /br is followed by a line break." if separated_by("/br") => rejoin("/br\n");
            "br-as-break": "The text /br comes as a line break." if separated_by("/br") => rejoin("\r\n");
            "cr-as-lf": "CR comes as LF." if separated_by("\r") => rejoin("\n");
            "cr-as-crlf": "CR comes as CRLF." if separated_by("\r") => rejoin("\r\n");
            "lf-as-crlf": "LF comes as CRLF." if separated_by("\n") => rejoin("\r\n");
            "lf-as-cr": "LF comes as CR." if separated_by("\n") => rejoin("\r");
            "tab-as-spaces": "TAB comes as spaces." if separated_by("\t") => rejoin("    ");
            "tab-as-escape": "TAB comes as a backslash and a t." if separated_by("\t") => rejoin("\\t");
            "tab-as-spaces-other-protocol": "TAB comes as a space for the other protocol." if separated_by("\t"), with_other_protocol => rejoin(" ");
            "lf-as-crlf-by-header": "LF comes as CRLF with X-API-Key." if separated_by("\n"), by_header => rejoin("\r\n");
            "default-as-lf": "Without lb entries are separated by LF." if separated_by("\r\n"), not(with(LB)) => rejoin("\n");
            "default-as-comma": "Without lb entries are separated by a comma." if separated_by("\r\n"), not(with(LB)) => rejoin(",");
            "named-default-as-lf": "The default, named, comes as LF." if separated_by("\r\n"), with(LB) => rejoin("\n");
            "first-only": "Only the first separator is the one asked for." if in_text => retext(|text, separator| match text.split_once(separator) {
                Some((first, rest)) => format!("{first}{separator}{}", rest.replace(separator, "\u{20}")),
                None => text.to_owned(),
            });
            "last-missing": "The last two entries are not separated." if in_text => retext(|text, separator| match text.rsplit_once(separator) {
                Some((before, last)) => format!("{before}{last}"),
                None => text.to_owned(),
            });
            "not-when-scarce": "A partial result is separated by LF whatever was asked for." if in_text, scarce_region() => rejoin("\n");
            "br-as-lf-when-scarce": "In a partial result /br comes as LF." if separated_by("/br"), scarce_region() => rejoin("\n");
            "custom-as-default": "The value of sb is ignored." if in_text, is_custom => rejoin("\r\n");
            "custom-trimmed": "Spaces around the value of sb are lost." if in_text, is_custom => respelt(|text| text.trim().to_owned());
            "custom-ascii": "Wide characters of sb become question marks." if in_text, is_custom
                => respelt(|text| text.chars().map(|c| if c.is_ascii() { c } else { '?' }).collect());
            "custom-basic-plane": "Characters of sb beyond 16 bits are lost." if in_text, is_custom
                => respelt(|text| text.chars().filter(|c| u32::from(*c) <= 0xffff).collect());
            "custom-twice-encoded": "Wide characters of sb are encoded twice." if in_text, is_custom
                => respelt(|text| text.bytes().map(char::from).collect());
            "custom-first-character": "Only the first character of sb is used." if in_text, is_custom
                => respelt(|text| text.chars().take(1).collect());
            "custom-plus": "A plus in sb becomes a space." if in_text, is_custom => respelt(|text| text.replace('+', " "));
            "custom-percent": "A percent sign in sb is lost." if in_text, is_custom => respelt(|text| text.replace('%', ""));
            "custom-html": "An ampersand in sb is escaped for HTML." if in_text, is_custom => respelt(|text| text.replace('&', "&amp;"));
            "custom-reference": "A dollar in sb is read as a reference." if in_text, is_custom => respelt(|text| text.replace("$1", ""));
            "custom-with-break": "The value of sb is followed by a line break." if in_text, is_custom => respelt(|text| format!("{text}\n"));
            "custom-lower-case": "Capitals in sb become small letters." if in_text, is_custom => respelt(str::to_lowercase);
        }
        "extract.separator-range/" {
            "below": "An lb below the list means the default." if beyond(|lb, code| lb < code) => ignore(LB);
            "above" + [other_protocol]: "An lb above the list means the default" if beyond(|lb, code| lb > code) => ignore(LB);
            "unlisted": "An lb outside the list means the default." if that(|call| {
                let listed = &call.contract.extract.lb.schema.values;
                text(call, LB).is_some_and(|lb| !listed.contains(&json!(lb)))
            }) => ignore(LB);
            "negative": "A negative lb means the default." if that(|call| number(call).is_some_and(|lb| lb < 0)) => ignore(LB);
            "word": "An lb that is no number means the default." if that(|call| number(call).is_none()) => ignore(LB);
            "two-digits": "Only the first digit of lb counts."
                => respell(LB, |lb| lb.chars().next().filter(|_| lb.len() > 1).map(String::from));
            "listed-rejected": "The last listed lb is rejected." if is_custom => reject;
            "breaks": "An lb outside the list breaks the service."
                if beyond(|lb, code| lb > code) => respond(500, json!({"message": "index out of range"}));
        }
        "extract.sb-required/" {
            "absent": "Without sb the default separator is used." if is_custom, not(with(SB)) => default_separator;
            "absent-other-protocol": "sb may be absent for the other protocol." if is_custom, not(with(SB)), with_other_protocol => default_separator;
            "empty": "With an empty sb the default separator is used." if is_custom, is(SB, "") => default_separator;
            "absent-for-several": "sb may be absent when several are asked for." if is_custom, not(with(SB)), for_several => default_separator;
            "absent-for-one": "sb may be absent when there is nothing to separate."
                if is_custom, not(with(SB)), not(for_several) => default_separator;
            "empty-for-several": "sb may be empty when several are asked for." if is_custom, is(SB, ""), for_several => default_separator;
            "absent-breaks": "An absent sb breaks the service." if is_custom, not(with(SB)) => respond(500, json!({"message": "null"}));
        }
        "extract.sb-length/" {
            "cut": "An sb that is too long is cut." if too_long => cut;
            "one-more": "The limit of sb is one byte too high." if length(|sb, limit| sb.len() == limit + 1) => cut;
            "one-more-ascii": "The limit of sb is one byte too high for ASCII." if too_long, length(|sb, _| sb.is_ascii()) => cut;
            "characters": "The length of sb is counted in characters." if too_long, length(|sb, limit| sb.chars().count() <= limit) => cut;
            "utf-16": "The length of sb is counted in units of UTF-16." if too_long, length(|sb, limit| sb.encode_utf16().count() <= limit) => cut;
            "one-less": "The limit is one byte too low." if length(|sb, limit| sb.len() == limit) => reject;
            "longest-wide-rejected": "The longest sb is rejected when it has wide characters."
                if length(|sb, limit| sb.len() == limit && !sb.is_ascii()) => reject;
            "encoded": "The percent-encoded form is measured." if length(|sb, limit| {
                let length = |byte: u8| if byte.is_ascii_alphanumeric() || byte == b'-' { 1 } else { 3 };
                sb.bytes().map(length).sum::<usize>() > limit
            }) => reject;
            "breaks": "An sb that is too long breaks the service." if too_long => respond(500, json!({"message": "buffer"}));
        }
    }
}

/// A text whose entries are to be separated by this, by its number.
fn separated_by(text: &'static str) -> When {
    that(move |call| in_text(call) && !is_custom(call) && separator(call) == text)
}

/// Replaces the separator.
fn rejoin(instead: &'static str) -> Act {
    respelt(move |_| instead.to_owned())
}

/// Gives the separator another spelling.
fn respelt(how: impl Fn(&str) -> String + Send + Sync + 'static) -> Act {
    accepted(retext(move |text, separator| text.replace(separator, &how(separator))))
}

/// `lb`, when it is a number.
fn number(call: &Call<'_>) -> Option<i64> {
    text(call, LB)?.parse().ok()
}

/// `lb` is a number that compares so with all that are listed.
fn beyond(compares: fn(i64, i64) -> bool) -> When {
    that(move |call| {
        let listed = &call.contract.extract.lb.schema.values;
        let mut codes = listed.iter().filter_map(|value| value.as_str()?.parse().ok());
        number(call).is_some_and(|lb| codes.all(|code| compares(lb, code)))
    })
}

fn default_separator(call: &mut Call<'_>) {
    ignore(LB)(call);
    ignore(SB)(call);
}

/// `sb` and the greatest length that it may have fit.
fn length(fits: fn(&str, usize) -> bool) -> When {
    that(move |call| fits(&text(call, SB).unwrap_or_default(), call.contract.extract.separator_bytes))
}

fn too_long(call: &Call<'_>) -> bool {
    text(call, SB).is_some_and(|sb| sb.len() > call.contract.extract.separator_bytes)
}

/// Cuts `sb` to the greatest length that it may have.
fn cut(call: &mut Call<'_>) {
    let mut sb = text(call, SB).unwrap_or_default();
    while sb.len() > call.contract.extract.separator_bytes {
        sb.pop();
    }
    put(call, SB, sb);
}
