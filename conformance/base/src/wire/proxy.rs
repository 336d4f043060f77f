//! URLs of proxies. reqwest ignores one that it does not support, and sends to the service without a proxy.

use hyper_util::client::proxy::matcher::Matcher;
use reqwest::Url;

use super::{Secret, is_loopback};

/// What is expected where a URL of a proxy is not one.
pub const EXPECTED: &str = "a URL such as http://proxy.example.com:3128 or socks5h://user:password@proxy.example.com, without a \
                                   path; in user and password, percent-encode `@`, `:`, `/`, `#` and `?`";

/// Names of the schemes of proxies that can be used.
const SCHEMES: [&str; 6] = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"];

/// The URL of a proxy; without a scheme, that of an HTTP proxy. Behind a path, a query or a second `@` stands the rest of a password
/// that is not percent-encoded, and what looks like the host is a part of the password.
pub fn parse(text: &str) -> Option<Url> {
    let known_to_reqwest =
        Matcher::builder().all(text).build().intercept(&"http://api.invalid".parse().ok()?);
    known_to_reqwest.filter(|_| text.matches('@').count() <= 1)?;
    let url = if text.contains("://") { Url::parse(text) } else { Url::parse(&format!("http://{text}")) };
    let is_bare =
        |url: &Url| matches!(url.path(), "" | "/") && url.query().is_none() && url.fragment().is_none();
    url.ok().filter(|url| url.has_host() && SCHEMES.contains(&url.scheme()) && is_bare(url))
}

/// The proxy for a service at `base`, without user and password: the given one, or that of the environment.
pub(super) fn in_use(given: Option<&Secret>, base: &Url) -> Option<String> {
    let shown = |scheme: Option<&str>, host: Option<&str>, port: Option<u16>| {
        let port = port.map(|port| format!(":{port}")).unwrap_or_default();
        Some(format!("{}://{}{port}", scheme?, host?))
    };
    if let Some(url) = given.and_then(|given| parse(given.expose())) {
        return shown(Some(url.scheme()), url.host_str(), url.port());
    }
    // As reqwest chooses, which the wire tells to use none here.
    let service = base.as_str().parse().ok().filter(|_| !is_loopback(base))?;
    let chosen = Matcher::from_env().intercept(&service)?;
    shown(chosen.uri().scheme_str(), chosen.uri().host(), chosen.uri().port_u16())
}

/// The variable of the environment that should name a proxy for URLs with this scheme, and does not.
pub(super) fn invalid_variable(scheme: &str) -> Option<String> {
    let set = |name: String| {
        let names = [name.clone(), name.to_lowercase()];
        names.into_iter().find_map(|name| Some((std::env::var(&name).ok()?, name)))
    };
    // A variable for the scheme comes before the one for all.
    let names = [format!("{}_PROXY", scheme.to_uppercase()), "ALL_PROXY".to_owned()];
    let (value, name) = names.into_iter().filter_map(set).find(|(value, _)| !value.is_empty())?;
    parse(&value).is_none().then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_used_is_no_proxy() {
        for url in
            ["http://p:1", "p:3128", "HTTPS://u:p@[::1]:1", "socks4a://p", "socks5://u:%40%2F%23@p:1080/"]
        {
            assert!(parse(url).is_some(), "{url}");
        }
        for text in
            ["", "::::", "ftp://p", "socks://p:1080", "file:///p", "http://", "p q", "http//qa:ab@p:1"]
        {
            assert!(parse(text).is_none(), "{text}");
        }
        // Of a password that is not encoded, a part would be the host.
        for password in ["ab@c", "a@b/c", "a/b", "1/b", "1#b", "1?b", "a b"] {
            assert!(parse(&format!("http://qa:{password}@p:1")).is_none(), "{password}");
        }
    }
}
