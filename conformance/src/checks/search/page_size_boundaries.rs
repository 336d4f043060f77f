use crate::check::{Case, Check, Run, Scope};
use crate::checks::boundary;
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "search.page-size.boundaries",
    title: "pageSize is taken inside its bounds and refused outside",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchPageSize],
    needs: &[],
    run: Run::Cases(cases),
};

fn cases(scope: &Scope<'_>) -> Vec<Case> {
    boundary::cases(scope, |search| &search.page_size, |_| true)
}
