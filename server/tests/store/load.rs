//! Imports and tokens on a real database.

use std::io::Cursor;

use sallyport_server::{
    data::{
        import::import,
        seed::{SeedError, seed},
    },
    store::{LoadError, RecordKind, Store, StoreError, record::RecordCounts},
};

use super::backend::{Database, all, connect, on_both};

const ACCOUNT: &str = r#"{"account":{"name":"new","realNameVerified":true}}"#;

async fn load(store: &dyn Store, lines: &[&str]) -> Result<RecordCounts, LoadError> {
    import(store, Cursor::new(lines.join("\n"))).await
}

async fn the_example_of_the_readme_can_be_imported(database: Database) {
    let (_, example) = include_str!("../../README.md").split_once("```json\n").unwrap();
    let (example, _) = example.split_once("```").unwrap();
    let store = database.open().await;
    let loaded = import(store.as_ref(), Cursor::new(example)).await.unwrap();
    assert_eq!(RecordKind::ALL.map(|kind| loaded[kind]), [1; 7], "the example has one line of each kind");
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

/// The line is in a batch that is never sent.
async fn an_input_that_fails_or_panics_leaves_nothing_behind(database: Database) {
    struct Input(fn() -> std::io::Result<usize>);
    impl std::io::Read for Input {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            (self.0)()
        }
    }
    let store = database.open().await;
    let fails = || Err(std::io::Error::other("the cable was pulled"));
    for (input, reason) in [(Input(fails), "the cable was pulled"), (Input(|| panic!("meant")), "the reader")]
    {
        let input = std::io::Read::chain(Cursor::new(format!("{ACCOUNT}\n")), input);
        let error = import(store.as_ref(), std::io::BufReader::new(input)).await.unwrap_err();
        assert!(matches!(error, LoadError::Input(_)) && error.to_string().contains(reason), "{error}");
    }
    assert_eq!(load(store.as_ref(), &[ACCOUNT]).await.unwrap()[RecordKind::Account], 1);
}

async fn seeding_twice_changes_nothing(database: Database) {
    let store = database.open().await;
    let sample = seed(store.as_ref()).await.unwrap();
    assert!(sample.loaded[RecordKind::Instance] > 2500);
    assert!(
        matches!(seed(store.as_ref()).await, Err(SeedError::Present { first }) if first.contains("aurora"))
    );
    let tokens = all(database.open().await.as_ref(), RecordKind::Token, &[]).await;
    assert_eq!(tokens.len() as u64, sample.loaded[RecordKind::Token]);
}

on_both! {
    the_example_of_the_readme_can_be_imported,
    too_many_bad_lines_cut_the_reading_short,
    an_input_that_fails_or_panics_leaves_nothing_behind,
    seeding_twice_changes_nothing,
}

#[tokio::test]
async fn an_import_does_not_wait_for_another_without_end() {
    let Some(database) = Database::postgres().await else { return };
    let store = database.open().await;
    let other = connect(&database.name()).await.unwrap();
    // As an import does, to assign numbers.
    other.batch_execute("BEGIN; SELECT pg_advisory_xact_lock(x'73616c6c796c6f61'::bigint)").await.unwrap();
    let waited = load(store.as_ref(), &[ACCOUNT]).await;
    assert!(matches!(waited, Err(LoadError::Store(StoreError::Busy(_)))), "{waited:?}");
    drop(other);
    assert_eq!(load(store.as_ref(), &[ACCOUNT]).await.unwrap()[RecordKind::Account], 1);
}
