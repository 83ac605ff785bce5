// SPDX-License-Identifier: MIT OR Apache-2.0

//! The first name, in path order, of each inode that has several.
//!
//! Where the bytes of a hard-linked file go must not depend on which worker met
//! which name first, so the first of all names is kept. All workers share one
//! table, because a table for each would keep an inode once for each of them.
//! Of a name the table has its last component and the number of its directory;
//! paths are compared by walking up, not built.

use std::cmp::Ordering;
use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::Context;
use super::name_arena::NameArena;
use crate::chunks::Chunks;
use crate::directory::{Directory, Place};
use crate::inode_numbers::InodeNumber;
use crate::parts::Parts;

/// First names, each with what the caller keeps about it.
pub(super) struct FirstNames<T> {
    /// By the number of the inode.
    parts: Parts<Part<T>>,
    /// Directories that hold first names, in parts by their number.
    holders: Parts<Holders>,
}

/// The facts that a caller keeps about a name.
pub(super) trait Kept: Copy {
    /// Stands where there is no name.
    const NOTHING: Self;

    /// Takes in what is kept about another name of the inode.
    #[must_use]
    fn and(self, _other: Self) -> Self {
        self
    }
}

struct Part<T> {
    firsts: Chunks<First<T>>,
    names: NameArena,
}

impl<T> Default for Part<T> {
    fn default() -> Part<T> {
        Part {
            firsts: Chunks::default(),
            names: NameArena::default(),
        }
    }
}

/// The first name of an inode.
#[derive(Clone, Copy)]
#[repr(C, packed(4))]
struct First<T> {
    /// The number of its directory.
    dir: u32,
    /// Where its last component lies, with [`BEHIND_LINK`].
    name: u32,
    value: T,
}

/// No directory: the inode has no name here.
const NOWHERE: u32 = u32::MAX;

/// Stands in [`First::name`] where the name was reached by following a link. Names that
/// were reached without one come first.
const BEHIND_LINK: u32 = 1 << 31;
const _: () = assert!(NameArena::OFFSET_MAX < BEHIND_LINK);

type Holders = HashMap<u32, Holder, RandomState>;

/// A directory that holds first names.
struct Holder {
    place: Place,
    root: u32,
    /// How many.
    names: u32,
}

/// A name of an inode.
#[derive(Clone, Copy)]
pub(super) struct LinkName<'a> {
    pub(super) directory: &'a Directory<'a>,
    pub(super) behind_link: bool,
    pub(super) name: &'a [u8],
}

impl<T: Kept> FirstNames<T> {
    pub(super) fn new(context: &Context) -> FirstNames<T> {
        context.inodes.need();
        FirstNames {
            parts: Parts::new(),
            holders: Parts::new(),
        }
    }

    /// Offers a name of an inode.
    pub(super) fn offer(&self, inode: InodeNumber, new: LinkName<'_>, mut value: T) {
        let mut part = self.parts.lock(inode.part);
        let Part { firsts, names } = &mut *part;
        while firsts.len() <= inode.index {
            firsts.push(First {
                dir: NOWHERE,
                name: 0,
                value: T::NOTHING,
            });
        }
        let first = &mut firsts[inode.index];
        let dir = new.directory.id.0;
        let mark = if new.behind_link { BEHIND_LINK } else { 0 };
        let name = if first.dir == NOWHERE {
            self.hold(&new);
            names.push(new.name)
        } else {
            let old_at = first.name & !BEHIND_LINK;
            let old_behind = first.name & BEHIND_LINK != 0;
            if !self.comes_before(&new, first.dir, old_behind, names.get(old_at)) {
                let kept = first.value;
                first.value = kept.and(value);
                return;
            }
            value = value.and(first.value);
            if first.dir != dir {
                let unused = self.release(first.dir);
                self.hold(&new);
                // Whole chains of directories may go with it.
                drop(unused);
            }
            names.replace(old_at, new.name)
        };
        *first = First {
            dir,
            name: name | mark,
            value,
        };
        if names.wants_compaction() {
            let used = firsts.iter_mut().filter(|first| first.dir != NOWHERE);
            names.compact(used.map(|first| {
                let mark = first.name & BEHIND_LINK;
                (first.name & !BEHIND_LINK, move |at| first.name = at | mark)
            }));
        }
    }

    /// Whether a name comes before the first one so far.
    fn comes_before(&self, new: &LinkName<'_>, dir: u32, behind_link: bool, name: &[u8]) -> bool {
        let order = new.behind_link.cmp(&behind_link);
        let order = order.then_with(|| {
            if new.directory.id.0 == dir {
                return new.name.cmp(name);
            }
            let holders = self.holders.lock(dir);
            let holder = holders.get(&dir).expect("it holds a first name");
            (new.directory.root.cmp(&holder.root))
                .then_with(|| order_of((new.directory.place, new.name), (&holder.place, name)))
        });
        order == Ordering::Less
    }

    /// Notes one more first name in a directory.
    fn hold(&self, new: &LinkName<'_>) {
        let Directory {
            id, place, root, ..
        } = *new.directory;
        let mut holders = self.holders.lock(id.0);
        let holder = holders.entry(id.0).or_insert_with(|| Holder {
            place: place.clone(),
            root,
            names: 0,
        });
        holder.names += 1;
    }

    /// Notes one less. Gives the directory back if it was the last.
    fn release(&self, dir: u32) -> Option<Holder> {
        let mut holders = self.holders.lock(dir);
        let holder = holders.get_mut(&dir).expect("it holds a first name");
        holder.names -= 1;
        match holder.names {
            0 => holders.remove(&dir),
            _ => None,
        }
    }

    /// The root of a directory that holds a first name.
    pub(super) fn root_of(&self, dir: u32) -> Option<u32> {
        self.holders.lock(dir).get(&dir).map(|holder| holder.root)
    }

    /// Calls for each first name with its directory, in no particular order.
    pub(super) fn each(&self, mut found: impl FnMut(u32, T)) {
        for part in self.parts.each() {
            for first in part.firsts.iter().filter(|first| first.dir != NOWHERE) {
                found(first.dir, first.value);
            }
        }
    }
}

/// Compares two names below one root, in different directories, as [`path_order`](super::path_order)
/// does their paths.
fn order_of(a: (&Place, &[u8]), b: (&Place, &[u8])) -> Ordering {
    let ((mut a, mut a_below), (mut b, mut b_below)) = (a, b);
    let (a_depth, b_depth) = (a.depth(), b.depth());
    for _ in b_depth..a_depth {
        (a, a_below) = up(a);
    }
    for _ in a_depth..b_depth {
        (b, b_below) = up(b);
    }
    // Both are at one depth now, and what differs first lies at their lowest common
    // directory, or just below it.
    while let (Place::Child(a_parent, a_name), Place::Child(b_parent, b_name)) = (a, b) {
        if a_parent.id == b_parent.id {
            let order = (a_parent.child_name(*a_name)).cmp(b_parent.child_name(*b_name));
            if order.is_ne() {
                return order;
            }
            break;
        }
        (a, a_below) = up(a);
        (b, b_below) = up(b);
    }
    (a_below.cmp(b_below)).then(a_depth.cmp(&b_depth))
}

/// The directory above, and the name below it; a root stays.
fn up(place: &Place) -> (&Place, &[u8]) {
    let above = place.parent().map_or(place, |parent| &parent.place);
    (above, place.name().to_bytes())
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, OnceLock};

    use super::*;
    use crate::directory::{Dir, MountMark};
    use crate::entry::DirId;
    use crate::inode_numbers::InodeNumbers;
    use crate::sink::LinkPolicy;
    use crate::sink::path_order;
    use crate::unfinished::Unfinished;

    fn context() -> Context {
        Context {
            roots: Arc::default(),
            links: LinkPolicy::Once,
            follows: true,
            mounted_files: None,
            now_ns: 0,
            inodes: Arc::new(InodeNumbers::new()),
        }
    }

    impl Kept for usize {
        const NOTHING: usize = usize::MAX;
    }

    /// Directories of two roots, five levels of names that are hard to order.
    struct Tree {
        places: Vec<(Place, u32)>,
    }

    const NAMES: [&str; 4] = ["a", "a!", "a.b", "b"];

    impl Tree {
        fn new() -> Tree {
            let mut places = Vec::new();
            for (root, path) in [c"r/", c"/"].into_iter().enumerate() {
                places.push((Place::Root(path.into()), root as u32));
            }
            let mut next = 0;
            while places.len() < 300 {
                // One node or two for the children of a directory, as for large ones.
                for names in [&b"a\0a!\0"[..], b"a.b\0b\0"] {
                    let (place, root) = places[next].clone();
                    let dir = Arc::new(Dir {
                        depth: place.depth(),
                        place,
                        id: DirId(next as u32),
                        root,
                        mount: MountMark {
                            id: 0,
                            shared: false,
                            served: false,
                        },
                        followed: false,
                        identity: OnceLock::new(),
                        landmark: None,
                        mark: 0,
                        held: OnceLock::new(),
                        names: names.into(),
                        ignore: None,
                        unfinished: Unfinished::new(1),
                        pieces: None,
                    });
                    let second = names.iter().position(|&byte| byte == 0).unwrap() + 1;
                    places.push((Place::Child(Arc::clone(&dir), 0), root));
                    places.push((Place::Child(dir, second as u32), root));
                }
                next += 1;
            }
            Tree { places }
        }

        fn directory(&self, index: usize) -> Directory<'_> {
            let (place, root) = &self.places[index];
            Directory::of(place, DirId(index as u32), *root, place.depth())
        }
    }

    /// A name: its directory, whether a link led to it, and the last component.
    type Name = (usize, bool, usize);

    fn random_names(seed: &mut u64, tree: &Tree) -> Vec<Name> {
        let mut random = |below: usize| {
            *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (*seed >> 33) as usize % below
        };
        (0..1 + random(5))
            .map(|_| (random(tree.places.len()), random(4) == 0, random(4)))
            .collect()
    }

    #[test]
    fn the_first_path_wins_whoever_met_it() {
        let tree = Tree::new();
        let mut seed = 1;
        let inodes: Vec<Vec<Name>> = (0..3000).map(|_| random_names(&mut seed, &tree)).collect();
        let firsts = FirstNames::new(&context());
        let at = |inode: usize| InodeNumber {
            part: inode as u32 % 64,
            index: inode as u32 / 64,
        };
        let firsts_ref = &firsts;
        std::thread::scope(|scope| {
            for worker in 0..4 {
                let (tree, inodes) = (&tree, &inodes);
                scope.spawn(move || {
                    for (inode, names) in inodes.iter().enumerate() {
                        for (number, &(dir, behind_link, name)) in names.iter().enumerate() {
                            if (inode + number) % 4 == worker {
                                let directory = &tree.directory(dir);
                                let name = LinkName {
                                    directory,
                                    behind_link,
                                    name: NAMES[name].as_bytes(),
                                };
                                firsts_ref.offer(at(inode), name, 8 * inode + number);
                            }
                        }
                    }
                });
            }
        });

        let key = |&(dir, behind_link, name): &Name| {
            let directory = tree.directory(dir);
            let path = crate::Origin(&directory).entry_path(NAMES[name].as_bytes());
            (behind_link, directory.root, path)
        };
        let mut found = vec![None; inodes.len()];
        let mut holders: HashMap<u32, u32> = HashMap::new();
        firsts.each(|dir, value| {
            let (inode, number) = (value / 8, value % 8);
            let (a, b) = (&inodes[inode][number], found[inode].replace(number));
            assert!(b.is_none() && a.0 as u32 == dir);
            *holders.entry(dir).or_default() += 1;
        });
        for (names, found) in inodes.iter().zip(found) {
            let found = key(&names[found.unwrap()]);
            for name in names.iter().map(key) {
                let order = (found.0, found.1).cmp(&(name.0, name.1));
                let order = order.then_with(|| path_order(&found.2, &name.2));
                assert!(order.is_le(), "{found:?} {name:?}");
            }
        }
        // Directories stay as long as a first name is in them, and no longer.
        let mut held: HashMap<u32, u32> = HashMap::new();
        for part in firsts.holders.each() {
            held.extend(part.iter().map(|(&dir, holder)| (dir, holder.names)));
        }
        assert_eq!(held, holders);
    }
}
