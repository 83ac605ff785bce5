// SPDX-License-Identifier: MIT OR Apache-2.0

//! Screens of the browser, read as a person reads them.

use std::path::Path;

use super::forest::is_data;

/// The lines of a screen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// The text of each line.
    pub lines: Vec<String>,
    /// Whether each line stands out, as the one under the cursor does.
    pub inverse: Vec<bool>,
}

/// A row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) name: String,
    pub(super) is_marked: bool,
    pub(super) is_directory: bool,
    pub(super) is_here: bool,
}

impl Row {
    /// Whether it is no item of a trial.
    pub(super) fn is_data(&self) -> bool {
        is_data(Path::new(&self.name))
    }
}

/// The dialog before a removal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Dialog {
    /// The paths that it shows, and the number of others.
    pub(super) paths: Vec<String>,
    pub(super) more: usize,
    pub(super) has_trash: bool,
    pub(super) has_forever: bool,
    /// The word to type, once it asks for one.
    pub(super) word: Option<String>,
}

const HEAD_LINES: usize = 2;
const FOOT_LINES: usize = 2;

impl Frame {
    /// The whole text.
    pub fn text(&self) -> String {
        self.lines.join("\n")
    }

    /// The line with the summary or a message.
    pub fn foot(&self) -> &str {
        let line = self.lines.len().checked_sub(FOOT_LINES);
        line.map_or("", |line| self.lines[line].trim())
    }

    /// Whether a sentence that comes by itself stands in the place of the number of marks.
    pub(super) fn hides_marks(&self) -> bool {
        self.foot().starts_with("no file here has blocks")
    }

    /// Whether nothing goes on, as far as one can see.
    pub fn is_quiet(&self) -> bool {
        let busy = [
            "reading:",
            "reading again",
            "filtering",
            "removing (Esc",
            "at the end of the scan",
        ];
        let text = self.text();
        !busy.iter().any(|busy| text.contains(busy)) && !text.contains("reading what is there")
    }

    /// The view and the directory in the first line.
    pub(super) fn head(&self) -> Option<(&str, &str)> {
        let (view, rest) = self.lines.first()?.trim().split_once("  ")?;
        Some((view, rest.split("  ").next()?.trim()))
    }

    /// The directory that the rows are in; absent where its path does not fit.
    pub(super) fn directory(&self) -> Option<&str> {
        let (view, path) = self.head()?;
        // A path that just fits has one space behind it, and the sums follow.
        let is_whole = !path.contains('…') && !path.contains(" entr");
        (["statwalk", "Search"].contains(&view) && is_whole).then_some(path)
    }

    /// The number of entries in the first line; absent where it is a lower bound.
    pub(super) fn entries(&self) -> Option<u64> {
        let line = self.lines.first()?;
        let (before, _) = line.split_once(" entr")?;
        let number = before.rsplit(' ').next()?;
        (!line.contains('≥')).then(|| number.parse().ok())?
    }

    pub(super) fn rows(&self) -> Vec<Row> {
        let title = self.lines.get(1).map_or("", String::as_str);
        let column = ["NAME", "PATH"].iter().find_map(|name| title.find(name));
        let Some(column) = column.map(|at| title[..at].chars().count()) else {
            return Vec::new();
        };
        let end = self.lines.len().saturating_sub(FOOT_LINES);
        let lines = self.lines[..end].iter().zip(&self.inverse);
        let lines = lines.skip(HEAD_LINES);
        let row = |(line, is_here): (&String, &bool)| {
            let name: String = line.chars().skip(column).collect();
            // A sentence stands there where there is no row.
            let has_size = line.chars().take(column).any(|sign| sign.is_ascii_digit());
            let name = name.trim_end();
            let is_directory = name.ends_with('/');
            (has_size && !name.is_empty()).then(|| Row {
                name: name.trim_end_matches('/').to_owned(),
                is_marked: line.starts_with('*'),
                is_directory,
                is_here: *is_here,
            })
        };
        lines.filter_map(row).collect()
    }

    pub(super) fn here(&self) -> Option<Row> {
        self.rows().into_iter().find(|row| row.is_here)
    }

    /// Whether a box with this title is open.
    pub fn has_box(&self, title: &str) -> bool {
        self.in_box(title).is_some()
    }

    /// The lines in a box with this title.
    pub(super) fn in_box(&self, title: &str) -> Option<Vec<String>> {
        let edge = format!("┌─ {title} ─");
        let top = self.lines.iter().position(|line| line.contains(&edge))?;
        let line = &self.lines[top];
        let left = line[..line.find(&edge)?].chars().count();
        let mut lines = Vec::new();
        for line in &self.lines[top + 1..] {
            let mut inner: Vec<char> = line.chars().skip(left).collect();
            if inner.first() != Some(&'│') {
                break;
            }
            let right = inner.iter().rposition(|sign| *sign == '│').unwrap_or(0);
            inner.truncate(right);
            let text: String = inner.iter().skip(1).collect();
            lines.push(text.trim().to_owned());
        }
        Some(lines)
    }

    pub(super) fn dialog(&self) -> Option<Dialog> {
        let lines = self.in_box("Remove")?;
        let sums = lines.iter().position(|line| line.contains("; frees "));
        let is_refused = lines.iter().any(|line| line == "[Cancel]");
        let end = match sums {
            Some(sums) => sums,
            // Behind the first path is the refusal, which can begin with a path, too.
            None if is_refused => 1,
            None => return None,
        };
        let mut paths = lines[..end].to_vec();
        let mut more = 0;
        let last = paths.last()?.strip_prefix("and ");
        if let Some((count, _)) = last.and_then(|last| last.split_once(" more; view 8")) {
            more = count.parse().ok()?;
            paths.pop();
        }
        let has = |text| lines.iter().any(|line| line.contains(text));
        let word = lines.iter().find_map(|line| {
            let (_, rest) = line.split_once("Type ")?;
            Some(rest.split_once(" to remove:")?.0.to_owned())
        });
        Some(Dialog {
            paths,
            more,
            has_trash: has("Move to trash"),
            has_forever: has("Remove forever"),
            word,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(text: &str) -> Frame {
        let lines: Vec<String> = text.lines().skip(1).map(str::to_owned).collect();
        let inverse = (0..lines.len()).map(|line| line == 0 || line == 3);
        Frame {
            inverse: inverse.collect(),
            lines,
        }
    }

    #[test]
    fn rows_and_the_dialog_are_read() {
        let rows = frame(
            "
 statwalk  tree/old                          52.0 KiB, 14 entries
       DISK SHARE              ENTRIES NEWEST OWNER    NAME
*  24.0 KiB  46 % ████████           6    now root     a b/
   12.0 KiB  23 % ████               3      – root     old

 3 items · 1 marked: 24.0 KiB
 ? help  q quit",
        );
        assert_eq!(rows.directory(), Some("tree/old"));
        assert_eq!(rows.entries(), Some(14));
        assert_eq!(rows.foot(), "3 items · 1 marked: 24.0 KiB");
        assert!(!rows.hides_marks());
        let told = frame("\n\n\n no file here has blocks on disk: sizes are apparent\n ? help");
        assert!(told.hides_marks());
        let names: Vec<_> = rows.rows().into_iter().map(|row| row.name).collect();
        assert_eq!(names, ["a b", "old"]);
        assert!(rows.rows()[0].is_marked && rows.rows()[0].is_directory);
        assert_eq!(rows.here().unwrap().name, "old");
        let dialog = frame(
            "
 statwalk  tree                              52.0 KiB, 14 entries
       DISK SHARE              ENTRIES NEWEST OWNER    NAME
*  ┌─ Remove ──────────────────────────────┐          a/
   │ /t/tree/a                              │
   │ /t/tree/b                              │
   │ and 12 more; view 8 has them           │
   │ 10 entries, 36.0 KiB; frees 36.0 KiB   │
   │  Cancel   Move to trash  [Remove forever]│
   │ Type 14 items to remove: 1             │
   └────────────────────────────────────────┘
 3 items
 Tab next choice",
        );
        let read = dialog.dialog().unwrap();
        assert_eq!(read.paths, ["/t/tree/a", "/t/tree/b"]);
        assert_eq!((read.more, read.word.as_deref()), (12, Some("14 items")));
        assert!(read.has_trash && read.has_forever);
        assert_eq!(rows.dialog(), None);
        let refused = frame(
            "
 statwalk  tree                              52.0 KiB, 14 entries
   ┌─ Remove ───────────────────────────────┐
   │ /t/tree/a                              │
   │ /t/tree/a has changed since the scan   │
   │                                        │
   │ [Cancel]                               │
   └────────────────────────────────────────┘
 3 items
 Tab next choice",
        );
        let read = refused.dialog().unwrap();
        assert_eq!(read.paths, ["/t/tree/a"]);
        assert!(!read.has_trash && !read.has_forever && read.word.is_none());
    }
}
