//! A service of other makers: it keeps every clause and shares no line with the reference server. Wherever the contract is
//! silent it decides otherwise than that one, most often in the least convenient way.

mod data;
mod extract;
mod search;

use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::sync::{Mutex, PoisonError};

use futures::future::BoxFuture;
use hyper::header::{CACHE_CONTROL, HeaderValue};
use sallyport_conformance::contract::OperationId;
use sallyport_conformance::lab::{Handler, ProxiedRequest, Reply};
use sallyport_conformance::target::{KnownInstance, RejectedToken, RejectionReason};
use sallyport_conformance::{Contract, Facts, Secret, Target};
use serde_json::{Value, json};

use data::Account;

/// The service.
pub struct OtherServer {
    contract: &'static Contract,
    instances: Vec<data::Instance>,
    /// Gateways that were handed out, and the extractions that request ids stand for.
    pool: Mutex<Pool>,
}

#[derive(Default)]
struct Pool {
    next: usize,
    remembered: HashMap<(Account, String), (String, Reply)>,
}

/// Why a request is rejected.
struct Rejection(&'static str);

impl OtherServer {
    /// The service with its data.
    pub fn new() -> Self {
        let contract = Contract::embedded().expect("the embedded contract is complete");
        Self { contract, instances: data::instances(), pool: Mutex::default() }
    }

    /// The service as a target, with what its tester knows.
    pub fn target(&self, base_url: &str) -> Target {
        let secret = |token: &'static str| Some(Secret::new("OTHER_SERVER", token));
        let of = |account| self.instances.iter().filter(move |instance| instance.account == account);
        let mut own: Vec<_> = of(Account::Main).map(|instance| instance.ip.clone()).collect();
        own.dedup();
        let orders = data::ORDERS.map(|number| {
            let held = of(Account::Main).filter(|instance| instance.order == number);
            sallyport_conformance::target::KnownOrder {
                number: number.to_owned(),
                addresses: held.map(|instance| instance.ip.clone()).collect(),
            }
        });
        let foreign = of(Account::Second).map(|instance| instance.ip.clone()).filter(|ip| !own.contains(ip));
        let facts = Facts {
            foreign_addresses: foreign.collect(),
            own_addresses: own,
            orders: orders.to_vec(),
            foreign_order: Some(data::FOREIGN_ORDER.to_owned()),
            foreign_group: Some(data::FOREIGN_GROUP),
            shared_address: Some(data::SHARED.to_owned()),
            second_token: secret("second-5f21"),
            empty_token: secret("empty-9c04"),
            link_credential: secret("link-77aa"),
            revoked_token: secret("revoked-01de"),
            token_not_whitelisted: secret("elsewhere-c0de"),
            token_not_verified: secret("nameless-beef"),
            token_not_entitled: secret("unpaid-f00d"),
            token_partly_entitled: secret("socks-only-1234"),
            plentiful_region: Some("KEN".to_owned()),
            scarce_region: Some("FJI".to_owned()),
            empty_region: Some("NRU".to_owned()),
            known_gateways: Vec::new(),
            entitled_protocols: vec!["http".to_owned(), "socks5".to_owned()],
            own_groups: data::groups(Account::Main).iter().map(|(id, _)| *id).collect(),
            known_instances: of(Account::Main).map(known).collect(),
            rejected_tokens: vec![RejectedToken {
                token: Secret::new("OTHER_SERVER", "revoked-01de"),
                reason: RejectionReason::Revoked,
                note: String::new(),
            }],
            egress_ip: Some(Ipv4Addr::LOCALHOST),
            canaries: vec![Secret::new("CANARIES", "never-shown-0000")],
        };
        Target::new(base_url, Secret::new("API_KEY", "main token, with spaces & signs"), facts, false)
            .expect("a proxy has a usable address")
    }

    /// The account of an API token that is in force.
    fn account(token: &str) -> Option<Account> {
        Some(match token {
            "main token, with spaces & signs" => Account::Main,
            "second-5f21" => Account::Second,
            "empty-9c04" => Account::Empty,
            "elsewhere-c0de" => Account::Elsewhere,
            "nameless-beef" => Account::Nameless,
            "unpaid-f00d" => Account::Unpaid,
            "socks-only-1234" => Account::SocksOnly,
            _ => return None,
        })
    }

    fn pool(&self) -> std::sync::MutexGuard<'_, Pool> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The account of a static operation; there the query may hold the token and nothing else.
    fn caller(seen: &ProxiedRequest) -> Result<Account, Rejection> {
        match seen.params().as_slice() {
            [(name, token)] if name == "api_key" => Self::account(token).ok_or(Rejection("unknown token")),
            _ => Err(Rejection("one token and nothing else")),
        }
    }

    fn groups(&self, seen: &ProxiedRequest) -> Result<Value, Rejection> {
        let account = Self::caller(seen)?;
        let items: Vec<_> = data::groups(account).iter().map(|(id, name)| {
            json!({"name": name, "groupId": id, "createdAt": "2025-12-31t23:59:60.5z".replace("60.5", "59.5"),
                   "updatedAt": "2026-01-01T00:00:00.000000001+14:00", "colour": null})
        }).collect();
        Ok(json!({"items": items, "cursor": null}))
    }
}

/// A success of a static operation, and a rejection within HTTP 200 whose data looks like a result without rows.
fn response(result: Result<Value, Rejection>) -> Reply {
    let body = match result {
        Ok(data) => json!({"data": data, "requestId": "\u{2603}", "message": "", "code": 200, "ok": 1}),
        Err(Rejection(why)) => {
            json!({"code": "E-4711", "message": format!("\u{4e0d}: {why}"), "data": {"items": []}})
        }
    };
    let mut reply = Reply::json_with(200, &body);
    if body["code"] == json!(200) {
        reply.headers.insert(CACHE_CONTROL, HeaderValue::from_static("must-revalidate, NO-STORE"));
        reply.headers.insert("x-request-id", HeaderValue::from_static("00-edge"));
    }
    reply
}

impl Handler for OtherServer {
    fn handle<'a>(&'a self, seen: ProxiedRequest) -> BoxFuture<'a, Reply> {
        Box::pin(std::future::ready(self.respond(&seen)))
    }
}

impl OtherServer {
    fn respond(&self, seen: &ProxiedRequest) -> Reply {
        let operation = |id| {
            let operation = self.contract.operation(id);
            operation.path == seen.path && operation.method == seen.method.as_str()
        };
        if operation(OperationId::Groups) {
            response(self.groups(seen))
        } else if operation(OperationId::Search) {
            response(self.search(seen))
        } else if operation(OperationId::Extract) {
            self.extract(seen)
        } else {
            Reply::json_with(410, &json!("gone"))
        }
    }
}

/// What the console of this service shows of an instance.
fn known(instance: &data::Instance) -> KnownInstance {
    let fields = json!({
        "instanceId": instance.id, "status": instance.status, "countryCode": instance.country, "cityCode": instance.city,
        "groupId": instance.group, "activatedAt": instance.activated.map(|time| time.to_string()),
    });
    KnownInstance {
        ip: instance.ip.parse().expect("an address"),
        spelling: instance.ip.clone(),
        port: instance.port,
        order: Some(instance.order.to_owned()),
        fields: fields.as_object().cloned().unwrap_or_default(),
    }
}
