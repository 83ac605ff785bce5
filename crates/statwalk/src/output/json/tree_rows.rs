// SPDX-License-Identifier: MIT OR Apache-2.0

//! The tree in JSON, row by row.

use serde::ser::{Serialize, SerializeMap, Serializer};
use statwalk_core::{FileType, Node, NodeKind};

use super::object::{Fields, Json, Object};
use super::scan_report::Counted;
use crate::output::rows::{Order, Row, Selection, bytes, is_selected};

/// The rows of a tree down to a depth, written one by one; empty where the scan kept none.
pub(crate) struct TreeRows<'a> {
    /// With their numbers on the command line.
    pub(crate) roots: Vec<(usize, Node<'a>)>,
    pub(crate) selection: Selection,
    pub(crate) order: Order,
    pub(crate) counted: Counted,
    /// The bytes of the smallest row.
    pub(crate) min_bytes: u128,
    /// Whether a filter selects entries.
    pub(crate) is_filtered: bool,
    /// The numbers of the roots that are further names of a file in an earlier one.
    pub(crate) further_names: Vec<usize>,
}

impl Fields for TreeRows<'_> {
    fn write(&self, object: &mut Object<impl SerializeMap>) {
        object.field("tree", self);
    }
}

impl Serialize for TreeRows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let order = self.order;
        let roots = self.roots.iter().copied();
        let rows = self.selection.rows(roots, move |a, b| order.compare(a, b));
        let shown = rows
            .filter(|row| self.min_bytes == 0 || bytes(&row.node, order.column) >= self.min_bytes)
            .filter(|row| !self.is_filtered || is_selected(&row.node));
        serializer.collect_seq(shown.map(|row| Json(self.row(row))))
    }
}

impl TreeRows<'_> {
    fn row<'a>(&self, row: Row<Node<'a>>) -> NodeJson<'a> {
        NodeJson {
            node: row.node,
            counts_inodes: self.counted == Counted::Inodes,
            is_further_name: self.further_names.contains(&row.root),
            rebuilt_by: None,
        }
    }
}

/// A directory with the sums of its subtree, or a file.
pub(crate) struct NodeJson<'a> {
    pub(crate) node: Node<'a>,
    /// Whether inodes are counted, and not names.
    pub(crate) counts_inodes: bool,
    /// Whether it is a further name of a file in an earlier root.
    pub(crate) is_further_name: bool,
    /// The program that makes the directory again.
    pub(crate) rebuilt_by: Option<&'static str>,
}

impl Fields for NodeJson<'_> {
    fn write(&self, object: &mut Object<impl SerializeMap>) {
        let node = &self.node;
        let kind = match node.kind() {
            NodeKind::Other(kind) => kind,
            _ => FileType::Directory,
        };
        let extra = node.is_extra_link();
        // Its bytes are in the sums of its first name.
        let bytes = |bytes| if extra { Some(0) } else { bytes };
        let counted = if self.counts_inodes {
            "inodes"
        } else {
            "entries"
        };
        object.text("path", &node.path());
        object.field("type", kind.letter());
        object.known("apparent_bytes", bytes(node.apparent_bytes()));
        object.known("allocated_bytes", bytes(node.allocated_bytes()));
        object.field(counted, node.entries());
        object.field("files", node.file_count());
        object.field("dirs", node.dir_count());
        let newest = ["newest_mtime_s", "newest_mtime_ns"];
        object.time(newest, node.newest_mtime_ns());
        object.field("incomplete", node.is_incomplete());
        object.flag("extra_hard_link", extra || self.is_further_name);
        object.known("rebuilt_by", self.rebuilt_by);
    }
}
