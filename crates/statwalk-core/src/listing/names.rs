// SPDX-License-Identifier: MIT OR Apache-2.0

//! Decisions by the names of entries: the excluded ones, and files with patterns.
//!
//! Readers of a file system in place use it before they read an inode.

use super::open_dir::OpenDir;
use super::options::ScanOptions;
use crate::entry::FileType;

/// Decides about the entries of one directory by their names.
pub(crate) struct Names<'a> {
    options: &'a ScanOptions,
    dir: &'a OpenDir,
    /// The directory's path, ended by a slash, and behind it the name of an entry.
    /// Empty where no pattern needs paths.
    path: Vec<u8>,
    directory_length: usize,
}

impl<'a> Names<'a> {
    /// `path` is memory that successive directories reuse.
    pub(crate) fn new(options: &'a ScanOptions, dir: &'a OpenDir, mut path: Vec<u8>) -> Names<'a> {
        path.clear();
        if options.exclusions.need_paths() {
            path = dir.place.path();
            if path.last() != Some(&b'/') {
                path.push(b'/');
            }
        }
        Names {
            options,
            dir,
            directory_length: path.len(),
            path,
        }
    }

    /// Whether an entry of this name decides about others: a file by its content, `.git` by
    /// being there. The kernel must read the directory then.
    #[inline]
    pub(crate) fn decide_about_others(&self, name: &[u8]) -> bool {
        let exclusions = &self.options.exclusions;
        (exclusions.reads_gitignore() && matches!(name, b".gitignore" | b".git"))
            || (exclusions.leaves_out_caches() && name == b"CACHEDIR.TAG")
    }

    /// Whether a pattern excludes the entry.
    #[inline]
    pub(crate) fn leave_out(&mut self, name: &[u8], kind: FileType) -> bool {
        self.directory_length > 0 && self.path_is_left_out(name, kind)
    }

    fn path_is_left_out(&mut self, name: &[u8], kind: FileType) -> bool {
        let path = &mut self.path;
        path.truncate(self.directory_length);
        path.extend_from_slice(name);
        let is_directory = kind == FileType::Directory;
        let ignored = self.dir.ignore.as_deref();
        self.options.exclusions.fits(path)
            || ignored.is_some_and(|rules| rules.leave_out(path, is_directory))
    }

    /// Returns the memory for the next directory.
    pub(crate) fn end(self) -> Vec<u8> {
        self.path
    }
}
