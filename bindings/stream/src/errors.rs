// SPDX-License-Identifier: MIT OR Apache-2.0

//! Errors, and fields that are not known, with their form in each language.

use statwalk_core::{Errno, Fields};

use crate::options::Language;

/// An error, and its form in each language.
#[derive(Clone, Copy, Debug)]
pub struct ErrorRule {
    /// The event.
    pub meaning: &'static str,
    /// In C, Python, Node and Java; empty where it cannot happen.
    stands: [&'static str; 4],
}

impl ErrorRule {
    /// Its form in a language; absent where it cannot happen.
    #[must_use]
    pub fn stands(&self, language: Language) -> Option<&'static str> {
        let words = self.stands[language as usize];
        (!words.is_empty()).then_some(words)
    }
}

/// All errors, in the order of the documentation.
pub const ERRORS: [ErrorRule; 9] = [
    ErrorRule {
        meaning: "A value that an option does not take",
        stands: [
            "`SW_FAILED`, `EINVAL`",
            "`ValueError`, `TypeError`, `OverflowError`",
            "`RangeError`, `TypeError`",
            "`IllegalArgumentException`",
        ],
    },
    ErrorRule {
        meaning: "A lone path that cannot be opened, at the call",
        stands: [
            "`SW_ERROR` of the path",
            "the `OSError` of `os.scandir`",
            "the error of `fs.opendir`, at the first step",
            "the exception of `Files.newDirectoryStream`",
        ],
    },
    ErrorRule {
        meaning: "An entry that cannot be read",
        stands: [
            "`SW_ERROR`, with `number` and `op`",
            "the `OSError` of its number, with `operation`",
            "an `Error` with `code`, `errno`, `syscall` and `path`",
            "a `FileSystemException`: that of the JDK for its number",
        ],
    },
    ErrorRule {
        meaning: "A directory that changed each time it was read",
        stands: [
            "`SW_ERROR`, `number` 0",
            "`OSError`, `errno` 0",
            "code `ERR_STATWALK_CHANGED`",
            "`FileSystemException`",
        ],
    },
    ErrorRule {
        meaning: "The end of a scan that lacks something",
        stands: [
            "`SW_INCOMPLETE`",
            "`IncompleteScan`",
            "`IncompleteScanError`",
            "`IncompleteScanException`",
        ],
    },
    ErrorRule {
        meaning: "A field that the system has refused",
        stands: [
            "bit 0 in `known`, and `refusal`",
            "the `OSError` of the entry, at the attribute",
            "the error of the entry, at `stats`",
            "`UncheckedIOException` of the entry, at `attributes()`",
        ],
    },
    ErrorRule {
        meaning: "A field that the file system does not have",
        stands: ["bit 0 in `known`", "None", "null", "as the JDK has it"],
    },
    ErrorRule {
        meaning: "A field that was not asked for",
        stands: ["bit 0 in `known`", "`AttributeError`", "`TypeError`", ""],
    },
    ErrorRule {
        meaning: "A scan that was begun before a fork, in the child",
        stands: ["`SW_FAILED`, `EINVAL`", "`RuntimeError`", "", ""],
    },
];

/// Why a field of an entry has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// The caller did not ask for it: a fault of the program.
    NotAsked,
    /// The system has refused the attributes of the entry, for this error.
    Refused(Errno),
    /// The file system does not have it, or the scan has left the entry out: then nobody has
    /// asked the system.
    Absent,
}

impl Unknown {
    /// The reason for one of the fields that were wanted, or for another.
    ///
    /// ```
    /// use statwalk_core::{Errno, Fields};
    /// use statwalk_stream::Unknown;
    ///
    /// let of = |field, refusal| Unknown::of(field, Fields::SIZE, refusal);
    /// assert_eq!(of(Fields::SIZE, None), Unknown::Absent);
    /// assert_eq!(of(Fields::SIZE, Some(Errno(13))), Unknown::Refused(Errno(13)));
    /// assert_eq!(of(Fields::MTIME, Some(Errno(13))), Unknown::NotAsked);
    /// ```
    #[must_use]
    pub fn of(field: Fields, wanted: Fields, refusal: Option<Errno>) -> Unknown {
        match refusal {
            _ if !wanted.contains(field) => Unknown::NotAsked,
            Some(errno) => Unknown::Refused(errno),
            None => Unknown::Absent,
        }
    }
}
