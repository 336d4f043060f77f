//! Imports on a real database.

use std::io::Cursor;

use sallyport_server::{
    data::import::import,
    store::{LoadError, RecordKind, Store, StoreError, record::RecordCounts},
};

use super::backend::{Database, connect, on_both};

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

on_both! {
    the_example_of_the_readme_can_be_imported,
    an_input_that_fails_or_panics_leaves_nothing_behind,
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
