//! The report of a client test as Markdown, for the page of a pull request.

use std::fmt::Write as _;

use super::ClientReport;
use crate::client::Duty;
use crate::client::result::CaseOutcome;
use crate::report::{code, escaped, quantity};

impl ClientReport {
    pub(super) fn markdown(&self) -> String {
        let mut text = format!(
            "## Client {}\n\nCases: {}; contract {}.\n\n| duty | passed | failed | other |\n|---|---|---|---|\n",
            code(&self.client),
            self.totals,
            self.contract
        );
        for duty in Duty::ALL {
            let of_duty = || self.cases.iter().filter(|case| case.duty == duty);
            if of_duty().next().is_none() {
                continue;
            }
            let count = |outcome: &CaseOutcome| of_duty().filter(|case| case.outcome == *outcome).count();
            let (passed, failed) = (count(&CaseOutcome::Passed), count(&CaseOutcome::Failed));
            let _ = writeln!(
                text,
                "| `{duty}` | {passed} | {failed} | {} |",
                of_duty().count() - passed - failed
            );
        }
        if self.findings().next().is_some() {
            text.push_str("\n| case | expected | found | the same in |\n|---|---|---|---|\n");
        }
        for (case, finding) in self.findings().filter(|(_, finding)| finding.same_as.is_none()) {
            let (expected, actual) = (escaped(&finding.expected), escaped(&finding.actual));
            let same = self.findings().filter(|(_, other)| {
                other.same_as.as_ref() == Some(&case.id) && other.mistake == finding.mistake
            });
            let same = match same.count() {
                0 => String::new(),
                count => quantity(count, "more case"),
            };
            let _ = writeln!(text, "| `{}` | {expected} | {actual} | {same} |", case.id);
        }
        text
    }
}
