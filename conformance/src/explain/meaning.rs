/// What goes wrong for a client when a service breaks the clause.
pub(super) fn of(id: &str) -> Option<&'static str> {
    MEANINGS.iter().find(|(known, _)| *known == id).map(|(_, meaning)| *meaning)
}

/// The clauses that are explained.
#[cfg(test)]
pub(super) fn ids() -> impl Iterator<Item = &'static str> {
    MEANINGS.iter().map(|(id, _)| *id)
}

/// Sorted by id, as the catalogue is.
static MEANINGS: &[(&str, &str)] = &[
    ("all.https", "Tokens and addresses travel where others can read them."),
    ("all.no-secrets", "Whoever reads an answer, a log or a cache of it can use somebody's proxy."),
    ("all.own-account", "One customer reads or uses what belongs to another."),
    ("all.prefix", "A client that was built for this version finds nothing, or something else."),
    (
        "all.throttled-retry-after",
        "A client that is slowed down can't know when to come back, and makes it worse.",
    ),
    ("all.token-required", "Anybody can call the service, and nobody knows who did."),
    ("extract.count", "A client gets, and may pay for, more gateways than it asked for."),
    (
        "extract.country-alias",
        "A client that says `country` gets gateways of another country without a word.",
    ),
    ("extract.country-equal", "A slip in a request is settled by chance instead of being refused."),
    ("extract.endpoint", "A client can't connect to what it got, or learns what it should not."),
    ("extract.entitlement", "A customer uses a protocol that was not bought."),
    ("extract.envelope", "A client takes a failure for a success, or a success for a failure."),
    ("extract.error-envelope", "A client can't tell why an extraction failed, or that it did."),
    ("extract.idempotent", "A client that repeats a request after a broken connection pays twice."),
    ("extract.link-credential", "Old links of customers stop working."),
    ("extract.no-body", "A client that sends no body, as the contract has it, is refused."),
    ("extract.num-range", "A client is refused within the limits it was promised, or served beyond them."),
    ("extract.num-required", "A slip in a request takes gateways that nobody asked for."),
    ("extract.partial", "A client takes a part for the whole and goes on with too few gateways."),
    ("extract.protocol", "A client gets gateways that do not speak its protocol."),
    ("extract.real-name", "Somebody whom nobody has verified takes gateways."),
    (
        "extract.regions-default",
        "A client that names no region gets gateways from a place it did not expect.",
    ),
    (
        "extract.request-id-source",
        "A client's repetition is not recognised, or another request is taken for one.",
    ),
    ("extract.request-ip", "A client can't find out which address to put on its whitelist."),
    ("extract.return-type", "A client gets a form that it can't read."),
    (
        "extract.sb-length",
        "A separator in another script is refused too early, or one that is too long gets through.",
    ),
    ("extract.sb-required", "A text answer comes without anything between its entries."),
    ("extract.separator", "A client splits a text answer in the wrong places."),
    (
        "extract.separator-range",
        "A slip in a request gives a text answer with a separator that nobody chose.",
    ),
    ("extract.shortage-retry-after", "A client asks again at once, or gives up, when it should wait."),
    ("extract.token-equal", "It is left to chance which of two accounts pays."),
    ("extract.token-transport", "A client that sends its token in a way that is allowed is refused."),
    ("extract.whitelist", "A stolen token works from anywhere."),
    ("groups.empty", "A client that walks through the list breaks on an account without groups."),
    ("groups.envelope", "A client takes a failure for a success, or does not find the groups."),
    ("groups.fields", "A client breaks on a group, or shows the wrong dates."),
    ("groups.headers", "A cache keeps a customer's data, or support can't find the call in the logs."),
    ("groups.order", "A client that looks for a group, or compares two listings, goes wrong."),
    ("groups.token", "It is left to chance whose groups are listed."),
    ("search.activated-order", "A slip in a request looks like an empty result."),
    (
        "search.activated-range",
        "Instances at the edge of a day are missed, or counted twice, or moved by a time zone.",
    ),
    ("search.capabilities", "A client offers what can't be bought, or breaks on a rule it does not know."),
    ("search.city", "A client sees instances of another city."),
    ("search.country", "A client sees instances of another country."),
    ("search.envelope", "A client takes a failure for a success, or does not find the instances."),
    ("search.group", "A client sees instances of another group, or loses the ungrouped ones."),
    ("search.headers", "A cache keeps a customer's data, or support can't find the call in the logs."),
    ("search.instance", "A client breaks on an instance, or takes an unknown time for a known one."),
    ("search.intersection", "Filters that are given together find too much or too little."),
    (
        "search.ips-all-or-nothing",
        "A client takes the answer to a part of its batch for the answer to all of it.",
    ),
    (
        "search.ips-dedup-limit",
        "A batch within the promised limit is refused, or one beyond it slows everybody down.",
    ),
    (
        "search.ips-item",
        "A whole network is searched where single addresses were allowed, or a good address is refused.",
    ),
    ("search.ips-port", "A slip in a request looks like an empty result."),
    (
        "search.ips-raw-limit",
        "A batch within the promised limit is refused, or one beyond it slows everybody down.",
    ),
    ("search.ips-required", "A search without addresses lists an account."),
    ("search.json-body", "A broken request is read as another one."),
    ("search.match-any-port", "A client overlooks instances of an address."),
    ("search.match-port", "A client is shown an instance on a port that it did not ask for."),
    ("search.max-batch-no-effect", "The limits of a request change with the data that it finds."),
    ("search.no-reveal", "A customer finds out which addresses belong to others."),
    ("search.order-number", "A client sees instances of another order, or of somebody else's."),
    ("search.page", "A client can't reach pages it was promised, or a slip goes unnoticed."),
    ("search.page-size", "A client gets pages of a size that it did not ask for."),
    ("search.paging", "A client that walks through the pages misses instances or sees them twice."),
    ("search.read-only", "Looking changes what is there."),
    ("search.status", "A client sees instances in another state, or a slip looks like an empty result."),
    ("search.token", "It is left to chance whose instances are searched."),
    ("search.total", "A client stops too early, or asks for pages that are not there."),
];
