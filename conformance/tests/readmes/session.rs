//! A shell as a reader has it: the programs are there, and a sandbox behind the addresses that the pages name.

use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::support::program::command as command_of;

/// How long a command may take, in seconds.
const LIMIT: &str = "120";

/// Waits until a server in the background says where it listens, and ends it.
const SERVING: &str = "until grep -qE 'http://|listening' served.txt; do\n\
                       kill -0 $! 2>/dev/null || { cat served.txt; exit 1; }\nsleep 0.05\ndone\nkill $!";

/// A folder of its own, with programs by the names that the pages use.
pub(crate) struct Session {
    folder: TempDir,
    /// Set by `export`.
    variables: std::cell::RefCell<Vec<(String, String)>>,
}

impl Session {
    pub(crate) fn new(root: &Path) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let programs = folder.path().join("programs");
        std::fs::create_dir(&programs).expect("a folder");
        std::fs::create_dir(folder.path().join("here")).expect("a folder");
        let conformance = PathBuf::from(env!("CARGO_BIN_EXE_conformance"));
        symlink(&conformance, programs.join("conformance")).expect("a link");
        let server = conformance.with_file_name(format!("server{}", std::env::consts::EXE_SUFFIX));
        if server.is_file() {
            symlink(&server, programs.join("server")).expect("a link");
        }
        // What `cargo conformance` and `cargo run` would build stands there already. All cases run once, by `cargo conformance`.
        let cargo = "#!/bin/sh\n\
             case \"$*\" in *--embedded\\ --report*) set -- \"$@\" --profile smoke;; esac\n\
             case \"$1 $2 $3 $4 $5\" in\n\
             conformance*) shift; exec conformance \"$@\";;\n\
             'run -p sallyport-server -- '*) shift 4; exec server \"$@\";;\n\
             *) echo \"this test does not know cargo $*\" >&2; exit 100;;\nesac\n";
        let file = programs.join("cargo");
        std::fs::write(&file, cargo).expect("written");
        std::fs::set_permissions(&file, Permissions::from_mode(0o755)).expect("executable");
        // The records that the page of the server shows.
        let page = std::fs::read_to_string(root.join("server/README.md")).expect("a README");
        let records =
            page.split("```json\n").nth(1).and_then(|rest| rest.split("```").next()).expect("records");
        std::fs::write(folder.path().join("here/data.jsonl"), records).expect("written");
        Self { folder, variables: Vec::new().into() }
    }

    /// Runs a command as a shell would, and ends a server once it serves. Gives back why a command was not run.
    pub(crate) fn run(&self, command: &str) -> Result<Option<&'static str>, String> {
        let mut command = command.to_owned();
        if let Some(assignment) = command.strip_prefix("export ") {
            for pair in assignment.split(' ') {
                let (name, value) = pair.split_once('=').ok_or("export without a value")?;
                self.variables.borrow_mut().push((name.to_owned(), value.to_owned()));
            }
            return Ok(None);
        }
        let serves = command.contains("server run") || command.contains("-- run --");
        // A port that nobody has.
        command = command.replace("127.0.0.1:8080", "127.0.0.1:0");
        if command.contains("server ") && !self.folder.path().join("programs/server").exists() {
            if std::env::var_os("CI").is_some() {
                return Err("the server is not built; run `cargo test --workspace`".to_owned());
            }
            return Ok(Some("the server is not built; `cargo test --workspace` builds it"));
        }
        if serves {
            command = format!("{command} >served.txt 2>&1 &\n{SERVING}");
        }
        let mut shell = command_of("timeout");
        let path = std::env::var("PATH").unwrap_or_default();
        shell
            .args([LIMIT, "bash", "-euc", &command])
            .current_dir(self.folder.path().join("here"))
            .env("PATH", format!("{}:{path}", self.folder.path().join("programs").display()))
            .envs(self.variables.borrow().iter().cloned())
            // Nor has anybody the port of a sandbox that names none.
            .env("SALLYPORT_LISTEN", "127.0.0.1:0");
        let output = shell.output().map_err(|error| error.to_string())?;
        let text = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
        if output.status.success() { Ok(None) } else { Err(format!("{}\n{}", output.status, text.concat())) }
    }
}
