// SPDX-License-Identifier: MIT OR Apache-2.0

//! A file that is written whole or not at all.
//!
//! The file has no name until it is on the disk (`O_TMPFILE`, open(2)). So a full disk, a
//! signal or a crash leaves nothing behind. Where the file system has no such files, it has
//! a name of its own until then.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fd::AsRawFd;
use rustix::fs::{Access, AtFlags, CWD, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

/// The treatment of a file that exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Existing {
    /// It stays, and nothing is written.
    Kept,
    /// The new file takes its place, if it is a regular file.
    Replaced,
}

/// A file that is being written.
#[derive(Debug)]
pub(crate) struct WholeFile {
    /// The path that it will have.
    path: PathBuf,
    existing: Existing,
    content: Content,
}

#[derive(Debug)]
enum Content {
    /// A file without a name.
    Nameless(File),
    /// Nothing yet, where the file system has no files without names.
    Nothing,
    /// A file with a name until it is whole.
    Temporary(File, Temporary),
}

/// The name of a file that is not whole. The file goes with this value.
#[derive(Debug)]
struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        // The first error counts. After a rename there is no such file.
        let _ = fs::remove_file(&self.0);
    }
}

impl WholeFile {
    /// Begins a file. Nothing of it can be seen yet.
    ///
    /// # Errors
    ///
    /// Returns an error if the directory takes no file, or if the file exists and stays.
    pub(crate) fn begin(path: &Path, existing: Existing) -> io::Result<WholeFile> {
        let path = match (path.symlink_metadata(), existing) {
            (Err(error), _) if error.kind() == io::ErrorKind::NotFound => path.to_owned(),
            (Err(error), _) => return Err(error),
            (Ok(_), Existing::Kept) => return Err(Errno::EXIST.into()),
            (Ok(_), Existing::Replaced) => {
                // A link stays, and the file behind it is replaced.
                let real = path.canonicalize()?;
                if !real.metadata()?.is_file() {
                    return Err(io::Error::other("not a regular file"));
                }
                real
            }
        };
        let directory = directory_of(&path);
        let flags = OFlags::WRONLY | OFlags::TMPFILE | OFlags::CLOEXEC;
        let content = match rustix::fs::open(directory, flags, Mode::from_raw_mode(0o666)) {
            Ok(file) => Content::Nameless(File::from(file)),
            // EISDIR comes from kernels and file systems that do not know the flag.
            Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOSYS) => {
                rustix::fs::access(directory, Access::WRITE_OK | Access::EXEC_OK)?;
                Content::Nothing
            }
            Err(error) => return Err(error.into()),
        };
        Ok(WholeFile {
            path,
            existing,
            content,
        })
    }

    /// Appends bytes.
    ///
    /// # Errors
    ///
    /// Returns an error if the disk does not take them.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if matches!(self.content, Content::Nothing) {
            let name = temporary_name(&self.path);
            let mut options = OpenOptions::new();
            let file = options
                .write(true)
                .create_new(true)
                .mode(0o666)
                .open(&name)?;
            self.content = Content::Temporary(file, Temporary(name));
        }
        match &mut self.content {
            Content::Nameless(file) | Content::Temporary(file, _) => file.write_all(bytes),
            Content::Nothing => Ok(()),
        }
    }

    /// Gives the file its name, when it is on the disk.
    ///
    /// # Errors
    ///
    /// Returns an error if the disk does not take the rest, or if a file of this name has
    /// come meanwhile and stays. Then there is no new file.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.write(b"")?;
        match &self.content {
            Content::Nameless(file) => {
                file.sync_all()?;
                match self.existing {
                    Existing::Kept => give_name(file, &self.path)?,
                    Existing::Replaced => {
                        let name = temporary_name(&self.path);
                        give_name(file, &name)?;
                        let temporary = Temporary(name);
                        fs::rename(&temporary.0, &self.path)?;
                    }
                }
            }
            Content::Temporary(file, temporary) => {
                file.sync_all()?;
                match self.existing {
                    Existing::Kept => move_beside(&temporary.0, &self.path)?,
                    Existing::Replaced => fs::rename(&temporary.0, &self.path)?,
                }
            }
            Content::Nothing => {}
        }
        // The name, too. A file system that cannot sync a directory has done what it can.
        let _ = File::open(directory_of(&self.path)).and_then(|directory| directory.sync_all());
        Ok(())
    }
}

/// The directory of a file; of a plain name the working directory.
fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// A name in the same directory. Two processes never have the same one.
fn temporary_name(path: &Path) -> PathBuf {
    let name = format!(".statwalk-{}.tmp", std::process::id());
    directory_of(path).join(OsString::from(name))
}

/// Gives a nameless file its name, unless there is a file of this name.
fn give_name(file: &File, path: &Path) -> io::Result<()> {
    // The way of open(2) for a process without CAP_DAC_READ_SEARCH.
    let own = format!("/proc/self/fd/{}", file.as_raw_fd());
    let named = rustix::fs::linkat(CWD, own, CWD, path, AtFlags::SYMLINK_FOLLOW);
    match named {
        // Without /proc.
        Err(Errno::NOENT) => rustix::fs::linkat(file, "", CWD, path, AtFlags::EMPTY_PATH),
        named => named,
    }?;
    Ok(())
}

/// Renames a file, unless there is a file of this name.
fn move_beside(from: &Path, to: &Path) -> io::Result<()> {
    match rustix::fs::renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // The file system cannot refuse by itself, so an empty file takes the name before.
        Err(Errno::INVAL) => {
            OpenOptions::new().write(true).create_new(true).open(to)?;
            let placeholder = Temporary(to.to_owned());
            fs::rename(from, to)?;
            std::mem::forget(placeholder);
            Ok(())
        }
        moved => Ok(moved?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use statwalk_testkit::Scratch;

    fn write(path: &Path, existing: Existing, text: &[u8]) -> io::Result<()> {
        let mut file = WholeFile::begin(path, existing)?;
        file.write(text)?;
        file.finish()
    }

    fn names(directory: &Path) -> Vec<OsString> {
        let entries = fs::read_dir(directory).unwrap();
        entries.map(|entry| entry.unwrap().file_name()).collect()
    }

    #[test]
    fn a_file_appears_whole_and_replaces_only_on_request() {
        let scratch = Scratch::new().unwrap();
        let path = scratch.path().join("report");
        let mut file = WholeFile::begin(&path, Existing::Kept).unwrap();
        file.write(b"one").unwrap();
        assert_eq!(names(scratch.path()).len(), 0);
        file.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one");
        let refused = write(&path, Existing::Kept, b"two").unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
        write(&path, Existing::Replaced, b"three").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"three");
        assert_eq!(names(scratch.path()), ["report"]);
    }

    #[test]
    fn a_file_that_comes_meanwhile_stays() {
        let scratch = Scratch::new().unwrap();
        let path = scratch.path().join("report");
        let mut file = WholeFile::begin(&path, Existing::Kept).unwrap();
        file.write(b"new").unwrap();
        fs::write(&path, "other").unwrap();
        assert_eq!(
            file.finish().unwrap_err().kind(),
            io::ErrorKind::AlreadyExists
        );
        assert_eq!(fs::read(&path).unwrap(), b"other");
        assert_eq!(names(scratch.path()), ["report"]);
    }

    #[test]
    fn a_link_stays_and_what_is_no_file_is_not_replaced() {
        let scratch = Scratch::new().unwrap();
        let (path, link) = (scratch.path().join("report"), scratch.path().join("link"));
        fs::write(&path, "old").unwrap();
        std::os::unix::fs::symlink("report", &link).unwrap();
        write(&link, Existing::Replaced, b"new").unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert!(write(scratch.path(), Existing::Replaced, b"").is_err());
        assert!(write(Path::new("/dev/null"), Existing::Replaced, b"").is_err());
        let lost = scratch.path().join("lost");
        std::os::unix::fs::symlink("nowhere", &lost).unwrap();
        assert!(write(&lost, Existing::Kept, b"").is_err());
        assert!(write(&lost, Existing::Replaced, b"").is_err());
    }

    /// Some file systems have no files without names.
    #[test]
    fn a_temporary_name_does_as_well() {
        let scratch = Scratch::new().unwrap();
        let path = scratch.path().join("report");
        let named = |existing| WholeFile {
            path: path.clone(),
            existing,
            content: Content::Nothing,
        };
        let mut file = named(Existing::Kept);
        file.write(b"one").unwrap();
        assert_eq!(names(scratch.path()).len(), 1);
        file.finish().unwrap();
        let mut file = named(Existing::Kept);
        file.write(b"two").unwrap();
        assert!(file.finish().is_err());
        assert_eq!(fs::read(&path).unwrap(), b"one");
        let mut file = named(Existing::Replaced);
        file.write(b"three").unwrap();
        file.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"three");
        let mut file = named(Existing::Kept);
        file.write(b"never").unwrap();
        drop(file);
        assert_eq!(names(scratch.path()), ["report"]);
    }
}
