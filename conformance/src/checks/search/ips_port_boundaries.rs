use crate::check::{Case, Check, Cost, Probe, Run, Scope, Stop};
use crate::checks::NOBODYS_ADDRESS;
use crate::checks::Requests;
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "search.ips-port.boundaries",
    title: "a port is taken inside its bounds and refused outside",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchIpsPort],
    needs: &[],
    run: Run::Cases(cases),
};

fn cases(scope: &Scope<'_>) -> Vec<Case> {
    let ports = &scope.contract.search.ports;
    let (least, most) = (*ports.start(), *ports.end());
    let ports = [least, most, least - 1, most + 1, -1, i64::MAX];
    let items = [NOBODYS_ADDRESS, "[2001:db8::250]"]
        .into_iter()
        .flat_map(|address| ports.map(|port| (format!("{address}:{port}"), (least..=most).contains(&port))));
    let case = |(item, is_allowed): (String, bool)| {
        let data = (item.clone(), is_allowed);
        Case::with(item, Cost::requests(1), data, |probe, data| Box::pin(run(probe, data)))
            .control("plain", Cost::requests(1))
    };
    items.map(case).collect()
}

async fn run(probe: &Probe<'_>, (item, is_allowed): (String, bool)) -> Result<(), Stop> {
    let (control, request) = (probe.search([NOBODYS_ADDRESS]), probe.search([item.as_str()]));
    let why = format!("the item {item}");
    if is_allowed {
        probe.control_once(&control).await?;
        probe.accepts(Clause::SearchIpsPort, &why, &request).await?;
        return Ok(());
    }
    probe.rejects_after_control(Clause::SearchIpsPort, &why, &control, &request).await
}
