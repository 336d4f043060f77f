//! What a client does, habit by habit. The default ones conform.

/// How long a client waits before it repeats a request.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// As Retry-After says.
    Told,
    /// As Retry-After says in seconds; a date is not understood.
    Seconds,
    /// As Retry-After says, after a 429 alone.
    Throttled,
    /// Not at all.
    Never,
}

/// Which request id an extraction has, and where.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum RequestId {
    InQuery,
    InHeader,
    /// Another one for each request.
    Fresh,
    /// The same one for all extractions.
    Constant,
    Missing,
}

/// How pages are walked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Pages {
    /// Until as many instances came as there are.
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

/// What a client does.
#[derive(Clone)]
pub struct Habits {
    pub looks_at_status: bool,
    pub looks_at_code: bool,
    /// Reports this without sending anything.
    pub always: Option<Always>,
    pub retries: u32,
    pub wait: Wait,
    pub request_id: RequestId,
    pub has_bearer: bool,
    pub follows_redirects: bool,
    /// Follows them with no more than the new address says.
    pub follows_redirects_as_they_are: bool,
    /// Takes every status of 200 to 299 for a success.
    pub takes_any_2xx: bool,
    pub speaks_plain_http: bool,
    pub logs_urls: bool,
    pub logs_messages: bool,
    pub has_timeout: bool,
    pub reads_cut_texts: bool,
    /// Splits texts by this instead of what was asked for.
    pub separator: Option<&'static str>,
    pub pages: Pages,
    pub takes_nothing_for_an_error: bool,
    /// Extracts one more than it was asked for.
    pub takes_more: bool,
    /// Extracts one, whatever it was asked for.
    pub takes_one: bool,
    /// Extracts once more, and throws that away.
    pub extracts_twice: bool,
    /// Names a region, which it was not asked to.
    pub names_a_region: bool,
    /// Asks for as many instances to a page as it likes.
    pub has_own_page_size: bool,
    /// Leaves the separator out.
    pub drops_separator: bool,
    /// Asks for lines, whatever separator it was asked for.
    pub asks_for_lines: bool,
    /// Keeps 32 bits of an id.
    pub has_short_ids: bool,
    /// Masks the end of a token in its log.
    pub logs_most_of_the_token: bool,
    /// Knows exactly the fields, values and spellings that the reference server sends.
    pub is_strict: bool,
}

impl Default for Habits {
    fn default() -> Self {
        Self {
            looks_at_status: true,
            looks_at_code: true,
            always: None,
            retries: 3,
            wait: Wait::Told,
            request_id: RequestId::InQuery,
            has_bearer: false,
            follows_redirects: false,
            follows_redirects_as_they_are: false,
            takes_any_2xx: false,
            speaks_plain_http: false,
            logs_urls: false,
            logs_messages: false,
            has_timeout: true,
            reads_cut_texts: false,
            separator: None,
            pages: Pages::All,
            takes_nothing_for_an_error: false,
            takes_more: false,
            takes_one: false,
            extracts_twice: false,
            names_a_region: false,
            has_own_page_size: false,
            drops_separator: false,
            asks_for_lines: false,
            has_short_ids: false,
            logs_most_of_the_token: false,
            is_strict: false,
        }
    }
}

/// Conforming clients of different habits.
pub const GOOD: [&str; 4] = ["usual", "gives up at once", "request id in a header", "token as bearer"];

impl Habits {
    /// The habits of that name.
    pub fn named(name: &str) -> Option<Self> {
        let usual = Self::default();
        Some(match name {
            "usual" => usual,
            "gives up at once" => Self { retries: 0, ..usual },
            "request id in a header" => Self { request_id: RequestId::InHeader, ..usual },
            "token as bearer" => Self { has_bearer: true, ..usual },
            "ignores the status" => Self { looks_at_status: false, ..usual },
            "ignores the code" => Self { looks_at_code: false, ..usual },
            "always empty" => Self { always: Some(Always::Empty), ..usual },
            "always an error" => Self { always: Some(Always::Error), ..usual },
            "never waits" => Self { wait: Wait::Never, ..usual },
            "knows no dates" => Self { wait: Wait::Seconds, ..usual },
            "waits for 429 alone" => Self { wait: Wait::Throttled, ..usual },
            "retries without end" => Self { retries: u32::MAX, wait: Wait::Never, ..usual },
            "another request id each time" => Self { request_id: RequestId::Fresh, ..usual },
            "one request id for all" => Self { request_id: RequestId::Constant, ..usual },
            "no request id" => Self { request_id: RequestId::Missing, ..usual },
            "follows redirects" => Self { follows_redirects: true, ..usual },
            "follows redirects as they are" => Self { follows_redirects_as_they_are: true, ..usual },
            "takes any 2xx" => Self { takes_any_2xx: true, ..usual },
            "reads up to the total" => Self { pages: Pages::UntilTotal, ..usual },
            "speaks plain http" => Self { speaks_plain_http: true, ..usual },
            "logs URLs" => Self { logs_urls: true, retries: 0, ..usual },
            "logs messages" => Self { logs_messages: true, ..usual },
            "has no timeout" => Self { has_timeout: false, retries: u32::MAX, ..usual },
            "reads cut texts" => Self { reads_cut_texts: true, ..usual },
            "splits by commas" => Self { separator: Some(","), ..usual },
            "reads one page" => Self { pages: Pages::First, ..usual },
            "reads to an empty page" => Self { pages: Pages::UntilEmpty, ..usual },
            "starts pages again" => Self { pages: Pages::Restarted, retries: 0, ..usual },
            "reads the first page twice" => Self { pages: Pages::Repeated, ..usual },
            "takes nothing for an error" => Self { takes_nothing_for_an_error: true, ..usual },
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
            _ => return None,
        })
    }
}
