use std::collections::BTreeSet;

use serde_json::Value;

use super::values;
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::checks::relation::{Comparison, Filter, survey};
use crate::contract::{Clause, OperationId};
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "search.group.sum",
    title: "each group finds its own instances, and with the ungrouped ones everything",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchGroup],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| Case::single(Cost::requests(16), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let survey = survey(probe).await?;
    let mut comparison = Comparison::with(survey);
    let listed = probe.control(&probe.groups()).await?;
    let listed = listed.answer.at("/data/items").and_then(Value::as_array).cloned().unwrap_or_default();
    let mut groups: BTreeSet<Option<i64>> =
        survey.values(|instance| Some(instance.group)).into_iter().collect();
    groups
        .extend(listed.iter().filter_map(|group| group.get("groupId")?.as_i64()).map(Some).take(MOST_GROUPS));
    groups.insert(None);
    for group in groups {
        values::judge(probe, &mut comparison, Clause::SearchGroup, &Filter::Group(group)).await?;
    }
    comparison.conclude(probe).await
}

/// Groups of the listing that are tried, beside those that instances show.
const MOST_GROUPS: usize = 8;
