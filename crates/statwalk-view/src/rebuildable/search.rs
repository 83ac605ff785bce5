// SPDX-License-Identifier: MIT OR Apache-2.0

//! The search below a directory: the outermost directories that a rule holds for.

use std::borrow::Cow;
use std::ops::ControlFlow;

use super::rule::{READY, Ready, Rule, ends_with};
use super::table::CLOSED;
use super::traces::Traces;

/// Directories that were scanned.
pub trait Directories {
    /// The number of a directory.
    type Dir: Copy;

    /// The name of a directory.
    fn name(&self, dir: Self::Dir) -> Cow<'_, [u8]>;

    /// The entries of a directory.
    fn listing(&self, dir: Self::Dir) -> Listing<Self::Dir>;

    /// Whether the `CACHEDIR.TAG` in a directory begins with the signature.
    fn has_valid_tag(&self, dir: Self::Dir) -> bool;

    /// Whether nobody waits for the answer any more.
    fn is_stopped(&self) -> bool {
        false
    }
}

/// The entries of a directory, as far as a search needs them.
#[derive(Clone, Debug)]
pub struct Listing<D> {
    /// The traces of all entries, [`Traces::UNREAD`] where some are unknown.
    pub traces: Traces,
    /// The directories.
    pub dirs: Vec<D>,
}

/// The place where a search begins.
#[derive(Clone, Debug)]
pub struct Start<D> {
    /// The directory.
    pub dir: D,
    /// Its real path, from the root of the file system on: some places belong to programs,
    /// wherever a scan begins.
    pub path: Vec<u8>,
    /// Whether its name or one above it begins with a dot, up to the root of the scan.
    pub is_hidden: bool,
}

/// Gives each directory below another one that a program makes again, with the rule that
/// says so, until `found` breaks. The directory itself does not come, nor do those within
/// one that came.
pub fn search<D: Directories>(
    tree: &D,
    start: &Start<D::Dir>,
    found: &mut dyn FnMut(D::Dir, &'static Rule) -> ControlFlow<()>,
) {
    let mut path = start.path.clone();
    while path.last() == Some(&b'/') {
        path.pop();
    }
    if is_within_closed(&path) {
        return;
    }
    let listing = tree.listing(start.dir);
    let mut waiting = Vec::new();
    let push = |waiting: &mut Vec<Waiting<D::Dir>>, listing: Listing<D::Dir>, length, hidden| {
        waiting.extend(listing.dirs.into_iter().map(|dir| Waiting {
            dir,
            length,
            beside: listing.traces,
            is_hidden: hidden,
        }));
    };
    push(&mut waiting, listing, path.len(), start.is_hidden);
    while let Some(Waiting {
        dir,
        length,
        beside,
        is_hidden,
    }) = waiting.pop()
    {
        if tree.is_stopped() {
            return;
        }
        path.truncate(length);
        path.push(b'/');
        path.extend_from_slice(&tree.name(dir));
        let listing = tree.listing(dir);
        let name = &path[length + 1..];
        let mut rules = READY.of(&path, name);
        let rule = rules.find(|rule| {
            !listing.traces.is_unread()
                && rule.holds(beside, listing.traces, is_hidden)
                && is_free_below(tree, &listing, rule)
                && (!rule.needs_tag || tree.has_valid_tag(dir))
        });
        if let Some(ready) = rule {
            if found(dir, ready.rule).is_break() {
                return;
            }
            continue;
        }
        if is_closed(&path, name) {
            continue;
        }
        let is_hidden = is_hidden || name.starts_with(b".");
        push(&mut waiting, listing, path.len(), is_hidden);
    }
}

/// A directory that is to be looked at.
struct Waiting<D> {
    dir: D,
    /// The length of the path of the directory that holds it.
    length: usize,
    /// The traces in that directory.
    beside: Traces,
    /// Whether the name of a directory above begins with a dot.
    is_hidden: bool,
}

/// Whether none of the directories within speaks against a rule.
fn is_free_below<D: Directories>(tree: &D, listing: &Listing<D::Dir>, rule: &Ready) -> bool {
    let against = rule.without_below;
    let mut dirs = listing.dirs.iter();
    against.is_none()
        || dirs.all(|&dir| {
            let traces = tree.listing(dir).traces;
            !traces.is_unread() && !traces.meets(against)
        })
}

/// Whether a directory belongs to another program with all that is in it.
fn is_closed(path: &[u8], name: &[u8]) -> bool {
    CLOSED.iter().any(|closed| match closed.strip_suffix('*') {
        Some(closed) => {
            let (above, beginning) = closed.rsplit_once('/').unwrap_or(("", closed));
            let above_path = &path[..path.len() - name.len() - 1];
            name.starts_with(beginning.as_bytes())
                && (above.is_empty() || ends_with(above_path, above))
        }
        None => ends_with(path, closed),
    })
}

/// Whether a directory, by its path, or one above it is closed.
fn is_within_closed(path: &[u8]) -> bool {
    let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
    let ends = slashes.map(|(at, _)| at).skip(1).chain([path.len()]);
    let mut start = 1;
    for end in ends {
        if start <= end && is_closed(&path[..end], &path[start..end]) {
            return true;
        }
        start = end + 1;
    }
    false
}
