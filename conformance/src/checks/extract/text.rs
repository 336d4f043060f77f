//! Text responses and their separators.

use super::*;
use crate::checks::extraction::content::is_served_text;

pub(super) static PROGRAMS: &[Program] = &[
    active("extract.return-type.forms", |scope| {
        let codes = scope.contract.extract.lb.schema.values.iter().filter_map(|code| code.as_str());
        let alone = codes.map(|code| {
            let data = code.to_owned();
            Case::for_data(format!("json/lb={code}"), Cost::extraction(1, 1), data, separator_alone)
        });
        alone.collect()
    }),
    passive("extract.separator.watched", |observed| {
        // In the traffic of others, a known request id may come with another separator, which is unspecified.
        let is_known =
            observed.request.is_recorded && !request_ids(observed.contract, observed.request).is_empty();
        Served::observed(observed)?.separated().filter(|_| !is_known)
    }),
];

/// A separator does not apply to JSON. A service may validate it or not, but must not return text because of it.
async fn separator_alone(probe: &Probe<'_>, code: String) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let mut request = probe.extract().query(LB, &code);
    if code == extract.custom_separator {
        request = request.query(SB, SEPARATOR);
    }
    let (exchange, class) = probe.send_once(&request).await?;
    if class != ResponseClass::Accepted {
        Extraction::PLAIN.control(probe).await?;
    }
    if exchange.result.as_ref().is_ok_and(|response| is_served_text(extract, response)) {
        let expected = format!("JSON or a rejection: {LB}={code} without {RETURN_TYPE}");
        probe.finding(ExtractReturnType, &expected, "plain text", &[&exchange]);
    }
    Ok(())
}
