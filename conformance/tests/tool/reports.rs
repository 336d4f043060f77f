//! The reports of one small run that never changes, and what holds for the reports of any run.

use std::io::Write as _;

use sallyport_conformance::check::Outcome;
use sallyport_conformance::contract::Clause;
use sallyport_conformance::report::{self, Detail, Format, Screen};
use sallyport_conformance::run::{CaseResult, Diagnosis, ExpectedFailure, FindingReference, Glob};
use sallyport_conformance::{
    Budget, Contract, Facts, Options, Report, Secret, Selection, SilentObserver, Suite, Target, Verdict,
};

use super::formats;
use super::program::text;
use super::rules::RuledServer;
use crate::support::steady::steady;

/// Groups in the wrong order, with a name that wants to be markup.
const GROUPS: &str = r#"-> 200 {"code":200,"message":"ok","requestId":"r","data":{"items":[{"groupId":2,"name":"</pre><script>alert(1)</script> \x7c `x`\u0001","createdAt":"2026-01-01T00:00:00Z","updatedAt":"2026-01-01T00:00:00Z"},{"groupId":1,"name":"</pre><script>alert(1)</script> \x7c `x`\u0001","createdAt":"2026-01-01T00:00:00Z","updatedAt":"2026-01-01T00:00:00Z"}]}}"#;

async fn fixed_run(change: impl FnOnce(&mut Options)) -> Report {
    let server = RuledServer::start(GROUPS);
    let contract = Contract::embedded().expect("contract");
    let target =
        Target::new(&server.url(), Secret::new("API_KEY", "token-of-a-test"), Facts::default(), false);
    let target = target.expect("a target");
    let only = ["groups.envelope.success", "groups.order.ascending", "groups.empty.account"].map(Glob::new);
    let mut options = Options {
        selection: Selection { only: only.into(), skip: Vec::new() },
        budget: Budget { concurrency: 1, ..Budget::default() },
        ..Options::default()
    };
    change(&mut options);
    let mut report = Suite::new(contract, &target, options).expect("a suite").run(&SilentObserver).await;
    steady(&mut report);
    report
}

fn expected(clause: Clause) -> ExpectedFailure {
    let until = "9999-01-01".parse().expect("a date");
    ExpectedFailure { clause, reason: "ticket 7".to_owned(), until }
}

#[tokio::test]
async fn the_written_reports_of_a_fixed_run() {
    let report = fixed_run(|options| options.keep_exchanges = true).await;
    assert_eq!(report.verdict, Verdict::Findings);
    let version = format!("\"{}\"", env!("CARGO_PKG_VERSION"));
    for (name, format) in [
        ("markdown", Format::Markdown),
        ("junit", Format::Junit),
        ("sarif", Format::Sarif),
        ("github", Format::Github),
        ("prometheus", Format::Prometheus),
        ("har", Format::Har),
        ("json", Format::Json),
    ] {
        let text = format.render(&report).expect("rendered");
        insta::assert_snapshot!(name, text.replace(&version, "\"0.0.0\""));
    }
    let narrow = Screen { width: Some(60), detail: Detail::Verbose, ..Screen::PLAIN };
    let lines: String = report.checks.iter().map(|check| report::check_text(check, &narrow)).collect();
    let text = lines + &report::failures(&report, &narrow) + &report::summary(&report, &narrow);
    insta::assert_snapshot!("terminal", text);
}

/// A batch of hundreds of addresses can be pasted from every format that has commands. A screen names one that does.
#[tokio::test]
async fn commands_are_whole_in_every_format() {
    const ITEMS: usize = 500;
    let mut report = fixed_run(|_| {}).await;
    let body = format!("{{\"ips\":[{}\"192.0.2.1\"]}}", "\"192.0.2.1\",".repeat(ITEMS - 1));
    let exchanges = report.checks.iter_mut().flat_map(|check| &mut check.exchanges);
    exchanges.for_each(|exchange| exchange.request_body = Some(body.clone()));
    let cited = report.checks.iter().flat_map(|check| &check.findings).map(|finding| finding.exchanges.len());
    let addresses = ITEMS * cited.sum::<usize>();
    assert!(addresses > ITEMS);
    let written = [Format::Markdown, Format::Junit, Format::Sarif, Format::Html];
    let written = written.map(|format| format.render(&report).expect("rendered"));
    let verbose = Screen { detail: Detail::Verbose, ..Screen::PLAIN };
    let screen = report::failures(&report, &verbose);
    for text in written.iter().chain([&screen]) {
        assert!(text.matches("192.0.2.1").count() >= addresses, "{text}");
        assert!(text.contains("--data-raw"), "{text}");
    }
    let screen = report::failures(&report, &Screen::PLAIN);
    assert!(
        !screen.contains("192.0.2.1") && screen.contains("then conformance evidence report.json"),
        "{screen}"
    );
}

#[tokio::test]
async fn reports_fit_the_schemas_of_their_readers() {
    let fixed = fixed_run(|options| options.keep_exchanges = true).await;
    let accepted = fixed_run(|options| options.expected = vec![expected(Clause::GroupsOrder)]).await;
    let ended = fixed_run(|options| options.budget.requests = 1).await;
    let mut reports = vec![fixed.clone(), accepted, ended];
    let reason = || "for a reason".to_owned();
    for outcome in [
        Outcome::Warning,
        Outcome::Flaky(reason()),
        Outcome::Inconclusive(reason()),
        Outcome::Error(reason()),
        Outcome::Skipped(reason()),
    ] {
        let mut report = fixed.clone();
        report.unmet = vec![reason()];
        for check in &mut report.checks {
            check.outcome = outcome.clone();
            // Checked in part.
            if let Some(case) = check.cases.first().cloned() {
                let skipped = CaseResult { outcome: Outcome::Skipped(reason()), ..case.clone() };
                check.cases = vec![skipped, CaseResult { outcome: Outcome::Passed, ..case }];
            }
        }
        reports.push(report);
    }
    for report in reports {
        let render = |format: Format| format.render(&report).expect("rendered");
        let junit = render(Format::Junit);
        assert_eq!(formats::wrong_junit(&junit), None, "{junit}");
        quick_junit::Report::deserialize_from_str(&junit).expect("what another reader reads");
        assert_eq!(formats::wrong_sarif(&render(Format::Sarif)), None);
        assert_eq!(formats::wrong_har(&render(Format::Har)), None);
    }
    for wrong in [
        "<testsuites skipped=\"1\"></testsuites>",
        "<testsuites><testsuite name=\"a\" tests=\"1\" failures=\"0\"></testsuite></testsuites>",
        "<testsuites><property/></testsuites>",
        "<testsuites>",
    ] {
        assert!(formats::wrong_junit(wrong).is_some(), "{wrong}");
    }
    for wrong in ["{}", "[]", r#"{"version": "2.1.0", "runs": [{}]}"#, r#"{"log": {"version": "1.2"}}"#] {
        assert!(formats::wrong_sarif(wrong).is_some() && formats::wrong_har(wrong).is_some(), "{wrong}");
    }
}

/// The comment of a pull request holds 65,536 characters.
#[tokio::test]
async fn a_comment_ends_before_a_whole_finding_and_counts_the_others() {
    let mut report = fixed_run(|_| {}).await;
    let short = Format::Comment.render(&report).expect("a comment");
    assert_eq!(short, Format::Markdown.render(&report).expect("Markdown"));
    let failed = report.checks.iter_mut().find(|check| !check.findings.is_empty()).expect("a finding");
    failed.findings = vec![failed.findings[0].clone(); 300];
    // With a likely cause, further findings stand in a `<details>` element.
    let findings = (0..300).map(|finding| FindingReference { check: failed.id, finding }).collect();
    let mut folded = report.clone();
    folded.diagnosis = vec![Diagnosis { faults: Vec::new(), alike: 2, cases: 1, findings }];
    for report in [&report, &folded] {
        let comment = Format::Comment.render(report).expect("a comment");
        assert!((60_000..=65_000).contains(&comment.len()), "{}", comment.len());
        assert_eq!(comment.matches("```").count() % 2, 0, "a command is cut");
        assert_eq!(comment.matches("<details>").count(), comment.matches("</details>").count(), "{comment}");
        let shown = comment.matches("- expected: ").count();
        let said = format!("**{} findings are left out, because the text would be too long.**", 300 - shown);
        assert!(shown > 20 && comment.contains(&said), "{said}");
        assert!(
            comment.ends_with("The reports in other formats have everything.\n"),
            "{}",
            &comment[60_000..]
        );
    }
    // What is not a finding may be long by itself.
    report.unmet = vec!["for a reason".repeat(100); 100];
    let comment = Format::Comment.render(&report).expect("a comment");
    let end = "\n\n**300 findings are left out, because the text would be too long.**";
    assert!((60_000..=65_000).contains(&comment.len()) && comment.contains(end), "{comment}");
}

/// The example of alert rules, by Prometheus itself.
#[test]
fn alert_rules_fire_when_they_should() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/prometheus");
    let promtool = std::env::var_os("PROMTOOL").unwrap_or_else(|| "promtool".into());
    for arguments in [["check", "rules", "alerts.yml"], ["test", "rules", "alerts.test.yml"]] {
        let ended = std::process::Command::new(&promtool).args(arguments).current_dir(folder).output();
        match ended {
            Ok(output) => assert!(output.status.success(), "{}", text(&output)),
            Err(_) => {
                // Past the test harness, which shows what is printed only for tests that fail.
                let _ = writeln!(
                    std::io::stderr(),
                    "SKIPPED alert rules: no promtool; install Debian's package prometheus, or name the program in PROMTOOL"
                );
                return;
            }
        }
    }
    // Each metric of the rules is one that is written.
    let rules = std::fs::read_to_string(format!("{folder}/alerts.yml")).expect("the rules");
    let sources = include_str!("../../src/report/templates/metrics.prom");
    for word in rules.split(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
        if let Some(name) = word.strip_prefix("sallyport_conformance_") {
            assert!(sources.contains(&format!("\"{name}\"")), "unknown metric `{name}`");
        }
    }
}
