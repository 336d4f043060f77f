//! Bad clients, and the cases that catch each of them.

use std::collections::BTreeSet;

use libtest_mimic::Failed;
use sallyport_conformance::Contract;
use sallyport_conformance::client::{CaseOutcome, Expectation, cases};
use sallyport_conformance::run::Glob;

use crate::{run, this};

/// A client that breaks a duty.
pub struct Bad {
    /// Its habits.
    pub habits: &'static str,
    /// The cases that catch it, each of them.
    pub caught: &'static [&'static str],
}

/// One bad habit each.
pub const ALL: &[Bad] = &[
    Bad {
        habits: "ignores the code",
        caught: &[
            "client.both-codes.*-rejected-within-200",
            "client.both-codes.extract-code-200",
            "client.both-codes.groups-code-0",
            "client.both-codes.search-code-0",
            "client.both-codes.*-without-code",
            "client.wait-shortage.status-200",
        ],
    },
    Bad {
        habits: "ignores the status",
        caught: &[
            "client.both-codes.extract-status-403-code-0",
            "client.both-codes.groups-status-403-code-200",
            "client.both-codes.search-status-202-code-200",
        ],
    },
    Bad { habits: "takes any 2xx", caught: &["client.both-codes.*-status-20*"] },
    Bad {
        habits: "never waits",
        caught: &[
            "client.wait-throttled.groups-*",
            "client.wait-throttled.search-*",
            "client.wait-throttled.extract-*",
            "client.wait-shortage.*",
        ],
    },
    Bad {
        habits: "knows no dates",
        caught: &["client.wait-throttled.*-date", "client.wait-shortage.*-date"],
    },
    Bad { habits: "waits for 429 alone", caught: &["client.wait-shortage.*"] },
    Bad {
        habits: "retries without end",
        caught: &["client.limited-retries.*", "client.wait-throttled.longer-than-the-call"],
    },
    Bad {
        habits: "another request id each time",
        caught: &[
            "client.same-request-id.reset",
            "client.same-request-id.cut-body",
            "client.same-request-id.server-error",
        ],
    },
    Bad { habits: "one request id for all", caught: &["client.same-request-id.new-extraction"] },
    Bad { habits: "no request id", caught: &["client.no-blind-repeat.*"] },
    Bad { habits: "reads cut texts", caught: &["client.same-request-id.cut-text"] },
    Bad { habits: "speaks plain http", caught: &["client.https-only.plain-http"] },
    Bad { habits: "follows redirects", caught: &["client.token-private.redirect-*"] },
    Bad {
        habits: "follows redirects as they are",
        caught: &[
            "client.token-private.redirect-groups-with-query",
            "client.token-private.redirect-search-with-query",
        ],
    },
    Bad {
        habits: "logs URLs",
        caught: &[
            "client.token-private.interrupted",
            "client.token-private.no-json",
            "client.token-private.timeout",
            "client.token-private.unreachable",
        ],
    },
    Bad { habits: "logs messages", caught: &["client.token-private.echoed"] },
    Bad { habits: "has no timeout", caught: &["client.time-limit.*"] },
    Bad { habits: "splits by commas", caught: &["client.text-entries.*"] },
    Bad {
        habits: "reads one page",
        caught: &["client.paging.several-pages", "client.paging.one-instance-per-page"],
    },
    Bad { habits: "reads to an empty page", caught: &["client.paging.past-end-rejected"] },
    Bad { habits: "reads up to the total", caught: &["client.paging.fewer-than-total"] },
    Bad { habits: "starts pages again", caught: &["client.paging.interrupted"] },
    Bad { habits: "reads the first page twice", caught: &["client.paging.several-pages"] },
    Bad { habits: "stops at a failed page", caught: &["client.paging.page-rejected"] },
    Bad { habits: "takes more", caught: &["client.both-codes.extract-success"] },
    Bad { habits: "takes one", caught: &["client.both-codes.extract-success"] },
    Bad { habits: "extracts twice", caught: &["client.both-codes.extract-success"] },
    Bad { habits: "names a region", caught: &["client.both-codes.extract-success"] },
    Bad {
        habits: "has a page size of its own",
        caught: &["client.paging.several-pages", "client.paging.page-rejected"],
    },
    Bad { habits: "drops the separator", caught: &["client.text-entries.lb-2", "client.text-entries.lb-6"] },
    Bad { habits: "asks for lines", caught: &["client.text-entries.lb-1", "client.text-entries.lb-6"] },
    Bad { habits: "has ids of 32 bits", caught: &["client.tolerant.long-ids*"] },
    Bad { habits: "logs most of the token", caught: &["client.token-private.interrupted"] },
    Bad { habits: "takes nothing for an error", caught: &["client.paging.nothing-found"] },
    Bad {
        habits: "knows one server",
        caught: &[
            "client.tolerant.unknown-*",
            "client.tolerant.times.with-*",
            "client.tolerant.times.in-*",
            "client.tolerant.http.in-pieces",
            "client.tolerant.http.pretty-json",
            "client.tolerant.http.further-headers",
            "client.tolerant.http.json-with-charset",
            "client.tolerant.extract.text-entries-*",
            "client.tolerant.extract.more-fields",
            "client.tolerant.extract.empty-msg",
            "client.tolerant.static.more-fields",
            "client.tolerant.static.empty-message",
        ],
    },
    // A client that always reports nothing fails each case in which something came, and one that always reports an error
    // fails each case in which the service serves the call: `every_case_has_a_bad_client` runs that one where no other is named.
    Bad {
        habits: "always an error",
        caught: &[
            "client.both-codes.*-success",
            "client.tolerant.http.slow",
            "client.tolerant.search.descending",
        ],
    },
    Bad {
        habits: "always empty",
        caught: &["client.both-codes.*-rejected-within-200", "client.tolerant.rejections.*"],
    },
];

/// Every case that should catch a client does.
pub fn is_caught(bad: &Bad) -> Result<(), Failed> {
    let report = run(this(bad.habits), bad.caught)?;
    let missed = report.cases.iter().filter(|case| case.outcome != CaseOutcome::Failed);
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
    let globs: Vec<Glob> = ALL.iter().flat_map(|bad| bad.caught).map(|glob| Glob::new(*glob)).collect();
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
        .filter(|case| case.outcome != CaseOutcome::Failed)
        .map(|case| case.id.as_str())
        .collect();
    if missed.is_empty() { Ok(()) } else { Err(Failed::from(format!("not caught: {}", missed.join(", ")))) }
}
