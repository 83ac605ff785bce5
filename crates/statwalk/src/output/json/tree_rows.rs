// SPDX-License-Identifier: MIT OR Apache-2.0

//! The tree in JSON, row by row.

use serde::{Serialize, Serializer};
use statwalk_core::{DirState, FileType, Node, NodeKind, RootTotals, Tree};
use statwalk_view::json_path;

use super::seconds_and_rest;
use crate::output::rows::{Order, Row, Selection, roots};

/// The tree down to a depth; empty where the scan kept none.
#[derive(Serialize)]
pub(crate) struct TreeAnswer<'a> {
    pub(crate) tree: TreeRows<'a>,
}

/// The rows of a tree, written one by one.
pub(crate) struct TreeRows<'a> {
    pub(crate) tree: Option<&'a Tree>,
    pub(crate) selection: Selection,
    pub(crate) order: Order,
    pub(crate) totals: &'a [RootTotals],
}

impl Serialize for TreeRows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let order = self.order;
        let rows = self.tree.iter().flat_map(|tree| {
            let compare = move |a: &Node<'_>, b: &Node<'_>| order.compare(a, b);
            self.selection.rows(roots(tree), compare)
        });
        serializer.collect_seq(rows.map(|row| self.row(row)))
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
    entries: u64,
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
}

impl TreeRows<'_> {
    fn row(&self, row: Row<Node<'_>>) -> NodeJson {
        let kind = match row.node.kind() {
            NodeKind::Directory(DirState::Argument) => self.argument_kind(row.root),
            NodeKind::Other(kind) => kind,
            _ => FileType::Directory,
        };
        node_json(&row.node, kind)
    }

    /// The type of a root that is no directory. The tree knows its sums alone.
    fn argument_kind(&self, root: usize) -> FileType {
        match self.totals.get(root) {
            Some(totals) if totals.files > 0 => FileType::File,
            Some(totals) if totals.symlinks > 0 => FileType::Symlink,
            _ => FileType::Unknown,
        }
    }
}

/// A directory.
pub(crate) fn directory_json(node: &Node<'_>) -> NodeJson {
    node_json(node, FileType::Directory)
}

fn node_json(node: &Node<'_>, kind: FileType) -> NodeJson {
    let (path, path_b64) = json_path(&node.path());
    let extra = node.is_extra_link();
    let is_file = matches!(node.kind(), NodeKind::Other(_));
    let bytes = |bytes: u128| match (extra, is_file && node.is_incomplete()) {
        // Its bytes are in the sums of its first name.
        (true, _) => Some(0),
        // statwalk could not read them.
        (false, true) => None,
        (false, false) => Some(bytes),
    };
    let (newest_mtime_s, newest_mtime_ns) = seconds_and_rest(node.newest_mtime_ns());
    NodeJson {
        path,
        path_b64,
        kind: kind.letter(),
        apparent_bytes: bytes(node.apparent_bytes()),
        allocated_bytes: bytes(node.allocated_bytes()),
        entries: node.entries(),
        files: node.file_count(),
        dirs: node.dir_count(),
        newest_mtime_s,
        newest_mtime_ns,
        incomplete: node.is_incomplete(),
        extra_hard_link: extra.then_some(true),
    }
}
