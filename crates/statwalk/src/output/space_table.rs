// SPDX-License-Identifier: MIT OR Apache-2.0

//! The used space of one file system as a table, with the sentences below it.

use std::cmp::Reverse;
use std::os::unix::ffi::OsStrExt;

use statwalk_space::{FileSystem, HiddenDirectory, SpaceAccount, UnnamedFile, UsedPart};
use statwalk_view::{
    Align, Cell, Charset, Column, SizeFormat, Terminal, counted, escape, grouped, list_table,
    share, shell_word, truncate_end, wrap,
};

use crate::output::printer::ROWS_FOR_SENTENCES;

/// The line of a small screen for everything that has no room on it.
const MORE: &str = "More: the same with --table | less";

/// The lines beside the rows: the title, the head of the table, [`MORE`] and the prompt.
const LINES_BESIDE: usize = 4;

/// The fewest rows of a table: free, used, one part and the others.
const ROWS_MIN: usize = 4;

/// A file system whose used bytes are explained.
pub(crate) struct SpaceTable<'a> {
    pub(crate) file_system: &'a FileSystem,
    pub(crate) account: &'a SpaceAccount,
    /// The blocks of the entries that the scan reached.
    pub(crate) reached_bytes: u128,
    pub(crate) format: SizeFormat,
    /// The most rows of files, and of hidden directories.
    pub(crate) details_max: usize,
}

struct SpaceRow {
    bytes: i128,
    words: String,
}

/// A size that can be below zero.
pub(crate) fn signed_text(format: SizeFormat, bytes: impl Into<i128>) -> String {
    let bytes = bytes.into();
    let text = format.text(bytes.unsigned_abs());
    match bytes < 0 {
        true => format!("-{text}"),
        false => text,
    }
}

impl SpaceTable<'_> {
    /// The tables, and the sentences below them. On few rows the largest parts alone are
    /// shown, and a line says how to see the rest.
    pub(crate) fn lines(&self, rows_max: usize, terminal: Terminal) -> Vec<String> {
        if rows_max < ROWS_FOR_SENTENCES {
            return self.brief_lines(rows_max, terminal);
        }
        let mut lines = wrap(&self.title(terminal), terminal);
        let (head, parts) = self.rows();
        let parts = parts.into_iter().map(|row| SpaceRow {
            words: format!("  {}", row.words),
            ..row
        });
        lines.extend(self.table(head.into_iter().chain(parts), terminal));
        lines.extend(self.file_lines(terminal));
        lines.extend(self.hidden_lines(terminal));
        let sentences = self.sentences();
        if !sentences.is_empty() {
            lines.push(String::new());
        }
        lines.extend(sentences.iter().flat_map(|text| wrap(text, terminal)));
        if sentences.is_empty() {
            lines.push(String::new());
        }
        lines.extend(wrap(&self.inodes(), terminal));
        lines
    }

    /// The sentence about inodes: without a free one, free space takes no file.
    fn inodes(&self) -> String {
        let capacity = &self.account.capacity;
        let (Some(used), Some(total)) = (capacity.used_inodes, capacity.total_inodes) else {
            return "Inodes: the kernel tells no number of this file system.".to_owned();
        };
        let share = share(used.into(), total.into());
        let (used_text, total_text) = (grouped(used), grouped(total));
        let none_free = match used == total {
            true => "; none is free, so it takes no new file",
            false => "",
        };
        format!(
            "Inodes: {used_text} of {total_text} in use, {}{none_free}.",
            share.trim_start()
        )
    }

    fn brief_lines(&self, rows_max: usize, terminal: Terminal) -> Vec<String> {
        let title = self.title(terminal);
        let title = truncate_end(&title, terminal.width, terminal.charset).into_owned();
        let room = rows_max.saturating_sub(LINES_BESIDE).max(ROWS_MIN);
        let (head, mut parts) = self.rows();
        let mut is_whole = self.sentences().is_empty()
            && !has_no_free_inode(self.account)
            && self.account.unnamed.is_empty()
            && self.hidden().next().is_none();
        let head: Vec<SpaceRow> = match head.len() + parts.len() > room {
            // The last ones are the free and the used space.
            true => {
                is_whole = false;
                let others = |row: &SpaceRow| row.words == FREE || row.words == USED;
                head.into_iter().filter(others).collect()
            }
            false => head,
        };
        let kept = room.saturating_sub(head.len() + 1);
        if head.len() + parts.len() > room {
            is_whole = false;
            let mut by_size: Vec<usize> = (0..parts.len()).collect();
            by_size.sort_by_key(|&index| Reverse(parts[index].bytes.unsigned_abs()));
            by_size.truncate(kept);
            let (mut rest, mut count, mut index) = (0_i128, 0, 0);
            parts.retain(|row| {
                let is_kept = by_size.contains(&index);
                index += 1;
                if !is_kept {
                    rest += row.bytes;
                    count += 1;
                }
                is_kept
            });
            let ellipsis = terminal.charset.ellipsis();
            let words = format!("{ellipsis} {count} more");
            parts.push(SpaceRow { bytes: rest, words });
        }
        let parts = parts.into_iter().map(|row| SpaceRow {
            words: format!("  {}", row.words),
            ..row
        });
        let mut lines = vec![title];
        lines.extend(self.table(head.into_iter().chain(parts), terminal));
        if !is_whole {
            lines.push(truncate_end(MORE, terminal.width, terminal.charset).into_owned());
        }
        lines
    }

    /// The line that names the file system.
    fn title(&self, terminal: Terminal) -> String {
        let charset = terminal.charset;
        let point = escape(self.file_system.point().as_os_str().as_bytes(), charset);
        let size = self.format.text(self.whole_bytes().into());
        match (self.file_system.file_system(), self.file_system.source()) {
            (Some(kind), Some(source)) if self.whole_bytes() > 0 => {
                let kind = escape(kind.as_bytes(), charset);
                let source = escape(source, charset);
                format!("{point}: {kind} on {source}, {size} = 100 %")
            }
            (_, _) if self.whole_bytes() > 0 => format!("{point}: {size} = 100 %"),
            _ => point.into_owned(),
        }
    }

    /// The size of the file system: the base of all shares.
    fn whole_bytes(&self) -> u64 {
        self.account.capacity.total_bytes + self.outside_bytes().unwrap_or(0)
    }

    /// The space of the device that is not in the blocks of files.
    fn outside_bytes(&self) -> Option<u64> {
        let capacity = self.account.capacity;
        // statfs counts the devices of a btrfs together.
        let device = capacity
            .device_bytes
            .filter(|_| self.file_system.file_system() != Some("btrfs"));
        let outside = device?.checked_sub(capacity.total_bytes);
        outside.filter(|bytes| *bytes > 0)
    }

    /// The rows of the device, and those of the parts of the used bytes.
    fn rows(&self) -> (Vec<SpaceRow>, Vec<SpaceRow>) {
        let capacity = self.account.capacity;
        let row = |bytes: u64, words: &str| SpaceRow {
            bytes: bytes.into(),
            words: words.to_owned(),
        };
        let mut head = Vec::new();
        if let Some(outside) = self.outside_bytes() {
            head.push(row(
                outside,
                "outside the blocks of files: metadata, journal",
            ));
        }
        head.push(row(capacity.free_bytes, FREE));
        if capacity.reserved_bytes > 0 {
            head.push(row(capacity.reserved_bytes, "  of this reserved for root"));
        }
        head.push(row(capacity.used_bytes, USED));
        let parts = self.account.parts.iter();
        let shown = parts.filter(|(part, bytes)| *bytes != 0 || *part == UsedPart::Remainder);
        let parts = shown.map(|(part, bytes)| SpaceRow {
            bytes: i128::from(*bytes),
            words: part.label().to_owned(),
        });
        (head, parts.collect())
    }

    /// The lines of the table. All shares have one base, so they add up.
    fn table(&self, rows: impl Iterator<Item = SpaceRow>, terminal: Terminal) -> Vec<String> {
        let columns = [
            Column::new("DISK", Align::Right),
            Column::new("SHARE", Align::Right).optional(),
            Column::new("SPACE", Align::Left),
        ];
        let whole = u128::from(self.whole_bytes());
        let rows = rows.map(|row| {
            let sign = if row.bytes < 0 { "-" } else { "" };
            // A file system can say that more is free than it has.
            let share = match row.bytes.unsigned_abs() {
                bytes if bytes > whole && row.words == FREE => "-".to_owned(),
                bytes => format!("{sign}{}", share(bytes, whole)),
            };
            vec![
                Cell::Text(signed_text(self.format, row.bytes).into()),
                Cell::Text(share.into()),
                Cell::Text(row.words.into()),
            ]
        });
        list_table(&columns, &rows.collect::<Vec<_>>(), terminal)
    }

    /// The largest files without a name.
    fn file_lines(&self, terminal: Terminal) -> Vec<String> {
        let files = self.account.unnamed.iter().take(self.details_max);
        let rows: Vec<_> = files.map(|file| self.file_row(file)).collect();
        if rows.is_empty() {
            return Vec::new();
        }
        let columns = [
            Column::new("DISK", Align::Right),
            Column::new("PID", Align::Right),
            Column::new("PROCESS", Align::Left).optional(),
            Column::new("DELETED, STILL OPEN", Align::Left),
        ];
        let mut lines = vec![String::new()];
        lines.extend(list_table(&columns, &rows, terminal));
        let rest = self.account.unnamed.len() - rows.len();
        if rest > 0 {
            let ellipsis = terminal.charset.ellipsis();
            lines.push(format!("{ellipsis} {} more", grouped(rest as u64)));
        }
        lines
    }

    fn file_row<'f>(&self, file: &'f UnnamedFile) -> Vec<Cell<'f>> {
        let first = file.holders.first();
        let more = file.holders.len().saturating_sub(1) as u64 + file.more_holders;
        let pid = first
            .map(|holder| holder.pid.to_string())
            .unwrap_or_default();
        let pid = match more {
            0 => pid,
            more => format!("{pid} +{more}"),
        };
        let name = first.map(|holder| holder.name.clone()).unwrap_or_default();
        let path = match &file.path {
            Some(path) => Cell::Name(path.clone().into()),
            None => Cell::Text(format!("inode {}, no process seen", file.inode).into()),
        };
        vec![
            Cell::Text(self.format.text(file.allocated_bytes.into()).into()),
            Cell::Text(pid.into()),
            Cell::Name(name.into()),
            path,
        ]
    }

    /// The directories that mounts hide and that are not empty, the largest first.
    fn hidden(&self) -> impl Iterator<Item = &HiddenDirectory> {
        self.account.hidden.iter().filter(|found| found.entries > 0)
    }

    /// The mount points that hide bytes, and the commands that show these.
    fn hidden_lines(&self, terminal: Terminal) -> Vec<String> {
        let Some(largest) = self.hidden().next() else {
            return Vec::new();
        };
        let rows = self.hidden().take(self.details_max).map(|found| {
            vec![
                Cell::Text(self.format.text(found.allocated_bytes.into()).into()),
                Cell::Text(grouped(found.entries).into()),
                Cell::Name(found.point.as_os_str().as_bytes().into()),
            ]
        });
        let columns = [
            Column::new("DISK", Align::Right),
            Column::new("ENTRIES", Align::Right).optional(),
            Column::new("HIDDEN BELOW", Align::Left),
        ];
        let mut lines = vec![String::new()];
        lines.extend(list_table(&columns, &rows.collect::<Vec<_>>(), terminal));
        let rest: Vec<_> = self.hidden().skip(self.details_max).collect();
        if !rest.is_empty() {
            let bytes = rest.iter().map(|found| u128::from(found.allocated_bytes));
            let ellipsis = terminal.charset.ellipsis();
            let count = grouped(rest.len() as u64);
            let size = self.format.text(bytes.sum());
            lines.push(format!("{ellipsis} {count} more, {size}"));
        }
        let sentence = look_below(largest, terminal);
        lines.extend(wrap(&sentence, terminal));
        lines
    }

    /// The sentences below the table.
    fn sentences(&self) -> Vec<String> {
        let mut lines = self.sentences_of_overlay();
        lines.extend(self.account.unknown.iter().map(|unknown| {
            let part = unknown.part.label();
            format!("In the remainder: {part}; {}.", unknown.reason)
        }));
        if self.account.unreadable > 0 {
            let (one, many) = ("unreadable entry", "unreadable entries");
            let count = counted(self.account.unreadable, one, many);
            lines.push(format!("In the remainder: {count}."));
        }
        let changed = self.account.changed_bytes;
        if changed != 0 {
            lines.push(format!(
                "The used space changed by {} during the scan.",
                signed_text(self.format, changed)
            ));
        }
        if self.account.capacity.total_bytes == 0 {
            lines.push("The kernel tells no size of this file system.".to_owned());
        }
        lines
    }

    /// The sentences about an overlay: none for others.
    fn sentences_of_overlay(&self) -> Vec<String> {
        if !self.file_system.is_overlay() {
            return Vec::new();
        }
        let whose = match self.file_system.upper_layer() {
            Some(upper) => {
                let upper = escape(upper.as_os_str().as_bytes(), Charset::Unicode);
                format!("This is the space of the file system that holds the upper layer, {upper}.")
            }
            None => "This is the space of the file system that holds the topmost layer.".to_owned(),
        };
        let shown = self.format.text(self.reached_bytes);
        vec![
            whose,
            format!("The entries of all layers take {shown}, on one or several file systems."),
        ]
    }
}

/// Whether a file system takes no new file, whatever its free space.
pub(crate) fn has_no_free_inode(account: &SpaceAccount) -> bool {
    let capacity = &account.capacity;
    capacity.total_inodes.is_some() && capacity.used_inodes == capacity.total_inodes
}

const FREE: &str = "free";
const USED: &str = "used, of this:";

/// The commands that show a hidden directory. Without `--rbind` the second mount has none
/// of the mounts in the first.
fn look_below(hidden: &HiddenDirectory, terminal: Terminal) -> String {
    let word = |path: &[u8]| shell_word(path, terminal.charset);
    let within = word(hidden.within.as_os_str().as_bytes());
    let below = hidden.point.strip_prefix(&hidden.within);
    let below = below.unwrap_or(&hidden.point).as_os_str().as_bytes();
    let below = word(&[b"/mnt/", below].concat());
    format!("To look below: mount --bind {within} /mnt; statwalk {below}; umount /mnt")
}
