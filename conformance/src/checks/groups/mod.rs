//! The checks of the listing of groups.

use serde_json::Value;

use crate::check::{AcceptedResponse, Case, Check, Cost, Probe, Run, Stop};
use crate::checks::relation::survey;
use crate::checks::token::{NOT_ONE, UNKNOWN, WrongToken, rejected_alike};
use crate::checks::{Requests, schema, success, token};
use crate::contract::{Clause, OperationId};
use crate::quantity::quantity;
use crate::target::{Fact, Secret};
use crate::wire::Request;

pub(super) static CHECKS: &[&Check] =
    &[&EMPTY, &COMPLETE, &LISTED, &SCHEMA, &SUCCESS, &HEADERS, &CALLERS_ID, &ORDER, &TOKEN];

static EMPTY: Check = Check {
    id: "groups.empty.account",
    title: "an account without groups gets an empty array",
    why: "Clients fail on null or on a missing list for every new customer.",
    operation: Some(OperationId::Groups),
    clauses: &[Clause::GroupsEmpty],
    needs: &[Fact::EmptyToken],
    run: Run::Cases(|_| Case::single(Cost::requests(5), |probe| Box::pin(empty(probe)))),
};

async fn empty(probe: &Probe<'_>) -> Result<(), Stop> {
    let token = probe.required(Fact::EmptyToken, |facts| facts.empty_token.as_ref())?;
    let name = &probe.contract().groups.api_key.name;
    probe.control_once(&probe.groups()).await?;
    let request = probe.groups().query(name, token.expose());
    if is_unknown(probe, &request, token).await? {
        let reason = format!(
            "list groups and search reject the token as they do an unknown one, so that nothing shows it to be valid: \
             expected {}",
            Fact::EmptyToken
        );
        return Err(probe.inconclusive(&reason));
    }
    let Some(accepted) = probe.accepts(Clause::GroupsEmpty, "an account without groups", &request).await?
    else {
        return Ok(());
    };
    let items = accepted.response.at("/data/items");
    match items.and_then(Value::as_array) {
        Some(items) if items.is_empty() => Ok(()),
        Some(items) if items.iter().all(Value::is_object) => {
            let expected = format!("an empty array, as supplied by {}", Fact::EmptyToken.variable());
            let actual = quantity(items.len(), "group");
            probe.finding(Clause::GroupsEmpty, &expected, &actual, &[&accepted.exchange]);
            Ok(())
        }
        _ => {
            let actual = items.map_or_else(|| "no items at all".to_owned(), ToString::to_string);
            probe.finding(Clause::GroupsEmpty, "an empty array", &actual, &[&accepted.exchange]);
            Ok(())
        }
    }
}

/// Whether neither static operation knows the token.
async fn is_unknown(probe: &Probe<'_>, listing: &Request, token: &Secret) -> Result<bool, Stop> {
    if probe.is_accepted(listing).await?.1 {
        return Ok(false);
    }
    let name = &probe.contract().search.api_key.name;
    let search = |token: &str| probe.any_search().query(name, token);
    let ((supplied, is_accepted), (unknown, _)) =
        (probe.is_accepted(&search(token.expose())).await?, probe.is_accepted(&search(UNKNOWN)).await?);
    Ok(!is_accepted && rejected_alike(&supplied, &unknown))
}

static COMPLETE: Check = Check {
    id: "groups.envelope.complete",
    title: "a listing holds every group that an instance of the account is in",
    why: "Instances of a group that is not listed can't be found by group, and look ungrouped.",
    operation: Some(OperationId::Groups),
    clauses: &[Clause::GroupsEnvelope],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| Case::single(Cost::requests(7), |probe| Box::pin(complete(probe)))),
};

async fn complete(probe: &Probe<'_>) -> Result<(), Stop> {
    let survey = survey(probe).await?;
    let held = survey.values(|instance| instance.group);
    if held.is_empty() {
        return Err(probe.skip_lacking(
            "no surveyed instance is in a group",
            "addresses of such instances",
            Fact::OwnAddresses,
        ));
    }
    let listing = probe.control(&probe.groups()).await?;
    let listed = ids(&listing);
    let missing: Vec<_> = held.iter().filter(|group| !listed.contains(group)).collect();
    // A group may have been deleted or its instances moved since the survey.
    if missing.is_empty() || !survey.holds_still(probe).await? {
        return Ok(());
    }
    let again = probe.control(&probe.groups()).await?;
    let listed = ids(&again);
    let missing: Vec<_> = missing.into_iter().filter(|group| !listed.contains(group)).collect();
    if !missing.is_empty() {
        let actual =
            format!("{} of {} missing, such as {}", missing.len(), quantity(held.len(), "group"), missing[0]);
        let expected = "every group that an instance of the account is in";
        probe.finding(Clause::GroupsEnvelope, expected, &actual, &[&listing.exchange, &again.exchange]);
    }
    Ok(())
}

static LISTED: Check = Check {
    id: "groups.envelope.listed",
    title: "a listing holds the known groups of the account and no others",
    why: "Whoever walks the listing to find all instances misses those of a group that is not in it.",
    operation: Some(OperationId::Groups),
    clauses: &[Clause::AllOwnAccount, Clause::GroupsEnvelope],
    needs: &[Fact::OwnGroups],
    run: Run::Cases(|_| Case::single(Cost::requests(1), |probe| Box::pin(known(probe)))),
};

async fn known(probe: &Probe<'_>) -> Result<(), Stop> {
    const SHOWN: usize = 5;
    let known = &probe.facts().own_groups;
    let listing = probe.control(&probe.groups()).await?;
    let listed = ids(&listing);
    let expected = format!("exactly the groups supplied by {}", Fact::OwnGroups.variable());
    let told = |groups: &[&i64], what: &str| {
        let shown: Vec<_> = groups.iter().take(SHOWN).map(ToString::to_string).collect();
        let more = if groups.len() > SHOWN { ", …" } else { "" };
        format!("{} {what}: {}{more}", groups.len(), shown.join(", "))
    };
    let missing: Vec<_> = known.iter().filter(|group| !listed.contains(group)).collect();
    if !missing.is_empty() {
        let actual = told(&missing, "missing");
        probe.finding(Clause::GroupsEnvelope, &expected, &actual, &[&listing.exchange]);
    }
    let others: Vec<_> = listed.iter().filter(|group| !known.contains(group)).collect();
    if !others.is_empty() {
        let actual = told(&others, "listed that are not among them");
        probe.finding(Clause::AllOwnAccount, &expected, &actual, &[&listing.exchange]);
    }
    Ok(())
}

fn ids(listing: &AcceptedResponse) -> Vec<i64> {
    let items = listing.response.at("/data/items").and_then(Value::as_array);
    items.into_iter().flatten().filter_map(|item| item.get("groupId")?.as_i64()).collect()
}

static SCHEMA: Check = Check {
    id: "groups.envelope.schema",
    title: "every successful listing matches the schema of the document",
    why: "Clients that are generated from the document fail on a field that is missing or of another type.",
    operation: Some(OperationId::Groups),
    clauses: &[Clause::GroupsEnvelope, Clause::GroupsFields, Clause::GroupsHeaders, Clause::GroupsOrder],
    needs: &[],
    run: Run::Passive(schema::judge),
};

static SUCCESS: Check = Check {
    id: "groups.envelope.success",
    title: "a valid listing returns HTTP 200 with code 200",
    why: "Clients check both; when they disagree, a success is discarded or an error is taken for a success.",
    operation: Some(OperationId::Groups),
    clauses: &[Clause::GroupsEnvelope],
    needs: &[],
    run: Run::Cases(|_| Case::single(Cost::requests(1), |probe| Box::pin(succeeds(probe)))),
};

async fn succeeds(probe: &Probe<'_>) -> Result<(), Stop> {
    success::judge(probe, Clause::GroupsEnvelope, &probe.groups()).await
}

static HEADERS: Check = Check {
    id: "groups.headers.request-id",
    title: "`X-Request-Id` of a listing is not empty",
    why: "Support can't find a call without its id.",
    operation: Some(OperationId::Groups),
    clauses: &[Clause::GroupsHeaders],
    needs: &[],
    run: Run::Passive(|observed| schema::judge_request_id(observed, Clause::GroupsHeaders)),
};

static CALLERS_ID: Check = Check {
    id: "groups.headers.callers-id",
    title: "a listing has its headers also when the caller sends a request id",
    why: "Gateways add an id to every call; a service that takes it over may leave out its own.",
    operation: Some(OperationId::Groups),
    clauses: &[Clause::GroupsHeaders],
    needs: &[],
    run: Run::Cases(|_| Case::single(Cost::requests(2), |probe| Box::pin(with_callers_id(probe)))),
};

/// The headers of every response are judged; this one brings about a response of its own.
async fn with_callers_id(probe: &Probe<'_>) -> Result<(), Stop> {
    probe.control_once(&probe.groups()).await?;
    let header = &probe.contract().extract.request_id_header.name;
    let request = probe.groups().header(header, probe.fresh_request_id());
    let why = "a request id of the caller in a header that every call may have";
    let Some(accepted) = probe.accepts(Clause::GroupsHeaders, why, &request).await? else { return Ok(()) };
    let success = &probe.contract().groups.operation.success;
    let body = accepted.response.json().unwrap_or(&Value::Null);
    for violation in success.violations(body, |name| accepted.response.header_values(name)) {
        if violation.clause == Clause::GroupsHeaders {
            probe.violation(&violation, &accepted.exchange);
        }
    }
    Ok(())
}

static ORDER: Check = Check {
    id: "groups.order.ascending",
    title: "groups ascend by id",
    why: "Clients that continue after the last id they have seen miss groups, and the order of a list changes between calls.",
    operation: Some(OperationId::Groups),
    clauses: &[Clause::GroupsOrder],
    needs: &[],
    run: Run::Cases(|_| {
        vec![
            Case::new("repeated", Cost::requests(3), |probe| Box::pin(order(probe))),
            Case::new("many times", Cost::requests(MANY), |probe| Box::pin(always(probe))),
        ]
    }),
};

/// Listings in a row, more than a service has replicas that could disagree.
const MANY: u32 = 12;

/// The order holds for every listing.
async fn always(probe: &Probe<'_>) -> Result<(), Stop> {
    for _ in 0..MANY {
        let (count, is_ascending) = judge(probe, &probe.control(&probe.groups()).await?)?;
        if count < 2 {
            return Err(probe.skip("the account has fewer than two groups: use one with several"));
        }
        if !is_ascending {
            break;
        }
    }
    Ok(())
}

async fn order(probe: &Probe<'_>) -> Result<(), Stop> {
    let name = &probe.contract().groups.api_key.name;
    if let Some(second) = &probe.facts().second_token {
        let listing = probe.control(&probe.groups().query(name, second.expose())).await?;
        judge(probe, &listing)?;
    }
    let listing = probe.control(&probe.groups()).await?;
    if judge(probe, &listing)?.0 < 2 {
        return Err(probe.skip("the account has fewer than two groups: use one with several"));
    }
    // The order holds for every listing, not for the first alone.
    judge(probe, &probe.control(&probe.groups()).await?)?;
    Ok(())
}

/// Reports a group that does not stand above the one before; gives how many groups there are, and whether they ascend.
fn judge(probe: &Probe<'_>, listing: &AcceptedResponse) -> Result<(usize, bool), Stop> {
    let items = listing.response.at("/data/items").and_then(Value::as_array);
    let items =
        items.ok_or_else(|| probe.inconclusive("the listing has no items; see groups.envelope.schema"))?;
    let ids: Vec<i64> = items.iter().filter_map(|item| item.get("groupId")?.as_i64()).collect();
    let wrong = ids.windows(2).find(|pair| pair[0] >= pair[1]);
    if let Some(pair) = wrong {
        let actual = format!("{} stands before {}", pair[0], pair[1]);
        probe.finding(
            Clause::GroupsOrder,
            "each groupId above the one before",
            &actual,
            &[&listing.exchange],
        );
    }
    Ok((ids.len(), wrong.is_none()))
}

static TOKEN: Check = Check {
    id: "groups.token.single",
    title: "a listing takes one non-empty token: a missing, empty or repeated one is rejected",
    why: "With two tokens, which account is listed depends on the order in which a service reads them.",
    operation: Some(OperationId::Groups),
    clauses: &[Clause::GroupsToken],
    needs: &[],
    run: Run::Cases(|_| {
        let one = Cost::requests(1);
        let wrong = WrongToken::ALL.map(|wrong| {
            Case::with(wrong.label(), one, wrong, |probe, wrong| {
                Box::pin(async move {
                    let name = &probe.contract().groups.api_key.name;
                    let bad = probe.groups().query(name, wrong.text(probe)?);
                    single(probe, wrong.reason(), &bad).await
                })
            })
        });
        let changed = NOT_ONE.map(|(label, change)| {
            Case::with(label, one, (label, change), |probe, (label, change)| {
                Box::pin(async move {
                    let bad = change(probe, &probe.contract().groups.api_key.name, probe.groups());
                    single(probe, label, &bad).await
                })
            })
        });
        let of_two_accounts = Case::new("the tokens of two accounts are sent", one, |probe| {
            Box::pin(async move {
                let second = probe.required(Fact::SecondToken, |facts| facts.second_token.as_ref())?;
                let name = &probe.contract().groups.api_key.name;
                let bad = probe.groups().add_query(name, second.expose());
                single(probe, "tokens of two accounts are sent", &bad).await
            })
        });
        let anywhere = Case::new("written otherwise", Cost::requests(5), |probe| {
            Box::pin(async move {
                let name = &probe.contract().groups.api_key.name;
                token::read_anywhere(probe, Clause::GroupsToken, &probe.groups(), name).await
            })
        });
        let of_two_accounts = of_two_accounts.needs([Fact::SecondToken]);
        let controlled = wrong.into_iter().chain(changed).chain([of_two_accounts]);
        controlled.map(|case| case.sharing("groups", one)).chain([anywhere]).collect()
    }),
};

async fn single(probe: &Probe<'_>, why: &str, bad: &Request) -> Result<(), Stop> {
    probe.rejects_after_control(Clause::GroupsToken, why, &probe.groups(), bad).await
}
