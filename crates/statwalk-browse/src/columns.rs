// SPDX-License-Identifier: MIT OR Apache-2.0

//! The columns of the rows, and the widths that a screen has for them.

use crate::filter::SortKey;

/// The ways to show a share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Share {
    #[default]
    Both,
    PerCent,
    Bar,
    Neither,
}

impl Share {
    pub(crate) fn next(self) -> Share {
        match self {
            Share::Both => Share::PerCent,
            Share::PerCent => Share::Bar,
            Share::Bar => Share::Neither,
            Share::Neither => Share::Both,
        }
    }
}

/// The columns that the user wants beside size and name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ListColumns {
    pub(crate) share: Share,
    pub(crate) entries: bool,
    pub(crate) newest: bool,
    pub(crate) owner: bool,
    /// The program that makes an item again: the view wants it, and not the user.
    pub(crate) program: bool,
}

impl Default for ListColumns {
    fn default() -> ListColumns {
        ListColumns {
            share: Share::Both,
            entries: true,
            newest: true,
            owner: true,
            program: false,
        }
    }
}

/// The widths of the columns on a screen; 0 where there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Widths {
    /// The mark of the user, and the letter of the item.
    pub(crate) marks: usize,
    pub(crate) size: usize,
    pub(crate) percent: usize,
    pub(crate) bar: usize,
    pub(crate) entries: usize,
    pub(crate) newest: usize,
    pub(crate) owner: usize,
    pub(crate) program: usize,
    pub(crate) name: usize,
}

impl Widths {
    /// A name takes the whole width.
    pub(crate) fn of_names(width: usize) -> Widths {
        Widths {
            marks: 2,
            name: width.saturating_sub(2),
            ..Widths::default()
        }
    }

    /// The widths of wanted columns. They give way for the least width of a name.
    pub(crate) fn new(width: usize, wanted: ListColumns, name_min: usize) -> Widths {
        let mut widths = Widths {
            marks: 2,
            size: 9,
            ..Widths::default()
        };
        // The most useful first; each with the space to its left.
        let has_percent = matches!(wanted.share, Share::Both | Share::PerCent);
        let has_bar = matches!(wanted.share, Share::Both | Share::Bar);
        let bar = if width >= 100 { 16 } else { 8 };
        let mut left = width.saturating_sub(widths.marks + widths.size + 1);
        let mut give = |column: &mut usize, wants: bool, columns: usize| {
            if wants && left > name_min + columns {
                *column = columns;
                left -= columns + 1;
            }
        };
        give(&mut widths.percent, has_percent, 5);
        give(&mut widths.program, wanted.program, 16);
        give(&mut widths.entries, wanted.entries, 11);
        give(&mut widths.bar, has_bar, bar);
        give(&mut widths.newest, wanted.newest, 6);
        give(&mut widths.owner, wanted.owner, 8);
        widths.name = left;
        widths
    }

    /// Where the columns begin, with the orders that they stand for.
    pub(crate) fn starts(&self) -> [(usize, usize, SortKey); 7] {
        let columns = [
            (self.size, SortKey::Size),
            (self.percent, SortKey::Size),
            (self.bar, SortKey::Size),
            (self.entries, SortKey::Entries),
            (self.newest, SortKey::Newest),
            (self.owner, SortKey::Owner),
            (self.program, SortKey::Name),
        ];
        let mut next = self.marks;
        columns.map(|(width, key)| {
            let start = next;
            next += if width > 0 { width + 1 } else { 0 };
            (start, width, key)
        })
    }

    /// The order that a column of the screen stands for.
    pub(crate) fn column_at(&self, place: usize) -> Option<SortKey> {
        let is_there = |(start, width, _): &(usize, usize, SortKey)| {
            *width > 0 && (*start..start + width).contains(&place)
        };
        let found = self.starts().into_iter().find(is_there);
        let is_name = place >= self.name_start();
        found
            .map(|(.., key)| key)
            .or(is_name.then_some(SortKey::Name))
    }

    pub(crate) fn name_start(&self) -> usize {
        let (start, width, _) = self.starts()[6];
        start + if width > 0 { width + 1 } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_fills_the_width() {
        for width in 12..300_usize {
            let columns = ListColumns {
                program: width.is_multiple_of(2),
                ..ListColumns::default()
            };
            let widths = Widths::new(width, columns, 20);
            let columns = [
                widths.percent,
                widths.bar,
                widths.entries,
                widths.newest,
                widths.owner,
                widths.program,
            ];
            let others: usize = columns.into_iter().filter(|&c| c > 0).map(|c| c + 1).sum();
            let sum = widths.marks + widths.size + 1 + others + widths.name;
            assert_eq!(sum, width);
            assert!(others == 0 || widths.name >= 20, "{width}");
        }
    }
}
