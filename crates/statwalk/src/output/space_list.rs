// SPDX-License-Identifier: MIT OR Apache-2.0

//! All file systems in one table, and a sentence for each.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use statwalk_space::{SpaceAccount, UsedPart};
use statwalk_view::{
    Align, Cell, Charset, Column, SizeFormat, Terminal, escape, grouped, list_table, shell_word,
    truncate_end, wrap,
};

use crate::output::printer::ROWS_FOR_SENTENCES;
use crate::output::space_table::{has_no_free_inode, signed_text};
use crate::system::file_systems::Space;

/// The line of a small screen in place of the sentences.
const MORE: &str = "Explain one: statwalk df PATH";

/// The lines beside the rows on a small screen: the head of the table, the row of the
/// others, [`MORE`] and the prompt.
const LINES_BESIDE: usize = 4;

/// A file system of the table.
pub(crate) struct ListedSpace<'a> {
    pub(crate) point: &'a Path,
    pub(crate) space: Option<Space>,
    pub(crate) note: Note<'a>,
}

/// The content of a sentence.
pub(crate) enum Note<'a> {
    /// The scan explains the used bytes.
    Explained(&'a SpaceAccount),
    /// The reason why no scan does.
    NotScanned(&'a str),
}

/// The table of all file systems, and the sentences below it. On few rows a line stands
/// for the sentences.
pub(crate) fn lines(
    listed: &[ListedSpace<'_>],
    format: SizeFormat,
    rows_max: usize,
    terminal: Terminal,
) -> Vec<String> {
    let is_brief = rows_max < ROWS_FOR_SENTENCES;
    let shown = match is_brief {
        true => rows_max.saturating_sub(LINES_BESIDE).max(1),
        false => usize::MAX,
    };
    let columns = [
        Column::new("SIZE", Align::Right).optional(),
        Column::new("USED", Align::Right),
        Column::new("SHARE", Align::Left).optional(),
        Column::new("FREE", Align::Right).optional(),
        Column::new("MOUNT POINT", Align::Left),
    ];
    let with_space: Vec<_> = listed
        .iter()
        .filter_map(|one| Some((one.point, one.space?)))
        .collect();
    let rows = with_space.iter().take(shown).map(|(point, space)| {
        let size = |bytes: u64| Cell::Text(format.text(bytes.into()).into());
        vec![
            size(space.total_bytes),
            size(space.used_bytes),
            Cell::Share {
                part: space.used_bytes.into(),
                whole: space.total_bytes.into(),
            },
            size(space.free_bytes),
            Cell::Name(point.as_os_str().as_bytes().into()),
        ]
    });
    let mut lines = list_table(&columns, &rows.collect::<Vec<_>>(), terminal);
    if is_brief {
        if with_space.len() > shown {
            let ellipsis = terminal.charset.ellipsis();
            let count = grouped((with_space.len() - shown) as u64);
            lines.push(format!("{ellipsis} {count} more"));
        }
        lines.push(truncate_end(MORE, terminal.width, terminal.charset).into_owned());
        return lines;
    }
    lines.push(String::new());
    for one in listed {
        lines.extend(wrap(&one.sentence(format, terminal.charset), terminal));
    }
    lines
}

impl ListedSpace<'_> {
    /// The sentence that says where the used bytes are.
    fn sentence(&self, format: SizeFormat, charset: Charset) -> String {
        let point = self.point.as_os_str().as_bytes();
        let name = escape(point, charset);
        let account = match self.note {
            Note::Explained(account) => account,
            Note::NotScanned(reason) => {
                let word = shell_word(point, charset);
                return format!("{name}: {reason}; try statwalk df {word}");
            }
        };
        let used = account.capacity.used_bytes;
        let parts = account.parts.iter();
        let matters = |bytes: i64| u128::from(bytes.unsigned_abs()) * 100 >= u128::from(used);
        let text =
            |part: UsedPart, bytes: i64| format!("{} {}", signed_text(format, bytes), part.label());
        let parts: Vec<String> = parts
            .filter(|(part, bytes)| *part == UsedPart::Reached || (*bytes != 0 && matters(*bytes)))
            .map(|(part, bytes)| text(*part, *bytes))
            .collect();
        let used = format.text(used.into());
        let mut sentence = format!("{name}: {used} used: {}", parts.join(", "));
        let rest = account.parts.last().map_or(0, |(_, bytes)| *bytes);
        if let Some(unknown) = account.unknown.first().filter(|_| matters(rest)) {
            let part = unknown.part.label();
            sentence.push_str(&format!(" ({part}: {})", unknown.reason));
        }
        sentence.push('.');
        if has_no_free_inode(account) {
            sentence.push_str(" No inode is free.");
        }
        sentence
    }
}
