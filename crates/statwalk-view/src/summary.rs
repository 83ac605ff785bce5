// SPDX-License-Identifier: MIT OR Apache-2.0

//! The sentences below the tree: the totals, and the entries that they lack.

use std::time::Duration;

use crate::count::counted;
use crate::wrap::{glued, wrap};
use crate::{SizeFormat, Terminal, compact, duration};

/// The sentence beside apparent sizes in the place of disk space, where nothing has blocks.
pub const NO_BLOCKS: &str = "No file here has blocks on disk; perhaps this file system counts \
                             none. Sizes, shares and order are apparent sizes.";

/// The totals of a scan, and the numbers of entries that they lack.
///
/// The counts are those of the JSON document with the same names.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use statwalk_view::{SizeFormat, Summary, Terminal};
///
/// let summary = Summary {
///     allocated_bytes: 1 << 20,
///     apparent_bytes: 1_000_000,
///     entries: 3,
///     files: 2,
///     dirs: 1,
///     elapsed: Duration::from_millis(2),
///     unreadable: 1,
///     ..Summary::default()
/// };
/// assert_eq!(summary.lines(SizeFormat::Binary, Terminal::default()), [
///     "1.00 MiB on disk, 977 KiB apparent; 3 entries: 2 files, 1 directory, in 2 ms.",
///     "Not in this total: 1 unreadable entry.",
/// ]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Disk space, each hard-linked file once.
    pub allocated_bytes: u128,
    /// The sum of the sizes as `ls` shows them.
    pub apparent_bytes: u128,
    /// All names, the roots too.
    pub entries: u64,
    /// Regular files.
    pub files: u64,
    /// Directories.
    pub dirs: u64,
    /// Symbolic links.
    pub symlinks: u64,
    /// Devices, sockets, pipes, and entries of unknown type.
    pub others: u64,
    /// How long the scan took.
    pub elapsed: Duration,
    /// Further names of files that were counted already; zero where each name
    /// counts.
    pub extra_hard_links: u64,
    /// Entries that could not be read.
    pub unreadable: u64,
    /// Mounts that were not entered.
    pub crossings: u64,
    /// Entries that an option or a rule left out.
    pub excluded: u64,
    /// Directories that did not hold still while they were read.
    pub changed_dirs: u64,
    /// Directories whose times moved while they were read, and whose entries did not.
    pub restless_dirs: u64,
    /// Overlays that were left out, because their layers were read.
    pub overlays_left_out: u64,
    /// Mounts that were entered and show files that can count in other directories, too.
    pub mounts_perhaps_twice: u64,
    /// Names that a directory listed more than once, without the first time.
    pub repeated_names: u64,
    /// How the scan ended.
    pub ending: Ending,
}

/// How a scan ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ending {
    /// Everything was visited.
    #[default]
    Finished,
    /// A signal stopped it: the totals are a lower bound.
    Interrupted,
}

impl Summary {
    /// Returns the sentences in lines of at most the terminal's width.
    ///
    /// Numbers of zero are left out. A number and its unit stay on one line.
    #[must_use]
    pub fn lines(&self, size: SizeFormat, terminal: Terminal) -> Vec<String> {
        self.lines_of(&self.totals(size), terminal)
    }

    /// Returns the same for a scan that has read no sizes.
    #[must_use]
    pub fn count_lines(&self, terminal: Terminal) -> Vec<String> {
        self.lines_of(&self.counts(), terminal)
    }

    /// Returns the same for a terminal with few rows, below a table with the sums.
    #[must_use]
    pub fn brief_lines(&self, terminal: Terminal) -> Vec<String> {
        let entries = counted(self.entries, "entry", "entries");
        let totals = format!("{entries}, in {}.", glued(&duration(self.elapsed)));
        self.lines_of(&totals, terminal)
    }

    fn lines_of(&self, totals: &str, terminal: Terminal) -> Vec<String> {
        let mut lines = Vec::new();
        if self.ending == Ending::Interrupted {
            lines.extend(wrap("Interrupted, lower bound:", terminal));
        }
        lines.extend(wrap(totals, terminal));
        lines.extend(self.left_out().iter().flat_map(|text| wrap(text, terminal)));
        lines
    }

    fn totals(&self, size: SizeFormat) -> String {
        let mut text = format!(
            "{} on disk, {} apparent; {}",
            bytes(self.allocated_bytes, size),
            bytes(self.apparent_bytes, size),
            self.counts(),
        );
        if self.extra_hard_links > 0 {
            let links = counted(self.extra_hard_links, "extra hard link", "extra hard links");
            text.push_str(&format!(" {links} counted once."));
        }
        text
    }

    fn counts(&self) -> String {
        let kinds = [
            (self.files, "file", "files"),
            (self.dirs, "directory", "directories"),
            (self.symlinks, "link", "links"),
            (self.others, "other", "others"),
        ];
        let kinds: Vec<String> = kinds
            .into_iter()
            .filter(|kind| kind.0 > 0)
            .map(|(count, singular, plural)| {
                let noun = if count == 1 { singular } else { plural };
                format!("{} {noun}", glued(&compact(count)))
            })
            .collect();

        let mut text = counted(self.entries, "entry", "entries");
        if !kinds.is_empty() {
            text.push_str(": ");
            text.push_str(&kinds.join(", "));
        }
        text.push_str(&format!(", in {}.", glued(&duration(self.elapsed))));
        text
    }

    fn left_out(&self) -> Vec<String> {
        let parts = [
            (self.unreadable, "unreadable entry", "unreadable entries"),
            (self.crossings, "other file system", "other file systems"),
            (self.excluded, "excluded entry", "excluded entries"),
        ];
        let parts: Vec<String> = parts
            .into_iter()
            .filter(|part| part.0 > 0)
            .map(|(count, singular, plural)| counted(count, singular, plural))
            .collect();
        let mut texts = Vec::new();
        if !parts.is_empty() {
            texts.push(format!("Not in this total: {}.", parts.join(", ")));
        }
        if self.changed_dirs > 0 {
            let dirs = counted(self.changed_dirs, "directory", "directories");
            texts.push(format!(
                "Perhaps not exact: {dirs} changed while being read."
            ));
        }
        if self.restless_dirs > 0 {
            let dirs = counted(self.restless_dirs, "directory", "directories");
            texts.push(format!(
                "Times do not hold in {dirs}; the entries there did not change."
            ));
        }
        texts.extend(sentences_of_stacked(
            self.overlays_left_out,
            self.mounts_perhaps_twice,
        ));
        if self.repeated_names > 0 {
            let names = counted(self.repeated_names, "name", "names");
            texts.push(format!(
                "The file system listed {names} more than once; each counts once."
            ));
        }
        texts
    }
}

/// The sentences about mounts that show the files of other directories: overlays that were
/// left out, and mounts that were entered.
#[must_use]
pub fn sentences_of_stacked(overlays_left_out: u64, mounts_perhaps_twice: u64) -> Vec<String> {
    let mut texts = Vec::new();
    if overlays_left_out > 0 {
        let overlays = counted(overlays_left_out, "overlay", "overlays");
        let whose = if overlays_left_out == 1 {
            "its"
        } else {
            "their"
        };
        texts.push(format!(
            "Counted once: {overlays} left out, as {whose} layers are in this total."
        ));
    }
    if mounts_perhaps_twice > 0 {
        let mounts = counted(mounts_perhaps_twice, "mount", "mounts");
        let verb = if mounts_perhaps_twice == 1 {
            "shows"
        } else {
            "show"
        };
        texts.push(format!(
            "Perhaps counted twice: {mounts} {verb} files of other directories (overlay, union)."
        ));
    }
    texts
}

fn bytes(bytes: u128, size: SizeFormat) -> String {
    let text = glued(&size.text(bytes));
    // Plain digits have no unit of their own.
    if size == SizeFormat::Bytes {
        return text
            + if bytes == 1 {
                "\u{a0}byte"
            } else {
                "\u{a0}bytes"
            };
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text_width;
    use crate::wrap::GLUE;
    use proptest::prelude::*;

    const TIB: u128 = 1 << 40;

    /// The example of the command line's description.
    fn example() -> Summary {
        Summary {
            allocated_bytes: TIB * 420 / 100,
            apparent_bytes: TIB * 487 / 100,
            entries: 12_403_118,
            files: 11_900_012,
            dirs: 431_106,
            symlinks: 72_000,
            others: 0,
            elapsed: Duration::from_millis(6_310),
            extra_hard_links: 38_112,
            unreadable: 17,
            crossings: 3,
            ..Summary::default()
        }
    }

    fn wide(width: usize) -> Terminal {
        Terminal {
            width,
            ..Terminal::default()
        }
    }

    #[test]
    fn the_example() {
        assert_eq!(
            example().lines(SizeFormat::Binary, wide(80)),
            [
                "4.20 TiB on disk, 4.87 TiB apparent; 12,403,118 entries: 11.90 M files, 431 k",
                "directories, 72 k links, in 6.3 s. 38,112 extra hard links counted once.",
                "Not in this total: 17 unreadable entries, 3 other file systems.",
            ]
        );
    }

    #[test]
    fn numbers_agree_with_their_nouns() {
        fn check(summary: &Summary, expected: &[&str]) {
            assert_eq!(summary.lines(SizeFormat::Binary, wide(200)), expected);
        }
        check(
            &Summary {
                entries: 1,
                dirs: 1,
                ..Summary::default()
            },
            &["0 B on disk, 0 B apparent; 1 entry: 1 directory, in 0 ms."],
        );
        check(
            &Summary {
                allocated_bytes: 4096,
                apparent_bytes: 17,
                entries: 4,
                files: 1,
                dirs: 1,
                symlinks: 1,
                others: 1,
                elapsed: Duration::from_secs(61),
                extra_hard_links: 1,
                unreadable: 1,
                crossings: 1,
                excluded: 1,
                changed_dirs: 1,
                restless_dirs: 1,
                overlays_left_out: 1,
                mounts_perhaps_twice: 1,
                repeated_names: 1,
                ending: Ending::Interrupted,
            },
            &[
                "Interrupted, lower bound:",
                "4.00 KiB on disk, 17 B apparent; 4 entries: 1 file, 1 directory, 1 link, 1 other, \
                 in 1 m 1 s. 1 extra hard link counted once.",
                "Not in this total: 1 unreadable entry, 1 other file system, 1 excluded entry.",
                "Perhaps not exact: 1 directory changed while being read.",
                "Times do not hold in 1 directory; the entries there did not change.",
                "Counted once: 1 overlay left out, as its layers are in this total.",
                "Perhaps counted twice: 1 mount shows files of other directories (overlay, union).",
                "The file system listed 1 name more than once; each counts once.",
            ],
        );
        check(
            &Summary {
                entries: 9,
                dirs: 2,
                others: 7,
                extra_hard_links: 2,
                excluded: 1_200,
                changed_dirs: 2,
                overlays_left_out: 3,
                mounts_perhaps_twice: 2,
                ..Summary::default()
            },
            &[
                "0 B on disk, 0 B apparent; 9 entries: 2 directories, 7 others, in 0 ms. \
                 2 extra hard links counted once.",
                "Not in this total: 1,200 excluded entries.",
                "Perhaps not exact: 2 directories changed while being read.",
                "Counted once: 3 overlays left out, as their layers are in this total.",
                "Perhaps counted twice: 2 mounts show files of other directories (overlay, union).",
            ],
        );
    }

    #[test]
    fn without_sizes() {
        let summary = Summary {
            ending: Ending::Interrupted,
            ..example()
        };
        assert_eq!(
            summary.count_lines(wide(80)),
            [
                "Interrupted, lower bound:",
                "12,403,118 entries: 11.90 M files, 431 k directories, 72 k links, in 6.3 s.",
                "Not in this total: 17 unreadable entries, 3 other file systems.",
            ]
        );
    }

    #[test]
    fn on_few_rows() {
        let summary = Summary {
            ending: Ending::Interrupted,
            ..example()
        };
        assert_eq!(
            summary.brief_lines(wide(80)),
            [
                "Interrupted, lower bound:",
                "12,403,118 entries, in 6.3 s.",
                "Not in this total: 17 unreadable entries, 3 other file systems.",
            ]
        );
    }

    #[test]
    fn other_formats() {
        let first = |format| example().lines(format, wide(300))[0].clone();
        assert!(first(SizeFormat::Si).starts_with("4.62 TB on disk, 5.35 TB apparent; "));
        assert!(
            first(SizeFormat::Bytes)
                .starts_with("4617948836659 bytes on disk, 5354621627269 bytes apparent; ")
        );
    }

    proptest! {
        #[test]
        fn no_line_is_wider_than_asked(width in 0usize..120) {
            for line in example().lines(SizeFormat::Binary, wide(width)) {
                prop_assert!(text_width(&line) <= width);
                prop_assert!(!line.contains(GLUE));
            }
        }
    }
}
