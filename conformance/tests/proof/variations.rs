//! The variations of the lab, and variations in what the tester has and knows. Those that concern different things are tested
//! together, since a run takes seconds.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use sallyport_conformance::lab::{self, Backend, Context, Reply, Upstream, Variation, VariedServer};
use sallyport_conformance::{Facts, Secret, Target};
use serde_json::{Value, json};

use crate::world::target as world_target;

/// A variation and what is tested through it.
#[derive(Clone)]
pub struct TestedVariation {
    /// Unique.
    pub id: &'static str,
    /// The server; none for one that is as ours.
    variation: Option<Arc<Variation>>,
    /// The account that is tested, with what its tester knows.
    target: TargetOf,
}

type TargetOf = fn(&Backend, &str) -> Target;

/// What variations concern. In one server each is decided otherwise by one variation at most, so that none hides another. The later
/// ones are nearer to the caller: what is nearer than a success code no longer finds a success.
const ORDER: &str = "rejection-status rejection-body tokens parameters fields items unknown-regions gateways shortages \
    instance-order pages-past-end unknown-filters times spelling static-members extract-members text \
    static-code extract-code json-text headers framing";

/// Of what variations concern, with the beginnings of their ids, of which the longest counts. A variation without a row is tested
/// alone. Of texts in UTF-16 `observe` does not see another order, and a separator in the text of no gateways would make it neither.
const ASPECTS: &str = "\
rejection-status: rejections.all- rejections.created rejections.within-200
rejection-status rejection-body: rejections.code-is-status rejections.static-redirect rejections.static-status-alone rejections.within-200-
rejection-status gateways: extract.first-answer-of-a-request-id
rejection-body: rejections.
tokens: accounts.static-operations-check-access extract.link-credential-by-header-alone static.link-credentials-accepted static.token-by-header static.unknown-parameters-ignored
tokens instance-order: accounts.ids-counted-in-each
parameters: extract.empty-parameters-ignored extract.first-of-repeated-parameters extract.unknown-parameters-ignored extract.unused-separator-ignored
fields: search.any-content-type search.empty-filter-is-absent search.letter-case-of-country search.null-is-absent search.unknown-fields-ignored search.whole-number-with-fraction
items: addresses.
unknown-regions: extract.empty-region-is-unknown extract.unknown-region-
unknown-regions gateways: extract.default-region-by-pools
gateways: extract.one-gateway-for-all extract.other-order-each-time
gateways shortages: extract.gateways-lent
gateways text: extract.replay-in-another-order
shortages: extract.flag- extract.full-result-without-headers extract.shortage-
shortages text: extract.always-partial
instance-order: search.descending
pages-past-end: search.page-past-end-rejected
unknown-filters: search.groups-not-held-rejected search.orders-not-held-rejected
times: search.times-finer-than-nanoseconds times.
times spelling: search.filtered-results-spelt-otherwise
spelling: addresses.in-
static-members: static.
extract-members: extract.empty-msg extract.entries-with- extract.more-fields
text: extract.text-
text headers: extract.text-in-
static-code: static.code-with-fraction
extract-code: extract.code-with-fraction
json-text: http.escaped-json http.other-request-ids http.pretty-json
headers: http.cache-control-with-more http.further-headers http.json-with-charset http.no-content-type
framing: http.capital-headers http.closes-each-connection http.gzip http.in-pieces
";

impl TestedVariation {
    /// The places in [`ORDER`] of what it concerns.
    fn aspects(&self) -> Vec<usize> {
        let rows = ASPECTS.lines().filter_map(|row| row.split_once(": "));
        let prefixes = rows.flat_map(|(of, prefixes)| prefixes.split(' ').map(move |prefix| (prefix, of)));
        let longest =
            prefixes.filter(|(prefix, _)| self.id.starts_with(prefix)).max_by_key(|row| row.0.len());
        let of = longest.iter().flat_map(|(_, of)| of.split(' '));
        of.map(|aspect| ORDER.split(' ').position(|known| known == aspect).expect("a known aspect")).collect()
    }
}

/// Variations that are tested together: the first one is nearest to the reference server.
pub struct Varied {
    variations: Vec<TestedVariation>,
    /// The account that is tested, with what its tester knows.
    pub target: TargetOf,
}

impl Varied {
    fn new(variation: TestedVariation) -> Self {
        Self { target: variation.target, variations: vec![variation] }
    }

    /// The ids.
    pub fn name(&self) -> String {
        self.variations.iter().map(|variation| variation.id).collect::<Vec<_>>().join(" + ")
    }

    /// Each of them alone.
    pub fn each(&self) -> impl Iterator<Item = Self> {
        self.variations.iter().cloned().map(Self::new)
    }

    /// Whether names of headers are spelt with capitals.
    pub fn has_capitals(&self) -> bool {
        self.variations.iter().filter_map(|one| one.variation.as_ref()).any(|variation| variation.capitals)
    }

    /// The server with all of them.
    pub fn upstream(&self, backend: &Arc<Backend>) -> Upstream {
        let varied = self.variations.iter().filter_map(|one| one.variation.clone());
        varied.fold(backend.upstream.clone(), |upstream, variation| {
            Upstream::new(VariedServer { variation, context: Context::before(upstream, backend) })
        })
    }

    fn has_room_for(&self, variation: &TestedVariation) -> bool {
        let aspects = variation.aspects();
        let is_taken = |one: &TestedVariation| {
            one.aspects().is_empty() || one.aspects().iter().any(|aspect| aspects.contains(aspect))
        };
        !aspects.is_empty() && !self.variations.iter().any(is_taken)
    }
}

/// Every variation, in as few servers as their aspects allow.
pub fn together() -> Vec<Varied> {
    let mut servers: Vec<Varied> = Vec::new();
    for variation in all() {
        match servers.iter_mut().find(|server| server.has_room_for(&variation)) {
            Some(server) => server.variations.push(variation),
            None => servers.push(Varied::new(variation)),
        }
    }
    for server in &mut servers {
        server.variations.sort_by_key(|variation| variation.aspects().last().copied());
    }
    servers
}

/// Every variation.
pub fn all() -> Vec<TestedVariation> {
    let of_server = servers().into_iter().chain(lab::variations()).map(|variation| {
        let target: TargetOf = match variation.id {
            "extract.proxy-on-this-machine-trusted" => without_egress_ip,
            _ => world_target,
        };
        TestedVariation { id: variation.id, target, variation: Some(Arc::new(variation)) }
    });
    accounts().into_iter().chain(of_server).collect()
}

fn accounts() -> Vec<TestedVariation> {
    let tested = |id, target: TargetOf| TestedVariation { id, variation: None, target };
    let past_end = lab::variations().into_iter().find(|one| one.id == "search.page-past-end-rejected");
    let one_address: TargetOf = |world, base| {
        let own_addresses = world.facts.own_addresses.iter().take(1).cloned().collect();
        target(base, world.token.clone(), Facts { own_addresses, ..Facts::default() })
    };
    vec![
        tested("accounts.nothing-known", |world, base| target(base, world.token.clone(), Facts::default())),
        tested("accounts.empty", |world, base| {
            let empty = world.facts.empty_token.clone().expect("the sample has an empty account");
            // The account has neither addresses nor orders nor groups; all else is as it was.
            let facts = Facts {
                own_addresses: Vec::new(),
                orders: Vec::new(),
                own_groups: Vec::new(),
                known_instances: Vec::new(),
                shared_address: None,
                empty_token: None,
                ..world.facts.clone()
            };
            target(base, empty, facts)
        }),
        tested("accounts.empty-with-addresses-of-nobody", |world, base| {
            let empty = world.facts.empty_token.clone().expect("the sample has an empty account");
            let facts = Facts { own_addresses: vec!["203.0.113.250".to_owned()], ..Facts::default() };
            target(base, empty, facts)
        }),
        tested("accounts.second", |world, base| {
            let second = world.facts.second_token.clone().expect("the sample has a second account");
            let facts = Facts { own_addresses: world.facts.foreign_addresses.clone(), ..Facts::default() };
            target(base, second, facts)
        }),
        tested("accounts.one-address", one_address),
        tested("accounts.empty-no-longer", |world, base| {
            // The tester has noticed that the account got groups, and took the fact out.
            let facts = Facts { empty_token: None, ..world.facts.clone() };
            target(base, world.token.clone(), facts)
        }),
        tested("accounts.one-protocol", |world, base| {
            let partly = world.facts.token_partly_entitled.clone().expect("the sample has such an account");
            target(base, partly, Facts::default())
        }),
        TestedVariation {
            id: "accounts.one-address-and-pages-past-the-end-rejected",
            variation: past_end.map(Arc::new),
            target: one_address,
        },
    ]
}

/// Held by the one request that is handled; also one whose connection breaks gives it back.
struct Turn(&'static AtomicBool);

impl Turn {
    fn take(busy: &'static AtomicBool) -> Option<Self> {
        (!busy.swap(true, Ordering::SeqCst)).then_some(Self(busy))
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.store(false, Ordering::SeqCst);
    }
}

/// Servers of other makers.
fn servers() -> Vec<Variation> {
    static BUSY: AtomicBool = AtomicBool::new(false);
    static TURN: AtomicUsize = AtomicUsize::new(0);
    let text = |reply: &Reply| {
        let content_type = reply.headers.get("content-type").and_then(|value| value.to_str().ok());
        content_type.is_some_and(|value| value.starts_with("text/plain"))
    };
    vec![
        // What conforms alone, in company.
        Variation::new(
            "search.filtered-results-spelt-otherwise",
            "Results of a filtered search spell addresses and times otherwise, and order protocols otherwise.",
        )
        .success(|call, reply| {
            let body = call.json();
            let asks_for = |name: &str| body.get(name).is_some_and(|value| !value.is_null());
            if ["orderNo", "groupId", "countryCode", "cityCode", "status"].into_iter().any(asks_for) {
                reply.edit(respell);
            }
        }),
        Variation::new("server.one-request-at-a-time", "A request that comes while another one is handled gets HTTP 429.").serve(|call| {
                Box::pin(async move {
                    let Some(_turn) = Turn::take(&BUSY) else {
                        let body = json!({"code": 42901, "message": "one request at a time"});
                        let mut reply = Reply::json_with(429, &body);
                        reply.set_header("retry-after", "0");
                        return reply;
                    };
                    let reply = call.send().await;
                    tokio::time::sleep(Duration::from_millis(2)).await;
                    reply
                })
            }),
        Variation::new("extract.replay-in-another-order", "Each response has its gateways in another order, also that of a request id that was used before.").success(move |call, reply| {
                let turn = TURN.fetch_add(1, Ordering::SeqCst);
                if text(reply) {
                    let extract = &call.contract.extract;
                    let by = extract.separator(call.param(&extract.lb.name), call.param(&extract.sb.name));
                    let whole = String::from_utf8_lossy(&reply.body).into_owned();
                    let mut entries: Vec<&str> = whole.split(by.as_str()).collect();
                    let at = turn % entries.len().max(1);
                    entries.rotate_left(at);
                    reply.body = entries.join(&by).into();
                } else {
                    reply.edit(|body| {
                        if let Some(entries) =
                            body["data"].as_array_mut().filter(|entries| !entries.is_empty())
                        {
                            let at = turn % entries.len();
                            entries.rotate_left(at);
                        }
                    });
                }
            }),
        Variation::new("extract.text-in-utf-16", "A text response is in UTF-16, as its Content-Type says.").success(move |_, reply| {
                if text(reply) {
                    let units = String::from_utf8_lossy(&reply.body).into_owned();
                    let units = std::iter::once(0xfeff).chain(units.encode_utf16());
                    reply.body = units.flat_map(u16::to_le_bytes).collect::<Vec<u8>>().into();
                    reply.set_header("content-type", "text/plain; charset=utf-16");
                }
            }),
        Variation::new("search.times-finer-than-nanoseconds", "Times have twelve digits of a second, of which the last three are not all zero.").success(|_, reply| {
                reply.edit(|body| {
                    let items = body.pointer_mut("/data/items").and_then(Value::as_array_mut);
                    for item in items.into_iter().flatten() {
                        let finer = item["activatedAt"].as_str().map(|time| {
                            let (whole, fraction) = time
                                .trim_end_matches('Z')
                                .split_once('.')
                                .unwrap_or((time.trim_end_matches('Z'), ""));
                            format!("{whole}.{fraction:0<11}7Z")
                        });
                        if let Some(finer) = finer {
                            item["activatedAt"] = finer.into();
                        }
                    }
                });
            }),
        Variation::new("rejections.within-200-with-what-is-wrong", "Rejections have HTTP status 200, the code of a success of another operation, and `data` says what is wrong.").rejection(|call, reply| {
                let codes = |wanted: bool| {
                    let mut operations = call.contract.operations();
                    let own = move |path: &str| call.path.ends_with(path);
                    operations
                        .find(move |operation| own(&operation.path) == wanted)
                        .map(|operation| operation.success.code)
                };
                if let (Some(own), Some(other)) = (codes(true), codes(false))
                    && own != other
                {
                    reply.status = hyper::StatusCode::OK;
                    reply.edit(|body| {
                        body["code"] = other.into();
                        body["data"] = json!({"field": "num", "reason": "it is wrong"});
                    });
                }
            }),
    ]
}

fn respell(body: &mut Value) {
    for item in body["data"]["items"].as_array_mut().into_iter().flatten() {
        for name in ["ip", "activatedAt", "expiresAt"] {
            let respelt = item[name].as_str().map(|text| match text.strip_suffix('Z') {
                Some(time) => format!("{time}+00:00"),
                None => text.to_uppercase(),
            });
            if let Some(respelt) = respelt {
                item[name] = respelt.into();
            }
        }
        if let Some(protocols) = item["protocols"].as_array_mut() {
            protocols.reverse();
        }
    }
}

fn without_egress_ip(world: &Backend, base: &str) -> Target {
    target(base, world.token.clone(), Facts { egress_ip: None, ..world.facts.clone() })
}

fn target(base: &str, token: Secret, facts: Facts) -> Target {
    // The name decides how reports show the token.
    let token = Secret::new("API_KEY", token.expose());
    Target::new(base, token, facts, false).expect("a proxy has a usable address")
}
