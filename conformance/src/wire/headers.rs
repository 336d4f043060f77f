//! Masks credentials in response headers, for reports.

use super::password;

/// Replaces a value that may be a credential.
const HIDDEN: &str = "$HIDDEN";

/// Words in the names of headers whose whole value is a credential or derived from one.
const CREDENTIALS: [&str; 16] = [
    "apikey",
    "auth",
    "authorization",
    "cookie",
    "cookie2",
    "credential",
    "credentials",
    "jwt",
    "key",
    "password",
    "secret",
    "session",
    "sessionid",
    "sid",
    "signature",
    "token",
];

/// Headers of authentication schemes: everything but the scheme may be specific to one caller.
const CHALLENGES: [&str; 4] =
    ["www-authenticate", "proxy-authenticate", "authentication-info", "proxy-authentication-info"];

/// Headers whose value is or contains URLs.
const URLS: [&str; 5] = ["location", "content-location", "link", "refresh", "referer"];

/// Attributes of a cookie; they reveal nothing about its value.
const ATTRIBUTES: [&str; 9] =
    ["domain", "expires", "httponly", "max-age", "partitioned", "path", "priority", "samesite", "secure"];

/// The value of a header without credentials. Names of cookies, authentication schemes and paths of URLs stay.
pub(crate) fn masked(name: &str, value: &str) -> String {
    let name = name.to_ascii_lowercase();
    let has_credential =
        name.split(['-', '_']).any(|word| CREDENTIALS.contains(&word)) || password::is_password(&name, value);
    match name.as_str() {
        "set-cookie" => value.split(';').enumerate().map(set_cookie).collect::<Vec<_>>().join(";"),
        "cookie" => value.split(';').map(cookie).collect::<Vec<_>>().join(";"),
        "authorization" | "proxy-authorization" => scheme(value),
        name if CHALLENGES.contains(&name) => scheme(value),
        name if URLS.contains(&name) => url(value),
        _ if has_credential && !value.is_empty() => HIDDEN.to_owned(),
        _ => value.to_owned(),
    }
}

fn set_cookie((index, part): (usize, &str)) -> String {
    let name = part.split('=').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_attribute = index > 0 && ATTRIBUTES.contains(&name.as_str());
    if is_attribute { part.to_owned() } else { cookie(part) }
}

/// A cookie without a name consists of its value.
fn cookie(part: &str) -> String {
    match part.split_once('=') {
        Some((name, _)) => format!("{name}={HIDDEN}"),
        None if part.trim().is_empty() => part.to_owned(),
        None => HIDDEN.to_owned(),
    }
}

/// The scheme of credentials or of a challenge. A single word may be the credential itself.
fn scheme(value: &str) -> String {
    let word = |scheme: &&str| scheme.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    match value.trim().split_once(' ').map(|(scheme, _)| scheme).filter(word) {
        Some(scheme) => format!("{scheme} {HIDDEN}"),
        None => HIDDEN.to_owned(),
    }
}

/// Masks users and the values of queries and fragments in all URLs of a text.
fn url(value: &str) -> String {
    let mut shown = String::with_capacity(value.len());
    let ends = |c: char| c.is_whitespace() || "<>\"',".contains(c);
    for piece in value.split_inclusive(ends) {
        let end = piece.chars().next_back().filter(|c| ends(*c));
        let piece = end.map_or(piece, |end| &piece[..piece.len() - end.len_utf8()]);
        let (place, rest) = piece.split_at(piece.find(['?', '#']).unwrap_or(piece.len()));
        match place.split_once("//") {
            Some((scheme, rest)) => {
                let authority = rest.split('/').next().unwrap_or_default();
                let (user, _) = authority.rsplit_once('@').unwrap_or_default();
                let hidden = if user.is_empty() { "" } else { HIDDEN };
                shown.push_str(&format!("{scheme}//{hidden}{}", &rest[user.len()..]));
            }
            None => shown.push_str(place),
        }
        for pair in rest.split_inclusive(['?', '#', '&', ';']) {
            let separator = pair.chars().next_back().filter(|c| "?#&;".contains(*c));
            let text = separator.map_or(pair, |separator| &pair[..pair.len() - separator.len_utf8()]);
            match text.split_once('=') {
                Some((name, _)) => shown.push_str(&format!("{name}={HIDDEN}")),
                None if text.is_empty() => {}
                None => shown.push_str(HIDDEN),
            }
            shown.extend(separator);
        }
        shown.extend(end);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_hidden_and_their_names_stay() {
        let cases = [
            (
                "Set-Cookie",
                "sid=s3cret; Path=/; Max-Age=60; Secure",
                "sid=$HIDDEN; Path=/; Max-Age=60; Secure",
            ),
            ("set-cookie", "s3cret", "$HIDDEN"),
            (
                "set-cookie",
                "path=s3cret; extra=s3cret; SameSite=Lax",
                "path=$HIDDEN; extra=$HIDDEN; SameSite=Lax",
            ),
            ("Cookie", "a=s3cret; b=s3=cret", "a=$HIDDEN; b=$HIDDEN"),
            ("Authorization", "Bearer s3cret", "Bearer $HIDDEN"),
            ("Authorization", "s3cret", "$HIDDEN"),
            ("Proxy-Authenticate", "Digest realm=\"r\", nonce=\"s3cret\"", "Digest $HIDDEN"),
            ("X-API-Key", "s3cret", "$HIDDEN"),
            ("X_Auth_Token", "s3cret", "$HIDDEN"),
            ("X-CSRF-Token", "", ""),
            (
                "Location",
                "https://u:s3cret@host/a?b=s3cret&s3cret#s3cret",
                "https://$HIDDEN@host/a?b=$HIDDEN&$HIDDEN#$HIDDEN",
            ),
            ("Location", "/a/b", "/a/b"),
            (
                "Link",
                "<https://host/a?k=s3cret>; rel=next, </b?c>; rel=prev",
                "<https://host/a?k=$HIDDEN>; rel=next, </b?$HIDDEN>; rel=prev",
            ),
            ("Refresh", "0; url=/a?token=s3cret", "0; url=/a?token=$HIDDEN"),
            ("Cache-Control", "no-store", "no-store"),
            ("X-Request-Id", "r-1", "r-1"),
        ];
        for (name, value, expected) in cases {
            assert_eq!(masked(name, value), expected, "{name}: {value}");
        }
    }
}
