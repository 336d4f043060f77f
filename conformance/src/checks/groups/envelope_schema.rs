use crate::check::{Check, Cost, Run};
use crate::checks::schema;
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "groups.envelope.schema",
    title: "every successful listing fits the document's schema",
    operation: Some(OperationId::Groups),
    clauses: &[Clause::GroupsEnvelope, Clause::GroupsFields, Clause::GroupsHeaders, Clause::GroupsOrder],
    needs: &[],
    cost: Cost::requests(0),
    run: Run::Watch(schema::watch),
};
