use super::count;
use crate::check::{Check, Complaint, Cost, Judgement, Run, Severity, Sighting};
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "extract.partial.watched",
    title: "no answer falls short of num without saying so, and none exceeds it",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractCount, Clause::ExtractPartial],
    needs: &[],
    cost: Cost::requests(0),
    run: Run::Watch(watch),
};

/// A request id may stand for an earlier extraction with another num, so such calls are left to checks of their own.
fn watch(sighting: &Sighting<'_>) -> Option<Vec<Complaint>> {
    let extract = &sighting.contract.extract;
    let header = &extract.request_id_header.name;
    let has_id = sighting.request.query_value(&extract.request_id.name).is_some()
        || sighting.request.headers().iter().any(|(name, _)| name.eq_ignore_ascii_case(header));
    if has_id || *sighting.judgement != Judgement::Accepted {
        return None;
    }
    // What is to be refused is judged by the check that sends it.
    let asked: i64 = sighting.request.query_value(&extract.num.name)?.parse().ok()?;
    let asked = Some(asked).filter(|asked| extract.num_range.contains(asked))?;
    let came = i64::try_from(sighting.answer.at("/data")?.as_array()?.len()).ok()?;
    let complaint = |clause: Clause, key: &str, expected: String, actual: String| Complaint {
        clause: clause.to_owned(),
        key: key.to_owned(),
        severity: Severity::Fail,
        expected,
        actual,
    };
    let mut complaints = Vec::new();
    if came > asked {
        let expected = format!("at most {asked} entries");
        complaints.push(complaint(Clause::ExtractCount, "more", expected, format!("{came} entries")));
    }
    if came < asked {
        for (name, expected) in [(&extract.requested_count, asked), (&extract.returned_count, came)] {
            let actual = sighting.answer.header(name);
            if actual.as_deref().and_then(|count| count.parse().ok()) != Some(expected) {
                let actual = actual.unwrap_or_else(|| "no such header".to_owned());
                let expected = format!("{name}: {expected}, as {came} of {asked} entries came");
                complaints.push(complaint(Clause::ExtractPartial, name, expected, actual));
            }
        }
        let name = &extract.partial_flag;
        let expected = format!("{name}, as {came} of {asked} entries came");
        match sighting.answer.header(name) {
            None => complaints.push(complaint(
                Clause::ExtractPartial,
                name,
                expected,
                "no such header".to_owned(),
            )),
            // How the flag is spelt is open; the scarce region, where a partial result is sure, has a check of its own.
            Some(flag) if count::denies(&flag) => complaints.push(Complaint {
                severity: Severity::Warn,
                ..complaint(Clause::ExtractPartial, "denied", expected, format!("{name}: {flag}"))
            }),
            Some(_) => {}
        }
    }
    Some(complaints)
}
