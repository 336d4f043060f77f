//! Imports whose input fails. `tests/sessions/databases.txt` has others.

use std::io::Cursor;

use sallyport_server::{
    data::import::import,
    store::{LoadError, RecordKind},
};

use super::backend::{Database, on_both};

const ACCOUNT: &str = r#"{"account":{"name":"new","realNameVerified":true}}"#;

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
    assert_eq!(import(store.as_ref(), Cursor::new(ACCOUNT)).await.unwrap()[RecordKind::Account as usize], 1);
}

on_both! { an_input_that_fails_or_panics_leaves_nothing_behind }
