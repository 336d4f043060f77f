//! Texts of bounded length.

use super::{
    fault::{Came, Fault, Spot},
    json::Json,
    value::{FromJson, FromText, from_json_string},
};

/// A text of `MIN` to `MAX` characters and at most `BYTES` bytes in UTF-8. No other text can be made.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Text<const MIN: usize, const MAX: usize, const BYTES: usize>(String);

impl<const MIN: usize, const MAX: usize, const BYTES: usize> Text<MIN, MAX, BYTES> {
    /// Fewest characters.
    pub const MIN_LENGTH: usize = MIN;
    /// Most characters.
    pub const MAX_LENGTH: usize = MAX;
    /// Most bytes in UTF-8.
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
    fn from_text(text: &str, spot: Spot<'_>) -> Result<Self, Fault> {
        if text.is_empty() {
            return Err(spot.empty());
        }
        if text.len() > BYTES {
            let came = Came::words(format!("{} bytes", text.len()));
            return Err(spot.invalid(
                "x-max-utf8-bytes",
                format!("have at most {BYTES} bytes in UTF-8"),
                came,
            ));
        }
        let length = text.chars().count();
        let came = || Came::words(format!("{length} characters"));
        if length < MIN {
            return Err(spot.invalid("minLength", format!("have at least {MIN} characters"), came()));
        }
        if length > MAX {
            return Err(spot.invalid("maxLength", format!("have at most {MAX} characters"), came()));
        }
        Ok(Self(text.to_owned()))
    }
}

impl<const MIN: usize, const MAX: usize, const BYTES: usize> FromJson for Text<MIN, MAX, BYTES> {
    fn from_json(value: &Json<'_>, spot: Spot<'_>) -> Result<Self, Fault> {
        from_json_string(value, spot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edge::fault::At;

    fn read(text: &str) -> Option<String> {
        let spot = Spot::new(At::Parameter("sb"), &[]);
        Text::<2, 4, 8>::from_text(text, spot).map(String::from).ok()
    }

    #[test]
    fn characters_and_bytes_are_counted_apart() {
        assert_eq!((read("ab"), read("abcd")), (Some("ab".into()), Some("abcd".into())));
        assert_eq!(read("éééé"), Some("éééé".into()), "eight bytes in four characters");
        for bad in ["", "a", "abcde", "日本語"] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }
}
