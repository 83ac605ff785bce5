// SPDX-License-Identifier: MIT OR Apache-2.0

//! Finds the names and inodes that later transactions wrote, and their paths.

use std::collections::{HashMap, HashSet};
use std::ffi::{CStr, OsStr};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{CWD, Mode, OFlags, StatxFlags, openat};
use statwalk_btrfs::dir_item::dir_items;
use statwalk_btrfs::inode_item::InodeItem;
use statwalk_btrfs::inode_ref::{inode_extrefs, inode_refs};
use statwalk_btrfs::kind::{
    DIR_INDEX, FIRST_FREE, FS_TREE, INODE_EXTREF, INODE_ITEM, INODE_REF, LAST_FREE, ROOT_BACKREF,
    ROOT_ITEM, ROOT_TREE,
};
use statwalk_btrfs::root_item::RootItem;
use statwalk_btrfs::root_ref::RootRef;
use statwalk_btrfs::search_items::{SearchItem, search_items};
use statwalk_btrfs::{Key, Malformed};

use super::attributes::attributes;
use super::extents::damaged;
use super::mounted::{Mounted, SEARCH_BYTES, open_mounted};
use super::reader::index_key;
use super::windows::inode_key;
use crate::directory::join;
use crate::entry::{Attributes, FileId, FileType};
use crate::fields::Fields;
use crate::generation::Generation;
use crate::linux::changes::{Change, ChangeKind, Changes};
use crate::linux::mounts::is_within;
use crate::linux::statx;
use statwalk_format::is_entry_name;

/// The attributes of each changed path.
const FIELDS: Fields = Fields::SIZE
    .union(Fields::ALLOCATED)
    .union(Fields::LINKS)
    .union(Fields::ID)
    .union(Fields::MTIME)
    .union(Fields::CTIME)
    .union(Fields::OWNER)
    .union(Fields::MODE);

/// More levels than any tree has.
const LEVELS_MAX: usize = 1 << 20;

/// An inode of a subvolume: the tree and the number.
type Node = (u64, u64);

/// A name in a directory.
type Name = (Node, Vec<u8>);

/// A subvolume in the tree of roots.
#[derive(Default)]
struct Subvolume {
    /// The last transaction that changed it.
    generation: u64,
    /// Its name in another one. Absent at the top and after a deletion.
    name: Option<Name>,
}

/// The state of one search for changes.
struct Search<'a> {
    mounted: &'a Mounted,
    /// The directory above all reported paths.
    root: Node,
    root_path: &'a [u8],
    /// The `st_dev` of the root. It is unknown for other subvolumes.
    dev: u64,
    subvolumes: HashMap<u64, Subvolume>,
    /// The name of each directory in its parent. The value is absent if it has none.
    places: HashMap<Node, Option<Name>>,
}

/// The items of one tree that later transactions wrote.
#[derive(Default)]
struct Written {
    inodes: Vec<(u64, InodeItem)>,
    /// The directory, the name, its target, and the type in the entry.
    names: Vec<(u64, Vec<u8>, Key, u8)>,
}

/// Finds the changes below a directory, in no order.
pub(crate) fn find(path: &CStr, since: Generation) -> io::Result<Changes> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let fd = openat(CWD, path, flags, Mode::empty())?;
    let mask = statx::IDENTITY | StatxFlags::MNT_ID;
    let found = statx::by_descriptor(fd.as_fd(), mask)?;
    let (mounted, mounts) = open_mounted(&found)?;
    require(&since, &mounted)?;
    let since = since.number;
    let dev = statx::file_id(&found).dev;
    let tree = mounted.tree_of(dev, fd.as_fd());
    let tree = tree.ok_or_else(|| io::Error::other("the kernel does not name its subvolume"))?;
    let mut search = Search {
        mounted: &mounted,
        root: (tree, found.stx_ino),
        root_path: path.to_bytes(),
        dev,
        subvolumes: subvolumes(&mounted)?,
        places: HashMap::new(),
    };
    let mut changes = Vec::new();
    let trees: Vec<u64> = search.subvolumes.keys().copied().collect();
    for tree in trees {
        let is_newer = search.subvolumes[&tree].generation > since;
        // Of the other subvolumes, only those below the root matter.
        if is_newer && (tree == search.root.0 || search.path((tree, FIRST_FREE))?.is_some()) {
            search.add_changes(tree, since, &mut changes)?;
        }
    }
    // No path leads to directories that another mount covers.
    let real = std::fs::canonicalize(OsStr::from_bytes(path.to_bytes()))?;
    let real = real.as_os_str().as_bytes();
    let hidden: Vec<Vec<u8>> = mounts
        .into_iter()
        .filter(|point| point != real && is_within(point, real))
        .map(|point| {
            let below = &point[real.len()..];
            let below = below.strip_prefix(b"/").unwrap_or(below);
            join(path.to_bytes().to_vec(), below)
        })
        .collect();
    changes.retain(|change: &Change| {
        let is_below = |point: &Vec<u8>| change.path != *point && is_within(&change.path, point);
        !hidden.iter().any(is_below)
    });
    Ok(Changes {
        generation: Generation {
            uuid: Some(mounted.uuid),
            number: mounted.generation,
        },
        changes,
    })
}

/// Refuses a generation that this file system has never had: to such a question it
/// would answer that nothing changed, also where it was made anew.
fn require(since: &Generation, mounted: &Mounted) -> io::Result<()> {
    let (uuid, now) = (mounted.uuid, mounted.generation);
    let reason = match since.uuid {
        Some(other) if other != uuid => {
            format!("it has the UUID {uuid}, so the earlier scan was of another file system")
        }
        _ if since.number > now => format!(
            "it has reached generation {now} and not {}: it was made anew, or rolled back",
            since.number
        ),
        _ => return Ok(()),
    };
    Err(io::Error::new(io::ErrorKind::InvalidInput, reason))
}

/// The trees of all subvolumes of a file system, deleted ones until they are cleaned up.
pub(super) fn subvolume_trees(mounted: &Mounted) -> io::Result<Vec<u64>> {
    Ok(subvolumes(mounted)?.into_keys().collect())
}

/// All subvolumes of a file system, by their numbers.
fn subvolumes(mounted: &Mounted) -> io::Result<HashMap<u64, Subvolume>> {
    let mut all: HashMap<u64, Subvolume> = HashMap::new();
    each(mounted, ROOT_TREE, Key::MIN, Key::MAX, 0, |item| {
        let tree = item.key.objectid;
        if tree != FS_TREE && !(FIRST_FREE..=LAST_FREE).contains(&tree) {
            return Ok(());
        }
        match item.key.kind {
            ROOT_ITEM => {
                all.entry(tree).or_default().generation = RootItem::parse(item.bytes)?.generation
            }
            ROOT_BACKREF => {
                let name = RootRef::parse(item.bytes)?;
                let place = (item.key.offset, name.directory);
                all.entry(tree).or_default().name = Some((place, name.name.to_vec()));
            }
            _ => {}
        }
        Ok(())
    })?;
    Ok(all)
}

/// Calls `take` for each item between two keys of a tree.
///
/// Leaves that no transaction from `transid` on wrote are left out.
fn each(
    mounted: &Mounted,
    tree: u64,
    first: Key,
    last: Key,
    transid: u64,
    mut take: impl FnMut(&SearchItem<'_>) -> Result<(), Malformed>,
) -> io::Result<()> {
    let mut buffer = vec![0; SEARCH_BYTES];
    let mut next = Some(first);
    while let Some(first) = next.filter(|first| *first <= last) {
        let found = mounted.search_since(tree, first, last, transid, &mut buffer)?;
        next = None;
        for item in search_items(found.bytes, found.item_count) {
            let item = item.map_err(damaged)?;
            take(&item).map_err(damaged)?;
            next = item.key.next();
        }
    }
    Ok(())
}

/// A copy of a name, unless the name could lead a path elsewhere.
fn kept(name: &[u8]) -> Result<Vec<u8>, Malformed> {
    match is_entry_name(name) {
        true => Ok(name.to_vec()),
        false => Err(Malformed::at(0, "the name is none of an entry")),
    }
}

impl Search<'_> {
    /// Adds the changes of one tree.
    fn add_changes(&mut self, tree: u64, since: u64, changes: &mut Vec<Change>) -> io::Result<()> {
        let mut written = Written::default();
        let from = since.saturating_add(1);
        each(self.mounted, tree, Key::MIN, Key::MAX, from, |item| {
            match item.key.kind {
                INODE_ITEM => {
                    let inode = InodeItem::parse(item.bytes)?;
                    if inode.transid > since {
                        written.inodes.push((item.key.objectid, inode));
                    }
                }
                DIR_INDEX => {
                    for entry in dir_items(item.bytes) {
                        let entry = entry?;
                        if entry.transid > since {
                            let (name, place) = (kept(entry.name)?, entry.location);
                            let directory = item.key.objectid;
                            written
                                .names
                                .push((directory, name, place, entry.file_type));
                        }
                    }
                }
                _ => {}
            }
            Ok(())
        })?;
        let known: HashMap<u64, InodeItem> = written.inodes.iter().copied().collect();
        let mut told = HashSet::new();
        for (directory, name, place, file_type) in written.names {
            let Some(path) = self.path((tree, directory))? else {
                continue;
            };
            let inode = match known.get(&place.objectid) {
                _ if place.kind != INODE_ITEM => None,
                Some(inode) => Some(*inode),
                None => match self.inode(tree, place.objectid)? {
                    // The inode is gone again.
                    None => continue,
                    found => found,
                },
            };
            let path = join(path, &name);
            let attributes = match &inode {
                Some(inode) => self.attributes(inode, (tree, place.objectid)),
                None => Attributes::of_type(FileType::of_directory_entry(file_type)),
            };
            let has_changed = inode.is_some_and(|inode| inode.transid > since);
            let names = match has_changed && attributes.kind == FileType::Directory {
                true => Some(self.names_in(tree, place.objectid)?),
                false => None,
            };
            told.insert((directory, name));
            changes.push(Change {
                path,
                kind: ChangeKind::Name,
                attributes,
                names,
            });
        }
        for (inode, item) in written.inodes {
            let attributes = self.attributes(&item, (tree, inode));
            for path in self.older_paths((tree, inode), &told)? {
                let names = match attributes.kind {
                    FileType::Directory => Some(self.names_in(tree, inode)?),
                    _ => None,
                };
                changes.push(Change {
                    path,
                    kind: ChangeKind::Inode,
                    attributes,
                    names,
                });
            }
        }
        Ok(())
    }

    /// The paths of an inode, without its new names.
    fn older_paths(
        &mut self,
        node: Node,
        told: &HashSet<(u64, Vec<u8>)>,
    ) -> io::Result<Vec<Vec<u8>>> {
        if node == self.root || node.1 == FIRST_FREE {
            return Ok(self.path(node)?.into_iter().collect());
        }
        let mut paths = Vec::new();
        for (directory, name) in self.names_of(node)? {
            let known = (directory.1, name);
            if !told.contains(&known)
                && let Some(path) = self.path(directory)?
            {
                paths.push(join(path, &known.1));
            }
        }
        Ok(paths)
    }

    /// The path of a directory. Absent if it does not lie below the root.
    fn path(&mut self, node: Node) -> io::Result<Option<Vec<u8>>> {
        let mut names = Vec::new();
        let mut at = node;
        while at != self.root {
            // Moves during the search could make the parents a circle.
            if names.len() > LEVELS_MAX {
                return Ok(None);
            }
            let Some((directory, name)) = self.place(at)? else {
                return Ok(None);
            };
            names.push(name);
            at = directory;
        }
        let path = self.root_path.to_vec();
        Ok(Some(
            names.iter().rev().fold(path, |path, name| join(path, name)),
        ))
    }

    /// The name of a directory in its parent. Absent if it has none.
    fn place(&mut self, node: Node) -> io::Result<Option<Name>> {
        if let Some(known) = self.places.get(&node) {
            return Ok(known.clone());
        }
        let place = match node {
            (tree, FIRST_FREE) => self
                .subvolumes
                .get(&tree)
                .and_then(|known| known.name.clone()),
            node => self.names_of(node)?.pop(),
        };
        self.places.insert(node, place.clone());
        Ok(place)
    }

    /// The names of an inode.
    fn names_of(&self, (tree, inode): Node) -> io::Result<Vec<Name>> {
        let key = |kind, offset| Key {
            objectid: inode,
            kind,
            offset,
        };
        let (first, last) = (key(INODE_REF, 0), key(INODE_EXTREF, u64::MAX));
        let mut names = Vec::new();
        each(self.mounted, tree, first, last, 0, |item| {
            let refs = match item.key.kind {
                INODE_REF => inode_refs(item.bytes, item.key.offset),
                _ => inode_extrefs(item.bytes),
            };
            for name in refs {
                let name = name?;
                names.push(((tree, name.parent), kept(name.name)?));
            }
            Ok(())
        })?;
        Ok(names)
    }

    /// The names of a directory's entries.
    fn names_in(&self, tree: u64, directory: u64) -> io::Result<Vec<Vec<u8>>> {
        let mut names = Vec::new();
        let (first, last) = (index_key(directory, 0), index_key(directory, u64::MAX));
        each(self.mounted, tree, first, last, 0, |item| {
            for entry in dir_items(item.bytes) {
                names.push(kept(entry?.name)?);
            }
            Ok(())
        })?;
        Ok(names)
    }

    fn inode(&self, tree: u64, inode: u64) -> io::Result<Option<InodeItem>> {
        let mut found = None;
        each(
            self.mounted,
            tree,
            inode_key(inode),
            inode_key(inode),
            0,
            |item| {
                found = Some(InodeItem::parse(item.bytes)?);
                Ok(())
            },
        )?;
        Ok(found)
    }

    fn attributes(&self, inode: &InodeItem, (tree, number): Node) -> Attributes {
        let fields = match tree == self.root.0 {
            true => FIELDS,
            false => FIELDS.without(Fields::ID),
        };
        let id = FileId {
            dev: self.dev,
            ino: number,
        };
        attributes(inode, fields, id, self.mounted.sector_bytes)
    }
}
