//! The report of a client test as JUnit XML.

use std::time::Duration;

use quick_junit::{NonSuccessKind, Report as Document, TestCase, TestCaseStatus, TestSuite};

use super::ClientReport;
use crate::client::Duty;
use crate::client::result::{CaseOutcome, ClientCaseResult};
use crate::report::{junit_text, plain};

impl ClientReport {
    /// One suite for each duty, one case for each case.
    pub(super) fn junit(&self) -> Result<String, quick_junit::SerializeError> {
        let mut document = Document::new("sallyport-client-conformance");
        document.set_time(Duration::from_millis(self.elapsed_ms));
        for duty in Duty::ALL {
            let of_duty: Vec<_> = self.cases.iter().filter(|case| case.duty == duty).collect();
            if of_duty.is_empty() {
                continue;
            }
            let mut suite = TestSuite::new(duty.id());
            suite.add_property(("client", &*plain(&self.client)));
            suite.add_property(("contract", &*self.contract));
            for case in of_duty {
                suite.add_test_case(case.junit());
            }
            document.add_test_suite(suite);
        }
        junit_text(&document)
    }
}

impl ClientCaseResult {
    pub(super) fn junit(&self) -> TestCase {
        let non_success = |kind, name: &str, reason: &str| {
            let mut status = TestCaseStatus::non_success(kind);
            status.set_type(name).set_message(plain(reason));
            status
        };
        let status = match &self.outcome {
            CaseOutcome::Passed | CaseOutcome::Warning => TestCaseStatus::success(),
            CaseOutcome::Failed => {
                let first = self.findings.first();
                let message =
                    first.map(|finding| format!("expected {}; found {}", finding.expected, finding.actual));
                let duty = first.map_or(self.duty, |finding| finding.duty);
                let mut status =
                    non_success(NonSuccessKind::Failure, duty.id(), &message.unwrap_or_default());
                status.set_description(self.details());
                status
            }
            CaseOutcome::Skipped(reason) => {
                let mut status = TestCaseStatus::skipped();
                status.set_message(plain(reason));
                status
            }
            CaseOutcome::Error(reason) => non_success(NonSuccessKind::Error, "error", reason),
        };
        let mut case = TestCase::new(self.id.clone(), status);
        case.set_classname(self.duty.id());
        if self.outcome == CaseOutcome::Warning {
            case.set_system_out(self.details());
        }
        case.set_time(Duration::from_millis(self.elapsed_ms));
        case
    }
}
