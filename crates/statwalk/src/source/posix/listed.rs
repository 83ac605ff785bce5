// SPDX-License-Identifier: MIT OR Apache-2.0

//! What one getdents64 call brought, and the stats of its entries.
//!
//! The kernel's buffer is decoded first and stat'ed afterwards, so that another
//! worker can go on with the directory meanwhile.

use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::RawDir;
use rustix::io::Errno;

use super::Outlet;
use super::contents::Contents;
use super::open_dir::OpenDir;
use super::stat::{self, uninterrupted};
use super::terms::{Terms, Visit};
use crate::entry::FileType;
use crate::error::Op;

/// Entries as the listing gives them.
#[derive(Default)]
pub(super) struct Listed {
    /// Names, each ended by NUL.
    names: Vec<u8>,
    entries: Vec<ListedEntry>,
}

struct ListedEntry {
    name_offset: u32,
    kind: FileType,
}

/// Whether a listing has ended.
pub(super) enum More {
    Entries,
    End,
}

impl Listed {
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether an entry has this name.
    pub(super) fn holds(&self, name: &CStr) -> bool {
        (0..self.len()).any(|index| self.name(index) == name)
    }

    fn name(&self, index: usize) -> &CStr {
        let start = self.entries[index].name_offset as usize;
        let end = match self.entries.get(index + 1) {
            Some(next) => next.name_offset as usize,
            None => self.names.len(),
        };
        CStr::from_bytes_with_nul(&self.names[start..end]).expect("a name is kept with its NUL")
    }

    /// Reads the next entries of an open directory.
    ///
    /// With `types_only`, only names that may be those of directories are kept.
    pub(super) fn fill(
        &mut self,
        fd: BorrowedFd<'_>,
        buffer: &mut [MaybeUninit<u8>],
        types_only: bool,
    ) -> Result<More, Errno> {
        self.names.clear();
        self.entries.clear();
        uninterrupted(|| {
            let mut raw = RawDir::new(fd.as_fd(), buffer);
            while let Some(entry) = raw.next() {
                let entry = entry?;
                let name = entry.file_name();
                if !matches!(name.to_bytes(), b"." | b"..") {
                    let kind = kind(entry.file_type());
                    self.entries.push(ListedEntry {
                        // One buffer of names is far below 4 GiB.
                        name_offset: self.names.len() as u32,
                        kind,
                    });
                    if !types_only || matches!(kind, FileType::Directory | FileType::Unknown) {
                        self.names.extend_from_slice(name.to_bytes_with_nul());
                    }
                }
                if raw.is_buffer_empty() {
                    return Ok(More::Entries);
                }
            }
            Ok(More::End)
        })
    }

    /// Stats what must be stat'ed and sorts the entries into `contents`.
    ///
    /// Answers false where the scan was cancelled.
    pub(super) fn read_attributes(
        &self,
        fd: BorrowedFd<'_>,
        dir: &OpenDir,
        terms: &Terms,
        contents: &mut Contents,
        out: &impl Outlet,
    ) -> bool {
        if terms.types_only {
            return self.sort_by_type(fd, terms, contents, out);
        }
        let needs_stat = terms.wanted.need_stat();
        let roots_here = match dir.identity {
            Some(id) if !terms.roots.others.is_empty() => terms.roots.roots_in(id),
            _ => &[],
        };
        let mut path = Vec::new();
        if terms.exclusions.need_paths() {
            path = dir.place.path();
            if path.last() != Some(&b'/') {
                path.push(b'/');
            }
        }
        let directory_length = path.len();
        for (index, listed) in self.entries.iter().enumerate() {
            // Where the file system is slow, even a few stats take too long.
            if out.cancelled() {
                return false;
            }
            let name = self.name(index);
            if directory_length > 0 {
                path.truncate(directory_length);
                path.extend_from_slice(name.to_bytes());
                let is_directory = listed.kind == FileType::Directory;
                let ignored =
                    |rules: &crate::exclusion::IgnoreRules| rules.leave_out(&path, is_directory);
                if terms.exclusions.fits(&path) || dir.ignore.as_deref().is_some_and(ignored) {
                    contents.excluded += 1;
                    continue;
                }
            }
            if !roots_here.is_empty()
                && terms
                    .roots
                    .visit_other(roots_here, name.to_bytes(), dir.root)
                    == Visit::EarlierRoot
            {
                continue;
            }
            match listed.kind {
                FileType::Directory => contents.push_subdir(name),
                FileType::Symlink if terms.follows => {
                    contents.push_link(name);
                }
                kind if needs_stat || kind == FileType::Unknown => {
                    stat_entry(fd, name, kind, dir, terms, contents);
                }
                kind => contents.batch.push_listed(name.to_bytes(), kind, false),
            }
        }
        true
    }

    /// The short way where only types are wanted. Answers false where the scan
    /// was cancelled.
    fn sort_by_type(
        &self,
        fd: BorrowedFd<'_>,
        terms: &Terms,
        contents: &mut Contents,
        out: &impl Outlet,
    ) -> bool {
        for (index, listed) in self.entries.iter().enumerate() {
            match listed.kind {
                FileType::Directory => contents.push_subdir(self.name(index)),
                FileType::Unknown => {
                    if out.cancelled() {
                        return false;
                    }
                    let name = self.name(index);
                    match stat::by_name(fd, name, terms.mask) {
                        Ok(found) if stat::kind(found.stx_mode) == FileType::Directory => {
                            contents.push_subdir(name);
                        }
                        Ok(found) => {
                            let kind = stat::kind(found.stx_mode);
                            contents.batch.push_listed(&[], kind, false);
                        }
                        Err(errno) => failed(name, FileType::Unknown, errno, contents),
                    }
                }
                kind => contents.batch.push_listed(&[], kind, false),
            }
        }
        true
    }
}

/// Stats one entry that is not known to be a directory.
#[inline]
fn stat_entry(
    fd: BorrowedFd<'_>,
    name: &CStr,
    listed: FileType,
    dir: &OpenDir,
    terms: &Terms,
    contents: &mut Contents,
) {
    let found = match stat::by_name(fd, name, terms.mask) {
        Ok(found) => found,
        Err(errno) => return failed(name, listed, errno, contents),
    };
    let attributes = stat::attributes(&found, terms.wanted);
    match attributes.kind {
        // The listing did not tell, or a directory has taken the place meanwhile.
        FileType::Directory => contents.push_subdir(name),
        FileType::Symlink if terms.follows => contents.push_link(name),
        kind if !terms.wanted.need_stat() => {
            contents.batch.push_listed(name.to_bytes(), kind, false);
        }
        kind if !terms.enters_mounts && stat::mount_id(&found) != dir.mount.id => {
            contents.crossings += 1;
            contents.batch.push_listed(name.to_bytes(), kind, false);
        }
        _ => contents.batch.push_stated(name.to_bytes(), &attributes),
    }
}

fn failed(name: &CStr, listed: FileType, errno: Errno, contents: &mut Contents) {
    if errno == Errno::NOENT {
        contents.vanished += 1;
        return;
    }
    contents.batch.push_listed(name.to_bytes(), listed, true);
    contents
        .failures
        .push((name.to_bytes().to_vec(), Op::Stat, errno));
}

/// `d_type`, readdir(3).
fn kind(listed: rustix::fs::FileType) -> FileType {
    match listed {
        rustix::fs::FileType::RegularFile => FileType::File,
        rustix::fs::FileType::Directory => FileType::Directory,
        rustix::fs::FileType::Symlink => FileType::Symlink,
        rustix::fs::FileType::Fifo => FileType::Fifo,
        rustix::fs::FileType::Socket => FileType::Socket,
        rustix::fs::FileType::CharacterDevice => FileType::CharDevice,
        rustix::fs::FileType::BlockDevice => FileType::BlockDevice,
        rustix::fs::FileType::Unknown => FileType::Unknown,
    }
}
