// SPDX-License-Identifier: MIT OR Apache-2.0

//! Which nodes have rows.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::best::{Best, Candidate};
use super::rest::Rest;
use super::row::{Label, Names, Row};
use super::{Direction, Figures, Files, SizeColumn, Small, SortKey, Tree, TreeOptions};
use crate::SizeFormat;
use crate::charset::Position;
use crate::share::narrowed;

/// The rows that small nodes have in every case: a directory of many small ones would
/// else have none.
const SMALL_ROWS: usize = 5;

/// The longest chain of directories in one row: a tree of only children can be of any
/// depth.
const CHAIN_MAX: usize = 64;

/// A directory or file that has a row; the root has none and is the first.
struct Shown<N> {
    /// A directory, its only child, the only child of that, and so on; or a file.
    chain: Vec<N>,
    /// How deep the row is, where a chain counts as one level.
    row_depth: usize,
    /// How deep the last of the chain is.
    depth: usize,
    /// The sums of the first of the chain.
    figures: Figures,
    is_dir: bool,
    /// The children that may be shown, in the order in which they will be.
    candidates: Vec<Candidate<N>>,
    /// The rows of the first of the candidates.
    children: Vec<usize>,
    /// The number of the first of these rows that are open or need not be.
    settled: usize,
    /// The row above.
    parent: usize,
    /// The sums of these rows.
    shown: Bytes,
    /// The children that cannot be shown.
    beyond: Rest,
    /// The nodes beside those of the chain.
    beside: Rest,
}

/// The two sizes of nodes.
#[derive(Clone, Copy, Default)]
struct Bytes {
    allocated: u128,
    apparent: u128,
}

/// The next row: that of the largest node comes first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Step {
    key: u128,
    /// Of equals, the first in the tree wins.
    age: Reverse<usize>,
    /// The row whose next candidate gets a row.
    parent: usize,
    /// The number of rows below it at that time.
    children: usize,
}

/// The rows that were found by now.
pub(super) struct Selection<'a, T: Tree> {
    tree: &'a T,
    options: &'a TreeOptions,
    whole_bytes: u128,
    shown: Vec<Shown<T::Node>>,
    steps: BinaryHeap<Step>,
    steps_count: usize,
    rows_used: usize,
}

const ROOT: usize = 0;

impl<'a, T: Tree> Selection<'a, T> {
    pub(super) fn new(tree: &'a T, options: &'a TreeOptions) -> Self {
        let mut selection = Selection {
            tree,
            options,
            whole_bytes: options.column.of(&tree.figures(tree.root())),
            shown: Vec::new(),
            steps: BinaryHeap::new(),
            steps_count: 0,
            rows_used: 0,
        };
        selection.add(tree.root(), ROOT, 0, 0);
        // Of the root there is a row for the rest from the start, for there must be
        // something.
        selection.rows_used = usize::from(selection.has_rest_row(ROOT));
        selection
    }

    /// Adds a node to those shown, and its first child to the rows that can follow.
    fn add(&mut self, node: T::Node, parent: usize, row_depth: usize, depth: usize) {
        let is_dir = self.tree.is_dir(node);
        self.shown.push(Shown {
            chain: vec![node],
            row_depth,
            depth,
            figures: self.tree.figures(node),
            is_dir,
            candidates: Vec::new(),
            children: Vec::new(),
            settled: 0,
            parent,
            shown: Bytes::default(),
            beyond: Rest::default(),
            beside: Rest::default(),
        });
        let index = self.shown.len() - 1;
        if is_dir && self.has_room_below(depth) {
            self.open(index);
            self.push_step(index);
        }
    }

    /// Returns whether a directory of this depth may have rows below it.
    fn has_room_below(&self, depth: usize) -> bool {
        self.options.depth_max.is_none_or(|max| depth < max)
    }

    /// Returns the rank of a node; never more than that of its parent.
    fn key(&self, figures: &Figures) -> u128 {
        match self.options.sort {
            SortKey::Size | SortKey::Name => self.options.column.of(figures),
            SortKey::Count => figures.entries.into(),
            // The order of signed numbers, kept in unsigned ones.
            SortKey::Mtime => figures
                .newest_mtime_ns
                .map_or(0, |ns| u128::from(ns.cast_unsigned() ^ (1 << 63)) + 1),
        }
    }

    /// Shows rows until there is no room for more.
    pub(super) fn fill(&mut self) {
        while self.rows_used < self.options.rows_max
            && let Some(step) = self.steps.pop()
        {
            if self.shown[step.parent].children.len() != step.children {
                continue;
            }
            let is_enough = self.options.small == Small::Hidden && self.shown.len() > SMALL_ROWS;
            if is_enough && self.is_by_size() && !self.deserves_row(step.key) {
                break;
            }
            match self.larger_closed(&step) {
                // The one with the largest child would else be opened before a larger one
                // of several children.
                Some(larger) => {
                    self.show(larger);
                    // Where it has no room with its rest, the smaller one stays closed, too.
                    if !self.shown[larger].children.is_empty() {
                        self.steps.push(step);
                    }
                }
                None => self.show(step.parent),
            }
        }
        // A row `… 1 more` can as well be that one.
        for index in 0..self.shown.len() {
            if self.has_rest_row(index) && self.hidden_count(index) == 1 {
                self.show(index);
            }
        }
    }

    /// Whether the keys are sizes.
    fn is_by_size(&self) -> bool {
        matches!(self.options.sort, SortKey::Size | SortKey::Name)
    }

    /// Returns the first closed sibling of the directory that this step opens, if it is
    /// larger and deserves to be open: its largest child deserves a row.
    fn larger_closed(&mut self, step: &Step) -> Option<usize> {
        if step.children > 0 || step.parent == ROOT || !self.is_by_size() {
            return None;
        }
        let parent = self.shown[step.parent].parent;
        loop {
            // The siblings stand by size, and none is closed again.
            let above = &self.shown[parent];
            let sibling = *above.children.get(above.settled)?;
            if sibling == step.parent {
                return None;
            }
            let row = &self.shown[sibling];
            let largest = row.candidates.first();
            if row.children.is_empty() && largest.is_some_and(|child| self.deserves_row(child.key))
            {
                return Some(sibling);
            }
            self.shown[parent].settled += 1;
        }
    }

    /// Finds the candidates among the children of a directory; of an only child, among
    /// its children.
    fn open(&mut self, index: usize) {
        let room = self.options.rows_max.saturating_sub(self.rows_used).max(1);
        loop {
            let row = &self.shown[index];
            let directory = *row.chain.last().expect("a chain begins with a node");
            let (candidates, beyond) = self.largest_below(directory, room);
            // The root keeps its name, and so does a path that the user gave.
            let may_go_on = row.row_depth > usize::from(self.tree.is_forest())
                && row.chain.len() < CHAIN_MAX
                && self.has_room_below(row.depth + 1);
            let only = candidates.first().map(|candidate| candidate.node);
            let only = only.filter(|&child| {
                let count = beyond.count + candidates.len() as u64;
                may_go_on && self.is_only_child(directory, child, count)
            });
            let row = &mut self.shown[index];
            let Some(only) = only else {
                row.candidates = candidates;
                row.beyond = beyond;
                return;
            };
            row.beside.add_rest(&beyond);
            for other in &candidates[1..] {
                let figures = self.tree.figures(other.node);
                row.beside.add(self.tree, other.node, &figures);
            }
            row.chain.push(only);
            row.depth += 1;
        }
    }

    /// Returns the largest children of a directory, and the sum of the others.
    fn largest_below(&self, node: T::Node, room: usize) -> (Vec<Candidate<T::Node>>, Rest) {
        let mut best = Best::new(self.tree, room);
        for node in self.tree.children(node) {
            let figures = self.tree.figures(node);
            let key = self.key(&figures);
            let may_show = (self.options.files == Files::Shown || self.tree.has_row(node))
                && self.options.column.of(&figures) >= self.options.min_bytes;
            if best.is_wanted(key) && may_show {
                best.add(Candidate { key, node });
            } else {
                best.beyond.add(self.tree, node, &figures);
            }
        }
        best.finish()
    }

    /// Returns whether a directory is the only child, or all that weighs something: the
    /// others would have no row, and are few beside it.
    fn is_only_child(&self, parent: T::Node, child: T::Node, children_count: u64) -> bool {
        let bytes = |node| self.options.column.of(&self.tree.figures(node));
        let (part, whole) = narrowed(bytes(child), bytes(parent));
        let others = bytes(parent).saturating_sub(bytes(child));
        let is_main = !self.deserves_row(others) && part * 100 >= whole * 95;
        self.tree.is_dir(child) && (children_count == 1 || is_main)
    }

    /// Returns whether the nodes without a row have enough together to deserve one: 1 %
    /// of the root.
    fn deserves_row(&self, bytes: u128) -> bool {
        let (part, whole) = narrowed(bytes, self.whole_bytes);
        part * 100 >= whole
    }

    /// Notes that the next candidate of a directory can have a row.
    fn push_step(&mut self, parent: usize) {
        let row = &self.shown[parent];
        if let Some(next) = row.candidates.get(row.children.len()) {
            let age = Reverse(self.steps_count);
            self.steps_count += 1;
            self.steps.push(Step {
                key: next.key,
                age,
                parent,
                children: row.children.len(),
            });
        }
    }

    /// Gives the next candidate of a directory a row, if there is room.
    fn show(&mut self, index: usize) {
        let row = &self.shown[index];
        let Some(&Candidate { node, .. }) = row.candidates.get(row.children.len()) else {
            return;
        };
        // The first row of a directory can bring the row for the rest with it; a later
        // one can take its place.
        let figures = self.tree.figures(node);
        let child = self.shown.len();
        let before = self.rows_used - usize::from(self.has_rest_row(index));
        let row = &mut self.shown[index];
        let shown = row.shown;
        row.shown = Bytes {
            allocated: shown.allocated.saturating_add(figures.allocated_bytes),
            apparent: shown.apparent.saturating_add(figures.apparent_bytes),
        };
        row.children.push(child);
        let rows_used = before + 1 + usize::from(self.has_rest_row(index));
        let row = &mut self.shown[index];
        if rows_used > self.options.rows_max {
            row.children.pop();
            row.shown = shown;
            return;
        }
        self.rows_used = rows_used;
        let (row_depth, depth) = (row.row_depth + 1, row.depth + 1);
        self.add(node, index, row_depth, depth);
        self.push_step(index);
    }

    fn hidden_count(&self, index: usize) -> u64 {
        let row = &self.shown[index];
        // In the end the other candidates are in `beyond`, and the list is empty.
        let candidates = row.candidates.len().saturating_sub(row.children.len());
        row.beside.count + row.beyond.count + candidates as u64
    }

    /// Returns the sizes of a directory less those of the rows below it.
    ///
    /// The blocks of the directory itself are in it.
    fn hidden_bytes(&self, index: usize) -> Bytes {
        let row = &self.shown[index];
        let (all, shown) = (&row.figures, row.shown);
        Bytes {
            allocated: all.allocated_bytes.saturating_sub(shown.allocated),
            apparent: all.apparent_bytes.saturating_sub(shown.apparent),
        }
    }

    /// Returns whether the children without a row have one together.
    fn has_rest_row(&self, index: usize) -> bool {
        let hidden_count = self.hidden_count(index);
        if index == ROOT {
            // There is no row of the root that could have a number behind it.
            return hidden_count > 0 && self.options.rows_max > 0;
        }
        let hidden = self.hidden_bytes(index);
        let hidden = match self.options.column {
            SizeColumn::Disk | SizeColumn::Inodes => hidden.allocated,
            SizeColumn::Apparent => hidden.apparent,
        };
        let is_open = !self.shown[index].children.is_empty();
        is_open && hidden_count > 0 && self.deserves_row(hidden)
    }

    /// Returns the rows in the order in which they stand on the screen.
    pub(super) fn into_rows(mut self) -> Vec<Row<T::Node>> {
        for index in 0..self.shown.len() {
            let mut children = std::mem::take(&mut self.shown[index].children);
            let shown_count = children.len();
            if self.options.sort == SortKey::Name {
                let name = |&child: &usize| self.tree.name(self.shown[child].chain[0]);
                children.sort_by(|a, b| name(a).cmp(&name(b)));
            }
            if self.options.direction == Direction::Reversed {
                children.reverse();
            }
            let row = &mut self.shown[index];
            row.children = children;
            for candidate in row.candidates.drain(..).skip(shown_count) {
                let figures = self.tree.figures(candidate.node);
                row.beyond.add(self.tree, candidate.node, &figures);
            }
        }

        let mut rows = Vec::with_capacity(self.rows_used);
        let mut stack = Vec::new();
        self.push_children(ROOT, &mut stack);
        while let Some((index, position)) = stack.pop() {
            match index {
                Place::Node(index) => {
                    // It looks at the chain, which then goes to the row.
                    let hidden = self.number_behind(index);
                    let row = &mut self.shown[index];
                    rows.push(Row {
                        depth: row.row_depth,
                        position,
                        figures: row.figures,
                        label: Label::Nodes {
                            chain: std::mem::take(&mut row.chain),
                            is_dir: row.is_dir,
                            hidden,
                        },
                    });
                    self.push_children(index, &mut stack);
                }
                Place::Rest(index) => rows.push(Row {
                    depth: self.shown[index].row_depth + 1,
                    position,
                    figures: self.rest_figures(index),
                    label: Label::Rest(self.rest(index).names()),
                }),
            }
        }
        rows
    }

    /// Returns the sums of the children without a row. The blocks of the directory itself
    /// are in the sizes, but its name is not in a count.
    fn rest_figures(&self, index: usize) -> Figures {
        if self.options.size == SizeFormat::Count {
            return self.rest(index).figures();
        }
        let bytes = self.hidden_bytes(index);
        Figures {
            allocated_bytes: bytes.allocated,
            apparent_bytes: bytes.apparent,
            ..self.rest(index).figures()
        }
    }

    /// Returns all nodes without a row.
    fn rest(&self, index: usize) -> Rest {
        let row = &self.shown[index];
        let mut rest = row.beyond;
        rest.add_rest(&row.beside);
        rest
    }

    /// Returns the part of an open directory that no row below it has, or the part of a
    /// closed chain that is not in its last directory.
    fn number_behind(&self, index: usize) -> Option<(Names, Figures)> {
        let row = &self.shown[index];
        if !row.children.is_empty() {
            let figures = self.rest_figures(index);
            return (!self.has_rest_row(index)).then(|| (self.rest(index).names(), figures));
        }
        let [first, .., last] = row.chain[..] else {
            return None;
        };
        let [first, last] = [first, last].map(|node| self.tree.figures(node));
        let figures = Figures {
            allocated_bytes: first.allocated_bytes.saturating_sub(last.allocated_bytes),
            apparent_bytes: first.apparent_bytes.saturating_sub(last.apparent_bytes),
            ..row.beside.figures()
        };
        // No rows below it have to add up, so that blocks alone are not worth a number.
        (row.beside.count > 0).then(|| (row.beside.names(), figures))
    }

    /// Puts the rows below a directory on the stack, the first on top.
    fn push_children(&self, index: usize, stack: &mut Vec<(Place, Position)>) {
        let mut position = Position::Last;
        if self.has_rest_row(index) {
            stack.push((Place::Rest(index), position));
            position = Position::Inner;
        }
        for &child in self.shown[index].children.iter().rev() {
            stack.push((Place::Node(child), position));
            position = Position::Inner;
        }
    }
}

/// The row of a node, or of the rest of a node.
enum Place {
    Node(usize),
    Rest(usize),
}
