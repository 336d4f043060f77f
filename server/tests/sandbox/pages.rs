//! The pages of the sandbox, and what other paths get.

use std::sync::Arc;

use sallyport_server::{
    Config, contract_page, data::seed::seed, sandbox::Sandbox, store::sqlite::SqliteStore,
};
use serde_json::Value;

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

/// What paths outside of the document get, without the id that differs each time.
async fn rejections(address: std::net::SocketAddr, paths: &[&str]) -> Vec<(String, u16, Value)> {
    let mut found = Vec::new();
    for path in paths {
        for method in ["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS"] {
            let response = call(address, method, path, &[], "").await;
            let mut body: Value = serde_json::from_str(&response.body).unwrap_or_default();
            if let Some(body) = body.as_object_mut() {
                body.remove("request_id");
                body.remove("requestId");
            }
            found.push((format!("{method} {path}"), response.status, body));
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn other_paths_and_the_operations_are_rejected_as_without_pages() {
    let store = Arc::new(SqliteStore::temporary().unwrap());
    seed(store.as_ref()).await.unwrap();
    let server = sallyport_server::start(Config::loopback(store)).unwrap();
    let sandbox = Sandbox::start().await.unwrap();
    let paths = [
        "/",
        "/nothing",
        "/docs/more",
        "/sandbox",
        "/sandbox/clock/more",
        "/openapi",
        "/openapi/v1",
        "/openapi/v1/docs",
        "/openapi/v1/proxy/extract",
        "/openapi/v1/static/groups?api_key=unknown",
        "/openapi/v1/static/instances/search?api_key=unknown",
    ];
    let expected = rejections(server.address(), &paths).await;
    assert_eq!(rejections(sandbox.server().address(), &paths).await, expected);
    assert!(expected.iter().all(|(_, status, _)| (400..500).contains(status)), "{expected:?}");
}

/// Each thing that a sandbox has, asked of a server on a store that somebody opened.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_on_a_given_store_has_no_pages_and_no_clock() {
    let store = Arc::new(SqliteStore::temporary().unwrap());
    let admin = Some(([127, 0, 0, 1], 0).into());
    let server = sallyport_server::start(Config { admin, ..Config::loopback(store) }).unwrap();
    let unknown = rejections(server.address(), &["/nothing"]).await;
    let statuses = |found: Vec<(String, u16, Value)>| {
        found.into_iter().map(|(_, status, body)| (status, body)).collect::<Vec<_>>()
    };
    let unknown = statuses(unknown);
    for path in ["/", "/docs", "/sandbox/clock"] {
        assert_eq!(statuses(rejections(server.address(), &[path]).await), unknown, "{path}");
    }
    let admin = server.admin_address().unwrap();
    for path in ["/", "/sandbox/clock"] {
        for method in ["GET", "PUT", "DELETE"] {
            assert_eq!(call(admin, method, path, &[], "{}").await.status, 404, "{method} {path}");
        }
    }
}
