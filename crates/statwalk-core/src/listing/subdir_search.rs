// SPDX-License-Identifier: MIT OR Apache-2.0

//! Finds the subdirectories of a directory without types that is too large to be withheld,
//! before its entries are delivered.
//!
//! "A million JPG files and a single .thumbnail": the link count says that there is one
//! subdirectory, and its name is likely. So a first pass over the listing keeps no names,
//! and asks about the likely ones alone, until all are found. The second pass delivers.

use std::collections::HashSet;
use std::ffi::CString;
use std::sync::Arc;

use super::Lister;
use super::contents::Contents;
use super::link_stop::KnownSubdirs;
use super::listed::Listed;
use super::open_dir::OpenDir;
use super::outlet::{Outlet, Tick};
use super::source::{DirectorySource, EntryStat, More};
use crate::calls::is_likely;
use crate::dir_handle::DirHandle;
use crate::entry::FileType;
use crate::failure::Failure;

/// The stats of a search where calls wait: nobody shares them, so others would be idle.
const STATS_MAX_WHERE_CALLS_WAIT: usize = 256;

/// Sorts entries into directories and others by the names of all subdirectories.
pub(super) fn sort_by_name(subdirs: &KnownSubdirs, listed: &Listed, contents: &mut Contents) {
    for index in 0..listed.len() {
        let name = listed.name(index);
        let is_subdir = |kind| match kind {
            FileType::Unknown => subdirs.names.contains(name),
            kind => kind == FileType::Directory,
        };
        match listed.kind(index) {
            kind if is_subdir(kind) => contents.push_subdir(name.to_bytes(), listed.ino(index)),
            kind => contents.batch.push_listed(name.to_bytes(), kind, false),
        }
    }
}

impl<D: DirectorySource> Lister<D> {
    /// Searches a directory that `link_stop` counts the subdirectories of, and leaves it at
    /// its start, with nothing listed.
    ///
    /// Absent where not all are found with a bounded number of stats, the directory changes
    /// or cannot be read to its end, or the scan was cancelled. The reading that delivers
    /// meets the same, and tells it.
    pub(super) fn search_subdirs(
        &mut self,
        fd: &DirHandle,
        dir: &OpenDir,
        out: &dyn Outlet,
    ) -> Result<Option<Arc<KnownSubdirs>>, Failure> {
        let mut link_stop = std::mem::take(&mut self.contents.link_stop);
        self.contents.clear();
        self.begin_reading(dir);
        self.context.source.seek(fd, 0)?;
        let found = match link_stop.subdirs {
            Some(wanted) if self.context.options.calls.likely_first => {
                self.likely_subdirs(fd, wanted as usize, out)
            }
            _ => None,
        };
        self.listed.clear();
        self.begin_reading(dir);
        self.context.source.seek(fd, 0)?;
        link_stop.was_used = true;
        let is_trusted =
            !dir.link_stop_is_off && link_stop.can_be_trusted(fd, &self.context.source);
        Ok(match (found, link_stop.before) {
            (Some(names), Some(stamp)) if is_trusted => {
                Some(Arc::new(KnownSubdirs { names, stamp }))
            }
            _ => None,
        })
    }

    /// The names of so many subdirectories; absent where that would take too much.
    fn likely_subdirs(
        &mut self,
        fd: &DirHandle,
        wanted: usize,
        out: &dyn Outlet,
    ) -> Option<HashSet<CString>> {
        let mut names = HashSet::new();
        let mut stats = 0;
        self.enlarge_buffer();
        while names.len() < wanted {
            if self.fill(fd) != Ok(More::Entries) || out.cancelled() {
                return None;
            }
            for index in 0..self.listed.len() {
                let name = self.listed.name(index);
                let is_subdir = match self.listed.kind(index) {
                    FileType::Directory => true,
                    FileType::Unknown if is_likely(name.to_bytes()) => {
                        let stats_max = match out.is_slow() {
                            true => STATS_MAX_WHERE_CALLS_WAIT,
                            false => self.context.options.withheld_max,
                        };
                        if stats >= stats_max || out.tick() == Tick::Stop {
                            return None;
                        }
                        stats += 1;
                        let found = self.context.source.stat_entry(fd, name);
                        found.is_ok_and(|found| found.kind() == FileType::Directory)
                    }
                    _ => false,
                };
                if is_subdir {
                    names.insert(name.to_owned());
                    if names.len() > self.context.options.withheld_max {
                        return None;
                    }
                }
            }
        }
        // With more than the link count says, somebody changes the directory.
        (names.len() == wanted).then_some(names)
    }
}
