//! The one way from a name of the document to a Rust identifier, for the server, the client and progenitor alike.

use heck::{ToPascalCase, ToSnakeCase};

/// `return_type`, `X-Request-Id` and `orderNo` as `ReturnType`, `XRequestId` and `OrderNo`.
pub(crate) fn pascal(name: &str) -> String {
    ascii(name).to_pascal_case()
}

/// `return_type`, `x_request_id` and `order_no`.
pub(crate) fn snake(name: &str) -> String {
    ascii(name).to_snake_case()
}

/// The name with a separator in place of all but ASCII letters and digits: heck takes letters of every script.
fn ascii(name: &str) -> String {
    name.replace(|letter: char| !letter.is_ascii_alphanumeric(), "-")
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
