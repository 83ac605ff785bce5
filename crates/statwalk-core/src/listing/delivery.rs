// SPDX-License-Identifier: MIT OR Apache-2.0

//! Hands the contents of a directory to the worker: its entries, and its subdirectories
//! as jobs.

use std::sync::Arc;

use super::contents::Contents;
use super::outlet::{Backlog, Events, ListedBy, Note};
use crate::directory::{Directory, Origin};
use crate::handle::OpenParent;

/// Delivers entries, with their errors and counts.
pub(crate) fn deliver(
    directory: &Directory<'_>,
    announce: bool,
    contents: &Contents,
    out: &mut dyn Events,
) {
    let has_more = !contents.followed.is_empty() || !contents.failures.is_empty();
    // Nearly always there is no more, and the view needs no copy.
    match directory.is_last && has_more {
        false => out.deliver(directory, announce, &[&contents.batch]),
        true => {
            let first = Directory {
                is_last: false,
                ..*directory
            };
            out.deliver(&first, announce, &[&contents.batch]);
        }
    }
    if !contents.followed.is_empty() {
        let behind_links = Directory {
            followed: true,
            is_last: false,
            ..*directory
        };
        out.deliver(&behind_links, false, &[&contents.followed]);
    }
    let root = directory.root;
    for _ in 0..contents.vanished + contents.missing.len() as u64 {
        out.note(root, Note::Vanished);
    }
    if contents.excluded + contents.crossings > 0 {
        out.lacks(directory);
    }
    for _ in 0..contents.excluded {
        out.note(root, Note::Excluded);
    }
    for _ in 0..contents.crossings {
        out.note(root, Note::Crossing);
    }
    if !contents.failures.is_empty() {
        for (name, op, failure) in &contents.failures {
            let path = match name.is_empty() {
                true => directory.path(),
                false => Origin(directory).entry_path(name),
            };
            out.failed(root, path, *op, *failure);
        }
        out.incomplete(directory);
    }
    if directory.is_last && has_more {
        out.listed(directory, ListedBy::One);
        out.finished(directory);
    }
}

/// Queues the subdirectories, and defers the symbolic links.
pub(crate) fn queue(node: &Arc<OpenParent>, contents: &Contents, out: &mut dyn Backlog) {
    if !contents.subdir_offsets.is_empty() {
        out.queue(node, &contents.subdir_offsets, &contents.subdir_inos);
    }
    if !contents.link_offsets.is_empty() {
        out.defer_links(&node.dir, &contents.link_offsets);
    }
}
