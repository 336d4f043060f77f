use crate::check::{Check, Run};
use crate::checks::schema;
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "groups.envelope.schema",
    title: "every successful listing fits the document's schema",
    why: "",
    operation: Some(OperationId::Groups),
    clauses: &[Clause::GroupsEnvelope, Clause::GroupsFields, Clause::GroupsHeaders, Clause::GroupsOrder],
    needs: &[],
    run: Run::Passive(schema::judge),
};
