//! The file of accepted changes.

use super::*;

fn narrowed() -> Diff {
    diff(&contract(), &edited("minimum: 1, maximum: «100→50» }"))
}

fn entries(text: &str) -> Vec<accepted::AcceptedChange> {
    accepted::read(text).unwrap()
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
fn an_invalid_entry_is_an_error_with_its_line() {
    for (entry, message) in [
        ("fingerprint: a, reason: b, expires: soon", "soon"),
        ("fingerprint: a, expires: 2027-01-01", "missing field `reason`"),
        ("fingerprint: a, reason: b, expires: 2027-01-01, why: c", "unknown field `why`"),
    ] {
        let text = format!("- {{ fingerprint: a, reason: b, expires: 2027-01-01 }}\n- {{ {entry} }}\n");
        let error = accepted::read(&text).unwrap_err();
        assert!(error.contains(message) && error.contains("line 2"), "{error}");
    }
    assert!(accepted::read("7").is_err() && entries("# Nothing yet.\n").is_empty());
}
