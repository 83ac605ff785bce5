// SPDX-License-Identifier: MIT OR Apache-2.0

//! Finds the names and inodes that later transactions wrote, and their paths.

use std::collections::{HashMap, HashSet};
use std::ffi::{CStr, OsStr};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{CWD, Mode, OFlags, openat};
use statwalk_btrfs::dir_item::dir_items;
use statwalk_btrfs::inode_item::InodeItem;
use statwalk_btrfs::inode_ref::{inode_extrefs, inode_refs};
use statwalk_btrfs::kind::{DIR_INDEX, FIRST_FREE, INODE_EXTREF, INODE_ITEM, INODE_REF};
use statwalk_btrfs::{Key, Malformed};

use statwalk_core::{Attributes, FileId, FileType, Generation, Time};
use statwalk_format::is_entry_name;
use statwalk_sys::btrfs::{fs_info, tree_id};
use statwalk_sys::mount_table::{self, is_within};

use super::{Change, ChangeKind, Changes};
use crate::path::join;
use crate::stat;
use crate::trees::{Subvolume, Trees};

/// More levels than any tree has.
const LEVELS_MAX: usize = 1 << 20;

/// An inode of a subvolume: the tree and the number.
type Node = (u64, u64);

/// A name in a directory.
type Name = (Node, Vec<u8>);

/// The state of one search for changes.
struct Search<'a> {
    trees: &'a Trees,
    /// `btrfs_inode_item` has bytes, and stat shows whole sectors.
    sector_bytes: u32,
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
    let found = stat::by_descriptor(&fd)?;
    let trees = Trees::holding(fd.as_fd())?;
    require(&since, &trees)?;
    let since = since.number;
    let tree = tree_id(fd.as_fd());
    let tree = tree.map_err(|_| io::Error::other("the kernel does not name its subvolume"))?;
    let mut search = Search {
        trees: &trees,
        sector_bytes: fs_info(trees.top())?.sector_bytes,
        root: (tree, found.stx_ino),
        root_path: path.to_bytes(),
        dev: stat::device(&found),
        subvolumes: trees.subvolumes()?,
        places: HashMap::new(),
    };
    let mut changes = Vec::new();
    let numbers: Vec<u64> = search.subvolumes.keys().copied().collect();
    for tree in numbers {
        let is_newer = search.subvolumes[&tree].generation > since;
        // Of the other subvolumes, only those below the root matter.
        if is_newer && (tree == search.root.0 || search.path((tree, FIRST_FREE))?.is_some()) {
            search.add_changes(tree, since, &mut changes)?;
        }
    }
    // No path leads to directories that another mount covers.
    let real = std::fs::canonicalize(OsStr::from_bytes(path.to_bytes()))?;
    let real = real.as_os_str().as_bytes();
    let hidden: Vec<Vec<u8>> = mount_table::read()?
        .into_iter()
        .map(|mount| mount.point)
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
        generation: trees.generation,
        changes,
    })
}

/// Refuses a generation that this file system has never had: to such a question it
/// would answer that nothing changed, also where it was made anew.
fn require(since: &Generation, trees: &Trees) -> io::Result<()> {
    let now = trees.generation.number;
    let reason = match (since.uuid, trees.generation.uuid) {
        (Some(other), Some(uuid)) if other != uuid => {
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

fn key(objectid: u64, kind: u8, offset: u64) -> Key {
    Key {
        objectid,
        kind,
        offset,
    }
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
        self.trees.each(tree, Key::MIN, Key::MAX, from, |item| {
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
        let first = key(inode, INODE_REF, 0);
        let last = key(inode, INODE_EXTREF, u64::MAX);
        let mut names = Vec::new();
        self.trees.each(tree, first, last, 0, |item| {
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
        let first = key(directory, DIR_INDEX, 0);
        let last = key(directory, DIR_INDEX, u64::MAX);
        self.trees.each(tree, first, last, 0, |item| {
            for entry in dir_items(item.bytes) {
                names.push(kept(entry?.name)?);
            }
            Ok(())
        })?;
        Ok(names)
    }

    fn inode(&self, tree: u64, inode: u64) -> io::Result<Option<InodeItem>> {
        let mut found = None;
        let key = key(inode, INODE_ITEM, 0);
        self.trees.each(tree, key, key, 0, |item| {
            found = Some(InodeItem::parse(item.bytes)?);
            Ok(())
        })?;
        Ok(found)
    }

    /// The attributes as stat shows them. The `st_dev` of other subvolumes is unknown.
    fn attributes(&self, inode: &InodeItem, (tree, number): Node) -> Attributes {
        let attributes = Attributes::of_type(FileType::of_mode(inode.mode as u16))
            .with_size_bytes(inode.size_bytes)
            .with_allocated_bytes(inode.blocks(self.sector_bytes).saturating_mul(512))
            .with_links(inode.link_count)
            .with_owner(inode.uid, inode.gid)
            .with_mode(inode.mode as u16)
            .with_time(Time::Modified, inode.mtime.seconds, inode.mtime.nanoseconds)
            .with_time(Time::Changed, inode.ctime.seconds, inode.ctime.nanoseconds);
        match tree == self.root.0 {
            true => attributes.with_id(FileId::new(self.dev, number)),
            false => attributes,
        }
    }
}
