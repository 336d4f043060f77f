use crate::check::{Check, Cost, Run};
use crate::checks::schema;
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "extract.envelope.schema",
    title: "every successful extraction fits the document's schema",
    operation: Some(OperationId::Extract),
    clauses: &[
        Clause::ExtractCount,
        Clause::ExtractEndpoint,
        Clause::ExtractEnvelope,
        Clause::ExtractRequestIp,
    ],
    needs: &[],
    cost: Cost::requests(0),
    run: Run::Watch(schema::watch),
};
