// SPDX-License-Identifier: MIT OR Apache-2.0

//! Locks that the kernel takes back when a process dies: flock(2).

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;

use crate::system::stdio::INTERRUPTIONS_MAX;

/// A lock, held until the value goes.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

/// The lock of a folder of the user's, in which several processes may make snapshots with
/// other names.
#[derive(Debug)]
pub(crate) struct Neighbours {
    /// Absent where the file system has no locks of folders, as NFS.
    _folder: Option<File>,
}

impl Lock {
    /// Locks a file, and makes it where it is missing. Absent where another process has the lock.
    pub(super) fn of_file(path: &Path) -> io::Result<Option<Lock>> {
        // An NFS locks only what is open for writing (flock(2)).
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags((OFlags::NOFOLLOW | OFlags::CLOEXEC).bits() as i32)
            .open(path)?;
        match taken(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(Lock { _file: file })),
            Err(Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

impl Neighbours {
    /// Joins those that make snapshots in a folder. `alone` runs first where there are no
    /// others, so it may remove leftovers.
    pub(crate) fn join<T>(
        folder: &Path,
        alone: impl FnOnce() -> T,
    ) -> io::Result<(Neighbours, Option<T>)> {
        let file = File::open(folder)?;
        let is_alone = taken(&file, FlockOperation::NonBlockingLockExclusive).is_ok();
        let done = is_alone.then(alone);
        // Another process that removes leftovers needs the folder for a moment only.
        let is_locked = taken(&file, FlockOperation::LockShared).is_ok();
        let _folder = is_locked.then_some(file);
        Ok((Neighbours { _folder }, done))
    }

    /// Whether the next process sees this one.
    #[cfg(test)]
    fn is_locked(&self) -> bool {
        self._folder.is_some()
    }
}

/// Takes a lock. A signal does not end the wait.
fn taken(file: &File, operation: FlockOperation) -> rustix::io::Result<()> {
    let mut interruptions = 0;
    loop {
        match flock(file, operation) {
            Err(Errno::INTR) if interruptions < INTERRUPTIONS_MAX => interruptions += 1,
            taken => return taken,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    use statwalk_testkit::Scratch;

    #[test]
    fn neighbours_remove_nothing_of_each_other() {
        let scratch = Scratch::new().unwrap();
        let (first, done) = Neighbours::join(scratch.path(), || ()).unwrap();
        assert!(first.is_locked() && done.is_some());
        let (second, done) = Neighbours::join(scratch.path(), || ()).unwrap();
        assert!(second.is_locked() && done.is_none());
        drop(first);
        let (_, done) = Neighbours::join(scratch.path(), || ()).unwrap();
        assert!(done.is_none());
        drop(second);
        let (_, done) = Neighbours::join(scratch.path(), || ()).unwrap();
        assert!(done.is_some());
    }

    #[test]
    fn a_link_is_no_lock() {
        let scratch = Scratch::new().unwrap();
        let (target, link) = (scratch.path().join("target"), scratch.path().join("lock"));
        symlink(&target, &link).unwrap();
        assert!(Lock::of_file(&link).is_err());
        assert!(!target.exists());
    }
}
