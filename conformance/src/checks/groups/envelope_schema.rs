use crate::check::{Check, Cost, Run};
use crate::checks::schema;
use crate::contract::OperationId;

pub(super) static CHECK: Check = Check {
    id: "groups.envelope.schema",
    title: "every successful listing fits the document's schema",
    operation: Some(OperationId::Groups),
    clauses: &["groups.envelope", "groups.fields", "groups.headers", "groups.order"],
    needs: &[],
    cost: Cost::requests(0),
    run: Run::Watch(schema::watch),
};
