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

use std::borrow::Cow;

use self::layout::Layout;
use self::selection::Selection;
use crate::{SizeFormat, Terminal};

/// A tree of directories, as the view needs to see it.
///
/// # Examples
///
/// A tree in a vector, where each node knows its children by index:
///
/// ```
/// use std::borrow::Cow;
/// use statwalk_view::{Figures, Terminal, Tree, TreeOptions, tree_table};
///
/// struct Node { name: &'static str, figures: Figures, children: Vec<usize> }
///
/// struct Nodes(Vec<Node>);
///
/// impl Tree for Nodes {
///     type Node = usize;
///     fn root(&self) -> usize { 0 }
///     fn name(&self, node: usize) -> Cow<'_, [u8]> { self.0[node].name.as_bytes().into() }
///     fn is_dir(&self, _: usize) -> bool { true }
///     fn figures(&self, node: usize) -> Figures { self.0[node].figures }
///     fn children(&self, node: usize) -> impl Iterator<Item = usize> {
///         self.0[node].children.iter().copied()
///     }
/// }
///
/// let figures = |gib: u128, entries| Figures {
///     allocated_bytes: gib << 30, entries, ..Figures::default()
/// };
/// let tree = Nodes(vec![
///     Node { name: "/data", figures: figures(100, 40), children: vec![1, 2] },
///     Node { name: "a", figures: figures(25, 30), children: vec![] },
///     Node { name: "b", figures: figures(75, 9), children: vec![] },
/// ]);
/// let terminal = Terminal { width: 72, ..Terminal::default() };
/// let options = TreeOptions { terminal, ..TreeOptions::default() };
/// assert_eq!(tree_table(&tree, &options), [
///     "   DISK  SHARE                                   ENTRIES  NEWEST  /data",
///     "75.0 GiB  75 % ████████████████████████                9   –      ├── b/",
///     "25.0 GiB  25 % ████████                               30   –      └── a/",
/// ]);
/// ```
pub trait Tree {
    /// A handle of a node, typically an index.
    type Node: Copy;

    /// Returns the directory that the view is of.
    fn root(&self) -> Self::Node;

    /// Returns the exact name of a node; of the root, the path to show.
    fn name(&self, node: Self::Node) -> Cow<'_, [u8]>;

    /// Returns whether a node is a directory.
    fn is_dir(&self, node: Self::Node) -> bool;

    /// Returns whether the root stands for several trees: then it has no name, and its
    /// children are rows without guides.
    fn is_forest(&self) -> bool {
        false
    }

    /// Returns whether a node may have a row where files have none.
    fn has_row(&self, node: Self::Node) -> bool {
        self.is_dir(node)
    }

    /// Returns how many files or directories a node stands for.
    ///
    /// It is more than one where a tree does not keep files and gives those of a
    /// directory as one node, which is never shown by itself. It is 0 for the blocks of
    /// a directory itself.
    fn count(&self, node: Self::Node) -> u64 {
        let _ = node;
        1
    }

    /// Returns the sums over a node and all that is below it.
    fn figures(&self, node: Self::Node) -> Figures;

    /// Returns the disk space of its figures, for a caller who needs no other sum.
    fn allocated_bytes(&self, node: Self::Node) -> u128 {
        self.figures(node).allocated_bytes
    }

    /// Returns the children of a directory, in any order; called at most once for a
    /// directory, and only if it has a row or is in the chain of one.
    fn children(&self, node: Self::Node) -> impl Iterator<Item = Self::Node>;
}

/// Sums over a node and all that is below it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Disk space.
    pub allocated_bytes: u128,
    /// The sum of the sizes as `ls` shows them.
    pub apparent_bytes: u128,
    /// Names, that of the node too.
    pub entries: u64,
    /// When the youngest file was modified; absent where there is no file, and where it
    /// is not known. A time in the future is shown as an absent one.
    pub newest_mtime_ns: Option<i64>,
    /// Whether an entry could not be read, so that the sums are a lower bound.
    pub incomplete: bool,
}

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
