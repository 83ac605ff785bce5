// SPDX-License-Identifier: MIT OR Apache-2.0

//! Entries of one directory, in columns.
//!
//! A source fills a batch, a sink reads it, and the memory is used again for
//! the next directory. Columns that nobody wants stay empty.

use std::fmt;

use crate::entry::{Attributes, Fields, FileId, FileType, TOO_EARLY};

/// Some or all entries of one directory that are not directories themselves.
///
/// Directories are not in it: each arrives by itself as a
/// [`Directory`](crate::Directory), with the attributes that were read when it
/// was opened.
///
/// Every column has one value for each entry, or none at all where its field
/// was not wanted. A value counts only where [`known`](Self::known) is true:
/// an entry whose stat failed has a type, perhaps a name, and nothing else.
#[derive(Clone, Default)]
pub struct Batch {
    wanted: Fields,
    names: Vec<u8>,
    name_ends: Vec<u32>,
    kinds: Vec<FileType>,
    known: Vec<bool>,
    unknown_count: usize,
    size_bytes: Vec<u64>,
    allocated_bytes: Vec<u64>,
    links: Vec<u32>,
    inos: Vec<u64>,
    devs: Vec<u64>,
    mtime_ns: Vec<i64>,
    atime_ns: Vec<i64>,
    ctime_ns: Vec<i64>,
    btime_ns: Vec<i64>,
    uids: Vec<u32>,
    gids: Vec<u32>,
    modes: Vec<u16>,
    rdevs: Vec<u64>,
}

/// Without its rows, of which there can be very many.
impl fmt::Debug for Batch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch")
            .field("len", &self.len())
            .field("unknown_count", &self.unknown_count)
            .field("wanted", &self.wanted)
            .finish_non_exhaustive()
    }
}

macro_rules! column {
    ($(#[$doc:meta])* $name:ident: $type:ty) => {
        $(#[$doc])*
        #[must_use]
        pub fn $name(&self) -> &[$type] {
            &self.$name
        }
    };
}

impl Batch {
    /// An empty batch that keeps the given fields.
    #[must_use]
    pub fn new(wanted: Fields) -> Batch {
        Batch {
            wanted,
            ..Batch::default()
        }
    }

    /// How many entries it holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Whether it holds no entry.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// Which fields it keeps.
    #[must_use]
    pub fn wanted(&self) -> Fields {
        self.wanted
    }

    /// Whether the attributes of every entry are known.
    #[must_use]
    pub fn all_known(&self) -> bool {
        self.unknown_count == 0
    }

    column!(/// The types; never empty.
        kinds: FileType);
    column!(/// Whether the attributes of the entry were read.
        known: bool);
    column!(/// `st_size`, in bytes.
        size_bytes: u64);
    column!(/// 512 × `st_blocks`, in bytes.
        allocated_bytes: u64);
    column!(/// Numbers of hard links.
        links: u32);
    column!(/// Inode numbers.
        inos: u64);
    column!(/// Device numbers; a file can be a mount point too.
        devs: u64);
    column!(/// Last changes of the contents, in nanoseconds since 1970. `i64::MIN` and
        /// `i64::MAX` stand for times before 1677 and after 2262, which do not fit.
        mtime_ns: i64);
    column!(/// Last accesses, as [`mtime_ns`](Self::mtime_ns).
        atime_ns: i64);
    column!(/// Last changes of the inodes, as [`mtime_ns`](Self::mtime_ns).
        ctime_ns: i64);
    column!(/// Births, as [`mtime_ns`](Self::mtime_ns); `i64::MIN` too where the file system
        /// keeps none.
        btime_ns: i64);
    column!(/// User ids.
        uids: u32);
    column!(/// Group ids.
        gids: u32);
    column!(/// Types and permission bits, as in `st_mode`.
        modes: u16);
    column!(/// The devices that device nodes stand for.
        rdevs: u64);
    column!(/// The bytes of all names, one after another.
        names: u8);
    column!(/// Where each name ends in [`names`](Self::names), and the next one begins: with
        /// a 0 before them, these are the offsets of an Arrow array.
        name_ends: u32);

    /// The name of entry `index`; empty where names were not wanted.
    ///
    /// # Panics
    ///
    /// Panics if `index` is not below [`len`](Self::len) and names are kept.
    #[must_use]
    pub fn name(&self, index: usize) -> &[u8] {
        if self.name_ends.is_empty() {
            return &[];
        }
        let start = index.checked_sub(1).map_or(0, |i| self.name_ends[i]) as usize;
        &self.names[start..self.name_ends[index] as usize]
    }

    /// Entry `index`, row by row; for callers who do not mind the cost.
    ///
    /// # Panics
    ///
    /// Panics if `index` is not below [`len`](Self::len).
    #[must_use]
    #[inline]
    pub fn entry(&self, index: usize) -> EntryRef<'_> {
        let mut attributes = Attributes::of_type(self.kinds[index]);
        if self.known[index] {
            self.read_columns(index, &mut attributes);
        }
        EntryRef {
            name: self.name(index),
            attributes,
        }
    }

    /// All entries, row by row.
    pub fn iter(&self) -> impl Iterator<Item = EntryRef<'_>> {
        (0..self.len()).map(|index| self.entry(index))
    }

    /// Device and inode number of entry `index`, where they are kept.
    pub(crate) fn id(&self, index: usize) -> FileId {
        FileId {
            dev: self.devs[index],
            ino: self.inos[index],
        }
    }

    #[inline]
    fn read_columns(&self, index: usize, out: &mut Attributes) {
        fn read<T: Copy>(column: &[T], index: usize, out: &mut T, valid: &mut Fields, f: Fields) {
            if let Some(&value) = column.get(index) {
                *out = value;
                *valid |= f;
            }
        }
        let valid = &mut out.valid;
        read(
            &self.size_bytes,
            index,
            &mut out.size_bytes,
            valid,
            Fields::SIZE,
        );
        read(
            &self.allocated_bytes,
            index,
            &mut out.allocated_bytes,
            valid,
            Fields::ALLOCATED,
        );
        read(&self.links, index, &mut out.links, valid, Fields::LINKS);
        read(&self.inos, index, &mut out.id.ino, valid, Fields::ID);
        read(&self.devs, index, &mut out.id.dev, valid, Fields::ID);
        read(&self.uids, index, &mut out.uid, valid, Fields::OWNER);
        read(&self.gids, index, &mut out.gid, valid, Fields::OWNER);
        read(&self.modes, index, &mut out.mode, valid, Fields::MODE);
        read(&self.rdevs, index, &mut out.rdev, valid, Fields::RDEV);
        if let Some(&ns) = self.mtime_ns.get(index) {
            out.set_mtime(ns);
        }
        if let Some(&ns) = self.atime_ns.get(index) {
            out.set_atime(ns);
        }
        if let Some(&ns) = self.ctime_ns.get(index) {
            out.set_ctime(ns);
        }
        if let Some(&ns) = self.btime_ns.get(index) {
            out.set_btime(Some(ns));
        }
    }

    /// Forgets the entries and keeps the memory.
    #[inline]
    pub fn clear(&mut self) {
        // Most batches are: of directories without files, and of links that are followed.
        if !self.is_empty() {
            self.clear_columns();
        }
    }

    fn clear_columns(&mut self) {
        self.names.clear();
        self.name_ends.clear();
        self.kinds.clear();
        self.known.clear();
        self.unknown_count = 0;
        self.size_bytes.clear();
        self.allocated_bytes.clear();
        self.links.clear();
        self.inos.clear();
        self.devs.clear();
        self.mtime_ns.clear();
        self.atime_ns.clear();
        self.ctime_ns.clear();
        self.btime_ns.clear();
        self.uids.clear();
        self.gids.clear();
        self.modes.clear();
        self.rdevs.clear();
    }

    /// Adds an entry of which only name and type are known.
    ///
    /// With `failed`, its attributes were wanted and could not be read.
    #[inline]
    pub fn push_listed(&mut self, name: &[u8], kind: FileType, failed: bool) {
        if failed || self.wanted.need_stat() {
            self.push_unstated(name, kind);
        } else {
            self.push_name(name);
            self.kinds.push(kind);
            self.known.push(true);
        }
    }

    /// Adds so many entries of which only the type is wanted.
    pub(crate) fn push_types(&mut self, kind: FileType, count: usize) {
        debug_assert!(!self.wanted.need_stat() && !self.wanted.contains(Fields::NAME));
        let len = self.kinds.len() + count;
        self.kinds.resize(len, kind);
        self.known.resize(len, true);
    }

    /// Apart, so that the usual case stays small enough for its callers' loops.
    #[cold]
    fn push_unstated(&mut self, name: &[u8], kind: FileType) {
        self.push(name, &Attributes::of_type(kind), false);
    }

    /// Adds an entry with its attributes.
    #[inline]
    pub fn push_stated(&mut self, name: &[u8], attributes: &Attributes) {
        self.push(name, attributes, true);
    }

    #[inline]
    fn push_name(&mut self, name: &[u8]) {
        if self.wanted.contains(Fields::NAME) {
            self.names.extend_from_slice(name);
            // A batch holds at most 64 Ki entries of at most 255 bytes, so this fits.
            self.name_ends.push(self.names.len() as u32);
        }
    }

    #[inline]
    fn push(&mut self, name: &[u8], attributes: &Attributes, known: bool) {
        self.push_name(name);
        self.kinds.push(attributes.kind);
        self.known.push(known);
        self.unknown_count += usize::from(!known);
        let wanted = self.wanted;
        if wanted.contains(Fields::SIZE) {
            self.size_bytes.push(attributes.size_bytes);
        }
        if wanted.contains(Fields::ALLOCATED) {
            self.allocated_bytes.push(attributes.allocated_bytes);
        }
        if wanted.contains(Fields::LINKS) {
            self.links.push(attributes.links);
        }
        if wanted.contains(Fields::ID) {
            let FileId { dev, ino } = attributes.id;
            self.inos.push(ino);
            self.devs.push(dev);
        }
        if wanted.contains(Fields::MTIME) {
            self.mtime_ns.push(attributes.mtime_ns);
        }
        if wanted.contains(Fields::OWNER) {
            self.uids.push(attributes.uid);
            self.gids.push(attributes.gid);
        }
        if wanted.has_any(Fields::RARE) {
            if wanted.contains(Fields::ATIME) {
                self.atime_ns.push(attributes.atime_ns);
            }
            if wanted.contains(Fields::CTIME) {
                self.ctime_ns.push(attributes.ctime_ns);
            }
            if wanted.contains(Fields::BTIME) {
                // The file system may keep none.
                let ns = attributes.btime_ns().unwrap_or(TOO_EARLY);
                self.btime_ns.push(ns);
            }
            if wanted.contains(Fields::MODE) {
                self.modes.push(attributes.mode);
            }
            if wanted.contains(Fields::RDEV) {
                self.rdevs.push(attributes.rdev);
            }
        }
    }
}

/// One entry of a [`Batch`].
#[derive(Clone, Copy, Debug)]
pub struct EntryRef<'a> {
    /// The name, as the kernel gave it; empty where names were not wanted.
    pub name: &'a [u8],
    /// Its attributes.
    pub attributes: Attributes,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stated(size_bytes: u64) -> Attributes {
        let mut attributes = Attributes::of_type(FileType::File);
        attributes.size_bytes = size_bytes;
        attributes.valid |= Fields::SIZE;
        attributes
    }

    #[test]
    fn columns_that_nobody_wants_stay_empty() {
        let mut batch = Batch::new(Fields::SIZE);
        batch.push_stated(b"a", &stated(7));
        assert_eq!(batch.size_bytes(), [7]);
        assert!(batch.mtime_ns().is_empty() && batch.name(0).is_empty());
        assert_eq!(batch.entry(0).attributes.mtime_ns(), None);
    }

    #[test]
    fn a_time_that_does_not_fit_is_absent() {
        let times = Fields::MTIME | Fields::ATIME | Fields::CTIME | Fields::BTIME;
        let mut batch = Batch::new(times);
        for ns in [TOO_EARLY, -1, 0, 1, i64::MAX] {
            let mut attributes = stated(0);
            attributes.set_mtime(ns);
            attributes.set_atime(ns);
            attributes.set_ctime(ns);
            attributes.set_btime(Some(ns));
            batch.push_stated(b"", &attributes);
        }
        for (entry, known) in batch.iter().zip([None, Some(-1), Some(0), Some(1), None]) {
            let found = entry.attributes;
            let times = [found.mtime_ns(), found.atime_ns(), found.ctime_ns()];
            assert_eq!((times, found.btime_ns()), ([known; 3], known));
        }
        assert!((batch.entry(0).attributes.mtime_order(0)).is_some_and(|order| order.is_lt()));
        assert!((batch.entry(4).attributes.mtime_order(0)).is_some_and(|order| order.is_gt()));
    }

    #[test]
    fn a_failed_stat_leaves_attributes_absent() {
        let mut batch = Batch::new(Fields::NAME | Fields::SIZE | Fields::BTIME);
        batch.push_stated(b"good", &stated(1));
        batch.push_listed(b"bad", FileType::File, true);
        assert!(!batch.all_known());
        assert_eq!(batch.entry(1).name, b"bad");
        assert_eq!(batch.entry(1).attributes.size_bytes(), None);
        assert_eq!(batch.entry(0).attributes.size_bytes(), Some(1));
        assert_eq!(batch.entry(0).attributes.btime_ns(), None);
        batch.clear();
        assert!(batch.is_empty() && batch.all_known());
    }
}
