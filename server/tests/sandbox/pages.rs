//! The pages of the sandbox, and what other paths get.

use std::sync::Arc;

use sallyport_server::{Config, contract_page, sandbox::Sandbox, store::sqlite::SqliteStore};

use super::http::{call, get};

#[tokio::test(flavor = "multi_thread")]
async fn the_contract_is_a_page_with_the_sandboxs_own_address() {
    let sandbox = Sandbox::start().await.unwrap();
    let page = get(&sandbox, "/docs").await;
    let escaped = |url: &str| url.replace('/', "&#x2f;");
    let expected = contract_page().replace(&escaped("https://api.invalid"), &escaped(&sandbox.base_url()));
    assert_eq!((page.status, page.body.as_str()), (200, expected.as_str()));
    assert!(page.body.contains(&escaped(&sandbox.base_url())));
    assert!(page.header("content-security-policy").unwrap().contains("default-src 'none'"));
}

/// Each thing that a sandbox has, asked of a server on a store that somebody opened.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_on_a_given_store_has_no_pages_and_no_clock() {
    let store = Arc::new(SqliteStore::temporary().unwrap());
    let admin = Some(([127, 0, 0, 1], 0).into());
    let server = sallyport_server::start(Config { admin, ..Config::loopback(store) }).unwrap();
    for path in ["/", "/docs", "/sandbox/clock"] {
        for method in ["GET", "PUT", "DELETE"] {
            assert_eq!(call(server.address(), method, path, &[], "{}").await.status, 404, "{method} {path}");
            let status = call(server.admin_address().unwrap(), method, path, &[], "{}").await.status;
            assert_eq!(status / 100 == 4, (method, path) != ("GET", "/docs"), "{method} {path}: {status}");
        }
    }
}
