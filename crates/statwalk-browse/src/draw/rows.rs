// SPDX-License-Identifier: MIT OR Apache-2.0

//! The rows, and only those that the screen has room for.

use statwalk_group::{Extension, FileType, GroupKey};
use statwalk_view::{Kind, age, bar, grouped, share, text_width, truncate_to_width};

use super::canvas::{Canvas, Look};
use super::cursor::Cursor;
use super::foot::name_condition;
use crate::browser::{Browser, HEAD_LINES, Mode};
use crate::columns::Widths;
use crate::data::{Data, Fault, Item, ItemId};
use crate::keys::{Action, TABLE};
use crate::list::ListRows;
use crate::search;
use crate::tally::GroupTally;
use crate::view::View;

/// The first column of a fault, behind those of the marks.
const FAULT_START: usize = 2;

/// The cells of a row, from left to right.
struct RowCells {
    marks: String,
    size: String,
    percent: String,
    bar: String,
    entries: String,
    newest: String,
    owner: String,
    program: &'static str,
    name: String,
    look: Look,
}

impl Browser {
    /// Draws the rows. Answers with the first cell of the selected row's name, or of the text
    /// where there is no row.
    pub(super) fn draw_rows(&mut self, data: &dyn Data, canvas: &mut Canvas<'_>) -> Cursor {
        let height = self.row_count();
        let top = self.list.scroll(height);
        let widths = self.widths();
        if self.list.rows.len() == 0 {
            let text = self.empty_text(data, canvas);
            let width = canvas.width().saturating_sub(widths.marks);
            for (line, text) in canvas.wrap(&text, width).iter().take(height).enumerate() {
                let y = HEAD_LINES + line;
                canvas.text(widths.marks, y, usize::MAX, text, Look::Dim);
            }
            return Cursor::of_choice(widths.marks, HEAD_LINES);
        }
        let mut cursor = Cursor::of_choice(0, HEAD_LINES);
        let sums = self.sums_of_now(data);
        for line in 0..height.min(self.list.rows.len() - top) {
            let place = top + line;
            let y = HEAD_LINES + line;
            match &self.list.rows {
                ListRows::Items(ids) => {
                    let id = ids[place];
                    if let Some(item) = data.item(id) {
                        let cells = self.item_cells(id, &item, data, sums, &widths, canvas);
                        let program = self.list.programs.get(place).copied();
                        let cells = RowCells {
                            program: program.unwrap_or_default(),
                            ..cells
                        };
                        draw_cells(&cells, &widths, y, canvas);
                    }
                }
                ListRows::Groups(groups) => {
                    let cells = self.group_cells(&groups[place], &widths, canvas);
                    draw_cells(&cells, &widths, y, canvas);
                }
                ListRows::Faults(faults, _) => draw_fault(&faults[place], y, canvas),
            }
            if place == self.list.cursor() {
                canvas.reverse(y);
                let x = match &self.list.rows {
                    ListRows::Faults(..) => FAULT_START,
                    ListRows::Items(_) | ListRows::Groups(_) => widths.name_start(),
                };
                cursor = Cursor::of_choice(x.min(canvas.width() - 1), y);
            }
        }
        cursor
    }

    /// The size of the whole, and of the largest row. While a scan goes on, rows show sums
    /// of now, so their shares are shares of a sum of now.
    fn sums_of_now(&self, data: &dyn Data) -> (u128, u128) {
        let of_answer = (self.list.whole, self.list.largest);
        let ListRows::Items(ids) = &self.list.rows else {
            return of_answer;
        };
        if data.is_final() {
            return of_answer;
        }
        let bytes = |id: &ItemId| data.item(*id).map_or(0, |item| self.chosen.bytes.of(&item));
        let sum: u128 = ids.iter().map(bytes).sum();
        let largest = ids.iter().map(bytes).max().unwrap_or(0);
        let dir = (self.directory()).filter(|_| self.chosen.view != View::Marks);
        (dir.map_or(0, |dir| bytes(&dir)).max(sum), largest)
    }

    fn empty_text(&self, data: &dyn Data, canvas: &Canvas<'_>) -> String {
        let no_pattern = search::pattern(&self.chosen.text).err();
        let no_pattern = no_pattern.or(match self.chosen.view {
            View::Found => self.search.pattern().err(),
            _ => None,
        });
        if let Some(reason) = no_pattern {
            return canvas.name(reason.as_bytes());
        }
        let text = match (self.list.is_waiting, self.chosen.view) {
            (true, View::Tree) if !self.watch.scan.is_over => "reading",
            (true, View::Found | View::Rebuildable) => "searching",
            (true, _) => "working",
            (false, View::Marks) => "nothing is marked: Space marks the item",
            (false, View::Errors) if self.watch.scan.is_interrupted => {
                "no error until the scan was stopped"
            }
            (false, View::Errors) if data.is_final() => "everything could be read",
            (false, View::Errors) => "no error so far",
            (false, View::Rebuildable) if self.options.follows_links => {
                "not known with -L: a link is no proof"
            }
            (false, View::Rebuildable) if !data.is_final() => {
                "known at the end of the scan: files are the proof"
            }
            (false, View::Found) if self.search.text.text.is_empty() => {
                let mut rows = TABLE.iter();
                let row = rows.find(|(action, ..)| *action == Action::Search);
                let keys = row.map_or_else(String::new, |row| self.options.keymap.names(row));
                return match self.mode {
                    Mode::Search => "type a part of a name, or a pattern such as *.iso".to_owned(),
                    _ => canvas.name(format!("{keys} searches names below").as_bytes()),
                };
            }
            (false, View::Found) if !data.is_final() => {
                "no directory so far: files come at the end of the scan"
            }
            (false, _) if !self.chosen.text.text.is_empty() || !self.chosen.filter.is_empty() => {
                return self.nothing_passes(canvas);
            }
            (false, View::Found) => {
                let condition = name_condition(&self.search.text.text, canvas);
                return format!("no name below {condition}");
            }
            (false, View::Rebuildable) => "no directory below that a program makes again",
            (false, _) if !data.is_final() => "reading",
            (false, _) => self.empty_reason(data),
        };
        text.to_owned()
    }

    /// Names what Esc clears first: the text, then the filter.
    fn nothing_passes(&self, canvas: &Canvas<'_>) -> String {
        let condition = name_condition(&self.chosen.text.text, canvas);
        let filter = self.filter_text(canvas);
        match (
            self.chosen.text.text.is_empty(),
            self.chosen.filter.is_empty(),
            self.chosen.view,
        ) {
            (true, _, View::Found) => {
                let condition = name_condition(&self.search.text.text, canvas);
                format!("no name below {condition} and passes the filter {filter}")
            }
            (true, ..) => format!("nothing passes the filter {filter}: Esc clears it"),
            (false, _, View::Found) => {
                format!("no name that was found {condition}: Esc clears the text")
            }
            (false, true, _) => format!("no name here {condition}: Esc clears it"),
            (false, false, _) => {
                format!("no name that passes the filter {condition}: Esc clears the text")
            }
        }
    }

    /// The reason why a directory without rows has none.
    fn empty_reason(&self, data: &dyn Data) -> &'static str {
        let Some(item) = self.directory().and_then(|dir| data.item(dir)) else {
            return "empty";
        };
        match item.notes {
            notes if notes.is_unreadable => "could not be read",
            notes if notes.is_excluded => "left out",
            notes if notes.is_mount => "another file system, which was not read",
            notes if notes.is_incomplete => "not read to the end",
            _ if self.chosen.hides && item.entries > 1 => "every name here is hidden",
            _ if self.chosen.view == View::Largest && item.entries > 1 => "no file below",
            _ => "empty",
        }
    }

    fn item_cells(
        &self,
        id: ItemId,
        item: &Item<'_>,
        data: &dyn Data,
        (whole, largest): (u128, u128),
        widths: &Widths,
        canvas: &Canvas<'_>,
    ) -> RowCells {
        let bytes = self.chosen.bytes.of(item);
        let absent = || canvas.charset.absent().to_owned();
        let owner = match item.uid {
            None => absent(),
            Some(uid) => self.owner_text(uid, canvas),
        };
        let is_dir = item.kind == Kind::Directory;
        let has_path = self.chosen.place.is_empty()
            || matches!(
                self.chosen.view,
                View::Largest | View::Marks | View::Rebuildable | View::Found
            );
        let mut name = match (item.kind, has_path) {
            (Kind::Rest, _) => "<files>".to_owned(),
            (_, true) => canvas.name(&self.short_path(id, data)),
            (_, false) => canvas.name(&item.name),
        };
        if is_dir && !name.ends_with('/') {
            name.push('/');
        }
        let is_marked = self.marks.has(id);
        let mark = if is_marked { '*' } else { ' ' };
        // Under a filter a directory counts the items that pass, and not itself.
        let knows_empty = data.is_final() && self.chosen.filter.is_empty();
        RowCells {
            marks: format!("{mark}{}", letter(item, knows_empty)),
            size: self.options.format.text(bytes),
            percent: share(bytes, whole),
            bar: bar(bytes, largest, widths.bar, canvas.charset),
            entries: grouped(item.entries),
            newest: (item.newest_ns).map_or_else(absent, |ns| age(ns, self.now_ns)),
            owner,
            program: "",
            name,
            look: match (is_marked, is_dir) {
                (true, _) => Look::Marked,
                (_, true) => Look::Bold,
                (..) => Look::Plain,
            },
        }
    }

    /// The path below the directory that is shown.
    fn short_path(&self, id: ItemId, data: &dyn Data) -> Vec<u8> {
        let path = data.path(id).unwrap_or_default();
        let dir = self.directory().filter(|_| self.chosen.view != View::Marks);
        let Some(above) = dir.and_then(|dir| data.path(dir)) else {
            return path;
        };
        match path.strip_prefix(&above[..]) {
            Some([b'/', rest @ ..]) if !rest.is_empty() => rest.to_vec(),
            Some(rest) if above.ends_with(b"/") && !rest.is_empty() => rest.to_vec(),
            _ => path,
        }
    }

    fn group_cells(&self, tally: &GroupTally, widths: &Widths, canvas: &Canvas<'_>) -> RowCells {
        let bytes = self.chosen.bytes.of_sums(&tally.sums);
        let absent = || canvas.charset.absent().to_owned();
        let name = self.group_name(tally.group, canvas);
        RowCells {
            marks: String::new(),
            size: self.options.format.text(bytes),
            percent: share(bytes, self.list.whole),
            bar: bar(bytes, self.list.largest, widths.bar, canvas.charset),
            entries: grouped(tally.sums.entries),
            newest: (tally.sums.newest_mtime_ns).map_or_else(absent, |ns| age(ns, self.now_ns)),
            owner: String::new(),
            program: "",
            name,
            look: Look::Plain,
        }
    }

    /// The name of a group, safe for the terminal.
    pub(super) fn group_name(&self, group: GroupKey, canvas: &Canvas<'_>) -> String {
        match group {
            GroupKey::Kind(FileType::Unknown) => "links, devices, sockets, pipes".to_owned(),
            GroupKey::Extension(none) if none == Extension::of_name(b"") => "no ending".to_owned(),
            GroupKey::Owner(uid) => self.owner_text(uid, canvas),
            group => group.label(),
        }
    }

    /// The name of an owner, or the number where nobody knows it.
    pub(super) fn owner_text(&self, uid: u32, canvas: &Canvas<'_>) -> String {
        match self.options.owners.get(uid) {
            Some(name) => canvas.name(name.as_bytes()),
            None => uid.to_string(),
        }
    }
}

/// The letter of an item, as in ncdu's manual.
///
/// While a scan goes on, a directory without entries can be one that nobody has read.
fn letter(item: &Item<'_>, knows_empty: bool) -> char {
    let notes = item.notes;
    let is_dir = item.kind == Kind::Directory;
    match item.kind {
        _ if notes.is_unreadable => '!',
        _ if notes.is_excluded => '<',
        _ if notes.is_mount => '>',
        _ if notes.counts_elsewhere => 'H',
        _ if notes.has_changed => '~',
        _ if notes.is_incomplete => '.',
        _ if is_dir && knows_empty && item.entries <= 1 => 'e',
        Kind::Link | Kind::Other => '@',
        Kind::File if notes.has_other_names => 'h',
        _ => ' ',
    }
}

fn draw_cells(cells: &RowCells, widths: &Widths, y: usize, canvas: &mut Canvas<'_>) {
    let alarm = match cells.marks.ends_with('!') {
        true => Look::Alarm,
        false => Look::Marked,
    };
    canvas.text(0, y, widths.marks, &cells.marks, alarm);
    let texts = [
        (&cells.size, Look::Plain),
        (&cells.percent, Look::Plain),
        (&cells.bar, Look::Bar),
        (&cells.entries, Look::Plain),
        (&cells.newest, Look::Dim),
    ];
    for ((start, width, _), (text, look)) in widths.starts().into_iter().zip(texts) {
        canvas.right(start, y, width, text, look);
    }
    let (start, width, _) = widths.starts()[5];
    canvas.text(start, y, width, &cells.owner, Look::Dim);
    let (start, width, _) = widths.starts()[6];
    canvas.text(start, y, width, cells.program, Look::Plain);
    let name = truncate_to_width(&cells.name, widths.name, canvas.charset);
    canvas.text(widths.name_start(), y, widths.name, &name, cells.look);
}

fn draw_fault(fault: &Fault, y: usize, canvas: &mut Canvas<'_>) {
    let width = canvas.width().saturating_sub(FAULT_START);
    let cause = canvas.name(fault.cause.as_bytes());
    let cause_width = text_width(&cause).min(width / 2);
    let path = canvas.name(&fault.path);
    let path_width = width.saturating_sub(cause_width + 2);
    let path = truncate_to_width(&path, path_width, canvas.charset).into_owned();
    canvas.text(FAULT_START, y, path_width, &path, Look::Plain);
    canvas.text(
        FAULT_START + text_width(&path) + 2,
        y,
        cause_width,
        &cause,
        Look::Dim,
    );
}
