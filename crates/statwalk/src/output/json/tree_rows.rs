// SPDX-License-Identifier: MIT OR Apache-2.0

//! The tree in JSON, row by row.

use serde::ser::{Serialize, SerializeMap, Serializer};
use statwalk_view::Tree;

use super::object::{Fields, Json, Object};
use super::scan_report::Counted;
use crate::output::rows::{Order, Selection, below, is_selected, size};

/// The rows of a tree down to a depth, written one by one; empty where the scan kept none.
pub(crate) struct TreeRows<T: Tree> {
    pub(crate) tree: Option<T>,
    pub(crate) roots: Vec<T::Node>,
    pub(crate) selection: Selection,
    pub(crate) order: Order,
    pub(crate) counted: Counted,
    /// The bytes of the smallest row.
    pub(crate) min_bytes: u128,
    /// Whether a filter selects entries.
    pub(crate) is_filtered: bool,
}

impl<T: Tree> Fields for TreeRows<T> {
    fn write(&self, object: &mut Object<impl SerializeMap>) {
        object.field("tree", self);
    }
}

impl<T: Tree> Serialize for TreeRows<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let rows = self.tree.iter().flat_map(|tree| self.rows(tree));
        serializer.collect_seq(rows.map(Json))
    }
}

impl<T: Tree> TreeRows<T> {
    fn rows<'a>(&'a self, tree: &'a T) -> impl Iterator<Item = NodeJson<'a, T>> {
        let order = self.order;
        let files = self.selection.files;
        let rows = self.selection.rows(
            self.roots.iter().copied(),
            move |&node| below(tree, node, files),
            move |node| order.rank(tree, node),
            move |&a, &b| order.compare(tree, a, b),
        );
        rows.filter(move |&node| {
            self.min_bytes == 0 || size(tree, node, order.column) >= self.min_bytes
        })
        .filter(move |&node| !self.is_filtered || is_selected(tree, node))
        .map(move |node| NodeJson {
            tree,
            node,
            counts_inodes: self.counted == Counted::Inodes,
            rebuilt_by: None,
        })
    }
}

/// A directory with the sums of its subtree, or a file.
pub(crate) struct NodeJson<'a, T: Tree> {
    pub(crate) tree: &'a T,
    pub(crate) node: T::Node,
    /// Whether inodes are counted, and not names.
    pub(crate) counts_inodes: bool,
    /// The program that makes the directory again.
    pub(crate) rebuilt_by: Option<&'static str>,
}

impl<T: Tree> Fields for NodeJson<'_, T> {
    fn write(&self, object: &mut Object<impl SerializeMap>) {
        let (tree, node) = (self.tree, self.node);
        let figures = tree.figures(node);
        let details = tree.details(node);
        let is_known = details.is_some_and(|details| details.knows_bytes);
        let is_further_name = details.is_some_and(|details| details.is_further_name);
        let counted = if self.counts_inodes {
            "inodes"
        } else {
            "entries"
        };
        object.text("path", &tree.path(node));
        object.known("type", details.map(|details| details.letter));
        object.known("apparent_bytes", is_known.then_some(figures.apparent_bytes));
        object.known(
            "allocated_bytes",
            is_known.then_some(figures.allocated_bytes),
        );
        object.field(counted, figures.entries);
        object.known("files", details.map(|details| details.files));
        object.known("dirs", details.map(|details| details.dirs));
        let newest = ["newest_mtime_s", "newest_mtime_ns"];
        object.time(newest, figures.newest_mtime_ns);
        object.field("incomplete", figures.incomplete);
        let is_extra = tree.notes(node).counts_elsewhere || is_further_name;
        object.flag("extra_hard_link", is_extra);
        object.known("rebuilt_by", self.rebuilt_by);
    }
}
