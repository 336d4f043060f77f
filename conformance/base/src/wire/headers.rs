//! Masks credentials in response headers, for reports.

use super::password;

/// Replaces a value that may be a credential.
pub(super) const HIDDEN: &str = "$HIDDEN";

/// Words that name a credential, or a value derived from one, alone or at the end of a longer word (`CSRFToken`, `appkey`).
const CREDENTIALS: &str = "key token secret password passcode credential cookie session sessionid sessid signature authorization auth jwt";

/// Words that name a credential only as words of their own: others end like them.
const SHORT_CREDENTIALS: &str = "sid sig csrf xsrf bearer otp";

/// Headers of authentication schemes: everything but the scheme may be specific to one caller.
const CHALLENGES: &str = "www-authenticate proxy-authenticate authentication-info proxy-authentication-info";

/// Headers whose value is or contains URLs.
const URLS: &str = "location content-location link refresh referer";

/// Attributes of a cookie; they reveal nothing about its value.
const ATTRIBUTES: &str = "domain expires httponly max-age partitioned path priority samesite secure";

fn is_among(word: &str, words: &str) -> bool {
    words.split(' ').any(|known| known == word)
}

/// The value of a header without credentials. Names of cookies, authentication schemes and paths of URLs stay.
pub fn masked(name: &str, value: &str) -> String {
    let has_credential = is_credential(name) || password::is_password(name, value);
    let name = name.to_ascii_lowercase();
    match name.as_str() {
        "set-cookie" => value.split(';').enumerate().map(set_cookie).collect::<Vec<_>>().join(";"),
        "cookie" => value.split(';').map(cookie).collect::<Vec<_>>().join(";"),
        "authorization" | "proxy-authorization" => scheme(value),
        name if is_among(name, CHALLENGES) => scheme(value),
        name if is_among(name, URLS) => url(value),
        _ if has_credential && !value.is_empty() => HIDDEN.to_owned(),
        _ => value.to_owned(),
    }
}

/// Whether the name of a header or a parameter is that of a credential, however its words are joined: `X-CSRFToken`, `appkey`.
pub fn is_credential(name: &str) -> bool {
    if !password::may_contain_one(name.as_bytes()) {
        return false;
    }
    let words = words(name);
    words.iter().any(|word| is_ending(word) || is_among(word, SHORT_CREDENTIALS))
        || is_ending(&words.concat())
}

/// The same for a member of a response, where only the end of the name counts: `tokenType` is no credential.
pub(super) fn is_credential_member(name: &str) -> bool {
    if !password::may_contain_one(name.as_bytes()) {
        return false;
    }
    let words = words(name);
    words.last().is_some_and(|word| is_among(word, SHORT_CREDENTIALS)) || is_ending(&words.concat())
}

/// Whether a word ends like one of [`CREDENTIALS`]. A plural or a number changes nothing.
fn is_ending(word: &str) -> bool {
    let word = word.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_one = |word: &str| CREDENTIALS.split(' ').any(|known| word.ends_with(known));
    is_one(word) || word.strip_suffix('s').is_some_and(is_one)
}

/// The words of a name in lower case, divided by what is no letter or digit and by capitals.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = ' ';
    let mut characters = name.chars().peekable();
    while let Some(c) = characters.next() {
        let is_next_lowercase = characters.peek().is_some_and(char::is_ascii_lowercase);
        // `accessToken`, and the last capital of `CSRFToken`.
        let is_capital = c.is_ascii_uppercase() && (!before.is_ascii_uppercase() || is_next_lowercase);
        if c.is_ascii_alphanumeric() {
            if is_capital || !before.is_ascii_alphanumeric() {
                words.push(String::new());
            }
            words.last_mut().into_iter().for_each(|word| word.push(c.to_ascii_lowercase()));
        }
        before = c;
    }
    words
}

fn set_cookie((index, part): (usize, &str)) -> String {
    let name = part.split('=').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_attribute = index > 0 && is_among(&name, ATTRIBUTES);
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

/// Masks users, queries and fragments in all URLs of a text.
fn url(value: &str) -> String {
    let ends = |c: char| c.is_whitespace() || "<>\"',".contains(c);
    let masked = value.split_inclusive(ends).map(|piece| {
        let end = piece.strip_suffix(ends).map_or(piece.len(), str::len);
        let (piece, end) = piece.split_at(end);
        let (place, rest) = piece.split_at(piece.find(['?', '#']).map_or(piece.len(), |at| at + 1));
        let rest = if rest.is_empty() { "" } else { HIDDEN };
        let masked = place.split_once("//").and_then(|(scheme, authority)| {
            let (user, _) = authority.split('/').next()?.rsplit_once('@')?;
            Some(format!("{scheme}//{HIDDEN}{}", &authority[user.len()..]))
        });
        format!("{}{rest}{end}", masked.as_deref().unwrap_or(place))
    });
    masked.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_show_what_the_table_says() {
        let table = include_str!("masked.txt").replace("\n    =>", " =>");
        for row in table.lines().filter(|row| !row.is_empty() && !row.starts_with('#')) {
            let row = row.replace('\u{23ce}', "\r\n").replace('\u{240a}', "\n");
            let (given, expected) = row.split_once(" => ").expect("what is shown");
            let shown = match given.strip_prefix("body ") {
                Some(body) => {
                    password::masked(body.as_bytes()).map(|shown| String::from_utf8(shown).expect("text"))
                }
                None => {
                    let (name, value) = given.split_once(':').expect("a header");
                    let value = value.trim_start();
                    Some(masked(name, value)).filter(|shown| shown != value)
                }
            };
            assert_eq!(shown.as_deref().unwrap_or("unchanged"), expected, "{given}");
        }
    }

    #[test]
    fn names_of_credentials_are_recognised_however_their_words_are_joined() {
        let credentials = "api_key apikey API-KEY appkey accessToken access_token X-CSRFToken csrftoken XSRF tokenId clientSecret \
            PHPSESSID JSESSIONID sid x-amz-signature oauth secrets userKeys authTokens key1 Cookie2 credentials TOKEN2VALUE KEY2X A2SID \
            X-1Sid";
        for name in credentials.split(' ') {
            assert!(is_credential(name), "{name}");
        }
        let others = " num regions request_id X-Request-Id requestId ips pageSize activatedFrom keyword author inside status passengers \
            Strict-Transport-Security ETag -";
        for name in others.split(' ') {
            assert!(!is_credential(name), "{name}");
        }
        assert!(is_credential_member("refresh_token") && is_credential_member("appkey"));
        // Letters outside ASCII divide words.
        assert!(is_credential("token\u{5024}") && is_credential_member("token\u{5024}"));
        let members = "tokenType passwordUpdatedAt tokenExpiresAt sessionRegion customCredentialsAllowed";
        for name in members.split(' ') {
            assert!(!is_credential_member(name), "{name}");
        }
    }
}
