//! Takes out of a report what differs from run to run.

use sallyport_conformance::Report;
use sallyport_conformance::contract::Clause;
use sallyport_conformance::detection::{ClauseDetection, Detection, Unlock, UnnoticedFault};
use sallyport_conformance::wire::RecordedExchange;

pub(crate) fn steady(report: &mut Report) {
    report.target = "http://127.0.0.1:1/".to_owned();
    report.begun = "2026-01-01T00:00:00Z".to_owned();
    report.run = "000000".to_owned();
    // The matrix of known faults changes more often than the reports.
    let unlocks = vec![Unlock { reason: "supply a token to run this".to_owned(), faults: 1 }];
    let unnoticed = vec![UnnoticedFault {
        id: "search.page/<one>".to_owned(),
        breaks: "The first page is <b>empty</b>.".to_owned(),
    }];
    let clauses = vec![ClauseDetection { id: Clause::SearchPage, known: 1, noticed: 0, unnoticed }];
    report.detection = Detection { known: 10, noticed: 4, clauses, unlocks };
    // So does the document.
    report.contract = "1.0.0".to_owned();
    report.contract_sha256 = "0".repeat(64);
    report.suite = "sallyport-conformance 0.0.0".to_owned();
    (report.elapsed_ms, report.busy_ms) = (0, 0);
    for check in &mut report.checks {
        check.elapsed_ms = 0;
        check.evidence.iter_mut().for_each(|evidence| evidence.elapsed_ms = 0);
        check.exchanges.iter_mut().for_each(at_a_fixed_time);
    }
    for clause in &mut report.clauses {
        clause.line = 1;
    }
    for logged in &mut report.log.exchanges {
        at_a_fixed_time(&mut logged.exchange);
    }
}

fn at_a_fixed_time(exchange: &mut RecordedExchange) {
    exchange.elapsed_ms = 0;
    exchange.begun = "1970-01-01T00:00:00Z".to_owned();
    exchange.user_agent = "sallyport-conformance/0.0.0 (run 000000)".to_owned();
}
