// SPDX-License-Identifier: MIT OR Apache-2.0

//! The changes in a tree since an earlier generation of its file system.
//!
//! Only btrfs can tell: every part of its trees has the number of the transaction
//! that wrote it last.

mod search;

use std::ffi::CString;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use statwalk_core::{Attributes, Error, Generation, Op, path_order};

use self::search::find;

/// The changes below a directory of a btrfs.
#[derive(Clone)]
#[non_exhaustive]
pub struct Changes {
    /// Later changes are not in here: ask from this generation the next time.
    pub generation: Generation,
    /// Each path once, sorted as [`path_order`] has it.
    pub changes: Vec<Change>,
}

/// With the number of the changes, of which there can be very many.
impl fmt::Debug for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Changes")
            .field("generation", &self.generation)
            .field("change_count", &self.changes.len())
            .finish_non_exhaustive()
    }
}

/// One path that changed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Change {
    /// The path, beginning with the root as the caller gave it.
    pub path: Vec<u8>,
    /// The kind of change.
    pub kind: ChangeKind,
    /// The attributes that stat shows; for a subvolume that begins there, its type
    /// alone.
    pub attributes: Attributes,
    /// The names that the directory has now, where it changed: what an earlier scan
    /// found there and is not among them is gone. Absent for what is no directory,
    /// and where nothing about the directory changed but its name.
    pub names: Option<Vec<Vec<u8>>>,
}

/// The kind of change of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ChangeKind {
    /// The name: it was made, moved here, or linked. The entries below a directory that
    /// was moved did not change with it.
    Name,
    /// Content or attributes; for a directory also which names it has.
    Inode,
}

impl ChangeKind {
    /// Its name, as on the command line and in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            ChangeKind::Name => "name",
            ChangeKind::Inode => "inode",
        }
    }
}

/// Finds what changed below a directory since an earlier scan.
///
/// `generation` comes from the plan of that scan, or from the last [`Changes`]. Changes
/// during that scan are part of the answer again. The file system is synced first.
/// Subvolumes below the directory are part of the answer, other mounts are not. Of a
/// subvolume or snapshot that is new the answer has the place, and not the contents.
///
/// Cost is that of what was written since, not of the tree: a search leaves out
/// whole branches that are older.
///
/// # Errors
///
/// Returns an error if the path is no directory of a btrfs, or its trees cannot be
/// searched, which needs `CAP_SYS_ADMIN`. So it does if the file system has another
/// UUID, or has never had that generation: then it was made anew.
///
/// # Platform behavior
///
/// Linux, `BTRFS_IOC_TREE_SEARCH_V2` with `min_transid`: btrfs-ioctl(2),
/// fs/btrfs/ioctl.c.
///
/// # Examples
///
/// ```no_run
/// let found = statwalk_space::btrfs::changes_since("/data".as_ref(), 4711_u64)?;
/// for change in &found.changes {
///     println!("{}", String::from_utf8_lossy(&change.path));
/// }
/// println!("next time from {}", found.generation);
/// # Ok::<(), statwalk_core::Error>(())
/// ```
pub fn changes_since(root: &Path, generation: impl Into<Generation>) -> Result<Changes, Error> {
    let failed = |error| Error::io(Op::Open, Some(root.to_owned()), error);
    let path = CString::new(root.as_os_str().as_bytes()).map_err(|error| failed(error.into()))?;
    let mut found = find(&path, generation.into()).map_err(failed)?;
    found.changes.sort_by(|a, b| path_order(&a.path, &b.path));
    Ok(found)
}
