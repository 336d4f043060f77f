//! Which parameter of a rejected extraction is the cause.

use super::content::is_undecided;
use super::*;

/// The header that combinations have beside their parameters: it prefers another form than they ask for.
const ACCEPT: &str = "Accept";

const fn spelling_name(form: &Extraction) -> &'static str {
    match form.spelling {
        QuerySpelling::Usual => "",
        QuerySpelling::EncodedValues => ", with each byte of the query's values percent-encoded",
        QuerySpelling::Encoded => ", with each byte of the query percent-encoded",
    }
}

pub(crate) fn words(extract: &Extract, form: &Extraction) -> String {
    let words: Vec<_> = parts(extract, form).into_iter().map(|(_, words, _)| words).collect();
    format!("{}{}", words.join(", "), spelling_name(form))
}

/// The valid use of a parameter: its clause, its description, and what takes it over from one extraction to another.
type Part = (Clause, String, Take);
type Take = fn(&mut Extraction, &Extraction);

/// The parameters that an extraction uses.
fn parts(extract: &Extract, form: &Extraction) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut add = |clause, words, take: Take| parts.push((clause, words, take));
    if form.form != Asked::Json {
        let name = if form.is_text() { &extract.text } else { &extract.json };
        add(ExtractReturnType, format!("{RETURN_TYPE}={name}"), |to, from| to.form = from.form);
    }
    if let Some(separator) = &form.separator {
        add(ExtractSeparator, format!("{LB}={}", separator.code), |to, from| {
            (to.form, to.separator) = (from.form, from.separator.clone());
        });
    }
    let clause = if form.tokens.len() == 1 { ExtractTokenTransport } else { ExtractTokenEqual };
    let words = format!("the token in {}", Transport::names(&form.tokens));
    add(clause, words, |to, from| to.tokens.clone_from(&from.tokens));
    let region = match form.region {
        Region::Alias => Some((ExtractCountryAlias, "country in place of regions")),
        Region::Equal => Some((ExtractCountryEqual, "regions and country that are equal")),
        Region::DefaultByName => Some((ExtractRegionsDefault, "the default regions by its name")),
        Region::Unnamed => Some((ExtractRegionsDefault, "no regions")),
        Region::Usual | Region::Default => None,
    };
    if let Some((clause, words)) = region {
        add(clause, words.to_owned(), |to, from| to.region = from.region);
    }
    if let Some(protocol) = &form.protocol {
        let words = format!("{PROTOCOL}={protocol}");
        add(ExtractProtocol, words, |to, from| to.protocol.clone_from(&from.protocol));
    }
    let place = match &*form.ids {
        [] => return parts,
        [Place::Query] => REQUEST_ID.to_owned(),
        [_] => REQUEST_ID_HEADER.to_owned(),
        _ => format!("{REQUEST_ID} and another in {REQUEST_ID_HEADER}"),
    };
    let words = format!("a request id in {place}");
    parts.push((ExtractRequestIdSource, words, |to, from| to.ids.clone_from(&from.ids)));
    parts
}

/// Sends a combination. When it is rejected, reports a parameter that is rejected alone, or without which it is accepted.
pub(crate) async fn find_cause(
    probe: &Probe<'_>,
    form: &Extraction,
    what: &str,
    request: &Request,
) -> Result<Option<AcceptedResponse>, Stop> {
    let (rejected, class) = probe.send(request).await?;
    if is_undecided(&class) {
        return Err(undecided(&class));
    }
    if class.decision() == Decision::Accepted {
        return Ok(accepted(&rejected, &class));
    }
    let report = |clause, expected: &str, actual: &ResponseClass, exchanges: &[&Exchange]| {
        probe.finding(clause, &format!("accepted: {expected}"), actual.description(), exchanges);
        Ok(None)
    };
    Extraction::PLAIN.control(probe).await?;
    let (other, other_class) = probe.send(&request.clone().without_header(ACCEPT)).await?;
    // The service may have rejected it for once.
    if other_class.decision() == Decision::Accepted
        && let (_, again) = probe.send(request).await?
        && !is_undecided(&again)
        && again.decision() != Decision::Accepted
    {
        let expected = format!("{what}; it is without the header");
        return report(ExtractReturnType, &expected, &class, &[&rejected, &other]);
    }
    let spelling = spelling_name(form);
    // A service that does not decode the query rejects every parameter in it.
    let plain = Extraction { spelling: form.spelling, ..Extraction::PLAIN };
    if plain != Extraction::PLAIN
        && let Err((exchange, class)) = is_accepted(probe, &plain).await?
    {
        return report(ExtractEnvelope, &format!("an extraction{spelling}"), &class, &[&exchange]);
    }
    let parts = parts(&probe.contract().extract, form);
    for (clause, words, take) in &parts {
        let mut alone = plain.clone();
        take(&mut alone, form);
        let Err((exchange, class)) = is_accepted(probe, &alone).await? else { continue };
        // The default region and its absence are controls for each other.
        let other = match alone.region {
            Region::Unnamed => Some(Region::DefaultByName),
            Region::DefaultByName => Some(Region::Unnamed),
            _ => None,
        };
        if let Some(region) = other
            && is_accepted(probe, &Extraction { region, ..Extraction::PLAIN }).await?.is_err()
        {
            return Err(probe.skip("the account gets nothing of the default region"));
        }
        return report(*clause, &format!("{words}{spelling}"), &class, &[&exchange]);
    }
    for (clause, words, take) in &parts {
        let mut rest = form.clone();
        take(&mut rest, &plain);
        // A text without its separator is no other extraction.
        let is_other = rest.is_text() || rest.separator.is_none();
        if is_other && let Ok(other) = is_accepted(probe, &rest).await? {
            let expected = format!("{what}; it is without {words}");
            return report(*clause, &expected, &class, &[&rejected, &other]);
        }
    }
    report(ExtractEnvelope, what, &class, &[&rejected])
}

/// Sends an extraction of the minimum number of gateways. The inner error is a rejection.
async fn is_accepted(probe: &Probe<'_>, form: &Extraction) -> Result<Result<Exchange, Sent>, Stop> {
    let (exchange, class) = probe.send(&form.request(probe)).await?;
    match class.decision() {
        Decision::Accepted => Ok(Ok(exchange)),
        _ if is_undecided(&class) => Err(undecided(&class)),
        _ => Ok(Err((exchange, class))),
    }
}
