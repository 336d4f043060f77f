use super::CheckResult;
use crate::check::Check;

/// Receives progress events of a run.
pub trait Observer: Sync {
    /// The run begins, with these checks.
    fn begun(&self, checks: &[&'static Check]) {
        let _ = checks;
    }

    /// A check begins.
    fn check_begun(&self, check: &'static Check) {
        let _ = check;
    }

    /// A check has ended.
    fn check_ended(&self, result: &CheckResult) {
        let _ = result;
    }
}

/// An observer that does nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct SilentObserver;

impl Observer for SilentObserver {}
