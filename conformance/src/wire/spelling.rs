//! The ways in which a text may spell a character: as it is, in percent-encoding, with a backslash as JSON and programming
//! languages do, as an entity of HTML, each of them mixed with the others and encoded again and again.

/// Whether some spelling of a character may begin with a byte.
pub(super) fn may_begin(byte: u8, character: Option<char>) -> bool {
    let Some(character) = character else { return false };
    let mut buffer = [0; 4];
    let first = character.encode_utf8(&mut buffer).as_bytes()[0];
    first.eq_ignore_ascii_case(&byte) || b"%\\&".contains(&byte) || (byte == b'+' && character == ' ')
}

/// Where a spelling of these characters that begins at `at` ends; the longest one.
pub(super) fn end_of(text: &[u8], at: usize, characters: &[char]) -> Option<usize> {
    // Up to the first byte that may introduce another spelling there is one reading only.
    let (mut at, mut characters) = (at, characters);
    while let [character, rest @ ..] = characters {
        if text.get(at).is_none_or(|byte| INTRODUCERS.contains(byte)) {
            break;
        }
        (at, characters) = (plain(text, at, *character)?, rest);
    }
    several_ends_of(text, at, characters)
}

/// Bytes with which a character may begin that it does not have itself.
const INTRODUCERS: &[u8] = b"%\\&+";

fn several_ends_of(text: &[u8], at: usize, characters: &[char]) -> Option<usize> {
    if characters.is_empty() {
        return Some(at);
    }
    let mut ends = vec![at];
    for character in characters {
        let mut next = Vec::new();
        for at in ends {
            spellings(text, at, *character, &mut next);
        }
        next.sort_unstable();
        next.dedup();
        if next.is_empty() {
            return None;
        }
        ends = next;
    }
    ends.last().copied()
}

/// Puts down where each spelling of one character ends.
fn spellings(text: &[u8], at: usize, character: char, ends: &mut Vec<usize>) {
    ends.extend(plain(text, at, character));
    match text.get(at) {
        Some(b'+') if character == ' ' => ends.push(at + 1),
        Some(b'%') => {
            percent(text, at, character, ends);
            // An encoded introducer of the other two.
            escaped(text, at, character, ends);
            entity(text, at, character, ends);
        }
        Some(b'\\') => {
            escaped(text, at, character, ends);
            entity(text, at, character, ends);
        }
        Some(b'&') => entity(text, at, character, ends),
        _ => {}
    }
}

/// Letter case is ignored.
fn plain(text: &[u8], at: usize, character: char) -> Option<usize> {
    let mut buffer = [0; 4];
    let wanted = character.encode_utf8(&mut buffer).as_bytes();
    let end = at + wanted.len();
    text.get(at..end).filter(|found| found.eq_ignore_ascii_case(wanted)).map(|_| end)
}

/// `%2F`, `%252F` and so on, for each byte of the character.
fn percent(text: &[u8], at: usize, character: char, ends: &mut Vec<usize>) {
    let mut buffer = [0; 4];
    let mut reached = vec![at];
    for byte in character.encode_utf8(&mut buffer).bytes() {
        let either = [byte.to_ascii_lowercase(), byte.to_ascii_uppercase()];
        let mut next = Vec::new();
        for at in reached {
            let Some(b'%') = text.get(at) else { continue };
            let mut at = at + 1;
            while let Some(value) = hexadecimal(text, at, 2) {
                if either.iter().any(|byte| u32::from(*byte) == value) {
                    next.push(at + 2);
                }
                if value != u32::from(b'%') {
                    break;
                }
                at += 2;
            }
        }
        reached = next;
    }
    ends.append(&mut reached);
}

/// A run of backslashes before the character itself, `u002f`, `u{2f}`, `x2f` or one letter of a control character.
fn escaped(text: &[u8], at: usize, character: char, ends: &mut Vec<usize>) {
    let mut at = at;
    while let Some(next) = backslash(text, at) {
        at = next;
        ends.extend(plain(text, at, character));
        match text.get(at) {
            Some(b'u' | b'U') => {
                ends.extend(braced(text, at + 1, character));
                ends.extend(units(text, at + 1, character));
            }
            Some(b'x' | b'X') if hexadecimal(text, at + 1, 2).is_some_and(|value| same(value, character)) => {
                ends.push(at + 3);
            }
            Some(letter) => {
                let control = match letter {
                    b'n' => '\n',
                    b'r' => '\r',
                    b't' => '\t',
                    b'b' => '\u{8}',
                    b'f' => '\u{c}',
                    b'0' => '\0',
                    _ => continue,
                };
                if control == character {
                    ends.push(at + 1);
                }
            }
            None => {}
        }
    }
}

/// `002f`, and two such units with a backslash between them for a character that needs both.
fn units(text: &[u8], at: usize, character: char) -> Option<usize> {
    let mut buffer = [0; 2];
    let units = character.encode_utf16(&mut buffer);
    let first = hexadecimal(text, at, 4)?;
    if let [high, low] = *units {
        let mut next = backslash(text, at + 4).filter(|_| first == u32::from(high))?;
        while let Some(after) = backslash(text, next) {
            next = after;
        }
        let second = text.get(next).filter(|byte| byte.eq_ignore_ascii_case(&b'u'));
        return second
            .and(hexadecimal(text, next + 1, 4))
            .filter(|unit| *unit == u32::from(low))
            .map(|_| next + 5);
    }
    same(first, character).then_some(at + 4)
}

/// `{2f}`, as Rust writes it.
fn braced(text: &[u8], at: usize, character: char) -> Option<usize> {
    let rest = text.get(at..)?.strip_prefix(b"{")?;
    let length = rest.iter().take(7).position(|byte| *byte == b'}')?;
    let value = hexadecimal(text, at + 1, length)?;
    same(value, character).then_some(at + length + 2)
}

/// `&quot;`, `&#34;`, `&#x22;`, `&amp;quot;` and so on.
fn entity(text: &[u8], at: usize, character: char, ends: &mut Vec<usize>) {
    const NAMES: [(&[u8], char); 12] = [
        (b"amp", '&'),
        (b"lt", '<'),
        (b"gt", '>'),
        (b"quot", '"'),
        (b"apos", '\''),
        (b"sol", '/'),
        (b"bsol", '\\'),
        (b"plus", '+'),
        (b"equals", '='),
        (b"percnt", '%'),
        (b"num", '#'),
        (b"nbsp", ' '),
    ];
    let Some(mut at) = ampersand(text, at) else { return };
    loop {
        let rest = text.get(at..).unwrap_or_default();
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
                let end = text.len() - digits.len() + length;
                ends.push(end + usize::from(text.get(end) == Some(&b';')));
            }
        }
        let named = NAMES.iter().filter(|(_, meant)| *meant == character);
        for (name, _) in named {
            if rest.strip_prefix(*name).is_some_and(|rest| rest.starts_with(b";")) {
                ends.push(at + name.len() + 1);
            }
        }
        match rest.strip_prefix(b"amp;") {
            Some(_) => at += 4,
            None => return,
        }
    }
}

/// Behind one backslash, itself encoded or not.
fn backslash(text: &[u8], at: usize) -> Option<usize> {
    introducer(text, at, b'\\')
}

/// Behind an ampersand: as it is, in percent-encoding, or as JSON encoders write it that fear for HTML.
fn ampersand(text: &[u8], at: usize) -> Option<usize> {
    let plain = introducer(text, at, b'&');
    plain.or_else(|| {
        let mut next = backslash(text, at)?;
        while let Some(after) = backslash(text, next) {
            next = after;
        }
        let unit = text.get(next).filter(|byte| byte.eq_ignore_ascii_case(&b'u'));
        unit.and(hexadecimal(text, next + 1, 4)).filter(|value| same(*value, '&')).map(|_| next + 5)
    })
}

fn introducer(text: &[u8], at: usize, wanted: u8) -> Option<usize> {
    match text.get(at) {
        Some(byte) if *byte == wanted => Some(at + 1),
        Some(b'%') => {
            let mut ends = Vec::new();
            percent(text, at, char::from(wanted), &mut ends);
            ends.first().copied()
        }
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
