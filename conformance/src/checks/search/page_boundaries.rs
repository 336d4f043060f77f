use serde_json::json;

use crate::check::{Case, Check, Run, Scope};
use crate::checks::boundary;
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "search.page.boundaries",
    title: "page is refused outside its bounds",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchPage],
    needs: &[],
    run: Run::Cases(cases),
};

/// A page past the last one may be rejected, so no large page has to be accepted.
fn cases(scope: &Scope<'_>) -> Vec<Case> {
    let first = *scope.contract.search.pages.start();
    boundary::cases(scope, |search| &search.page, |case| !case.allowed || case.value == json!(first))
}
