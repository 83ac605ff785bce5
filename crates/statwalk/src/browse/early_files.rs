// SPDX-License-Identifier: MIT OR Apache-2.0

//! The files of directories that the user looks at, before the scan of everything ends.
//!
//! The scan keeps no file until then. So each directory in view is read on its own, once.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use statwalk_browse::Item;
use statwalk_core::{Attributes, DirId, Fields, Fill, Found, Next, Scan, Source};
use statwalk_view::{Kind, Notes};

use crate::output::scanned_tree::kind_of;

/// The most files of a directory that are rows before the scan ends: the largest.
const ROWS_MAX: usize = 10_000;

/// How often a reading asks whether it is still wanted.
const PERIOD: Duration = Duration::from_millis(20);

/// Files that a worker hands over at once.
const FILES_MAX: usize = 1_000;

/// The files of one directory.
#[derive(Debug, Default)]
pub(crate) struct Files {
    /// The largest, in no order.
    items: Vec<Item<'static>>,
}

impl Files {
    pub(crate) fn get(&self, place: usize) -> Option<&Item<'static>> {
        self.items.get(place)
    }

    pub(crate) fn all(&self) -> &[Item<'static>] {
        &self.items
    }
}

/// The files of all directories that were read so far.
#[derive(Debug, Default)]
pub(crate) struct EarlyFiles {
    dirs: Mutex<HashMap<DirId, Arc<Files>>>,
}

impl EarlyFiles {
    pub(crate) fn of(&self, dir: DirId) -> Option<Arc<Files>> {
        let dirs = self.dirs.lock().unwrap_or_else(PoisonError::into_inner);
        dirs.get(&dir).cloned()
    }

    /// All of them, by directory.
    pub(crate) fn all(&self) -> HashMap<DirId, Arc<Files>> {
        let dirs = self.dirs.lock().unwrap_or_else(PoisonError::into_inner);
        dirs.clone()
    }

    pub(crate) fn keep(&self, dir: DirId, files: Files) {
        let mut dirs = self.dirs.lock().unwrap_or_else(PoisonError::into_inner);
        dirs.insert(dir, Arc::new(files));
    }
}

/// Reads the files of one directory. Absent where `stop` asked to end, and where it cannot
/// be read: the scan of everything tells that.
pub(crate) fn read(scan: &Scan, path: &[u8], stop: &dyn Fn() -> bool) -> Option<Files> {
    let scan = scan.clone().with_root(Path::new(OsStr::from_bytes(path)));
    let fields = Fields::NAME
        | Fields::TYPE
        | Fields::SIZE
        | Fields::ALLOCATED
        | Fields::LINKS
        | Fields::OWNER
        | Fields::MTIME;
    let gathered = scan
        .max_depth(1)
        // To read a file system in place begins with more work than one directory is.
        .source(Source::Posix)
        .gather(fields, |items: &mut Vec<Item<'static>>, found| {
            if let Found::Entries(_, batch) = found {
                let files = batch
                    .iter()
                    .map(|entry| item(entry.name, &entry.attributes));
                items.extend(files);
            }
            match items.len() {
                0 => Fill::Nothing,
                1..FILES_MAX => Fill::Some,
                _ => Fill::Full,
            }
        });
    let mut gathered = gathered.ok()?;
    let mut largest = Largest::default();
    loop {
        match gathered.next_within(PERIOD) {
            Next::Value(items) => items.into_iter().for_each(|item| largest.take(item)),
            Next::End => {
                return Some(Files {
                    items: largest.end(),
                });
            }
            // The rest is no value.
            _ => {}
        }
        if stop() {
            return None;
        }
    }
}

fn item(name: &[u8], attributes: &Attributes) -> Item<'static> {
    let kind = kind_of(attributes.kind);
    let apparent = attributes.size_bytes().unwrap_or(0);
    Item {
        name: name.to_vec().into(),
        kind,
        allocated_bytes: attributes.allocated_bytes().unwrap_or(0).into(),
        apparent_bytes: match kind {
            Kind::File | Kind::Link => apparent.into(),
            _ => 0,
        },
        entries: 1,
        newest_ns: attributes.mtime_ns(),
        uid: attributes.uid(),
        notes: Notes {
            is_unreadable: attributes.allocated_bytes().is_none(),
            has_other_names: attributes.links().is_some_and(|links| links > 1),
            ..Notes::default()
        },
    }
}

/// The largest of many files.
#[derive(Default)]
struct Largest {
    items: Vec<Item<'static>>,
    /// The sizes and places of those that are kept, the smallest first.
    order: BTreeSet<(u128, usize)>,
}

impl Largest {
    fn take(&mut self, item: Item<'static>) {
        let size = item.allocated_bytes.max(item.apparent_bytes);
        if self.items.len() < ROWS_MAX {
            self.order.insert((size, self.items.len()));
            self.items.push(item);
            return;
        }
        let smallest = self.order.first().copied();
        if let Some((least, place)) = smallest.filter(|(least, _)| size > *least) {
            self.order.remove(&(least, place));
            self.order.insert((size, place));
            self.items[place] = item;
        }
    }

    fn end(self) -> Vec<Item<'static>> {
        self.items
    }
}

#[cfg(test)]
mod tests {
    use statwalk_core::FileType;

    use super::*;

    #[test]
    fn the_largest_are_kept() {
        let mut largest = Largest::default();
        let count = 2 * ROWS_MAX as u64;
        for number in 0..count {
            // Each size once, in an order that is neither up nor down.
            let size = number * 7_919 % count;
            let attributes = Attributes::of_type(FileType::File);
            let mut item = item(size.to_string().as_bytes(), &attributes);
            item.apparent_bytes = size.into();
            largest.take(item);
        }
        let mut sizes: Vec<_> = largest
            .end()
            .iter()
            .map(|item| item.apparent_bytes)
            .collect();
        sizes.sort_unstable();
        let expected = u128::from(count - ROWS_MAX as u64)..u128::from(count);
        assert_eq!(sizes, expected.collect::<Vec<_>>());
    }

    #[test]
    fn a_directory_is_read_alone() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        std::fs::create_dir(path("below")).unwrap();
        std::fs::write(path("below/deep"), "x").unwrap();
        std::fs::write(path("one"), [b'x'; 5000]).unwrap();
        std::fs::hard_link(path("one"), path("two")).unwrap();
        std::os::unix::fs::symlink("nowhere", path("link")).unwrap();
        let scan = Scan::new("/nowhere");
        let bytes = root.path().as_os_str().as_bytes();
        let files = read(&scan, bytes, &|| false).unwrap();
        let mut found: Vec<_> = (files.all().iter())
            .map(|item| (item.name.as_ref(), item.kind, item.apparent_bytes))
            .collect();
        found.sort_by_key(|(name, ..)| *name);
        let expected = [
            (&b"link"[..], Kind::Link, 7),
            (b"one", Kind::File, 5000),
            (b"two", Kind::File, 5000),
        ];
        assert_eq!(found, expected);
        let has_names = files.all().iter().filter(|item| item.notes.has_other_names);
        assert_eq!(has_names.count(), 2);
        assert!(read(&scan, bytes, &|| true).is_none());
    }
}
