// SPDX-License-Identifier: MIT OR Apache-2.0

//! Names that are a letter and a number, so that a directory with millions of
//! them, or without end, stores none.

use crate::model::EntryType;

/// So many names that no test reaches the end.
const ENDLESS: u64 = 1 << 44;

/// Generated names of one directory, all of one type and size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub(super) parent: u64,
    pub(super) letter: Letter,
    pub(super) entry_type: EntryType,
    pub(super) size_bytes: u64,
    pub(super) count: u64,
    /// The others follow without gaps.
    pub(super) first_ino: u64,
}

/// The purpose of a run, and the letter its names begin with. A directory has at most
/// one run of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Letter {
    Dirs,
    Files,
    Endless,
    /// By which a directory grows; these have no [`Run`].
    Grown,
}

impl Letter {
    fn as_byte(self) -> u8 {
        match self {
            Letter::Dirs => b'd',
            Letter::Files => b'f',
            Letter::Endless => b'e',
            Letter::Grown => b'g',
        }
    }

    /// The `index`-th name.
    pub(super) fn name(self, index: u64) -> Vec<u8> {
        format!("{}{index:06}", char::from(self.as_byte())).into_bytes()
    }

    /// Takes a name apart, if it is spelled as a listing spells it.
    pub(super) fn parse(name: &[u8]) -> Option<(Letter, u64)> {
        let (&first, digits) = name.split_first()?;
        let index = std::str::from_utf8(digits).ok()?.parse().ok()?;
        [Letter::Dirs, Letter::Files, Letter::Endless, Letter::Grown]
            .into_iter()
            .find(|letter| letter.as_byte() == first && letter.name(index) == name)
            .map(|letter| (letter, index))
    }
}

impl Run {
    /// A run without end.
    pub(super) fn endless(parent: u64, entry_type: EntryType, first_ino: u64) -> Run {
        let letter = Letter::Endless;
        Run {
            parent,
            letter,
            entry_type,
            size_bytes: 0,
            count: ENDLESS,
            first_ino,
        }
    }

    pub(super) fn is_endless(&self) -> bool {
        self.letter == Letter::Endless
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_listed_spellings_are_names() {
        assert_eq!(Letter::parse(b"f000012"), Some((Letter::Files, 12)));
        assert_eq!(
            Letter::parse(b"e1234567"),
            Some((Letter::Endless, 1_234_567))
        );
        for name in ["", "f", "f12", "f+00012", "f0000012", "x000012", "F000012"] {
            assert_eq!(Letter::parse(name.as_bytes()), None, "{name:?}");
        }
    }
}
