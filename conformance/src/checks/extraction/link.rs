//! Extractions with a legacy API Link credential.

use super::{Extraction, Transport};
use crate::check::{Case, Cost, Probe, Stop};
use crate::checks::State;
use crate::target::Fact;
use crate::wire::Request;

/// The case, which needs [`by_link`] for this form.
pub(in crate::checks) fn share_link(form: &Extraction, case: Case) -> Case {
    let tries = u32::try_from(Transport::ALL.len()).unwrap_or(u32::MAX);
    case.sharing_in_run(control_label(form), Cost::extraction(tries, 1))
}

fn control_label(form: &Extraction) -> String {
    format!("extract {} with the link credential", form.label())
}

/// An extraction of this form with the legacy credential, in the transport that the service accepts. A run finds it out once for
/// each form.
pub(in crate::checks) async fn by_link(probe: &Probe<'_>, form: &Extraction) -> Result<Request, Stop> {
    let credential = probe.secret(Fact::LinkCredential, 0)?;
    let by = |transport| form.sent_in(transport).with_token(probe, credential.expose());
    let find_out = async {
        for transport in Transport::ALL {
            if probe.is_accepted(&by(transport)).await?.1 {
                return Ok(Some(transport));
            }
        }
        Ok::<_, Stop>(None)
    };
    let known = &State::from_probe(probe)?.link[usize::from(form.is_text())];
    let label = control_label(form);
    let found = known.get_or_try_init(|| probe.as_control(&label, find_out)).await?;
    let none = || probe.skip("the legacy credential is not accepted; see extract.link-credential.accepted");
    found.map(by).ok_or_else(none)
}
