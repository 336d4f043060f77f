use crate::check::{Check, Run};
use crate::checks::schema;
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "search.envelope.schema",
    title: "every successful search fits the document's schema",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[
        Clause::SearchCapabilities,
        Clause::SearchEnvelope,
        Clause::SearchHeaders,
        Clause::SearchInstance,
        Clause::SearchMaxBatchNoEffect,
        Clause::SearchStatus,
        Clause::SearchTotal,
    ],
    needs: &[],
    run: Run::Passive(schema::judge),
};
