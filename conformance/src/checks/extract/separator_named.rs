use super::text;
use super::transport::Transport;
use crate::check::{Accepted, Case, Check, Cost, Probe, ResponseClass, Run, Scope, Stop};
use crate::checks::Requests;
use crate::contract::{Clause, OperationId, Separator};
use crate::target::Fact;
use crate::wire::Request;

pub(super) static CHECK: Check = Check {
    id: "extract.separator.named",
    title: "each lb puts its own separator between entries",
    why: "",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractSeparator],
    needs: &[],
    run: Run::Cases(cases),
};

/// What stands around the separator in a request.
#[derive(Debug, Clone)]
enum Around {
    Nothing,
    Transport(Transport),
    Protocol(String),
}

fn cases(scope: &Scope<'_>) -> Vec<Case> {
    let extract = &scope.contract.extract;
    let transports = [Transport::Header, Transport::Bearer].map(Around::Transport);
    let protocols = extract.protocols.iter().cloned().map(Around::Protocol);
    let around = [Around::Nothing].into_iter().chain(transports).chain(protocols);
    let each =
        |around: Around| extract.separators.iter().map(move |separator| (around.clone(), separator.clone()));
    let case = |data: (Around, Separator)| {
        let label = format!("{}/lb={}", data.0.label(), data.1.code);
        // The plain extraction and the form in text.
        let control = (data.0.label().to_owned(), Cost::extraction(2, 1 + text::ENTRIES_COUNT));
        let cost = Cost::extraction(1, text::ENTRIES_COUNT);
        Case::with(label, cost, data, |probe, data| Box::pin(run(probe, data))).control(control.0, control.1)
    };
    let most = u32::try_from(*extract.num_range.end()).unwrap_or(u32::MAX);
    let partial = Case::new("scarce-region", Cost::extraction(2, most), |probe| Box::pin(partial(probe)));
    around.flat_map(each).map(case).chain([partial.needs([Fact::ScarceRegion])]).collect()
}

async fn run(probe: &Probe<'_>, (around, separator): (Around, Separator)) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let (form, request) = around.request(probe);
    let good = in_text(probe, request);
    probe.control_once(&probe.extract()).await?;
    // Transports and protocols have checks of their own.
    if matches!(probe.control_once(&good).await, Err(Stop::Inconclusive(_))) {
        return Err(probe.skip(&format!("an extraction as text, {form}, is not accepted at all")));
    }
    let why = format!("{}={}, {form}", extract.lb.name, separator.code);
    let request = good.query(&extract.lb.name, &separator.code);
    match probe.accepts(Clause::ExtractSeparator, &why, &request).await? {
        Some(accepted) => text::judge(probe, &accepted, &separator.text).await,
        None => Ok(()),
    }
}

impl Around {
    fn label(&self) -> &str {
        match self {
            Self::Nothing => "plain",
            Self::Transport(transport) => transport.label(),
            Self::Protocol(protocol) => protocol,
        }
    }

    fn request(&self, probe: &Probe<'_>) -> (String, Request) {
        match self {
            Self::Nothing => ("in the plain form".to_owned(), probe.extract()),
            Self::Transport(transport) => {
                let request = transport.carry(probe, probe.extract_without_token(), probe.token().expose());
                (format!("the token in {}", transport.name()), request)
            }
            Self::Protocol(protocol) => {
                let name = &probe.contract().extract.protocol.name;
                (format!("with {protocol}"), probe.extract().query(name, protocol))
            }
        }
    }
}

fn in_text(probe: &Probe<'_>, request: Request) -> Request {
    let extract = &probe.contract().extract;
    request.query(&extract.num.name, text::ENTRIES).query(&extract.return_type.name, &extract.text)
}

/// A partial result has the separator that was asked for as well; a shortage, or a single entry, has none.
async fn partial(probe: &Probe<'_>) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let region = probe.facts().scarce_region.as_deref().unwrap_or_default();
    let few = in_text(probe, probe.extract()).query(&extract.regions.name, region);
    for separator in extract.separators.iter().rev().take(1) {
        let few = few.clone().query(&extract.num.name, extract.num_range.end());
        let (exchange, class) = probe.send_once(&few.query(&extract.lb.name, &separator.code)).await?;
        let (ResponseClass::Accepted, Ok(answer)) = (class, &exchange.result) else { continue };
        let accepted = Accepted { answer: answer.clone(), exchange: exchange.clone() };
        let returned = answer.header(&extract.returned_count).and_then(|count| count.parse::<u64>().ok());
        if returned.is_some_and(|returned| returned > 1) {
            text::judge(probe, &accepted, &separator.text).await?;
        }
    }
    Ok(())
}
