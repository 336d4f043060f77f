//! Reads what URLs, JSON and HTML make of characters.

use std::ops::Range;

/// A text with its percent-encoding, escapes of JSON and character references of HTML resolved. It is searched beside the text itself,
/// because writers differ in what they encode.
pub(crate) struct Decoded {
    bytes: Vec<u8>,
    /// Where each of the bytes comes from in the text, and where the text ends.
    places: Vec<usize>,
}

impl Decoded {
    /// The text with all three resolved; and if a secret may itself hold what looks like one of them, such as `%42`, with each alone
    /// resolved as well. Nothing where the text has nothing that begins like one.
    pub(crate) fn readings(text: &[u8], may_secrets_hold_escapes: bool) -> Vec<Self> {
        let present: Vec<u8> = BEGINNINGS.into_iter().filter(|beginning| text.contains(beginning)).collect();
        let alone = present.chunks(1).filter(|_| may_secrets_hold_escapes);
        let alone = alone.map(|one| Self::new(text, one, one == [b'\\']));
        let all = (!present.is_empty()).then(|| Self::new(text, &present, false));
        all.into_iter().chain(alone).collect()
    }

    /// In JSON alone a backslash may stand for the next character; in a text of several encodings it is part of a spelling.
    fn new(text: &[u8], resolved: &[u8], is_json: bool) -> Self {
        let (mut bytes, mut places, mut at) = (Vec::new(), Vec::new(), 0);
        while let Some(byte) = text.get(at) {
            let length = match &text[at..] {
                [b'\\', escaped @ (b'\\' | b'"' | b'/'), ..] if is_json => {
                    bytes.push(*escaped);
                    Some(2)
                }
                rest if resolved.contains(byte) => resolve(rest, &mut bytes),
                _ => None,
            };
            let length = length.unwrap_or_else(|| {
                bytes.push(*byte);
                1
            });
            places.resize(bytes.len(), at);
            at += length;
        }
        places.push(at);
        Self { bytes, places }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Where a part of the bytes stands in the text.
    pub(crate) fn place(&self, part: &Range<usize>) -> Range<usize> {
        self.places[part.start]..self.places[part.end]
    }
}

/// Whether a text has what begins like one of them.
pub(super) fn may_hold_escapes(text: &str) -> bool {
    text.bytes().any(|byte| BEGINNINGS.contains(&byte))
}

const BEGINNINGS: [u8; 3] = [b'%', b'\\', b'&'];

/// The most bytes in which one is written.
const LONGEST: usize = 16;

/// Where the last one begins that may continue beyond the end of a text, which was cut.
pub(crate) fn cut_escape(text: &[u8]) -> Option<usize> {
    let first = text.len().saturating_sub(LONGEST - 1);
    (first..text.len()).find(|at| {
        let may_continue = |byte: &u8| byte.is_ascii_alphanumeric() || b"#\\".contains(byte);
        let rest = &text[*at..];
        BEGINNINGS.contains(&rest[0])
            && rest[1..].iter().all(may_continue)
            && resolve(rest, &mut Vec::new()).is_none()
    })
}

/// Adds what the beginning of a text stands for, if that is encoded, and returns the length of the encoded form.
fn resolve(text: &[u8], resolved: &mut Vec<u8>) -> Option<usize> {
    let digits = |at: Range<usize>| {
        let digits = text.get(at).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))?;
        u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let (length, character) = match text {
        [b'%', ..] => {
            resolved.push(u8::try_from(digits(1..3)?).ok()?);
            return Some(3);
        }
        [b'\\', b'u', ..] => {
            let unit = digits(2..6)?;
            match char::from_u32(unit) {
                Some(character) => (6, character),
                None => {
                    // Characters beyond 16 bits are written as two units.
                    let second = digits(8..12).filter(|_| text[6..].starts_with(b"\\u"))?;
                    let units = [u16::try_from(unit).ok()?, u16::try_from(second).ok()?];
                    (12, char::decode_utf16(units).next()?.ok()?)
                }
            }
        }
        [b'&', ..] => {
            let end = text.iter().take(LONGEST).position(|byte| *byte == b';')?;
            (end + 1, referred(std::str::from_utf8(&text[1..end]).ok()?)?)
        }
        _ => return None,
    };
    resolved.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    Some(length)
}

/// The character that a name or number in HTML refers to. The names are those of the characters that HTML must escape.
fn referred(name: &str) -> Option<char> {
    Some(match name {
        "quot" => '"',
        "amp" => '&',
        "apos" => '\'',
        "lt" => '<',
        "gt" => '>',
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16),
                None => number.parse(),
            };
            char::from_u32(code.ok()?)?
        }
    })
}
