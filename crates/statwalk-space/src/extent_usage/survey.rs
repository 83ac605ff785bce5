// SPDX-License-Identifier: MIT OR Apache-2.0

//! Which files of a scan lie on which file system.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use statwalk_core::{DirState, Error, Op};

use crate::extents::{ExtentReader, Subvolume, open_btrfs};
use crate::inodes::{FileAt, InodeTable};

/// Which files lie where.
pub(super) struct Survey {
    /// Where the names of each inode begin among the files, and at last their end.
    pub(super) starts: Vec<usize>,
    pub(super) volumes: Vec<Volume>,
    pub(super) files_elsewhere: u64,
}

/// A file system.
pub(super) struct Volume {
    pub(super) path: PathBuf,
    pub(super) reader: ExtentReader,
    pub(super) subvolumes: Vec<(Subvolume, Range<usize>)>,
}

impl Volume {
    /// Whether files of the roots lie in a subvolume.
    pub(super) fn holds(&self, tree: u64) -> bool {
        let mut all = self.subvolumes.iter();
        all.any(|(subvolume, inodes)| subvolume.tree == tree && !inodes.is_empty())
    }

    /// The subvolume of an inode that is on it.
    pub(super) fn subvolume_of(&self, inode: usize) -> Subvolume {
        let mut all = self.subvolumes.iter();
        let found = all.find(|(_, inodes)| inodes.contains(&inode));
        found.expect("each inode lies in a subvolume").0
    }
}

impl Survey {
    pub(super) fn of(table: &InodeTable) -> Result<Survey, Error> {
        let files = &table.files;
        let mut starts: Vec<usize> = (0..files.len())
            .filter(|&index| index == 0 || !files[index].is_same_inode(&files[index - 1]))
            .collect();
        starts.push(files.len());
        let mut survey = Survey {
            files_elsewhere: starts.len() as u64 - 1,
            starts,
            volumes: Vec::new(),
        };
        let mut other = None;
        for (dev, dir) in places(table) {
            let inodes = survey.inodes_of(table, dev);
            let path = table.path(dir);
            let as_path = || PathBuf::from(OsStr::from_bytes(&path));
            let failed = |error| Error::io(Op::Open, Some(as_path()), error);
            let Some(fd) = open_btrfs(&path, dev).map_err(failed)? else {
                other = other.or_else(|| Some(as_path()));
                continue;
            };
            let known = survey.volumes.iter().position(|v| v.reader.holds(&fd));
            let index = match known {
                Some(index) => index,
                None => {
                    survey.volumes.push(Volume {
                        path: as_path(),
                        reader: ExtentReader::new(&fd).map_err(failed)?,
                        subvolumes: Vec::new(),
                    });
                    survey.volumes.len() - 1
                }
            };
            let volume = &mut survey.volumes[index];
            let subvolume = volume.reader.subvolume(&fd).map_err(failed)?;
            survey.files_elsewhere -= inodes.len() as u64;
            volume.subvolumes.push((subvolume, inodes));
        }
        if !survey.volumes.is_empty() {
            return Ok(survey);
        }
        let root = || PathBuf::from(OsStr::from_bytes(&table.path(0)));
        let (path, reason) = match other {
            Some(path) => (Some(path), "it lies on no btrfs"),
            // What was not entered, or has no data.
            None => (
                (table.dir_count() > 0).then(root),
                "nothing on a btrfs was found there",
            ),
        };
        let error = io::Error::new(io::ErrorKind::Unsupported, reason);
        Err(Error::io(Op::Open, path, error))
    }

    /// The inodes that have this `st_dev`.
    fn inodes_of(&self, table: &InodeTable, dev: u64) -> Range<usize> {
        let inodes = &self.starts[..self.starts.len() - 1];
        let first_from = |dev| inodes.partition_point(|&at| table.files[at].dev < dev);
        first_from(dev)..dev.checked_add(1).map_or(inodes.len(), first_from)
    }

    /// An inode by its number, among those of a subvolume.
    pub(super) fn inode(
        &self,
        table: &InodeTable,
        within: &Range<usize>,
        number: u64,
    ) -> Option<usize> {
        let inodes = &self.starts[within.clone()];
        let found = inodes.binary_search_by_key(&number, |&at| table.files[at].ino);
        found.ok().map(|index| within.start + index)
    }
}

/// A directory for each `st_dev` that there is, or a root that is a file, which can
/// be opened to know what lies there.
fn places(table: &InodeTable) -> BTreeMap<u64, u32> {
    let mut places = BTreeMap::new();
    for (index, dir) in table.dirs.iter().enumerate() {
        if let (Some(DirState::Listed), Some(dev)) = (dir.state, dir.dev) {
            places.entry(dev).or_insert(index as u32);
        }
    }
    let of_roots = |file: &&FileAt| table.dirs[file.dir as usize].state.is_none();
    for file in table.files.iter().filter(of_roots) {
        places.entry(file.dev).or_insert(file.dir);
    }
    places
}
