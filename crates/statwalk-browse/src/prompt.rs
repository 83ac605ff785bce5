// SPDX-License-Identifier: MIT OR Apache-2.0

//! A line of text that the user types.

use crate::event::Key;

/// A line of text, with its cursor at the end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) text: String,
}

impl Line {
    /// Takes a key. Answers whether it belongs to the text.
    pub(crate) fn take(&mut self, key: Key) -> bool {
        match key {
            Key::Char(c) if !c.is_control() => self.text.push(c),
            Key::Backspace => {
                self.text.pop();
            }
            Key::Ctrl('u') => self.text.clear(),
            Key::Ctrl('w') => {
                let kept = self.text.trim_end();
                let kept = kept.rfind(' ').map_or(0, |space| space + 1);
                self.text.truncate(kept);
            }
            _ => return false,
        }
        true
    }
}

impl Line {
    /// Takes a text from the clipboard, without control characters.
    pub(crate) fn paste(&mut self, text: &str) {
        self.text.extend(text.chars().filter(|c| !c.is_control()));
    }
}

/// The form of a filter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Form {
    pub(crate) fields: [Line; FIELDS.len()],
    pub(crate) place: usize,
    /// The reason why the texts have no meaning.
    pub(crate) error: Option<String>,
}

/// The fields of the form, each with an example.
pub(crate) const FIELDS: [(&str, &str); 6] = [
    ("Size", "+10M or -4K"),
    ("Changed within", "2d, 3 weeks or 2026-01-31"),
    ("Changed before", "1y or 2020-01-01"),
    ("Owner", "a name or a number"),
    ("Ending", "iso or tar.gz"),
    ("Name", "a part, or a pattern such as *.iso"),
];

impl Form {
    /// Takes a key. Answers whether it belongs to the form.
    pub(crate) fn take(&mut self, key: Key) -> bool {
        let last = self.fields.len() - 1;
        match key {
            Key::Up | Key::BackTab => self.place = self.place.checked_sub(1).unwrap_or(last),
            Key::Down | Key::Tab => self.place = (self.place + 1) % (last + 1),
            key => return self.fields[self.place].take(key),
        }
        true
    }

    pub(crate) fn texts(&self) -> Vec<String> {
        let trimmed = |line: &Line| line.text.trim().to_owned();
        self.fields.iter().map(trimmed).collect()
    }
}
