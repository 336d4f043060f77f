//! The report of a client test as one page for a browser.

use minijinja::value::Serde;
use minijinja::{Value, context};

use super::ClientReport;
use crate::client::Duty;
use crate::client::result::{CaseOutcome, ClientCaseResult};
use crate::report::html_environment;
use crate::run::Verdict;

/// No other file, no network, no script.
pub(super) fn page(report: &ClientReport) -> Result<String, minijinja::Error> {
    let mut environment = html_environment();
    environment.add_template("client.html", include_str!("client.html"))?;
    let duties: Vec<Value> = Duty::ALL.into_iter().filter_map(|duty| duty_view(report, duty)).collect();
    environment.get_template("client.html")?.render(context! {
        style => Value::from_safe_string(include_str!("../../report/html/style.css").to_owned()),
        report => Value::from(Serde(report)),
        tone => tone_of(report.verdict),
        verdict => report.verdict_words(),
        seconds => format!("{:.2}", report.elapsed_ms as f64 / 1000.0),
        duties => duties,
    })
}

fn duty_view(report: &ClientReport, duty: Duty) -> Option<Value> {
    let of_duty = report.cases.iter().filter(|case| case.duty == duty);
    let (tones, cases): (Vec<&str>, Vec<Value>) = of_duty.map(case_view).unzip();
    // The weightiest outcome of its cases.
    let tone = ["failed", "error", "warning", "passed"].into_iter().find(|tone| tones.contains(tone));
    (!cases.is_empty()).then(|| {
        context! {
            id => duty.id(),
            section => duty.section(),
            text => duty.text(),
            why => duty.why(),
            inferred_from => duty.inferred_from(),
            tone => tone.unwrap_or("skipped"),
            cases => cases,
        }
    })
}

/// The tone of a case, and the case for the page.
fn case_view(case: &ClientCaseResult) -> (&'static str, Value) {
    let (tone, reason) = match &case.outcome {
        CaseOutcome::Passed if case.gave_up => ("passed", Some("by giving up")),
        CaseOutcome::Passed => ("passed", None),
        CaseOutcome::Failed => ("failed", None),
        CaseOutcome::Warning => ("warning", None),
        CaseOutcome::Skipped(reason) => ("skipped", Some(reason.as_str())),
        CaseOutcome::Error(reason) => ("error", Some(reason.as_str())),
    };
    let input = serde_json::to_string(&case.input).unwrap_or_default();
    (tone, context! { case => Value::from(Serde(case)), tone => tone, reason => reason, input => input })
}

fn tone_of(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Conforms => "passed",
        Verdict::Incomplete => "inconclusive",
        _ => "failed",
    }
}
