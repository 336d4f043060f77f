//! The file of accepted changes.

use super::*;

fn narrowed() -> Diff {
    diff(&contract(), &edited("minimum: 1, maximum: «100→50» }"))
}

fn entries(text: &str) -> Vec<accepted::AcceptedChange> {
    accepted::read(&Document::parse(text).unwrap()).unwrap()
}

#[test]
fn an_accepted_change_is_ignored_until_the_acceptance_expires() {
    let fingerprint = narrowed().changes[0].fingerprint();
    for (expires, worst) in [("2026-06-01", None), ("2026-05-31", Some(Verdict::Breaking))] {
        let mut diff = narrowed();
        let text = format!("- {{ fingerprint: \"{fingerprint}\", reason: agreed, expires: {expires} }}\n");
        let notes = accepted::apply(&mut diff, &entries(&text), TODAY);
        assert_eq!(diff.worst(), worst);
        assert_eq!(notes.is_empty(), worst.is_none(), "{notes:?}");
    }
}

#[test]
fn an_entry_without_a_change_is_reported() {
    let text = "- { fingerprint: 00ff00ff00ff, reason: agreed, expires: 2027-01-01 }\n";
    let notes = accepted::apply(&mut narrowed(), &entries(text), TODAY);
    assert!(
        notes[0].to_string().contains("line 1: no change has the fingerprint `00ff00ff00ff`"),
        "{notes:?}"
    );
}

#[test]
fn every_problem_of_the_file_is_reported_with_its_line() {
    let text =
        "- { fingerprint: a, reason: b, expires: soon }\n- { fingerprint: a, expires: 2027-01-01, why: c }\n";
    let problems = accepted::read(&Document::parse(text).unwrap()).unwrap_err();
    let [one, other] = problems.as_slice() else { panic!("{problems:?}") };
    assert!(one.message.starts_with("invalid entry: ") && one.place.unwrap().line == 1, "{one}");
    assert!(other.message.contains("unknown field `why`") && other.place.unwrap().line == 2, "{other}");
}
