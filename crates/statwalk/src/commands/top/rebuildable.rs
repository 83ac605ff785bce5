// SPDX-License-Identifier: MIT OR Apache-2.0

//! The directories of a tree that a program makes again.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use statwalk_core::{DirId, Node, Tree};
use statwalk_view::rebuildable::{Directories, Listing, Rule, Traces, search};

use crate::cache_tag;

/// The directories of a scan, as a search sees them.
struct Scanned<'s, 't> {
    tree: &'t Tree,
    traces: &'s HashMap<DirId, Traces>,
    /// Whether a directory that is incomplete can lack names.
    is_interrupted: bool,
}

/// All directories that a program makes again, the outermost alone, with the rules that
/// say so.
pub(super) fn all<'t, P: AsRef<Path>>(
    tree: &'t Tree,
    paths: &[P],
    traces: &HashMap<DirId, Traces>,
    is_interrupted: bool,
) -> Vec<(Node<'t>, &'static Rule)> {
    let scanned = Scanned {
        tree,
        traces,
        is_interrupted,
    };
    let mut all = Vec::new();
    for (index, path) in paths.iter().enumerate() {
        let Some(root) = scanned.tree.root(index) else {
            continue;
        };
        let path = real_path(path.as_ref());
        search(&scanned, root, &path, &mut |node, rule| {
            all.push((node, rule));
            ControlFlow::Continue(())
        });
    }
    all
}

/// The real path of a root. The directories of an image stand at the root of a file
/// system.
fn real_path(path: &Path) -> Vec<u8> {
    match path.canonicalize() {
        Ok(real) if real.is_dir() => real.as_os_str().as_bytes().to_vec(),
        _ => Vec::new(),
    }
}

impl<'t> Directories for Scanned<'_, 't> {
    type Dir = Node<'t>;

    fn name(&self, dir: Node<'t>) -> Cow<'_, [u8]> {
        dir.name().into()
    }

    fn listing(&self, dir: Node<'t>) -> Listing<Node<'t>> {
        let traces = dir.dir_id().and_then(|id| self.traces.get(&id));
        let mut traces = traces.copied().unwrap_or_default();
        if self.is_interrupted && dir.is_incomplete() {
            traces |= Traces::UNREAD;
        }
        Listing {
            traces,
            dirs: dir.children().collect(),
        }
    }

    fn has_valid_tag(&self, dir: Node<'t>) -> bool {
        // What has stopped the scan could be a file system that does not answer.
        !self.is_interrupted && cache_tag::is_valid(&dir.path())
    }
}
