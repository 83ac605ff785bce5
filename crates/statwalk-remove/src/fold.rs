// SPDX-License-Identifier: MIT OR Apache-2.0

//! Marks within marks count once.

use std::collections::HashSet;

use crate::item::Item;
use crate::path;

/// Leaves out items that are marked twice or lie below another one. The order stays.
///
/// # Examples
///
/// ```
/// use statwalk_remove::{EntryType, Identity, Item, fold};
///
/// let directory = Identity { device: 1, inode: 2, entry_type: EntryType::Directory, mtime_s: 0, mtime_ns: 0 };
/// let item = |path: &str| Item::new(path, directory);
/// let folded = fold(vec![item("/a/b/c"), item("/a/b"), item("/a/bc"), item("/a/b")]);
/// let paths: Vec<_> = folded.iter().map(Item::path).collect();
/// assert_eq!(paths, [&b"/a/b"[..], b"/a/bc"]);
/// ```
#[must_use]
pub fn fold(items: Vec<Item>) -> Vec<Item> {
    let paths: HashSet<Vec<u8>> = items.iter().map(|item| item.path().to_vec()).collect();
    let lies_below = |mut path: &[u8]| {
        while let Some((directory, _)) = path::split(path) {
            if paths.contains(directory) {
                return true;
            }
            path = directory;
        }
        false
    };
    let mut kept = HashSet::new();
    let is_kept = |item: &Item| !lies_below(item.path()) && kept.insert(item.path().to_vec());
    let mut items = items;
    items.retain(is_kept);
    items
}
