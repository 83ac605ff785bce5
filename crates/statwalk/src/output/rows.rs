// SPDX-License-Identifier: MIT OR Apache-2.0

//! The nodes of a tree that have rows, in an order that does not depend on the scan.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use statwalk_core::{DirState, Node, NodeKind, Tree};
use statwalk_view::{Direction, SizeColumn, SortKey};

use crate::flags::SortName;

/// The order of siblings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Order {
    pub(crate) key: SortKey,
    pub(crate) direction: Direction,
    pub(crate) column: SizeColumn,
}

/// The nodes of a tree that have rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Selection {
    /// The deepest level; the root has 0.
    pub(crate) depth_max: u32,
    /// Whether files have rows too, where the tree keeps them.
    pub(crate) files: bool,
    /// The place of a directory beside its content.
    pub(crate) side: Side,
    /// The number of rows at most: the first ones by the order of siblings.
    pub(crate) rows_max: Option<usize>,
}

/// The place of a directory beside its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// Before its content, as in a drawing of a tree.
    Before,
    /// Behind its content, as in the rows of du.
    Behind,
}

/// A node, and the number of the root that it belongs to.
#[derive(Clone, Copy)]
pub(crate) struct Row<N> {
    pub(crate) node: N,
    pub(crate) root: usize,
}

/// The nodes directly below a node; files only where `files` asks for them.
fn below<'t>(node: &Node<'t>, files: bool) -> Vec<Node<'t>> {
    let mut nodes: Vec<_> = node.children().collect();
    // The file at the place of a root that is no directory is the root itself.
    if files && node.is_dir() {
        nodes.extend(node.files());
    }
    nodes
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

    /// The order of two siblings.
    pub(crate) fn compare(&self, a: &Node<'_>, b: &Node<'_>) -> Ordering {
        let by_key = match self.key {
            SortKey::Size => bytes(b, self.column).cmp(&bytes(a, self.column)),
            SortKey::Name => Ordering::Equal,
            SortKey::Count => b.entries().cmp(&a.entries()),
            SortKey::Mtime => b.newest_time_ns().cmp(&a.newest_time_ns()),
        };
        let order = by_key.then_with(|| a.name().cmp(b.name()));
        match self.direction {
            Direction::Forward => order,
            Direction::Reversed => order.reverse(),
        }
    }
}

/// The bytes of a node, on disk or apparent; 0 for a further name of a file whose
/// bytes count elsewhere, and where they are absent.
pub(crate) fn bytes(node: &Node<'_>, column: SizeColumn) -> u128 {
    match column {
        _ if node.is_extra_link() => 0,
        SizeColumn::Disk => node.allocated_bytes().unwrap_or(0),
        SizeColumn::Inodes => node.entries().into(),
        SizeColumn::Apparent => node.apparent_bytes().unwrap_or(0),
    }
}

/// Whether a node is a directory that the scan did not enter.
pub(crate) fn is_left_out(node: &Node<'_>) -> bool {
    matches!(
        node.kind(),
        NodeKind::Directory(DirState::Crossing | DirState::Excluded)
    )
}

/// Whether a node has a row where a filter selects entries. A root has one always.
pub(crate) fn is_selected(node: &Node<'_>) -> bool {
    node.entries() > 0 || node.parent().is_none()
}

impl Selection {
    /// The rows of all roots, one root after another; siblings stand as `compare` says.
    pub(crate) fn rows<'a, 't: 'a>(
        self,
        roots: impl Iterator<Item = (usize, Node<'t>)> + 'a,
        compare: impl Fn(&Node<'t>, &Node<'t>) -> Ordering + 'a,
    ) -> Box<dyn Iterator<Item = Row<Node<'t>>> + 'a> {
        self.rows_of(roots, move |node| below(node, self.files), compare)
    }

    /// The same of any tree, by the nodes directly below each.
    pub(crate) fn rows_of<'a, N: Copy + 'a>(
        self,
        roots: impl Iterator<Item = (usize, N)> + 'a,
        below: impl Fn(&N) -> Vec<N> + 'a,
        compare: impl Fn(&N, &N) -> Ordering + 'a,
    ) -> Box<dyn Iterator<Item = Row<N>> + 'a> {
        let mut walk = Walk {
            selection: self,
            roots,
            below,
            compare,
            stack: Vec::new(),
        };
        let Some(rows_max) = self.rows_max else {
            return Box::new(walk);
        };
        // The best rows stay, each at its place.
        let mut ranked: Vec<(usize, Row<N>)> = walk.by_ref().enumerate().collect();
        ranked.sort_by(|(_, a), (_, b)| (walk.compare)(&a.node, &b.node));
        ranked.truncate(rows_max);
        ranked.sort_by_key(|(place, _)| *place);
        Box::new(ranked.into_iter().map(|(_, row)| row))
    }
}

/// Goes through a tree with a stack of its own: a tree can be deeper than ours.
struct Walk<N, R, B, C> {
    selection: Selection,
    roots: R,
    below: B,
    compare: C,
    stack: Vec<Step<N>>,
}

struct Step<N> {
    row: Row<N>,
    depth: u32,
    /// Whether its content is on the stack already.
    is_open: bool,
}

impl<N: Copy, R, B: Fn(&N) -> Vec<N>, C: Fn(&N, &N) -> Ordering> Walk<N, R, B, C> {
    fn push_below(&mut self, row: Row<N>, depth: u32) {
        let mut nodes = (self.below)(&row.node);
        // The first must lie on top.
        nodes.sort_unstable_by(|a, b| (self.compare)(b, a));
        let root = row.root;
        self.stack.extend(nodes.into_iter().map(|node| Step {
            row: Row { node, root },
            depth,
            is_open: false,
        }));
    }
}

impl<N, R, B, C> Iterator for Walk<N, R, B, C>
where
    N: Copy,
    R: Iterator<Item = (usize, N)>,
    B: Fn(&N) -> Vec<N>,
    C: Fn(&N, &N) -> Ordering,
{
    type Item = Row<N>;

    fn next(&mut self) -> Option<Row<N>> {
        loop {
            let Some(Step {
                row,
                depth,
                is_open,
            }) = self.stack.pop()
            else {
                let (root, node) = self.roots.next()?;
                self.stack.push(Step {
                    row: Row { node, root },
                    depth: 0,
                    is_open: false,
                });
                continue;
            };
            if is_open || depth == self.selection.depth_max {
                return Some(row);
            }
            match self.selection.side {
                Side::Before => {
                    self.push_below(row, depth + 1);
                    return Some(row);
                }
                Side::Behind => {
                    self.stack.push(Step {
                        row,
                        depth,
                        is_open: true,
                    });
                    self.push_below(row, depth + 1);
                }
            }
        }
    }
}

/// The roots of a tree with their numbers on the command line; without those that are
/// missing, or that an earlier root had reached.
pub(crate) fn roots(tree: &Tree) -> impl Iterator<Item = (usize, Node<'_>)> {
    (0..tree.root_count()).filter_map(|index| Some((index, tree.root(index)?)))
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
    let selection = Selection {
        depth_max: u32::MAX,
        files: false,
        side: Side::Before,
        rows_max: None,
    };
    // No directory has more than the one above it: what is below a smaller one need not be seen.
    let bytes_min = least_of_largest(tree, column, &wanted, count);
    let is_large = move |node: &Node<'a>| bytes(node, column) >= bytes_min;
    let large = move |node: &Node<'a>| node.children().filter(is_large).collect();
    let rows = selection.rows_of(roots(tree), large, move |a, b| order.compare(a, b));
    let mut best: Vec<Node<'a>> = (rows.map(|row| row.node))
        .filter(|node| is_candidate(node, &wanted) && is_large(node))
        .collect();
    // A stable sort: of nodes of one size, those stay that the walk met first.
    best.sort_by_key(|node| Reverse(bytes(node, column)));
    best.truncate(count);
    best
}

/// A root is no candidate.
fn is_candidate<'a>(node: &Node<'a>, wanted: impl Fn(&Node<'a>) -> bool) -> bool {
    node.parent().is_some() && wanted(node)
}

/// The bytes of the last of so many largest directories; 0 where there are fewer.
fn least_of_largest<'a>(
    tree: &'a Tree,
    column: SizeColumn,
    wanted: impl Fn(&Node<'a>) -> bool,
    count: usize,
) -> u128 {
    let mut left = count;
    let mut waiting = BinaryHeap::new();
    let entry = |node: Node<'a>| (bytes(&node, column), node.dir_id());
    waiting.extend(roots(tree).map(|(_, root)| entry(root)));
    while let Some((bytes, id)) = waiting.pop() {
        let Some(node) = id.and_then(|id| tree.directory(id)) else {
            continue;
        };
        if is_candidate(&node, &wanted) {
            left = left.saturating_sub(1);
            if left == 0 {
                return bytes;
            }
        }
        waiting.extend(node.children().map(entry));
    }
    0
}
