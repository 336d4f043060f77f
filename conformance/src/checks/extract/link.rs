//! The legacy API Link credential: extraction accepts it, and every rule of an extraction applies to it as to a token.

use super::*;
use crate::checks::extraction::by_country;
use crate::checks::extraction::link::{find_transport, request_by};
use crate::checks::extraction::shortage::{control, is_short, must_be_short, send};

/// The contract does not define the transport of the credential, so one that works is enough.
pub(super) async fn accepted(probe: &Probe<'_>, row: Arc<Row>) -> Result<(), Stop> {
    let form = row.form();
    if form != Extraction::PLAIN {
        form.control(probe).await?;
    }
    let rejected = match find_transport(probe, &form).await? {
        Ok(transport) => {
            let range = &probe.contract().extract.num_range;
            let more = (range.start() + 1).min(*range.end());
            let (place, form_name) = (transport.name(), form.name());
            let why = format!("the legacy credential in {place}, {form_name}, once more, {NUM}={more}");
            let again = request_by(probe, &form, transport)?.query(NUM, more);
            return probe.accepts(ExtractLinkCredential, &why, &again).await.map(|_| ());
        }
        Err(rejected) => rejected,
    };
    if form == Extraction::PLAIN {
        form.control(probe).await?;
    }
    let exchanges: Vec<_> = rejected.iter().map(|(exchange, _)| exchange).collect();
    let expected =
        format!("the legacy credential accepted in the query, X-API-Key or Authorization, {}", form.name());
    let actual = rejected.first().map_or("no response", |(_, class)| class.description());
    probe.finding(ExtractLinkCredential, &expected, actual, &exchanges);
    Ok(())
}

/// Sends the link credential in the transport that the service accepts, with either name of the region.
pub(super) async fn in_empty_region(probe: &Probe<'_>, row: Arc<Row>) -> Result<(), Stop> {
    let form = row.form();
    let why = format!("a link credential, {}", form.name());
    control(probe).await?;
    for transport in Transport::ALL {
        let request = request_by(probe, &form, transport)?;
        let (exchange, class) = send(probe, &request).await?;
        if is_short(probe, &exchange, &class)? {
            let by_alias = by_country(&probe.contract().extract, request);
            return must_be_short(probe, ExtractCountryAlias, &why, &form, &by_alias).await;
        }
        if class.decision() != Decision::Rejected {
            return must_be_short(probe, ExtractLinkCredential, &why, &form, &request).await;
        }
    }
    let request = request_by(probe, &form, Transport::Query)?;
    must_be_short(probe, ExtractLinkCredential, &why, &form, &request).await
}
