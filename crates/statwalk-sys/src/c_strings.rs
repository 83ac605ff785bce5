// SPDX-License-Identifier: MIT OR Apache-2.0

//! Many C strings in one piece of memory.

use std::ffi::CStr;

/// C strings, one after another.
///
/// A string is looked for no NUL when it is taken out: it had one at its end when it came,
/// and nothing changes it here.
///
/// # Examples
///
/// ```
/// use statwalk_sys::c_strings::CStrings;
///
/// let mut names = CStrings::default();
/// names.push(c"one");
/// names.push(c"");
/// assert_eq!((names.get(0), names.get(1)), (c"one", c""));
/// assert_eq!(names.len(), 2);
/// ```
#[derive(Clone, Debug, Default)]
pub struct CStrings {
    /// The strings, each with its NUL.
    bytes: Vec<u8>,
    /// The end of each string, behind its NUL.
    ends: Vec<usize>,
}

impl CStrings {
    /// Adds a string.
    #[inline]
    pub fn push(&mut self, string: &CStr) {
        self.bytes.extend_from_slice(string.to_bytes_with_nul());
        self.ends.push(self.bytes.len());
    }

    /// The string with a number; they count from 0.
    ///
    /// # Panics
    ///
    /// Panics if there is no such string.
    #[inline]
    #[must_use]
    pub fn get(&self, index: usize) -> &CStr {
        let end = self.ends[index];
        let start = match index {
            0 => 0,
            _ => self.ends[index - 1],
        };
        let bytes = &self.bytes[start..end];
        // SAFETY: `ends` and `bytes` change in `push` and `clear` alone. So these are the
        // bytes of one `CStr` that was pushed: a NUL at the end, and none before.
        unsafe { CStr::from_bytes_with_nul_unchecked(bytes) }
    }

    /// The number of strings.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Drops all strings, and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_string_comes_back() {
        let mut strings = CStrings::default();
        assert!(strings.is_empty());
        let pushed = [c"a", c"", c"\xff\n", c"", c"a longer one"];
        pushed.iter().for_each(|string| strings.push(string));
        for (index, string) in pushed.iter().enumerate() {
            assert_eq!(&strings.get(index), string);
        }
        strings.clear();
        strings.push(c"b");
        assert_eq!((strings.get(0), strings.len()), (c"b", 1));
    }

    #[test]
    #[should_panic(expected = "index out of bounds")]
    fn a_string_that_is_not_there_is_no_string() {
        let mut strings = CStrings::default();
        strings.push(c"a");
        let _ = strings.get(1);
    }
}
