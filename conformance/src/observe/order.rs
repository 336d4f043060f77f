use crate::check::{Check, ObservedExchange, PassiveFinding, ResponseClass, Run};
use crate::checks::groups;
use crate::contract::{Clause, OperationId};

/// What a run judges with a listing of its own.
pub(super) static ORDER: Check = Check {
    id: "groups.order.recorded",
    title: "groups of a recorded listing ascend by id",
    why: "Clients that continue after the last id they have seen miss groups, and the order of a list changes between calls.",
    operation: Some(OperationId::Groups),
    clauses: &[Clause::GroupsOrder],
    run: Run::Passive(judge_order),
    ..Check::TEMPLATE
};

/// A listing of one group is in any order.
fn judge_order(observed: &ObservedExchange<'_>) -> Option<Vec<PassiveFinding>> {
    if *observed.class != ResponseClass::Accepted {
        return None;
    }
    let items = observed.response.at("/data/items")?;
    items.as_array().filter(|items| items.len() > 1)?;
    let finding = |(expected, actual): (&str, String)| {
        PassiveFinding::fail(Clause::GroupsOrder, "", expected.to_owned(), actual)
    };
    Some(groups::disorder(&groups::ids_of(items)).map(finding).into_iter().collect())
}
