// SPDX-License-Identifier: MIT OR Apache-2.0

//! The extension of a name, in a form that costs no memory.

/// How long an extension can be.
const BYTES_MAX: usize = 16;

/// What follows the last dot of a name, in lower case; empty where there is none.
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

#[cfg(test)]
mod tests {
    use super::*;

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
