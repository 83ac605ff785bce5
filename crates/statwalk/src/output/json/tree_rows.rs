// SPDX-License-Identifier: MIT OR Apache-2.0

//! The tree in JSON, row by row.

use serde::{Serialize, Serializer};
use statwalk_core::{FileType, Node, NodeKind};
use statwalk_view::json_path;

use super::scan_report::Counted;
use super::seconds_and_rest;
use crate::output::rows::{Order, Row, Selection, bytes, is_selected};

/// The tree down to a depth; empty where the scan kept none.
#[derive(Serialize)]
pub(crate) struct TreeAnswer<'a> {
    pub(crate) tree: TreeRows<'a>,
}

/// The rows of a tree, written one by one.
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

impl Serialize for TreeRows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let order = self.order;
        let roots = self.roots.iter().copied();
        let rows = self.selection.rows(roots, move |a, b| order.compare(a, b));
        let shown = rows
            .filter(|row| self.min_bytes == 0 || bytes(&row.node, order.column) >= self.min_bytes)
            .filter(|row| !self.is_filtered || is_selected(&row.node));
        serializer.collect_seq(shown.map(|row| self.row(row)))
    }
}

/// A directory with the sums of its subtree, or a file.
#[derive(Serialize)]
pub(crate) struct NodeJson {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_b64: Option<String>,
    #[serde(rename = "type")]
    kind: char,
    #[serde(skip_serializing_if = "Option::is_none")]
    apparent_bytes: Option<u128>,
    #[serde(skip_serializing_if = "Option::is_none")]
    allocated_bytes: Option<u128>,
    /// Absent where inodes are counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    entries: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    inodes: Option<u64>,
    files: u64,
    dirs: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    newest_mtime_s: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    newest_mtime_ns: Option<u32>,
    incomplete: bool,
    /// Only for a further name of a file whose bytes count elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    extra_hard_link: Option<bool>,
    /// Only for a directory that a program makes again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rebuilt_by: Option<&'static str>,
}

impl TreeRows<'_> {
    fn row(&self, row: Row<Node<'_>>) -> NodeJson {
        let is_further_name = self.further_names.contains(&row.root);
        let mut row = node_json(&row.node);
        if is_further_name {
            row.extra_hard_link = Some(true);
        }
        match self.counted {
            Counted::Sizes | Counted::Names => row,
            Counted::Inodes => NodeJson {
                inodes: row.entries,
                entries: None,
                ..row
            },
        }
    }
}

pub(crate) fn node_json(node: &Node<'_>) -> NodeJson {
    let (path, path_b64) = json_path(&node.path());
    let extra = node.is_extra_link();
    let kind = match node.kind() {
        NodeKind::Other(kind) => kind,
        _ => FileType::Directory,
    };
    // Its bytes are in the sums of its first name.
    let bytes = |bytes: Option<u128>| if extra { Some(0) } else { bytes };
    let (newest_mtime_s, newest_mtime_ns) = seconds_and_rest(node.newest_mtime_ns());
    NodeJson {
        path,
        path_b64,
        kind: kind.letter(),
        apparent_bytes: bytes(node.apparent_bytes()),
        allocated_bytes: bytes(node.allocated_bytes()),
        entries: Some(node.entries()),
        inodes: None,
        files: node.file_count(),
        dirs: node.dir_count(),
        newest_mtime_s,
        newest_mtime_ns,
        incomplete: node.is_incomplete(),
        extra_hard_link: extra.then_some(true),
        rebuilt_by: None,
    }
}
