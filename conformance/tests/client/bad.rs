//! Bad clients, and the cases that catch each of them.

use std::collections::BTreeSet;

use libtest_mimic::Failed;
use sallyport_conformance::Contract;
use sallyport_conformance::Outcome;
use sallyport_conformance::client::{Expectation, cases};
use sallyport_conformance::run::Glob;

use crate::{run, this};

/// One bad habit each, and the cases that catch it, without their `client.`.
pub const ALL: &[(&str, &str)] = &[
    (
        "ignores the code",
        "both-codes.*-rejected-within-200 both-codes.extract-code-200 \
         both-codes.groups-code-0 both-codes.search-code-0 both-codes.*-without-code \
         wait-shortage.status-200",
    ),
    (
        "ignores the status",
        "both-codes.extract-status-403-code-0 both-codes.groups-status-403-code-200 \
         both-codes.search-status-202-code-200 both-codes.text-status-*",
    ),
    (
        "takes any 2xx",
        "both-codes.extract-status-20* both-codes.groups-status-201-code-200 both-codes.search-status-20* \
         both-codes.text-status-20*",
    ),
    (
        "never waits",
        "wait-throttled.groups-* wait-throttled.search-* wait-throttled.extract-* \
         wait-shortage.*",
    ),
    ("knows no dates", "wait-throttled.*-date wait-shortage.*-date"),
    ("waits for 429 alone", "wait-shortage.*"),
    ("retries without end", "limited-retries.* wait-throttled.longer-than-the-call token-private.no-json"),
    (
        "another request id each time",
        "same-request-id.reset same-request-id.cut-body \
         same-request-id.server-error",
    ),
    ("one request id for all", "same-request-id.new-extraction"),
    ("no request id", "no-blind-repeat.*"),
    ("reads cut texts", "same-request-id.cut-text"),
    ("speaks plain http", "https-only.plain-http"),
    ("follows redirects", "token-private.redirect-*"),
    (
        "follows redirects as they are",
        "token-private.redirect-groups-with-query \
         token-private.redirect-search-with-query",
    ),
    (
        "logs URLs",
        "token-private.interrupted token-private.no-json token-private.timeout \
         token-private.unreachable",
    ),
    ("logs messages", "token-private.echoed"),
    ("another request id after its own timeout", "same-request-id.no-response same-request-id.stalled-body"),
    ("a request id in repeats only", "no-blind-repeat.closed same-request-id.reset"),
    (
        "compares codes loosely",
        "both-codes.extract-code-false both-codes.extract-code-empty-text both-codes.*-code-text \
         both-codes.extract-code-list both-codes.groups-code-true",
    ),
    ("reads no code as zero", "both-codes.extract-without-code both-codes.extract-code-null"),
    ("knows JSON by its media type", "both-codes.text-rejected-as-plain-text"),
    ("knows JSON by its first character", "both-codes.text-rejected-after-blanks"),
    ("reads nothing as an empty list", "both-codes.groups-status-204 both-codes.groups-empty-body"),
    ("decodes Latin-1", "text-entries.lb-6-not-ascii text-entries.lb-6-longest"),
    ("decodes ASCII", "text-entries.lb-6-not-ascii tolerant.long-ids"),
    ("encodes nothing", "text-entries.lb-6-reserved"),
    ("encodes Latin-1", "text-entries.lb-6-not-ascii text-entries.lb-6-longest"),
    ("sends characters as they are", "text-entries.lb-6-not-ascii text-entries.lb-6-longest"),
    ("reads dates as local time", "wait-throttled.*-date wait-shortage.*-date"),
    ("waits from the request on", "wait-throttled.extract-seconds"),
    ("waits ten seconds at most", "wait-throttled.groups-eleven-seconds wait-shortage.eleven-seconds"),
    ("has timers of 31 bits", "wait-throttled.longer-than-the-call"),
    ("knows headers in lower case", "wait-throttled.groups-seconds"),
    ("knows headers in capitals", "wait-throttled.extract-seconds"),
    ("finds the loopback interface in a URL", "https-only.plain-http-after-*"),
    ("finds the loopback interface at the start of a URL", "https-only.plain-http-after-*"),
    ("knows schemes in lower case", "https-only.plain-http-in-capitals"),
    ("completes URLs", "https-only.no-scheme"),
    ("follows redirects to the same host", "token-private.redirect-*-to-port"),
    ("follows redirects by their beginning", "token-private.redirect-groups-to-pretender"),
    ("checks the first redirect", "token-private.second-redirect"),
    ("encodes no token", "tolerant.token-in-base64"),
    ("returns parts", "paging.page-without-response"),
    ("encodes its log", "token-private.echoed"),
    ("sends bodies", "both-codes.extract-success both-codes.groups-success"),
    ("counts pages", "paging.several-pages"),
    ("waits once", "wait-throttled.search-seconds paging.throttled"),
    ("reads errors as nothing", "both-codes.*-rejected-within-200 paging.page-rejected"),
    ("drops the page size", "paging.several-pages"),
    ("reads ten pages", "paging.one-instance-per-page"),
    ("dies of pages", "token-private.no-json"),
    ("dies of interruptions", "token-private.interrupted time-limit.silence"),
    ("logs bodies", "token-private.no-json"),
    ("has no timeout", "time-limit.*"),
    ("splits by commas", "text-entries.*"),
    ("reads one page", "paging.several-pages paging.one-instance-per-page"),
    ("reads to an empty page", "paging.past-end-rejected"),
    ("reads up to the total", "paging.fewer-than-total"),
    ("starts pages again", "paging.interrupted"),
    ("reads the first page twice", "paging.several-pages"),
    ("stops at a failed page", "paging.page-rejected"),
    ("gives up at once, and returns the pages so far", "paging.throttled"),
    ("takes more", "both-codes.extract-success"),
    ("takes one", "both-codes.extract-success"),
    ("extracts twice", "both-codes.extract-success"),
    ("names a region", "both-codes.extract-success"),
    ("has a page size of its own", "paging.several-pages paging.page-rejected"),
    ("drops the separator", "text-entries.lb-2 text-entries.lb-6"),
    ("asks for lines", "text-entries.lb-1 text-entries.lb-6"),
    ("has ids of 32 bits", "tolerant.long-ids*"),
    ("logs most of the token", "token-private.interrupted"),
    ("takes nothing for an error", "paging.nothing-found"),
    (
        "knows one server",
        "tolerant.unknown-* tolerant.times.with-* tolerant.times.in-* \
         tolerant.http.in-pieces tolerant.http.pretty-json tolerant.http.further-headers \
         tolerant.http.json-with-charset tolerant.extract.text-entries-* tolerant.extract.more-fields \
         tolerant.extract.empty-msg tolerant.static.more-fields tolerant.static.empty-message",
    ),
    // A client that always reports nothing fails each case in which something came, and one that always reports an error
    // fails each case in which the service serves the call: `every_case_has_a_bad_client` runs that one where no other is named.
    ("always an error", "both-codes.*-success tolerant.http.slow tolerant.search.descending"),
    ("always empty", "both-codes.*-rejected-within-200 tolerant.rejections.*"),
];

fn patterns(cases: &str) -> impl Iterator<Item = String> {
    cases.split(' ').map(|case| format!("client.{case}"))
}

/// Every case that should catch a client does.
pub fn is_caught(habits: &str, cases: &str) -> Result<(), Failed> {
    let cases: Vec<String> = patterns(cases).collect();
    let report = run(this(habits), &cases.iter().map(String::as_str).collect::<Vec<_>>())?;
    let missed = report.cases.iter().filter(|case| case.outcome != Outcome::Failed);
    let missed: Vec<String> =
        missed.map(|case| format!("{}: {:?} {:?}", case.id, case.outcome, case.requests)).collect();
    if missed.is_empty() {
        Ok(())
    } else {
        Err(Failed::from(format!("not caught by\n{}", missed.join("\n"))))
    }
}

/// Each case catches one of the bad clients, or is one of those that the two clients which do nothing show.
pub fn every_case_has_a_bad_client() -> Result<(), Failed> {
    let cases = cases(Contract::embedded()?, &["192.0.2.1".to_owned()]);
    let globs: Vec<Glob> = ALL.iter().flat_map(|(_, cases)| patterns(cases)).map(Glob::new).collect();
    let uncaught: Vec<_> =
        cases.iter().filter(|case| !globs.iter().any(|glob| glob.matches(&case.id))).collect();
    let shown: BTreeSet<&str> = uncaught.iter().map(|case| case.id.as_str()).collect();
    // "always an error" is caught by each case that expects a result.
    let others: Vec<&str> = uncaught
        .iter()
        .filter(|case| case.expectation != Expectation::Result)
        .map(|case| case.id.as_str())
        .filter(|id| !id.starts_with("client.tolerant.http."))
        .collect();
    if !others.is_empty() {
        return Err(Failed::from(format!("no bad client for {}", others.join(", "))));
    }
    let globs: Vec<&str> = shown.into_iter().filter(|id| !id.starts_with("client.tolerant.http.")).collect();
    let report = run(this("always an error"), &globs)?;
    let missed: Vec<&str> = report
        .cases
        .iter()
        .filter(|case| case.outcome != Outcome::Failed)
        .map(|case| case.id.as_str())
        .collect();
    if missed.is_empty() { Ok(()) } else { Err(Failed::from(format!("not caught: {}", missed.join(", ")))) }
}
