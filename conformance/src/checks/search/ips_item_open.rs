use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::contract::{Clause, OperationId, Unspecified};

pub(super) static CHECK: Check = Check {
    id: "search.ips-item.open",
    title: "spellings of addresses that the contract leaves open are answered in one way or the other",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchIpsItem],
    needs: &[],
    run: Run::Cases(|_| Case::single(Cost::requests(8), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    probe.control_once(&probe.any_search()).await?;
    for (unspecified, item) in OPEN {
        let why = format!("the item {item:?}");
        probe.tolerates(Clause::SearchIpsItem, unspecified, &why, &probe.search([item])).await?;
    }
    Ok(())
}

const OPEN: [(Unspecified, &str); 7] = [
    (Unspecified::AddressesBracketsWithoutPort, "[2001:db8::250]"),
    (Unspecified::AddressesIpv4Mapped, "::ffff:203.0.113.250"),
    (Unspecified::AddressesIpv4Mapped, "[::ffff:203.0.113.250]:8080"),
    (Unspecified::AddressesLeadingZeros, "203.000.113.250"),
    (Unspecified::AddressesLeadingZeros, "203.0.113.250:08080"),
    (Unspecified::AddressesSpaces, " 203.0.113.250"),
    (Unspecified::AddressesSpaces, "203.0.113.250\t"),
];
