use clap::Args;
use sallyport_conformance::run::Glob;
use sallyport_conformance::{Selection, registry};

use crate::program::UsageError;

#[derive(Debug, Args)]
pub(crate) struct SelectionArguments {
    /// Run only checks whose id, clause or operation matches, for example `groups.*`, or one case, as `check-id/case-label`;
    /// may be repeated.
    #[arg(long, value_name = "GLOB")]
    pub(crate) only: Vec<Glob>,
    /// Skip checks whose id, clause or operation matches, or one case; may be repeated.
    #[arg(long, value_name = "GLOB")]
    pub(crate) skip: Vec<Glob>,
}

impl SelectionArguments {
    /// Sets which checks run. `--only` replaces that of the configuration, `--skip` adds to it.
    pub(crate) fn over(&self, selection: &mut Selection) -> Result<(), UsageError> {
        if !self.only.is_empty() {
            selection.only.clone_from(&self.only);
        }
        selection.skip.extend(self.skip.iter().cloned());
        match selection.idle(&registry()) {
            None => Ok(()),
            Some(idle) => Err(format!("`{}` matches no check; see `conformance list`", idle.as_str()).into()),
        }
    }
}
