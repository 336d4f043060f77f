use serde_json::Value;

use crate::check::{Check, Complaint, Cost, Judgement, Run, Sighting};
use crate::contract::OperationId;

pub(super) static CHECK: Check = Check {
    id: "extract.endpoint.internal-fields",
    title: "an entry shows no internal field",
    operation: Some(OperationId::Extract),
    clauses: &["extract.endpoint"],
    needs: &[],
    cost: Cost::requests(0),
    run: Run::Watch(watch),
};

/// What makes a field internal is open, so only names that say it themselves count.
const TELLING: [&str; 10] = [
    "internal",
    "password",
    "passwd",
    "secret",
    "token",
    "credential",
    "upstream",
    "supplier",
    "vendor",
    "cost",
];

fn watch(sighting: &Sighting<'_>) -> Option<Vec<Complaint>> {
    if *sighting.judgement != Judgement::Accepted {
        return None;
    }
    let entries = sighting.answer.at("/data")?.as_array()?;
    let names = entries.iter().filter_map(Value::as_object).flat_map(|entry| entry.keys());
    let internal = names.filter(|name| {
        let lower = name.to_ascii_lowercase();
        name.starts_with('_') || TELLING.iter().any(|word| lower.contains(word))
    });
    let complaint = |name: &String| Complaint {
        clause: "extract.endpoint".to_owned(),
        key: name.clone(),
        expected: "an entry without internal fields".to_owned(),
        actual: format!("an entry with the field {name}"),
    };
    Some(internal.map(complaint).collect())
}
