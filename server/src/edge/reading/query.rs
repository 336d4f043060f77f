//! The query, read once and strictly: every name is known and comes once, every value is percent-encoded UTF-8.

use std::borrow::Cow;

use super::{
    catalogue::Reason,
    fault::{At, Fault, Spot},
    value::FromText,
};

/// The parameters of a query while they are read one after the other.
#[derive(Debug)]
pub struct Query<'a, const N: usize> {
    known: &'static [&'static str; N],
    /// One for each known name.
    values: [Option<Cow<'a, str>>; N],
}

const QUERY: Spot<'_> = Spot::new(At::Query, &[]);

impl<'a, const N: usize> Query<'a, N> {
    /// Reads what stands behind the `?`. Each name must be one of `known`. As in forms, `+` is a space.
    ///
    /// # Errors
    /// Broken percent-encoding, text that is not UTF-8, unknown and repeated names
    /// (`open.static.unknown-fields`, `open.extract.repeated-parameter`). No value is shown.
    pub fn parse(raw: Option<&'a str>, known: &'static [&'static str; N]) -> Result<Self, Fault> {
        let mut query = Self { known, values: [const { None }; N] };
        for part in raw.unwrap_or_default().split('&').filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let name = decode(name, QUERY)?;
            let Some(place) = query.place(&name) else {
                return Err(Fault::unknown("query parameter", &name, known));
            };
            let spot = Spot::new(At::Parameter(&name), &[]);
            if place.is_some() {
                return Err(spot.repeated());
            }
            *place = Some(decode(value, spot)?);
        }
        Ok(query)
    }

    fn place(&mut self, name: &str) -> Option<&mut Option<Cow<'a, str>>> {
        // By bytes, since `==` calls a function, which is more than most names need: they differ in the first byte.
        let same = |known: &str| known.len() == name.len() && known.bytes().eq(name.bytes());
        self.known.iter().zip(&mut self.values).find(|(known, _)| same(known)).map(|(_, value)| value)
    }

    /// A parameter that must be there.
    ///
    /// # Errors
    /// It is absent, empty or not as its type wants it.
    pub fn required<T: FromText>(&mut self, name: &str, spot: Spot<'_>) -> Result<T, Fault> {
        self.optional(name, spot)?.ok_or_else(|| spot.missing())
    }

    /// A parameter that may be absent, but not empty (`open.extract.empty-parameter`).
    ///
    /// # Errors
    /// It is empty or not as its type wants it.
    pub fn optional<T: FromText>(&mut self, name: &str, spot: Spot<'_>) -> Result<Option<T>, Fault> {
        match self.take(name) {
            None => Ok(None),
            Some(value) if value.is_empty() => Err(spot.empty()),
            Some(value) => T::from_text(&value, spot).map(Some),
        }
    }

    /// The text of a parameter, taken out; a credential is read so, to be wrapped before anything can show it.
    pub fn take(&mut self, name: &str) -> Option<Cow<'a, str>> {
        self.place(name)?.take()
    }
}

/// Decodes one name or value.
fn decode<'a>(raw: &'a str, spot: Spot<'_>) -> Result<Cow<'a, str>, Fault> {
    // Without a way out on the first hit, the processor looks at sixteen bytes at a time; tokens are long.
    let encoded = raw.bytes().fold(false, |seen, byte| seen | matches!(byte, b'%' | b'+'));
    if !encoded {
        return Ok(Cow::Borrowed(raw));
    }
    let malformed = |expected| spot.fault(Reason::MalformedQuery, "type", expected, None);
    let mut bytes = Vec::with_capacity(raw.len());
    let mut rest = raw.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
                match (digit(rest.next()), digit(rest.next())) {
                    (Some(high), Some(low)) => (high << 4 | low) as u8,
                    _ => return Err(malformed("have two hexadecimal digits after each `%`")),
                }
            }
            plain => plain,
        });
    }
    String::from_utf8(bytes).map(Cow::Owned).map_err(|_| malformed("be UTF-8 behind its percent-encoding"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[&str; 3] = &["num", "sb", "api_key"];

    fn reason(raw: &str) -> Option<Reason> {
        Query::parse(Some(raw), KNOWN).err().map(|fault| fault.reason)
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
    fn what_is_not_clear_is_refused() {
        for bad in ["sb=%", "sb=%4", "sb=%4g", "sb=%ff", "sb=%ED%A0%80", "%ff=1", "sb=%C0%80", "sb=%+1"] {
            assert_eq!(reason(bad), Some(Reason::MalformedQuery), "{bad}");
        }
        assert_eq!(reason("num=1&num=1"), Some(Reason::Repeated));
        assert_eq!(reason("num=1&n%75m=2"), Some(Reason::Repeated));
        assert_eq!(reason("session=1"), Some(Reason::Unknown));
        assert_eq!(reason("=1"), Some(Reason::Unknown));
    }

    #[test]
    fn no_message_shows_a_value() {
        for bad in ["api_key=sesame%", "api_key=sesame%ff", "api_key=sesame&api_key=sesame", "api_kex=sesame"]
        {
            let fault = Query::parse(Some(bad), KNOWN).unwrap_err();
            assert!(!format!("{fault} {fault:?}").contains("sesame"), "{fault:?}");
        }
    }
}
