// SPDX-License-Identifier: MIT OR Apache-2.0

//! Finds the directories among entries whose types the listing does not tell,
//! where nothing but the tree's shape is wanted.
//!
//! Each stat that is not made is the gain; the tricks are aio_scandir's.

use std::os::fd::BorrowedFd;

use rustix::fs::{Statx, StatxFlags, fstatfs};
use rustix::io::Errno;
use rustix::time::{ClockId, clock_gettime};

use super::contents::Contents;
use super::context::Terms;
use super::listed::{Listed, failed};
use super::open_dir::OpenDir;
use super::outlet::{Outlet, Tick};
use crate::calls::{self, likeliness};
use crate::entry::FileType;
use crate::source::posix::stat;
use crate::tally;

/// When all subdirectories of a directory have been found, as its link count
/// tells it.
#[derive(Default)]
pub(super) struct LinkStop {
    was_asked: bool,
    /// How many there are; absent where the link count does not tell.
    subdirs: Option<u32>,
    /// The directory when it was asked.
    before: Option<Statx>,
    /// Whether entries were not looked at because of it.
    was_used: bool,
}

impl LinkStop {
    /// Asks for the link count, the first time.
    fn ask(&mut self, fd: BorrowedFd<'_>, dir: &OpenDir, terms: &Terms) {
        if self.was_asked || !terms.calls.link_stop || dir.link_stop_is_off {
            return;
        }
        self.was_asked = true;
        tally::count();
        // The type is signed on some architectures; the number is not.
        let file_system = fstatfs(fd).map_or(0, |found| found.f_type as u64 & 0xffff_ffff);
        if !calls::counts_subdirectories(file_system) {
            return;
        }
        if let Ok(found) = terms.stat_directory(fd) {
            self.subdirs = found.stx_nlink.checked_sub(2);
            self.before = Some(found);
        }
    }

    /// Whether entries were not looked at because of it.
    pub(super) fn was_used(&self) -> bool {
        self.was_used
    }

    fn all_found(&self, contents: &Contents) -> bool {
        let found = contents.subdir_offsets.len() as u64;
        self.subdirs
            .is_some_and(|subdirs| found == u64::from(subdirs))
    }

    /// Whether nothing can have been missed because of it.
    ///
    /// A directory that was changed within the last second can change once
    /// more without a new time where the file system counts in seconds.
    pub(super) fn can_be_trusted(&self, fd: BorrowedFd<'_>, terms: &Terms) -> bool {
        let Some(before) = self.before.as_ref().filter(|_| self.was_used) else {
            return true;
        };
        let now = clock_gettime(ClockId::RealtimeCoarse).tv_sec;
        let is_settled = before.stx_mtime.tv_sec + 1 < now;
        let is_same = |after: Statx| stat::Stillness::of(before) == stat::Stillness::of(&after);
        is_settled && terms.stat_directory(fd).is_ok_and(is_same)
    }
}

/// Sorts entries into directories and others. Answers false where the scan was
/// cancelled.
pub(super) fn find_directories(
    listed: &Listed,
    fd: BorrowedFd<'_>,
    dir: &OpenDir,
    terms: &Terms,
    contents: &mut Contents,
    out: &impl Outlet,
) -> bool {
    // Names that nobody wants were not kept.
    let name_of = |index: usize| match terms.types_only {
        true => [].as_slice(),
        false => listed.name(index).to_bytes(),
    };
    let mut unknown = Vec::new();
    for index in 0..listed.len() {
        match listed.kind(index) {
            FileType::Directory => {
                contents.push_subdir(listed.name(index).to_bytes(), listed.ino(index))
            }
            FileType::Unknown => unknown.push(index),
            kind => contents.batch.push_listed(name_of(index), kind, false),
        }
    }
    if unknown.is_empty() {
        return true;
    }
    if terms.calls.likely_first {
        unknown.sort_by_key(|&index| likeliness(listed.name(index).to_bytes()));
    }
    contents.link_stop.ask(fd, dir, terms);
    for index in unknown {
        let name = listed.name(index);
        if contents.link_stop.all_found(contents) {
            contents.link_stop.was_used = true;
            contents
                .batch
                .push_listed(name.to_bytes(), FileType::Unknown, false);
            continue;
        }
        if out.tick() == Tick::Stop {
            return false;
        }
        if terms.calls.looks_inside {
            // What is no directory ends the kernel's way to the dot.
            let inside = [name.to_bytes(), b"/.\0"].concat();
            let inside = std::ffi::CStr::from_bytes_with_nul(&inside).expect("a name has no NUL");
            if terms.stat_entry_as(fd, inside, StatxFlags::TYPE).err() == Some(Errno::NOTDIR) {
                contents
                    .batch
                    .push_listed(name.to_bytes(), FileType::Unknown, false);
                continue;
            }
            // A directory, a link to one, or something that only itself can tell.
        }
        match terms.stat_entry(fd, name) {
            Ok(found) if FileType::of_mode(found.stx_mode) == FileType::Directory => {
                contents.push_subdir(name.to_bytes(), listed.ino(index));
            }
            Ok(found) => {
                let kind = FileType::of_mode(found.stx_mode);
                contents.batch.push_listed(name.to_bytes(), kind, false);
            }
            Err(errno) => failed(name, FileType::Unknown, errno, contents),
        }
    }
    true
}
