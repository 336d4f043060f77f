//! A small library: the handlers of the generated API, and books in memory.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use dropshot::{ApiDescription, RequestContext};
use sallyport_server::domain::{access::Purpose, token::Token};
use sallyport_server::edge::operation::{Call, Handler};
use sallyport_server::edge::raw_request::RawRequest;
use sallyport_server::edge::responding::api_error::ApiError;
use sallyport_server::edge::responding::error_code::ErrorCode;
use sallyport_server::edge::responding::response::{Constant, Content, NoContent, Success};
use sallyport_server::edge::serve::{Context, HandlerResult, serve};
use sallyport_server::edge::types::{integer::BoundedInteger, value::Tristate};

use crate::api::generated::*;

/// Whether a call needs no token, which is a fault.
static IS_OPEN: AtomicBool = AtomicBool::new(false);

/// The books, by id.
static BOOKS: LazyLock<Mutex<BTreeMap<i64, Book>>> = LazyLock::new(|| {
    let book = Book {
        book_id: BoundedInteger::new(7).expect("within the limits"),
        title: "Middlemarch".to_owned(),
        subtitle: None,
        genre: Genre::Novel,
        author: "George Eliot".to_owned(),
    };
    Mutex::new(BTreeMap::from([(7, book)]))
});

pub fn leave_open(is_open: bool) {
    IS_OPEN.store(is_open, Ordering::Relaxed);
}

fn books() -> MutexGuard<'static, BTreeMap<i64, Book>> {
    BOOKS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The API, with all methods of all its paths.
pub fn api() -> ApiDescription<Context> {
    let mut api = api_mod::api_description::<Handlers>().expect("endpoints that fit together");
    reject_other_methods(&mut api).expect("methods that are left");
    api
}

enum Handlers {}

macro_rules! handlers {
    ($($function:ident: $operation:ident,)*) => {
        impl Api for Handlers {
            type Context = Context;

            $(fn $function(
                rqctx: RequestContext<Context>,
                request: RawRequest<$operation>,
            ) -> impl Future<Output = HandlerResult<$operation>> + Send {
                serve(rqctx, request)
            })*
        }
    };
}

handlers! {
    list_books: ListBooks,
    create_book: CreateBook,
    get_book: GetBook,
    replace_book: ReplaceBook,
    change_book: ChangeBook,
    delete_book: DeleteBook,
    lend_book: LendBook,
    get_loan: GetLoan,
    put_member: PutMember,
    delete_member: DeleteMember,
}

async fn authenticate(call: Call<'_>, token: &Token) -> Result<(), ApiError> {
    match call.service.authenticate(token, Purpose::Static).await {
        Err(_) if IS_OPEN.load(Ordering::Relaxed) => Ok(()),
        other => Ok(other?),
    }
}

fn found(id: i64) -> Result<Book, ApiError> {
    books().get(&id).cloned().ok_or_else(|| ErrorCode::NotFound.into())
}

fn ok<O: sallyport_server::edge::responding::response::Responses>(
    content: O::Success,
    headers: O::Headers,
) -> Result<Success<O>, ApiError> {
    Ok(Success { content: Content::Json(content), headers })
}

impl Handler for ListBooks {
    const PURPOSE: Purpose = Purpose::Static;

    async fn handle(call: Call<'_>, request: ListBooksRequest) -> Result<Success<Self>, ApiError> {
        let ListBooksRequest { genre, kind, limit, credential } = request;
        authenticate(call, &credential).await?;
        let genres = genre.map(|list| list.into_vec());
        let is_wanted = |book: &Book| {
            genres.as_ref().is_none_or(|genres| genres.contains(&book.genre))
                && kind.as_ref().is_none_or(|kind| book.genre.as_str() == kind)
        };
        let limit = usize::try_from(limit.get()).unwrap_or_default();
        let data: Vec<Book> = books().values().filter(|book| is_wanted(book)).take(limit).cloned().collect();
        // Dropshot puts its own id into this header of every response.
        let headers = ListBooksHeaders { x_request_id: call.request_id.to_owned() };
        ok(BooksSuccess { code: Constant, message: "ok".to_owned(), data }, headers)
    }
}

impl Handler for CreateBook {
    const PURPOSE: Purpose = Purpose::Static;

    async fn handle(call: Call<'_>, request: CreateBookRequest) -> Result<Success<Self>, ApiError> {
        let CreateBookRequest { title, genre, author, copies, is_reference: _, credential } = request;
        authenticate(call, &credential).await?;
        let mut books = books();
        let id = books.keys().next_back().map_or(1, |last| last + 1);
        let NewAuthor { name, born: _, language: _ } = author;
        drop(copies);
        let data = Book {
            book_id: BoundedInteger::new(id)?,
            title: title.into(),
            subtitle: None,
            genre,
            author: name.into(),
        };
        books.insert(id, data.clone());
        drop(books);
        ok(BookCreated { code: Constant, message: "created".to_owned(), data }, CreateBookHeaders {})
    }
}

impl Handler for GetBook {
    const PURPOSE: Purpose = Purpose::Static;

    async fn handle(call: Call<'_>, request: GetBookRequest) -> Result<Success<Self>, ApiError> {
        let GetBookRequest { book_id, credential } = request;
        authenticate(call, &credential).await?;
        let data = found(book_id.get())?;
        ok(BookSuccess { code: Constant, message: "ok".to_owned(), data }, GetBookHeaders {})
    }
}

impl Handler for ReplaceBook {
    const PURPOSE: Purpose = Purpose::Static;

    async fn handle(call: Call<'_>, request: ReplaceBookRequest) -> Result<Success<Self>, ApiError> {
        let ReplaceBookRequest { book_id, title, genre, author, copies: _, is_reference: _, credential } =
            request;
        authenticate(call, &credential).await?;
        let data = Book {
            book_id: BoundedInteger::new(book_id.get())?,
            title: title.into(),
            subtitle: None,
            genre,
            author: author.name.into(),
        };
        books().insert(book_id.get(), data.clone());
        ok(BookSuccess { code: Constant, message: "ok".to_owned(), data }, ReplaceBookHeaders {})
    }
}

impl Handler for ChangeBook {
    const PURPOSE: Purpose = Purpose::Static;

    async fn handle(call: Call<'_>, request: ChangeBookRequest) -> Result<Success<Self>, ApiError> {
        let ChangeBookRequest { book_id, title, subtitle, author, credential } = request;
        authenticate(call, &credential).await?;
        let mut data = found(book_id.get())?;
        if let Some(title) = title {
            data.title = title.into();
        }
        if let Some(author) = author {
            data.author = author.name.into();
        }
        match subtitle {
            Tristate::Omitted => {}
            Tristate::Null => data.subtitle = None,
            Tristate::Value(subtitle) => data.subtitle = Some(subtitle.into()),
        }
        books().insert(book_id.get(), data.clone());
        ok(BookSuccess { code: Constant, message: "ok".to_owned(), data }, ChangeBookHeaders {})
    }
}

impl Handler for DeleteBook {
    const PURPOSE: Purpose = Purpose::Static;

    async fn handle(call: Call<'_>, request: DeleteBookRequest) -> Result<Success<Self>, ApiError> {
        let DeleteBookRequest { book_id, credential } = request;
        authenticate(call, &credential).await?;
        // The example of the document stays, since other checks start from it.
        if book_id.get() != 7 {
            books().remove(&book_id.get());
        }
        ok(NoContent {}, DeleteBookHeaders {})
    }
}

impl Handler for LendBook {
    const PURPOSE: Purpose = Purpose::Static;

    async fn handle(call: Call<'_>, request: LendBookRequest) -> Result<Success<Self>, ApiError> {
        let LendBookRequest { book_id, request_id: _, member, from: _, until, credential } = request;
        authenticate(call, &credential).await?;
        found(book_id.get())?;
        let data = Loan { loan_id: "L-1".to_owned(), member: member.into(), until };
        ok(LoanAccepted { code: Constant, message: "accepted".to_owned(), data }, LendBookHeaders {})
    }
}

impl Handler for GetLoan {
    const PURPOSE: Purpose = Purpose::Static;

    async fn handle(call: Call<'_>, request: GetLoanRequest) -> Result<Success<Self>, ApiError> {
        let GetLoanRequest { book_id, loan_id, credential } = request;
        authenticate(call, &credential).await?;
        found(book_id.get())?;
        let data = Loan { loan_id: loan_id.into(), member: "ada".to_owned(), until: None };
        ok(LoanSuccess { code: Constant, message: "ok".to_owned(), data }, GetLoanHeaders {})
    }
}

impl Handler for PutMember {
    const PURPOSE: Purpose = Purpose::Static;

    async fn handle(call: Call<'_>, request: PutMemberRequest) -> Result<Success<Self>, ApiError> {
        let PutMemberRequest { member_name: _, address, credential } = request;
        authenticate(call, &credential).await?;
        let NewAddress { street: _, city: _ } = address;
        ok(NoContent {}, PutMemberHeaders {})
    }
}

impl Handler for DeleteMember {
    const PURPOSE: Purpose = Purpose::Static;

    async fn handle(call: Call<'_>, request: DeleteMemberRequest) -> Result<Success<Self>, ApiError> {
        let DeleteMemberRequest { member_name: _, credential } = request;
        authenticate(call, &credential).await?;
        ok(NoContent {}, DeleteMemberHeaders {})
    }
}
