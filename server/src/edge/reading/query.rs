//! The query, parsed strictly: every name is known and sent once, every value is percent-encoded UTF-8.

use std::borrow::Cow;

use crate::edge::{
    responding::error_code::ErrorCode,
    types::{
        request_error::{Input, Part, RequestError},
        value::FromText,
    },
};

/// The parameters of a query while they are read one after the other.
#[derive(Debug)]
pub struct Query<'a, const N: usize> {
    known: &'static [&'static str; N],
    /// One for each known name.
    values: [Option<Cow<'a, str>>; N],
}

const QUERY: Input<'_> = Input::new(Part::Query, &[]);

impl<'a, const N: usize> Query<'a, N> {
    /// Parses the query, without its `?`. Each name must be one of `known`. As in forms, `+` is a space.
    ///
    /// # Errors
    /// Broken percent-encoding, text that is not UTF-8, unknown and repeated names
    /// (`open.static.unknown-fields`, `open.extract.repeated-parameter`). No value is shown.
    pub fn parse(raw: Option<&'a str>, known: &'static [&'static str; N]) -> Result<Self, RequestError> {
        let mut query = Self { known, values: [const { None }; N] };
        for part in raw.unwrap_or_default().split('&').filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let name = decode(name, QUERY)?;
            let Some(place) = query.place(&name) else {
                return Err(RequestError::unknown("query parameter", &name, known));
            };
            let input = Input::new(Part::Parameter(&name), &[]);
            if place.is_some() {
                return Err(input.repeated());
            }
            *place = Some(decode(value, input)?);
        }
        Ok(query)
    }

    fn place(&mut self, name: &str) -> Option<&mut Option<Cow<'a, str>>> {
        // By bytes, since `==` calls a function, which is more than most names need: they differ in the first byte.
        let same = |known: &str| known.len() == name.len() && known.bytes().eq(name.bytes());
        self.known.iter().zip(&mut self.values).find(|(known, _)| same(known)).map(|(_, value)| value)
    }

    /// A required parameter.
    ///
    /// # Errors
    /// It is absent, empty or invalid for its type.
    pub fn required<T: FromText>(&mut self, name: &str, input: Input<'_>) -> Result<T, RequestError> {
        self.optional(name, input)?.ok_or_else(|| input.missing())
    }

    /// An optional parameter, which must not be empty (`open.extract.empty-parameter`).
    ///
    /// # Errors
    /// It is empty or invalid for its type.
    pub fn optional<T: FromText>(&mut self, name: &str, input: Input<'_>) -> Result<Option<T>, RequestError> {
        match self.take(name) {
            None => Ok(None),
            Some(value) if value.is_empty() => Err(input.empty()),
            Some(value) => T::from_text(&value, input).map(Some),
        }
    }

    /// The text of a parameter, taken out; a credential is read so, to be wrapped before anything can show it.
    pub fn take(&mut self, name: &str) -> Option<Cow<'a, str>> {
        self.place(name)?.take()
    }
}

/// Decodes one name or value.
fn decode<'a>(raw: &'a str, input: Input<'_>) -> Result<Cow<'a, str>, RequestError> {
    // Without a way out on the first hit, the processor looks at sixteen bytes at a time; tokens are long.
    let encoded = raw.bytes().fold(false, |seen, byte| seen | matches!(byte, b'%' | b'+'));
    if !encoded {
        return Ok(Cow::Borrowed(raw));
    }
    let malformed = |expected| input.unexpected(ErrorCode::MalformedQuery, "type", expected, None);
    let mut bytes = Vec::with_capacity(raw.len());
    let mut rest = raw.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
                match (digit(rest.next()), digit(rest.next())) {
                    (Some(high), Some(low)) => (high << 4 | low) as u8,
                    _ => return Err(malformed("two hexadecimal digits after each `%`")),
                }
            }
            plain => plain,
        });
    }
    String::from_utf8(bytes).map(Cow::Owned).map_err(|_| malformed("percent-encoded UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[&str; 3] = &["num", "sb", "api_key"];

    fn code(raw: &str) -> Option<ErrorCode> {
        Query::parse(Some(raw), KNOWN).err().map(|error| error.code)
    }

    fn value(raw: &str) -> Option<String> {
        Query::parse(Some(raw), KNOWN).unwrap().take("sb").map(Cow::into_owned)
    }

    #[test]
    fn values_are_decoded() {
        assert_eq!(value("sb=%E6%97%A5+%2b&num=1"), Some("日 +".to_owned()));
        assert_eq!(value("%73b=a=b"), Some("a=b".to_owned()));
        assert_eq!(value("sb"), Some(String::new()));
        assert_eq!(value("num=1"), None);
    }

    #[test]
    fn ambiguous_queries_are_rejected() {
        for bad in ["sb=%", "sb=%4", "sb=%4g", "sb=%ff", "sb=%ED%A0%80", "%ff=1", "sb=%C0%80", "sb=%+1"] {
            assert_eq!(code(bad), Some(ErrorCode::MalformedQuery), "{bad}");
        }
        assert_eq!(code("num=1&num=1"), Some(ErrorCode::Repeated));
        assert_eq!(code("num=1&n%75m=2"), Some(ErrorCode::Repeated));
        assert_eq!(code("session=1"), Some(ErrorCode::Unknown));
        assert_eq!(code("=1"), Some(ErrorCode::Unknown));
    }

    #[test]
    fn no_message_shows_a_value() {
        for bad in ["api_key=sesame%", "api_key=sesame%ff", "api_key=sesame&api_key=sesame", "api_kex=sesame"]
        {
            let error = Query::parse(Some(bad), KNOWN).unwrap_err();
            assert!(!format!("{error} {error:?}").contains("sesame"), "{error:?}");
        }
    }
}
