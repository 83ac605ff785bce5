// SPDX-License-Identifier: MIT OR Apache-2.0

//! The tree that fits on the screen: the default view of a scan.
//!
//! The largest node whose parent has a row gets the next row, until the rows are used up
//! (`best_first`).

mod layout;
mod row;
mod selection;

#[cfg(test)]
mod tests;

use self::layout::Layout;
use self::selection::Selection;
use crate::{Figures, SizeFormat, Terminal, Tree};

/// How a tree is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeOptions {
    /// The rows below the head at most. For a view that does not scroll, the
    /// height of the terminal less one for the head, one for the prompt, and
    /// what stands below the tree.
    pub rows_max: usize,
    /// How deep rows go: 1 is the children of the root. Sums stay whole.
    pub depth_max: Option<usize>,
    /// Whether files have rows of their own.
    pub files: Files,
    /// The size of the smallest node with a row; smaller ones are in the rest.
    pub min_bytes: u128,
    /// Whether rows below 1 % of the root fill the rows that are left.
    pub small: Small,
    /// The size that is shown, and that shares are of.
    pub column: SizeColumn,
    /// How sizes are written. With [`SizeFormat::Count`] the sizes of the tree are
    /// counts, so that the columns for entries and times go.
    pub size: SizeFormat,
    /// The key by which rows are sorted and directories are opened.
    pub sort: SortKey,
    /// Whether siblings stand the other way round.
    pub direction: Direction,
    /// The present moment, in nanoseconds since 1970-01-01 00:00 UTC.
    pub now_ns: i64,
    /// The terminal that gets the lines.
    pub terminal: Terminal,
}

/// Whether files have rows of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Files {
    /// Files are in the sums, and in the row for the rest of their directory.
    #[default]
    Hidden,
    /// Files have rows as directories have.
    Shown,
}

/// Whether small nodes have rows of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Small {
    /// While there is room, the next largest node has a row.
    #[default]
    Shown,
    /// By size, no node below 1 % of the root has a row once there are five.
    Hidden,
}

/// The size that is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SizeColumn {
    /// Disk space.
    #[default]
    Disk,
    /// The size as `ls` shows it.
    Apparent,
    /// No size but a number of inodes, in the place of the disk space.
    Inodes,
}

/// The key by which siblings are sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SortKey {
    /// The largest first.
    #[default]
    Size,
    /// By the bytes of the name; the largest directories are opened.
    Name,
    /// The most entries first.
    Count,
    /// The most recently modified first.
    Mtime,
}

/// Whether siblings stand in the order of their [`SortKey`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// As the key says.
    #[default]
    Forward,
    /// The other way round. The same rows are shown, and the row for the rest
    /// stays the last.
    Reversed,
}

impl Default for TreeOptions {
    /// Returns 20 rows of disk space, the largest first, in 1970.
    fn default() -> TreeOptions {
        TreeOptions {
            rows_max: 20,
            depth_max: None,
            files: Files::default(),
            min_bytes: 0,
            small: Small::default(),
            column: SizeColumn::default(),
            size: SizeFormat::default(),
            sort: SortKey::default(),
            direction: Direction::default(),
            now_ns: 0,
            terminal: Terminal::default(),
        }
    }
}

/// Returns the lines of the view: a head, then at most `rows_max` rows.
///
/// The largest nodes whose parents are shown are the rows. Of two siblings with
/// children of at least 1 % of the root, the larger is opened first. A directory with one child
/// stands in one row with this child, as in `src/main/java/`. So does one whose largest
/// child has 95 % of it, where the others are less than 1 % of the root.
///
/// Where a directory has children that are not shown, its last row is `… 41 more` or `… 41
/// files` with their sums. A rest below 1 % of the root has no row: it is a number behind
/// the name, as in `lib/  … 7 more, 12.1 MiB`. The rows below a directory, with this
/// number, add up to the directory. The blocks of the directory itself are in the rest.
/// A directory of which nothing is shown is closed, and has no rest.
///
/// Shares are of the root, and so are the bars. Bars take the room that names leave.
/// Siblings with equal keys stand in the order of their names.
///
/// No line is wider than the terminal. A name is cut in its middle, and guides of outer
/// directories are left out. Where there is still no room, the bar, the age, the count
/// and the share go, in this order. The number behind a name goes before the name is cut.
#[must_use]
pub fn tree_table<T: Tree>(tree: &T, options: &TreeOptions) -> Vec<String> {
    let mut selection = Selection::new(tree, options);
    selection.fill();
    let rows = selection.into_rows();
    Layout::new(tree, options, &rows).lines(&rows)
}

impl SizeColumn {
    fn of(self, figures: &Figures) -> u128 {
        match self {
            SizeColumn::Disk | SizeColumn::Inodes => figures.allocated_bytes,
            SizeColumn::Apparent => figures.apparent_bytes,
        }
    }

    fn title(self) -> &'static str {
        match self {
            SizeColumn::Disk => "DISK",
            SizeColumn::Apparent => "APPARENT",
            SizeColumn::Inodes => "INODES",
        }
    }
}
