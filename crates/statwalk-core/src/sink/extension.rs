// SPDX-License-Identifier: MIT OR Apache-2.0

//! The extension of a name, in a form that costs no memory.

/// How long an extension can be.
const BYTES_MAX: usize = 16;

/// The part of a name behind its last dot, in lower case; empty where there is none.
///
/// A leading dot does not begin an extension, and neither does a dot before
/// more than 16 bytes or anything but letters, digits and `_ - +`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Extension {
    /// Its bytes, the last in the lowest; none of them is zero.
    bytes: u128,
}

impl Extension {
    const NONE: Extension = Extension { bytes: 0 };

    #[inline]
    pub(super) fn of(name: &[u8]) -> Extension {
        let mut bytes = 0;
        let nearest = name.iter().enumerate().rev().take(BYTES_MAX + 1);
        for ((at, &byte), shift) in nearest.zip((0..).step_by(8)) {
            match byte {
                // The name of a root is a path.
                b'.' if at > 0 && name[at - 1] != b'/' => return Extension { bytes },
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-' | b'+' if shift < 128 => {
                    bytes |= u128::from(byte.to_ascii_lowercase()) << shift;
                }
                _ => break,
            }
        }
        Extension::NONE
    }

    pub(super) fn to_vec(self) -> Vec<u8> {
        let bytes = self.bytes.to_be_bytes();
        let start = bytes.iter().position(|&byte| byte != 0);
        bytes[start.unwrap_or(BYTES_MAX)..].to_vec()
    }
}

/// The last dot of a name and the bytes behind it, as they stand, up to eight in all.
/// Names that end alike have the same extension, so it need not be computed again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ending {
    /// The last byte in the lowest; above the dot all are zero.
    bytes: u64,
}

impl Ending {
    /// No name has it.
    pub(super) const NONE: Ending = Ending { bytes: 0 };

    /// Absent where the last dot stands further away, begins the name, or the name
    /// is short.
    #[inline]
    pub(super) fn of(name: &[u8]) -> Option<Ending> {
        const EACH: u64 = u64::MAX / 255;
        // One byte before the dot is wanted in any case.
        let &[_, ref last @ ..] = name.last_chunk::<9>()?;
        let bytes = u64::from_be_bytes(*last);
        // The lowest byte that is zero, without a branch for each: a borrow can only
        // touch bytes above it.
        let without_dots = bytes ^ (EACH * u64::from(b'.'));
        let dots = without_dots.wrapping_sub(EACH) & !without_dots & (EACH << 7);
        let after = dots.trailing_zeros() as usize / 8;
        let before = name[name.len().checked_sub(after + 2)?];
        (dots != 0 && before != b'/').then(|| Ending {
            bytes: bytes & (dots ^ (dots - 1)),
        })
    }

    /// A number below two to this power, the same for the same ending.
    #[inline]
    pub(super) fn slot(self, power: u32) -> usize {
        // The golden ratio: neighbours fall far from each other.
        (self.bytes.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - power)) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_tell_extensions() {
        let of = |name: &str| Ending::of(name.as_bytes());
        for (name, like) in [
            ("long name.txt", "other name.txt"),
            ("archive.tar.gz", "something.gz"),
            ("a longer name.", "no other."),
            ("a...........", "bbbbbbbbbbb."),
            ("12345678.x", "abcdefgh.x"),
            ("1.2345678", "9.9.9.9.9.2345678"),
        ] {
            assert_eq!(of(name), of(like), "{name}");
            let extensions = [name, like].map(|name| Extension::of(name.as_bytes()));
            assert_eq!(extensions[0], extensions[1], "{name}");
        }
        for name in [
            "",
            "a.txt",
            "no dot at all",
            "1.23456789",
            "in/.hidden",
            "etc/.x",
            "in a/.bashrc",
        ] {
            assert_eq!(of(name), None, "{name}");
        }
        assert_eq!(
            of("in a.b/x.c").unwrap().bytes,
            u64::from_be_bytes(*b"\0\0\0\0\0\0.c")
        );
        assert_ne!(of("long name.txt"), of("long name.tXt"));
        assert!((0..1 << 16).all(|bytes| Ending { bytes }.slot(6) < 64));
    }

    #[test]
    fn extensions_are_what_people_call_so() {
        for (name, expected) in [
            ("a.TXT", "txt"),
            (".bashrc", ""),
            (".config.json", "json"),
            ("archive.tar.gz", "gz"),
            ("no", ""),
            ("", ""),
            ("ends.", ""),
            ("a.b c", ""),
            ("lib.so", "so"),
            ("dir.d/.bashrc", ""),
            ("dir.d/a.c", "c"),
            ("dir.d/a", ""),
            ("a.0123456789-_+xYz", "0123456789-_+xyz"),
            ("a.0123456789-_+xYz0", ""),
        ] {
            let found = Extension::of(name.as_bytes()).to_vec();
            assert_eq!(found, expected.as_bytes(), "{name}");
        }
    }
}
