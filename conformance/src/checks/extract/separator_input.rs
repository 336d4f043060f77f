//! `lb` and `sb` as input: listed values, and the custom separator and its length.

use super::*;

pub(super) static PROGRAMS: &[Program] = &[
    active("extract.separator-range.boundaries", range),
    active("extract.sb-required.absent", |scope| {
        let extract = &scope.contract.extract;
        let min = *extract.num_range.start();
        let few = (min + 2).min(*extract.num_range.end());
        let row = |num: i64, what: &str, edit: Edit| {
            let why = format!("{SB} is {what}, {NUM}={num}");
            reject(format!("num={num} {what}"), why, [edit]).separated(num)
        };
        let rows = [min, few].map(|num| [row(num, "absent", Drop(SB)), row(num, "empty", set(SB, ""))]);
        // `0` is not empty, although some languages treat it as false. The budget counts too many entries in this text, since
        // addresses and ports have zeros too.
        let zero = accept("zero", format!("{SB}=0, which is not empty"), [set(SB, "0")]);
        let zero = zero.separated(min).giving(20, Unless::Finding, &[]).in_form(Extraction::TEXT);
        let rows = each(&Extraction::in_text(extract), rows.into_iter().flatten());
        cases(ExtractSbRequired, rows.into_iter().chain([zero]))
    }),
    active("extract.sb-length.boundaries", |scope| {
        let extract = &scope.contract.extract;
        let min = *extract.num_range.start();
        let two = (min + 1).min(*extract.num_range.end()).to_string();
        let row = |(what, text): (String, String)| {
            let why = format!("{SB} of {what}");
            let row = match text.len() <= extract.separator_bytes {
                // Two entries, of which the budget may count one more.
                true => accept(what, why, [set(NUM, &two), set(SB, text)]).giving(
                    3,
                    Unless::Finding,
                    &[Judge::Separator],
                ),
                false => reject(what, why, [set(SB, text)]),
            };
            row.separated(min)
        };
        let rows = lengths(extract.separator_bytes).into_iter().map(row);
        cases(ExtractSbLength, in_three(&Extraction::in_text(extract), rows))
    }),
];

/// `lb` applies to text responses only, whether or not `sb` is present.
fn range(scope: &Scope<'_>) -> Vec<Case> {
    let extract = &scope.contract.extract;
    let range = extract.range(LB);
    let mut values = integer_texts(&range);
    let derived =
        boundaries(&extract.lb.schema).into_iter().filter(|value| !value.allowed).map(|value| value.text());
    // A service that reads only one digit takes these for listed values.
    let longer = extract.lb.schema.values.iter().filter_map(|code| code.as_str()).flat_map(|code| {
        let doubled = code.repeat(2);
        [format!("{code}0"), format!("1{code}"), doubled]
    });
    for value in derived.chain(longer).chain(NAMES.map(str::to_owned)) {
        let is_listed = value.parse().is_ok_and(|number: i64| range.contains(&number));
        if !is_listed && values.iter().all(|known| known.text != value) {
            values.push(Spelling::malformed(value, "not a listed value"));
        }
    }
    let forms = Extraction::in_text(extract);
    // Every fourth value; all of them are tested without `sb`.
    let beside_sb = values.iter().step_by(4).map(|Spelling { text, name, reason, .. }| {
        let why = format!("{LB}={text:?} beside {SB}, {reason}");
        reject(format!("{LB}={name} with {SB}"), why, [set(LB, text), set(SB, SEPARATOR)])
    });
    let beside_sb = each(&forms[..1], beside_sb);
    // The neighbours of the range are tested in every form.
    let near = [Min(-1), Max(1)].map(|value| value.text(scope.contract, scope.facts, LB));
    let (near, far): (Vec<_>, Vec<_>) = values.into_iter().partition(|value| near.contains(&value.text));
    let near = forms.iter().flat_map(|form| each(std::slice::from_ref(form), row::values(LB, near.clone())));
    let far = forms.iter().cycle().zip(row::values(LB, far)).map(|(form, row)| row.in_form(form.clone()));
    let code = &extract.custom_separator;
    let listed = accept(
        format!("{LB}={code}"),
        format!("{LB}={code} is in the list"),
        [set(LB, code), set(SB, SEPARATOR)],
    );
    let rows = near.chain(far).chain(beside_sb).chain(each(&forms, [listed]));
    cases(ExtractSeparatorRange, rows)
}

/// Names and values of separators in other APIs.
const NAMES: [&str; 8] = ["LF", "crlf", "\\n", "abc", "default", "99", ";", "|"];

/// Texts of the maximum length in bytes and of one byte more, in characters of one to four bytes, and longer ones, each described.
fn lengths(max: usize) -> Vec<(String, String)> {
    let alphabets = [
        ('-', "one byte each"),
        ('%', "percent signs"),
        ('&', "ampersands"),
        ('\u{e9}', "two bytes each"),
        ('\u{20ac}', "three bytes each"),
        ('\u{1f6aa}', "four bytes each"),
    ];
    let around = |(character, name): (char, &str)| {
        [max, max + 1].map(|bytes| (format!("{bytes} bytes, {name}"), of_bytes(character, bytes)))
    };
    let wide = (format!("{max} characters of three bytes"), "\u{20ac}".repeat(max));
    let far = [2 * max, 1 << 8, 1 << 10].map(|bytes| (format!("{bytes} bytes"), of_bytes('-', bytes)));
    alphabets.into_iter().flat_map(around).chain([wide]).chain(far).collect()
}
