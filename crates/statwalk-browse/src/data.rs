// SPDX-License-Identifier: MIT OR Apache-2.0

//! The interface to the numbers that the browser shows.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::ControlFlow;

use statwalk_view::{Figures, Kind, Notes, Tree};

/// The number of an item. Only its data knows its meaning.
///
/// An item keeps its number while a scan goes on. At its end a file can get another:
/// [`Data::settled`].
///
/// It carries the number of its scan, because another scan gives the same numbers to other
/// items. So a mark of an old scan never names an item that nobody marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ItemId {
    /// The number of the scan that found it. A directory that is read again is a scan of
    /// its own.
    pub scan: u64,
    /// The number within that scan.
    pub number: u64,
}

/// An item, with the sums of its subtree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item<'a> {
    /// Its name; of a root the path that the user gave.
    pub name: Cow<'a, [u8]>,
    /// Its kind.
    pub kind: Kind,
    /// The space on disk, in bytes.
    pub allocated_bytes: u128,
    /// The length of files and links, in bytes.
    pub apparent_bytes: u128,
    /// The names in the subtree, its own among them.
    pub entries: u64,
    /// The newest modification in the subtree, in nanoseconds since 1970; absent where it
    /// is unknown.
    pub newest_ns: Option<i64>,
    /// The owner; absent where it is unknown.
    pub uid: Option<u32>,
    /// The facts that change the meaning of the numbers.
    pub notes: Notes,
}

impl<'a> Item<'a> {
    /// A node of a tree.
    pub fn of<T: Tree>(tree: &'a T, node: T::Node) -> Item<'a> {
        let figures = tree.figures(node);
        Item {
            name: tree.name(node),
            kind: tree.kind(node),
            allocated_bytes: figures.allocated_bytes,
            apparent_bytes: figures.apparent_bytes,
            entries: figures.entries,
            newest_ns: figures.newest_mtime_ns,
            uid: tree.uid(node),
            notes: tree.notes(node),
        }
    }

    /// One without sums, of which nothing is known.
    #[must_use]
    pub fn unknown(name: impl Into<Cow<'a, [u8]>>, kind: Kind) -> Item<'a> {
        Item {
            name: name.into(),
            kind,
            allocated_bytes: 0,
            apparent_bytes: 0,
            entries: 0,
            newest_ns: None,
            uid: None,
            notes: Notes::default(),
        }
    }

    /// Its sums as they count in the directories above.
    pub(crate) fn counted(&self) -> Figures {
        let counts = !self.notes.counts_elsewhere;
        Figures {
            allocated_bytes: if counts { self.allocated_bytes } else { 0 },
            apparent_bytes: if counts { self.apparent_bytes } else { 0 },
            entries: self.entries,
            newest_mtime_ns: self.newest_ns,
            incomplete: self.notes.is_incomplete,
        }
    }
}

/// An item that [`Data::walk`] comes by.
#[derive(Clone, Debug)]
pub struct Entry<'a> {
    /// Its number.
    pub id: ItemId,
    /// The directory that holds it.
    pub parent: ItemId,
    /// The item. Of a directory the numbers are those of its subtree.
    pub item: Item<'a>,
}

/// An inode that has several names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inode {
    /// The device and the inode number.
    pub id: (u64, u64),
    /// How many names it had when the scan met it.
    pub links: u32,
}

/// Something that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Its path, beginning with the root as the user gave it.
    pub path: Vec<u8>,
    /// The cause, as the system words it.
    pub cause: String,
}

/// The numbers that the browser shows.
///
/// Every call but [`children`](Self::children), [`walk`](Self::walk),
/// [`linked`](Self::linked) and [`names`](Self::names) takes about as long for a large tree as for a small one, so that a frame never waits.
///
/// No call knows anything about an item of another scan: it answers with nothing.
///
/// A tree at rest has roots, items, parents and children alone. All other answers are those of
/// the [`unfiltered`](Self::unfiltered) data, and nothing where there is none.
pub trait Data: Send + Sync {
    /// The roots, in the order of the user.
    fn roots(&self) -> Vec<ItemId>;

    /// An item; absent where the number belongs to none.
    fn item(&self, id: ItemId) -> Option<Item<'_>>;

    /// The directory that holds an item; absent for a root.
    fn parent(&self, id: ItemId) -> Option<ItemId>;

    /// Whether something of a directory could not be read by itself: the directory, or an entry
    /// in it that is no directory. Each directory in it answers for itself.
    fn lacks_itself(&self, dir: ItemId) -> bool {
        self.unfiltered().is_some_and(|all| all.lacks_itself(dir))
    }

    /// Gives each item of a directory, in any order, until `visit` breaks.
    fn children(&self, dir: ItemId, visit: &mut dyn FnMut(ItemId, Item<'_>) -> ControlFlow<()>);

    /// The data of which these are the items that pass a filter; absent where there is
    /// none.
    fn unfiltered(&self) -> Option<&dyn Data> {
        None
    }

    /// The number that an item of earlier data of the same scan has here; absent where it
    /// is not here.
    fn settled(&self, id: ItemId) -> Option<ItemId> {
        match self.unfiltered() {
            // That it does not pass changes nothing: it is an item of the data.
            Some(all) => all.settled(id),
            None => self.item(id).map(|_| id),
        }
    }

    /// The device and the inode number of a directory, as the scan met it; absent where
    /// the data does not know them, and for anything else.
    fn identity(&self, id: ItemId) -> Option<(u64, u64)> {
        self.unfiltered()?.identity(id)
    }

    /// The inode of an item that is one of several names of it; absent for others, and where
    /// the data does not know it.
    fn inode(&self, id: ItemId) -> Option<Inode> {
        self.unfiltered()?.inode(id)
    }

    /// Gives each item in a subtree that has an [`inode`](Self::inode). It looks at each
    /// directory there, and not at other items.
    fn linked(&self, top: ItemId, visit: &mut dyn FnMut(ItemId, Inode)) {
        if let Some(all) = self.unfiltered() {
            all.linked(top, visit);
        }
    }

    /// The items that have this [`inode`](Self::inode), in any order.
    fn names(&self, inode: (u64, u64)) -> Vec<ItemId> {
        (self.unfiltered()).map_or_else(Vec::new, |all| all.names(inode))
    }

    /// Compares the places of two items: first the roots in their order, then the paths,
    /// component by component. The bytes of an inode count under its first name.
    fn order(&self, a: ItemId, b: ItemId) -> Ordering {
        match self.unfiltered() {
            Some(all) => all.order(a, b),
            None => order_by_path(self, a, b),
        }
    }

    /// Gives each item below a directory until `visit` breaks. A directory comes before
    /// its items.
    fn walk(&self, dir: ItemId, visit: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>) {
        let mut waiting = vec![dir];
        while let Some(parent) = waiting.pop() {
            let mut flow = ControlFlow::Continue(());
            self.children(parent, &mut |id, item| {
                if item.kind == Kind::Directory {
                    waiting.push(id);
                }
                flow = visit(Entry { id, parent, item });
                flow
            });
            if flow.is_break() {
                return;
            }
        }
    }

    /// The first faults below a directory, and the number of all.
    fn faults(&self, dir: ItemId) -> (Vec<Fault>, u64) {
        self.unfiltered()
            .map(|all| all.faults(dir))
            .unwrap_or_default()
    }

    /// Whether the numbers are those at the end of a scan.
    fn is_final(&self) -> bool {
        self.unfiltered().is_none_or(|all| all.is_final())
    }

    /// The path of an item, beginning with the root as the user gave it; absent where the
    /// number belongs to none, or no root leads there any more.
    fn path(&self, id: ItemId) -> Option<Vec<u8>> {
        let mut names = vec![self.item(id)?.name.into_owned()];
        let mut next = self.parent(id);
        while let Some(id) = next {
            names.push(self.item(id)?.name.into_owned());
            next = self.parent(id);
        }
        let mut path = Vec::new();
        for name in names.iter().rev() {
            if !path.is_empty() && path.last() != Some(&b'/') {
                path.push(b'/');
            }
            path.extend_from_slice(name);
        }
        Some(path)
    }
}

/// The answer of [`Data::order`] for items of different scans.
pub(crate) fn order_by_path<D: Data + ?Sized>(data: &D, a: ItemId, b: ItemId) -> Ordering {
    let way = |id: ItemId| {
        let mut names = Vec::new();
        let (mut root, mut next) = (id, data.parent(id));
        while let Some(above) = next {
            names.push(data.item(root).map(|item| item.name.into_owned()));
            (root, next) = (above, data.parent(above));
        }
        names.reverse();
        let root = data.roots().iter().position(|other| *other == root);
        (root, names)
    };
    way(a).cmp(&way(b))
}
