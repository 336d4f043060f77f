use super::shape;
use super::transport::Transport;
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::checks::token;
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "extract.token-equal.differing",
    title: "different tokens in two or three transports are refused, whichever is the right one",
    why: "",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractTokenEqual],
    needs: &[],
    run: Run::Cases(|_| Case::single(Cost::extraction(66, 15), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let known = probe.token().expose();
    let close = token::altered(probe.token());
    for shape in shape::usable(probe).await? {
        for right in Transport::ALL {
            let good = right.carry(probe, shape.request.clone(), known);
            for wrong in Transport::ALL.into_iter().filter(|wrong| *wrong != right) {
                for other in [token::UNKNOWN, close.as_str()] {
                    let bad = wrong.carry(probe, good.clone(), other);
                    let places = format!("{} and another in {}", right.name(), wrong.name());
                    let why = format!("the token in {places}, {}", shape.name);
                    probe.rejects_after_control(Clause::ExtractTokenEqual, &why, &good, &bad).await?;
                }
            }
        }
    }
    for wrong in Transport::ALL {
        let right = Transport::ALL.into_iter().filter(|right| *right != wrong);
        let good =
            right.fold(probe.extract_without_token(), |request, right| right.carry(probe, request, known));
        let bad = wrong.carry(probe, good.clone(), token::UNKNOWN);
        let why = format!("a third token, which differs, in {}", wrong.name());
        probe.rejects_after_control(Clause::ExtractTokenEqual, &why, &good, &bad).await?;
    }
    Ok(())
}
