// SPDX-License-Identifier: MIT OR Apache-2.0

//! The extension of a name, in a form that costs no memory.
//!
//! Some extensions need a look at the one before: `tar.gz`, `so.6`, `log.1`.
//! [`Parts`] has the rules.

use std::cmp::Ordering;

/// How long an extension can be.
const BYTES_MAX: usize = 16;

/// How short the date of a rotated log can be: year, month and day.
const DATE_BYTES_MIN: usize = 6;

/// The part of a name behind its last dot, in lower case; empty where there is none.
///
/// A leading dot does not begin an extension, and neither does a dot before
/// more than 16 bytes or anything but letters, digits and `_ - +`.
///
/// A compressed file keeps the extension before it where that is a tar, log, sql, json, csv,
/// cpio or ko, as in `tar.gz`. The numbers of shared libraries and of rotated logs do not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Extension {
    /// Its bytes, the last in the lowest; none of them is zero.
    bytes: u128,
}

/// The order of the bytes.
impl Ord for Extension {
    fn cmp(&self, other: &Extension) -> Ordering {
        let aligned = |one: &Extension| {
            let unused = one.bytes.leading_zeros() / 8 * 8;
            one.bytes.checked_shl(unused).unwrap_or(0)
        };
        aligned(self).cmp(&aligned(other))
    }
}

impl PartialOrd for Extension {
    fn partial_cmp(&self, other: &Extension) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Extension {
    pub(crate) const NONE: Extension = Extension { bytes: 0 };
    const SHARED_LIBRARY: Extension = Extension::new("so");
    const LOG: Extension = Extension::new("log");

    /// Returns the extension by which a name, or a path, is grouped.
    ///
    /// ```
    /// use statwalk_group::Extension;
    /// let text = |name: &str| Extension::of_name(name.as_bytes()).to_vec();
    /// assert_eq!(text("holiday.JPG"), b"jpg");
    /// assert_eq!(text("home.tar.gz"), b"tar.gz");
    /// assert_eq!(text("Makefile"), b"");
    /// ```
    #[must_use]
    pub fn of_name(name: &[u8]) -> Extension {
        Extension::with_last(name, Extension::last_of(name))
    }

    /// The extension that names are grouped by; `last` is the part behind the last dot.
    #[inline]
    pub(crate) fn with_last(name: &[u8], last: Extension) -> Extension {
        match last.needs_the_one_before() {
            true => Parts::with_last(name, last).extension(),
            false => last,
        }
    }

    /// The part behind the last dot alone.
    #[inline]
    pub(crate) fn last_of(name: &[u8]) -> Extension {
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

    /// An extension of this text, which is in lower case.
    pub(crate) const fn new(text: &str) -> Extension {
        let text = text.as_bytes();
        assert!(text.len() <= BYTES_MAX, "an extension has 16 bytes at most");
        let mut bytes = 0;
        let mut at = 0;
        while at < text.len() {
            bytes = bytes << 8 | text[at] as u128;
            at += 1;
        }
        Extension { bytes }
    }

    /// The four last bytes of a text that is as short.
    const fn short_new(text: &str) -> u32 {
        assert!(text.len() <= 4, "too long to be compared");
        Extension::new(text).bytes as u32
    }

    /// Whether names with this last extension can differ by those before.
    #[inline]
    pub(crate) fn needs_the_one_before(self) -> bool {
        let last = self.bytes as u8;
        // Most extensions end otherwise.
        matches!(last, b'0'..=b'9' | b'z' | b'a' | b't' | b'r' | b'o')
            && (self.is_compression() || self.is_number() || self.is_dated_log())
    }

    /// Its bytes, where it is as short as all that are compared here.
    #[inline]
    fn short(self) -> Option<u32> {
        u32::try_from(self.bytes).ok()
    }

    #[inline]
    fn is_compression(self) -> bool {
        self.short()
            .is_some_and(|text| COMPRESSIONS.contains(&text))
    }

    /// Whether it has digits alone, and any.
    pub(crate) fn is_number(self) -> bool {
        let mut rest = self.bytes;
        while let b'0'..=b'9' = rest as u8 {
            rest >>= 8;
        }
        rest == 0 && self != Extension::NONE
    }

    /// Whether logrotate made it with its option `dateext`: `log-20261101`.
    fn is_dated_log(self) -> bool {
        if self.byte_count() < b"log-".len() + DATE_BYTES_MIN {
            return false;
        }
        let text = self.to_vec();
        let date = text.strip_prefix(b"log-").unwrap_or_default();
        let is_of_date = |byte: &u8| byte.is_ascii_digit() || *byte == b'-';
        date.len() >= DATE_BYTES_MIN && date.iter().all(is_of_date)
    }

    fn byte_count(self) -> usize {
        BYTES_MAX - self.bytes.leading_zeros() as usize / 8
    }

    /// This one, a dot and another; absent where they are too long.
    fn join(self, last: Extension) -> Option<Extension> {
        let count = last.byte_count();
        (self.byte_count() + 1 + count <= BYTES_MAX).then(|| Extension {
            bytes: (self.bytes << 8 | u128::from(b'.')) << (8 * count) | last.bytes,
        })
    }

    /// Returns its bytes, which are ASCII; none where there is no extension.
    #[must_use]
    pub fn to_vec(self) -> Vec<u8> {
        let bytes = self.bytes.to_be_bytes();
        let start = bytes.iter().position(|&byte| byte != 0);
        bytes[start.unwrap_or(BYTES_MAX)..].to_vec()
    }
}

/// Extensions that say how a file is compressed (shared-mime-info 2.2: gzip, xz, zstd,
/// bzip2, lz4, lzma, lzip, lzop, compress and lrzip; brotli from its RFC 7932).
const COMPRESSIONS: [u32; 12] = [
    Extension::short_new("gz"),
    Extension::short_new("xz"),
    Extension::short_new("zst"),
    Extension::short_new("bz2"),
    Extension::short_new("lz4"),
    Extension::short_new("lzma"),
    Extension::short_new("lz"),
    Extension::short_new("lzo"),
    Extension::short_new("z"),
    Extension::short_new("bz"),
    Extension::short_new("lrz"),
    Extension::short_new("br"),
];

/// Extensions that stay in sight where a file is compressed.
const KEPT: [u32; 7] = [
    Extension::short_new("tar"),
    Extension::short_new("log"),
    Extension::short_new("sql"),
    Extension::short_new("json"),
    Extension::short_new("csv"),
    Extension::short_new("cpio"),
    Extension::short_new("ko"),
];

/// A name in parts: `x.log.2.gz` is a log, rotated and compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parts<'a> {
    /// The name without the extensions.
    pub(crate) stem: &'a [u8],
    /// The extension that says what a file holds. A number where it is not that of a
    /// shared library or a log.
    pub(crate) content: Extension,
    /// How it is compressed; empty where it is not.
    pub(crate) compression: Extension,
}

impl<'a> Parts<'a> {
    /// The parts of names with an extension that does not need the one before, without a
    /// stem.
    pub(crate) fn of_one(last: Extension) -> Parts<'a> {
        Parts {
            stem: b"",
            content: last,
            compression: Extension::NONE,
        }
    }

    /// The parts of a name whose last extension is known.
    pub(crate) fn with_last(name: &'a [u8], last: Extension) -> Parts<'a> {
        let stem = without(name, last);
        if !last.is_compression() {
            return Parts::of_uncompressed(stem, last);
        }
        let (stem, content) = split(stem);
        Parts {
            compression: last,
            ..Parts::of_uncompressed(stem, content)
        }
    }

    fn of_uncompressed(stem: &'a [u8], last: Extension) -> Parts<'a> {
        let parts = |stem, content| Parts {
            stem,
            content,
            compression: Extension::NONE,
        };
        let (mut before, mut content) = (stem, last);
        while content.is_number() {
            (before, content) = split(before);
        }
        match content {
            Extension::SHARED_LIBRARY | Extension::LOG => parts(before, content),
            dated if dated.is_dated_log() => parts(before, Extension::LOG),
            _ => parts(stem, last),
        }
    }

    /// The extension that names are grouped by.
    pub(crate) fn extension(self) -> Extension {
        let Parts {
            content,
            compression,
            ..
        } = self;
        if compression == Extension::NONE {
            return content;
        }
        let stays = content.short().is_some_and(|text| KEPT.contains(&text));
        let both = stays.then(|| content.join(compression)).flatten();
        both.unwrap_or(compression)
    }
}

/// A name without its last extension, and that extension.
fn split(name: &[u8]) -> (&[u8], Extension) {
    let end = &name[name.len().saturating_sub(BYTES_MAX + 1)..];
    match end.contains(&b'.') {
        true => {
            let last = Extension::last_of(name);
            (without(name, last), last)
        }
        false => (name, Extension::NONE),
    }
}

/// A name without its last extension.
fn without(name: &[u8], last: Extension) -> &[u8] {
    match last {
        Extension::NONE => name,
        last => &name[..name.len() - last.byte_count() - 1],
    }
}

/// The last dot of a name and the bytes behind it, as they stand, up to eight in all.
/// Names that end alike have the same last extension, so it need not be computed again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ending {
    /// The last byte in the lowest; above the dot all are zero.
    bytes: u64,
}

impl Ending {
    /// No name has it.
    pub(crate) const NONE: Ending = Ending { bytes: 0 };

    /// Absent where the last dot stands further away, begins the name, or the name
    /// is short.
    #[inline]
    pub(crate) fn of(name: &[u8]) -> Option<Ending> {
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
    pub(crate) fn slot(self, power: u32) -> usize {
        // The golden ratio: neighbours fall far from each other.
        (self.bytes.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - power)) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str) -> String {
        let name = name.as_bytes();
        let found = Extension::with_last(name, Extension::last_of(name)).to_vec();
        String::from_utf8(found).expect("extensions are ASCII")
    }

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
            let extensions = [name, like].map(|name| Extension::last_of(name.as_bytes()));
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
            assert_eq!(of(name), expected, "{name}");
        }
    }

    #[test]
    fn extensions_that_need_the_one_before() {
        for (name, expected) in [
            ("archive.tar.gz", "tar.gz"),
            ("ARCHIVE.TAR.XZ", "tar.xz"),
            ("a.tar.zst", "tar.zst"),
            ("a.tar.bz2", "tar.bz2"),
            ("a.tar.Z", "tar.z"),
            (".tar.gz", "gz"),
            ("dir.d/.tar.gz", "gz"),
            ("dump.sql.lzma", "sql.lzma"),
            ("loop.ko.xz", "ko.xz"),
            ("bash.1.gz", "gz"),
            ("picture.svg.gz", "gz"),
            ("a.0123456789abcde.gz", "gz"),
            ("libc.so.6", "so"),
            ("libpython3.11.so.1.0", "so"),
            ("libicudata.so.72.1.2", "so"),
            ("libold.so.1.gz", "gz"),
            ("so.6", "6"),
            (".so.6", "6"),
            ("dir/.so.6", "6"),
            ("python3.11", "11"),
            ("1.2.3.4", "4"),
            ("bash.1", "1"),
            ("auth.log", "log"),
            ("auth.log.1", "log"),
            ("auth.log.2.gz", "log.gz"),
            ("auth.log-20261101", "log"),
            ("auth.log-20261101.gz", "log.gz"),
            ("auth.log-20261101.1", "log"),
            ("auth.log-", "log-"),
            ("auth.log-backup", "log-backup"),
            ("syslog.1", "1"),
            ("x.gzip", "gzip"),
            ("x.graz", "graz"),
        ] {
            assert_eq!(of(name), expected, "{name}");
        }
    }

    #[test]
    fn an_extension_that_stands_alone_is_known_by_its_last_byte() {
        for compression in COMPRESSIONS {
            let bytes = compression.into();
            assert!(Extension { bytes }.needs_the_one_before());
        }
        for alone in ["txt", "o", "a", "so", "rar", "jar", "log", "1st", ""] {
            assert!(!Extension::new(alone).needs_the_one_before(), "{alone}");
        }
    }

    #[test]
    fn extensions_have_the_order_of_their_bytes() {
        let mut words = [
            "txt",
            "",
            "c",
            "tar.gz",
            "0123456789-_+xyz",
            "cc",
            "ta",
            "z",
        ];
        words.sort_unstable();
        assert!(words.map(Extension::new).is_sorted());
    }

    #[test]
    fn parts_of_a_name() {
        let check = |name: &str, stem: &str, content, compression| {
            let expected = Parts {
                stem: stem.as_bytes(),
                content: Extension::new(content),
                compression: Extension::new(compression),
            };
            let last = Extension::last_of(name.as_bytes());
            let parts = Parts::with_last(name.as_bytes(), last);
            assert_eq!(parts, expected, "{name}");
        };
        check("bash.1.gz", "bash", "1", "gz");
        check("a.b.c", "a.b", "c", "");
        check("x.log.2.gz", "x", "log", "gz");
        check("libc.so.6", "libc", "so", "");
        check("plain", "plain", "", "");
        check(".gz", ".gz", "", "");
    }
}
