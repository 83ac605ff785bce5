// SPDX-License-Identifier: MIT OR Apache-2.0

//! The first name, in path order, of each inode that has several.
//!
//! Where the bytes of a hard-linked file go must not depend on which worker
//! met which name first, so each keeps the first it saw and the merge decides.

use std::cmp::Ordering;
use std::collections::HashMap;

use foldhash::fast::RandomState;

use crate::entry::FileId;

/// Compares two paths component by component, bytewise.
///
/// That is the order of the bytes with `/` below all others, so that a
/// directory is followed by what it holds.
///
/// ```
/// use std::cmp::Ordering;
/// assert_eq!(statwalk::path_order(b"a/z", b"a.b"), Ordering::Less);
/// ```
#[must_use]
pub fn path_order(a: &[u8], b: &[u8]) -> Ordering {
    let key = |&byte: &u8| if byte == b'/' { 0 } else { u16::from(byte) + 1 };
    a.iter().map(key).cmp(b.iter().map(key))
}

/// First names, each with what the caller keeps about it.
pub(super) struct FirstNames<T> {
    first: HashMap<FileId, Name<T>, RandomState>,
}

pub(super) struct Name<T> {
    /// What was reached without following links comes first.
    behind_link: bool,
    root: usize,
    path: Box<[u8]>,
    pub(super) value: T,
}

impl<T> Name<T> {
    fn comes_after<U>(&self, other: &Name<U>) -> bool {
        let order = (other.behind_link.cmp(&self.behind_link)).then(other.root.cmp(&self.root));
        order.then_with(|| path_order(&other.path, &self.path)) == Ordering::Less
    }
}

impl<T> FirstNames<T> {
    pub(super) fn new() -> FirstNames<T> {
        FirstNames {
            first: HashMap::default(),
        }
    }

    /// Offers a name of an inode.
    pub(super) fn offer(
        &mut self,
        id: FileId,
        behind_link: bool,
        root: usize,
        path: Vec<u8>,
        value: T,
    ) {
        let name = Name {
            behind_link,
            root,
            path: path.into_boxed_slice(),
            value,
        };
        self.offer_name(id, name);
    }

    fn offer_name(&mut self, id: FileId, name: Name<T>) {
        match self.first.entry(id) {
            std::collections::hash_map::Entry::Vacant(place) => {
                place.insert(name);
            }
            std::collections::hash_map::Entry::Occupied(mut place) => {
                if place.get().comes_after(&name) {
                    place.insert(name);
                }
            }
        }
    }

    /// Takes over the names of another worker.
    pub(super) fn absorb(&mut self, other: FirstNames<T>) {
        for (id, name) in other.first {
            self.offer_name(id, name);
        }
    }

    /// The same names with something else kept about them.
    pub(super) fn map<U>(self, mut change: impl FnMut(T) -> U) -> FirstNames<U> {
        let first = self.first.into_iter().map(|(id, name)| {
            let name = Name {
                behind_link: name.behind_link,
                root: name.root,
                path: name.path,
                value: change(name.value),
            };
            (id, name)
        });
        FirstNames {
            first: first.collect(),
        }
    }

    /// What was kept about each first name, in no particular order.
    pub(super) fn into_values(self) -> impl Iterator<Item = T> {
        self.first.into_values().map(|name| name.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_path_wins_whoever_met_it() {
        let id = FileId { dev: 1, ino: 2 };
        let names = [
            (false, 0, "r/b"),
            (false, 0, "r/a.x"),
            (false, 0, "r/a/z"),
            (true, 0, "r/a/a"),
            (false, 1, "a"),
        ];
        for start in 0..names.len() {
            let mut left = FirstNames::new();
            let mut right = FirstNames::new();
            for (index, &(behind_link, root, path)) in
                names.iter().cycle().skip(start).take(5).enumerate()
            {
                let side = if index % 2 == 0 {
                    &mut left
                } else {
                    &mut right
                };
                side.offer(id, behind_link, root, path.into(), path);
            }
            left.absorb(right);
            assert_eq!(left.into_values().collect::<Vec<_>>(), ["r/a/z"]);
        }
    }
}
