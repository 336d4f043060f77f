//! The server as a program of its own, so that its memory, its log and its metrics can be looked at.

use std::{
    io::{Read, Write as _},
    net::{SocketAddr, TcpStream},
    process::{Command, Stdio},
    thread::{self, JoinHandle},
    time::Duration,
};

use sallyport_server::{
    api::generated::{ListStaticGroups, SearchStaticInstances},
    edge::operation::Operation,
};

use super::server_process::ServerProcess;

/// Most memory that a server may have had, whatever was sent to it. It takes about a tenth of this by itself.
pub(crate) const MAX_MEMORY_KB: u64 = 192 * 1024;

/// A running server with sample data.
pub(crate) struct Target {
    server: ServerProcess,
    log: Option<JoinHandle<String>>,
    pub(crate) address: SocketAddr,
    admin: SocketAddr,
    pub(crate) token: String,
}

impl Target {
    pub(crate) fn start() -> Self {
        Self::with(&[], "")
    }

    /// With these flags, and after `limits`, commands of the shell that set limits to the process.
    pub(crate) fn with(flags: &[&str], limits: &str) -> Self {
        let mut command = Command::new("sh");
        command
            .args(["-c", &format!("{limits}\nexec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_server")])
            .args(["run", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"])
            .args(flags)
            // A flag takes precedence.
            .env("SALLYPORT_BODY_TIMEOUT", "1")
            .env_remove("SALLYPORT_DB")
            .stderr(Stdio::piped());
        let mut server = ServerProcess::start(&mut command);
        // A log that nobody reads would hold the server up.
        let mut stderr = server.child.stderr.take().unwrap();
        let log = thread::spawn(move || {
            let mut bytes = Vec::new();
            stderr.read_to_end(&mut bytes).unwrap();
            String::from_utf8_lossy(&bytes).into_owned()
        });
        let admin = server.printed.lines().find_map(|line| line.strip_prefix("operator's pages on http://"));
        let token = server.printed.split_whitespace().find(|word| word.starts_with("sally_api_"));
        let (admin, token) = (admin.unwrap().parse().unwrap(), token.unwrap().to_owned());
        Self { address: server.address, server, log: Some(log), admin, token }
    }

    /// Path and query of a good call.
    pub(crate) fn groups(&self) -> String {
        format!("{}?api_key={}", ListStaticGroups::PATH, self.token)
    }

    /// A search with these headers.
    pub(crate) fn search(&self, headers: &str, body: &[u8]) -> Vec<u8> {
        let (path, token) = (SearchStaticInstances::PATH, &self.token);
        let head = format!(
            "POST {path}?api_key={token} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n{headers}\r\n\r\n"
        );
        [head.as_bytes(), body].concat()
    }

    /// A connection over which this was sent.
    pub(crate) fn open(&self, request: &[u8]) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).unwrap();
        // The server may hang up before it has read all of it.
        let _ = stream.write_all(request);
        stream
    }

    /// The status of each response on one connection, up to its end or until nothing more comes. The caller does not hang
    /// up: a call without a caller is dropped.
    pub(crate) fn statuses(&self, request: &[u8]) -> Vec<String> {
        statuses(self.open(request))
    }

    /// The same for requests that are sent all at once.
    pub(crate) fn statuses_of_each(&self, requests: &[Vec<u8>]) -> Vec<Vec<String>> {
        thread::scope(|scope| {
            let waiting: Vec<_> =
                requests.iter().map(|request| scope.spawn(|| self.statuses(request))).collect();
            waiting.into_iter().map(|each| each.join().unwrap()).collect()
        })
    }

    #[track_caller]
    pub(crate) fn assert_good_callers_are_served(&self) {
        let request = format!("GET {} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", self.groups());
        assert_eq!(self.statuses(request.as_bytes()), ["200"]);
    }

    #[track_caller]
    pub(crate) fn assert_served_and_unharmed(&mut self) -> String {
        self.assert_good_callers_are_served();
        self.assert_unharmed()
    }

    /// After all that: no failure, no panic, no token in the log, which is given, and memory within bounds.
    #[track_caller]
    pub(crate) fn assert_unharmed(&mut self) -> String {
        assert_eq!(self.failures(), Vec::<String>::new(), "calls failed");
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.server.child.id())).unwrap();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        let peak: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
        assert!(peak < MAX_MEMORY_KB, "it took {peak} kB of memory");
        let log = self.ended();
        assert!(!log.contains("panicked"), "{log}");
        assert!(!log.contains(&self.token), "the token is in the log");
        log
    }

    /// Counts of calls that ended with a 5xx.
    fn failures(&self) -> Vec<String> {
        let mut stream = TcpStream::connect(self.admin).unwrap();
        stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
        let mut page = String::new();
        stream.read_to_string(&mut page).unwrap();
        assert!(page.contains("sallyport_calls_total{"), "{page}");
        page.lines().filter(|line| line.contains("status=\"5")).map(str::to_owned).collect()
    }

    /// Ends the program, and gives its log.
    fn ended(&mut self) -> String {
        let _ = self.server.child.kill();
        let _ = self.server.child.wait();
        self.log.take().map(|log| log.join().unwrap()).unwrap_or_default()
    }
}

pub(crate) fn statuses(mut stream: TcpStream) -> Vec<String> {
    // Longer than the server waits for a body; a client without a response by then gets none.
    stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let mut response = Vec::new();
    // A reset is an end as well, and what came before it counts.
    let _ = stream.read_to_end(&mut response);
    let text = String::from_utf8_lossy(&response).into_owned();
    let after = |start: &str| start.split(' ').next().unwrap_or_default().to_owned();
    text.split("HTTP/1.1 ").skip(1).chain(text.split("HTTP/1.0 ").skip(1)).map(after).collect()
}
