//! A server that runs meanwhile.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
};

use sallyport_server::{
    api::generated::ExtractProxies,
    edge::{operation::Operation as _, responding::error_code::ErrorCode},
};

use crate::{database::TestDatabase, server_process::ServerProcess};

/// Whether a gateway is given, or else the rejection.
fn extract(server: &ServerProcess, token: &str) -> Result<(), String> {
    let mut stream = TcpStream::connect(server.address).unwrap();
    let target = format!("{}?num=1&api_key={token}", ExtractProxies::PATH);
    write!(stream, "GET {target} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n").unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    assert!(!response.contains("very-secret"), "{response}");
    let is_served = response.starts_with("HTTP/1.1 200") && response.contains("gw1.invalid");
    if is_served { Ok(()) } else { Err(response) }
}

/// What a rejection for this code has in it.
fn code(code: ErrorCode) -> String {
    format!("\"code\":{}", code.number())
}

#[test]
fn a_change_is_seen_by_the_next_call() {
    let database = TestDatabase::open();
    let server =
        ServerProcess::start(&mut database.command(&["run", "--listen", "127.0.0.1:0", "--log", "off"]));
    assert_eq!(server.printed, "");
    let token = database.succeed("token issue --account acme").trim_end().to_owned();
    let rejected = |token: &str, code: &str| {
        let response = extract(&server, token).unwrap_err();
        assert!(response.contains(code), "{response}");
    };

    rejected(&token, &code(ErrorCode::NotWhitelisted));
    database.succeed("put whitelist --account acme --range 127.0.0.0/8");
    rejected(&token, &code(ErrorCode::NotEntitled));
    database.succeed("put entitlement --account acme --protocol http");
    assert_eq!(extract(&server, &token), Ok(()));

    database.succeed("put whitelist --id 1 --enabled false");
    rejected(&token, &code(ErrorCode::NotWhitelisted));
    database.succeed("put whitelist --id 1 --enabled");
    assert_eq!(extract(&server, &token), Ok(()));
    database.succeed("put account --name acme --real-name-verified false");
    rejected(&token, &code(ErrorCode::NotVerified));
    database.succeed("put account --name acme --real-name-verified");
    assert_eq!(extract(&server, &token), Ok(()));

    // Both are good for a while; then the old one is not.
    let new = database.succeed("token rotate 1 --overlap 1h").trim_end().to_owned();
    assert_eq!((extract(&server, &token), extract(&server, &new)), (Ok(()), Ok(())));
    let newer = database.succeed("token rotate 2 --overlap 1s").trim_end().to_owned();
    let mut tries = 0;
    while extract(&server, &new).is_ok() {
        tries += 1;
        assert!(tries < 200, "an overlap of a second does not end");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    rejected(&new, &code(ErrorCode::TokenInvalid));
    assert_eq!((extract(&server, &token), extract(&server, &newer)), (Ok(()), Ok(())));
    database.succeed("token rotate 1 --overlap 0 --yes --expires never");
    rejected(&token, &code(ErrorCode::TokenInvalid));

    database.succeed("remove gateway --where host=gw1.invalid --yes");
    assert!(extract(&server, &newer).is_err());
    database.succeed("remove account acme --with-data --yes");
    assert!(extract(&server, &newer).unwrap_err().contains(&code(ErrorCode::TokenInvalid)));
}
