use crate::check::{Check, Cost, Run};
use crate::checks::schema;
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "search.envelope.schema",
    title: "every successful search fits the document's schema",
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
    cost: Cost::requests(0),
    run: Run::Watch(schema::watch),
};
