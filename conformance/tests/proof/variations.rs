//! The variations of the lab, and variations in what the tester has and knows. Those that concern different things are tested
//! together, since a run takes seconds.

use std::sync::Arc;

use sallyport_conformance::lab::{self, Backend, Context, Kind, Row, Upstream};
use sallyport_conformance::{Facts, Secret, Target};

/// A variation and what is tested through it.
#[derive(Clone)]
pub struct TestedVariation {
    pub id: &'static str,
    /// The server; none for one that is as ours.
    variation: Option<&'static Row>,
    tester: Tester,
}

/// The token of the account that is tested, unless it is the main one, and what its tester knows, of all that can be known.
type Tester = fn(&Facts) -> (Option<Secret>, Facts);

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
}

impl Varied {
    fn new(variation: TestedVariation) -> Self {
        Self { variations: vec![variation] }
    }

    pub fn name(&self) -> String {
        self.variations.iter().map(|variation| variation.id).collect::<Vec<_>>().join(" + ")
    }

    pub fn each(&self) -> impl Iterator<Item = Self> {
        self.variations.iter().cloned().map(Self::new)
    }

    /// The server at this address, as the tester of the first one knows it.
    pub fn target(&self, backend: &Backend, base: &str) -> Target {
        let (token, facts) = (self.variations[0].tester)(&backend.facts);
        // The name decides how reports show the token.
        let token = Secret::new("API_KEY", token.as_ref().unwrap_or(&backend.token).expose());
        Target::new(base, token, facts, false).expect("a proxy has a usable address")
    }

    /// Whether names of headers are spelt with capitals.
    pub fn has_capitals(&self) -> bool {
        self.servers().any(|variation| variation.has_capitals())
    }

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
        let tester: Tester = match &*variation.id {
            "extract.proxy-on-this-machine-trusted" => {
                |facts| (None, Facts { egress_ip: None, ..facts.clone() })
            }
            _ => |facts| (None, facts.clone()),
        };
        TestedVariation { id: &variation.id, tester, variation: Some(variation) }
    });
    accounts().into_iter().chain(of_server).collect()
}

fn accounts() -> Vec<TestedVariation> {
    let tested = |id, tester: Tester| TestedVariation { id, variation: None, tester };
    let past_end = lab::variations().iter().find(|one| one.id == "search.page-past-end-rejected");
    let one_address: Tester = |facts| (None, with_addresses(&facts.own_addresses[..1]));
    vec![
        tested("accounts.nothing-known", |_| (None, Facts::default())),
        tested("accounts.empty", |facts| {
            // The account has neither addresses nor orders nor groups; all else is as it was.
            let known = Facts {
                own_addresses: Vec::new(),
                orders: Vec::new(),
                own_groups: Vec::new(),
                known_instances: Vec::new(),
                shared_address: None,
                empty_token: None,
                ..facts.clone()
            };
            (of_sample(&facts.empty_token), known)
        }),
        tested("accounts.empty-with-addresses-of-nobody", |facts| {
            (of_sample(&facts.empty_token), with_addresses(&["203.0.113.250".to_owned()]))
        }),
        tested("accounts.second", |facts| {
            (of_sample(&facts.second_token), with_addresses(&facts.foreign_addresses))
        }),
        tested("accounts.one-address", one_address),
        // The tester has noticed that the account got groups, and took the fact out.
        tested("accounts.empty-no-longer", |facts| (None, Facts { empty_token: None, ..facts.clone() })),
        tested("accounts.one-protocol", |facts| (of_sample(&facts.token_partly_entitled), Facts::default())),
        TestedVariation {
            id: "accounts.one-address-and-pages-past-the-end-rejected",
            variation: past_end,
            tester: one_address,
        },
    ]
}

fn of_sample(token: &Option<Secret>) -> Option<Secret> {
    Some(token.clone().expect("the sample has such an account"))
}

fn with_addresses(own: &[String]) -> Facts {
    Facts { own_addresses: own.to_vec(), ..Facts::default() }
}
