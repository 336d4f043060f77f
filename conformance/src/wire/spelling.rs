//! Finds characters however a text spells them: plain, percent-encoded, escaped with a backslash as in JSON and programming
//! languages, as an HTML entity, and any nesting and mixture of these.
//!
//! The target controls the text, so the time of the search must be linear in its length: all readings are followed at once from
//! left to right, and readings that arrive at the same place are merged.

use std::collections::BTreeMap;
use std::ops::Range;

/// A place in a text that spells a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Match {
    pub(super) place: Range<usize>,
    /// Index of the pattern.
    pub(super) pattern: usize,
}

/// The result of a search.
#[derive(Debug, Default)]
pub(super) struct ScanResult {
    /// Unordered; they may overlap.
    pub(super) matches: Vec<Match>,
    /// Where a spelling begins that may continue beyond the end of the text.
    pub(super) open: Option<usize>,
    #[cfg(test)]
    pub(super) steps: usize,
}

/// How patterns begin, so that a search follows only readings that may become a match. Letters count in either case.
pub(super) struct Beginnings {
    /// The second byte of each pattern.
    second: Vec<u8>,
    /// For each byte, the patterns that begin with it when spelt as they are.
    by_first: Vec<Vec<usize>>,
    /// For each two bytes, whether a pattern begins with them.
    pairs: Vec<bool>,
}

impl Beginnings {
    /// The beginnings of these patterns, each of at least two bytes.
    pub(super) fn new<'a>(patterns: impl Iterator<Item = &'a [char]>) -> Self {
        let (mut second, mut by_first, mut pairs) = (Vec::new(), vec![Vec::new(); 256], vec![false; 1 << 16]);
        for (index, pattern) in patterns.enumerate() {
            let mut bytes = pattern.iter().take(2).collect::<String>().into_bytes().into_iter();
            let mut next = || bytes.next().unwrap_or_default().to_ascii_lowercase();
            let two = [next(), next()];
            second.push(two[1]);
            by_first[usize::from(two[0])].push(index);
            pairs[usize::from(u16::from_be_bytes(two))] = true;
        }
        Self { second, by_first, pairs }
    }

    /// Calls `begin` with each pattern that a spelling at this place may be the beginning of.
    fn at(&self, text: &[u8], at: usize, begin: impl FnMut(usize)) {
        let all = 0..self.second.len();
        let by_first = |byte: u8| self.by_first[usize::from(byte.to_ascii_lowercase())].iter().copied();
        let rest = &text[at..];
        let (byte, next) = (rest[0], rest.get(1).copied());
        match (byte, next) {
            (b'\\', _) => all.for_each(begin),
            (b'%' | b'&', _) if may_be_cut(text, at) => all.for_each(begin),
            (b'%', _) => match percent(text, at).map(|encoded| encoded.value) {
                None | Some(b'%') => by_first(byte).for_each(begin),
                Some(b'\\' | b'&') => all.for_each(begin),
                Some(value) => by_first(byte).chain(by_first(value)).for_each(begin),
            },
            (b'&', _) if begins_entity(&rest[1..]) => all.for_each(begin),
            (b'&', _) => by_first(byte).for_each(begin),
            (b'+', _) => by_first(byte).chain(by_first(b' ')).for_each(begin),
            (_, Some(next)) if !INTRODUCERS.contains(&next) && !may_be_cut(text, at) => {
                let two = [byte, next].map(|byte| byte.to_ascii_lowercase());
                if self.pairs[usize::from(u16::from_be_bytes(two))] {
                    by_first(byte).filter(|pattern| self.second[*pattern] == two[1]).for_each(begin);
                }
            }
            _ => by_first(byte).for_each(begin),
        }
    }
}

/// Every spelling of the patterns in a text.
pub(super) fn find(text: &[u8], patterns: &[&[char]], beginnings: &Beginnings) -> ScanResult {
    search(text, patterns, |at, begin| beginnings.at(text, at, begin))
}

/// The same, with the patterns for which a reading begins at each place.
pub(super) fn search(
    text: &[u8],
    patterns: &[&[char]],
    beginning_at: impl Fn(usize, &mut dyn FnMut(usize)),
) -> ScanResult {
    let mut search = Search {
        text,
        patterns,
        waiting: BTreeMap::new(),
        run: 0..0,
        percent: None,
        boundary: 0,
        found: ScanResult::default(),
    };
    for at in 0..text.len() {
        if !search.is_within_run(at) {
            beginning_at(at, &mut |pattern| {
                search.advance(at, PartialMatch { pattern, index: 0, behind: Escape::Nothing, start: at });
            });
        }
        if let Some(mut readings) = search.waiting.remove(&at) {
            // Of readings that differ only in their start, the earliest one covers the others.
            readings.sort_unstable();
            readings.dedup_by_key(|reading| (reading.pattern, reading.index, reading.behind));
            readings.into_iter().for_each(|reading| search.step(at, reading));
        }
    }
    search.found
}

/// Bytes that may begin another spelling of a character.
const INTRODUCERS: &[u8] = b"%\\&+";

/// Maximum length of an incomplete spelling at the end of a text, in bytes.
const MAX_INCOMPLETE: usize = 16;

/// Whether a spelling at this place may continue beyond the end of the text.
const fn may_be_cut(text: &[u8], at: usize) -> bool {
    at + MAX_INCOMPLETE >= text.len()
}

/// How far a pattern has been read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct PartialMatch {
    pattern: usize,
    /// Index of the next character.
    index: usize,
    behind: Escape,
    start: usize,
}

/// The escape that has been read before a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Escape {
    Nothing,
    /// A run of backslashes.
    Backslash,
    /// An ampersand.
    Ampersand,
}

struct Search<'a> {
    text: &'a [u8],
    patterns: &'a [&'a [char]],
    /// Readings by the place where they continue.
    waiting: BTreeMap<usize, Vec<PartialMatch>>,
    /// The last run of backslashes that was measured.
    run: Range<usize>,
    /// The last place that was read as percent-encoding, with the result.
    percent: Option<(usize, Option<Percent>)>,
    /// Where the next backslash of the current run begins.
    boundary: usize,
    found: ScanResult,
}

impl Search<'_> {
    /// Continues a reading up to the next byte that may begin another spelling. Until there, only one reading is possible.
    fn advance(&mut self, mut at: usize, mut reading: PartialMatch) {
        reading.behind = Escape::Nothing;
        loop {
            self.count(1);
            let Some(character) = self.character(reading) else {
                self.found.matches.push(Match { place: reading.start..at, pattern: reading.pattern });
                return;
            };
            if self.text.get(at).is_some_and(|byte| INTRODUCERS.contains(byte)) {
                return self.wait(at, reading);
            }
            let Some(end) = plain(self.text, at, character) else { return self.note_open(at, reading) };
            (at, reading.index) = (end, reading.index + 1);
        }
    }

    fn wait(&mut self, at: usize, reading: PartialMatch) {
        self.note_open(at, reading);
        self.waiting.entry(at).or_default().push(reading);
    }

    fn wait_behind(&mut self, behind: Escape, at: usize, reading: PartialMatch) {
        self.wait(at, PartialMatch { behind, ..reading });
    }

    fn character(&self, reading: PartialMatch) -> Option<char> {
        self.patterns.get(reading.pattern)?.get(reading.index).copied()
    }

    /// A reading near the end of the text might continue if the text had not been cut.
    fn note_open(&mut self, at: usize, reading: PartialMatch) {
        if may_be_cut(self.text, at) {
            let open = self.found.open.map_or(reading.start, |open| open.min(reading.start));
            self.found.open = Some(open);
        }
    }

    fn step(&mut self, at: usize, reading: PartialMatch) {
        self.count(1);
        let Some(character) = self.character(reading) else { return };
        let read = PartialMatch { index: reading.index + 1, ..reading };
        match reading.behind {
            Escape::Nothing => self.begin(at, character, reading, read),
            Escape::Backslash => self.escaped(at, character, reading, read),
            Escape::Ampersand => self.entity(at, character, reading, read),
        }
    }

    fn begin(&mut self, at: usize, character: char, reading: PartialMatch, read: PartialMatch) {
        let text = self.text;
        if let Some(end) = plain(text, at, character) {
            self.advance(end, read);
        }
        match text.get(at) {
            Some(b'+') if character == ' ' => self.advance(at + 1, read),
            Some(b'\\') => self.backslash(at + 1, character, reading),
            Some(b'&') => self.wait_behind(Escape::Ampersand, at + 1, reading),
            Some(b'%') => {
                let Some(encoded) = self.percent_at(at) else { return };
                self.note_open(encoded.end, reading);
                match encoded.value {
                    b'\\' => self.backslash(encoded.end, character, reading),
                    b'&' => self.wait_behind(Escape::Ampersand, encoded.end, reading),
                    _ => {}
                }
                if character == '%' {
                    // Each `25` of `%252525` may be the last one.
                    (at + 3..encoded.end).step_by(2).for_each(|end| self.advance(end, read));
                }
                if let Some(end) = in_percent(text, encoded, character) {
                    self.advance(end, read);
                }
            }
            _ => {}
        }
    }

    /// Continues behind a backslash: behind its whole run, unless the character itself may be part of the run.
    fn backslash(&mut self, at: usize, character: char, reading: PartialMatch) {
        let at = if matches!(character, '\\' | '%') { at } else { self.run_end(at) };
        self.wait_behind(Escape::Backslash, at, reading);
    }

    /// Reads what follows a backslash: the character itself, `u002f`, `u{2f}`, `x2f` or the letter of a control character.
    fn escaped(&mut self, at: usize, character: char, reading: PartialMatch, read: PartialMatch) {
        let text = self.text;
        if let Some(end) = plain(text, at, character) {
            self.advance(end, read);
        }
        match text.get(at) {
            Some(b'u' | b'U') => {
                let ends = [braced(text, at + 1, character), self.units(at + 1, character)];
                ends.into_iter().flatten().for_each(|end| self.advance(end, read));
                if hexadecimal(text, at + 1, 4).is_some_and(|value| same(value, '&')) {
                    self.wait_behind(Escape::Ampersand, at + 5, reading);
                }
            }
            Some(b'x' | b'X') if hexadecimal(text, at + 1, 2).is_some_and(|value| same(value, character)) => {
                self.advance(at + 3, read);
            }
            Some(letter) if control(*letter) == Some(character) => self.advance(at + 1, read),
            _ => {}
        }
        if matches!(character, '\\' | '%')
            && let Some(next) = backslash(text, at)
        {
            self.wait_behind(Escape::Backslash, next, reading);
        }
    }

    /// `002f`, and two such units with backslashes between them for a character that needs both.
    fn units(&mut self, at: usize, character: char) -> Option<usize> {
        let mut buffer = [0; 2];
        let units = character.encode_utf16(&mut buffer);
        let first = hexadecimal(self.text, at, 4)?;
        if let [high, low] = *units {
            let next = Some(self.run_end(at + 4)).filter(|end| first == u32::from(high) && *end > at + 4)?;
            let second = self.text.get(next).filter(|byte| byte.eq_ignore_ascii_case(&b'u'));
            let unit = second.and(hexadecimal(self.text, next + 1, 4));
            return unit.filter(|unit| *unit == u32::from(low)).map(|_| next + 5);
        }
        same(first, character).then_some(at + 4)
    }

    /// `quot;`, `#34;`, `#x22;`, `amp;quot;` and so on, behind an ampersand.
    fn entity(&mut self, at: usize, character: char, reading: PartialMatch, read: PartialMatch) {
        let rest = self.text.get(at..).unwrap_or_default();
        if let Some(digits) = rest.strip_prefix(b"#") {
            let (digits, radix) = match digits {
                [b'x' | b'X', digits @ ..] => (digits, 16),
                digits => (digits, 10),
            };
            let is_digit = |byte: &u8| char::from(*byte).is_digit(radix);
            let length = digits.iter().take(9).take_while(|byte| is_digit(byte)).count();
            let number = std::str::from_utf8(&digits[..length]).ok();
            let value = number.and_then(|number| u32::from_str_radix(number, radix).ok());
            if value.is_some_and(|value| same(value, character)) {
                let end = self.text.len() - digits.len() + length;
                self.advance(end + usize::from(self.text.get(end) == Some(&b';')), read);
            }
        }
        for (name, _) in ENTITIES.iter().filter(|(name, meant)| *meant == character && rest.starts_with(name))
        {
            self.advance(at + name.len(), read);
        }
        if rest.starts_with(b"amp;") {
            self.wait_behind(Escape::Ampersand, at + 4, reading);
        }
    }

    /// Percent-encoding at a place; cached, because many patterns are read at the same place.
    fn percent_at(&mut self, at: usize) -> Option<Percent> {
        if self.percent.is_none_or(|(known, _)| known != at) {
            let encoded = percent(self.text, at);
            self.count(encoded.map_or(1, |encoded| (encoded.end - at) / 2));
            self.percent = Some((at, encoded));
        }
        self.percent.and_then(|(_, encoded)| encoded)
    }

    /// Whether a backslash begins here that is not the first of its run. A match from here on also begins at the start of the run.
    fn is_within_run(&mut self, at: usize) -> bool {
        let within = self.boundary == at && at > 0;
        match backslash(self.text, at) {
            Some(next) => {
                self.count((next - at).div_ceil(2));
                self.boundary = next;
                within
            }
            None => false,
        }
    }

    /// The end of the run of backslashes that begins here. Readings come from left to right, so each run is measured once.
    fn run_end(&mut self, at: usize) -> usize {
        if !self.run.contains(&at) {
            let mut end = at;
            while let Some(next) = backslash(self.text, end) {
                self.count((next - end).div_ceil(2));
                end = next;
            }
            self.run = at..end;
        }
        self.run.end.max(at)
    }

    #[cfg(test)]
    fn count(&mut self, steps: usize) {
        self.found.steps += steps;
    }

    #[cfg(not(test))]
    fn count(&mut self, _: usize) {}
}

const ENTITIES: [(&[u8], char); 12] = [
    (b"amp;", '&'),
    (b"lt;", '<'),
    (b"gt;", '>'),
    (b"quot;", '"'),
    (b"apos;", '\''),
    (b"sol;", '/'),
    (b"bsol;", '\\'),
    (b"plus;", '+'),
    (b"equals;", '='),
    (b"percnt;", '%'),
    (b"num;", '#'),
    (b"nbsp;", ' '),
];

/// Whether this may be the rest of an entity, behind its ampersand.
fn begins_entity(rest: &[u8]) -> bool {
    rest.first() == Some(&b'#') || ENTITIES.iter().any(|(name, _)| rest.starts_with(name))
}

/// A byte in percent-encoding.
#[derive(Clone, Copy)]
struct Percent {
    value: u8,
    end: usize,
}

/// The end of a character that is spelt as it is, in either case.
fn plain(text: &[u8], at: usize, character: char) -> Option<usize> {
    let mut buffer = [0; 4];
    let wanted = character.encode_utf8(&mut buffer).as_bytes();
    let end = at + wanted.len();
    text.get(at..end).filter(|found| found.eq_ignore_ascii_case(wanted)).map(|_| end)
}

/// `%2F`, `%252F` and so on.
fn percent(text: &[u8], at: usize) -> Option<Percent> {
    let mut at = Some(at).filter(|at| text.get(*at) == Some(&b'%'))? + 1;
    let mut last = None;
    while let Some(value) = hexadecimal(text, at, 2).and_then(|value| u8::try_from(value).ok()) {
        at += 2;
        last = Some(Percent { value, end: at });
        if value != b'%' {
            break;
        }
    }
    last
}

/// The end of a percent-encoded character whose first byte is `first`.
fn in_percent(text: &[u8], first: Percent, character: char) -> Option<usize> {
    let mut buffer = [0; 4];
    let (head, rest) = character.encode_utf8(&mut buffer).as_bytes().split_first()?;
    let first = Some(first).filter(|first| first.value.eq_ignore_ascii_case(head))?;
    rest.iter().try_fold(first.end, |at, wanted| {
        percent(text, at).filter(|encoded| encoded.value == *wanted).map(|encoded| encoded.end)
    })
}

fn control(letter: u8) -> Option<char> {
    Some(match letter {
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'0' => '\0',
        _ => return None,
    })
}

/// `{2f}`, as Rust writes it.
fn braced(text: &[u8], at: usize, character: char) -> Option<usize> {
    let rest = text.get(at..)?.strip_prefix(b"{")?;
    let length = rest.iter().take(7).position(|byte| *byte == b'}')?;
    let value = hexadecimal(text, at + 1, length)?;
    same(value, character).then_some(at + length + 2)
}

/// The end of a backslash, plain or percent-encoded.
fn backslash(text: &[u8], at: usize) -> Option<usize> {
    match text.get(at)? {
        b'\\' => Some(at + 1),
        b'%' => percent(text, at).filter(|encoded| encoded.value == b'\\').map(|encoded| encoded.end),
        _ => None,
    }
}

fn hexadecimal(text: &[u8], at: usize, digits: usize) -> Option<u32> {
    let digits = text.get(at..at + digits)?;
    let digits = digits.iter().all(u8::is_ascii_hexdigit).then_some(digits)?;
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

fn same(value: u32, character: char) -> bool {
    char::from_u32(value).is_some_and(|found| found.eq_ignore_ascii_case(&character))
}
