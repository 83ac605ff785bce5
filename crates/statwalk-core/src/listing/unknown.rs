// SPDX-License-Identifier: MIT OR Apache-2.0

//! Finds the directories among entries without types, for scans that want only the
//! shape of the tree.
//!
//! The tricks of aio_scandir save stats.

use super::attributes::failed;
use super::contents::Contents;
use super::context::ScanContext;
use super::link_stop::LinkStop;
use super::listed::Listed;
use super::open_dir::OpenDir;
use super::outlet::{Pace, Tick};
use super::source::{DirectorySource, EntryStat};
use crate::calls::likeliness;
use crate::dir_handle::DirHandle;
use crate::entry::FileType;

impl LinkStop {
    /// Reads the link count at the first call, and returns whether it tells the number
    /// of subdirectories.
    pub(super) fn ask(
        &mut self,
        fd: &DirHandle,
        dir: &OpenDir,
        context: &ScanContext<impl DirectorySource>,
    ) -> bool {
        if !context.options.calls.link_stop || dir.link_stop_is_off {
            return false;
        }
        if self.was_asked {
            return self.can_be_used();
        }
        self.was_asked = true;
        if context.source.links_count_subdirs(fd)
            && let Ok(found) = context.source.stat_directory(fd)
        {
            self.subdirs = found.links().checked_sub(2);
            self.before = Some(found.change_stamp());
        }
        self.can_be_used()
    }

    fn all_found(&self, contents: &Contents) -> bool {
        let found = contents.subdir_offsets.len() as u64;
        self.subdirs
            .is_some_and(|subdirs| found == u64::from(subdirs))
    }

    /// Whether no subdirectory can be missed.
    ///
    /// If the file system stores times in seconds, a directory can change twice within
    /// one second and keep its time.
    pub(super) fn can_be_trusted<D: DirectorySource>(&self, dir: &DirHandle, source: &D) -> bool {
        let Some(before) = self.before.filter(|_| self.was_used) else {
            return true;
        };
        let is_settled = before.mtime.0 + 1 < source.now_s();
        let is_same = |after: D::Stat| before == after.change_stamp();
        is_settled && source.stat_directory(dir).is_ok_and(is_same)
    }
}

/// Sorts entries into directories and others, until the link count says that all
/// directories are found.
///
/// Returns false if the scan was cancelled.
pub(super) fn find_directories(
    listed: &Listed,
    fd: &DirHandle,
    context: &ScanContext<impl DirectorySource>,
    contents: &mut Contents,
    out: &dyn Pace,
) -> bool {
    let mut unknown = Vec::new();
    for index in 0..listed.len() {
        let name = listed.name_bytes(index);
        match listed.kind(index) {
            FileType::Directory => contents.push_subdir(name, listed.ino(index)),
            FileType::Unknown => unknown.push(index),
            kind => contents.batch.push_listed(name, kind, false),
        }
    }
    if context.options.calls.likely_first {
        unknown.sort_by_key(|&index| likeliness(listed.name_bytes(index)));
    }
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
        // If the stat of `entry/.` does not fail with ENOTDIR, the entry may be a
        // directory or a link to one: a stat of the entry decides.
        if context.options.calls.looks_inside && context.source.has_no_inside(fd, name) {
            contents
                .batch
                .push_listed(name.to_bytes(), FileType::Unknown, false);
            continue;
        }
        match context.source.stat_entry(fd, name) {
            Ok(found) if found.kind() == FileType::Directory => {
                contents.push_subdir(name.to_bytes(), listed.ino(index));
            }
            Ok(found) => {
                contents
                    .batch
                    .push_listed(name.to_bytes(), found.kind(), false);
            }
            Err(error) => failed(name, FileType::Unknown, error.into(), contents),
        }
    }
    true
}
