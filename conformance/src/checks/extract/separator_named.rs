use super::text;
use super::transport::Transport;
use crate::check::{Accepted, Check, Cost, Judgement, Probe, Run, Stop};
use crate::contract::{Clause, OperationId};
use crate::wire::Request;

pub(super) static CHECK: Check = Check {
    id: "extract.separator.named",
    title: "each lb puts its own separator between entries",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractSeparator],
    needs: &[],
    cost: Cost::extraction(32, 191),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let text = |request: Request| {
        request.query(&extract.num.name, text::ENTRIES).query(&extract.return_type.name, &extract.text)
    };
    let mut good = vec![("in the plain form".to_owned(), text(probe.extract()))];
    for transport in [Transport::Header, Transport::Bearer] {
        let request = transport.carry(probe, probe.extract_without_token(), probe.token().expose());
        good.push((format!("the token in {}", transport.name()), text(request)));
    }
    for protocol in &extract.protocols {
        good.push((
            format!("with {protocol}"),
            text(probe.extract().query(&extract.protocol.name, protocol)),
        ));
    }
    probe.ground(&probe.extract()).await?;
    for (form, good) in good {
        // Transports and protocols have checks of their own.
        if probe.ground(&good).await.is_err() {
            continue;
        }
        for separator in &extract.separators {
            let request = good.clone().query(&extract.lb.name, &separator.code);
            let why = format!("{}={}, {form}", extract.lb.name, separator.code);
            if let Some(accepted) = probe.accepts(Clause::ExtractSeparator, &why, &request).await? {
                text::judge(probe, &accepted, &separator.text).await?;
            }
        }
    }
    if let Some(region) = &probe.facts().scarce_region {
        partial(probe, &text(probe.extract()).query(&extract.regions.name, region)).await?;
    }
    Ok(())
}

/// A partial result has the separator that was asked for as well; a shortage, or a single entry, has none.
async fn partial(probe: &Probe<'_>, few: &Request) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    for separator in extract.separators.iter().rev().take(1) {
        let few = few.clone().query(&extract.num.name, extract.num_range.end());
        let (exchange, judgement) = probe.first_answer(&few.query(&extract.lb.name, &separator.code)).await?;
        let (Judgement::Accepted, Ok(answer)) = (judgement, &exchange.result) else { continue };
        let accepted = Accepted { answer: answer.clone(), exchange: exchange.clone() };
        let returned = answer.header(&extract.returned_count).and_then(|count| count.parse::<u64>().ok());
        if returned.is_some_and(|returned| returned > 1) {
            text::judge(probe, &accepted, &separator.text).await?;
        }
    }
    Ok(())
}
