//! The program `server` as a process of its own.

use std::{
    io::{BufRead as _, BufReader},
    net::SocketAddr,
    process::{Child, Command, Stdio},
};

/// A running server. It is killed when this is dropped, without time to clean up.
pub(crate) struct ServerProcess {
    pub(crate) child: Child,
    pub(crate) address: SocketAddr,
    /// Standard output up to the line with the address.
    pub(crate) printed: String,
}

impl ServerProcess {
    /// Starts the server and waits until it listens.
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut server = Self { child, address: SocketAddr::from(([0; 4], 0)), printed: String::new() };
        loop {
            let mut line = String::new();
            assert_ne!(output.read_line(&mut line).unwrap(), 0, "the server ended: {}", server.printed);
            if let Some(url) = line.trim_end().strip_prefix("listening on ") {
                server.address = url.rsplit('/').next().unwrap().parse().unwrap();
                return server;
            }
            server.printed.push_str(&line);
        }
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
