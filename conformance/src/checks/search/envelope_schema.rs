use crate::check::{Check, Cost, Run};
use crate::checks::schema;
use crate::contract::OperationId;

pub(super) static CHECK: Check = Check {
    id: "search.envelope.schema",
    title: "every successful search fits the document's schema",
    operation: Some(OperationId::Search),
    clauses: &[
        "search.capabilities",
        "search.envelope",
        "search.headers",
        "search.instance",
        "search.max-batch-no-effect",
        "search.status",
        "search.total",
    ],
    needs: &[],
    cost: Cost::requests(0),
    run: Run::Watch(schema::watch),
};
