// SPDX-License-Identifier: MIT OR Apache-2.0

//! The directories and files of a scanned tree, in an order that does not
//! depend on how it was scanned.

use std::cmp::{Ordering, Reverse};

use statwalk_core::{DirState, Node, NodeKind, Tree};
use statwalk_view::{Direction, SizeColumn, SortKey};

use crate::flags::SortName;

/// What siblings are sorted by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Order {
    pub(crate) key: SortKey,
    pub(crate) direction: Direction,
    pub(crate) column: SizeColumn,
}

/// Which nodes of a tree are listed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Selection {
    /// Down to which depth; the root has 0.
    pub(crate) depth_max: u32,
    /// Whether files are listed too, where the tree keeps them.
    pub(crate) files: bool,
    pub(crate) order: Order,
    /// Where a directory stands.
    pub(crate) side: Side,
    /// How many, of all, the first by `order`.
    pub(crate) rows_max: Option<usize>,
}

/// Where a directory stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// Before what is in it, as in a drawing of a tree.
    Before,
    /// Behind what is in it, as in the rows of du.
    Behind,
}

/// A node, and the root that it belongs to.
#[derive(Clone, Copy)]
pub(crate) struct Row<'a> {
    pub(crate) node: Node<'a>,
    pub(crate) root: usize,
}

impl Order {
    pub(crate) fn new(sort: SortName, reverse: bool, column: SizeColumn) -> Order {
        Order {
            key: match sort {
                SortName::Size => SortKey::Size,
                SortName::Name => SortKey::Name,
                SortName::Count => SortKey::Count,
                SortName::Mtime => SortKey::Mtime,
            },
            direction: match reverse {
                true => Direction::Reversed,
                false => Direction::Forward,
            },
            column,
        }
    }

    fn compare(&self, a: &Node<'_>, b: &Node<'_>) -> Ordering {
        let by_key = match self.key {
            SortKey::Size => bytes(b, self.column).cmp(&bytes(a, self.column)),
            SortKey::Name => Ordering::Equal,
            SortKey::Count => b.entries().cmp(&a.entries()),
            SortKey::Mtime => b.newest_mtime_ns().cmp(&a.newest_mtime_ns()),
        };
        let order = by_key.then_with(|| a.name().cmp(b.name()));
        match self.direction {
            Direction::Forward => order,
            Direction::Reversed => order.reverse(),
        }
    }
}

/// The bytes that a node brings, of the two sorts; a further name of a file
/// that counts elsewhere brings none.
pub(crate) fn bytes(node: &Node<'_>, column: SizeColumn) -> u128 {
    match column {
        _ if node.is_extra_link() => 0,
        SizeColumn::Disk => node.allocated_bytes(),
        SizeColumn::Apparent => node.apparent_bytes(),
    }
}

/// Whether a node is a directory that was not entered, by itself.
pub(crate) fn is_left_out(node: &Node<'_>) -> bool {
    matches!(
        node.kind(),
        NodeKind::Directory(DirState::Crossing | DirState::Excluded)
    )
}

impl Selection {
    /// The rows of all roots, one root after another.
    pub(crate) fn rows<'a>(&self, tree: &'a Tree) -> Box<dyn Iterator<Item = Row<'a>> + 'a> {
        let all = Walk::new(*self, tree);
        let Some(rows_max) = self.rows_max else {
            return Box::new(all);
        };
        // Where there are more, the first by the order stay, where they stood.
        let mut ranked: Vec<(usize, Row<'a>)> = all.enumerate().collect();
        ranked.sort_by(|(_, a), (_, b)| self.order.compare(&a.node, &b.node));
        ranked.truncate(rows_max);
        ranked.sort_by_key(|(place, _)| *place);
        Box::new(ranked.into_iter().map(|(_, row)| row))
    }
}

/// Goes through a tree with a stack of its own: a tree can be deeper than ours.
struct Walk<'a> {
    selection: Selection,
    tree: &'a Tree,
    next_root: usize,
    stack: Vec<Step<'a>>,
}

struct Step<'a> {
    row: Row<'a>,
    depth: u32,
    /// Whether what is in it has been put on the stack.
    is_open: bool,
}

impl<'a> Walk<'a> {
    fn new(selection: Selection, tree: &'a Tree) -> Walk<'a> {
        Walk {
            selection,
            tree,
            next_root: 0,
            stack: Vec::new(),
        }
    }

    fn push_children(&mut self, row: Row<'a>, depth: u32) {
        let mut nodes: Vec<Node<'a>> = row.node.children().collect();
        // What is at the place of a root that is no directory is the root itself.
        if self.selection.files && row.node.is_dir() {
            nodes.extend(row.node.files());
        }
        // The first is to be on top.
        nodes.sort_unstable_by(|a, b| self.selection.order.compare(b, a));
        let root = row.root;
        self.stack.extend(nodes.into_iter().map(|node| Step {
            row: Row { node, root },
            depth,
            is_open: false,
        }));
    }
}

impl<'a> Iterator for Walk<'a> {
    type Item = Row<'a>;

    fn next(&mut self) -> Option<Row<'a>> {
        loop {
            let Some(step) = self.stack.pop() else {
                let root = self.next_root;
                if root == self.tree.root_count() {
                    return None;
                }
                self.next_root += 1;
                self.stack.extend(self.tree.root(root).map(|node| Step {
                    row: Row { node, root },
                    depth: 0,
                    is_open: false,
                }));
                continue;
            };
            let Step {
                row,
                depth,
                is_open,
            } = step;
            if is_open || depth == self.selection.depth_max {
                return Some(row);
            }
            match self.selection.side {
                Side::Before => {
                    self.push_children(row, depth + 1);
                    return Some(row);
                }
                Side::Behind => {
                    self.stack.push(Step {
                        row,
                        depth,
                        is_open: true,
                    });
                    self.push_children(row, depth + 1);
                }
            }
        }
    }
}

/// The directories below the roots, the largest first.
pub(crate) fn largest_directories<'a>(
    tree: &'a Tree,
    column: SizeColumn,
    wanted: impl Fn(&Node<'a>) -> bool,
    count: usize,
) -> Vec<Node<'a>> {
    let order = Order {
        key: SortKey::Size,
        direction: Direction::Forward,
        column,
    };
    let walk = Walk::new(
        Selection {
            depth_max: u32::MAX,
            files: false,
            order,
            side: Side::Before,
            rows_max: None,
        },
        tree,
    );
    // Twice the number, so that sorting is rare.
    let room = count.saturating_mul(2).max(1_024);
    let rank = |row: &Row<'a>| Reverse(bytes(&row.node, column));
    let mut best: Vec<Row<'a>> = Vec::new();
    for row in walk.filter(|row| row.node.parent().is_some() && wanted(&row.node)) {
        best.push(row);
        if best.len() == room {
            // Stable, so that of equals the first of the walk stay.
            best.sort_by_key(rank);
            best.truncate(count);
        }
    }
    best.sort_by_key(rank);
    best.truncate(count);
    best.into_iter().map(|row| row.node).collect()
}
