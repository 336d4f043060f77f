//! Extractions with a legacy API Link credential.

use super::*;

/// The case, which needs [`by_link`] for this form.
pub(crate) fn share_link(form: &Extraction, case: Case) -> Case {
    let tries = u32::try_from(Transport::ALL.len()).unwrap_or(u32::MAX);
    case.sharing_in_run(control_label(form), Cost::extraction(tries, 1))
}

fn control_label(form: &Extraction) -> String {
    format!("extract {} with the link credential", form.label())
}

pub(crate) fn request_by(probe: &Probe<'_>, form: &Extraction, place: Transport) -> Result<Request, Stop> {
    Ok(form.sent_in(place).with_token(probe, probe.secret(Fact::LinkCredential, 0)?.expose()))
}

/// The transport in which the service accepts the credential; else what it responds in each.
pub(crate) async fn find_transport(
    probe: &Probe<'_>,
    form: &Extraction,
) -> Result<Result<Transport, Vec<Sent>>, Stop> {
    let mut rejected = Vec::new();
    for transport in Transport::ALL {
        let (exchange, class) = probe.send(&request_by(probe, form, transport)?).await?;
        match class {
            ResponseClass::Accepted => return Ok(Ok(transport)),
            ResponseClass::Shortage(_) | ResponseClass::Timeout(_) => return Err(undecided(&class)),
            _ => rejected.push((exchange, class)),
        }
    }
    Ok(Err(rejected))
}

/// An extraction of this form with the legacy credential, in the transport that the service accepts, which a run finds out once.
pub(crate) async fn by_link(probe: &Probe<'_>, form: &Extraction) -> Result<Request, Stop> {
    let known = &probe.state::<State>()?.link[usize::from(form.is_text())];
    let find_out = async { Ok::<_, Stop>(find_transport(probe, form).await?.ok()) };
    let label = control_label(form);
    let found = known.get_or_try_init(|| probe.as_control(&label, find_out)).await?;
    let none = || probe.skip("the legacy credential is not accepted; see extract.link-credential.accepted");
    request_by(probe, form, found.ok_or_else(none)?)
}
