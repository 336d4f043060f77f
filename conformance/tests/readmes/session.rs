//! A shell as a reader has it: the programs are there, and a sandbox behind the addresses that the pages name.

use std::io::{BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// How long a command may take. Those that serve until they are ended may take it all.
const LONGEST: Duration = Duration::from_secs(120);

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
        script(&programs, "conformance", &format!("exec {} \"$@\"", quoted(&conformance)));
        let server = conformance.with_file_name(format!("server{}", std::env::consts::EXE_SUFFIX));
        if server.is_file() {
            script(&programs, "server", &format!("exec {} \"$@\"", quoted(&server)));
        }
        // What `cargo conformance` and `cargo run` would build stands there already.
        let cargo = format!(
            "case \"$1 $2 $3 $4 $5\" in\n\
             conformance*) shift; exec conformance \"$@\";;\n\
             'run -p sallyport-server -- '*) shift 4; exec server \"$@\";;\n\
             *) echo \"this test does not know cargo $*\" >&2; exit 100;;\nesac\n# {}",
            root.display()
        );
        script(&programs, "cargo", &cargo);
        // The records that the page of the server shows.
        let page = std::fs::read_to_string(root.join("server/README.md")).expect("a README");
        let records =
            page.split("```json\n").nth(1).and_then(|rest| rest.split("```").next()).expect("records");
        std::fs::write(folder.path().join("here/data.jsonl"), records).expect("written");
        Self { folder, variables: Vec::new().into() }
    }

    /// Runs a command as a shell would. Servers that go on are ended after they have begun to serve. Gives back why a command
    /// was not run.
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
        let mut shell = Command::new("bash");
        let path = std::env::var("PATH").unwrap_or_default();
        shell
            .args(["-euc", &command])
            .current_dir(self.folder.path().join("here"))
            .env("PATH", format!("{}:{path}", self.folder.path().join("programs").display()))
            .envs(self.variables.borrow().iter().cloned())
            // Nor has anybody the port of a sandbox that names none.
            .env("SALLYPORT_LISTEN", "127.0.0.1:0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        for name in ["SALLYPORT_BASE_URL", "SALLYPORT_CONFIG", "SALLYPORT_DB", "GITHUB_STEP_SUMMARY"] {
            shell.env_remove(name);
        }
        let child = shell.spawn().map_err(|error| error.to_string())?;
        if serves { serving(child) } else { ended(child) }.map(|()| None)
    }
}

/// Waits until a command has ended, and with success.
fn ended(mut child: Child) -> Result<(), String> {
    let (out, error) = (reader(child.stdout.take()), reader(child.stderr.take()));
    let begun = Instant::now();
    let status = loop {
        match child.try_wait().map_err(|error| error.to_string())? {
            Some(status) => break status,
            None if begun.elapsed() > LONGEST => {
                // Its output says what it waits for.
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("no end after {LONGEST:?}"));
            }
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    let text = format!("{}{}", out.join().unwrap_or_default(), error.join().unwrap_or_default());
    if status.success() { Ok(()) } else { Err(format!("{status}\n{text}")) }
}

/// Waits until a server says where it listens, and ends it.
fn serving(mut child: Child) -> Result<(), String> {
    let (sender, told) = std::sync::mpsc::channel();
    let streams = [
        child.stdout.take().map(|stream| Box::new(stream) as Box<dyn Read + Send>),
        child.stderr.take().map(|stream| Box::new(stream) as Box<dyn Read + Send>),
    ];
    for stream in streams.into_iter().flatten() {
        let sender = sender.clone();
        std::thread::spawn(move || {
            for line in BufReader::new(stream).lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
    }
    drop(sender);
    let mut all = String::new();
    let begun = Instant::now();
    let mut is_serving = false;
    while !is_serving && begun.elapsed() < LONGEST {
        let Ok(line) = told.recv_timeout(Duration::from_secs(30)) else { break };
        is_serving = line.contains("http://") || line.contains("listening");
        all.push_str(&line);
        all.push('\n');
    }
    let _ = child.kill();
    let _ = child.wait();
    if is_serving { Ok(()) } else { Err(format!("it does not serve\n{all}")) }
}

fn reader(stream: Option<impl Read + Send + 'static>) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut stream) = stream {
            let _ = stream.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn script(folder: &Path, name: &str, text: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    let path = folder.join(name);
    std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("written");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("executable");
}

fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', "'\\''"))
}
