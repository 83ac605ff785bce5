// SPDX-License-Identifier: MIT OR Apache-2.0

//! The unreadable entries, in a few lines grouped by cause.

use crate::count::counted;
use crate::line::fit;
use crate::{Terminal, escape, grouped, text_width, truncate_to_width};

/// The lines at most, so that an unreadable disk does not scroll the rest away.
const LINES_MAX: usize = 6;

/// The paths shown at most for one cause.
const PATHS_MAX: usize = 3;

/// The unreadable entries, grouped by cause.
///
/// # Examples
///
/// ```
/// use statwalk_view::{ErrorCause, ErrorSummary, Terminal};
///
/// let errors = ErrorSummary {
///     unreadable: 14,
///     causes: vec![ErrorCause {
///         text: "permission denied",
///         count: 14,
///         examples: vec![b"/data/hr", b"/data/legal/2024"],
///     }],
///     command: Some("statwalk errors /data"),
///     ..ErrorSummary::default()
/// };
/// assert_eq!(errors.lines(Terminal::default()), [
///     "statwalk: 14 entries could not be read; the totals are a lower bound",
///     "  permission denied  14  /data/hr, /data/legal/2024 … 12 more",
///     "  statwalk errors /data shows all",
/// ]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErrorSummary<'a> {
    /// Entries that could not be read, once each.
    pub unreadable: u64,
    /// Lists of patterns among them: the entries that these would leave out are counted.
    pub unread_patterns: u64,
    /// Why they could not be read, in any order.
    pub causes: Vec<ErrorCause<'a>>,
    /// Entries that were gone when they were looked at.
    pub vanished: u64,
    /// Directories that did not hold still while they were read.
    pub changed_dirs: u64,
    /// The command that shows all of them; absent where there is none.
    pub command: Option<&'a str>,
}

/// The entries that one cause kept from being read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErrorCause<'a> {
    /// The cause in words, as the system says it.
    pub text: &'a str,
    /// How many entries it concerns.
    pub count: u64,
    /// The paths of some or all of them; three are enough.
    pub examples: Vec<&'a [u8]>,
}

impl ErrorSummary<'_> {
    /// Returns at most six lines, none wider than the terminal.
    ///
    /// The most frequent cause comes first. Where there are too many, the last
    /// line counts the others. Where not every path is shown, the command that shows all
    /// is named. Entries that vanished are mentioned only beside
    /// something that went wrong; without that there are no lines at all.
    #[must_use]
    pub fn lines(&self, terminal: Terminal) -> Vec<String> {
        let changed = counted(self.changed_dirs, "directory", "directories");
        let mut lines = Vec::new();
        let mut notes = Vec::new();
        if self.unreadable > 0 {
            let totals = match self.unread_patterns {
                0 => "the totals are a lower bound",
                _ => "the totals may not be exact",
            };
            lines.push(format!(
                "statwalk: {} could not be read; {totals}",
                counted(self.unreadable, "entry", "entries")
            ));
            if self.changed_dirs > 0 {
                notes.push(format!(
                    "  ({changed} changed while being read: the totals may not be exact)"
                ));
            }
        } else if self.changed_dirs > 0 {
            lines.push(format!(
                "statwalk: {changed} changed while being read; the totals may not be exact"
            ));
        } else {
            return lines;
        }
        if self.vanished > 0 {
            notes.push(format!(
                "  ({} vanished while scanning: not counted as errors)",
                counted(self.vanished, "entry", "entries")
            ));
        }
        let hint = self.command.filter(|_| self.unreadable > 0);
        let hint = hint.map(|command| format!("  {command} shows all"));
        let room = LINES_MAX - 1 - notes.len();
        let (mut rows, mut all_shown) = self.rows(room, terminal);
        if !all_shown && hint.is_some() && rows.len() == room {
            (rows, all_shown) = self.rows(room - 1, terminal);
        }
        lines.extend(rows);
        lines.extend(notes);
        lines.extend(hint.filter(|_| !all_shown));
        lines.into_iter().map(|line| fit(line, terminal)).collect()
    }

    /// Returns at most two lines for a small screen, none wider than it: the number, and
    /// the command that shows all or else the most frequent cause.
    #[must_use]
    pub fn brief_lines(&self, terminal: Terminal) -> Vec<String> {
        let changed = counted(self.changed_dirs, "directory", "directories");
        let mut lines = match (self.unreadable, self.changed_dirs) {
            (0, 0) => return Vec::new(),
            (0, _) => vec![format!("statwalk: {changed} changed while being read")],
            (unreadable, _) => {
                let entries = counted(unreadable, "entry", "entries");
                vec![format!("statwalk: could not read {entries}")]
            }
        };
        if self.unreadable > 0 {
            match self.command {
                Some(command) => lines.push(format!("  {command} shows all")),
                None => lines.extend(self.rows(1, terminal).0),
            }
        }
        lines.into_iter().map(|line| fit(line, terminal)).collect()
    }

    /// Returns at most `rows_max` rows, one for each cause, and whether they have every
    /// path in full.
    fn rows(&self, rows_max: usize, terminal: Terminal) -> (Vec<String>, bool) {
        let mut causes: Vec<&ErrorCause<'_>> = self.causes.iter().collect();
        causes.sort_by(|a, b| b.count.cmp(&a.count).then(a.text.cmp(b.text)));
        let alone = if causes.len() > rows_max {
            rows_max - 1
        } else {
            causes.len()
        };
        let (shown, others) = causes.split_at(alone);

        let mut rows: Vec<(String, String, Option<&ErrorCause<'_>>)> = shown
            .iter()
            .map(|cause| {
                let text = escape(cause.text.as_bytes(), terminal.charset).into_owned();
                (text, grouped(cause.count), Some(*cause))
            })
            .collect();
        if !others.is_empty() {
            let count = others.iter().map(|cause| cause.count).sum();
            // There are at least two: one would have had the row for itself.
            let text = format!("{} other causes", others.len());
            rows.push((text, grouped(count), None));
        }

        let text_columns = rows.iter().map(|row| text_width(&row.0)).max().unwrap_or(0);
        let count_columns = rows.iter().map(|row| row.1.len()).max().unwrap_or(0);
        let mut all_shown = true;
        let lines = rows.into_iter().map(|(text, count, cause)| {
            let blank = " ".repeat(text_columns - text_width(&text));
            let row = format!("  {text}{blank}  {count:>count_columns$}");
            let room = terminal.width.saturating_sub(text_width(&row) + 2);
            let paths = cause.and_then(|cause| paths(cause, room, terminal));
            all_shown &= paths.as_ref().is_some_and(|(_, all)| *all);
            match paths {
                Some((paths, _)) => format!("{row}  {paths}"),
                None => row,
            }
        });
        (lines.collect(), all_shown)
    }
}

/// Returns as many paths as fit into `room` columns with the number of the others, and
/// whether these are all paths in full.
fn paths(cause: &ErrorCause<'_>, room: usize, terminal: Terminal) -> Option<(String, bool)> {
    let charset = terminal.charset;
    let paths: Vec<_> = cause
        .examples
        .iter()
        .take(PATHS_MAX)
        .map(|path| escape(path, charset))
        .collect();
    let more = |shown: usize| match cause.count.saturating_sub(shown as u64) {
        0 => String::new(),
        more => format!(" {} {} more", charset.ellipsis(), grouped(more)),
    };
    for shown in (1..=paths.len()).rev() {
        let text = paths[..shown].join(", ") + &more(shown);
        if text_width(&text) <= room {
            return Some((text, cause.count <= shown as u64));
        }
    }
    let room = room.checked_sub(text_width(&more(1)))?;
    let first = truncate_to_width(paths.first()?, room, charset);
    // A path of a few letters says nothing.
    (room >= 8).then(|| (first.into_owned() + &more(1), false))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Charset;
    use crate::escape::tests::hostile_name;
    use proptest::prelude::*;

    fn cause<'a>(text: &'a str, count: u64, examples: &[&'a str]) -> ErrorCause<'a> {
        let examples = examples.iter().map(|path| path.as_bytes()).collect();
        ErrorCause {
            text,
            count,
            examples,
        }
    }

    fn check(errors: &ErrorSummary<'_>, width: usize, expected: &[&str]) {
        let terminal = Terminal {
            width,
            ..Terminal::default()
        };
        assert_eq!(errors.lines(terminal), expected);
    }

    fn example() -> ErrorSummary<'static> {
        let disk = [
            "/data/old/disk3/a",
            "/data/old/disk3/b",
            "/data/old/disk3/c",
        ];
        ErrorSummary {
            unreadable: 17,
            unread_patterns: 0,
            causes: vec![
                cause("input/output error", 3, &disk),
                cause("permission denied", 14, &["/data/hr", "/data/legal/2024"]),
            ],
            vanished: 8,
            changed_dirs: 0,
            command: None,
        }
    }

    #[test]
    fn the_example() {
        check(
            &example(),
            81,
            &[
                "statwalk: 17 entries could not be read; the totals are a lower bound",
                "  permission denied   14  /data/hr, /data/legal/2024 … 12 more",
                "  input/output error   3  /data/old/disk3/a, /data/old/disk3/b, /data/old/disk3/c",
                "  (8 entries vanished while scanning: not counted as errors)",
            ],
        );
    }

    /// A list of patterns would leave out some entries: without it the totals can be too high.
    #[test]
    fn totals_without_a_list_of_patterns_are_no_bound() {
        let errors = ErrorSummary {
            unread_patterns: 1,
            ..example()
        };
        let line = "statwalk: 17 entries could not be read; the totals may not be exact";
        assert_eq!(errors.lines(Terminal::default())[0], line);
    }

    /// "Six lines of errors on ten rows leave two for the directories."
    #[test]
    fn a_small_screen_gets_two_lines() {
        let brief = |errors: &ErrorSummary<'_>| {
            errors.brief_lines(Terminal {
                width: 40,
                ..Terminal::default()
            })
        };
        let head = "statwalk: could not read 17 entries";
        let lines = brief(&example());
        assert_eq!(lines, [head, "  2 other causes  17"]);
        let errors = ErrorSummary {
            command: Some("statwalk errors /data"),
            changed_dirs: 3,
            ..example()
        };
        assert_eq!(brief(&errors), [head, "  statwalk errors /data shows all"]);
        let changed = ErrorSummary {
            unreadable: 0,
            ..errors
        };
        let line = "statwalk: 3 directories changed while b…";
        assert_eq!(brief(&changed), [line]);
        assert!(brief(&ErrorSummary::default()).is_empty());
    }

    #[test]
    fn the_command_is_named_where_something_is_not_shown() {
        let errors = ErrorSummary {
            command: Some("statwalk errors /data"),
            causes: vec![cause("permission denied", 2, &["/data/hr", "/data/legal"])],
            unreadable: 2,
            ..ErrorSummary::default()
        };
        let head = "statwalk: 2 entries could not be read; the totals are a lower bound";
        let all = "  permission denied  2  /data/hr, /data/legal";
        check(&errors, 80, &[head, all]);
        let some = "  permission denied  2  /data/hr … 1 more";
        let hint = "  statwalk errors /data shows all";
        let lines = errors.lines(Terminal {
            width: 44,
            ..Terminal::default()
        });
        assert_eq!(lines[1..], [some, hint]);
        // It takes the line of a cause where there are many.
        let causes = ["a", "b", "c", "d", "e"].map(|text| cause(text, 1, &["/x"]));
        let many = ErrorSummary {
            causes: causes.to_vec(),
            unreadable: 5,
            vanished: 1,
            ..errors
        };
        let lines = many.lines(Terminal::default());
        assert_eq!(lines.len(), 6);
        assert_eq!(lines[3], "  3 other causes  3");
        assert_eq!(lines[5], hint);
    }

    #[test]
    fn paths_give_way() {
        check(
            &example(),
            60,
            &[
                "statwalk: 17 entries could not be read; the totals are a lo…",
                "  permission denied   14  /data/hr … 13 more",
                "  input/output error   3  /data/old/disk3/a … 2 more",
                "  (8 entries vanished while scanning: not counted as errors)",
            ],
        );
        check(
            &example(),
            48,
            &[
                "statwalk: 17 entries could not be read; the tot…",
                "  permission denied   14  /data/hr … 13 more",
                "  input/output error   3  /data/…isk3/a … 2 more",
                "  (8 entries vanished while scanning: not count…",
            ],
        );
        check(
            &example(),
            30,
            &[
                "statwalk: 17 entries could no…",
                "  permission denied   14",
                "  input/output error   3",
                "  (8 entries vanished while s…",
            ],
        );
    }

    #[test]
    fn six_lines_at_most() {
        let errors = ErrorSummary {
            unread_patterns: 0,
            unreadable: 1_234 + 4 + 3 + 2 + 1,
            causes: vec![
                cause("e", 1, &["/e"]),
                cause("d", 2, &["/d"]),
                cause("b", 4, &["/b"]),
                cause("a", 1_234, &["/a"]),
                cause("c", 3, &["/c"]),
            ],
            vanished: 1,
            changed_dirs: 2,
            command: None,
        };
        check(
            &errors,
            80,
            &[
                "statwalk: 1,244 entries could not be read; the totals are a lower bound",
                "  a               1,234  /a … 1,233 more",
                "  b                   4  /b … 3 more",
                "  3 other causes      6",
                "  (2 directories changed while being read: the totals may not be exact)",
                "  (1 entry vanished while scanning: not counted as errors)",
            ],
        );
        let without_notes = ErrorSummary {
            vanished: 0,
            changed_dirs: 0,
            ..errors
        };
        let lines = without_notes.lines(Terminal::default());
        assert_eq!(lines.len(), 6);
        assert_eq!(lines[5], "  e      1  /e");
    }

    #[test]
    fn singular_and_nothing() {
        let one = ErrorSummary {
            unreadable: 1,
            causes: vec![cause("permission\tdenied", 1, &["/data/hr\n"])],
            ..ErrorSummary::default()
        };
        check(
            &one,
            80,
            &[
                "statwalk: 1 entry could not be read; the totals are a lower bound",
                r"  permission\tdenied  1  /data/hr\n",
            ],
        );
        let changed = ErrorSummary {
            changed_dirs: 1,
            ..ErrorSummary::default()
        };
        check(
            &changed,
            80,
            &["statwalk: 1 directory changed while being read; the totals may not be exact"],
        );
        let vanished = ErrorSummary {
            vanished: 8,
            ..ErrorSummary::default()
        };
        check(&vanished, 80, &[]);
    }

    proptest! {
        #[test]
        fn few_lines_none_too_wide(
            paths in proptest::collection::vec(hostile_name(), 1..4),
            counts in proptest::collection::vec(1u64..100_000, 1..9),
            width in 0usize..120,
            notes in 0u64..2,
        ) {
            let examples: Vec<&[u8]> = paths.iter().map(Vec::as_slice).collect();
            let causes = counts.iter().map(|&count| ErrorCause {
                text: "permission denied",
                count,
                examples: examples.clone(),
            }).collect();
            let unreadable = counts.iter().sum();
            let command = Some("statwalk errors /data");
            let errors = ErrorSummary {
                unread_patterns: 0,
                unreadable, causes, vanished: notes, changed_dirs: notes, command,
            };
            for charset in [Charset::Unicode, Charset::Ascii] {
                let lines = errors.lines(Terminal { width, charset, ..Terminal::default() });
                prop_assert!(lines.len() <= LINES_MAX);
                for line in lines {
                    prop_assert!(text_width(&line) <= width, "{line}");
                    prop_assert!(!line.chars().any(char::is_control));
                }
            }
        }
    }
}
