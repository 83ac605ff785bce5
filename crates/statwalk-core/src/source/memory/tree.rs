// SPDX-License-Identifier: MIT OR Apache-2.0

//! A directory tree in memory.

use std::collections::HashMap;
use std::ffi::CString;
use std::fmt;

use crate::entry::{Attributes, FileId, FileType};
use crate::fields::Fields;
use crate::path::path_buf;
use crate::time::Time;

/// The device number of all entries.
const DEV: u64 = 1;

/// A directory tree in memory, which a [`Scan`](crate::Scan) reads in place of a
/// file system.
///
/// It begins with its topmost directory, `/`. Paths are bytes; a slash at the front
/// makes no difference. [`Scan::run_in_memory`](crate::Scan::run_in_memory) scans it.
///
/// # Examples
///
/// ```
/// use statwalk_core::{MemoryEntry, MemoryTree, Scan, Totals};
///
/// let mut tree = MemoryTree::new();
/// tree.insert("projects/a/notes", MemoryEntry::file(1_000))?;
/// tree.hard_link("projects/b", "projects/a/notes")?;
/// let outcome = Scan::new("/projects").run_in_memory(tree, &Totals::new())?;
/// let sizes = outcome.output[0].sizes.expect("the sink wants sizes");
/// assert_eq!((sizes.file_size_bytes, sizes.extra_hard_links), (1_000, 1));
/// assert!(outcome.report.is_complete());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct MemoryTree {
    pub(super) nodes: Vec<Node>,
}

/// An entry for [`MemoryTree::insert`].
#[derive(Clone)]
pub struct MemoryEntry {
    attributes: Attributes,
    target: Vec<u8>,
}

/// The reason why a [`MemoryTree`] refuses an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MemoryTreeError {
    /// The path is there already.
    Exists,
    /// A component of the path is not a directory.
    NotADirectory,
    /// The path, or the other name of a hard link, is not there or is a directory.
    NotAFile,
    /// A name is empty, `.`, `..`, or holds a NUL.
    BadName,
}

/// An inode of the tree.
#[derive(Clone)]
pub(super) struct Node {
    pub(super) attributes: Attributes,
    /// The directory that holds it; of a file the one of its first name.
    pub(super) parent: usize,
    /// The target of a symbolic link.
    pub(super) target: Vec<u8>,
    pub(super) children: Vec<(CString, usize)>,
    pub(super) by_name: HashMap<CString, usize>,
}

impl fmt::Debug for MemoryTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryTree")
            .field("inode_count", &self.nodes.len())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for MemoryEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryEntry")
            .field("kind", &self.attributes.kind)
            .field("size_bytes", &self.attributes.size_bytes)
            .field("allocated_bytes", &self.attributes.allocated_bytes)
            .field(
                "mtime_ns",
                &self.attributes.times_ns[Time::Modified.index()],
            )
            .field("target", &path_buf(self.target.clone()))
            .finish_non_exhaustive()
    }
}

impl MemoryEntry {
    /// A regular file, which takes as many bytes as it has.
    #[must_use]
    pub fn file(size_bytes: u64) -> MemoryEntry {
        MemoryEntry::of_type(FileType::File).size_bytes(size_bytes)
    }

    /// A directory.
    #[must_use]
    pub fn directory() -> MemoryEntry {
        MemoryEntry::of_type(FileType::Directory)
    }

    /// A symbolic link.
    #[must_use]
    pub fn symlink(target: impl AsRef<[u8]>) -> MemoryEntry {
        let target = target.as_ref().to_vec();
        let size_bytes = target.len() as u64;
        MemoryEntry {
            target,
            ..MemoryEntry::of_type(FileType::Symlink).size_bytes(size_bytes)
        }
    }

    /// An entry of any type. Its bytes, owner and times are zero until they are set.
    #[must_use]
    pub fn of_type(kind: FileType) -> MemoryEntry {
        let mut attributes = Attributes::of_type(kind);
        attributes.valid = Fields::NONE;
        attributes.links = 1;
        MemoryEntry {
            attributes,
            target: Vec::new(),
        }
    }

    /// Sets the size, and the space taken to the same.
    #[must_use]
    pub fn size_bytes(mut self, bytes: u64) -> MemoryEntry {
        self.attributes.size_bytes = bytes;
        self.attributes.allocated_bytes = bytes;
        self
    }

    /// Sets the space taken.
    #[must_use]
    pub fn allocated_bytes(mut self, bytes: u64) -> MemoryEntry {
        self.attributes.allocated_bytes = bytes;
        self
    }

    /// Sets the time of the last change of the content.
    #[must_use]
    pub fn mtime_ns(mut self, ns: i64) -> MemoryEntry {
        const BILLION: i64 = 1_000_000_000;
        let (seconds, nanoseconds) = (ns.div_euclid(BILLION), ns.rem_euclid(BILLION));
        self.attributes = self.attributes.with_mtime(seconds, nanoseconds as u32);
        self
    }
}

impl Default for MemoryTree {
    fn default() -> MemoryTree {
        MemoryTree::new()
    }
}

impl MemoryTree {
    /// A tree that holds nothing but its topmost directory.
    #[must_use]
    pub fn new() -> MemoryTree {
        let mut tree = MemoryTree { nodes: Vec::new() };
        tree.add_node(MemoryEntry::directory(), 0);
        tree
    }

    /// Inserts an entry, and the missing directories above it.
    ///
    /// # Errors
    ///
    /// Returns an error if the path is taken, leads through an entry that is not a
    /// directory, or holds a name that no entry can have.
    pub fn insert(
        &mut self,
        path: impl AsRef<[u8]>,
        entry: MemoryEntry,
    ) -> Result<(), MemoryTreeError> {
        let (dir, name) = self.make_way(path.as_ref())?;
        let number = self.add_node(entry, dir);
        self.add_name(dir, name, number);
        Ok(())
    }

    /// Adds a name to an entry that is not a directory.
    ///
    /// # Errors
    ///
    /// As [`insert`](Self::insert), and if `existing` is no such entry.
    pub fn hard_link(
        &mut self,
        path: impl AsRef<[u8]>,
        existing: impl AsRef<[u8]>,
    ) -> Result<(), MemoryTreeError> {
        let number = self.find(0, existing.as_ref());
        let number = number.ok_or(MemoryTreeError::NotAFile)?;
        if self.nodes[number].attributes.kind == FileType::Directory {
            return Err(MemoryTreeError::NotAFile);
        }
        let (dir, name) = self.make_way(path.as_ref())?;
        self.add_name(dir, name, number);
        self.nodes[number].attributes.links += 1;
        Ok(())
    }

    /// The node at a path from another one, whatever it is.
    pub(super) fn find(&self, from: usize, path: &[u8]) -> Option<usize> {
        let mut number = from;
        for name in path.split(|&byte| byte == b'/') {
            number = match name {
                b"" | b"." => number,
                b".." => self.nodes[number].parent,
                name => {
                    let name = CString::new(name).ok()?;
                    *self.nodes[number].by_name.get(&name)?
                }
            };
        }
        Some(number)
    }

    pub(super) fn is_directory(&self, number: usize) -> bool {
        self.nodes[number].attributes.kind == FileType::Directory
    }

    /// The directory that is to hold a path, and the path's last name.
    fn make_way(&mut self, path: &[u8]) -> Result<(usize, CString), MemoryTreeError> {
        let names = path.split(|&byte| byte == b'/');
        let names: Result<Vec<CString>, MemoryTreeError> = names
            .skip_while(|name| name.is_empty())
            .map(|name| match name {
                b"" | b"." | b".." => Err(MemoryTreeError::BadName),
                name => CString::new(name).map_err(|_| MemoryTreeError::BadName),
            })
            .collect();
        let mut names = names?;
        let last = names.pop().ok_or(MemoryTreeError::BadName)?;
        let mut dir = 0;
        for name in names {
            let there = self.nodes[dir].by_name.get(&name).copied();
            dir = match there {
                Some(number) if !self.is_directory(number) => {
                    return Err(MemoryTreeError::NotADirectory);
                }
                Some(number) => number,
                None => {
                    let number = self.add_node(MemoryEntry::directory(), dir);
                    self.add_name(dir, name, number);
                    number
                }
            };
        }
        match self.nodes[dir].by_name.contains_key(&last) {
            true => Err(MemoryTreeError::Exists),
            false => Ok((dir, last)),
        }
    }

    fn add_node(&mut self, entry: MemoryEntry, parent: usize) -> usize {
        let number = self.nodes.len();
        let mut attributes = entry.attributes;
        // Zero stands for a number that is not known.
        attributes.id = FileId {
            dev: DEV,
            ino: number as u64 + 1,
        };
        if attributes.kind == FileType::Directory {
            attributes.links = 2;
        }
        // Of the times it keeps this one, which nanoseconds may not hold.
        let odd = match attributes.odd_s(Time::Modified) {
            None => Fields::NONE,
            Some(_) => Fields::MTIME,
        };
        attributes.valid = Fields::ALL.without(Fields::BTIME | odd);
        self.nodes.push(Node {
            attributes,
            parent,
            target: entry.target,
            children: Vec::new(),
            by_name: HashMap::new(),
        });
        number
    }

    fn add_name(&mut self, dir: usize, name: CString, number: usize) {
        let is_directory = self.is_directory(number);
        let dir = &mut self.nodes[dir];
        dir.attributes.links += u32::from(is_directory);
        dir.by_name.insert(name.clone(), number);
        dir.children.push((name, number));
    }
}

impl fmt::Display for MemoryTreeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            MemoryTreeError::Exists => "the path exists",
            MemoryTreeError::NotADirectory => "a part of the path is not a directory",
            MemoryTreeError::NotAFile => "there is no such file to link to",
            MemoryTreeError::BadName => "no entry can have such a name",
        })
    }
}

impl std::error::Error for MemoryTreeError {}
