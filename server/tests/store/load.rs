//! Imports and tokens on a real database.

use std::io::Cursor;

use sallyport_server::{
    data::{
        import::import,
        seed::{SeedError, seed},
    },
    store::{LoadError, RecordKind, Store, record::RecordCounts},
};

use crate::backend::{Database, all, on_both};

const ONE_OF_EACH: RecordCounts = RecordCounts {
    accounts: 1,
    tokens: 1,
    whitelist: 1,
    entitlements: 1,
    gateways: 1,
    groups: 1,
    instances: 1,
};

const ACCOUNT: &str = r#"{"account":{"name":"new","realNameVerified":true}}"#;
const GROUP: &str = r#"{"group":{"account":"new","groupId":1,"name":"g","createdAt":"2026-01-01T00:00:00+02:00","updatedAt":"2026-01-01T00:00:00Z"}}"#;
const INSTANCE: &str = r#"{"instance":{"account":"new","orderNo":"SO-1","instanceId":1,"offerId":1,"status":"active","ip":"2001:db8::1","port":0,"protocols":["http"],"countryCode":"USA","cityCode":"NYC","ispType":1,"expiresAt":null,"activatedAt":"2026-01-01T00:00:00.000000001Z","capabilities":{"renew":{"allowedDays":[30]}},"groupId":1,"username":"u","password":"p"}}"#;

async fn load(store: &dyn Store, lines: &[&str]) -> Result<RecordCounts, LoadError> {
    import(store, Cursor::new(lines.join("\n")), |_| {}).await
}

async fn bad_lines(store: &dyn Store, lines: &[&str]) -> Vec<(u64, String)> {
    match load(store, lines).await {
        Err(LoadError::Rejected(bad)) => bad.lines,
        other => panic!("expected invalid lines, got {other:?}"),
    }
}

async fn every_kind_of_record_is_loaded(database: Database) {
    let store = database.open().await;
    let digest = "0".repeat(64);
    let token = format!(
        r#"{{"token":{{"account":"new","sha256":"{digest}","kind":"link","createdAt":"2026-01-01T00:00:00Z"}}}}"#
    );
    let loaded = load(
        store.as_ref(),
        &[
            ACCOUNT,
            &token,
            r#"{"whitelist":{"account":"new","first":"192.0.2.1","enabled":true}}"#,
            r#"{"whitelist":{"account":"new","first":"192.0.2.1","last":"192.0.2.9","enabled":false,"expiresAt":null}}"#,
            r#"{"entitlement":{"account":"new","protocol":"socks5"}}"#,
            r#"{"gateway":{"host":"gw.invalid","port":1,"region":"USA","protocol":"http"}}"#,
            GROUP,
            INSTANCE,
        ],
    )
    .await
    .unwrap();
    assert_eq!(loaded, RecordCounts { whitelist: 2, ..ONE_OF_EACH });
}

async fn a_reader_that_panics_is_not_the_end_of_the_input(database: Database) {
    let store = database.open().await;
    let lines = format!("{ACCOUNT}\n{GROUP}");
    // The line is in a batch that is never sent.
    let loaded =
        import(store.as_ref(), Cursor::new(lines), |line| assert!(line < 2, "a panic that is meant")).await;
    assert!(matches!(loaded, Err(LoadError::Input(_))), "{loaded:?}");
    assert_eq!(load(store.as_ref(), &[ACCOUNT]).await.unwrap().accounts, 1, "nothing was kept");
}

async fn the_example_of_the_readme_can_be_imported(database: Database) {
    let (_, example) = include_str!("../../README.md").split_once("```json\n").unwrap();
    let (example, _) = example.split_once("```").unwrap();
    let store = database.open().await;
    let loaded = import(store.as_ref(), Cursor::new(example), |_| {}).await.unwrap();
    assert_eq!(loaded, ONE_OF_EACH, "the example has one line of each kind");
}

async fn a_mapped_address_is_stored_as_its_ipv4_address(database: Database) {
    let store = database.open().await;
    let whitelist = |first: &str, last: &str| {
        format!(r#"{{"whitelist":{{"account":"new","first":"{first}","last":{last},"enabled":true}}}}"#)
    };
    let instance = INSTANCE.replace("2001:db8::1", "::ffff:c000:201");
    let ranges = [
        whitelist("::ffff:192.0.2.1", "null"),
        whitelist("192.0.2.3", "\"::ffff:192.0.2.9\""),
        whitelist("::192.0.2.1", "null"),
        whitelist("192.0.2.3", "\"2001:db8::1\""),
    ];
    load(store.as_ref(), &[ACCOUNT, GROUP, &instance, &ranges[0], &ranges[1]]).await.unwrap();

    let registry = database.registry().await;
    assert_eq!(all(&registry, RecordKind::Instance, &["ip=192.0.2.1"]).await.len(), 1);
    for (covers, expected) in [("covers=192.0.2.1", 1), ("covers=192.0.2.2", 0), ("covers=192.0.2.9", 1)] {
        let found = all(&registry, RecordKind::Whitelist, &[covers]).await;
        assert_eq!(found.len(), expected, "{covers:?}");
    }
    for bad in &ranges[2..] {
        let bad = bad_lines(store.as_ref(), &[bad]).await;
        assert!(bad[0].1.contains("expected an IPv4 address"), "{bad:?}");
    }
}

async fn each_bad_line_is_named_and_nothing_is_kept(database: Database) {
    let store = database.open().await;
    let second = INSTANCE.replace(r#""instanceId":1"#, r#""instanceId":2"#);
    let cases = [
        (second.replace(r#""groupId":1"#, r#""groupId":2"#), "not a group of its account"),
        (second.replace(r#""account":"new""#, r#""account":"old""#), "unknown account \"old\""),
        (second.replace("2001:db8::1", "192.0.2.0/24"), "invalid IP address"),
        (
            INSTANCE.replace(r#""instanceId":1"#, r#""instanceId":0"#),
            "expected an identifier of 1 or more, found 0",
        ),
        (second.replace(r#""groupId":1,"#, ""), "missing field `groupId`"),
        (second.replace("active", "frozen"), "unknown variant `frozen`"),
        (second.replace("00.000000001Z", "00"), "offset component"),
        (ACCOUNT.to_owned(), "account named \"new\" already exists"),
        (
            r#"{"whitelist":{"account":"new","first":"192.0.2.9","last":"192.0.2.1","enabled":true}}"#
                .to_owned(),
            "before it begins",
        ),
        ("not json".to_owned(), "expected"),
    ];
    for (line, reason) in &cases {
        let bad = bad_lines(store.as_ref(), &[ACCOUNT, GROUP, INSTANCE, line]).await;
        assert_eq!(bad.len(), 1, "{bad:?}");
        assert!(bad[0].0 == 4 && bad[0].1.contains(reason), "{bad:?}");
    }
    // All of them at once, each with its number.
    let mut lines = vec![ACCOUNT, GROUP];
    lines.extend(cases.iter().map(|(line, _)| line.as_str()));
    let bad = bad_lines(store.as_ref(), &lines).await;
    let numbers: Vec<u64> = bad.iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers, (3..3 + cases.len() as u64).collect::<Vec<_>>());
    // Nothing was kept: the good lines are still new.
    assert_eq!(load(store.as_ref(), &[ACCOUNT, GROUP, INSTANCE]).await.unwrap().instances, 1);
    let twice = bad_lines(store.as_ref(), &[INSTANCE, GROUP]).await;
    assert!(twice[0].1.contains("instance 1 already exists"), "{twice:?}");
    assert!(twice[1].1.contains("group 1 already exists"), "{twice:?}");
}

async fn too_many_bad_lines_cut_the_reading_short(database: Database) {
    let store = database.open().await;
    match load(store.as_ref(), &["x"; 1000]).await {
        Err(LoadError::Rejected(bad)) => {
            assert!(bad.cut_short && bad.lines.len() < 100);
            let text = bad.to_string();
            assert!(text.starts_with("at least "), "{text}");
            assert!(text.contains("\n  line 1: column 1: expected"), "{text}");
        }
        other => panic!("expected invalid lines, got {other:?}"),
    }
}

async fn a_failing_input_leaves_nothing_behind(database: Database) {
    struct FailingInput;
    impl std::io::Read for FailingInput {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("the cable was pulled"))
        }
    }
    let store = database.open().await;
    let input = std::io::Read::chain(Cursor::new(format!("{ACCOUNT}\n")), FailingInput);
    let error = import(store.as_ref(), std::io::BufReader::new(input), |_| {}).await.unwrap_err();
    assert!(error.to_string().contains("the cable was pulled"), "{error}");
    assert_eq!(load(store.as_ref(), &[ACCOUNT]).await.unwrap().accounts, 1);
}

async fn seeding_twice_changes_nothing(database: Database) {
    let store = database.open().await;
    let sample = seed(store.as_ref()).await.unwrap();
    assert!(sample.loaded.instances > 2500);
    assert!(
        matches!(seed(store.as_ref()).await, Err(SeedError::Present { first }) if first.contains("aurora"))
    );
    let tokens = all(&database.registry().await, RecordKind::Token, &[]).await;
    assert_eq!(tokens.len() as u64, sample.loaded.tokens);
}

on_both! {
    every_kind_of_record_is_loaded,
    a_reader_that_panics_is_not_the_end_of_the_input,
    the_example_of_the_readme_can_be_imported,
    a_mapped_address_is_stored_as_its_ipv4_address,
    each_bad_line_is_named_and_nothing_is_kept,
    too_many_bad_lines_cut_the_reading_short,
    a_failing_input_leaves_nothing_behind,
    seeding_twice_changes_nothing,
}
