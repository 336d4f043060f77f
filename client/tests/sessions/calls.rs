//! The calls of sessions, and what the values of lines stand for.

use std::{
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures_util::TryStreamExt;
use sallyport_client::{
    Client, Error, GroupFilter, Instance, Middleware, MiddlewareFuture, Next, RetryPolicy, Separator,
    TokenFuture, TokenSource, TransportError, bytes::Bytes, http, secrecy::SecretString,
};
use serde::Serialize;

use super::failed;
use crate::faulty::unescaped;

/// A call with its options: those of all calls, and its own.
macro_rules! with_options {
    ($call:ident = $new:expr, $options:ident $(, $name:literal => |$value:ident| $set:expr)* $(,)?) => {{
        let mut $call = $new;
        for (name, value) in $options {
            $call = match name {
                "timeout" => $call.request_timeout(time(&value)),
                "total" => $call.total_timeout(time(&value)),
                "retries" => $call.retry(RetryPolicy {
                    max_retries: value.parse().unwrap(),
                    initial_backoff: Duration::ZERO,
                    ..RetryPolicy::default()
                }),
                $($name => {
                    let $value = value;
                    $set
                })*
                _ => panic!("unknown option `{name}`"),
            };
        }
        $call
    }};
}

macro_rules! extraction {
    ($new:expr, $options:ident) => {{
        let call = with_options!(
            call = $new,
            $options,
            "id" => |id| call.request_id(id),
            "region" => |region| call.region(region),
            "protocol" => |protocol| call.protocol(protocol.parse().unwrap()),
        );
        json(&call.await?)
    }};
}

/// Sends the call of a line, and returns its result.
pub(crate) async fn call(client: &Client, line: &str) -> Result<String, Error> {
    let (options, words): (Vec<&str>, Vec<&str>) = line.split(' ').partition(|word| word.contains('='));
    let options = self::options(options);
    Ok(match words.as_slice() {
        ["groups"] => json(&with_options!(call = client.groups(), options).await?),
        ["extract", count] => extraction!(client.extract(number(count)), options),
        ["text", count, separator] => {
            extraction!(client.extract_text(number(count), self::separator(separator)), options)
        }
        ["generated", "groups"] => json(&client.generated().list_static_groups().send().await?.value),
        ["generated", "extract"] => json(&client.generated().extract_proxies().num(1).send().await?.value),
        ["search", addresses, how @ ..] => {
            let mut page = None;
            let search = with_options!(
                search = client.search(self::addresses(addresses)),
                options,
                "size" => |size| search.page_size(number(&size)),
                "batches" => |_is| search.in_batches(),
                "group" => |id| search.group(GroupFilter::Id(number(&id))),
                "status" => |status| search.status(status.as_str().into()),
                "from" => |time| search.activated_from(time.parse().unwrap()),
                "to" => |time| search.activated_to(time.parse().unwrap()),
                "page" => |one| {
                    page = Some(number(&one));
                    search
                },
            );
            match (how, page) {
                ([], Some(page)) => json(&search.page(page).await?),
                ([], None) => ids(&search.await?),
                (["stream"], None) => ids(&search.stream().try_collect::<Vec<_>>().await?),
                (["pages"], None) => each_page(search.pages()).await,
                _ => panic!("unknown way to search: {line}"),
            }
        }
        _ => panic!("unknown call: {line}"),
    })
}

/// The pages of a walk up to its end or its second error.
async fn each_page(mut pages: sallyport_client::Pages) -> String {
    let (mut lines, mut failures) = (Vec::new(), 0);
    while failures < 2 {
        match pages.next().await {
            Ok(Some(page)) => {
                lines.push(format!("page {} of {} instances: {}", page.page, page.total, ids(&page.items)));
            }
            Ok(None) => break,
            Err(error) => {
                lines.push(failed(&error));
                failures += 1;
            }
        }
    }
    lines.join("\n")
}

fn ids(instances: &[Instance]) -> String {
    let ids: Vec<_> = instances.iter().map(|instance| instance.instance_id).collect();
    format!("{ids:?}")
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap()
}

/// Addresses of `A,B`, or as many as `#9/7` says.
fn addresses(text: &str) -> Vec<String> {
    match text.strip_prefix('#') {
        None => text.split(',').map(|address| address.trim_matches('\'').to_owned()).collect(),
        Some(counts) => {
            let (raw, distinct) = counts.split_once('/').unwrap_or((counts, counts));
            let distinct: usize = distinct.parse().unwrap();
            let address = |number| format!("10.0.{}.{}", number / 256, number % 256);
            (0..distinct).map(address).cycle().take(raw.parse().unwrap()).collect()
        }
    }
}

fn separator(text: &str) -> Separator {
    match text {
        "crlf" => Separator::CrLf,
        "br" => Separator::Br,
        "cr" => Separator::Cr,
        "lf" => Separator::Lf,
        "tab" => Separator::Tab,
        custom => Separator::Custom(custom.trim_matches('\'').to_owned()),
    }
}

/// A time in milliseconds, or the longest one.
pub(super) fn time(text: &str) -> Duration {
    if text == "max" { Duration::MAX } else { Duration::from_millis(text.parse().unwrap()) }
}

fn number(text: &str) -> i64 {
    text.parse().unwrap()
}

pub(super) fn unescaped_text(text: &str) -> String {
    String::from_utf8(unescaped(text)).unwrap()
}

/// The name and value of each `NAME=VALUE`.
pub(super) fn options<'a>(words: impl IntoIterator<Item = &'a str>) -> Vec<(&'a str, String)> {
    let pairs = words.into_iter().filter_map(|word| word.split_once('='));
    pairs.map(|(name, value)| (name, unescaped_text(value))).collect()
}

/// A middleware that hands requests on (`pass`), to another URL (`to:URL`) or with another header (`header:NAME:VALUE`), fails as many
/// times as `fail:COUNT` or `fail:COUNT:TEXT` says, or for good (`refuse`).
pub(crate) struct Custom {
    what: String,
    requests: AtomicUsize,
}

impl Custom {
    pub(crate) fn new(what: &str) -> Self {
        Self { what: what.to_owned(), requests: AtomicUsize::new(0) }
    }
}

impl Middleware for Custom {
    fn handle<'a>(&'a self, mut request: http::Request<Bytes>, next: Next<'a>) -> MiddlewareFuture<'a> {
        let number = self.requests.fetch_add(1, Ordering::Relaxed);
        let error = match self.what.split(':').collect::<Vec<_>>().as_slice() {
            ["fail", count, text @ ..] if number < count.parse().unwrap() => {
                Error::Transport(Box::new(TransportError::new(text.join(":"))))
            }
            ["refuse"] => Error::Configuration("closed today".to_owned()),
            ["to", ..] => {
                *request.uri_mut() = self.what[3..].parse().unwrap();
                return next.run(request);
            }
            ["header", name, value] => {
                let name = http::HeaderName::try_from(*name).unwrap();
                request.headers_mut().insert(name, value.parse().unwrap());
                return next.run(request);
            }
            _ => return next.run(request),
        };
        Box::pin(async { Err(error) })
    }
}

/// Gives one token after another, the next one after each that was rejected. `once:TOKEN` is given once, `!reason` is a failure, after which
/// comes the next one, and `hang` never comes.
pub(super) struct Source(Mutex<Vec<String>>);

impl Source {
    pub(super) fn new(tokens: &str) -> Self {
        Self(Mutex::new(tokens.rsplit(',').map(str::to_owned).collect()))
    }
}

impl TokenSource for Source {
    fn token(&self) -> TokenFuture<'_> {
        let mut tokens = self.0.lock().unwrap();
        let token = tokens.last().unwrap().clone();
        let (failure, once) = (token.strip_prefix('!'), token.strip_prefix("once:"));
        if failure.or(once).is_some() && tokens.len() > 1 {
            tokens.pop();
        }
        let given = match failure {
            _ if token == "hang" => return Box::pin(std::future::pending()),
            Some(reason) => Err(reason.to_owned().into()),
            None => Ok(SecretString::from(once.unwrap_or(&token))),
        };
        Box::pin(std::future::ready(given))
    }

    fn invalidate(&self) {
        self.0.lock().unwrap().pop();
    }
}
