// SPDX-License-Identifier: MIT OR Apache-2.0

//! The names that calls have taken away from the tree, and those that they have added.
//!
//! The tree itself stays as the test made it.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use rustix::io::Errno;

use super::tree::{Listed, Object, Tree};
use crate::model::EntryType;

/// Inode numbers of files that a call has made.
const MADE: u64 = 1 << 61;

/// The changes since the file system was mounted.
#[derive(Debug, Default)]
pub(super) struct Edits {
    /// Names of the tree that are gone, by directory.
    removed: HashSet<(u64, Vec<u8>)>,
    /// Names in each directory that came later.
    added: HashMap<u64, Vec<(Vec<u8>, u64, EntryType)>>,
    made: u64,
}

impl Edits {
    /// The inode number behind a name.
    pub(super) fn lookup(&self, tree: &Tree, dir: u64, name: &[u8]) -> Option<u64> {
        let mut added = self.added.get(&dir).into_iter().flatten();
        if let Some((_, ino, _)) = added.find(|(known, ..)| known == name) {
            return Some(*ino);
        }
        match self.is_removed(dir, name) {
            true => None,
            false => tree.lookup(dir, name),
        }
    }

    pub(super) fn object(&self, tree: &Tree, ino: u64) -> Option<Object> {
        match ino & MADE {
            0 => tree.object(ino),
            _ => Some(Object::empty(ino, EntryType::File, 0)),
        }
    }

    /// Whether a name of the tree is gone.
    pub(super) fn is_removed(&self, dir: u64, name: &[u8]) -> bool {
        !self.removed.is_empty() && self.removed.contains(&(dir, name.to_vec()))
    }

    /// The name at a place among those that came later.
    pub(super) fn added(&self, dir: u64, index: u64) -> Option<Listed<'_>> {
        let index = usize::try_from(index).ok()?;
        let (name, ino, entry_type) = self.added.get(&dir)?.get(index)?;
        Some(Listed {
            name: Cow::Borrowed(name),
            ino: *ino,
            entry_type: *entry_type,
        })
    }

    /// Takes a name away.
    pub(super) fn unlink(&mut self, tree: &Tree, dir: u64, name: &[u8]) -> Result<(), Errno> {
        match self.type_of(tree, dir, name)? {
            EntryType::Directory => Err(Errno::ISDIR),
            _ => {
                self.take(dir, name);
                Ok(())
            }
        }
    }

    /// Takes the name of an empty directory away.
    pub(super) fn rmdir(&mut self, tree: &Tree, dir: u64, name: &[u8]) -> Result<(), Errno> {
        let entry_type = self.type_of(tree, dir, name)?;
        if entry_type != EntryType::Directory {
            return Err(Errno::NOTDIR);
        }
        let ino = self.lookup(tree, dir, name).ok_or(Errno::NOENT)?;
        let mut own = (0..).map_while(|index| tree.entry(ino, index, 0));
        let is_full = own.any(|entry| !self.is_removed(ino, &entry.name));
        if is_full || self.added(ino, 0).is_some() {
            return Err(Errno::NOTEMPTY);
        }
        self.take(dir, name);
        Ok(())
    }

    /// Gives an entry another name, never in place of another.
    pub(super) fn rename(
        &mut self,
        tree: &Tree,
        (dir, name): (u64, &[u8]),
        (new_dir, new_name): (u64, &[u8]),
    ) -> Result<(), Errno> {
        if self.lookup(tree, new_dir, new_name).is_some() {
            return Err(Errno::EXIST);
        }
        let entry_type = self.type_of(tree, dir, name)?;
        let ino = self.lookup(tree, dir, name).ok_or(Errno::NOENT)?;
        self.take(dir, name);
        self.add(new_dir, new_name, ino, entry_type);
        Ok(())
    }

    /// Makes an empty file.
    pub(super) fn create(&mut self, tree: &Tree, dir: u64, name: &[u8]) -> Result<u64, Errno> {
        if self.lookup(tree, dir, name).is_some() {
            return Err(Errno::EXIST);
        }
        self.made += 1;
        let ino = MADE | self.made;
        self.add(dir, name, ino, EntryType::File);
        Ok(ino)
    }

    fn type_of(&self, tree: &Tree, dir: u64, name: &[u8]) -> Result<EntryType, Errno> {
        let ino = self.lookup(tree, dir, name).ok_or(Errno::NOENT)?;
        let object = self.object(tree, ino).ok_or(Errno::NOENT)?;
        Ok(object.entry_type)
    }

    fn take(&mut self, dir: u64, name: &[u8]) {
        let added = self.added.entry(dir).or_default();
        let before = added.len();
        added.retain(|(known, ..)| known != name);
        if added.len() == before {
            self.removed.insert((dir, name.to_vec()));
        }
    }

    fn add(&mut self, dir: u64, name: &[u8], ino: u64, entry_type: EntryType) {
        let added = self.added.entry(dir).or_default();
        added.push((name.to_vec(), ino, entry_type));
    }
}
