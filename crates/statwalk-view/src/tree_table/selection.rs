// SPDX-License-Identifier: MIT OR Apache-2.0

//! Which nodes have rows.

use super::row::{Label, Names, Row};
use super::{Direction, Files, SizeColumn, Small, SortKey, TreeOptions};
use crate::best_first::{Best, BestFirst, Candidate, Rest, Step};
use crate::charset::Position;
use crate::share::narrowed;
use crate::{Figures, Kind, SizeFormat, Tree};

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
    /// The number of the first of the rows below it that are open or need not be.
    settled: usize,
    /// The row above.
    parent: usize,
    /// The sums of the rows below it.
    shown: Bytes,
    /// The nodes beside those of the chain.
    beside: Rest,
}

/// The two sizes of nodes.
#[derive(Clone, Copy, Default)]
struct Bytes {
    allocated: u128,
    apparent: u128,
}

/// The rows that were found by now.
pub(super) struct Selection<'a, T: Tree> {
    tree: &'a T,
    options: &'a TreeOptions,
    whole_bytes: u128,
    /// The nodes with a row. The last of each chain has the children.
    choice: BestFirst<'a, T>,
    /// The same in the same order.
    shown: Vec<Shown<T::Node>>,
    rows_used: usize,
}

const ROOT: usize = 0;

impl<'a, T: Tree> Selection<'a, T> {
    pub(super) fn new(tree: &'a T, options: &'a TreeOptions) -> Self {
        let mut selection = Selection {
            tree,
            options,
            whole_bytes: options.column.of(&tree.figures(tree.root())),
            choice: BestFirst::new(tree),
            shown: Vec::new(),
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
            settled: 0,
            parent,
            shown: Bytes::default(),
            beside: Rest::default(),
        });
        let index = self.shown.len() - 1;
        if is_dir && self.has_room_below(depth) {
            self.open(index);
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
            && let Some(step) = self.choice.next_step()
        {
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
                    if !self.choice.children(larger).is_empty() {
                        self.choice.put_back(step);
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
            let sibling = *self.choice.children(parent).get(above.settled)?;
            if sibling == step.parent {
                return None;
            }
            let is_closed = self.choice.children(sibling).is_empty();
            let largest = self.choice.next_child(sibling).filter(|_| is_closed);
            if largest.is_some_and(|child| self.deserves_row(child.key)) {
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
            let is_forest = self.tree.kind(self.tree.root()) == Kind::Roots;
            let may_go_on = row.row_depth > usize::from(is_forest)
                && row.chain.len() < CHAIN_MAX
                && self.has_room_below(row.depth + 1);
            let only = candidates.first().map(|candidate| candidate.node);
            let only = only.filter(|&child| {
                let count = beyond.count + candidates.len() as u64;
                may_go_on && self.is_only_child(directory, child, count)
            });
            let Some(only) = only else {
                self.choice.open(index, (candidates, beyond));
                return;
            };
            let row = &mut self.shown[index];
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
        self.tree.for_each_child(node, |_, node| {
            let figures = self.tree.figures(node);
            let key = self.key(&figures);
            let may_show = (self.options.files == Files::Shown || self.tree.has_row(node))
                && self.options.column.of(&figures) >= self.options.min_bytes;
            if best.is_wanted(key) && may_show {
                best.add(Candidate { key, node });
            } else {
                best.beyond.add(self.tree, node, &figures);
            }
        });
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

    /// Gives the next candidate of a directory a row, if there is room.
    fn show(&mut self, index: usize) {
        let Some(Candidate { node, .. }) = self.choice.next_child(index) else {
            return;
        };
        // The first row of a directory can bring the row for the rest with it; a later
        // one can take its place.
        let figures = self.tree.figures(node);
        let before = self.rows_used - usize::from(self.has_rest_row(index));
        let shown = self.shown[index].shown;
        let shown = Bytes {
            allocated: shown.allocated.saturating_add(figures.allocated_bytes),
            apparent: shown.apparent.saturating_add(figures.apparent_bytes),
        };
        let hidden_count = self.hidden_count(index) - 1;
        let has_rest_row = self.would_have_rest_row(index, hidden_count, shown);
        let rows_used = before + 1 + usize::from(has_rest_row);
        if rows_used > self.options.rows_max {
            return;
        }
        self.rows_used = rows_used;
        self.choice.choose(index);
        let row = &mut self.shown[index];
        row.shown = shown;
        let (row_depth, depth) = (row.row_depth + 1, row.depth + 1);
        self.add(node, index, row_depth, depth);
        self.choice.wait(index);
    }

    fn hidden_count(&self, index: usize) -> u64 {
        self.shown[index].beside.count + self.choice.hidden_count(index)
    }

    /// Returns the sizes of a directory less those of the rows below it.
    ///
    /// The blocks of the directory itself are in it.
    fn hidden_bytes(&self, index: usize, shown: Bytes) -> Bytes {
        let all = &self.shown[index].figures;
        Bytes {
            allocated: all.allocated_bytes.saturating_sub(shown.allocated),
            apparent: all.apparent_bytes.saturating_sub(shown.apparent),
        }
    }

    /// Returns whether the children without a row have one together.
    fn has_rest_row(&self, index: usize) -> bool {
        let is_open = index == ROOT || !self.choice.children(index).is_empty();
        let shown = self.shown[index].shown;
        is_open && self.would_have_rest_row(index, self.hidden_count(index), shown)
    }

    /// Returns whether so many children without a row would have one together below rows
    /// of these sizes.
    fn would_have_rest_row(&self, index: usize, hidden_count: u64, shown: Bytes) -> bool {
        if index == ROOT {
            // There is no row of the root that could have a number behind it.
            return hidden_count > 0 && self.options.rows_max > 0;
        }
        let hidden = self.hidden_bytes(index, shown);
        let hidden = match self.options.column {
            SizeColumn::Disk | SizeColumn::Inodes => hidden.allocated,
            SizeColumn::Apparent => hidden.apparent,
        };
        hidden_count > 0 && self.deserves_row(hidden)
    }

    /// Returns the rows in the order in which they stand on the screen.
    pub(super) fn into_rows(mut self) -> Vec<Row<T::Node>> {
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
                    label: Label::Rest(names_of(&self.rest(index))),
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
        let bytes = self.hidden_bytes(index, self.shown[index].shown);
        Figures {
            allocated_bytes: bytes.allocated,
            apparent_bytes: bytes.apparent,
            ..self.rest(index).figures()
        }
    }

    /// Returns all nodes without a row.
    fn rest(&self, index: usize) -> Rest {
        let mut rest = self.choice.hidden(index);
        rest.add_rest(&self.shown[index].beside);
        rest
    }

    /// Returns the part of an open directory that no row below it has, or the part of a
    /// closed chain that is not in its last directory.
    fn number_behind(&self, index: usize) -> Option<(Names, Figures)> {
        let row = &self.shown[index];
        if !self.choice.children(index).is_empty() {
            let figures = self.rest_figures(index);
            return (!self.has_rest_row(index)).then(|| (names_of(&self.rest(index)), figures));
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
        (row.beside.count > 0).then(|| (names_of(&row.beside), figures))
    }

    /// Puts the rows below a directory on the stack, the first on top.
    fn push_children(&self, index: usize, stack: &mut Vec<(Place, Position)>) {
        let mut position = Position::Last;
        if self.has_rest_row(index) {
            stack.push((Place::Rest(index), position));
            position = Position::Inner;
        }
        let mut children = self.choice.children(index).to_vec();
        if self.options.sort == SortKey::Name {
            let name = |&child: &usize| self.tree.name(self.shown[child].chain[0]);
            children.sort_by(|a, b| name(a).cmp(&name(b)));
        }
        if self.options.direction == Direction::Reversed {
            children.reverse();
        }
        for child in children.into_iter().rev() {
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

/// Returns what a row or a number calls nodes without a row.
fn names_of(rest: &Rest) -> Names {
    match rest.count {
        0 => Names::Itself,
        count if rest.is_of_files() => Names::Files(count),
        count => Names::Any(count),
    }
}
