//! The pages of the sandbox, and what other paths get.

use std::sync::Arc;

use sallyport_server::{Config, data::seed::seed, sandbox::Sandbox, store::sqlite::SqliteStore};
use serde_json::Value;

use super::http::{call, get};

#[tokio::test(flavor = "multi_thread")]
async fn examples_carry_the_sandboxs_own_address_and_no_token() {
    let sandbox = Sandbox::start().await.unwrap();
    let base_url = sandbox.base_url();
    let escaped = base_url.replace('/', "&#x2f;");
    for (path, call_of) in
        [("/", format!("'{base_url}/openapi/v1/proxy/extract?num=3'")), ("/docs", base_url.clone())]
    {
        let page = get(&sandbox, path).await;
        assert_eq!(page.status, 200, "{path}");
        assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
        assert!(page.header("content-security-policy").unwrap().contains("default-src 'none'"));
        assert!(page.body.contains(&call_of) || page.body.contains(&escaped), "{path}");
        assert!(!page.body.contains("api.invalid&#x2f;openapi"), "{path}");
        assert!(!page.body.contains("sally_"), "{path}: a page shows a token");
    }
    let address = sandbox.server().address();
    // The name by which the caller reached it, unless that is no plain name.
    let named = call(address, "GET", "/", &["Host: sandbox.test:8080"], "").await;
    assert!(named.body.contains("http:&#x2f;&#x2f;sandbox.test:8080&#x2f;openapi"));
    for host in ["a'b", "<script>", "a\"b", "$(id)"] {
        let odd = call(address, "GET", "/", &[&format!("Host: {host}")], "").await;
        assert!(!odd.body.contains(host) || odd.status == 400, "{host}: {odd:?}");
    }
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
