// SPDX-License-Identifier: MIT OR Apache-2.0

//! One buffer of a listing, and the stats of its entries.
//!
//! A worker decodes the whole buffer before the first stat. So another worker can
//! read the next buffer of the directory meanwhile.

use std::ffi::CStr;
use std::ops::Range;

use statwalk_sys::c_strings::CStrings;

use super::contents::Contents;
use super::context::{ScanContext, ScanOptions, Visit};
use super::open_dir::OpenDir;
use super::outlet::{Pace, Tick};
use super::shared::PART_MIN;
use super::source::{DirectorySource, EntryStat};
use super::unknown::find_directories;
use crate::batch::Batch;
use crate::calls::{Naming, Sharing};
use crate::entry::FileType;
use crate::error::Op;
use crate::failure::Failure;
use crate::handle::DirHandle;

/// The entries of one buffer.
#[derive(Default)]
pub(crate) struct Listed {
    names: CStrings,
    entries: Vec<ListedEntry>,
    /// Numbers of entries of which only the type is kept, by their types.
    counts: [u32; FileType::COUNT],
}

struct ListedEntry {
    /// The inode number in the listing, without the device.
    ino: u64,
    /// The number of its name.
    name: u32,
    kind: FileType,
}

/// The end of reading attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    Whole,
    /// The scan was cancelled.
    Stopped,
    /// Other workers can take the entries from this index on.
    Until(usize),
}

/// Selects the names of a listing that are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeptNames {
    All,
    /// Names of directories, and of entries without a type. Other entries are only
    /// counted.
    OfDirectories,
}

impl KeptNames {
    /// Whether the name of an entry of this type is kept.
    #[inline]
    pub(crate) fn keep(self, kind: FileType) -> bool {
        self == KeptNames::All || matches!(kind, FileType::Directory | FileType::Unknown)
    }
}

impl Listed {
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The number of entries, with those that are only counted.
    pub(super) fn len_with_counted(&self) -> usize {
        let counted: u32 = self.counts.iter().sum();
        self.entries.len() + counted as usize
    }

    /// Whether it has counts and typed directories alone, so that no entry needs a stat.
    pub(super) fn has_types_alone(&self) -> bool {
        let counted: u32 = self.counts.iter().sum();
        let is_typed = |entry: &ListedEntry| entry.kind == FileType::Directory;
        counted > 0 && self.entries.iter().all(is_typed)
    }

    /// Adds the entries that are only counted to a batch.
    pub(super) fn add_counted_to(&self, batch: &mut Batch) {
        for (kind, &count) in FileType::ALL.into_iter().zip(&self.counts) {
            if count > 0 {
                batch.push_types(kind, count as usize);
            }
        }
    }

    /// Whether an entry has to be stat'ed to find its type, or that of its target.
    pub(super) fn has_unknown(&self, follows: bool) -> bool {
        let is_unknown = |kind| match kind {
            FileType::Symlink => follows,
            kind => kind == FileType::Unknown,
        };
        self.entries.iter().any(|entry| is_unknown(entry.kind))
    }

    /// Whether an entry has this name.
    pub(super) fn holds(&self, name: &CStr) -> bool {
        (0..self.len()).any(|index| self.name(index) == name)
    }

    pub(super) fn name(&self, index: usize) -> &CStr {
        self.names.get(self.entries[index].name as usize)
    }

    /// As [`name`](Self::name), for callers that pass it to no system call.
    pub(super) fn name_bytes(&self, index: usize) -> &[u8] {
        self.name(index).to_bytes()
    }

    pub(super) fn kind(&self, index: usize) -> FileType {
        self.entries[index].kind
    }

    pub(crate) fn ino(&self, index: usize) -> u64 {
        self.entries[index].ino
    }

    /// Removes the entries from `start` on, and returns them.
    pub(super) fn split_off(&mut self, start: usize) -> Listed {
        let mut part = Listed::default();
        for mut entry in self.entries.drain(start..) {
            let name = self.names.get(entry.name as usize);
            entry.name = part.names.len() as u32;
            part.names.push(name);
            part.entries.push(entry);
        }
        part
    }

    pub(super) fn clear(&mut self) {
        self.names.clear();
        self.entries.clear();
        self.counts = [0; FileType::COUNT];
    }

    /// Sorts the entries by their inode numbers.
    pub(super) fn sort_by_inode(&mut self) {
        radsort::sort_by_key(&mut self.entries, |entry| entry.ino);
    }

    /// Adds an entry with its name, or counts it if `names` leaves its name out.
    pub(crate) fn add(&mut self, name: &CStr, ino: u64, kind: FileType, names: KeptNames) {
        match names.keep(kind) {
            true => self.push(name, ino, kind),
            false => self.count(kind),
        }
    }

    /// Adds an entry with its name.
    #[inline]
    pub(crate) fn push(&mut self, name: &CStr, ino: u64, kind: FileType) {
        self.entries.push(ListedEntry {
            ino,
            // It fits: the entries of some buffers are far below 2^32.
            name: self.names.len() as u32,
            kind,
        });
        self.names.push(name);
    }

    /// Counts an entry whose name is not kept.
    #[inline]
    pub(crate) fn count(&mut self, kind: FileType) {
        self.counts[kind as usize] += 1;
    }

    /// Adds an entry whose name begins with NUL. Its stat will fail.
    ///
    /// A file system in user space can list such a name.
    #[cold]
    pub(crate) fn push_nameless(&mut self, ino: u64) {
        self.push(c"", ino, FileType::Unknown);
    }

    /// Sorts the entries into `contents`, and stats those that need it.
    ///
    /// It can end early: see [`Reading`].
    pub(super) fn read_attributes(
        &self,
        fd: &DirHandle,
        dir: &OpenDir,
        context: &ScanContext<impl DirectorySource>,
        contents: &mut Contents,
        out: &dyn Pace,
    ) -> Reading {
        self.read_some(0..self.len(), fd, dir, context, contents, out)
    }

    /// As [`read_attributes`](Self::read_attributes), for some of the entries.
    pub(super) fn read_some(
        &self,
        which: Range<usize>,
        fd: &DirHandle,
        dir: &OpenDir,
        context: &ScanContext<impl DirectorySource>,
        contents: &mut Contents,
        out: &dyn Pace,
    ) -> Reading {
        let (options, source) = (&context.options, &context.source);
        let (start, end) = (which.start, which.end);
        if start == 0 {
            self.add_counted_to(&mut contents.batch);
        }
        let has_unknown = self.has_unknown(options.follows);
        let shape_only = options.shortcuts.shape_only;
        if (shape_only || options.shortcuts.types_only) && !has_unknown {
            self.sort_typed(which, contents);
            return Reading::Whole;
        }
        if shape_only && contents.link_stop.ask(fd, dir, context) {
            return match find_directories(self, fd, context, contents, out) {
                true => Reading::Whole,
                false => Reading::Stopped,
            };
        }
        let looks_inside = shape_only && options.calls.looks_inside;
        let needs_stat = options.wanted.need_stat();
        let roots_here = dir.identity.and_then(|id| options.roots.roots_in(id));
        let mut path = Vec::new();
        let stats_by_path = options.calls.naming == Naming::Path;
        let matches_paths = options.exclusions.need_paths();
        if matches_paths || stats_by_path {
            path = dir.place.path();
            if path.last() != Some(&b'/') {
                path.push(b'/');
            }
        }
        let directory_length = path.len();
        let shares = (needs_stat || has_unknown) && options.calls.sharing == Sharing::WhenIdle;
        for index in which {
            let listed = &self.entries[index];
            // Where the file system is slow, even a few stats take too long.
            match out.tick() {
                Tick::GoOn => {}
                Tick::Stop => return Reading::Stopped,
                // At least one entry, so that every turn makes progress.
                Tick::Share if !shares || index == start || end - index < 2 * PART_MIN => {}
                Tick::Share => return Reading::Until(index),
            }
            let name = self.name(index);
            if directory_length > 0 {
                path.truncate(directory_length);
                path.extend_from_slice(name.to_bytes());
            }
            if matches_paths {
                let is_directory = listed.kind == FileType::Directory;
                let ignored =
                    |rules: &crate::exclusion::IgnoreRules| rules.leave_out(&path, is_directory);
                if options.exclusions.fits(&path) || dir.ignore.as_deref().is_some_and(ignored) {
                    contents.excluded += 1;
                    continue;
                }
            }
            if let Some(roots) = roots_here
                && context.visit_other(roots, name.to_bytes(), dir.root) == Visit::EarlierRoot
            {
                continue;
            }
            match listed.kind {
                FileType::Directory => contents.push_subdir(name.to_bytes(), listed.ino),
                FileType::Symlink if options.follows => {
                    follow_to_file(fd, name, context, contents);
                }
                // If the stat of `entry/.` does not fail with ENOTDIR, the entry may be a
                // directory or a link to one: a stat of the entry decides.
                FileType::Unknown if looks_inside && source.has_no_inside(fd, name) => {
                    contents
                        .batch
                        .push_listed(name.to_bytes(), FileType::Unknown, false);
                }
                kind if needs_stat || kind == FileType::Unknown => {
                    let found = match stats_by_path {
                        true => stat_by_path(fd, &mut path, name, source),
                        false => source.stat_entry(fd, name),
                    };
                    match &found {
                        Ok(found) if options.follows && found.kind() == FileType::Symlink => {
                            follow_to_file(fd, name, context, contents);
                        }
                        _ => sort_in(
                            found,
                            name,
                            (listed.kind, listed.ino),
                            dir.mount.id,
                            options,
                            contents,
                        ),
                    }
                }
                kind => contents.batch.push_listed(name.to_bytes(), kind, false),
            }
        }
        Reading::Whole
    }

    /// As [`read_some`](Self::read_some), where no entry needs a stat.
    fn sort_typed(&self, which: Range<usize>, contents: &mut Contents) {
        for index in which {
            let (name, listed) = (self.name_bytes(index), &self.entries[index]);
            match listed.kind {
                FileType::Directory => contents.push_subdir(name, listed.ino),
                kind => contents.batch.push_listed(name, kind, false),
            }
        }
    }
}

/// Adds the target of a symbolic link, unless it is a directory.
///
/// Whether a directory counts below this link or another is a question of order. So a
/// link to one waits, and one that leads nowhere with it.
fn follow_to_file<D: DirectorySource>(
    fd: &DirHandle,
    name: &CStr,
    context: &ScanContext<D>,
    contents: &mut Contents,
) {
    match context.source.stat_target(Some(fd), name) {
        Ok(target) if target.kind() != FileType::Directory => {
            let attributes = target.attributes(context.options.wanted);
            contents.push_followed(name.to_bytes(), &attributes);
        }
        _ => contents.push_link(name.to_bytes()),
    }
}

/// Stats an entry by its full path, and by descriptor if the path is too long.
fn stat_by_path<D: DirectorySource>(
    fd: &DirHandle,
    path: &mut Vec<u8>,
    name: &CStr,
    source: &D,
) -> Result<D::Stat, Failure> {
    path.push(0);
    let whole = CStr::from_bytes_with_nul(path).expect("the parts of a path hold no NUL");
    let found = source.stat_path(whole);
    path.pop();
    match found {
        Err(Failure::NameTooLong(_)) => source.stat_entry(fd, name),
        found => found,
    }
}

/// Sorts one entry into `contents` by its stat.
///
/// `listed_kind` and `ino` come from the listing.
#[inline]
pub(crate) fn sort_in(
    found: Result<impl EntryStat, Failure>,
    name: &CStr,
    (listed_kind, ino): (FileType, u64),
    mount: u64,
    options: &ScanOptions,
    contents: &mut Contents,
) {
    let found = match found {
        Ok(found) => found,
        Err(failure) => return failed(name, listed_kind, failure, contents),
    };
    let attributes = found.attributes(options.wanted);
    match attributes.kind {
        // The listing had no type, or a directory has taken the place of a file.
        FileType::Directory => contents.push_subdir(name.to_bytes(), ino),
        FileType::Symlink if options.follows => contents.push_link(name.to_bytes()),
        kind if !options.wanted.need_stat() => {
            contents.batch.push_listed(name.to_bytes(), kind, false);
        }
        kind if !options.enters_mounts && found.mount() != mount => {
            contents.crossings += 1;
            contents.batch.push_listed(name.to_bytes(), kind, false);
        }
        _ => contents.batch.push_stated(name.to_bytes(), &attributes),
    }
}

/// Keeps an entry whose stat failed; after "not found" only its name, in `missing`.
#[cold]
pub(super) fn failed(name: &CStr, listed: FileType, failure: Failure, contents: &mut Contents) {
    match failure {
        Failure::NotFound(_) => contents.missing.push((name.to_owned(), listed)),
        failure => fail(name, listed, failure, contents),
    }
}

/// Keeps an entry whose stat failed, and its error.
///
/// An entry without a name counts as an error of its directory.
#[cold]
pub(super) fn fail(name: &CStr, listed: FileType, failure: Failure, contents: &mut Contents) {
    if name.is_empty() {
        let failure = (Vec::new(), Op::Read, Failure::DAMAGED);
        return contents.failures.push(failure);
    }
    contents.batch.push_listed(name.to_bytes(), listed, true);
    contents
        .failures
        .push((name.to_bytes().to_vec(), Op::Stat, failure));
}
