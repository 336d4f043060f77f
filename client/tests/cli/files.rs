//! Addresses from files.

use std::fs;

use sallyport_client::contract::ADDRESS_PORTS;

use crate::faulty::{FaultyServer, ok};
use crate::{PAGE, run, stdout};

#[tokio::test(flavor = "multi_thread")]
async fn several_files_are_read_and_a_byte_order_mark_is_skipped() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let (one, two) = (path("one", "\u{feff}192.0.2.1\r\n# more\r\n"), path("two", "192.0.2.2\n"));
    let server = FaultyServer::start(vec![ok(PAGE)]).await;
    let arguments = ["search", "192.0.2.9", "--file", &one, "--file", &two, "--file", "-"];
    stdout(&run(&server, &arguments, "\u{feff}192.0.2.3").await);
    let expected = r#"["192.0.2.9","192.0.2.1","192.0.2.2","192.0.2.3"]"#;
    assert!(server.requests()[0].contains(expected), "{:?}", server.requests());
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_addresses_are_listed_with_file_and_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bad.txt");
    let shown = path.display().to_string();
    let server = FaultyServer::start(vec![ok(PAGE)]).await;
    let search = async |text: &[u8], input: &str, arguments: &[&str]| {
        fs::write(&path, text).unwrap();
        let output = run(&server, &[&["search", "--file", &shown], arguments].concat(), input).await;
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        String::from_utf8(output.stderr).unwrap().replace(&shown, "bad.txt")
    };
    let text = search(
        b"# mine\n192.0.2.1\n\nnope\n10.0.0.0/8\n192.0.2.1:0\n",
        "\u{feff}\u{feff}192.0.2.3\n",
        &["--file", "-", "first"],
    )
    .await;
    let (first, last) = (ADDRESS_PORTS.start(), ADDRESS_PORTS.end());
    let address = "expected a complete IPv4 or IPv6 address, `IPv4:port` or `[IPv6]:port`, found";
    let expected = format!(
        "sallyport: 5 invalid addresses; nothing was sent\n  argument 1: {address} `first`\n  bad.txt:4: {address} `nope`\n  \
         bad.txt:5: {address} `10.0.0.0/8`\n  bad.txt:6: expected a port from {first} to {last} without leading zeros, found `0`\n  \
         standard input:1: {address} `\\u{{feff}}192.0.2.3`\n"
    );
    assert_eq!(text, expected);

    let text = search("nope\n".repeat(500).as_bytes(), "", &[]).await;
    assert!(text.starts_with("sallyport: 500 invalid addresses"), "{text}");
    assert_eq!(text.lines().count(), 12, "{text}");
    assert!(text.contains("bad.txt:10: ") && text.ends_with("  and 490 more\n"), "{text}");

    assert!(search(b"# none\n\n", "", &[]).await.contains("no addresses in bad.txt; expected one per line"));
    assert!(search(b"\xff\xfe1\0", "", &[]).await.contains("bad.txt: expected text in UTF-8"));
    assert!(server.requests().is_empty());
}
