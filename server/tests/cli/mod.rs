//! What the program prints of the library's own. `tests/sessions` has its commands.

mod log_lines;

use std::process::Command;

use crate::support::shared_buffer;

fn printed(command: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_server")).arg(command).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_document_is_printed_as_json() {
    let document: serde_json::Value = serde_json::from_str(&printed("openapi")).unwrap();
    assert_eq!(&document, sallyport_server::openapi());
}

#[test]
fn the_contract_is_printed_as_the_page_of_the_operators_address() {
    assert_eq!(printed("docs"), sallyport_server::contract_page());
}
