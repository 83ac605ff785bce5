// SPDX-License-Identifier: MIT OR Apache-2.0

//! Removes trees that `rm -r` and `std::fs::remove_dir_all` do not manage.
//!
//! Nests of 100,000 directories and directories without permissions are
//! removed without recursion, with one descriptor for the directory at hand. It
//! never leaves its first mount: a mount that a test forgot stays.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RawDir, ResolveFlags};
use rustix::io::Errno;

/// Removes a directory with all that it holds.
///
/// Directories are made readable where they are not; that takes their owner or
/// root.
///
/// # Errors
///
/// The first failure; the rest of the tree stays. A mount point in the tree is
/// one (`EXDEV` or `EBUSY`), and nothing in the mounted file system is touched.
pub fn remove_tree(dir: &Path) -> io::Result<()> {
    // One level for each directory between `dir` and the one at hand: its name,
    // and the names of its sub-directories that are still to do.
    let mut levels: Vec<Level> = Vec::new();
    let mut here = enter(CWD, dir, ResolveFlags::empty())?;
    let mut directories = unlink_files(&here)?;
    let mut retries_left = 16;
    loop {
        if let Some(name) = directories.pop() {
            // An empty directory needs no more than this.
            match rustix::fs::unlinkat(&here, name.as_slice(), AtFlags::REMOVEDIR) {
                Ok(()) => continue,
                Err(Errno::NOTEMPTY | Errno::EXIST) => {}
                Err(e) => return Err(e.into()),
            }
            // A mount point answered EBUSY above; one that appears now is not entered either.
            here = enter(&here, name.as_slice(), ResolveFlags::NO_XDEV)?;
            levels.push(Level {
                name,
                siblings: directories,
            });
            directories = unlink_files(&here)?;
        } else if let Some(level) = levels.pop() {
            here = open(&here, "..", ResolveFlags::empty())?;
            directories = level.siblings;
            match rustix::fs::unlinkat(&here, level.name.as_slice(), AtFlags::REMOVEDIR) {
                Ok(()) => {}
                // The listing missed what was there: list it again.
                Err(Errno::NOTEMPTY | Errno::EXIST) if retries_left > 0 => {
                    retries_left -= 1;
                    directories.push(level.name);
                }
                Err(e) => return Err(e.into()),
            }
        } else {
            return std::fs::remove_dir(dir);
        }
    }
}

struct Level {
    name: Vec<u8>,
    siblings: Vec<Vec<u8>>,
}

fn open(
    from: impl AsFd,
    name: impl rustix::path::Arg,
    resolve: ResolveFlags,
) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat2(from, name, flags, Mode::empty(), resolve)
}

/// Opens a directory, and gives its owner all rights to it if need be.
fn enter(
    from: impl AsFd,
    name: impl rustix::path::Arg + Copy,
    resolve: ResolveFlags,
) -> Result<OwnedFd, Errno> {
    let directory = match open(&from, name, resolve) {
        Err(Errno::ACCESS) => {
            rustix::fs::chmodat(&from, name, Mode::RWXU, AtFlags::empty())?;
            open(&from, name, resolve)?
        }
        other => other?,
    };
    let mode = Mode::from_raw_mode(rustix::fs::fstat(&directory)?.st_mode);
    if !mode.contains(Mode::RWXU) {
        rustix::fs::fchmod(&directory, Mode::RWXU)?;
    }
    Ok(directory)
}

/// Unlinks everything that is not a directory; returns the names of the directories.
fn unlink_files(directory: &OwnedFd) -> io::Result<Vec<Vec<u8>>> {
    let mut directories = Vec::new();
    let mut buffer = vec![MaybeUninit::uninit(); 64 * 1024];
    let mut listing = RawDir::new(directory, &mut buffer);
    while let Some(entry) = listing.next() {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name == b"." || name == b".." {
            continue;
        }
        let file_type = match entry.file_type() {
            FileType::Unknown => {
                let stat = rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
                FileType::from_raw_mode(stat.st_mode)
            }
            known => known,
        };
        if file_type == FileType::Directory {
            directories.push(name.to_vec());
        } else {
            rustix::fs::unlinkat(directory, name, AtFlags::empty())?;
        }
    }
    Ok(directories)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;
    use crate::unprivileged::as_ordinary_user;
    use crate::{or_skip, trees};

    #[test]
    fn removes_what_a_tree_can_hold() {
        let scratch = Scratch::new().unwrap();
        for (name, tree) in trees::named() {
            let dir = scratch.path().join(name);
            tree.materialise(&dir).unwrap();
            remove_tree(&dir).unwrap();
            assert!(!dir.exists(), "{name}");
        }
        assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_a_link_points_to_stays() {
        let scratch = Scratch::new().unwrap();
        let kept = scratch.subdirectory("kept").unwrap();
        std::fs::write(kept.join("file"), b"data").unwrap();
        let dir = scratch.subdirectory("dir").unwrap();
        std::os::unix::fs::symlink(&kept, dir.join("link")).unwrap();
        remove_tree(&dir).unwrap();
        assert!(!dir.exists());
        assert!(kept.join("file").exists());
    }

    #[test]
    fn removes_unreadable_directories_of_an_ordinary_user() {
        let scratch = Scratch::new().unwrap();
        let shared = scratch.subdirectory("shared").unwrap();
        rustix::fs::chmod(&shared, Mode::from_raw_mode(0o777)).unwrap();
        let dir = shared.join("tree");
        or_skip!(as_ordinary_user(|| {
            trees::permissions().materialise(&dir).unwrap();
            assert!(
                std::fs::read_dir(dir.join("none")).is_err(),
                "the tree is not what it should be"
            );
            remove_tree(&dir).unwrap();
        }));
        assert!(!dir.exists());
    }

    #[test]
    fn a_directory_that_is_not_there_is_an_error() {
        let scratch = Scratch::new().unwrap();
        let error = remove_tree(&scratch.path().join("nothing")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
