//! The token of a call, in each of its transports. From here on it is a [`Token`], which nothing can print.

use http::{HeaderMap, HeaderName, header::AUTHORIZATION};

use super::{
    catalogue::Reason,
    fault::{At, Fault, Spot},
    headers,
    query::Query,
};
use crate::domain::token::Token;

/// A way to send the token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transport {
    /// A query parameter.
    Query(&'static str),
    /// A header, as the document spells it.
    Header(&'static str, HeaderName),
    /// `Authorization: Bearer …`. Other schemes are none of ours and are passed over.
    Bearer,
}

/// Takes the token out of the transports that an operation has. Transports that it does not have are not looked at
/// (`open.static.token-transport`).
///
/// # Errors
/// No token, an empty one, a repeated transport, or transports that differ, which breaks the clause of `agree`.
/// No error shows a token.
pub fn read<const N: usize>(
    query: &mut Query<'_, N>,
    headers: &HeaderMap,
    transports: &[Transport],
    spot: Spot<'_>,
    agree: Option<&'static str>,
) -> Result<Token, Fault> {
    let mut found: Option<String> = None;
    for transport in transports {
        let single = |name: &HeaderName, at| headers::single(headers, name, Spot::new(at, &[]));
        let (at, sent) = match transport {
            Transport::Query(name) => (At::Parameter(name), query.take(name)),
            Transport::Header(name, header) => {
                let at = At::Header(name);
                (at, single(header, at)?.map(Into::into))
            }
            Transport::Bearer => {
                let at = At::Header("Authorization");
                (at, single(&AUTHORIZATION, at)?.and_then(bearer).map(Into::into))
            }
        };
        let Some(sent) = sent else { continue };
        if sent.is_empty() {
            let here = Spot::new(at, spot.clauses);
            return Err(here.fault(Reason::TokenMissing, "minLength", "not be empty", None));
        }
        match &found {
            None => found = Some(sent.into_owned()),
            Some(token) if *token == sent => {}
            Some(_) => {
                let expected = "carry the same token as the other transports of the call".into();
                let (reason, place) = (Reason::Conflict, at.to_string());
                return Err(Fault { reason, place, clause: agree, expected, came: None });
            }
        }
    }
    found.map(Token::new).ok_or_else(|| spot.fault(Reason::TokenMissing, "required", "carry the token", None))
}

/// The token of a bearer header; the scheme's letter case does not matter.
fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ').unwrap_or((value, ""));
    scheme.eq_ignore_ascii_case("Bearer").then(|| token.trim_matches(' '))
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    static ALL: [Transport; 3] = [
        Transport::Query("api_key"),
        Transport::Header("X-API-Key", HeaderName::from_static("x-api-key")),
        Transport::Bearer,
    ];
    const SPOT: Spot<'_> = Spot::new(At::Parameter("api_key"), &[("any", "all.token-required")]);

    fn token(raw: &str, sent: &[(&'static str, &str)], transports: &[Transport]) -> Result<String, Fault> {
        let mut query = Query::parse(Some(raw), &["api_key"])?;
        let mut headers = HeaderMap::new();
        for (name, value) in sent {
            headers.append(*name, HeaderValue::from_str(value).unwrap());
        }
        read(&mut query, &headers, transports, SPOT, Some("extract.token-equal"))
            .map(|token| token.expose().to_owned())
    }

    #[test]
    fn each_transport_alone_and_all_together() {
        let (key, bearer) = (("x-api-key", "t"), ("authorization", "bEaReR t"));
        assert_eq!(token("api_key=t", &[], &ALL).unwrap(), "t");
        assert_eq!(token("", &[key], &ALL).unwrap(), "t");
        assert_eq!(token("", &[bearer], &ALL).unwrap(), "t");
        assert_eq!(token("api_key=t", &[key, bearer], &ALL).unwrap(), "t");
        assert_eq!(token("api_key=t", &[("authorization", "Basic dTpw")], &ALL).unwrap(), "t");
    }

    #[test]
    fn transports_that_differ_are_refused() {
        for (query, key, bearer) in [("a", "b", "a"), ("a", "a", "b"), ("b", "a", "a")] {
            let sent = [("x-api-key", key), ("authorization", &*format!("Bearer {bearer}"))];
            let fault = token(&format!("api_key={query}"), &sent, &ALL).unwrap_err();
            assert_eq!((fault.reason, fault.clause), (Reason::Conflict, Some("extract.token-equal")));
        }
    }

    #[test]
    fn no_token_and_an_empty_one_are_alike() {
        for (query, sent) in [
            ("", None),
            ("api_key=", None),
            ("", Some(("x-api-key", ""))),
            ("", Some(("authorization", "Bearer"))),
        ] {
            let fault = token(query, sent.as_slice(), &ALL).unwrap_err();
            assert_eq!((fault.reason, fault.clause), (Reason::TokenMissing, Some("all.token-required")));
        }
        assert_eq!(token("", &[("x-api-key", "t")], &ALL[..1]).unwrap_err().reason, Reason::TokenMissing);
    }

    #[test]
    fn no_fault_shows_a_token() {
        let sent = [("x-api-key", "sesame"), ("x-api-key", "sesame")];
        let repeated = token("", &sent, &ALL).unwrap_err();
        let conflict = token("api_key=sesame", &[("x-api-key", "sesame2")], &ALL).unwrap_err();
        assert_eq!((repeated.reason, conflict.reason), (Reason::Repeated, Reason::Conflict));
        assert!(!format!("{repeated} {repeated:?} {conflict} {conflict:?}").contains("sesame"));
    }
}
