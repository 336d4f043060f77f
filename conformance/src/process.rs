//! Commands of the tester: they get no secret of the tester's environment, and end with everything that they have started.

use std::ffi::OsStr;

use tokio::process::{Child, Command};

/// A command without the variables `SALLYPORT_…`, among which are tokens and the database of a server. It is killed when it is dropped.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        if name.as_encoded_bytes().starts_with(b"SALLYPORT_") {
            command.env_remove(name);
        }
    }
    command.kill_on_drop(true);
    // A process group of its own, so that the processes it starts are killed with it.
    #[cfg(unix)]
    command.process_group(0);
    command
}

/// The process group of a [`command`]. Dropping it kills the group.
#[derive(Debug)]
pub struct Group(Option<u32>);

impl Group {
    /// The group of a command that was started.
    #[must_use]
    pub fn new(child: &Child) -> Self {
        Self(child.id())
    }

    /// Leaves what the command has started running, since the command ended by itself.
    pub fn leave(mut self) {
        self.0 = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(group) = self.0.and_then(|group| i32::try_from(group).ok()) {
            let group = nix::unistd::Pid::from_raw(group);
            let _ = nix::sys::signal::killpg(group, nix::sys::signal::Signal::SIGKILL);
        }
    }
}
