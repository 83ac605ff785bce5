// SPDX-License-Identifier: MIT OR Apache-2.0

//! Checks names that were read from a device.
//!
//! A slash, a NUL, or the name `..` would lead a path elsewhere.

/// Whether an entry can have this name.
///
/// It is not empty, has no slash and no NUL, and is neither `.` nor `..`
/// (`verify_dirent_name`, fs/readdir.c).
#[inline]
pub(crate) fn is_entry_name(name: &[u8]) -> bool {
    !matches!(name, b"" | b"." | b"..") && !has_slash_or_nul(name)
}

/// Looks at eight bytes at once. Byte by byte, it would take longer than
/// everything else about an entry.
#[inline]
fn has_slash_or_nul(name: &[u8]) -> bool {
    let Some(&last) = name.last_chunk() else {
        return name.iter().any(|&byte| byte == b'/' || byte == 0);
    };
    let (words, _) = name.as_chunks();
    // The last eight bytes may overlap the last word: a second look is harmless.
    words
        .iter()
        .chain([&last])
        .fold(0, |found, &word| found | slashes_or_nuls(word))
        != 0
}

/// Zero if and only if no byte is a slash or NUL.
///
/// The subtraction borrows from the highest bit of a byte only if that byte, or a
/// lower one, is zero.
#[inline]
fn slashes_or_nuls(word: [u8; 8]) -> u64 {
    let zeros = |word: u64| {
        word.wrapping_sub(u64::from_ne_bytes([0x01; 8])) & !word & u64::from_ne_bytes([0x80; 8])
    };
    let word = u64::from_ne_bytes(word);
    zeros(word) | zeros(word ^ u64::from_ne_bytes([b'/'; 8]))
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
