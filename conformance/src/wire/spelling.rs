//! Finds texts in another text however it spells them: plain, percent-encoded, escaped with a backslash as in JSON and programming
//! languages, as an HTML entity, and any mixture of these, nested up to six times.
//!
//! The text is decoded layer by layer, and each layer is searched at once for all patterns. The target controls the text, so that
//! each layer is decoded in one pass, and their number is bounded.

use std::borrow::Cow;
use std::ops::Range;

use aho_corasick::{AhoCorasick, AhoCorasickKind, BuildError};

/// Maximum number of encodings around one another that are decoded.
const MAX_LAYERS: usize = 6;

/// Minimum length of a pattern that decoding has made shorter, in bytes.
const MIN_DECODED: usize = 4;

/// Maximum length of an incomplete spelling at the end of a text, in bytes.
const MAX_INCOMPLETE: usize = 16;

/// A place in a text that spells a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Match {
    pub(super) place: Range<usize>,
    /// Index of the pattern.
    pub(super) pattern: usize,
    /// Whether the letters have the case of the pattern.
    pub(super) is_same_case: bool,
}

/// Texts to search for. Letters count in either case.
pub(super) struct Patterns {
    search: AhoCorasick,
    /// Each text and what decoding makes of it, since that happens to it within another text too, with the index of its pattern.
    forms: Vec<(Vec<u8>, usize)>,
    /// The forms in lower case, sorted.
    sorted: Vec<Vec<u8>>,
}

impl Patterns {
    /// Patterns by their index.
    pub(super) fn new<'a>(patterns: impl Iterator<Item = &'a str>) -> Result<Self, BuildError> {
        let mut forms = Vec::new();
        for (index, pattern) in patterns.enumerate() {
            let decoded = layers(pattern).into_iter().skip(1).map(|layer| layer.bytes.into_owned());
            // A pattern without escapes is not decoded, and yet its control characters may be spelt.
            let decoded = decoded.chain([pattern.bytes().map(letter).collect()]);
            let decoded = decoded.filter(|form: &Vec<u8>| form != pattern.as_bytes());
            // What is shorter occurs in ordinary words.
            let decoded = decoded.filter(|form| form.len() >= MIN_DECODED);
            forms.extend(
                std::iter::once(pattern.as_bytes().to_vec()).chain(decoded).map(|form| (form, index)),
            );
        }
        // A table of all transitions takes some 500 times the memory of the patterns, which the target controls in part.
        let search = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(forms.iter().map(|(form, _)| form))?;
        let mut sorted: Vec<_> = forms.iter().map(|(form, _)| form.to_ascii_lowercase()).collect();
        sorted.sort_unstable();
        Ok(Self { search, forms, sorted })
    }

    /// Every spelling of the patterns in the layers of a text; unordered, and they may overlap.
    pub(super) fn find(&self, layers: &[Layer<'_>]) -> Vec<Match> {
        let of_layer = |layer: &Layer<'_>| {
            let found = self.search.find_overlapping_iter(&layer.bytes);
            let found = found.map(|found| {
                let (form, pattern) = &self.forms[found.pattern().as_usize()];
                let is_same_case = layer.bytes[found.range()] == **form;
                Match { place: layer.place(found.range()), pattern: *pattern, is_same_case }
            });
            found.collect::<Vec<_>>()
        };
        layers.iter().flat_map(of_layer).collect()
    }

    /// Where a spelling begins that may continue beyond the end of the text.
    pub(super) fn open(&self, layers: &[Layer<'_>]) -> Option<usize> {
        let text = &layers.first()?.bytes;
        // The last spelling may be incomplete, and so may the last character, which is then U+FFFD.
        let may_begin_one = |at: &usize| matches!(text[*at], b'%' | b'\\' | b'&' | 0xef);
        let incomplete = (text.len().saturating_sub(MAX_INCOMPLETE)..text.len()).filter(may_begin_one);
        let ends: Vec<usize> = incomplete.chain([text.len()]).collect();
        let opens =
            layers.iter().flat_map(|layer| ends.iter().filter_map(|end| self.open_before(layer, *end)));
        opens.min()
    }

    /// Where a layer begins to spell a pattern up to a place in the text.
    fn open_before(&self, layer: &Layer<'_>, end: usize) -> Option<usize> {
        let longest = self.sorted.iter().map(Vec::len).max()?;
        let end = layer.spelt_up_to(end);
        let begin = end.saturating_sub(longest);
        let bytes = layer.bytes[begin..end].to_ascii_lowercase();
        let is_open = |read: &[u8]| {
            let next = self.sorted.partition_point(|form| form.as_slice() < read);
            self.sorted.get(next).is_some_and(|form| form.starts_with(read))
        };
        let open = (0..bytes.len()).find(|at| is_open(&bytes[*at..]))?;
        Some(layer.place(begin + open..end).start)
    }
}

/// A text, decoded some times.
pub(super) struct Layer<'a> {
    pub(super) bytes: Cow<'a, [u8]>,
    /// Where the text spells each byte; empty for the text as it is.
    places: Vec<Range<usize>>,
}

impl Layer<'_> {
    fn place(&self, bytes: Range<usize>) -> Range<usize> {
        match self.places.is_empty() {
            true => bytes,
            false => self.places[bytes.start].start..self.places[bytes.end - 1].end,
        }
    }

    /// How many bytes are spelt up to a place in the text.
    fn spelt_up_to(&self, end: usize) -> usize {
        match self.places.is_empty() {
            true => end.min(self.bytes.len()),
            false => self.places.partition_point(|place| place.end <= end),
        }
    }

    fn is_plain(&self) -> bool {
        !self.bytes.iter().any(|byte| matches!(byte, b'%' | b'\\' | b'&' | b'+'))
    }

    /// The bytes with each escape decoded once, and letters in place of control characters.
    fn decoded(&self) -> Layer<'static> {
        let (mut bytes, mut places) = (Vec::new(), Vec::new());
        let mut at = 0;
        while at < self.bytes.len() {
            let (text, end) = escape(&self.bytes, at);
            // An escape that stands for nothing belongs to what follows it.
            let place = self.place(at..end);
            places.extend(text.as_bytes().iter().map(|_| place.clone()));
            bytes.extend(text.as_bytes().iter().copied().map(letter));
            at = end;
        }
        Layer { bytes: bytes.into(), places }
    }
}

/// The text as it is, and decoded once, twice and so on, as long as that changes it.
pub(super) fn layers(text: &str) -> Vec<Layer<'_>> {
    let mut layers = vec![Layer { bytes: text.as_bytes().into(), places: Vec::new() }];
    while let Some(last) = layers.last().filter(|last| layers.len() <= MAX_LAYERS && !last.is_plain()) {
        let decoded = last.decoded();
        if decoded.bytes == last.bytes {
            break;
        }
        layers.push(decoded);
    }
    layers
}

/// What the bytes at a place stand for.
enum Decoded {
    Byte(u8),
    Character([u8; 4], usize),
}

impl Decoded {
    fn character(c: char) -> Self {
        let mut bytes = [0; 4];
        let length = c.encode_utf8(&mut bytes).len();
        Self::Character(bytes, length)
    }

    fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Byte(byte) => std::slice::from_ref(byte),
            Self::Character(bytes, length) => &bytes[..*length],
        }
    }
}

/// Decodes what stands at a place, and returns where it ends.
fn escape(text: &[u8], at: usize) -> (Decoded, usize) {
    let found = match text[at] {
        b'%' => hexadecimal(text, at + 1, 2).map(|byte| (Decoded::Byte(byte as u8), at + 3)),
        b'\\' => Some(backslash(text, at)),
        b'&' => entity(text, at + 1).map(|(c, end)| (Decoded::character(c), end)),
        b'+' => Some((Decoded::Byte(b' '), at + 1)),
        _ => None,
    };
    found.unwrap_or((Decoded::Byte(text[at]), at + 1))
}

/// The letter that stands for a control character behind a backslash. It takes its place in all that is decoded, in a pattern
/// too, because a letter behind backslashes may also stand for itself.
fn letter(byte: u8) -> u8 {
    match byte {
        0 => b'0',
        0x07 => b'a',
        0x08 => b'b',
        b'\t' => b't',
        b'\n' => b'n',
        0x0b => b'v',
        0x0c => b'f',
        b'\r' => b'r',
        0x1b => b'e',
        byte => byte,
    }
}

/// Reads a run of backslashes and what it escapes: a character, `u002f`, `u{2f}` or `x2f`.
fn backslash(text: &[u8], at: usize) -> (Decoded, usize) {
    let run = |at: usize| at + text[at..].iter().take_while(|byte| **byte == b'\\').count();
    let at = run(at);
    let Some(letter) = text.get(at) else { return (Decoded::Character([0; 4], 0), at) };
    let found = match letter.to_ascii_lowercase() {
        b'u' if text.get(at + 1) == Some(&b'{') => {
            let length = text[at + 2..].iter().take(7).position(|byte| *byte == b'}');
            length.and_then(|length| Some((hexadecimal(text, at + 2, length)?, at + length + 3)))
        }
        b'u' => hexadecimal(text, at + 1, 4).map(|unit| (unit, at + 5)),
        b'x' => hexadecimal(text, at + 1, 2).map(|value| (value, at + 3)),
        _ => None,
    };
    let Some((value, end)) = found else { return escape_free(text, at) };
    // A character that needs two units of UTF-16.
    let low = run(end);
    if (0xd800..0xdc00).contains(&value)
        && low > end
        && text.get(low).is_some_and(|byte| byte.eq_ignore_ascii_case(&b'u'))
        && let Some(unit @ 0xdc00..0xe000) = hexadecimal(text, low + 1, 4)
        && let Some(c) = char::from_u32(0x10000 + ((value - 0xd800) << 10) + (unit - 0xdc00))
    {
        return (Decoded::character(c), low + 5);
    }
    char::from_u32(value).map_or_else(|| escape_free(text, at), |c| (Decoded::character(c), end))
}

/// A byte behind backslashes. One that may begin an escape is read in the next layer.
fn escape_free(text: &[u8], at: usize) -> (Decoded, usize) {
    let at = at.min(text.len() - 1);
    (Decoded::Byte(text[at]), at + 1)
}

/// Reads `quot;`, `#34;`, `#x22;` and so on, behind an ampersand.
fn entity(text: &[u8], at: usize) -> Option<(char, usize)> {
    const ENTITIES: [(&str, char); 12] = [
        ("amp;", '&'),
        ("lt;", '<'),
        ("gt;", '>'),
        ("quot;", '"'),
        ("apos;", '\''),
        ("sol;", '/'),
        ("bsol;", '\\'),
        ("plus;", '+'),
        ("equals;", '='),
        ("percnt;", '%'),
        ("num;", '#'),
        ("nbsp;", ' '),
    ];
    let rest = &text[at..];
    let named = ENTITIES.iter().find(|(name, _)| rest.starts_with(name.as_bytes()));
    if let Some((name, meant)) = named {
        return Some((*meant, at + name.len()));
    }
    let (digits, radix) = match rest.strip_prefix(b"#")? {
        [b'x' | b'X', digits @ ..] => (digits, 16),
        digits => (digits, 10),
    };
    let length = digits.iter().take(9).take_while(|byte| char::from(**byte).is_digit(radix)).count();
    let number = std::str::from_utf8(&digits[..length]).ok()?;
    let character = char::from_u32(u32::from_str_radix(number, radix).ok()?)?;
    let end = text.len() - digits.len() + length;
    Some((character, end + usize::from(text.get(end) == Some(&b';'))))
}

fn hexadecimal(text: &[u8], at: usize, digits: usize) -> Option<u32> {
    let digits = text.get(at..at + digits)?;
    let digits = digits.iter().all(u8::is_ascii_hexdigit).then_some(digits)?;
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}
