//! What a client does, habit by habit. The default ones conform.

/// How long a client waits before it repeats a request.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub enum Wait {
    /// As Retry-After says.
    #[default]
    Told,
    /// As Retry-After says in seconds; a date is not understood.
    Seconds,
    /// As Retry-After says, after a 429 alone.
    Throttled,
    /// Not at all.
    Never,
}

/// How often a client repeats a request.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub enum Retries {
    None,
    #[default]
    Three,
    Endless,
}

/// Which request id an extraction has, and where.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub enum RequestId {
    #[default]
    InQuery,
    InHeader,
    /// Another one for each request.
    Fresh,
    /// The same one for all extractions.
    Constant,
    Missing,
}

/// How pages are walked.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub enum Pages {
    /// Until as many instances came as there are.
    #[default]
    All,
    First,
    /// Until a page is empty.
    UntilEmpty,
    /// From the first page again after an interruption, with what came before it.
    Restarted,
    /// The second page is the first one again.
    Repeated,
    /// Until a page fails.
    UntilError,
    /// Until as many instances came as the total says, also when a page is empty.
    UntilTotal,
}

/// What a client reports that sends nothing.
#[derive(Clone, Copy)]
pub enum Always {
    Empty,
    Error,
}

/// How redirects are followed, with the token.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Redirects {
    /// Within the service: the same scheme, host and port. This conforms.
    ToService,
    /// To the same host, whatever the port.
    ToHost,
    /// To URLs that begin as the base URL does.
    ByBeginning,
    /// The first one within the service, further ones anywhere.
    FirstChecked,
}

/// One habit of a careless author, in a client that conforms otherwise.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Careless {
    NewIdAfterTimeout,
    IdOnRepeatsOnly,
    ComparesLoosely,
    ReadsNoCodeAsZero,
    KnowsJsonByMediaType,
    KnowsJsonByFirstCharacter,
    ReadsNothingAsEmptyList,
    DecodesLatin1,
    DecodesAscii,
    EncodesNothing,
    EncodesNoToken,
    ReturnsParts,
    EncodesLog,
    EncodesLatin1,
    SendsCharactersAsTheyAre,
    ReadsDatesAsLocalTime,
    WaitsFromRequestOn,
    WaitsTenSecondsAtMost,
    HasTimersOf31Bits,
    KnowsHeadersInLowerCase,
    KnowsHeadersInCapitals,
    FindsLoopbackInUrl,
    FindsLoopbackAtStart,
    KnowsSchemesInLowerCase,
    CompletesUrls,
    DiesOfPages,
    DiesOfInterruptions,
    LogsBodies,
    ReadsTenPages,
    SendsBodies,
    CountsPages,
    WaitsOnce,
    ReadsErrorsAsNothing,
    DropsThePageSize,
}

/// Their names.
pub const CARELESS: &[(&str, Careless)] = &[
    ("another request id after its own timeout", Careless::NewIdAfterTimeout),
    ("a request id in repeats only", Careless::IdOnRepeatsOnly),
    ("compares codes loosely", Careless::ComparesLoosely),
    ("reads no code as zero", Careless::ReadsNoCodeAsZero),
    ("knows JSON by its media type", Careless::KnowsJsonByMediaType),
    ("knows JSON by its first character", Careless::KnowsJsonByFirstCharacter),
    ("reads nothing as an empty list", Careless::ReadsNothingAsEmptyList),
    ("decodes Latin-1", Careless::DecodesLatin1),
    ("decodes ASCII", Careless::DecodesAscii),
    ("encodes nothing", Careless::EncodesNothing),
    ("encodes no token", Careless::EncodesNoToken),
    ("returns parts", Careless::ReturnsParts),
    ("encodes its log", Careless::EncodesLog),
    ("encodes Latin-1", Careless::EncodesLatin1),
    ("sends characters as they are", Careless::SendsCharactersAsTheyAre),
    ("reads dates as local time", Careless::ReadsDatesAsLocalTime),
    ("waits from the request on", Careless::WaitsFromRequestOn),
    ("waits ten seconds at most", Careless::WaitsTenSecondsAtMost),
    ("has timers of 31 bits", Careless::HasTimersOf31Bits),
    ("knows headers in lower case", Careless::KnowsHeadersInLowerCase),
    ("knows headers in capitals", Careless::KnowsHeadersInCapitals),
    ("finds the loopback interface in a URL", Careless::FindsLoopbackInUrl),
    ("finds the loopback interface at the start of a URL", Careless::FindsLoopbackAtStart),
    ("knows schemes in lower case", Careless::KnowsSchemesInLowerCase),
    ("completes URLs", Careless::CompletesUrls),
    ("dies of pages", Careless::DiesOfPages),
    ("dies of interruptions", Careless::DiesOfInterruptions),
    ("logs bodies", Careless::LogsBodies),
    ("reads ten pages", Careless::ReadsTenPages),
    ("sends bodies", Careless::SendsBodies),
    ("counts pages", Careless::CountsPages),
    ("waits once", Careless::WaitsOnce),
    ("reads errors as nothing", Careless::ReadsErrorsAsNothing),
    ("drops the page size", Careless::DropsThePageSize),
];

/// What a client does.
#[derive(Clone, Default)]
pub struct Habits {
    pub careless: Option<Careless>,
    pub redirects: Option<Redirects>,
    /// Has a timeout of three seconds for each request, beside that of the call.
    pub limits_requests: bool,
    pub ignores_status: bool,
    pub ignores_code: bool,
    /// Reports this without sending anything.
    pub always: Option<Always>,
    pub retries: Retries,
    pub wait: Wait,
    pub request_id: RequestId,
    pub has_bearer: bool,
    pub follows_redirects: bool,
    /// Follows them with no more than the new address says.
    pub follows_redirects_as_they_are: bool,
    pub takes_any_2xx: bool,
    pub speaks_plain_http: bool,
    pub logs_urls: bool,
    pub logs_messages: bool,
    pub has_no_timeout: bool,
    pub reads_cut_texts: bool,
    /// Splits texts by this instead of what was asked for.
    pub separator: Option<&'static str>,
    pub pages: Pages,
    pub takes_nothing_for_an_error: bool,
    pub takes_more: bool,
    pub takes_one: bool,
    /// Extracts once more, and throws that away.
    pub extracts_twice: bool,
    pub names_a_region: bool,
    pub has_own_page_size: bool,
    pub drops_separator: bool,
    pub asks_for_lines: bool,
    pub has_short_ids: bool,
    /// Masks the end of a token in its log.
    pub logs_most_of_the_token: bool,
    /// Knows exactly the fields, values and spellings that the reference server sends.
    pub is_strict: bool,
}

/// Conforming clients of different habits.
pub const GOOD: [&str; 6] = [
    "usual",
    "gives up at once",
    "request id in a header",
    "token as bearer",
    "follows redirects within the service",
    "a timeout for each request",
];

impl Habits {
    /// The habits of that name.
    pub fn named(name: &str) -> Option<Self> {
        let usual = Self::default();
        Some(match name {
            "usual" => usual,
            "gives up at once" => Self { retries: Retries::None, ..usual },
            "request id in a header" => Self { request_id: RequestId::InHeader, ..usual },
            "token as bearer" => Self { has_bearer: true, ..usual },
            "ignores the status" => Self { ignores_status: true, ..usual },
            "ignores the code" => Self { ignores_code: true, ..usual },
            "always empty" => Self { always: Some(Always::Empty), ..usual },
            "always an error" => Self { always: Some(Always::Error), ..usual },
            "never waits" => Self { wait: Wait::Never, ..usual },
            "knows no dates" => Self { wait: Wait::Seconds, ..usual },
            "waits for 429 alone" => Self { wait: Wait::Throttled, ..usual },
            "retries without end" => Self { retries: Retries::Endless, wait: Wait::Never, ..usual },
            "another request id each time" => Self { request_id: RequestId::Fresh, ..usual },
            "one request id for all" => Self { request_id: RequestId::Constant, ..usual },
            "no request id" => Self { request_id: RequestId::Missing, ..usual },
            "follows redirects" => Self { follows_redirects: true, ..usual },
            "follows redirects as they are" => Self { follows_redirects_as_they_are: true, ..usual },
            "takes any 2xx" => Self { takes_any_2xx: true, ..usual },
            "reads up to the total" => Self { pages: Pages::UntilTotal, ..usual },
            "speaks plain http" => Self { speaks_plain_http: true, ..usual },
            "logs URLs" => Self { logs_urls: true, retries: Retries::None, ..usual },
            "logs messages" => Self { logs_messages: true, ..usual },
            "has no timeout" => Self { has_no_timeout: true, retries: Retries::Endless, ..usual },
            "reads cut texts" => Self { reads_cut_texts: true, ..usual },
            "splits by commas" => Self { separator: Some(","), ..usual },
            "reads one page" => Self { pages: Pages::First, ..usual },
            "reads to an empty page" => Self { pages: Pages::UntilEmpty, ..usual },
            "starts pages again" => Self { pages: Pages::Restarted, retries: Retries::None, ..usual },
            "reads the first page twice" => Self { pages: Pages::Repeated, ..usual },
            "takes nothing for an error" => Self { takes_nothing_for_an_error: true, ..usual },
            "gives up at once, and returns the pages so far" => {
                Self { retries: Retries::None, pages: Pages::UntilError, ..usual }
            }
            "stops at a failed page" => Self { pages: Pages::UntilError, ..usual },
            "takes more" => Self { takes_more: true, ..usual },
            "takes one" => Self { takes_one: true, ..usual },
            "extracts twice" => Self { extracts_twice: true, request_id: RequestId::Fresh, ..usual },
            "names a region" => Self { names_a_region: true, ..usual },
            "has a page size of its own" => Self { has_own_page_size: true, ..usual },
            "drops the separator" => Self { drops_separator: true, ..usual },
            "asks for lines" => Self { asks_for_lines: true, ..usual },
            "has ids of 32 bits" => Self { has_short_ids: true, ..usual },
            "logs most of the token" => Self { logs_most_of_the_token: true, ..usual },
            "knows one server" => Self { is_strict: true, ..usual },
            "follows redirects within the service" => Self { redirects: Some(Redirects::ToService), ..usual },
            "follows redirects to the same host" => Self { redirects: Some(Redirects::ToHost), ..usual },
            "follows redirects by their beginning" => {
                Self { redirects: Some(Redirects::ByBeginning), ..usual }
            }
            "checks the first redirect" => Self { redirects: Some(Redirects::FirstChecked), ..usual },
            "a timeout for each request" => Self { limits_requests: true, ..usual },
            _ => {
                let careless = CARELESS.iter().find(|(known, _)| *known == name).map(|(_, it)| *it)?;
                let limits_requests = careless == Careless::NewIdAfterTimeout;
                Self { careless: Some(careless), limits_requests, ..usual }
            }
        })
    }
}
