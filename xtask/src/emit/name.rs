//! Rust names for what the document names.

use heck::{ToPascalCase, ToSnakeCase};
use proc_macro2::{Ident, Span};

/// `groupId`, `X-Proxy-Partial` and `sb` as `group_id`, `x_proxy_partial` and `sb`: the names that progenitor gives.
pub(crate) fn snake(name: &str) -> Ident {
    ident("x", &ascii(name).to_snake_case())
}

/// `page_size` and the like in capitals, for constants.
pub(crate) fn constant(name: &str) -> Ident {
    ident("X", &ascii(name).to_snake_case().to_uppercase())
}

/// `extractProxies` as `ExtractProxies`, and `in-use` as `InUse`.
pub(crate) fn pascal(name: &str) -> Ident {
    ident("X", &ascii(name).to_pascal_case())
}

/// The name with a separator in place of all but ASCII letters and digits: heck takes letters of every script.
fn ascii(name: &str) -> String {
    name.replace(|letter: char| !letter.is_ascii_alphanumeric(), "-")
}

fn ident(prefix: &str, text: &str) -> Ident {
    let is_whole = text.starts_with(|first: char| first.is_ascii_alphabetic());
    Ident::new(&format!("{}{text}", if is_whole { "" } else { prefix }), Span::call_site())
}

/// The noun that a property is about: `countryCode` as `country`.
pub(crate) fn noun(property: &str) -> Ident {
    let noun = ["Code", "Id", "No"].iter().find_map(|end| property.strip_suffix(end));
    snake(noun.filter(|noun| !noun.is_empty()).unwrap_or(property))
}

/// A name for a separator: control characters by their names, other text by its letters and digits.
pub(crate) fn separator(text: &str) -> Ident {
    let word = |letter: char| match letter {
        '\r' => "_cr".to_owned(),
        '\n' => "_lf".to_owned(),
        '\t' => "_tab".to_owned(),
        ' ' => "_space".to_owned(),
        _ if letter.is_ascii_alphanumeric() => letter.to_string(),
        _ => "_".to_owned(),
    };
    pascal(&text.chars().map(word).collect::<String>())
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
            ("-", "X", "x"),
        ] {
            assert!(pascal(name) == in_pascal && snake(name) == in_snake, "{name}");
        }
    }
}
