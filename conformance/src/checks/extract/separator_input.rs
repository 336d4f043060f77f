//! `lb` and `sb` as input: listed values, and the custom separator and its length.

use std::fmt::Display;
use std::ops::RangeInclusive;

use super::EXTRACT;
use super::forms::{Context, rejects};
use super::text::judge_separator;
use crate::check::{Case, Check, Cost, Probe, Run, Scope, Stop};
use crate::contract::{Clause, Extract, boundaries};
use crate::grammar::{Spelling, integer_texts};
use crate::wire::Request;

pub(super) static RANGE: Check = Check {
    id: "extract.separator-range.boundaries",
    title: "`lb` with another value than those listed is rejected",
    why: "If a service reads a value as another one, the caller can't split the text.",
    clauses: &[Clause::ExtractSeparatorRange],
    run: Run::Cases(range),
    ..EXTRACT
};

/// `lb` applies to text responses only, whether or not `sb` is present.
fn range(scope: &Scope<'_>) -> Vec<Case> {
    let extract = &scope.contract.extract;
    let (lb, sb) = (&extract.lb, extract.sb.name.clone());
    let range = codes(extract);
    let mut values = integer_texts(&range);
    let derived = boundaries(&lb.schema).into_iter().filter(|value| !value.allowed).map(|value| value.text());
    // A service that reads only one digit takes these for listed values.
    let longer = lb.schema.values.iter().filter_map(|code| code.as_str()).flat_map(|code| {
        let doubled = code.repeat(2);
        [format!("{code}0"), format!("1{code}"), doubled]
    });
    for value in derived.chain(longer).chain(NAMES.map(str::to_owned)) {
        let is_listed = value.parse().is_ok_and(|number: i64| range.contains(&number));
        if !is_listed && values.iter().all(|known| known.text != value) {
            values.push(Spelling::malformed(value, "not a listed value"));
        }
    }
    let contexts = Context::in_text(extract);
    let text = contexts.first().cloned().into_iter();
    // Every fourth value; all of them are tested without `sb`.
    let beside =
        text.flat_map(|context| values.iter().step_by(4).map(move |value| (context.clone(), value.clone())));
    let beside: Vec<Case> = beside
        .map(|(context, Spelling { text: value, reason, name, .. })| {
            let (lb, sb) = (lb.name.clone(), sb.clone());
            let what = format!("{lb}={name} with {sb}");
            let why = format!("{lb}={value:?} beside {sb}, {reason}");
            context.invalid(what, Clause::ExtractSeparatorRange, why, move |_, request| {
                request.query(&lb, &value).query(&sb, SEPARATOR)
            })
        })
        .collect();
    // The neighbours of the range are tested in every form.
    let near = [range.start() - 1, range.end() + 1].map(|number| number.to_string());
    let (near, far): (Vec<_>, Vec<_>) = values.into_iter().partition(|value| near.contains(&value.text));
    let everywhere =
        contexts.iter().flat_map(|context| near.iter().map(|value| (context.clone(), value.clone())));
    let pairs: Vec<_> = everywhere.chain(contexts.iter().cloned().cycle().zip(far)).collect();
    let alone = pairs
        .into_iter()
        .map(|(context, value)| context.invalid_value(lb, &value, Clause::ExtractSeparatorRange));
    let custom = contexts.iter().cloned().map(|context| {
        let (lb, sb, code) = (lb.name.clone(), sb.clone(), extract.custom_separator.clone());
        let what = format!("{lb}={code}");
        let why = format!("{lb}={code} is in the list");
        context.valid(what, Clause::ExtractSeparatorRange, why, move |_, request| {
            request.query(&lb, &code).query(&sb, SEPARATOR)
        })
    });
    alone.chain(beside).chain(custom).collect()
}

/// The listed values of `lb`, which are consecutive numbers.
pub(super) fn codes(extract: &Extract) -> RangeInclusive<i64> {
    let values = extract.lb.schema.values.iter();
    let codes: Vec<i64> = values.filter_map(|code| code.as_str()?.parse().ok()).collect();
    codes.iter().min().copied().unwrap_or_default()..=codes.iter().max().copied().unwrap_or_default()
}

/// Names and values of separators in other APIs.
const NAMES: [&str; 8] = ["LF", "crlf", "\\n", "abc", "default", "99", ";", "|"];

/// A custom separator that no service has a reason to reject.
const SEPARATOR: &str = "|";

const CONTROL: &str = "with a custom separator";

pub(super) static REQUIRED: Check = Check {
    id: "extract.sb-required.absent",
    title: "`lb=6` is rejected without `sb` and with an empty `sb`, but not with `sb=0`",
    why: "Without a separator nothing shows where one gateway ends and the next begins.",
    clauses: &[Clause::ExtractSbRequired],
    run: Run::Cases(|scope| {
        let extract = &scope.contract.extract;
        let min = *extract.num_range.start();
        let few = (min + 2).min(*extract.num_range.end());
        let of_context = |context: Context| {
            [(min, false), (min, true), (few, false), (few, true)]
                .map(|(num, is_empty)| (context.clone(), num, is_empty))
        };
        let case = |data: (Context, i64, bool)| {
            let what = if data.2 { "empty" } else { "absent" };
            let label = format!("{}/num={} {what}", data.0.label(), data.1);
            let (shared, control) = (data.0.clone(), control_label(data.1));
            let gateways = u32::try_from(data.1).unwrap_or(u32::MAX);
            let case = Case::for_data(label, Cost::requests(1), data, required);
            shared.share_with(case, &control, gateways)
        };
        // The budget counts too many entries in this text, since addresses and ports have zeros too.
        let zero = Case::new("text/zero", Cost::extraction(1, 20), zero);
        Context::in_text(extract).into_iter().flat_map(of_context).map(case).chain([zero]).collect()
    }),
    ..EXTRACT
};

/// `0` is not empty, although some languages treat it as false.
async fn zero(probe: &Probe<'_>) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let min = *extract.num_range.start();
    let request = custom(extract, &Context::TEXT.request(probe), min).query(&extract.sb.name, 0);
    let why = format!("{}=0, which is not empty", extract.sb.name);
    let control = control(probe, &Context::TEXT, min);
    probe.accepts_or_control(Clause::ExtractSbRequired, &why, &request, control).await?;
    Ok(())
}

async fn required(probe: &Probe<'_>, (context, num, is_empty): (Context, i64, bool)) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let sb = &extract.sb.name;
    control(probe, &context, num).await?;
    let absent = custom(extract, &context.request(probe), num);
    let (what, invalid) = if is_empty { ("empty", absent.query(sb, "")) } else { ("absent", absent) };
    let why = format!("{sb} is {what}, {}={num}, {}", extract.num.name, context.name());
    rejects(probe, Clause::ExtractSbRequired, &why, &invalid).await
}

/// Shows once in a run that a custom separator is accepted.
async fn control(probe: &Probe<'_>, context: &Context, num: i64) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    context.control_with(probe, &control_label(num), |request| separated(extract, request, num)).await
}

/// A case for a request with a custom separator that must be rejected for something else.
pub(super) fn invalid_beside_custom(
    extract: &Extract,
    what: impl Display,
    clause: Clause,
    why: String,
    change: impl Fn(Request) -> Request + Clone + Send + Sync + 'static,
) -> Case {
    let label = format!("{}/{what}", Context::TEXT.label());
    let case = Case::from_closure(label, Cost::requests(1), move |probe| {
        let (why, change) = (why.clone(), change.clone());
        Box::pin(async move {
            let extract = &probe.contract().extract;
            let min = *extract.num_range.start();
            control(probe, &Context::TEXT, min).await?;
            let good = separated(extract, &Context::TEXT.request(probe), min);
            rejects(probe, clause, &why, &change(good)).await
        })
    });
    Context::TEXT.share_with(case, &control_label(*extract.num_range.start()), 1)
}

fn control_label(num: i64) -> String {
    format!("{CONTROL}, num={num}")
}

/// The text extraction with a custom separator.
pub(super) fn separated(extract: &Extract, request: &Request, num: i64) -> Request {
    custom(extract, request, num).query(&extract.sb.name, SEPARATOR)
}

fn custom(extract: &Extract, request: &Request, num: i64) -> Request {
    request.clone().query(&extract.num.name, num).query(&extract.lb.name, &extract.custom_separator)
}

pub(super) static LENGTH: Check = Check {
    id: "extract.sb-length.boundaries",
    title: "the limit of `sb` counts bytes of UTF-8",
    why: "A limit in characters accepts longer separators than the contract allows, and a limit in percent-encoded \
          characters rejects valid ones.",
    clauses: &[Clause::ExtractSbLength, Clause::ExtractSeparator],
    run: Run::Cases(|scope| {
        let extract = &scope.contract.extract;
        let case = |data: (Context, Length)| {
            let label = format!("{}/{}", data.0.label(), data.1.what);
            // Two entries, and another extraction in case the entries contain the separator themselves.
            let cost = if data.1.is_valid { Cost::extraction(1, 3) } else { Cost::requests(1) };
            let min = *extract.num_range.start();
            let shared = data.0.clone();
            let is_valid = data.1.is_valid;
            let case = Case::for_data(label, cost, data, length);
            if is_valid { case } else { shared.share_with(case, &control_label(min), 1) }
        };
        let contexts = Context::in_text(extract);
        Context::some_for_each(&contexts, lengths(extract.separator_bytes)).into_iter().map(case).collect()
    }),
    ..EXTRACT
};

#[derive(Debug, Clone)]
struct Length {
    what: String,
    text: String,
    is_valid: bool,
}

/// A text of this many bytes: one character repeated, and hyphens for the rest.
pub(super) fn of_bytes(character: char, bytes: usize) -> String {
    let mut text = character.to_string().repeat(bytes / character.len_utf8());
    text.push_str(&"-".repeat(bytes % character.len_utf8()));
    text
}

/// Texts of the maximum length in bytes and of one byte more, in characters of one to four bytes, and longer ones.
fn lengths(max: usize) -> Vec<Length> {
    let alphabets = [
        ('-', "one byte each"),
        ('%', "percent signs"),
        ('&', "ampersands"),
        ('\u{e9}', "two bytes each"),
        ('\u{20ac}', "three bytes each"),
        ('\u{1f6aa}', "four bytes each"),
    ];
    let around = |(character, name): (char, &str)| {
        [max, max + 1].map(|bytes| Length {
            what: format!("{bytes} bytes, {name}"),
            text: of_bytes(character, bytes),
            is_valid: bytes <= max,
        })
    };
    let wide = Length {
        what: format!("{max} characters of three bytes"),
        text: "\u{20ac}".repeat(max),
        is_valid: false,
    };
    let far = [2 * max, 1 << 8, 1 << 10].map(|bytes| Length {
        what: format!("{bytes} bytes"),
        text: of_bytes('-', bytes),
        is_valid: false,
    });
    alphabets.into_iter().flat_map(around).chain([wide]).chain(far).collect()
}

async fn length(probe: &Probe<'_>, (context, length): (Context, Length)) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let min = *extract.num_range.start();
    let num = if length.is_valid { (min + 1).min(*extract.num_range.end()) } else { min };
    let request = custom(extract, &context.request(probe), num).query(&extract.sb.name, &length.text);
    let why = format!("{} of {}, {}", extract.sb.name, length.what, context.name());
    let control = control(probe, &context, min);
    if length.is_valid {
        let accepted = probe.accepts_or_control(Clause::ExtractSbLength, &why, &request, control).await?;
        return match accepted {
            Some(accepted) => judge_separator(probe, &accepted, &length.text).await,
            None => Ok(()),
        };
    }
    control.await?;
    rejects(probe, Clause::ExtractSbLength, &why, &request).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::Contract;

    #[test]
    fn lengths_are_counted_in_bytes() {
        let max = Contract::embedded().expect("contract").extract.separator_bytes;
        for length in lengths(max) {
            assert_eq!(length.text.len() <= max, length.is_valid, "{}", length.what);
        }
    }
}
