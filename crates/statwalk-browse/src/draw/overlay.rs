// SPDX-License-Identifier: MIT OR Apache-2.0

//! Boxes above the rows: help, facts about an item, the form of a filter.

use statwalk_view::{Kind, SizeFormat, Unit, grouped, text_width};

use super::canvas::{Canvas, Look};
use super::cursor::Cursor;
use crate::browser::Browser;
use crate::data::{Data, Item, ItemId};
use crate::event::Details;
use crate::keys::TABLE;
use crate::prompt::{FIELDS, Form, Line};

/// The signs of rows, as in the second column.
const SIGNS: [(&str, &str); 10] = [
    ("*", "marked"),
    ("!", "could not be read"),
    (".", "something below was not read: a lower bound"),
    ("<", "excluded"),
    (">", "another file system"),
    ("~", "changed while it was read"),
    ("H", "counts under another of its names"),
    ("h", "has other names"),
    ("@", "a link, device, socket or pipe"),
    ("e", "an empty directory"),
];

/// The effects of the mouse.
const MOUSE: [(&str, &str); 4] = [
    ("press row", "mouse: the cursor to it"),
    ("press again", "mouse: open it, as Enter"),
    ("wheel", "mouse: scroll"),
    ("press title", "mouse: sort by it; again: reverse"),
];

impl Browser {
    /// The keys and their sentences, from a line on.
    pub(super) fn draw_help(&self, top: usize, line: &Line, canvas: &mut Canvas<'_>) -> Cursor {
        let wanted = line.text.to_lowercase();
        let mut rows: Vec<(String, String)> = Vec::new();
        for row in &TABLE {
            let keys = self.options.keymap.names(row);
            if !keys.is_empty() {
                rows.push((keys, row.3.to_owned()));
            }
        }
        let mouse = MOUSE.iter();
        rows.extend(mouse.map(|(press, text)| ((*press).to_owned(), (*text).to_owned())));
        let signs = SIGNS.iter();
        rows.extend(signs.map(|(sign, text)| (format!("{sign} (sign)"), (*text).to_owned())));
        rows.retain(|(keys, text)| {
            keys.to_lowercase().contains(&wanted) || text.to_lowercase().contains(&wanted)
        });
        let width = canvas.width().min(72);
        // Without the frame.
        let inner = width.saturating_sub(4);
        let keys_width = (inner / 3).clamp(10, 22);
        let rest = inner.saturating_sub(keys_width + 1);
        let mut lines: Vec<(String, String)> = Vec::new();
        for (keys, text) in &rows {
            let (keys, text) = (canvas.wrap(keys, keys_width), canvas.wrap(text, rest));
            for line in 0..keys.len().max(text.len()) {
                let part = |of: &[String]| of.get(line).cloned().unwrap_or_default();
                lines.push((part(&keys), part(&text)));
            }
        }
        let height = canvas
            .height()
            .saturating_sub(2)
            .min(lines.len().max(3) + 3);
        let [x, y, width, height] = canvas.frame("Keys", width, height);
        let shown = height.saturating_sub(1);
        let top = top.min(lines.len().saturating_sub(shown));
        for (line, (keys, text)) in lines.iter().skip(top).take(shown).enumerate() {
            canvas.text(x, y + line, keys_width, keys, Look::Bold);
            canvas.text(x + keys_width + 1, y + line, rest, text, Look::Plain);
        }
        let typed = canvas.name(line.text.as_bytes());
        let search = format!("search: {typed}");
        canvas.text(x, y + shown, width, &search, Look::Dim);
        let end = (x + text_width(&search)).min(x + width);
        Cursor::of_text(end, y + shown)
    }

    /// Everything about an item: what the scan knows, then what the system answered.
    pub(super) fn draw_info(
        &self,
        id: ItemId,
        details: Option<&Details>,
        data: &dyn Data,
        canvas: &mut Canvas<'_>,
    ) -> Option<Cursor> {
        let (item, path) = (data.item(id)?, data.path(id)?);
        let rows = self.info_rows(&item, details);
        let width = canvas.width().min(76);
        let path = pieces(&canvas.name(&path), width.saturating_sub(4));
        let height = canvas
            .height()
            .saturating_sub(2)
            .min(rows.len() + path.len() + 3);
        let [x, y, width, height] = canvas.frame("Item", width, height);
        let cursor = Some(Cursor::of_choice(x, y));
        let mut line = 0;
        for piece in &path {
            canvas.text(x, y + line, width, piece, Look::Bold);
            line += 1;
        }
        line += 1;
        for (title, text) in rows {
            let room = width.saturating_sub(17);
            for (number, piece) in canvas.wrap(&text, room.max(1)).iter().enumerate() {
                if line >= height {
                    return cursor;
                }
                if number == 0 {
                    canvas.text(x, y + line, 16, title, Look::Dim);
                }
                canvas.text(x + 17, y + line, room, piece, Look::Plain);
                line += 1;
            }
        }
        cursor
    }

    fn info_rows(&self, item: &Item<'_>, details: Option<&Details>) -> Vec<(&'static str, String)> {
        let bytes = |bytes: u128| {
            let exact = SizeFormat::Unit(Unit::B).text(bytes);
            match bytes {
                ..1024 => exact,
                _ => format!("{} ({exact})", self.options.format.text(bytes)),
            }
        };
        let mut rows = vec![
            ("Disk usage", bytes(item.allocated_bytes)),
            ("Apparent size", bytes(item.apparent_bytes)),
        ];
        if item.kind == Kind::Directory {
            rows.push(("Entries", grouped(item.entries)));
        }
        match details {
            None => rows.push(("", "asking the system".to_owned())),
            Some(details) => rows.extend(details.rows.iter().cloned()),
        }
        let notes = item.notes;
        let sentences = [
            (notes.is_unreadable, "could not be read"),
            (
                notes.is_incomplete,
                "something below was not read: the numbers are lower bounds",
            ),
            (notes.is_excluded, "excluded"),
            (notes.is_mount, "another file system"),
            (notes.has_changed, "changed while it was read"),
            (
                notes.counts_elsewhere,
                "its bytes count under another of its names",
            ),
        ];
        let sentences = sentences.into_iter().filter(|(is_true, _)| *is_true);
        rows.extend(sentences.map(|(_, text)| ("Note", text.to_owned())));
        rows
    }

    /// The table of the space of a file system, from a line on.
    pub(super) fn draw_space(
        &self,
        table: Option<&[String]>,
        top: usize,
        canvas: &mut Canvas<'_>,
    ) -> Cursor {
        let waiting = ["reading the file system".to_owned()];
        let lines = table.unwrap_or(&waiting);
        let widest = lines.iter().map(|line| text_width(line)).max();
        let width = (widest.unwrap_or(0).max(20) + 4).min(canvas.width());
        let height = (lines.len() + 2).min(canvas.height().saturating_sub(2));
        let [x, y, width, height] = canvas.frame("Space", width, height);
        for (line, text) in lines.iter().skip(top).take(height).enumerate() {
            canvas.text(x, y + line, width, text, Look::Plain);
        }
        Cursor::of_choice(x, y)
    }

    pub(super) fn draw_form(&self, form: &Form, canvas: &mut Canvas<'_>) -> Cursor {
        let height = FIELDS.len() + 4;
        let width = canvas.width().min(64);
        let [x, y, width, _] = canvas.frame("Filter", width, height);
        let start = 16;
        let mut cursor = Cursor::of_text(x, y);
        for (place, ((title, example), line)) in FIELDS.iter().zip(&form.fields).enumerate() {
            let is_here = place == form.place;
            let look = if is_here { Look::Bold } else { Look::Plain };
            canvas.text(x, y + place, start, title, look);
            let typed = canvas.name(line.text.as_bytes());
            match typed.is_empty() {
                true => canvas.text(x + start, y + place, width - start, example, Look::Dim),
                false => canvas.text(x + start, y + place, width - start, &typed, look),
            }
            if is_here {
                let end = (x + start + text_width(&typed)).min(x + width);
                cursor = Cursor::of_text(end, y + place);
            }
        }
        if let Some(error) = &form.error {
            let error = canvas.name(error.as_bytes());
            canvas.text(x, y + FIELDS.len() + 1, width, &error, Look::Alarm);
        }
        cursor
    }
}

/// A text in pieces of a width, without a sign of what was cut: a path is copied by eye.
pub(super) fn pieces(text: &str, width: usize) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut piece = String::new();
    for c in text.chars() {
        piece.push(c);
        if text_width(&piece) > width {
            piece.pop();
            pieces.push(std::mem::replace(&mut piece, c.to_string()));
        }
    }
    pieces.push(piece);
    pieces
}
