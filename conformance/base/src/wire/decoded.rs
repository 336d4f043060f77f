//! Reads what URLs, JSON and HTML make of characters.

use std::borrow::Cow;
use std::ops::Range;

/// A text, perhaps with one of the encodings resolved, also within another: writers nest them, such as JSON in a URL.
pub(crate) struct Decoded<'a> {
    bytes: Cow<'a, [u8]>,
    /// Where each of the bytes comes from in the text, and where the text ends; none for the text itself.
    places: Option<Vec<usize>>,
}

/// What begins a character in percent-encoding, in JSON and in HTML.
const ENCODINGS: [u8; 3] = [b'%', b'\\', b'&'];

/// How many encodings around one another are resolved: HTML in JSON in a URL.
const DEPTH: usize = 3;

/// The most bytes in which a character is written.
const LONGEST: usize = 16;

impl<'a> Decoded<'a> {
    /// Passes each reading of a text to `read`, itself first. Each encoding is resolved alone: a token may look like another one.
    pub(crate) fn visit_readings(text: &'a [u8], read: &mut impl FnMut(&Decoded<'_>)) {
        let text = Self { bytes: Cow::Borrowed(text), places: None };
        read(&text);
        text.visit_resolved(DEPTH, read);
    }

    fn visit_resolved(&self, depth: usize, read: &mut impl FnMut(&Decoded<'_>)) {
        for decoded in ENCODINGS.into_iter().filter_map(|encoding| self.resolved(encoding)) {
            read(&decoded);
            if depth > 1 {
                decoded.visit_resolved(depth - 1, read);
            }
        }
    }

    /// None if it has nothing in that encoding.
    fn resolved(&self, encoding: u8) -> Option<Decoded<'static>> {
        let first = self.bytes.iter().position(|byte| *byte == encoding)?;
        let mut bytes = self.bytes[..first].to_vec();
        let mut places: Vec<usize> = (0..first).map(|at| self.place_of(at)).collect();
        let mut at = first;
        while let Some(byte) = self.bytes.get(at) {
            let encoded = if *byte == encoding { resolve(&self.bytes[at..], &mut bytes) } else { None };
            if encoded.is_none() {
                bytes.push(*byte);
            }
            places.resize(bytes.len(), self.place_of(at));
            at += encoded.unwrap_or(1);
        }
        places.push(self.place_of(at));
        (bytes.len() < self.bytes.len()).then_some(Decoded { bytes: bytes.into(), places: Some(places) })
    }

    /// Where the last part of a text begins that may hold the beginning of a secret of so many bytes, if the text was cut. Within each
    /// encoding, a character that was cut stays as it is, and the text may end in one that is replaced.
    pub(crate) fn place_of_end(&self, longest: usize) -> usize {
        self.place_of(self.bytes.len().saturating_sub(longest.saturating_add(LONGEST * (DEPTH + 1))))
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Where a part of the bytes stands in the text.
    pub(crate) fn place(&self, part: &Range<usize>) -> Range<usize> {
        self.place_of(part.start)..self.place_of(part.end)
    }

    fn place_of(&self, at: usize) -> usize {
        self.places.as_ref().map_or(at, |places| places[at])
    }
}

/// Adds what the beginning of a text stands for, if that is encoded, and returns the length of the encoded form.
fn resolve(text: &[u8], resolved: &mut Vec<u8>) -> Option<usize> {
    let number = |at: Range<usize>, radix| {
        let digits = std::str::from_utf8(text.get(at)?).ok()?;
        let number = u32::from_str_radix(digits, radix).ok();
        number.filter(|_| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
    };
    let end_at = |end: u8| text.iter().take(LONGEST).position(|byte| *byte == end);
    let (length, character) = match text {
        [b'%', ..] => {
            resolved.push(u8::try_from(number(1..3, 16)?).ok()?);
            return Some(3);
        }
        [b'\\', escaped @ (b'\\' | b'"' | b'/' | b'\''), ..] => (2, char::from(*escaped)),
        [b'\\', b'0', ..] => (2, '\0'),
        [b'\\', b'b', ..] => (2, '\u{8}'),
        [b'\\', b'f', ..] => (2, '\u{c}'),
        [b'\\', b'n', ..] => (2, '\n'),
        [b'\\', b'r', ..] => (2, '\r'),
        [b'\\', b't', ..] => (2, '\t'),
        // As Rust and JavaScript write it.
        [b'\\', b'u', b'{', ..] => {
            let end = end_at(b'}')?;
            (end + 1, char::from_u32(number(3..end, 16)?)?)
        }
        [b'\\', b'u', ..] => {
            let unit = number(2..6, 16)?;
            match char::from_u32(unit) {
                Some(character) => (6, character),
                None => {
                    // Characters beyond 16 bits are written as two units.
                    let second = number(8..12, 16).filter(|_| text[6..].starts_with(b"\\u"))?;
                    let units = [u16::try_from(unit).ok()?, u16::try_from(second).ok()?];
                    (12, char::decode_utf16(units).next()?.ok()?)
                }
            }
        }
        [b'&', ..] => {
            let end = end_at(b';')?;
            let character = match &text[1..end] {
                b"quot" => '"',
                b"amp" => '&',
                b"apos" => '\'',
                b"lt" => '<',
                b"gt" => '>',
                [b'#', b'x' | b'X', ..] => char::from_u32(number(3..end, 16)?)?,
                [b'#', ..] => char::from_u32(number(2..end, 10)?)?,
                _ => return None,
            };
            (end + 1, character)
        }
        _ => return None,
    };
    resolved.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    Some(length)
}
