// SPDX-License-Identifier: MIT OR Apache-2.0

//! A directory that is there for one test, whatever the test puts into it.
//!
//! `tempfile::TempDir` removes recursively, fails on very deep or unreadable
//! trees, and nobody but its owner may enter it.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::remove_tree::remove_tree;

/// A new empty directory, readable by everybody, removed when this goes out of scope.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
}

impl Scratch {
    /// Makes a directory below `TMPDIR` or `/tmp`.
    ///
    /// # Errors
    ///
    /// The directory cannot be made.
    pub fn new() -> io::Result<Scratch> {
        Scratch::within(&std::env::temp_dir())
    }

    /// Makes a directory in `parent`, for instance on a file system that a test mounted.
    ///
    /// # Errors
    ///
    /// The directory cannot be made.
    pub fn within(parent: &Path) -> io::Result<Scratch> {
        let directory = tempfile::Builder::new()
            .prefix("statwalk-")
            .tempdir_in(parent)?;
        std::fs::set_permissions(directory.path(), PermissionsExt::from_mode(0o755))?;
        Ok(Scratch {
            path: directory.keep(),
        })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes a directory in it.
    ///
    /// # Errors
    ///
    /// The directory cannot be made.
    pub fn subdirectory(&self, name: &str) -> io::Result<PathBuf> {
        let path = self.path.join(name);
        std::fs::create_dir(&path)?;
        Ok(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Err(e) = remove_tree(&self.path) {
            crate::skipped::note(&format!("left behind: {}: {e}", self.path.display()));
        }
    }
}

/// Waits until the file system has written its data, so that `st_blocks` no longer changes.
///
/// btrfs and XFS allocate when they write, and may then use another number of
/// blocks than they promised. This is `sync -f`, not `sync`.
///
/// # Errors
///
/// The path cannot be opened or its file system not be written.
pub fn settle(path: &Path) -> io::Result<()> {
    Ok(rustix::fs::syncfs(std::fs::File::open(path)?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goes_away_with_its_content_also_when_a_test_fails() {
        let mut path = PathBuf::new();
        let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let scratch = Scratch::new().unwrap();
            path = scratch.subdirectory("inner").unwrap();
            std::fs::write(path.join("file"), b"data").unwrap();
            assert!(path.join("file").exists());
            std::panic::resume_unwind(Box::new(()));
        }));
        assert!(failed.is_err());
        assert!(!path.parent().unwrap().exists());
    }
}
