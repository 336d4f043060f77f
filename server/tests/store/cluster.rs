//! PostgreSQL servers of our own, from the installed programs.

use std::{
    fs,
    os::unix::{
        fs::{MetadataExt as _, PermissionsExt as _},
        process::CommandExt as _,
    },
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

/// A server in a temporary folder, reached by its Unix socket. It goes away with its owner, whatever happens to that.
pub(crate) struct Cluster {
    folder: PathBuf,
    programs: PathBuf,
    options: Vec<String>,
    keeper: Child,
}

/// Runs the server until its own input ends, which the end of this process brings about, then removes the folder.
const KEEPER: &str = r#"
programs=$1 folder=$2
shift 2
"$programs/postgres" -D "$folder/data" -k "$folder" -c fsync=off -c max_connections=200 "$@" >>"$folder/log" 2>&1 &
cat >/dev/null
kill -QUIT "$(head -1 "$folder/data/postmaster.pid" 2>/dev/null)" 2>/dev/null
wait
if [ -e "$folder/last" ]; then rm -rf "$folder"; fi
"#;

impl Cluster {
    /// A new server, or `None` when PostgreSQL is not installed.
    pub(crate) fn start() -> Option<Self> {
        Self::start_with(|_| vec!["-c".to_owned(), "listen_addresses=".to_owned()])
    }

    /// A new server that listens on a port of `localhost` too, with TLS, and its certificate.
    pub(crate) fn start_tls(port: u16) -> Option<(Self, PathBuf)> {
        let cluster = Self::start_with(|folder| {
            let pair = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
            let files = [("cert.pem", pair.cert.pem()), ("key.pem", pair.signing_key.serialize_pem())];
            let [certificate, key] = files.map(|(name, content)| {
                let path = folder.join(name);
                fs::write(&path, content).unwrap();
                // PostgreSQL uses no key that others can read.
                fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
                own(&path);
                path.display().to_string()
            });
            let settings = [
                "listen_addresses=localhost".to_owned(),
                format!("port={port}"),
                "ssl=on".to_owned(),
                format!("ssl_cert_file={certificate}"),
                format!("ssl_key_file={key}"),
            ];
            settings.into_iter().flat_map(|setting| ["-c".to_owned(), setting]).collect()
        })?;
        let certificate = cluster.folder.join("cert.pem");
        Some((cluster, certificate))
    }

    fn start_with(options: impl FnOnce(&Path) -> Vec<String>) -> Option<Self> {
        let programs = programs()?;
        let folder = tempfile::Builder::new().prefix("sallyport-pg-").tempdir().unwrap().keep();
        fs::write(folder.join("last"), "").unwrap();
        own(&folder);
        own(&folder.join("last"));
        let made = as_user(&mut Command::new(programs.join("initdb")))
            .args("--auth=trust --no-sync --username=sallyport --encoding=UTF8 --locale=C -D".split(' '))
            .arg(folder.join("data"))
            .output()
            .unwrap();
        assert!(made.status.success(), "initdb: {}", String::from_utf8_lossy(&made.stderr));
        let options = options(&folder);
        let keeper = keep(&programs, &folder, &options);
        Some(Self { folder, programs, options, keeper })
    }

    pub(crate) fn url(&self, database: &str) -> String {
        let socket = self.folder.to_str().unwrap().replace('/', "%2F");
        format!("postgres://sallyport@{socket}/{database}")
    }

    /// Ends every process of the server at once, as a power cut would.
    pub(crate) fn crash(&mut self) {
        let pid = fs::read_to_string(self.folder.join("data/postmaster.pid")).unwrap();
        let pid = pid.lines().next().unwrap();
        assert!(Command::new("kill").args(["-QUIT", pid]).status().unwrap().success());
        while Path::new("/proc").join(pid).exists() {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Starts the server again after a crash. It may take a moment until it accepts connections.
    pub(crate) fn start_again(&mut self) {
        let old = std::mem::replace(&mut self.keeper, keep(&self.programs, &self.folder, &self.options));
        // The old keeper would remove the folder of the new one.
        fs::remove_file(self.folder.join("last")).unwrap();
        end(old);
        fs::write(self.folder.join("last"), "").unwrap();
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        // It has nothing left but to end.
        let _ = self.keeper.wait();
    }
}

fn end(mut keeper: Child) {
    drop(keeper.stdin.take());
    keeper.wait().unwrap();
}

fn keep(programs: &Path, folder: &Path, options: &[String]) -> Child {
    let mut command = Command::new("sh");
    as_user(&mut command)
        .args(["-c", KEEPER, "keeper"])
        .args([programs, folder])
        .args(options)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Gives a file to the user as whom PostgreSQL runs.
fn own(path: &Path) {
    if let Some((uid, gid)) = unprivileged() {
        std::os::unix::fs::chown(path, Some(uid), Some(gid)).unwrap();
    }
}

/// PostgreSQL does not run as root: where we are root, its own user does.
fn as_user(command: &mut Command) -> &mut Command {
    match unprivileged() {
        Some((uid, gid)) => command.uid(uid).gid(gid),
        None => command,
    }
}

fn unprivileged() -> Option<(u32, u32)> {
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        return None;
    }
    let users = fs::read_to_string("/etc/passwd").unwrap();
    let line = users.lines().find(|line| line.starts_with("postgres:")).unwrap();
    let mut numbers = line.split(':').skip(2).map(|number| number.parse().unwrap());
    Some((numbers.next().unwrap(), numbers.next().unwrap()))
}

/// The folder with the newest of the installed servers.
pub(crate) fn programs() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let debian = fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    let debian = debian.filter_map(|entry| Some(entry.ok()?.path().join("bin")));
    let complete = |folder: &PathBuf| ["initdb", "postgres"].iter().all(|it| folder.join(it).exists());
    debian.filter(complete).max().or_else(|| std::env::split_paths(&path).find(complete))
}

/// Tries until it works, for half a minute at most.
pub(crate) async fn eventually<T, E: std::fmt::Debug>(mut attempt: impl AsyncFnMut() -> Result<T, E>) -> T {
    let begun = Instant::now();
    loop {
        match attempt().await {
            Ok(value) => return value,
            Err(error) => assert!(begun.elapsed() < Duration::from_secs(30), "{error:?}"),
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
