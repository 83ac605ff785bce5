// SPDX-License-Identifier: MIT OR Apache-2.0

//! Which nodes have rows.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::best::{Best, Candidate};
use super::rest::Rest;
use super::row::{Label, Row};
use super::{Direction, Figures, Files, SortKey, Tree, TreeOptions};
use crate::charset::Position;

/// A directory or file that has a row; the root has none and is the first.
struct Shown<N> {
    node: N,
    depth: usize,
    figures: Figures,
    is_dir: bool,
    /// The children that may be shown, in the order in which they will be.
    candidates: Vec<Candidate<N>>,
    /// The rows of the first of the candidates.
    children: Vec<usize>,
    /// The children that cannot be shown.
    beyond: Rest,
}

/// A possible next step; the step with the largest node comes first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Step {
    key: u128,
    /// Of equals, the first in the tree wins.
    age: Reverse<usize>,
    action: Action,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Action {
    /// Find the children of a row's directory.
    Open(usize),
    /// Give the next candidate of a row's directory a row.
    Show(usize),
}

/// The rows that were found by now.
pub(super) struct Selection<'a, T: Tree> {
    tree: &'a T,
    options: &'a TreeOptions,
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
            shown: Vec::new(),
            steps: BinaryHeap::new(),
            steps_count: 0,
            rows_used: 0,
        };
        selection.add(tree.root(), 0);
        selection
    }

    /// Adds a node to those shown, and the opening of it to what can be done.
    fn add(&mut self, node: T::Node, depth: usize) {
        let figures = self.tree.figures(node);
        let is_dir = self.tree.is_dir(node);
        let index = self.shown.len();
        self.shown.push(Shown {
            node,
            depth,
            figures,
            is_dir,
            candidates: Vec::new(),
            children: Vec::new(),
            beyond: Rest::default(),
        });
        if is_dir && self.options.depth_max.is_none_or(|max| depth < max) {
            self.push_step(self.key(&figures), Action::Open(index));
        }
    }

    fn push_step(&mut self, key: u128, action: Action) {
        let age = Reverse(self.steps_count);
        self.steps_count += 1;
        self.steps.push(Step { key, age, action });
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
            match step.action {
                Action::Open(index) => self.open(index),
                Action::Show(index) => self.show(index),
            }
        }
        // A row `… 1 more` can as well be that one.
        for index in 0..self.shown.len() {
            if self.has_rest_row(index) && self.hidden_count(index) == 1 {
                self.show(index);
            }
        }
    }

    /// Finds the candidates among the children of a directory.
    fn open(&mut self, index: usize) {
        let room = self.options.rows_max - self.rows_used;
        let mut best = Best::new(self.tree, room);
        for node in self.tree.children(self.shown[index].node) {
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
        let (candidates, beyond) = best.finish();
        self.shown[index].candidates = candidates;
        self.shown[index].beyond = beyond;
        if self.has_rest_row(index) {
            // Only the root has one from the start, for there must be something.
            self.rows_used += 1;
        }
        self.push_show(index);
    }

    fn push_show(&mut self, index: usize) {
        let row = &self.shown[index];
        if let Some(next) = row.candidates.get(row.children.len()) {
            self.push_step(next.key, Action::Show(index));
        }
    }

    /// Gives the next candidate of a directory a row, if there is room.
    fn show(&mut self, index: usize) {
        let row = &self.shown[index];
        let Some(&Candidate { node, .. }) = row.candidates.get(row.children.len()) else {
            return;
        };
        // The first row of a directory brings the row for the rest with it; the
        // last takes its place.
        let rest_before = usize::from(self.has_rest_row(index));
        let rest_after = usize::from(self.hidden_count(index) > 1);
        let rows_used = self.rows_used + 1 + rest_after - rest_before;
        if rows_used > self.options.rows_max {
            return;
        }
        self.rows_used = rows_used;
        let child = self.shown.len();
        self.shown[index].children.push(child);
        self.add(node, self.shown[index].depth + 1);
        self.push_show(index);
    }

    fn hidden_count(&self, index: usize) -> u64 {
        let row = &self.shown[index];
        row.beyond.count + (row.candidates.len() - row.children.len()) as u64
    }

    fn has_rest_row(&self, index: usize) -> bool {
        let is_open = index == ROOT || !self.shown[index].children.is_empty();
        is_open && self.hidden_count(index) > 0
    }

    /// Returns the rows in the order in which they stand on the screen.
    pub(super) fn into_rows(mut self) -> Vec<Row<T::Node>> {
        for index in 0..self.shown.len() {
            let mut children = std::mem::take(&mut self.shown[index].children);
            let shown_count = children.len();
            if self.options.sort == SortKey::Name {
                let name = |&child: &usize| self.tree.name(self.shown[child].node);
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
                    let row = &self.shown[index];
                    rows.push(Row {
                        depth: row.depth,
                        position,
                        figures: row.figures,
                        label: Label::Node(row.node, row.is_dir),
                    });
                    self.push_children(index, &mut stack);
                }
                Place::Rest(index) => {
                    let row = &self.shown[index];
                    rows.push(Row {
                        depth: row.depth + 1,
                        position,
                        figures: row.beyond.figures(),
                        label: Label::Rest(row.beyond.count, row.beyond.dir_count),
                    });
                }
            }
        }
        rows
    }

    /// Puts the rows below a directory on the stack, the first on top.
    fn push_children(&self, index: usize, stack: &mut Vec<(Place, Position)>) {
        let row = &self.shown[index];
        let mut position = Position::Last;
        if row.beyond.count > 0 && (index == ROOT || !row.children.is_empty()) {
            stack.push((Place::Rest(index), position));
            position = Position::Inner;
        }
        for &child in row.children.iter().rev() {
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
