//! The one way from a name of the document to a Rust identifier, for the server, the client and progenitor alike.

/// `return_type`, `X-Request-Id` and `orderNo` as `ReturnType`, `XRequestId` and `OrderNo`.
pub(crate) fn pascal(name: &str) -> String {
    words(name)
        .iter()
        .map(|word| {
            let mut letters = word.chars();
            let first = letters.next().map(|first| first.to_ascii_uppercase());
            first.into_iter().chain(letters).collect::<String>()
        })
        .collect()
}

/// `return_type`, `x_request_id` and `order_no`.
pub(crate) fn snake(name: &str) -> String {
    words(name).join("_")
}

/// The words of a name in lower case. A word begins after anything but a letter or digit, at an upper-case letter after a
/// lower-case one, and at the last of several upper-case letters when a lower-case one follows: `IPAddress` has the words
/// `ip` and `address`. A digit belongs to the word before it.
pub(crate) fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let letters: Vec<char> = name.chars().collect();
    let mut after_lower = false;
    let mut after_upper = false;
    for (index, letter) in letters.iter().enumerate() {
        if !letter.is_ascii_alphanumeric() {
            words.push(String::new());
            (after_lower, after_upper) = (false, false);
            continue;
        }
        let before_lower = letters.get(index + 1).is_some_and(char::is_ascii_lowercase);
        if letter.is_ascii_uppercase() && (after_lower || after_upper && before_lower) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.push(letter.to_ascii_lowercase());
        }
        if letter.is_ascii_alphabetic() {
            (after_lower, after_upper) = (letter.is_ascii_lowercase(), letter.is_ascii_uppercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Whether Rust reserves the name, in any edition that generated code may have.
pub(crate) fn is_keyword(name: &str) -> bool {
    const KEYWORDS: [&str; 54] = [
        "Self", "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate",
        "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in",
        "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return",
        "self", "static", "struct", "super", "trait", "true", "try", "type", "typeof", "union", "unsafe",
        "unsized", "use", "virtual", "where", "while", "yield", "raw",
    ];
    KEYWORDS.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_words_as_progenitor_makes_them() {
        for (name, in_pascal, in_snake) in [
            ("num", "Num", "num"),
            ("return_type", "ReturnType", "return_type"),
            ("X-Request-Id", "XRequestId", "x_request_id"),
            ("orderNo", "OrderNo", "order_no"),
            ("extractProxies", "ExtractProxies", "extract_proxies"),
            ("IPAddress", "IpAddress", "ip_address"),
            ("requestIP", "RequestIp", "request_ip"),
            ("page2Size", "Page2Size", "page2_size"),
            ("X1Y", "X1y", "x1y"),
            ("-", "", ""),
        ] {
            assert_eq!((pascal(name), snake(name)), (in_pascal.to_owned(), in_snake.to_owned()), "{name}");
        }
    }
}
