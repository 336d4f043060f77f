//! The query, parsed strictly: every name is known and sent once, every value is percent-encoded UTF-8.

use std::borrow::Cow;

use super::percent::decode_form;
use crate::edge::types::{
    list::FromTexts,
    request_error::{Input, Part, RequestError, Result},
    value::FromText,
};

/// The parameters of a query that are not read yet.
#[derive(Debug)]
pub struct Query<'a, const N: usize> {
    known: &'static [&'static str; N],
    /// The value of each known name.
    values: [Option<Cow<'a, str>>; N],
    /// Further values of lists, each with its name.
    further: Vec<(&'static str, Cow<'a, str>)>,
}

const QUERY: Input<'_> = Input::new(Part::Query, &[]);

impl<'a, const N: usize> Query<'a, N> {
    /// Parses the query, without its `?`. Each name must be one of `known`. As in forms, `+` is a space.
    ///
    /// # Errors
    /// Broken percent-encoding, text that is not UTF-8, unknown and repeated names
    /// (`open.static.unknown-fields`, `open.extract.repeated-parameter`). No value is shown.
    pub fn parse(raw: Option<&'a str>, known: &'static [&'static str; N]) -> Result<Self> {
        Self::parse_with_lists(raw, known, &[])
    }

    /// Parses a query in which those of `lists` may be sent several times, once for each item.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn parse_with_lists(
        raw: Option<&'a str>,
        known: &'static [&'static str; N],
        lists: &[&'static str],
    ) -> Result<Self> {
        let mut query = Self { known, values: [const { None }; N], further: Vec::new() };
        for part in raw.unwrap_or_default().split('&').filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let name = decode_form(name, QUERY)?;
            let Some(slot) = query.value_mut(&name) else {
                return Err(RequestError::unknown("query parameter", &name, known));
            };
            let input = Input::new(Part::Parameter(&name), &[]);
            let value = decode_form(value, input)?;
            if slot.is_none() {
                *slot = Some(value);
                continue;
            }
            match lists.iter().find(|list| **list == name) {
                Some(list) => query.further.push((list, value)),
                None => return Err(input.repeated()),
            }
        }
        Ok(query)
    }

    fn value_mut(&mut self, name: &str) -> Option<&mut Option<Cow<'a, str>>> {
        // Compared by bytes, because `==` calls a function, and most names differ in the first byte.
        let same = |known: &str| known.len() == name.len() && known.bytes().eq(name.bytes());
        self.known.iter().zip(&mut self.values).find(|(known, _)| same(known)).map(|(_, value)| value)
    }

    /// A required parameter.
    ///
    /// # Errors
    /// It is absent, empty or invalid for its type.
    pub fn required<T: FromText>(&mut self, name: &str, input: Input<'_>) -> Result<T> {
        self.optional(name, input)?.ok_or_else(|| input.missing())
    }

    /// An optional parameter, which must not be empty (`open.extract.empty-parameter`).
    ///
    /// # Errors
    /// It is empty or invalid for its type.
    pub fn optional<T: FromText>(&mut self, name: &str, input: Input<'_>) -> Result<Option<T>> {
        match self.take(name) {
            None => Ok(None),
            Some(value) if value.is_empty() => Err(input.empty()),
            Some(value) => T::from_text(&value, input).map(Some),
        }
    }

    /// A required list, sent as one pair for each item.
    ///
    /// # Errors
    /// It is absent, has too few or too many items, or one that is empty or invalid for its type.
    pub fn required_list<T: FromTexts>(&mut self, name: &str, input: Input<'_>) -> Result<T> {
        self.list(name, input)?.ok_or_else(|| input.missing())
    }

    /// An optional list.
    ///
    /// # Errors
    /// As [`required_list`](Self::required_list), but for an absent one.
    pub fn list<T: FromTexts>(&mut self, name: &str, input: Input<'_>) -> Result<Option<T>> {
        let Some(first) = self.take(name) else { return Ok(None) };
        let further = self.further.iter().filter(|(list, _)| *list == name).map(|(_, value)| value.as_ref());
        let texts: Vec<&str> = std::iter::once(first.as_ref()).chain(further).collect();
        T::from_texts(&texts, input).map(Some)
    }

    /// Removes and returns the text of a parameter, such as a token, which is wrapped before anything can print it.
    pub fn take(&mut self, name: &str) -> Option<Cow<'a, str>> {
        self.value_mut(name)?.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edge::{
        responding::error_code::ErrorCode,
        types::{integer::BoundedInteger, list::List},
    };

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
    fn only_lists_may_be_repeated() {
        const INPUT: Input<'_> =
            Input::new(Part::Parameter("num"), &[("maxItems", "few")]).with_items(&[("any", "item")]);
        type Numbers = List<BoundedInteger<0, 9>, 1, 3>;
        let read = |raw| -> Result<Option<Numbers>> {
            Query::parse_with_lists(Some(raw), KNOWN, &["num"])?.list("num", INPUT)
        };
        let numbers = |raw| {
            read(raw)
                .unwrap()
                .map(|list| list.into_vec().into_iter().map(BoundedInteger::get).collect::<Vec<_>>())
        };
        assert_eq!(numbers("num=3&sb=x&num=1&num=3"), Some(vec![3, 1, 3]));
        assert_eq!(numbers("sb=x"), None);
        assert_eq!(read("sb=x&sb=y").unwrap_err().code, ErrorCode::Repeated);
        let clause = |raw| read(raw).unwrap_err().clause;
        assert_eq!((clause("num=1&num=2&num=3&num=4"), clause("num=1&num=77")), (Some("few"), Some("item")));
        assert_eq!(read("num=1&num=").unwrap_err().code, ErrorCode::Empty);
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
