// SPDX-License-Identifier: MIT OR Apache-2.0

//! The folder of a snapshot, which gets its name last.
//!
//! Until all files are on the disk, the folder has a name that no snapshot has. A full disk, a
//! signal or a crash leaves such a folder behind, or a whole snapshot.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use crate::error::{Error, ErrorKind};
use crate::manifest::{MANIFEST_NAME, Manifest};
use crate::schema::TableName;

/// The name of a folder that is no snapshot yet is this, 16 digits, and [`SUFFIX`].
const PREFIX: &str = ".statwalk-snapshot-";

const SUFFIX: &str = ".tmp";

/// A snapshot that has no name yet. When it is dropped, its files are removed.
#[derive(Debug)]
pub struct Folder {
    parent: PathBuf,
    name: OsString,
    path: PathBuf,
    is_named: bool,
}

impl Folder {
    /// Makes a folder below `parent`. Its name has the number, which should be random.
    ///
    /// Other users may not enter it, and the snapshot keeps that mode.
    ///
    /// # Errors
    ///
    /// Returns an error if the system refuses, or if a folder with the number is there.
    pub fn begin(parent: &Path, number: u64) -> Result<Folder, Error> {
        let name = OsString::from(Folder::temporary_name(number));
        let path = parent.join(&name);
        let make = |path: &Path| {
            let made = fs::DirBuilder::new().mode(0o700).create(path);
            made.map_err(|error| Error::io("create", path, error))
        };
        make(&path)?;
        let folder = Folder {
            parent: parent.to_owned(),
            name,
            path,
            is_named: false,
        };
        for table in TableName::ALL {
            make(&folder.path.join(table.name()))?;
        }
        Ok(folder)
    }

    /// The path that it has until [`finish`](Self::finish).
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes a file in it.
    pub(crate) fn create(&self, name: &str) -> Result<File, Error> {
        let path = self.path.join(name);
        let file = File::options()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path);
        file.map_err(|error| Error::io("create", &path, error))
    }

    /// Writes the manifest, brings all to the disk, and gives the folder its name.
    ///
    /// Nothing of that name is replaced, but for an empty folder where the file system cannot
    /// refuse by itself, as NFS.
    ///
    /// # Errors
    ///
    /// Returns an error if the disk does not take the rest, and one of the kind
    /// [`ErrorKind::Exists`] if the name is taken. Then there is no snapshot.
    pub fn finish(mut self, manifest: &Manifest, name: &OsStr) -> Result<PathBuf, Error> {
        self.write_manifest(manifest)?;
        for table in TableName::ALL {
            sync_folder(&self.path.join(table.name()))?;
        }
        sync_folder(&self.path)?;
        let to = self.parent.join(name);
        match move_beside(&self.path, &to) {
            Ok(()) => self.is_named = true,
            Err(Errno::EXIST | Errno::NOTEMPTY | Errno::NOTDIR) => {
                return Err(Error::new(ErrorKind::Exists, "the name is taken").at(&to));
            }
            Err(errno) => return Err(Error::io("rename to", &to, errno)),
        }
        sync_folder(&self.parent)?;
        Ok(to)
    }

    fn write_manifest(&self, manifest: &Manifest) -> Result<(), Error> {
        let path = self.path.join(MANIFEST_NAME);
        let mut file = self.create(MANIFEST_NAME)?;
        io::Write::write_all(&mut file, &manifest.to_json())
            .and_then(|()| file.sync_all())
            .map_err(|error| Error::io("write", &path, error))
    }

    /// The name that a folder with this number has until [`finish`](Self::finish).
    #[must_use]
    pub fn temporary_name(number: u64) -> String {
        format!("{PREFIX}{number:016x}{SUFFIX}")
    }

    /// Whether a name is that of a folder which a writer could leave behind.
    ///
    /// ```
    /// use std::ffi::OsStr;
    /// use statwalk_snapshot::Folder;
    /// let name = OsStr::new(".statwalk-snapshot-00000000000000a7.tmp");
    /// assert!(Folder::is_leftover(name) && !Folder::is_leftover(OsStr::new("2026-11-29")));
    /// ```
    #[must_use]
    pub fn is_leftover(name: &OsStr) -> bool {
        let digits = name.to_str().and_then(|name| {
            let rest = name.strip_prefix(PREFIX)?;
            rest.strip_suffix(SUFFIX)
        });
        digits.is_some_and(|digits| {
            digits.len() == 16 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
        })
    }

    /// Removes a folder that a writer left behind. The caller knows that the writer is gone.
    /// One of another user stays.
    ///
    /// # Errors
    ///
    /// Returns an error if the name is not that of such a folder, if it belongs to another user,
    /// or if the system refuses.
    pub fn remove_leftover(parent: &Path, name: &OsStr) -> Result<(), Error> {
        let path = parent.join(name);
        if !Folder::is_leftover(name) {
            return Err(Error::unfit("not a folder that a writer left behind").at(&path));
        }
        remove_own(&path).map_err(|error| Error::io("remove", &path, error))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !self.is_named && Folder::is_leftover(&self.name) {
            // The error that led here counts.
            let _ = remove_own(&self.path);
        }
    }
}

/// Removes a folder that is no snapshot yet: the files that a writer makes, and the folders when
/// they are empty. Anything else stays, and the folder with it.
///
/// Another user can make a folder of such a name in `/tmp`, with a link in it that leads
/// elsewhere. So it removes by descriptors of real folders, and only in one of the caller.
fn remove_own(path: &Path) -> io::Result<()> {
    let own = folder_in(CWD, path.as_os_str())?;
    if rustix::fs::fstat(&own)?.st_uid != rustix::process::geteuid().as_raw() {
        let why = "it belongs to another user";
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    }
    for table in TableName::ALL {
        let folder = match folder_in(own.as_fd(), OsStr::new(table.name())) {
            Err(Errno::NOENT) => continue,
            folder => folder?,
        };
        for entry in rustix::fs::Dir::read_from(&folder)? {
            let name = entry?.file_name().to_owned();
            if name.to_bytes().starts_with(b"part-") {
                rustix::fs::unlinkat(&folder, name, AtFlags::empty())?;
            }
        }
        rustix::fs::unlinkat(&own, table.name(), AtFlags::REMOVEDIR)?;
    }
    match rustix::fs::unlinkat(&own, MANIFEST_NAME, AtFlags::empty()) {
        Err(errno) if errno != Errno::NOENT => return Err(errno.into()),
        _ => {}
    }
    Ok(rustix::fs::rmdir(path)?)
}

/// Opens a folder, and no link to one.
fn folder_in(at: BorrowedFd<'_>, name: &OsStr) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(at, name, flags, Mode::empty())
}

/// Brings the names in a folder to the disk, as far as the file system can.
fn sync_folder(path: &Path) -> Result<(), Error> {
    let folder = File::open(path).map_err(|error| Error::io("open", path, error))?;
    match folder.sync_all() {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        Err(error) => Err(Error::io("sync", path, error)),
    }
}

/// Renames a folder, unless the name is taken.
fn move_beside(from: &Path, to: &Path) -> rustix::io::Result<()> {
    match rustix::fs::renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // The file system, or the kernel, cannot refuse by itself. The call replaces no folder
        // but an empty one (rename(2)).
        Err(Errno::INVAL | Errno::NOSYS) => rustix::fs::rename(from, to),
        moved => moved,
    }
}
