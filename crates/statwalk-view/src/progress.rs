// SPDX-License-Identifier: MIT OR Apache-2.0

//! The line that shows how far a scan is.

use std::time::Duration;

use crate::count::counted;
use crate::duration::time_left;
use crate::{SizeFormat, Terminal, compact, escape, rate, text_width, truncate_end};

/// How far a scan is.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use statwalk_view::{Progress, SizeFormat, Terminal};
///
/// let progress = Progress {
///     entries: 8_100_000,
///     allocated_bytes: Some(3_012_000_000_000),
///     elapsed: Duration::from_millis(4_175),
///     percent: Some(64),
///     left: Some(Duration::from_secs(2)),
///     unreadable: 3,
///     path: b"/data/projects/climate/2019-raw",
/// };
/// let terminal = Terminal { width: 97, ..Terminal::default() };
/// assert_eq!(
///     progress.line(2, SizeFormat::Binary, terminal),
///     "⠹ 8.10 M entries · 2.74 TiB · 1.94 M/s · 64 % · 2 s left · 3 unreadable · /data/projects/climate…",
/// );
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress<'a> {
    /// Names seen so far.
    pub entries: u64,
    /// Disk space seen so far; absent where sizes are not read.
    pub allocated_bytes: Option<u128>,
    /// Time since the scan began.
    pub elapsed: Duration,
    /// How much of the whole is done; absent where the whole is not known.
    pub percent: Option<u8>,
    /// The time that is left; absent where the whole is not known.
    pub left: Option<Duration>,
    /// Entries that could not be read so far.
    pub unreadable: u64,
    /// The path of a directory that is being read; may be empty.
    pub path: &'a [u8],
}

impl Progress<'_> {
    /// Returns the line, at most as wide as the terminal.
    ///
    /// `frame` counts up from line to line and turns the sign at its head.
    /// Where there is little room the path is cut first, then left out, then
    /// the parts before it, from the right.
    #[must_use]
    pub fn line(&self, frame: usize, size: SizeFormat, terminal: Terminal) -> String {
        let Terminal { width, charset, .. } = terminal;
        let frames = charset.spinner();
        let head = format!("{} {}", frames[frame % frames.len()], self.entries_text());
        let mut line = truncate_end(&head, width, charset).into_owned();
        let separator = charset.separator();
        for part in self.parts(size) {
            if text_width(&line) + text_width(separator) + text_width(&part) > width {
                return line;
            }
            line.push_str(separator);
            line.push_str(&part);
        }
        let room = width.saturating_sub(text_width(&line) + text_width(separator));
        // A path of a few letters says nothing, and would flicker.
        if !self.path.is_empty() && room >= 12 {
            line.push_str(separator);
            line.push_str(&truncate_end(&escape(self.path, charset), room, charset));
        }
        line
    }

    fn entries_text(&self) -> String {
        let noun = if self.entries == 1 {
            "entry"
        } else {
            "entries"
        };
        format!("{} {noun}", compact(self.entries))
    }

    fn parts(&self, size: SizeFormat) -> Vec<String> {
        let unreadable = counted(self.unreadable, "unreadable", "unreadable");
        [
            self.allocated_bytes.map(|bytes| size.text(bytes)),
            rate(self.entries, self.elapsed),
            self.percent
                .map(|percent| format!("{} %", percent.min(100))),
            self.left.map(|left| format!("{} left", time_left(left))),
            (self.unreadable > 0).then_some(unreadable),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Charset;
    use crate::escape::tests::hostile_name;
    use proptest::prelude::*;

    fn example() -> Progress<'static> {
        Progress {
            entries: 8_100_000,
            allocated_bytes: Some(3_012_000_000_000),
            elapsed: Duration::from_millis(4_175),
            percent: Some(64),
            left: Some(Duration::from_millis(1_500)),
            unreadable: 3,
            path: b"/data/projects/climate/2019-raw",
        }
    }

    fn check(progress: &Progress<'_>, width: usize, charset: Charset, expected: &str) {
        let terminal = Terminal {
            width,
            charset,
            ..Terminal::default()
        };
        assert_eq!(progress.line(2, SizeFormat::Binary, terminal), expected);
    }

    #[test]
    fn parts_give_way_from_the_right() {
        let check = |width, expected| check(&example(), width, Charset::Unicode, expected);
        check(
            120,
            "⠹ 8.10 M entries · 2.74 TiB · 1.94 M/s · 64 % · 2 s left · 3 unreadable · \
             /data/projects/climate/2019-raw",
        );
        check(
            97,
            "⠹ 8.10 M entries · 2.74 TiB · 1.94 M/s · 64 % · 2 s left · 3 unreadable · \
             /data/projects/climate…",
        );
        check(
            86,
            "⠹ 8.10 M entries · 2.74 TiB · 1.94 M/s · 64 % · 2 s left · 3 unreadable · \
             /data/proje…",
        );
        check(
            85,
            "⠹ 8.10 M entries · 2.74 TiB · 1.94 M/s · 64 % · 2 s left · 3 unreadable",
        );
        check(
            70,
            "⠹ 8.10 M entries · 2.74 TiB · 1.94 M/s · 64 % · 2 s left",
        );
        check(30, "⠹ 8.10 M entries · 2.74 TiB");
        check(16, "⠹ 8.10 M entries");
        check(10, "⠹ 8.10 M …");
        check(0, "");
    }

    #[test]
    fn what_is_not_known_is_not_said() {
        let start = Progress {
            entries: 1,
            path: b"/",
            ..Progress::default()
        };
        check(&start, 80, Charset::Unicode, "⠹ 1 entry · /");
        let names_only = Progress {
            entries: 2,
            elapsed: Duration::from_secs(1),
            percent: Some(200),
            ..Progress::default()
        };
        check(&names_only, 80, Charset::Ascii, "- 2 entries, 2/s, 100 %");
    }

    #[test]
    fn the_sign_turns() {
        let line = |frame| {
            let terminal = Terminal::default();
            Progress::default().line(frame, SizeFormat::Binary, terminal)
        };
        assert_ne!(line(0), line(1));
        assert_eq!(line(0), line(10));
        assert_eq!(line(usize::MAX), line(usize::MAX % 10));
    }

    proptest! {
        #[test]
        fn one_line_of_the_width(path in hostile_name(), width in 0usize..150) {
            let progress = Progress { path: &path, ..example() };
            for charset in [Charset::Unicode, Charset::Ascii] {
                let terminal = Terminal { width, charset, ..Terminal::default() };
                let line = progress.line(3, SizeFormat::Binary, terminal);
                prop_assert!(text_width(&line) <= width);
                prop_assert!(!line.chars().any(char::is_control));
            }
        }
    }
}
