// SPDX-License-Identifier: MIT OR Apache-2.0

//! The attributes of the entries of one buffer: stats, where they are needed.

use std::ffi::CStr;
use std::ops::Range;

use super::contents::Contents;
use super::context::{ScanContext, Visit};
use super::listed::Listed;
use super::open_dir::OpenDir;
use super::options::{PART_MIN, ScanOptions, Shown};
use super::outlet::{Pace, Tick};
use super::source::{DirectorySource, EntryStat};
use super::subdir_search::sort_by_name;
use super::unknown::find_directories;
use crate::calls::Sharing;
use crate::dir_handle::DirHandle;
use crate::entry::FileType;
use crate::error::Op;
use crate::failure::Failure;

/// The end of reading attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    Whole,
    /// The scan was cancelled.
    Stopped,
    /// Other workers can take the entries from this index on.
    Until(usize),
}

impl Listed {
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
        if let Some(known) = contents.link_stop.known.clone() {
            sort_by_name(&known, self, contents);
            return Reading::Whole;
        }
        if shape_only && contents.link_stop.ask(fd, dir, context) {
            return match find_directories(self, fd, context, contents, out) {
                true => Reading::Whole,
                false => Reading::Stopped,
            };
        }
        let looks_inside = shape_only && options.calls.looks_inside;
        let needs_stat = context.stats_entries;
        let roots_here = dir.identity.and_then(|id| options.roots.roots_in(id));
        let mut path = Vec::new();
        let matches_paths = options.exclusions.need_paths();
        if matches_paths {
            path = dir.place.path();
            if path.last() != Some(&b'/') {
                path.push(b'/');
            }
        }
        let directory_length = path.len();
        let shares = (needs_stat || has_unknown) && options.calls.sharing == Sharing::WhenIdle;
        for index in which {
            let listed = self.entry(index);
            // Where the file system is slow, even a few stats take too long.
            match out.tick() {
                Tick::GoOn => {}
                Tick::Stop => return Reading::Stopped,
                // At least one entry, so that every turn makes progress.
                Tick::Share if !shares || index == start || end - index < 2 * PART_MIN => {}
                Tick::Share => return Reading::Until(index),
            }
            let name = self.name(index);
            if matches_paths {
                path.truncate(directory_length);
                path.extend_from_slice(name.to_bytes());
                let is_directory = listed.kind == FileType::Directory;
                let ignored =
                    |rules: &crate::exclusion::IgnoreRules| rules.leave_out(&path, is_directory);
                if options.exclusions.fits(&path) || dir.ignore.as_deref().is_some_and(ignored) {
                    contents.excluded += 1;
                    continue;
                }
            }
            if let Some(roots) = roots_here
                && (context.is_root_left_out(roots, fd, name, dir.shown())
                    || context.visit_other(roots, name.to_bytes(), dir.mount.id, dir.root)
                        == Visit::OtherRoot)
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
                    let found = source.stat_entry(fd, name);
                    match &found {
                        Ok(found) if options.follows && found.kind() == FileType::Symlink => {
                            follow_to_file(fd, name, context, contents);
                        }
                        // A mounted file that shuts out this user is left out all the same.
                        Err(_) if context.is_left_out(fd, name, dir.shown()) => {
                            contents.crossings += 1;
                            (contents.batch).push_listed(name.to_bytes(), listed.kind, false);
                        }
                        _ => sort_in(
                            found,
                            name,
                            (listed.kind, listed.ino),
                            dir.shown(),
                            options,
                            contents,
                        ),
                    }
                }
                kind => match self.listed_attributes(listed) {
                    Some(found) if options.wanted.need_stat() => {
                        let found = found.narrowed(options.wanted);
                        contents.batch.push_stated(name.to_bytes(), &found);
                    }
                    _ => contents.batch.push_listed(name.to_bytes(), kind, false),
                },
            }
        }
        Reading::Whole
    }

    /// As [`read_some`](Self::read_some), where no entry needs a stat.
    fn sort_typed(&self, which: Range<usize>, contents: &mut Contents) {
        for index in which {
            let (name, listed) = (self.name_bytes(index), self.entry(index));
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

/// Sorts one entry into `contents` by its stat.
///
/// `listed_kind` and `ino` come from the listing.
#[inline]
pub(crate) fn sort_in(
    found: Result<impl EntryStat, impl Into<Failure>>,
    name: &CStr,
    (listed_kind, ino): (FileType, u64),
    holder: Shown,
    options: &ScanOptions,
    contents: &mut Contents,
) {
    let found = match found {
        Ok(found) => found,
        Err(error) => return failed(name, listed_kind, error.into(), contents),
    };
    let attributes = found.attributes(options.wanted);
    match attributes.kind {
        // The listing had no type, or a directory has taken the place of a file.
        FileType::Directory => contents.push_subdir(name.to_bytes(), ino),
        FileType::Symlink if options.follows => contents.push_link(name.to_bytes()),
        kind if !options.wanted.need_stat() => {
            contents.batch.push_listed(name.to_bytes(), kind, false);
        }
        // Most scans enter all mounts, and need not know that of the entry.
        kind if options.leaves_some_out() && options.leaves_out(found.shown(), holder) => {
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
    (contents.batch).push_refused(name.to_bytes(), listed, failure.errno());
    contents
        .failures
        .push((name.to_bytes().to_vec(), Op::Stat, failure));
}
