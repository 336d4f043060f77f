use super::count;
use crate::check::{Check, Observed, PassiveFinding, ResponseClass, Run, Severity};
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "extract.partial.watched",
    title: "no answer falls short of num without saying so, and none exceeds it",
    why: "",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractCount, Clause::ExtractPartial],
    needs: &[],
    run: Run::Passive(judge),
};

/// A request id may stand for an earlier extraction with another num, so such calls are left to checks of their own.
fn judge(observed: &Observed<'_>) -> Option<Vec<PassiveFinding>> {
    let extract = &observed.contract.extract;
    let header = &extract.request_id_header.name;
    let has_id = observed.request.query_value(&extract.request_id.name).is_some()
        || observed.request.headers().iter().any(|(name, _)| name.eq_ignore_ascii_case(header));
    if has_id || *observed.class != ResponseClass::Accepted {
        return None;
    }
    // What is to be refused is judged by the check that sends it.
    let asked: i64 = observed.request.query_value(&extract.num.name)?.parse().ok()?;
    let asked = Some(asked).filter(|asked| extract.num_range.contains(asked))?;
    let came = i64::try_from(observed.answer.at("/data")?.as_array()?.len()).ok()?;
    let finding = |clause: Clause, key: &str, expected: String, actual: String| PassiveFinding {
        clause: clause.to_owned(),
        key: key.to_owned(),
        severity: Severity::Fail,
        expected,
        actual,
    };
    let mut findings = Vec::new();
    if came > asked {
        let expected = format!("at most {asked} entries");
        findings.push(finding(Clause::ExtractCount, "more", expected, format!("{came} entries")));
    }
    if came < asked {
        for (name, expected) in [(&extract.requested_count, asked), (&extract.returned_count, came)] {
            let actual = observed.answer.header(name);
            if actual.as_deref().and_then(|count| count.parse().ok()) != Some(expected) {
                let actual = actual.unwrap_or_else(|| "no such header".to_owned());
                let expected = format!("{name}: {expected}, as {came} of {asked} entries came");
                findings.push(finding(Clause::ExtractPartial, name, expected, actual));
            }
        }
        let name = &extract.partial_flag;
        let expected = format!("{name}, as {came} of {asked} entries came");
        match observed.answer.header(name) {
            None => {
                findings.push(finding(Clause::ExtractPartial, name, expected, "no such header".to_owned()))
            }
            // How the flag is spelt is open; the scarce region, where a partial result is sure, has a check of its own.
            Some(flag) if count::denies(&flag) => findings.push(PassiveFinding {
                severity: Severity::Warn,
                ..finding(Clause::ExtractPartial, "denied", expected, format!("{name}: {flag}"))
            }),
            Some(_) => {}
        }
    }
    Some(findings)
}
