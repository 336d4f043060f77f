//! The variations of the lab, and variations in what the tester has and knows. Those that concern different things are tested
//! together, since a run takes seconds.

use std::sync::Arc;

use sallyport_conformance::lab::{self, Backend, Context, Kind, Row, Upstream};
use sallyport_conformance::{Facts, Secret, Target};

use crate::world::target as world_target;

/// A variation and what is tested through it.
#[derive(Clone)]
pub struct TestedVariation {
    /// Unique.
    pub id: &'static str,
    /// The server; none for one that is as ours.
    variation: Option<&'static Row>,
    /// The account that is tested, with what its tester knows.
    target: TargetOf,
}

type TargetOf = fn(&Backend, &str) -> Target;

/// What variations concern. In one server each is decided otherwise by one variation at most, so that none hides another. The later
/// ones are nearer to the caller: what is nearer than a success code no longer finds a success.
const ORDER: &str = "rejection-status rejection-body tokens parameters fields items unknown-regions gateways shortages \
    instance-order pages-past-end unknown-filters times spelling static-members extract-members text \
    static-code extract-code json-text headers framing";

/// What variations concern, by the beginnings of their ids.
const ASPECTS: &str = include_str!("aspects.txt");

/// Servers of other makers.
const SERVERS: &str = include_str!("variations.txt");

impl TestedVariation {
    /// The places in [`ORDER`] of what it concerns.
    fn aspects(&self) -> Vec<usize> {
        let rows = ASPECTS.lines().filter(|row| !row.starts_with('#')).filter_map(|row| row.split_once(": "));
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
        self.servers().any(|variation| variation.has_capitals())
    }

    /// The server with all of them.
    pub fn upstream(&self, backend: &Arc<Backend>) -> Upstream {
        self.servers().fold(backend.upstream.clone(), |upstream, variation| {
            Upstream::new(variation.server(Context::before(upstream, backend)))
        })
    }

    /// Why the row of one of them could not be followed: such a server is no variation.
    pub fn failures(&self) -> impl Iterator<Item = String> {
        self.servers().filter_map(|variation| variation.failure().map(str::to_owned))
    }

    fn servers(&self) -> impl Iterator<Item = &'static Row> {
        self.variations.iter().filter_map(|one| one.variation)
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

pub fn all() -> Vec<TestedVariation> {
    let servers = Row::parse("variations.txt", SERVERS, Kind::Variation).expect("rows that can be read");
    let of_server = servers.iter().chain(lab::variations()).map(|variation| {
        let target: TargetOf = match &*variation.id {
            "extract.proxy-on-this-machine-trusted" => without_egress_ip,
            _ => world_target,
        };
        TestedVariation { id: &variation.id, target, variation: Some(variation) }
    });
    accounts().into_iter().chain(of_server).collect()
}

fn accounts() -> Vec<TestedVariation> {
    let tested = |id, target: TargetOf| TestedVariation { id, variation: None, target };
    let past_end = lab::variations().iter().find(|one| one.id == "search.page-past-end-rejected");
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
            variation: past_end,
            target: one_address,
        },
    ]
}

fn without_egress_ip(world: &Backend, base: &str) -> Target {
    target(base, world.token.clone(), Facts { egress_ip: None, ..world.facts.clone() })
}

fn target(base: &str, token: Secret, facts: Facts) -> Target {
    // The name decides how reports show the token.
    let token = Secret::new("API_KEY", token.expose());
    Target::new(base, token, facts, false).expect("a proxy has a usable address")
}
