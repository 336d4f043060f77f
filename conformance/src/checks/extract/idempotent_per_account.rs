use super::count::entries;
use super::repetition;
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::contract::{Clause, OperationId};
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "extract.idempotent.per-account",
    title: "a request id of one account says nothing of another",
    why: "",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::AllOwnAccount, Clause::ExtractIdempotent],
    needs: &[Fact::SecondToken],
    run: Run::Cases(|_| Case::single(Cost::extraction(5, 17), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let Some(second) = &probe.facts().second_token else { return Err(probe.skip("no second token")) };
    let extract = &probe.contract().extract;
    let one = *extract.num_range.start();
    let id = probe.fresh_request_id();
    let first = repetition::request(probe).query(&extract.request_id.name, &id);
    let other =
        probe.extract().query(&extract.request_id.name, &id).query(&extract.api_key.name, second.expose());
    let alone = other.clone().query(&extract.request_id.name, probe.fresh_request_id());

    // A second account that can't extract at all shows nothing.
    probe.control(&alone).await?;
    let before = probe.control(&first).await?;
    let why = "the second account sends an id that the first one has used";
    if let Some(accepted) = probe.accepts(Clause::ExtractIdempotent, why, &other).await? {
        let came = entries(&accepted.answer).map_or(0, |entries| entries.len());
        if i64::try_from(came).is_ok_and(|came| came > one) {
            let actual = format!("{came} entries, as the first account asked for");
            probe.finding(
                Clause::AllOwnAccount,
                "an extraction of its own",
                &actual,
                &[&before.exchange, &accepted.exchange],
            );
        }
    }
    repetition::judge(
        probe,
        Clause::ExtractIdempotent,
        &first,
        &[("sent again by the first account", first.clone())],
    )
    .await
}
