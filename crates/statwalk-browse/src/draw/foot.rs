// SPDX-License-Identifier: MIT OR Apache-2.0

//! The lines below the rows: a summary, a line of input, and keys.

use statwalk_group::Grouping;
use statwalk_view::{
    Charset, NamePattern, SizeFilter, age, counted, grouped, text_width, truncate_end,
};

use super::canvas::{Canvas, Look};
use super::cursor::Cursor;
use super::head::lower_bound;
use crate::browser::{Browser, Mode};
use crate::data::Data;
use crate::list::ListRows;
use crate::view::View;

/// A part of the line about the state.
struct FootPart {
    text: String,
    /// The text where not all parts fit, which may be none. Absent where it stays.
    shorter: Option<String>,
}

impl From<String> for FootPart {
    fn from(text: String) -> FootPart {
        let shorter = None;
        FootPart { text, shorter }
    }
}

impl FootPart {
    /// A part that gives way to others.
    fn minor(text: String, shorter: String) -> FootPart {
        let shorter = Some(shorter);
        FootPart { text, shorter }
    }
}

impl Browser {
    pub(super) fn draw_foot(&self, data: &dyn Data, canvas: &mut Canvas<'_>) -> Option<Cursor> {
        let y = canvas.height() - 2;
        self.draw_keys(y + 1, canvas);
        let input = match &self.mode {
            Mode::Text => Some(("names with: ", &self.chosen.text.text)),
            Mode::Search => Some(("search below: ", &self.search.text.text)),
            Mode::Jump(line) => Some(("go to: ", &line.text)),
            Mode::File(line) => Some(("write the marked paths to (.sh: a script): ", &line.text)),
            Mode::Rows
            | Mode::Form(_)
            | Mode::Help(..)
            | Mode::Info(..)
            | Mode::Space(..)
            | Mode::Survey(_)
            | Mode::Remove(_)
            | Mode::Report(..) => None,
        };
        if let Some((title, text)) = input {
            let text = canvas.name(text.as_bytes());
            canvas.text(1, y, usize::MAX, &format!("{title}{text}"), Look::Bold);
            let end = 1 + text_width(title) + text_width(&text);
            let found = match &self.mode {
                Mode::Search => Some(self.found_text(data, canvas)),
                Mode::Jump(line) if self.jumps_nowhere(line, data) => {
                    Some("no name begins so".to_owned())
                }
                _ => None,
            };
            if let Some(found) = found {
                let width = text_width(&found);
                let start = (canvas.width() - 1).saturating_sub(width);
                if start > end + 2 {
                    canvas.text(start, y, width, &found, Look::Dim);
                }
            }
            let end = end.min(canvas.width() - 1);
            return Some(Cursor::of_text(end, y));
        }
        if let Some(key) = self.quit.asks.filter(|_| self.mode == Mode::Rows) {
            let marked = grouped(self.marks.count());
            let text = canvas.name(format!("{marked} marked; {key} again quits").as_bytes());
            canvas.text(1, y, usize::MAX, &text, Look::Bold);
            return None;
        }
        if let Some(message) = &self.message {
            let message = canvas.name(message.text.as_bytes());
            canvas.text(1, y, usize::MAX, &message, Look::Bold);
            return None;
        }
        let text = self.summary(data, canvas);
        canvas.text(1, y, usize::MAX, &text, Look::Plain);
        None
    }

    /// The state in parts.
    fn summary(&self, data: &dyn Data, canvas: &Canvas<'_>) -> String {
        let mut parts = self.work_parts(canvas);
        parts.extend(self.rows_parts(data, canvas));
        if !self.chosen.filter.is_empty() {
            parts.push(self.filter_part(&parts, canvas));
        }
        parts.extend(self.sum_parts(data, canvas));
        fit(parts, canvas)
    }

    /// The work that goes on.
    fn work_parts(&self, canvas: &Canvas<'_>) -> Vec<FootPart> {
        let mut parts: Vec<FootPart> = Vec::new();
        if let Some(removal) = &self.work.removal {
            let entries = grouped(removal.entries);
            let all = counted(removal.of_entries, "entry", "entries");
            parts.push(format!("removing (Esc stops): {entries} of {all}").into());
            if removal.errors > 0 {
                let errors = counted(removal.errors, "is", "are");
                parts.push(format!("{errors} still there").into());
            }
        }
        if self.work.is_restoring {
            parts.push("moving back from the trash".to_owned().into());
        }
        parts.extend(self.work.report.map(|report| report.text().into()));
        let scan = &self.watch.scan;
        if let Some(waits) = self.watch.waits.filter(|_| !scan.is_over) {
            let path = canvas.name(&scan.current);
            let seconds = waits.as_secs();
            parts.push(format!("no answer for {seconds} s (S stops): {path}").into());
        } else if !scan.is_over {
            let entries = counted(scan.entries, "entry", "entries");
            let percent = scan.percent.map(|percent| format!(", {percent} %"));
            parts.push(format!("reading: {entries}{}", percent.unwrap_or_default()).into());
        } else if scan.is_interrupted {
            parts.push("stopped: lower bounds".to_owned().into());
        }
        if let Some(taken) = &scan.taken {
            parts.push(format!("snapshot of {taken}").into());
        }
        if self.chosen.is_filtering {
            parts.push("filtering".to_owned().into());
        }
        parts
    }

    /// The rows, and the names that were searched. They give way to the other parts: the rows
    /// are on the screen, and the names were typed.
    fn rows_parts(&self, data: &dyn Data, canvas: &Canvas<'_>) -> Vec<FootPart> {
        let mut parts: Vec<FootPart> = Vec::new();
        let view = self.chosen.view;
        let count = self.list.rows.len() as u64;
        let rows = match (&self.list.rows, self.list.is_waiting) {
            _ if view == View::Found => self.found_text(data, canvas),
            (_, true) => String::new(),
            _ if view == View::Rebuildable => {
                // Where the column has no room, here is that of one row.
                let program = self.list.programs.get(self.list.cursor());
                let program = program.filter(|_| self.widths().program == 0);
                parts.extend(program.map(|program| format!("by {program}").into()));
                self.rebuildable_text(canvas)
            }
            (ListRows::Faults(_, all), _) if *all > count => {
                format!("the first {} of {} errors", grouped(count), grouped(*all))
            }
            (ListRows::Faults(..), _) => counted(count, "error", "errors"),
            (ListRows::Groups(_), _) => counted(count, "group", "groups"),
            (ListRows::Items(_), _) => self.rows_text("item", "items"),
        };
        if !rows.is_empty() {
            let short = match view {
                View::Found | View::Rebuildable => self.sum_text(canvas),
                _ => None,
            };
            parts.push(FootPart::minor(rows, short.unwrap_or_default()));
        }
        let searched = &self.search.text.text;
        if view == View::Found && !searched.is_empty() {
            parts.push(FootPart::minor(names_text(searched, canvas), String::new()));
            if !data.is_final() {
                let text = "files at the end of the scan".to_owned();
                parts.push(FootPart::minor(text, String::new()));
            }
        }
        if !self.chosen.text.text.is_empty() {
            parts.push(names_text(&self.chosen.text.text, canvas).into());
        }
        parts
    }

    /// The filter, in the room that the parts before it leave.
    fn filter_part(&self, parts: &[FootPart], canvas: &Canvas<'_>) -> FootPart {
        let clears = match self.escape_clears_filter() {
            true => " (Esc clears)",
            false => "",
        };
        let others = parts.iter().filter(|part| part.shorter.is_none());
        let used: usize = others.map(|part| text_width(&part.text) + 3).sum();
        let frame = text_width("filter: ") + clears.len() + 1;
        let room = canvas.width().saturating_sub(used + frame).max(8);
        let filter = self.filter_text(canvas);
        let filter = truncate_end(&filter, room, canvas.charset);
        format!("filter: {filter}{clears}").into()
    }

    /// The marks, and the bytes and errors that no row has.
    fn sum_parts(&self, data: &dyn Data, canvas: &Canvas<'_>) -> Vec<FootPart> {
        let mut parts: Vec<FootPart> = Vec::new();
        let size = |bytes| self.options.format.text(bytes);
        if self.chosen.hides {
            parts.push("hidden names left out".to_owned().into());
        }
        let marked = self.marks.len() as u64;
        if marked > 0 {
            let (bytes, is_lower) = self.marks.bytes(data, self.chosen.bytes);
            let bound = lower_bound(is_lower, canvas.charset);
            parts.push(format!("{} marked: {bound}{}", grouped(marked), size(bytes)).into());
        }
        let waiting = self.marks.waiting_len() as u64;
        if waiting > 0 {
            let marks = counted(waiting, "mark", "marks");
            parts.push(format!("{marks} at the end of the scan").into());
        }
        for (bytes, words) in [
            (self.work.freed_bytes, "freed"),
            (self.work.trashed_bytes, "in the trash, in no sum here"),
        ] {
            parts.extend((bytes > 0).then(|| format!("{} {words}", size(bytes)).into()));
        }
        let scan = &self.watch.scan;
        if scan.unreadable > 0 && self.chosen.view != View::Errors {
            let errors = counted(scan.unreadable, "error", "errors");
            parts.push(format!("{errors} (7)").into());
        }
        let is_whole = self.chosen.place.len() <= 1 && self.chosen.filter.is_empty();
        let elsewhere = scan.elsewhere_bytes.filter(|_| is_whole);
        parts.extend(elsewhere.map(|bytes| format!("df says {} more (D)", size(bytes)).into()));
        parts
    }

    /// The number of rows, and that of all where there are more.
    fn rows_text(&self, one: &str, several: &str) -> String {
        let (rows, all) = (self.list.rows.len() as u64, self.list.all.count);
        match all > rows {
            true => format!("{} of {}", grouped(rows), counted(all, one, several)),
            false => counted(rows, one, several),
        }
    }

    /// The number of items that the search found, and their sum.
    fn found_text(&self, data: &dyn Data, canvas: &Canvas<'_>) -> String {
        if !matches!(self.search.pattern(), Ok(Some(_))) {
            return String::new();
        }
        if self.list.is_waiting {
            return "searching".to_owned();
        }
        let items = match data.is_final() {
            true => self.rows_text("item", "items"),
            false => self.rows_text("directory so far", "directories so far"),
        };
        match self.sum_text(canvas) {
            Some(sum) => format!("{items}, {sum}"),
            None => items,
        }
    }

    /// The sum of all items that a view has found, where there are any.
    fn sum_text(&self, canvas: &Canvas<'_>) -> Option<String> {
        let all = self.list.all;
        let bytes = self.options.format.text(all.bytes);
        let bound = lower_bound(all.is_lower, canvas.charset);
        (all.count > 0).then(|| format!("{bound}{bytes} in all"))
    }

    /// The number of directories that a program makes again, and their sum.
    fn rebuildable_text(&self, canvas: &Canvas<'_>) -> String {
        let rows = self.rows_text("directory", "directories");
        let sum = self.sum_text(canvas);
        sum.map_or_else(String::new, |sum| format!("{rows}, {sum}"))
    }

    /// The conditions of the active filter, safe for the terminal.
    pub(super) fn filter_text(&self, canvas: &Canvas<'_>) -> String {
        let filter = &self.chosen.filter;
        let mut parts = Vec::new();
        if let Some(end) = &filter.name_end {
            parts.push(format!("*{}", canvas.name(end.text().as_bytes())));
        }
        let name = filter.name.as_ref();
        parts.extend(name.map(|name| names_text(name.text(), canvas)));
        let size = |bytes: u64| self.options.format.text(bytes.into());
        parts.extend(filter.size.map(|wanted| match wanted {
            SizeFilter::AtLeast(bytes) => format!("{} or more", size(bytes)),
            SizeFilter::AtMost(bytes) => format!("{} or less", size(bytes)),
            SizeFilter::Exactly(bytes) => format!("exactly {}", size(bytes)),
        }));
        let ago = |ns| age(ns, self.now_ns);
        parts.extend((filter.changed_from_ns).map(|ns| format!("changed within {}", ago(ns))));
        parts.extend((filter.changed_before_ns).map(|ns| format!("older than {}", ago(ns))));
        parts.extend((filter.uid).map(|uid| format!("of {}", self.owner_text(uid, canvas))));
        let groups = filter.groups.iter();
        parts.extend(groups.map(|&(_, group)| self.group_name(group, canvas)));
        parts.join(", ")
    }

    fn draw_keys(&self, y: usize, canvas: &mut Canvas<'_>) {
        let keys: &[&str] = match &self.mode {
            Mode::Text => &["Enter keep", "Esc clear", "Ctrl-u empty"],
            Mode::Search => &["Enter keep", "Esc back", "Ctrl-u empty"],
            Mode::Jump(_) => &["Enter done", "Esc done"],
            Mode::File(_) => &["Enter write", "Esc leave it"],
            Mode::Form(_) => &["Enter filter", "Tab next field", "Esc leave it"],
            Mode::Help(..) => &["Esc close", "type to search"],
            Mode::Space(..) => &["Esc close", "j k scroll"],
            Mode::Survey(_) => &["Esc leave it"],
            Mode::Remove(dialog) => return draw_key_line(&dialog.keys(), y, canvas),
            Mode::Report(..) => &["Esc close", "j k scroll"],
            Mode::Info(..) => &["Esc close", "y copy path", "j k next item"],
            Mode::Rows => match self.chosen.view {
                View::Tree if self.search.has_left() => &[
                    "? help",
                    "Esc results",
                    "F search",
                    "f filter",
                    "Tab views",
                    "Space mark",
                    "q quit",
                    "i info",
                ],
                View::Tree => &[
                    "? help",
                    "/ names",
                    "F search",
                    "f filter",
                    "s sort",
                    "Tab views",
                    "Space mark",
                    "q quit",
                    "i info",
                ],
                View::Found => &[
                    "? help",
                    "Enter show",
                    "Esc back",
                    "F other text",
                    "Space mark",
                    "s sort",
                    "q quit",
                    "i info",
                ],
                View::Rebuildable => &[
                    "? help",
                    "Enter show",
                    "Space mark",
                    "* mark all",
                    "Tab views",
                    "i info",
                    "q quit",
                ],
                View::Largest | View::Marks => &[
                    "? help",
                    "Enter show",
                    "Tab views",
                    "Space mark",
                    "i info",
                    "q quit",
                ],
                View::Groups(by) => match by {
                    Grouping::Category => &[
                        "? help",
                        "Enter filter",
                        "3 endings",
                        "Tab views",
                        "1 tree",
                        "q quit",
                    ],
                    Grouping::Type => &[
                        "? help",
                        "Enter filter",
                        "3 types",
                        "Tab views",
                        "1 tree",
                        "q quit",
                    ],
                    _ => &["? help", "Enter filter", "Tab views", "1 tree", "q quit"],
                },
                View::Errors => &["? help", "/ names", "Tab views", "1 tree", "q quit"],
            },
        };
        draw_key_line(keys, y, canvas);
    }
}

/// The parts in a line. Where not all fit, minor ones give way, the last first.
fn fit(mut parts: Vec<FootPart>, canvas: &Canvas<'_>) -> String {
    let separator = match canvas.charset {
        Charset::Unicode => " · ",
        Charset::Ascii => ", ",
    };
    let line = |parts: &[FootPart]| {
        let texts: Vec<&str> = parts.iter().map(|part| &part.text[..]).collect();
        texts.join(separator)
    };
    let whole = line(&parts);
    let mut text = whole.clone();
    while text_width(&text) > canvas.width() - 1 {
        // The end is cut in any case.
        let Some(last) = parts.iter().rposition(|part| part.shorter.is_some()) else {
            return whole;
        };
        match parts[last].shorter.replace(String::new()) {
            Some(short) if !short.is_empty() => parts[last].text = short,
            _ => drop(parts.remove(last)),
        }
        text = line(&parts);
    }
    text
}

/// The names that a typed text stands for, safe for the terminal.
pub(super) fn names_text(text: &str, canvas: &Canvas<'_>) -> String {
    let shown = canvas.name(text.as_bytes());
    match NamePattern::typed(text).is_ok_and(|pattern| pattern.is_glob()) {
        true => format!("names like {shown}"),
        false => format!("names with '{shown}'"),
    }
}

/// The condition that a typed text is for a name, safe for the terminal.
pub(super) fn name_condition(text: &str, canvas: &Canvas<'_>) -> String {
    let shown = canvas.name(text.as_bytes());
    match NamePattern::typed(text).is_ok_and(|pattern| pattern.is_glob()) {
        true => format!("is like {shown}"),
        false => format!("holds '{shown}'"),
    }
}

/// The keys that fit, from left to right.
fn draw_key_line(keys: &[impl AsRef<str>], y: usize, canvas: &mut Canvas<'_>) {
    let mut x = 1;
    for key in keys {
        let width = text_width(key.as_ref());
        if x + width > canvas.width() {
            continue;
        }
        canvas.text(x, y, width, key.as_ref(), Look::Dim);
        x += width + 2;
    }
}
