use super::shape::Kind;
use super::transport::Transport;
use crate::check::{Case, Check, Cost, Probe, Run, Scope, Stop};
use crate::checks::Requests;
use crate::contract::{Clause, OperationId, boundaries};

pub(super) static CHECK: Check = Check {
    id: "extract.protocol.unlisted",
    title: "a protocol outside the list is refused, https among them",
    why: "",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractProtocol],
    needs: &[],
    run: Run::Cases(cases),
};

/// Values that callers take for protocols: the contract names the first one, and the others are known from proxy URLs.
const NEAR: [&str; 5] = ["https", "socks", "socks4", "socks5h", "ftp"];

fn cases(scope: &Scope<'_>) -> Vec<Case> {
    let extract = &scope.contract.extract;
    let unlisted = boundaries(&extract.protocol.schema).into_iter().filter(|case| !case.allowed);
    let near = NEAR.into_iter().filter(|near| extract.protocols.iter().all(|listed| listed != near));
    let plain = unlisted.map(|case| (Kind::Json, case.text()));
    let near: Vec<_> = near.map(str::to_owned).collect();
    let of_kind = |kind: Kind| near.iter().map(move |value| (kind.clone(), value.clone()));
    let in_forms = plain.chain(Kind::all(extract).into_iter().flat_map(of_kind)).map(|data| {
        let label = format!("{}/protocol={}", data.0.label(), data.1);
        let kind = data.0.clone();
        let case = Case::with(label, Cost::requests(1), data, |probe, data| Box::pin(in_form(probe, data)));
        kind.control(case)
    });
    let of_transport = |transport| near.iter().take(1).map(move |value| (transport, value.clone()));
    // In the query it is the form in JSON.
    let transports = Transport::ALL.into_iter().filter(|transport| *transport != Transport::Query);
    let in_transports = transports.flat_map(of_transport).map(|data| {
        let label = format!("{}/protocol={}", data.0.label(), data.1);
        let key = data.0.label();
        let case =
            Case::with(label, Cost::requests(1), data, |probe, data| Box::pin(in_transport(probe, data)));
        case.control(key, Cost::extraction(1, 1))
    });
    in_forms.chain(in_transports).collect()
}

async fn in_form(probe: &Probe<'_>, (kind, value): (Kind, String)) -> Result<(), Stop> {
    let shape = kind.usable(probe).await?;
    let bad = shape.anew(probe).query(&probe.contract().extract.protocol.name, &value);
    let why = format!("{value} is not a protocol of a gateway, {}", shape.name);
    probe.rejects_after_control(Clause::ExtractProtocol, &why, &shape.good(probe), &bad).await
}

async fn in_transport(probe: &Probe<'_>, (transport, value): (Transport, String)) -> Result<(), Stop> {
    let good = transport.carry(probe, probe.extract_without_token(), probe.token().expose());
    let bad = good.clone().query(&probe.contract().extract.protocol.name, &value);
    let why = format!("{value} is not a protocol of a gateway, the token in {}", transport.name());
    probe.rejects_after_control(Clause::ExtractProtocol, &why, &good, &bad).await
}
