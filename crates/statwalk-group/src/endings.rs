// SPDX-License-Identifier: MIT OR Apache-2.0

//! The answers for names with the same ending.

use std::fmt;

use crate::category::Category;
use crate::extension::{Ending, Extension};

/// How many endings are remembered, as a power of two.
const POWER: u32 = 6;

/// Answers that depend on the category and the extension of a name alone.
///
/// Most files of a tree end as one before did. It remembers the last of them, so that their
/// names need not be looked at again.
///
/// ```
/// use statwalk_group::{Category, Endings};
/// let mut endings = Endings::default();
/// let mut asked = 0;
/// for name in ["holiday.jpg", "birthday.jpg", "letter.odt", "winter.jpg"] {
///     let is_image = endings.of_name(name.as_bytes(), |category, _| {
///         asked += 1;
///         category == Category::Image
///     });
///     assert_eq!(is_image, name != "letter.odt");
/// }
/// assert_eq!(asked, 2);
/// ```
#[derive(Clone)]
pub struct Endings<T> {
    slots: [(Ending, T); 1 << POWER],
}

impl<T: Copy + Default> Default for Endings<T> {
    fn default() -> Endings<T> {
        Endings {
            slots: [(Ending::NONE, T::default()); 1 << POWER],
        }
    }
}

impl<T> fmt::Debug for Endings<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endings").finish_non_exhaustive()
    }
}

impl<T: Copy> Endings<T> {
    /// Returns the answer for a name, which can be a path.
    ///
    /// `new` gives it by [`Category::of_name`] and [`Extension::of_name`]. It must give the
    /// same for the same two, because it is not asked for each name.
    #[inline]
    pub fn of_name(&mut self, name: &[u8], new: impl FnOnce(Category, Extension) -> T) -> T {
        let ending = Ending::of(name);
        if let Some(known) = self.get(ending) {
            return known;
        }
        let last = Extension::last_of(name);
        let (category, extension) = Category::and_extension(name, last);
        let value = new(category, extension);
        self.keep(ending, last, value);
        value
    }

    /// The answer for an ending; absent where it is not remembered.
    #[inline]
    pub(crate) fn get(&self, ending: Option<Ending>) -> Option<T> {
        let ending = ending?;
        let (known, value) = self.slots[ending.slot(POWER)];
        (known == ending).then_some(value)
    }

    /// Remembers it, unless names with this last extension can differ.
    #[inline]
    pub(crate) fn keep(&mut self, ending: Option<Ending>, last: Extension, value: T) {
        if let Some(ending) = ending
            && !last.needs_the_one_before()
        {
            self.slots[ending.slot(POWER)] = (ending, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_what_each_alone_has() {
        let words = [
            "x",
            "notes",
            "libc.so",
            "a.b",
            "in/.hidden",
            "auth.log",
            "1",
        ];
        let ends = [
            "",
            ".txt",
            ".TXT",
            ".gz",
            ".tar.gz",
            ".log.2.gz",
            ".7",
            ".so.6",
            ".zst",
            ".rs",
            "~",
            ".log-20261101",
            ".é",
            ".superlongextension",
            ".",
        ];
        let mut endings = Endings::default();
        for _ in 0..2 {
            for (word, end) in words.iter().flat_map(|word| ends.map(|end| (word, end))) {
                let name = format!("{word}{end}");
                let found = endings.of_name(name.as_bytes(), |category, extension| {
                    Some((category, extension))
                });
                let alone = Category::and_extension_of_name(name.as_bytes());
                assert_eq!(found, Some(alone), "{name}");
            }
        }
    }
}
