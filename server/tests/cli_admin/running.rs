//! A server that runs meanwhile.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    process::{Child, Stdio},
};

use sallyport_server::{
    api::generated::ExtractProxies,
    edge::{operation::Operation as _, responding::error_code::ErrorCode},
};

use crate::database::Office;

/// A server that is stopped at the end of its test, whatever happens.
struct Server {
    child: Child,
    address: SocketAddr,
}

impl Server {
    fn start(office: &Office) -> Self {
        let mut command = office.command(&["run", "--listen", "127.0.0.1:0", "--log", "off"]);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim_end().strip_prefix("listening on http://").unwrap().parse().unwrap();
        Self { child, address }
    }

    /// Whether a gateway is given, or else the rejection.
    fn extract(&self, token: &str) -> Result<(), String> {
        let mut stream = TcpStream::connect(self.address).unwrap();
        let path = ExtractProxies::PATH;
        write!(
            stream,
            "GET {path}?num=1&api_key={token} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n"
        )
        .unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        assert!(!response.contains("very-secret"), "{response}");
        if response.starts_with("HTTP/1.1 200") && response.contains("gw1.invalid") {
            Ok(())
        } else {
            Err(response)
        }
    }
}

/// What a rejection for this code has in it.
fn code(code: ErrorCode) -> String {
    format!("\"code\":{}", code.number())
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

#[test]
fn a_change_is_seen_by_the_next_call() {
    let office = Office::open();
    let server = Server::start(&office);
    let token = office.done(&["token", "issue", "--account", "acme"]).trim_end().to_owned();
    let rejected = |token: &str, code: &str| {
        let response = server.extract(token).unwrap_err();
        assert!(response.contains(code), "{response}");
    };

    rejected(&token, &code(ErrorCode::NotWhitelisted));
    office.done(&["whitelist", "add", "--account", "acme", "127.0.0.0/8"]);
    rejected(&token, &code(ErrorCode::NotEntitled));
    office.done(&["entitlement", "grant", "--account", "acme", "--protocol", "http"]);
    assert_eq!(server.extract(&token), Ok(()));

    office.done(&["whitelist", "disable", "1"]);
    rejected(&token, &code(ErrorCode::NotWhitelisted));
    office.done(&["whitelist", "enable", "1"]);
    assert_eq!(server.extract(&token), Ok(()));
    office.done(&["account", "unverify", "acme"]);
    rejected(&token, &code(ErrorCode::NotVerified));
    office.done(&["account", "verify", "acme"]);
    assert_eq!(server.extract(&token), Ok(()));

    // Both are good for a while; then the old one is not.
    let new = office.done(&["token", "rotate", "1", "--overlap", "1h"]).trim_end().to_owned();
    assert_eq!((server.extract(&token), server.extract(&new)), (Ok(()), Ok(())));
    let newer = office.done(&["token", "rotate", "2", "--overlap", "1s"]).trim_end().to_owned();
    let mut tries = 0;
    while server.extract(&new).is_ok() {
        tries += 1;
        assert!(tries < 200, "an overlap of a second does not end");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    rejected(&new, &code(ErrorCode::TokenInvalid));
    assert_eq!((server.extract(&token), server.extract(&newer)), (Ok(()), Ok(())));
    office.done(&["token", "rotate", "1", "--overlap", "0", "--yes", "--expires", "never"]);
    rejected(&token, &code(ErrorCode::TokenInvalid));

    office.done(&["gateway", "remove", "gw1.invalid:20001", "--yes"]);
    assert!(server.extract(&newer).is_err());
    office.done(&["account", "remove", "acme", "--with-data", "--yes"]);
    assert!(server.extract(&newer).unwrap_err().contains(&code(ErrorCode::TokenInvalid)));
}
