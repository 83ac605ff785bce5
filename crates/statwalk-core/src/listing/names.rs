// SPDX-License-Identifier: MIT OR Apache-2.0

//! What the names of a directory's entries decide, before anything else is
//! known of them.

use super::context::ScanOptions;
use super::open_dir::OpenDir;
use crate::entry::FileType;

/// What the names of a directory's entries decide.
pub(crate) struct Names<'a> {
    options: &'a ScanOptions,
    dir: &'a OpenDir,
    /// The directory's path with its slash, where paths matter; behind it a name.
    path: Vec<u8>,
    directory_length: usize,
}

impl<'a> Names<'a> {
    /// `path` is memory that serves one directory after the other.
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

    /// Whether a file of this name must be read, which the kernel does.
    #[inline]
    pub(crate) fn decide_by_content(&self, name: &[u8]) -> bool {
        let exclusions = &self.options.exclusions;
        (exclusions.reads_gitignore() && name == b".gitignore")
            || (exclusions.leaves_out_caches() && name == b"CACHEDIR.TAG")
    }

    /// Whether an entry is left out.
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

    /// Gives the memory to the next.
    pub(crate) fn end(self) -> Vec<u8> {
        self.path
    }
}
