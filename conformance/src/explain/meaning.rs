use crate::contract::Clause;

/// What goes wrong for a client when a service breaks the clause.
pub(super) fn of(clause: Clause) -> &'static str {
    match clause {
        Clause::AllHttps => "Tokens and addresses travel where others can read them.",
        Clause::AllNoSecrets => {
            "Anyone who reads a response, a log or a cache of it can use somebody's proxy."
        }
        Clause::AllOwnAccount => "One customer reads or uses what belongs to another.",
        Clause::AllPrefix => "A client that was built for this version finds nothing, or something else.",
        Clause::AllThrottledRetryAfter => {
            "A client that is slowed down can't know when to come back, and makes it worse."
        }
        Clause::AllTokenRequired => "Anybody can call the service, and nobody knows who did.",
        Clause::ExtractCount => "A client gets, and may pay for, more gateways than it asked for.",
        Clause::ExtractCountryAlias => {
            "A client that says `country` gets gateways of another country without a word."
        }
        Clause::ExtractCountryEqual => "A slip in a request is settled by chance instead of being rejected.",
        Clause::ExtractEndpoint => "A client can't connect to what it got, or learns what it should not.",
        Clause::ExtractEntitlement => "A customer uses a protocol that was not bought.",
        Clause::ExtractEnvelope => "A client takes a failure for a success, or a success for a failure.",
        Clause::ExtractErrorEnvelope => "A client can't tell why an extraction failed, or that it did.",
        Clause::ExtractIdempotent => "A client that repeats a request after a broken connection pays twice.",
        Clause::ExtractLinkCredential => "Old links of customers stop working.",
        Clause::ExtractNoBody => "A client that sends no body, as the contract has it, is rejected.",
        Clause::ExtractNumRange => {
            "A client is rejected within the limits it was promised, or served beyond them."
        }
        Clause::ExtractNumRequired => "A slip in a request takes gateways that nobody asked for.",
        Clause::ExtractPartial => "A client takes a part for the whole and goes on with too few gateways.",
        Clause::ExtractProtocol => "A client gets gateways that do not speak its protocol.",
        Clause::ExtractRealName => "Somebody whom nobody has verified takes gateways.",
        Clause::ExtractRegionsDefault => {
            "A client that names no region gets gateways from a place it did not expect."
        }
        Clause::ExtractRequestIdSource => {
            "A client's repetition is not recognised, or another request is taken for one."
        }
        Clause::ExtractRequestIp => "A client can't find out which address to put on its whitelist.",
        Clause::ExtractReturnType => "A client gets a form that it can't read.",
        Clause::ExtractSbLength => {
            "A separator in another script is rejected too early, or one that is too long gets through."
        }
        Clause::ExtractSbRequired => "A text answer comes without anything between its entries.",
        Clause::ExtractSeparator => "A client splits a text answer in the wrong places.",
        Clause::ExtractSeparatorRange => {
            "A slip in a request gives a text answer with a separator that nobody chose."
        }
        Clause::ExtractShortageRetryAfter => "A client asks again at once, or gives up, when it should wait.",
        Clause::ExtractTokenEqual => "It is left to chance which of two accounts pays.",
        Clause::ExtractTokenTransport => {
            "A client that sends its token in a way that is allowed is rejected."
        }
        Clause::ExtractWhitelist => "A stolen token works from anywhere.",
        Clause::GroupsEmpty => "A client that walks through the list breaks on an account without groups.",
        Clause::GroupsEnvelope => "A client takes a failure for a success, or does not find the groups.",
        Clause::GroupsFields => "A client breaks on a group, or shows the wrong dates.",
        Clause::GroupsHeaders => {
            "A cache keeps a customer's data, or support can't find the call in the logs."
        }
        Clause::GroupsOrder => "A client that looks for a group, or compares two listings, goes wrong.",
        Clause::GroupsToken => "It is left to chance whose groups are listed.",
        Clause::SearchActivatedOrder => "A slip in a request looks like an empty result.",
        Clause::SearchActivatedRange => {
            "Instances at the edge of a day are missed, or counted twice, or moved by a time zone."
        }
        Clause::SearchCapabilities => {
            "A client offers what can't be bought, or breaks on a rule it does not know."
        }
        Clause::SearchCity => "A client sees instances of another city.",
        Clause::SearchCountry => "A client sees instances of another country.",
        Clause::SearchEnvelope => "A client takes a failure for a success, or does not find the instances.",
        Clause::SearchGroup => "A client sees instances of another group, or loses the ungrouped ones.",
        Clause::SearchHeaders => {
            "A cache keeps a customer's data, or support can't find the call in the logs."
        }
        Clause::SearchInstance => "A client breaks on an instance, or takes an unknown time for a known one.",
        Clause::SearchIntersection => "Filters that are given together find too much or too little.",
        Clause::SearchIpsAllOrNothing => {
            "A client takes the answer to a part of its batch for the answer to all of it."
        }
        Clause::SearchIpsDedupLimit => {
            "A batch within the promised limit is rejected, or one beyond it slows everybody down."
        }
        Clause::SearchIpsItem => {
            "A whole network is searched where single addresses were allowed, or a valid address is rejected."
        }
        Clause::SearchIpsPort => "A slip in a request looks like an empty result.",
        Clause::SearchIpsRawLimit => {
            "A batch within the promised limit is rejected, or one beyond it slows everybody down."
        }
        Clause::SearchIpsRequired => "A search without addresses lists an account.",
        Clause::SearchJsonBody => "A broken request is read as another one.",
        Clause::SearchMatchAnyPort => "A client overlooks instances of an address.",
        Clause::SearchMatchPort => "A client is shown an instance on a port that it did not ask for.",
        Clause::SearchMaxBatchNoEffect => "The limits of a request change with the data that it finds.",
        Clause::SearchNoReveal => "A customer finds out which addresses belong to others.",
        Clause::SearchOrderNumber => "A client sees instances of another order, or of somebody else's.",
        Clause::SearchPage => "A client can't reach pages it was promised, or a slip goes unnoticed.",
        Clause::SearchPageSize => "A client gets pages of a size that it did not ask for.",
        Clause::SearchPaging => "A client that walks through the pages misses instances or sees them twice.",
        Clause::SearchReadOnly => "Looking changes what is there.",
        Clause::SearchStatus => {
            "A client sees instances in another state, or a slip looks like an empty result."
        }
        Clause::SearchToken => "It is left to chance whose instances are searched.",
        Clause::SearchTotal => "A client stops too early, or asks for pages that are not there.",
    }
}
