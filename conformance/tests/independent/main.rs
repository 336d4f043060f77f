//! An instrument that measures the suite from outside: a server of the API that was written from the contract's prose
//! alone, many faults and variations of it, and a trial for each. `missed.txt` lists the faults that the suite is known
//! to miss; it may only shrink.
//!
//! `cargo test` runs the servers of [`DAILY`]. The others and the faults take a thousand runs of the suite: add
//! `-- --include-ignored`.
//!
//! `cargo test --workspace --test independent -- --measure [full|production|token|production-token] [--write] [N] [TEXT]`
//! prints the tables instead, of one in N faults and variations with that text in the id, `-- --serve [ID]` serves one fault or
//! variation until standard input ends, and `-- --record` writes which case notices which fault to
//! `src/detection/generated/independent.jsonl`.

#![expect(
    clippy::expect_used,
    reason = "the harness of a test fails by panicking, and says what it expected"
)]
#![expect(
    clippy::if_same_then_else,
    clippy::nonminimal_bool,
    reason = "each fault stands beside the rule that it breaks, one condition a fault"
)]
#![expect(clippy::print_stdout, reason = "the measuring mode prints tables")]

mod driver;
mod faults;
mod measure;
mod record;
mod serve;
mod server;
mod variations;

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};
use sallyport_conformance::Verdict;

use driver::{EndOfRun, Mode};
use measure::{MISSED, describe};

/// A server as it is, and two that decide everything otherwise at once.
const DAILY: [&str; 3] = ["conforming", "strict", "lenient"];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some(at) = arguments.iter().position(|argument| argument == "--measure") {
        let mut mode = Mode::Full;
        let mut sample = measure::Sample { text: String::new(), each: NonZeroUsize::MIN };
        for argument in &arguments[at + 1..] {
            match (Mode::ALL.iter().find(|(name, _)| name == argument), argument.parse()) {
                (Some((_, named)), _) => mode = *named,
                (None, Ok(each)) => sample.each = each,
                (None, Err(_)) if argument == "--write" => {}
                (None, Err(_)) => sample.text.clone_from(argument),
            }
        }
        measure::measure(mode, &sample, arguments.iter().any(|argument| argument == "--write"));
        return ExitCode::SUCCESS;
    }
    if let Some(at) = arguments.iter().position(|argument| argument == "--serve") {
        serve::serve(arguments.get(at + 1).map_or("", String::as_str));
        return ExitCode::SUCCESS;
    }
    if arguments.iter().any(|argument| argument == "--record") {
        record::record();
        return ExitCode::SUCCESS;
    }
    let missed: BTreeSet<String> =
        std::fs::read_to_string(MISSED).unwrap_or_default().lines().map(str::to_owned).collect();
    let mut trials = vec![
        Trial::test("every fault has a place in the server", every_fault_has_a_place),
        Trial::test("the list of missed faults is sorted and known", {
            let missed = missed.clone();
            move || list_is_sound(&missed)
        }),
    ];
    for variation in variations::ALL {
        let trial = Trial::test(format!("variation::{}", variation.id), || {
            let measured = driver::run("", variation.decisions(), Mode::Full, &["*"], EndOfRun::End);
            match measured.verdict {
                Verdict::Conforms => Ok(()),
                other => Err(Failed::from(format!("{}: {other:?}\n{}", variation.text, describe(&measured)))),
            }
        });
        trials.push(trial.with_ignored_flag(!DAILY.contains(&variation.id)));
    }
    for fault in faults::ALL.iter() {
        let known = missed.contains(fault.id);
        let trial = Trial::test(format!("fault::{}", fault.id), move || {
            let measured = driver::run_fault(fault, Mode::Full);
            match (measured.is_caught(fault), known) {
                (true, false) | (false, true) => Ok(()),
                (true, true) => {
                    Err(Failed::from(format!("is caught: remove `{}` from missed.txt", fault.id)))
                }
                (false, false) => {
                    Err(Failed::from(format!("{} ({}): {:?}", fault.text, fault.clause, measured.verdict)))
                }
            }
        });
        trials.push(trial.with_ignored_flag(true));
    }
    let arguments = Arguments::from_args();
    if arguments.filter.is_none() && !arguments.ignored && !arguments.include_ignored {
        // A thousand lines of what does not run.
        trials.retain(|trial| !trial.has_ignored_flag());
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// A fault whose rule no source of the server asks for would be a fault in name only.
fn every_fault_has_a_place() -> Result<(), Failed> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/independent/server");
    let mut source = String::new();
    for entry in std::fs::read_dir(folder).map_err(|error| error.to_string())? {
        let path = entry.map_err(|error| error.to_string())?.path();
        source += &std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    }
    let quoted = |text: &str| source.contains(&format!("\"{text}\""));
    let lost: Vec<&str> = faults::ALL
        .iter()
        .filter(|fault| {
            let (rule, tag) =
                fault.id.split_once('@').map_or((fault.id, None), |(rule, tag)| (rule, Some(tag)));
            // A rule may be put together from two or three parts.
            let ends = rule.match_indices('-').map(|(at, _)| &rule[at + 1..]);
            let has_rule = quoted(rule) || ends.into_iter().any(quoted);
            !has_rule || tag.is_some_and(|tag| !quoted(tag))
        })
        .map(|fault| fault.id)
        .collect();
    if lost.is_empty() { Ok(()) } else { Err(Failed::from(lost.join(", "))) }
}

fn list_is_sound(missed: &BTreeSet<String>) -> Result<(), Failed> {
    let ids: BTreeSet<&str> = faults::ALL.iter().map(|fault| fault.id).collect();
    if ids.len() != faults::ALL.len() {
        return Err(Failed::from("two faults have the same id"));
    }
    let unknown: Vec<&str> = missed.iter().map(String::as_str).filter(|id| !ids.contains(id)).collect();
    if unknown.is_empty() {
        Ok(())
    } else {
        Err(Failed::from(format!("unknown faults: {}", unknown.join(", "))))
    }
}
