use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::checks::relation::{Instance, read};
use crate::contract::{Clause, OperationId};
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "search.no-reveal.shared-address",
    title: "an address that two accounts hold shows to each its own instances only",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchNoReveal, Clause::AllOwnAccount],
    needs: &[Fact::SharedAddress, Fact::SecondToken],
    run: Run::Cases(|_| Case::single(Cost::requests(2), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let facts = probe.facts();
    let (Some(shared), Some(second)) = (&facts.shared_address, &facts.second_token) else {
        return Err(probe.skip("no shared address, or no second token"));
    };
    let search = &probe.contract().search;
    let request = probe.search([shared.as_str()]);
    let other = request.clone().query(&search.api_key.name, second.expose());
    let (own, others) = (read(probe, &request).await?, read(probe, &other).await?);
    // The same id may stand for another instance in another account, but not with all else alike.
    let in_both = |(id, instance): &(&i64, &Instance)| others.instances.get(*id) == Some(*instance);
    let both: Vec<_> = own.instances.iter().filter(in_both).map(|(id, _)| id).collect();
    let evidence: Vec<_> = own.exchanges.iter().chain(&others.exchanges).collect();
    if !both.is_empty() {
        let expected = "the instances of a shared address, to each account its own";
        let actual = format!("both see {both:?}");
        probe.finding(Clause::SearchNoReveal, expected, &actual, &evidence);
        probe.finding(Clause::AllOwnAccount, expected, &actual, &evidence);
    }
    for (whose, found) in [("the account", &own), ("the second account", &others)] {
        let counted = u64::try_from(found.order.len()).unwrap_or(u64::MAX);
        if found.total() != counted {
            let expected = format!("total {counted}, the instances of {whose} only");
            probe.finding(
                Clause::SearchNoReveal,
                &expected,
                &format!("total {}", found.total()),
                &found.evidence(),
            );
        }
    }
    if own.instances.is_empty() || others.instances.is_empty() {
        return Err(
            probe.skip("one of the accounts holds nothing at the shared address: supply one that both hold")
        );
    }
    Ok(())
}
