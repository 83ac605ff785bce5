// SPDX-License-Identifier: MIT OR Apache-2.0

//! The lines above the rows: the directory with its sums, and the titles of columns.

use statwalk_view::{Charset, counted, grouped, text_width, truncate_to_width};

use super::canvas::{Canvas, Look};
use crate::browser::Browser;
use crate::data::Data;
use crate::filter::{Bytes, SortKey};
use crate::view::View;

/// The sign before a lower bound.
pub(super) fn lower_bound(is_lower: bool, charset: Charset) -> &'static str {
    match (is_lower, charset) {
        (false, _) => "",
        (true, Charset::Unicode) => "≥ ",
        (true, Charset::Ascii) => ">= ",
    }
}

impl Browser {
    pub(super) fn draw_head(&self, data: &dyn Data, canvas: &mut Canvas<'_>) {
        let width = canvas.width();
        let forms = self.totals(data);
        let fits = |form: &&String| text_width(form) <= width / 2;
        let right = forms.iter().find(fits).or(forms.last());
        let right = right.map_or("", String::as_str);
        let right_width = text_width(right).min(width / 2);
        canvas.right(width - right_width - 1, 0, right_width, right, Look::Bold);
        let path = match self.directory() {
            Some(dir) => canvas.name(&data.path(dir).unwrap_or_default()),
            None => "all paths".to_owned(),
        };
        let view = match self.chosen.view {
            View::Tree => "statwalk".to_owned(),
            view => view.title().to_owned(),
        };
        let left_width = width.saturating_sub(right_width + 3);
        let path_width = left_width.saturating_sub(text_width(&view) + 2);
        let path = truncate_to_width(&path, path_width, canvas.charset);
        canvas.text(1, 0, left_width, &format!("{view}  {path}"), Look::Bold);
        canvas.reverse(0);
        self.draw_titles(canvas);
    }

    /// The sums of the directory, the longest form first.
    fn totals(&self, data: &dyn Data) -> Vec<String> {
        let items = match self.directory() {
            Some(dir) => vec![dir],
            None => data.roots(),
        };
        let items: Vec<_> = items.into_iter().filter_map(|id| data.item(id)).collect();
        if items.is_empty() {
            return Vec::new();
        }
        let bytes = items.iter().map(|item| self.chosen.bytes.of(item)).sum();
        let entries = items.iter().map(|item| item.entries).sum();
        let is_lower = !data.is_final() || items.iter().any(|item| item.notes.is_incomplete);
        let bound = lower_bound(is_lower, self.options.charset);
        let size = self.options.format.text(bytes);
        let sum = format!("{bound}{size}");
        let long = format!("{sum}, {}", counted(entries, "entry", "entries"));
        vec![long, format!("{sum}, {}", grouped(entries)), sum]
    }

    fn draw_titles(&self, canvas: &mut Canvas<'_>) {
        let widths = self.widths();
        let look = |key: SortKey| match self.chosen.sort.key == key {
            true => Look::Bold,
            false => Look::Dim,
        };
        let size = match self.chosen.bytes {
            Bytes::Disk => "DISK",
            Bytes::Apparent => "APPARENT",
        };
        let titles = [
            size,
            "SHARE",
            "",
            "ENTRIES",
            "NEWEST",
            "OWNER",
            "REBUILT BY",
        ];
        for ((start, width, key), title) in widths.starts().into_iter().zip(titles) {
            let is_left = matches!(title, "OWNER" | "REBUILT BY");
            match is_left {
                true if title == "REBUILT BY" => {
                    canvas.text(start, 1, width, title, Look::Dim);
                }
                true => canvas.text(start, 1, width, title, look(key)),
                false => canvas.right(start, 1, width, title, look(key)),
            }
        }
        let name = match self.chosen.view {
            View::Tree => "NAME",
            View::Largest | View::Marks | View::Rebuildable | View::Found => "PATH",
            View::Groups(_) => "GROUP",
            View::Errors => "WHAT COULD NOT BE READ",
        };
        let reversed = match self.chosen.sort.is_reversed {
            true => ", reversed",
            false => "",
        };
        let title = format!("{name}{reversed}");
        canvas.text(
            widths.name_start(),
            1,
            widths.name,
            &title,
            look(SortKey::Name),
        );
    }
}
