// SPDX-License-Identifier: MIT OR Apache-2.0

//! Checks names that were read from a device.
//!
//! A slash, a NUL, or the name `..` would lead a path elsewhere.

/// Whether an entry can have this name.
///
/// It is not empty, has no slash and no NUL, and is neither `.` nor `..`
/// (`verify_dirent_name`, fs/readdir.c).
#[inline]
#[must_use]
pub fn is_entry_name(name: &[u8]) -> bool {
    !matches!(name, b"" | b"." | b"..") && !has_slash_or_nul(name)
}

/// Whether a name cannot be one component of a path.
///
/// It looks at eight bytes at once. Byte by byte, it would take longer than
/// everything else about an entry.
#[inline]
#[must_use]
pub fn has_slash_or_nul(name: &[u8]) -> bool {
    let Some(&last) = name.last_chunk() else {
        return slashes_or_nuls(short_word(name)) != 0;
    };
    let (words, _) = name.as_chunks();
    // The last eight overlap what was looked at before.
    let is_bad = |word: &[u8; 8]| slashes_or_nuls(u64::from_ne_bytes(*word)) != 0;
    is_bad(&last) || words.iter().any(is_bad)
}

/// Returns a word of the bytes of a name of less than eight, some of them twice.
#[inline]
fn short_word(name: &[u8]) -> u64 {
    if let (Some(&first), Some(&last)) = (name.first_chunk(), name.last_chunk()) {
        return u64::from(u32::from_ne_bytes(first)) << 32 | u64::from(u32::from_ne_bytes(last));
    }
    let any = u64::from_ne_bytes([b'.'; 8]);
    name.iter()
        .fold(any, |word, &byte| word << 8 | u64::from(byte))
}

/// Returns zero if and only if no byte is a slash or NUL.
#[inline]
fn slashes_or_nuls(word: u64) -> u64 {
    nuls(word) | nuls(word ^ u64::from_ne_bytes([b'/'; 8]))
}

/// Finds the lowest byte that is zero: the lowest bit of the answer is its highest bit.
///
/// The subtraction borrows from the highest bit of a byte only where that byte, or one
/// below it, is zero.
#[inline]
#[must_use]
pub fn nuls(word: u64) -> u64 {
    word.wrapping_sub(u64::from_ne_bytes([0x01; 8])) & !word & u64::from_ne_bytes([0x80; 8])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slashes_and_nuls_are_found_wherever_they_stand() {
        for length in 0..40 {
            // 0x01 and 0x30 are what a borrow from the byte below would be taken for.
            for fill in [b'a', 0x01, 0x30, 0x80, 0xAF, 0xFF] {
                let mut name = vec![fill; length];
                assert!(!has_slash_or_nul(&name), "{name:?}");
                for place in 0..length {
                    for bad in [b'/', 0] {
                        name[place] = bad;
                        assert!(has_slash_or_nul(&name), "{name:?}");
                    }
                    name[place] = fill;
                }
            }
        }
    }

    #[test]
    fn dots_and_nothing_are_no_names() {
        for name in [&b""[..], b".", b"..", b"a/b", b"../a", b"a\0"] {
            assert!(!is_entry_name(name), "{name:?}");
        }
        for name in [&b"..."[..], b".a", b"a.", b"\n", b"\xff"] {
            assert!(is_entry_name(name), "{name:?}");
        }
    }
}
