//! The client that is generated from the second document of `xtask`, an API of ten operations that read and write: it
//! compiles, validates and sends what the document says. The modules of the client that generated code needs are its own;
//! what sends is a stand-in, since `transport` knows the operations of our document.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../faulty/mod.rs"]
mod faulty;

#[rustfmt::skip]
#[allow(dead_code, clippy::all, unreachable_pub, reason = "generated")]
mod contract;
#[rustfmt::skip]
#[allow(dead_code, clippy::all, unreachable_pub, unused_imports, reason = "generated")]
mod generated;
mod hooks;
#[path = "../../src/lenient.rs"]
#[allow(dead_code, reason = "the document decides which readers it uses")]
mod lenient;
#[allow(dead_code, reason = "what is generated is compared as it is printed")]
mod operation;
#[path = "../../src/validate.rs"]
#[allow(dead_code, unreachable_pub, reason = "the document decides which limits it uses")]
mod validate;

use contract::Genre;
use generated::types::{BookChange, NewAuthor, NewBook, NewCopy, Subtitle, Title};
use sallyport_client::printable;
use serde_json::{Value, json};

use crate::{
    faulty::{CANARY, FaultyServer, reply},
    hooks::Hooks,
};

const JSON: [(&str, &str); 1] = [("content-type", "application/json")];

fn client(server: &FaultyServer) -> generated::Client {
    generated::Client::new_with_client(&server.base_url(), reqwest::Client::new(), Hooks)
}

fn book() -> Value {
    json!({"bookId": 7, "title": "Middlemarch", "subtitle": null, "genre": "essay", "author": "George Eliot"})
}

#[expect(deprecated, reason = "the document says that `born` ends; it can still be sent")]
fn new_book() -> NewBook {
    NewBook {
        title: Title("Middlemarch".to_owned()),
        genre: Genre::Novel,
        author: NewAuthor { name: "George Eliot".to_owned(), born: Some(1819), language: None },
        copies: vec![NewCopy { shelf: "A-7".to_owned(), tags: Vec::new() }],
        is_reference: None,
    }
}

#[expect(deprecated, reason = "the document says that `kind` ends")]
fn listing(genre: Vec<Genre>, limit: Option<i64>) -> contract::ListBooks {
    contract::ListBooks { genre: Some(genre), kind: None, limit }
}

#[expect(deprecated, reason = "values, fields of responses and setters are marked as well")]
#[test]
fn what_is_deprecated_can_still_be_used() {
    let science = Genre::Science;
    let _: fn(&generated::types::Book) -> Option<&String> = |book| book.subtitle.as_ref();
    assert_eq!(science.as_str(), "science");
}

#[tokio::test]
async fn requests_have_their_method_path_lists_and_objects() {
    let created = json!({"code": 201, "message": "created", "data": book()}).to_string();
    let server = FaultyServer::start(vec![
        reply(200, &JSON, &json!({"code": 200, "message": "ok", "data": [book()]}).to_string()),
        reply(201, &JSON, &created),
        reply(204, &[], ""),
        reply(200, &JSON, &json!({"code": 200, "message": "ok", "data": book()}).to_string()),
    ])
    .await;
    let client = client(&server);

    let list = listing(vec![Genre::Novel, Genre::Poetry], Some(5));
    let books = list.call(&client).unwrap().send().await.unwrap().into_inner().data;
    assert_eq!(books[0].genre, Genre::Other("essay".to_owned()), "an unknown value is kept");

    let made = contract::CreateBook { body: new_book() }.call(&client).unwrap().send().await.unwrap();
    assert_eq!(made.status(), 201);

    let gone = contract::DeleteMember { member_name: "ada/ü".to_owned() };
    gone.call(&client).unwrap().send().await.unwrap();

    let change = BookChange { title: None, subtitle: Some(Subtitle(None)), author: None };
    contract::ChangeBook { book_id: 7, body: change }.call(&client).unwrap().send().await.unwrap();

    let seen = server.requests();
    let lines: Vec<&str> = seen.iter().filter_map(|request| request.lines().next()).collect();
    assert_eq!(
        lines,
        [
            "GET /openapi/v1/library/books?genre=novel&genre=poetry&limit=5 HTTP/1.1",
            "POST /openapi/v1/library/books HTTP/1.1",
            "DELETE /openapi/v1/library/members/ada%2F%C3%BC HTTP/1.1",
            "PATCH /openapi/v1/library/books/7 HTTP/1.1",
        ]
    );
    let body = |index: usize| -> Value {
        serde_json::from_str(seen[index].split("\r\n\r\n").nth(1).unwrap()).unwrap()
    };
    assert_eq!(
        body(1),
        json!({
            "title": "Middlemarch", "genre": "novel", "author": {"name": "George Eliot", "born": 1819},
            "copies": [{"shelf": "A-7"}],
        })
    );
    assert_eq!(body(3), json!({"subtitle": null}));
    assert!(seen[1].contains(&format!("x-api-key: {CANARY}")), "{}", seen[1]);
}

#[expect(deprecated, reason = "the limit of `born` is checked as long as it can be sent")]
#[tokio::test]
async fn limits_inside_lists_and_objects_are_checked_before_anything_is_sent() {
    let server = FaultyServer::start(vec![reply(500, &[], "")]).await;
    let client = client(&server);
    let broken = |change: fn(&mut NewBook)| {
        let mut body = new_book();
        change(&mut body);
        contract::CreateBook { body }.call(&client).err().map(|error| (error.argument, error.clause))
    };
    let expected = |argument: &str, clause| Some((argument.to_owned(), clause));
    assert_eq!(broken(|_| {}), None);
    assert_eq!(broken(|book| book.title = Title(String::new())), expected("body title", "books.title"));
    assert_eq!(broken(|book| book.author.born = Some(3001)), expected("body author.born", "books.body"));
    assert_eq!(
        broken(|book| book.copies[0].shelf = "far too long".to_owned()),
        expected("body copies[].shelf", "books.body")
    );
    assert_eq!(
        broken(|book| book.copies[0].tags = vec![String::new()]),
        expected("body copies[].tags[]", "books.body")
    );
    assert_eq!(
        broken(|book| book.copies = vec![book.copies[0].clone(); 11]),
        expected("body copies", "books.body")
    );
    let list = |genre| listing(genre, None).call(&client).err();
    assert_eq!(list(vec![Genre::Novel; 4]).unwrap().argument, "query genre");
    assert_eq!(list(vec![Genre::Other("essay".to_owned())]).unwrap().argument, "query genre[]");
    assert!(contract::GetBook { book_id: 0 }.call(&client).is_err());
    assert!(server.requests().is_empty());
}

#[test]
fn each_operation_says_how_it_may_be_repeated_and_what_its_success_is() {
    let shown = |name| {
        let operation = contract::operation(name).unwrap();
        (operation.method, operation.status, operation.code, operation.retry)
    };
    assert_eq!(shown("create_book"), ("POST", 201, 201, operation::Retry::Never));
    assert_eq!(shown("lend_book"), ("POST", 202, 202, operation::Retry::IdempotencyKey));
    assert_eq!(shown("delete_book"), ("DELETE", 204, 0, operation::Retry::Safe));
    assert_eq!(contract::operation("delete_book").unwrap().code_field, "");
}
