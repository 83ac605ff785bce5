// SPDX-License-Identifier: MIT OR Apache-2.0

//! The directories of a tree that a program makes again.

mod traces;

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use statwalk_core::{Node, Tree};
use statwalk_view::rebuildable::{Directories, Listing, Rule, Start, Traces, search};

pub(crate) use self::traces::{FoundTraces, TraceSink};
use crate::stored::StoredScan;
use crate::system::cache_tag;
use crate::system::real_path;

/// The directories of a scan, as a search sees them.
struct Scanned<'s, 't> {
    tree: &'t Tree,
    traces: &'s FoundTraces,
    /// Whether a signal has ended the scan.
    is_interrupted: bool,
    /// The stored scan that it was, which knows the tags of then.
    stored: Option<&'s StoredScan>,
}

/// All directories that a program makes again, the outermost alone, with the rules that
/// say so. None is incomplete: anything could be in it.
pub(crate) fn all<'t, P: AsRef<Path>>(
    tree: &'t Tree,
    paths: &[P],
    traces: &FoundTraces,
    is_interrupted: bool,
    stored: Option<&StoredScan>,
) -> Vec<(Node<'t>, &'static Rule)> {
    let scanned = Scanned {
        tree,
        traces,
        is_interrupted,
        stored,
    };
    let mut all = Vec::new();
    for (index, path) in paths.iter().enumerate() {
        let Some(root) = scanned.tree.root(index) else {
            continue;
        };
        let start = Start {
            dir: root,
            path: match stored {
                Some(_) => path.as_ref().as_os_str().as_bytes().to_vec(),
                None => real_path::of_root(path.as_ref()),
            },
            is_hidden: false,
        };
        search(&scanned, &start, &mut |node, rule| {
            all.push((node, rule));
            ControlFlow::Continue(())
        });
    }
    all
}

impl<'t> Directories for Scanned<'_, 't> {
    type Dir = Node<'t>;

    fn name(&self, dir: Node<'t>) -> Cow<'_, [u8]> {
        dir.name().into()
    }

    fn listing(&self, dir: Node<'t>) -> Listing<Node<'t>> {
        let traces = dir.dir_id().and_then(|id| self.traces.get(&id));
        let mut traces = traces.copied().unwrap_or_default();
        if dir.is_incomplete() {
            traces |= Traces::UNREAD;
        }
        Listing {
            traces,
            dirs: dir.children().collect(),
        }
    }

    fn has_valid_tag(&self, dir: Node<'t>) -> bool {
        match self.stored {
            Some(stored) => stored.has_cache_tag(&dir.path()),
            // What has stopped the scan could be a file system that does not answer.
            None => !self.is_interrupted && cache_tag::is_valid(&dir.path()),
        }
    }
}

#[cfg(test)]
mod tests {
    use statwalk_core::{MemoryEntry, MemoryTree, Order, Scan, TreeSink};

    use super::*;

    /// A tree in memory has no disk behind it: names are the proof there, and a tag is none.
    #[test]
    fn a_tree_in_memory_has_the_same_without_the_content_of_tags() {
        let mut tree = MemoryTree::new();
        for (path, entry) in [
            ("t/web/package.json", MemoryEntry::file(300)),
            (
                "t/web/node_modules/.package-lock.json",
                MemoryEntry::file(9),
            ),
            (
                "t/web/node_modules/left/node_modules/.package-lock.json",
                MemoryEntry::file(9),
            ),
            ("t/rust/Cargo.toml", MemoryEntry::file(50)),
            ("t/rust/target/CACHEDIR.TAG", MemoryEntry::file(43)),
            (
                "t/linked/Cargo.toml",
                MemoryEntry::symlink("../rust/Cargo.toml"),
            ),
            ("t/linked/target/CACHEDIR.TAG", MemoryEntry::file(43)),
            ("t/cache/CACHEDIR.TAG", MemoryEntry::file(43)),
            ("t/notes/target/plan", MemoryEntry::file(43)),
        ] {
            let ends = path.match_indices('/').map(|(at, _)| at);
            for end in ends {
                // Several entries share a directory.
                let _ = tree.insert(&path[..end], MemoryEntry::directory());
            }
            tree.insert(path, entry).unwrap();
        }
        for (order, threads) in [
            (Order::Parallel, 1),
            (Order::Parallel, 4),
            (Order::Recursive, 1),
        ] {
            let scan = Scan::new("/t").order(order).threads(threads);
            let sink = (TreeSink::new(), TraceSink);
            let (nodes, traces) = scan.run_in_memory(tree.clone(), &sink).unwrap().output;
            let found = all(&nodes, &["/t"], &traces, false, None);
            let mut found: Vec<_> = (found.iter())
                .map(|(node, rule)| (node.path(), rule.rebuilt_by))
                .collect();
            found.sort_unstable();
            let expected = [
                (b"/t/rust/target".to_vec(), "cargo build"),
                (b"/t/web/node_modules".to_vec(), "npm install"),
            ];
            assert_eq!(found, expected, "{order:?} {threads}");
        }
    }
}
