use std::ops::Range;

use serde::de::{DeserializeOwned, IgnoredAny};

use super::archive::{ArchiveError, without_content};

/// Finds the values of a JSON text one after the other, without keeping any of them.
pub(super) struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
        let at = if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
        Self { text, at }
    }

    /// Calls `each` with the name of each member of the object that begins here; it moves behind the value.
    pub(super) fn members(
        &mut self,
        mut each: impl FnMut(&mut Self, &str) -> Result<(), ArchiveError>,
    ) -> Result<(), ArchiveError> {
        self.list(b'{', b'}', |scanner| {
            let name: String = scanner.value()?;
            scanner.expect(b":")?;
            each(scanner, &name)
        })
    }

    /// Calls `each` at each item of the list that begins here; it moves behind the item.
    pub(super) fn items(
        &mut self,
        each: impl FnMut(&mut Self) -> Result<(), ArchiveError>,
    ) -> Result<(), ArchiveError> {
        self.list(b'[', b']', each)
    }

    /// Moves behind the value that begins here, and returns where it is.
    pub(super) fn place(&mut self) -> Result<Range<usize>, ArchiveError> {
        self.peek();
        let begin = self.at;
        self.value::<IgnoredAny>()?;
        Ok(begin..self.at)
    }

    /// Nothing may follow.
    pub(super) fn end(&mut self) -> Result<(), ArchiveError> {
        if self.peek().is_some() { Err(self.wrong("expected the end")) } else { Ok(()) }
    }

    /// An error at this place.
    pub(super) fn wrong(&self, message: &str) -> ArchiveError {
        self.error((1, 1), message.to_owned())
    }

    fn list(
        &mut self,
        open: u8,
        close: u8,
        mut each: impl FnMut(&mut Self) -> Result<(), ArchiveError>,
    ) -> Result<(), ArchiveError> {
        self.expect(&[open])?;
        if self.peek() == Some(close) {
            self.at += 1;
            return Ok(());
        }
        loop {
            each(self)?;
            if self.expect(&[b',', close])? == close {
                return Ok(());
            }
        }
    }

    fn value<T: DeserializeOwned>(&mut self) -> Result<T, ArchiveError> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let mut values = serde_json::Deserializer::from_slice(rest).into_iter();
        match values.next() {
            Some(Ok(value)) => {
                self.at += values.byte_offset();
                Ok(value)
            }
            Some(Err(error)) => Err(self.error((error.line(), error.column()), without_content(&error))),
            None => Err(self.wrong("EOF while parsing a value")),
        }
    }

    /// Moves behind the next character but for white space, which must be one of these.
    fn expect(&mut self, expected: &[u8]) -> Result<u8, ArchiveError> {
        match self.peek() {
            Some(found) if expected.contains(&found) => {
                self.at += 1;
                Ok(found)
            }
            found => {
                let expected: Vec<String> =
                    expected.iter().map(|byte| format!("`{}`", char::from(*byte))).collect();
                let end = if found.is_none() { ", found the end" } else { "" };
                Err(self.wrong(&format!("expected {}{end}", expected.join(" or "))))
            }
        }
    }

    /// The next character but for white space.
    fn peek(&mut self) -> Option<u8> {
        loop {
            match *self.text.get(self.at)? {
                b' ' | b'\t' | b'\r' | b'\n' => self.at += 1,
                byte => return Some(byte),
            }
        }
    }

    /// An error at a line and a column, from 1, of the text that begins here.
    fn error(&self, (line, column): (usize, usize), message: String) -> ArchiveError {
        let before = self.text.get(..self.at).unwrap_or_default();
        let begin = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let lines = before.iter().filter(|byte| **byte == b'\n').count();
        let column = if line > 1 { column } else { column + (self.at - begin) };
        ArchiveError::Form { line: line + lines, column, message }
    }
}
