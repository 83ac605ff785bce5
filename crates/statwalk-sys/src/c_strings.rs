// SPDX-License-Identifier: MIT OR Apache-2.0

//! C strings in pieces of memory.

use std::ffi::CStr;

/// The C string at the start of the bytes; absent if they hold no NUL.
///
/// As `CStr::from_bytes_until_nul`, which looks at one byte after another. This is memchr(3)
/// of the C library.
///
/// # Examples
///
/// ```
/// use statwalk_sys::c_strings::first;
///
/// assert_eq!(first(b"one\0two\0"), Some(c"one"));
/// assert_eq!(first(b"one"), None);
/// ```
#[inline]
#[must_use]
pub fn first(bytes: &[u8]) -> Option<&CStr> {
    let start = bytes.as_ptr();
    // SAFETY: memchr reads at most the `len` bytes of the slice.
    let nul = unsafe { libc::memchr(start.cast(), 0, bytes.len()) };
    if nul.is_null() {
        return None;
    }
    let length = nul.addr() - start.addr();
    // SAFETY: the NUL that was found is the first, and the last byte of this slice.
    Some(unsafe { CStr::from_bytes_with_nul_unchecked(&bytes[..=length]) })
}

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
    fn the_first_string_is_that_of_the_library() {
        for bytes in [
            &b""[..],
            b"\0",
            b"a",
            b"a\0",
            b"a\0b\0",
            b"\0a",
            &[b'x'; 300],
        ] {
            assert_eq!(first(bytes), CStr::from_bytes_until_nul(bytes).ok());
        }
        let long = [&[0xFF; 300][..], b"\0", &[1; 40]].concat();
        for start in 0..=300 {
            let found = first(&long[start..]).unwrap();
            assert_eq!(found.count_bytes(), 300 - start);
        }
    }

    #[test]
    #[should_panic(expected = "index out of bounds")]
    fn a_string_that_is_not_there_is_no_string() {
        let mut strings = CStrings::default();
        strings.push(c"a");
        let _ = strings.get(1);
    }
}
