use crate::check::{Check, Run};
use crate::checks::schema;
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "extract.envelope.schema",
    title: "every successful extraction fits the document's schema",
    why: "",
    operation: Some(OperationId::Extract),
    clauses: &[
        Clause::ExtractCount,
        Clause::ExtractEndpoint,
        Clause::ExtractEnvelope,
        Clause::ExtractRequestIp,
    ],
    needs: &[],
    run: Run::Passive(schema::judge),
};
