//! The case of a row: its label, cost and control request, and how its responses are judged.

use std::sync::Arc;

use super::edit::{Ids, is_of_valid_token};
use super::{Base, Credential, Edit, Must, Row, Shared, Then, Unless, Valid};
use crate::check::{AcceptedResponse, Case, Cost, Decision, Probe, ResponseClass, Stop, accepted, undecided};
use crate::checks::extraction::cause::{self, find_cause};
use crate::checks::extraction::content::{gateways, is_undecided, judge_repeated};
use crate::checks::extraction::link::{by_link, share_link};
use crate::checks::extraction::shortage::{CONTROL, must_be_short};
use crate::checks::extraction::{Extraction, Transport, rejects};
use crate::contract::{Clause, Unspecified};
use crate::target::Fact;
use crate::wire::Request;

impl Row {
    pub(super) fn case(self, clause: Clause) -> Case {
        let form = self.base.form().filter(|_| !self.has_whole_label);
        let label = form.map_or_else(|| self.label.clone(), |form| joined(&form.label(), &self.label));
        let requests = u32::try_from(self.requests.len() + self.then.len()).unwrap_or(u32::MAX);
        let cost = self.cost.unwrap_or(match self.must {
            Must::Serve { gateways, .. } if self.base.form().is_some() => {
                Cost::extraction(requests, gateways)
            }
            Must::RespondSomehow(_) if self.base.form().is_some() => Cost::extraction(requests, 1),
            _ => Cost::requests(requests),
        });
        let row = Arc::new(self);
        let clause = row.clause.unwrap_or(clause);
        let case = Case::for_data(label, cost, (clause, Arc::clone(&row)), judge).needs(row.needs.clone());
        let case = row.share(case);
        // Without a record only a row that names its own clause judges it.
        Case { subject: row.subject, clause: row.subject.and(row.clause), ..case }
    }

    /// The case with the control requests that it shares. An extraction that is accepted needs none.
    fn share(&self, case: Case) -> Case {
        let Valid { name, gateways, .. } = &self.valid;
        let form = match &self.base {
            Base::Static(_) if matches!(self.must, Must::Serve { .. }) => return case,
            Base::Static(_) => {
                let name = if name.is_empty() { self.base.label() } else { name.clone() };
                return case.sharing(name, Cost::requests(1));
            }
            Base::Link(form) => {
                let case = share_link(form, case);
                let is_own = name.is_empty() || !matches!(self.must, Must::Reject { .. });
                return if is_own { case } else { case.sharing(form.label(), Cost::extraction(1, 1)) };
            }
            Base::Extract(_) => match self.must {
                // The region without gateways may have some after all. The control reserves the one that such a run would take, so that
                // a budget without gateways leaves the case out.
                Must::BeShort { .. } | Must::Flow(_, Some(Shared::Shortage)) => {
                    return case.sharing_in_run(CONTROL, Cost::extraction(1, 1));
                }
                Must::Reject { .. } | Must::RespondSomehow(_) | Must::Flow(_, Some(Shared::Control)) => {
                    self.control_form()
                }
                Must::Serve { .. } | Must::BeAlike | Must::Flow(_, None) => return case,
            },
        };
        let case = match self.credential() {
            _ if self.before.is_some() => case,
            Credential::Supplied(Fact::RejectedTokens, index) => {
                case.sharing(format!("groups {index}"), Cost::requests(1))
            }
            Credential::Supplied(fact, _) if is_of_valid_token(fact) => {
                case.sharing("groups", Cost::requests(1))
            }
            _ => case,
        };
        if name.is_empty() { form.share(case) } else { form.share_with(case, name, (*gateways).max(1)) }
    }

    /// The form must be accepted. Another check tests the transports of the token.
    fn control_form(&self) -> Extraction {
        match self.credential() {
            Credential::Own => self.form(),
            _ if self.before.is_some() || self.form().is_combined() => self.form(),
            _ => self.form().sent_in(Transport::Query),
        }
    }

    /// An extraction with a legacy credential needs none: how it is sent was found out by one that was accepted.
    async fn control(&self, probe: &Probe<'_>, valid: &Request) -> Result<(), Stop> {
        let Valid { name, edits, is_doubtful, .. } = &self.valid;
        let result = match &self.base {
            Base::Link(_) if name.is_empty() => Ok(()),
            Base::Static(_) | Base::Link(_) => probe.control_once(valid).await,
            Base::Extract(_) => {
                let form = self.control_form();
                if name.is_empty() {
                    return form.control(probe).await;
                }
                let request = edited(probe, form.request(probe), edits)?;
                form.control_with(probe, name, request).await
            }
        };
        match result {
            Err(Stop::Inconclusive(_) | Stop::Skip(_)) if *is_doubtful => {}
            other => return other,
        }
        if self.base.form().is_some() && probe.is_accepted(valid).await?.1 {
            return Ok(());
        }
        Err(probe.skip(&format!("a valid request is rejected, {name}, {}", self.base.label())))
    }

    /// Its requests, for a flow.
    pub(crate) fn requests(&self, probe: &Probe<'_>) -> Result<Vec<Request>, Stop> {
        let ids = Ids::default();
        let requests = self.requests.iter();
        requests.map(|(_, edits)| apply(probe, &ids, self.form().request(probe), edits)).collect()
    }

    /// Its only request, for a flow that reads this alone: no difference of it depends on more than contract and facts.
    pub(crate) fn request(&self, probe: &Probe<'_>) -> Request {
        let change = |request, edit: &Edit| edit.change(probe.contract(), probe.facts(), request);
        self.requests[0].1.iter().fold(self.form().request(probe), change)
    }

    /// What is special about a request, in words.
    fn words(&self, why: &str) -> String {
        match self.base.form().filter(|_| !self.has_whole_label) {
            Some(form) => format!("{why}{}{}", if why.is_empty() { "" } else { ", " }, form.name()),
            None => why.to_owned(),
        }
    }
}

impl Base {
    fn label(&self) -> String {
        match self {
            Self::Static(operation) => operation.to_string(),
            Self::Extract(form) | Self::Link(form) => form.label(),
        }
    }

    /// That of an extraction.
    pub(super) const fn form(&self) -> Option<&Extraction> {
        match self {
            Self::Static(_) => None,
            Self::Extract(form) | Self::Link(form) => Some(form),
        }
    }

    async fn request(&self, probe: &Probe<'_>) -> Result<Request, Stop> {
        Ok(match self {
            Self::Static(operation) => probe.valid(*operation),
            Self::Extract(form) => form.request(probe),
            Self::Link(form) => by_link(probe, form).await?,
        })
    }
}

fn joined(form: &str, label: &str) -> String {
    if label.is_empty() { form.to_owned() } else { format!("{form}/{label}") }
}

fn apply(probe: &Probe<'_>, ids: &Ids, request: Request, edits: &[Edit]) -> Result<Request, Stop> {
    edits.iter().try_fold(request, |request, edit| edit.apply(probe, ids, request))
}

/// The request with these differences.
pub(crate) fn edited(probe: &Probe<'_>, request: Request, edits: &[Edit]) -> Result<Request, Stop> {
    apply(probe, &Ids::default(), request, edits)
}

async fn judge(probe: &Probe<'_>, (clause, row): (Clause, Arc<Row>)) -> Result<(), Stop> {
    match row.must {
        Must::BeAlike => return row.be_alike(probe, clause).await,
        Must::Flow(flow, _) => return flow(probe, row).await,
        _ => {}
    }
    let ids = Ids::default();
    let valid = apply(probe, &ids, row.base.request(probe).await?, &row.valid.edits)?;
    let changed = |edits: &[Edit]| apply(probe, &ids, valid.clone(), edits);
    let requests = row.requests.iter().map(|(why, edits)| Ok((why, changed(edits)?)));
    let requests = requests.collect::<Result<Vec<_>, Stop>>()?;
    if let Some(before) = &row.before {
        row.control(probe, &valid).await?;
        row.form().accepted(probe, &changed(before)?).await?;
    }
    for (why, request) in requests {
        let words = row.words(why);
        match &row.must {
            Must::BeAlike | Must::Flow(..) => {}
            Must::BeShort { like } => must_be_short(probe, clause, why, like, &request).await?,
            Must::Serve { .. } => row.serve(probe, (clause, &words), (&valid, &request), &ids).await?,
            Must::RespondSomehow(unspecified) => {
                row.control(probe, &valid).await?;
                probe.tolerates(clause, *unspecified, why, &request).await?;
            }
            Must::Reject { even_as_text } => {
                row.control(probe, &valid).await?;
                rejects(probe, (clause, &words), &request, *even_as_text).await?;
                row.credential().proves_valid(probe).await?;
            }
        }
    }
    Ok(())
}

impl Row {
    /// Each request has request ids of its own, since a known one with other parameters is unspecified.
    async fn be_alike(&self, probe: &Probe<'_>, clause: Clause) -> Result<(), Stop> {
        let (mut accepted, mut rejected) = (Vec::new(), Vec::new());
        for (why, edits) in &self.requests {
            let request = edited(probe, self.base.request(probe).await?, edits)?;
            let (exchange, class) = probe.send(&request).await?;
            if is_undecided(&class) {
                return Err(undecided(&class));
            }
            // The other request is the control, so a server error and a broken connection count too.
            let is_accepted = class.decision() == Decision::Accepted;
            let responses = if is_accepted { &mut accepted } else { &mut rejected };
            responses.push((why, exchange, class));
        }
        match (&accepted[..], &rejected[..]) {
            ([(other, control, _), ..], [(why, exchange, class), ..]) => {
                let expected = format!("accepted: {}, as {other}", self.words(why));
                probe.finding_beside(clause, &expected, class.description(), &[exchange], &[control]);
                Ok(())
            }
            ([], _) => Err(probe.skip("the service accepts neither of two requests that mean the same")),
            (_, []) => Ok(()),
        }
    }

    async fn serve(
        &self,
        probe: &Probe<'_>,
        (clause, words): (Clause, &str),
        (valid, request): (&Request, &Request),
        ids: &Ids,
    ) -> Result<(), Stop> {
        let Must::Serve { unless, judges, .. } = &self.must else { return Ok(()) };
        let judge = async |words: &str, served: &AcceptedResponse| {
            for judge in judges {
                judge.of(probe, (clause, words), served).await?;
            }
            Ok::<_, Stop>(())
        };
        let words = &match unless {
            Unless::Cause => format!("{}, {words}", cause::words(&probe.contract().extract, &self.form())),
            _ => words.to_owned(),
        };
        let served = match unless {
            Unless::Finding => {
                probe.accepts_or_control(clause, words, request, self.control(probe, valid)).await?
            }
            Unless::Control => Some(self.form().accepted(probe, request).await?),
            Unless::Cause => find_cause(probe, &self.form(), words, request).await?,
            Unless::Nothing | Unless::Scarce => {
                let (exchange, class) = probe.send_once(request).await?;
                let is_503 = exchange.result.as_ref().is_ok_and(|response| response.status == 503);
                let served = accepted(&exchange, &class);
                let is_short = is_503 || matches!(class, ResponseClass::Shortage(_));
                if served.is_none() && is_short && *unless == Unless::Scarce {
                    probe.observe(Unspecified::ExtractShortRegion, &self.words("a shortage"));
                }
                let nothing = || format!("there is no result to judge: {}", class.description());
                Some(served.ok_or_else(|| probe.skip(&nothing()))?)
            }
        };
        let (Some(mut served), mut words) = (served, words.to_owned()) else { return Ok(()) };
        for then in &self.then {
            match then {
                Then::Again(cited, why, edits) => {
                    let again = apply(probe, ids, request.clone(), edits)?;
                    judge_repeated(probe, cited.unwrap_or(clause), &self.words(why), &served, &again).await?;
                }
                Then::Alike => {
                    // First, since nothing is judged behind a repetition that can't be.
                    judge(&words, &served).await?;
                    let given = gateways(probe, &served.exchange);
                    let (again, class) = probe.send_once(&request.clone().giving_again(given)).await?;
                    let Some(again) = accepted(&again, &class) else { return Ok(()) };
                    (served, words) = (again, format!("{words}, repeated"));
                }
                Then::Other(edits) => {
                    probe.control(&apply(probe, ids, valid.clone(), edits)?).await?;
                }
                Then::Invalid(edits) => {
                    probe.send_once(&apply(probe, ids, valid.clone(), edits)?.as_invalid()).await?;
                }
            }
        }
        judge(&words, &served).await
    }
}
