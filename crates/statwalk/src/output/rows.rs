// SPDX-License-Identifier: MIT OR Apache-2.0

//! The nodes of a tree that have rows, in an order that does not depend on the scan.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use statwalk_core::{Node, Tree as ScanTree};
use statwalk_view::{Direction, SizeColumn, SortKey, Tree};

use crate::flags::SortName;

/// The number by which a node has its place among siblings, made once for each.
pub(crate) type Rank = u128;

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

/// The nodes directly below a node; files only where `files` asks for them.
pub(crate) fn below<T: Tree>(tree: &T, node: T::Node, files: bool) -> Vec<T::Node> {
    let mut nodes = Vec::new();
    tree.for_each_child(node, |_, child| {
        if files || tree.is_dir(child) {
            nodes.push(child);
        }
    });
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

    /// The number by which a node has its place among siblings.
    pub(crate) fn rank<T: Tree>(&self, tree: &T, node: T::Node) -> Rank {
        match self.key {
            SortKey::Size => size(tree, node, self.column),
            SortKey::Name => 0,
            SortKey::Count => tree.figures(node).entries.into(),
            // A time that is not known comes last.
            SortKey::Mtime => newest_time(tree, node)
                .map_or(0, |ns| (i128::from(ns) - i128::from(i64::MIN) + 1) as u128),
        }
    }

    /// The order of two siblings with their ranks.
    pub(crate) fn compare<T: Tree>(
        &self,
        tree: &T,
        a: (Rank, T::Node),
        b: (Rank, T::Node),
    ) -> Ordering {
        let by_rank = b.0.cmp(&a.0);
        let order = by_rank.then_with(|| tree.name(a.1).cmp(&tree.name(b.1)));
        match self.direction {
            Direction::Forward => order,
            Direction::Reversed => order.reverse(),
        }
    }
}

/// The bytes of a node, on disk or apparent, or its inodes; 0 for a further name of a file
/// whose bytes count elsewhere, and where they are absent.
pub(crate) fn size<T: Tree>(tree: &T, node: T::Node, column: SizeColumn) -> u128 {
    match column {
        SizeColumn::Disk => tree.allocated_bytes(node),
        SizeColumn::Apparent => tree.figures(node).apparent_bytes,
        SizeColumn::Inodes if tree.notes(node).counts_elsewhere => 0,
        SizeColumn::Inodes => tree.figures(node).entries.into(),
    }
}

/// The newest of the times that the user asked for.
pub(crate) fn newest_time<T: Tree>(tree: &T, node: T::Node) -> Option<i64> {
    tree.details(node)?.newest_time_ns
}

/// Whether a node is a directory that the scan did not enter.
pub(crate) fn is_left_out<T: Tree>(tree: &T, node: T::Node) -> bool {
    let notes = tree.notes(node);
    notes.is_mount || notes.is_excluded
}

/// Whether a node has a row where a filter selects entries. A root has one always.
pub(crate) fn is_selected<T: Tree>(tree: &T, node: T::Node) -> bool {
    tree.figures(node).entries > 0 || tree.parent(node).is_none()
}

impl Selection {
    /// The rows of all roots, one root after another, by the nodes directly below each;
    /// siblings stand as `compare` says by their ranks.
    pub(crate) fn rows<'a, N: Copy + 'a, R: 'a>(
        self,
        roots: impl Iterator<Item = N> + 'a,
        below: impl Fn(&N) -> Vec<N> + 'a,
        rank: impl Fn(N) -> R + 'a,
        compare: impl Fn(&(R, N), &(R, N)) -> Ordering + 'a,
    ) -> Box<dyn Iterator<Item = N> + 'a> {
        let mut walk = Walk {
            selection: self,
            roots,
            below,
            rank,
            compare,
            stack: Vec::new(),
        };
        let Some(rows_max) = self.rows_max else {
            return Box::new(walk);
        };
        // The best rows stay, each at its place.
        let mut ranked: Vec<(usize, (R, N))> = Vec::new();
        while let Some(node) = walk.next() {
            ranked.push((ranked.len(), ((walk.rank)(node), node)));
        }
        ranked.sort_by(|(_, a), (_, b)| (walk.compare)(a, b));
        ranked.truncate(rows_max);
        ranked.sort_by_key(|(place, _)| *place);
        Box::new(ranked.into_iter().map(|(_, (_, node))| node))
    }
}

/// Goes through a tree with a stack of its own: a tree can be deeper than ours.
struct Walk<N, I, B, K, C> {
    selection: Selection,
    roots: I,
    below: B,
    rank: K,
    compare: C,
    stack: Vec<Step<N>>,
}

struct Step<N> {
    node: N,
    depth: u32,
    /// Whether its content is on the stack already.
    is_open: bool,
}

impl<N, I, B, R, K, C> Walk<N, I, B, K, C>
where
    N: Copy,
    B: Fn(&N) -> Vec<N>,
    K: Fn(N) -> R,
    C: Fn(&(R, N), &(R, N)) -> Ordering,
{
    fn push_below(&mut self, node: N, depth: u32) {
        let nodes = (self.below)(&node).into_iter();
        let mut nodes: Vec<(R, N)> = nodes.map(|node| ((self.rank)(node), node)).collect();
        // The first must lie on top.
        nodes.sort_unstable_by(|a, b| (self.compare)(b, a));
        self.stack.extend(nodes.into_iter().map(|(_, node)| Step {
            node,
            depth,
            is_open: false,
        }));
    }
}

impl<N, I, B, R, K, C> Iterator for Walk<N, I, B, K, C>
where
    N: Copy,
    I: Iterator<Item = N>,
    B: Fn(&N) -> Vec<N>,
    K: Fn(N) -> R,
    C: Fn(&(R, N), &(R, N)) -> Ordering,
{
    type Item = N;

    fn next(&mut self) -> Option<N> {
        loop {
            let Some(Step {
                node,
                depth,
                is_open,
            }) = self.stack.pop()
            else {
                self.stack.push(Step {
                    node: self.roots.next()?,
                    depth: 0,
                    is_open: false,
                });
                continue;
            };
            if is_open || depth == self.selection.depth_max {
                return Some(node);
            }
            match self.selection.side {
                Side::Before => {
                    self.push_below(node, depth + 1);
                    return Some(node);
                }
                Side::Behind => {
                    self.stack.push(Step {
                        node,
                        depth,
                        is_open: true,
                    });
                    self.push_below(node, depth + 1);
                }
            }
        }
    }
}

/// The roots of a tree with their numbers on the command line; without those that are
/// missing, or that an earlier root had reached.
pub(crate) fn roots(tree: &ScanTree) -> impl Iterator<Item = (usize, Node<'_>)> {
    (0..tree.root_count()).filter_map(|index| Some((index, tree.root(index)?)))
}

/// The bytes of a node of a scan, as [`size`] has them.
pub(crate) fn bytes(node: &Node<'_>, column: SizeColumn) -> u128 {
    match column {
        _ if node.is_extra_link() => 0,
        SizeColumn::Disk => node.allocated_bytes().unwrap_or(0),
        SizeColumn::Inodes => node.entries().into(),
        SizeColumn::Apparent => node.apparent_bytes().unwrap_or(0),
    }
}

/// The directories below the roots, the largest first.
pub(crate) fn largest_directories<'a>(
    tree: &'a ScanTree,
    column: SizeColumn,
    wanted: impl Fn(&Node<'a>) -> bool,
    count: usize,
) -> Vec<Node<'a>> {
    let rank = move |node: Node<'a>| bytes(&node, column);
    let compare = |a: &(Rank, Node<'a>), b: &(Rank, Node<'a>)| {
        b.0.cmp(&a.0).then_with(|| a.1.name().cmp(b.1.name()))
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
    let rows = selection.rows(roots(tree).map(|(_, root)| root), large, rank, compare);
    let mut best: Vec<Node<'a>> = rows
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
    tree: &'a ScanTree,
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
