//! Texts of bounded length.

use crate::edge::types::{
    json::Json,
    request_error::{Excerpt, Input, Result},
    value::{FromJson, FromText, from_json_string},
};

/// A text of `MIN` to `MAX` characters and at most `BYTES` bytes in UTF-8.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Text<const MIN: usize, const MAX: usize, const BYTES: usize>(String);

impl<const MIN: usize, const MAX: usize, const BYTES: usize> Text<MIN, MAX, BYTES> {
    /// Minimum number of characters.
    pub const MIN_LENGTH: usize = MIN;
    /// Maximum number of characters.
    pub const MAX_LENGTH: usize = MAX;
    /// Maximum number of bytes in UTF-8.
    pub const MAX_UTF8_BYTES: usize = BYTES;

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<const MIN: usize, const MAX: usize, const BYTES: usize> From<Text<MIN, MAX, BYTES>> for String {
    fn from(text: Text<MIN, MAX, BYTES>) -> Self {
        text.0
    }
}

impl<const MIN: usize, const MAX: usize, const BYTES: usize> FromText for Text<MIN, MAX, BYTES> {
    fn from_text(text: &str, input: Input<'_>) -> Result<Self> {
        if text.is_empty() {
            return Err(input.empty());
        }
        if text.len() > BYTES {
            let found = Excerpt::describe(format!("{} bytes", text.len()));
            return Err(input.invalid("x-max-utf8-bytes", format!("at most {BYTES} bytes in UTF-8"), found));
        }
        let length = text.chars().count();
        let found = || Excerpt::describe(format!("{length} characters"));
        if length < MIN {
            return Err(input.invalid("minLength", format!("at least {MIN} characters"), found()));
        }
        if length > MAX {
            return Err(input.invalid("maxLength", format!("at most {MAX} characters"), found()));
        }
        Ok(Self(text.to_owned()))
    }
}

impl<const MIN: usize, const MAX: usize, const BYTES: usize> FromJson for Text<MIN, MAX, BYTES> {
    fn from_json(value: &Json<'_>, input: Input<'_>) -> Result<Self> {
        from_json_string(value, input)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edge::types::request_error::Part;

    fn read(text: &str) -> Option<String> {
        let input = Input::new(Part::Parameter("sb"), &[]);
        Text::<2, 4, 8>::from_text(text, input).map(String::from).ok()
    }

    #[test]
    fn characters_and_bytes_have_separate_limits() {
        assert_eq!((read("ab"), read("abcd")), (Some("ab".into()), Some("abcd".into())));
        assert_eq!(read("éééé"), Some("éééé".into()), "eight bytes in four characters");
        for bad in ["", "a", "abcde", "日本語"] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }
}
