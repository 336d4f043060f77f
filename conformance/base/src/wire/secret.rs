use secrecy::{ExposeSecret, SecretString};

/// A token or another text that must never be shown. It has no `Display`, and its `Debug` shows only its name.
#[derive(Debug, Clone)]
pub struct Secret {
    name: &'static str,
    value: SecretString,
}

impl Secret {
    /// Minimum length in characters. Replacing a shorter one, as ordinary words have it, would spoil reports and reveal it.
    pub const SHORTEST: usize = 6;

    /// A secret that reports show as `$name`.
    pub fn new(name: &'static str, value: impl Into<String>) -> Self {
        Self { name, value: SecretString::from(value.into()) }
    }

    /// The name that replaces it in reports.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The value itself, for a request or for the redactor.
    pub fn expose(&self) -> &str {
        self.value.expose_secret()
    }

    /// The value and the nearly same that checks send as wrong, as secret as it, each with its name in reports, as bash expands it.
    pub(crate) fn shown(&self) -> [(String, String); 4] {
        let (name, value) = (self.name, self.expose());
        let [mut without_last, mut without_first] = [value.chars(), value.chars()];
        without_last.next_back();
        without_first.next();
        [
            (format!("${name}"), value.to_owned()),
            (format!("${{{name}%?}}"), without_last.collect()),
            (format!("${{{name}#?}}"), without_first.collect()),
            (format!("${{{name}~~}}"), in_other_case(value)),
        ]
    }

    /// Whether a text is what reports show in place of a secret, or that with a few characters that a check has added.
    pub fn is_shown(text: &str) -> bool {
        let Some((before, shown)) = text.split_once('$') else { return false };
        let shown = shown.strip_prefix('{').unwrap_or(shown);
        let end = shown.find(|c: char| !c.is_ascii_uppercase() && c != '_').unwrap_or(shown.len());
        let (name, after) = shown.split_at(end);
        let after =
            ["%?}", "#?}", "~~}"].iter().find_map(|change| after.strip_prefix(change)).unwrap_or(after);
        let is_known = ["API_KEY", "HIDDEN"].contains(&name) || name.starts_with("SALLYPORT_");
        is_known && before.len() + after.len() < Self::SHORTEST
    }
}

/// Makes `Debug` of a type that has secrets, or what cannot be shown, a text of its other fields.
#[macro_export]
macro_rules! debug_as {
    ($type:ident, |$this:pat_param| $($text:tt)+) => {
        impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let $this = self;
                write!(f, $($text)+)
            }
        }
    };
}

/// A text with the case of each ASCII letter changed. Checks send it as a wrong token, and it is as secret.
pub fn in_other_case(text: &str) -> String {
    let swapped =
        |c: char| if c.is_ascii_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() };
    text.chars().map(swapped).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_reports_and_debug_show_is_no_secret() {
        let secret = Secret::new("API_KEY", "hunter2");
        assert!(!format!("{secret:?}").contains("hunter2"));
        for (shown, _) in secret.shown() {
            assert!(Secret::is_shown(&shown) && Secret::is_shown(&format!("~{shown}~")), "{shown}");
            assert!(!Secret::is_shown(&format!("{shown}hunter2")), "{shown}");
        }
        assert!(Secret::is_shown("$HIDDEN") && Secret::is_shown("$SALLYPORT_SECOND_API_KEY"));
        for secret in ["hunter2", "$hunter2", "$HUNTER", "${API_KEYhunter2}", "$", "{API_KEY}"] {
            assert!(!Secret::is_shown(secret), "{secret}");
        }
    }
}
