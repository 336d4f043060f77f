//! Debian's nginx with the configuration that operators get, on ports of the loopback interface.

use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use super::identity::Pair;

/// The configuration as operators get it.
pub(crate) const SITE: &str = include_str!("../../nginx.conf");

/// What the configuration leaves to the rest of nginx's: in one process, and with its own files in the folder. The
/// level of the log is the most talkative one that every nginx has.
const AROUND: &str = "
daemon off;
master_process off;
pid FOLDER/pid;
error_log FOLDER/main.log info;
events { worker_connections 1024; }
http {
    client_body_temp_path FOLDER/bodies;
    proxy_temp_path FOLDER/proxied;
    fastcgi_temp_path FOLDER/fastcgi;
    uwsgi_temp_path FOLDER/uwsgi;
    scgi_temp_path FOLDER/scgi;
    include FOLDER/site.conf;
}
";

/// A running nginx, which ends with the test.
pub(crate) struct Nginx {
    child: Child,
    folder: tempfile::TempDir,
    pub(crate) address: SocketAddr,
    pub(crate) pair: Pair,
}

/// Where the program is; without it, says visibly that a test is skipped.
pub(crate) fn installed() -> Option<PathBuf> {
    let mut places = vec![PathBuf::from("/usr/sbin/nginx"), PathBuf::from("/usr/local/sbin/nginx")];
    places.extend(
        std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).map(|it| it.join("nginx")),
    );
    let found = places.into_iter().find(|place| place.is_file());
    if found.is_none() {
        // Past the test harness, which shows what is printed only for tests that fail.
        let _ = writeln!(std::io::stderr(), "SKIPPED behind nginx: it is not installed");
    }
    found
}

impl Nginx {
    /// Starts nginx in front of the server at `upstream`.
    pub(crate) fn start(program: &Path, upstream: SocketAddr) -> Self {
        Self::start_with(program, upstream, "")
    }

    /// The same with more directives.
    pub(crate) fn start_with(program: &Path, upstream: SocketAddr, directives: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let pair = Pair::new();
        let (certificate, key) = pair.write(folder.path());
        let place = folder.path().display().to_string();
        let address = free();
        let mut site = SITE.to_owned();
        for (shown, ours) in [
            ("listen 443 ", format!("{directives} listen {address} ")),
            ("127.0.0.1:8080", upstream.to_string()),
            ("/etc/sallyport/chain.pem", certificate.display().to_string()),
            ("/etc/sallyport/key.pem", key.display().to_string()),
            ("/var/log/nginx/sallyport.log", format!("{place}/access.log")),
            ("/var/log/nginx/sallyport-error.log", format!("{place}/error.log")),
        ] {
            assert_eq!(site.matches(shown).count(), 1, "`{shown}` in server/nginx.conf");
            site = site.replace(shown, &ours);
        }
        std::fs::write(folder.path().join("site.conf"), site).expect("written");
        std::fs::write(folder.path().join("nginx.conf"), AROUND.replace("FOLDER", &place)).expect("written");
        let child = Command::new(program)
            .args(["-p", &place, "-c", "nginx.conf", "-e", &format!("{place}/start.log")])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("nginx starts");
        let mut nginx = Self { child, folder, address, pair };
        nginx.wait();
        nginx
    }

    /// What it logged of calls.
    pub(crate) fn access_log(&self) -> String {
        self.read("access.log")
    }

    /// Everything that it wrote anywhere, as file and content.
    pub(crate) fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let (mut folders, mut files) = (vec![self.folder.path().to_owned()], Vec::new());
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let content = std::fs::read(&path).expect("a file");
                    files.push((path, content));
                }
            }
        }
        files
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(name)).unwrap_or_default()
    }

    /// Until it takes connections.
    fn wait(&mut self) {
        for _ in 0..200 {
            if TcpStream::connect(self.address).is_ok() {
                return;
            }
            if let Ok(Some(status)) = self.child.try_wait() {
                panic!("nginx ended with {status}: {}{}", self.read("start.log"), self.read("main.log"));
            }
            sleep(Duration::from_millis(50));
        }
        panic!("nginx does not listen: {}{}", self.read("start.log"), self.read("main.log"));
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // It may have ended already, which is what is wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A port that was free a moment ago; nginx itself can't be asked for one.
pub(crate) fn free() -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    listener.local_addr().expect("bound")
}
