// SPDX-License-Identifier: MIT OR Apache-2.0

//! The directories of a scan by their numbers, for the paths of what is in them.
//!
//! Each takes 40 bytes and its name, to the end of the scan. A worker may still have rows
//! of a directory that is finished, so none can be forgotten.

use std::collections::HashMap;

use statwalk_core::{DirId, Directories, Rows};

#[derive(Debug, Default)]
pub(crate) struct Tree {
    /// By number. Numbers are nearly dense.
    nodes: Vec<Node>,
    names: Vec<u8>,
    /// Directories whose parent has not come, by the number of the parent.
    orphans: HashMap<u32, Vec<u32>>,
    has_pruned: bool,
}

#[derive(Clone, Debug)]
struct Node {
    name: u64,
    name_len: u32,
    /// Its own number for a root.
    parent: u32,
    depth: u32,
    root: u32,
    /// Whether all directories above it have come.
    is_known: bool,
    is_pruned: bool,
    /// The rows with it, and where it stands in them.
    rows: u32,
    row: u32,
}

const NOBODY: Node = Node {
    name: 0,
    name_len: 0,
    parent: 0,
    depth: 0,
    root: 0,
    is_known: false,
    is_pruned: false,
    rows: 0,
    row: 0,
};

impl Tree {
    /// Takes the directories of some rows in. Gives the numbers of those that are known
    /// by that, each after its parent.
    pub(crate) fn add(&mut self, directories: &Directories, rows: u32) -> Vec<u32> {
        let mut settled = Vec::with_capacity(directories.len());
        let columns = &directories.columns;
        for (row, &id) in directories.ids.iter().enumerate() {
            let index = id as usize;
            if self.nodes.len() <= index {
                self.nodes.resize(index + 1, NOBODY);
            }
            let name = columns.name(row);
            let has_parent = columns.has_dir.get(row);
            self.nodes[index] = Node {
                name: self.names.len() as u64,
                // The kernel's names are shorter than 256 bytes, and a caller's path fits too.
                name_len: name.len() as u32,
                parent: if has_parent { columns.dirs[row] } else { id },
                root: directories.roots[row],
                rows,
                // Rows have at most 65,536.
                row: row as u32,
                ..NOBODY
            };
            self.names.extend_from_slice(name);
            match has_parent {
                false => self.settle(id, 0, &mut settled),
                true => {
                    let parent = columns.dirs[row];
                    match self.node(parent).filter(|parent| parent.is_known) {
                        Some(parent) => {
                            let depth = parent.depth + 1;
                            self.settle(id, depth, &mut settled);
                        }
                        None => self.orphans.entry(parent).or_default().push(id),
                    }
                }
            }
        }
        settled
    }

    /// Notes the depth of a directory whose parents are known, and of all that waited
    /// for it.
    fn settle(&mut self, id: u32, depth: u32, settled: &mut Vec<u32>) {
        settled.push(id);
        if self.orphans.is_empty() {
            let node = &mut self.nodes[id as usize];
            (node.depth, node.is_known) = (depth, true);
            return;
        }
        let mut waiting = vec![(id, depth)];
        while let Some((id, depth)) = waiting.pop() {
            let node = &mut self.nodes[id as usize];
            (node.depth, node.is_known) = (depth, true);
            let children = self.orphans.remove(&id).unwrap_or_default();
            settled.extend(&children);
            waiting.extend(children.into_iter().map(|child| (child, depth + 1)));
        }
    }

    fn node(&self, id: u32) -> Option<&Node> {
        self.nodes.get(id as usize)
    }

    pub(crate) fn is_known(&self, id: u32) -> bool {
        self.node(id).is_some_and(|node| node.is_known)
    }

    /// Whether all directories of some rows are known, with all above them.
    pub(crate) fn knows_all_of(&self, rows: &Rows) -> bool {
        let mut last = None;
        let mut is_known = |id: u32| {
            // Entries of one directory come one after another.
            last == Some(id) || {
                last = Some(id);
                self.is_known(id)
            }
        };
        let directories = &rows.directories().ids;
        let entries = rows.entries();
        let has_roots = entries.has_dir.zeros() > 0;
        let dirs = entries.dirs.iter().enumerate();
        directories.iter().all(|&id| is_known(id)) && { dirs }
            .all(|(row, &id)| (has_roots && !entries.has_dir.get(row)) || is_known(id))
    }

    pub(crate) fn depth(&self, id: u32) -> u32 {
        self.nodes[id as usize].depth
    }

    pub(crate) fn root(&self, id: u32) -> u32 {
        self.nodes[id as usize].root
    }

    /// The rows with a directory, and where it stands in them.
    pub(crate) fn place(&self, id: u32) -> (u32, usize) {
        let node = &self.nodes[id as usize];
        (node.rows, node.row as usize)
    }

    /// Writes the path of a directory.
    pub(crate) fn path_to(&self, id: u32, path: &mut Vec<u8>) {
        path.clear();
        let (mut len, mut at) = (0, id);
        loop {
            let node = &self.nodes[at as usize];
            len += node.name_len as usize + 1;
            if node.parent == at {
                break;
            }
            at = node.parent;
        }
        path.resize(len, 0);
        // From the end to the begin, because a node knows its parent.
        let (mut end, mut at) = (len, id);
        loop {
            let node = &self.nodes[at as usize];
            let name = &self.names[node.name as usize..][..node.name_len as usize];
            let is_root = node.parent == at;
            // A root can end with a slash, and needs no other.
            if at != id && !(is_root && (name.is_empty() || name.ends_with(b"/"))) {
                end -= 1;
                path[end] = b'/';
            }
            path[end - name.len()..end].copy_from_slice(name);
            end -= name.len();
            if is_root {
                break;
            }
            at = node.parent;
        }
        path.drain(..end);
    }

    /// Writes what stands before the names of a directory's entries: nothing for a root.
    pub(crate) fn prefix_of(&self, dir: Option<DirId>, path: &mut Vec<u8>) {
        path.clear();
        let Some(dir) = dir else { return };
        self.path_to(dir.index() as u32, path);
        if !path.ends_with(b"/") && !path.is_empty() {
            path.push(b'/');
        }
    }

    /// Leaves out all that is below a directory.
    pub(crate) fn prune(&mut self, id: u32) {
        self.nodes[id as usize].is_pruned = true;
        self.has_pruned = true;
    }

    /// Whether a directory or one above it was pruned.
    pub(crate) fn is_pruned(&self, id: u32) -> bool {
        if !self.has_pruned {
            return false;
        }
        let mut at = id;
        loop {
            let node = &self.nodes[at as usize];
            if node.is_pruned {
                return true;
            }
            if node.parent == at {
                return false;
            }
            at = node.parent;
        }
    }

    /// As [`is_pruned`](Self::is_pruned), of the directories above alone.
    pub(crate) fn is_below_pruned(&self, id: u32) -> bool {
        let parent = self.nodes[id as usize].parent;
        parent != id && self.is_pruned(parent)
    }
}
