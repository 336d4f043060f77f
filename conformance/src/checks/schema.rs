//! Holds successful JSON answers against the document's response schemas, headers included.

use crate::check::{Complaint, Form, Judgement, Severity, Sighting};
use crate::contract::{Clause, OperationId};

/// Every constraint of the document that a successful answer breaks; none for other answers.
///
/// An answer that is half a success is taken too: its envelope breaks the schema or the status.
pub(super) fn watch(sighting: &Sighting<'_>) -> Option<Vec<Complaint>> {
    let operation = sighting.contract.operation(sighting.operation);
    let successful = matches!(sighting.judgement, Judgement::Accepted | Judgement::Muddled(_));
    if !successful || sighting.form != Form::Json {
        return None;
    }
    let body = sighting.answer.json()?;
    let violations = operation.success.violations(body, |name| sighting.answer.header_values(name));
    let mut complaints: Vec<_> = violations
        .into_iter()
        .map(|violation| Complaint {
            clause: violation.clause,
            expected: format!("an answer that fits the document at {}", violation.schema_path),
            actual: format!("at {}: {}", violation.instance_path, violation.message),
            key: violation.schema_path,
            severity: Severity::Fail,
        })
        .collect();
    if sighting.answer.status != operation.success.status {
        complaints.push(Complaint {
            clause: match sighting.operation {
                OperationId::Extract => Clause::ExtractEnvelope,
                OperationId::Groups => Clause::GroupsEnvelope,
                OperationId::Search => Clause::SearchEnvelope,
            },
            key: "status".to_owned(),
            severity: Severity::Fail,
            expected: format!("code {} under HTTP {} only", operation.success.code, operation.success.status),
            actual: sighting.judgement.description().to_owned(),
        });
    }
    Some(complaints)
}
