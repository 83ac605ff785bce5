// SPDX-License-Identifier: MIT OR Apache-2.0

//! The store on the disk: its folders, and the one writer that a root has at a time.
//!
//! Everything below the store has mode 0700, whatever the store itself has: the snapshots of
//! root name the files of all users. The store can be a link, to a larger disk for example.
//! The folders below it are real, and belong to the user.

mod lock;
pub(crate) mod patience;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::fs::{self, DirBuilder};
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use statwalk_snapshot::Folder;
use statwalk_sys::user;
use statwalk_view::{Charset, escape};

use self::lock::Lock;
use crate::failure::Failure;
use crate::store::key::{Key, Level, Read};
use crate::store::stored::Stored;
use crate::system::stdio::reason;

pub(crate) use self::lock::Neighbours;

/// The bits of others in a mode.
const OF_OTHERS: u32 = 0o077;

/// The folder that has a folder for each host.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    path: PathBuf,
}

/// The folder of a key, in which this process alone writes.
#[derive(Debug)]
pub(crate) struct Shelf {
    /// Without links: one that is changed meanwhile leads nowhere else.
    path: PathBuf,
    /// Held until the value goes.
    _lock: Lock,
}

impl Store {
    pub(crate) fn at(path: PathBuf) -> Store {
        Store { path }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The keys that have a folder, in their order. Without a store there is none.
    pub(crate) fn keys(&self) -> Result<Vec<Key>, Failure> {
        let mut keys = Vec::new();
        for (host, folder) in levels(&self.path)? {
            for (file_system, folder) in levels(&folder)? {
                for (root, _) in levels(&folder)? {
                    keys.push(Key {
                        host: host.clone(),
                        file_system: file_system.clone(),
                        root,
                    });
                }
            }
        }
        keys.sort();
        Ok(keys)
    }

    /// The snapshots of a key, oldest first.
    pub(crate) fn snapshots(&self, key: &Key) -> Result<Vec<Stored>, Failure> {
        match self.folder_of(key) {
            Ok(folder) => snapshots_in(&folder),
            Err(_) => Ok(Vec::new()),
        }
    }

    /// The folder of a snapshot.
    pub(crate) fn folder(&self, key: &Key, stored: Stored) -> PathBuf {
        let below = key.folder().unwrap_or_default();
        self.path.join(below).join(stored.folder())
    }

    fn folder_of(&self, key: &Key) -> Result<PathBuf, Failure> {
        let below = key.folder().ok_or_else(|| {
            let root = shown(&key.root);
            let why = "the path is too long for the store; try -o DIR";
            Failure::Usage(format!("cannot store {root}: {why}"))
        })?;
        Ok(self.path.join(below))
    }

    /// Opens the folder of a key for the one writer that it has at a time, and makes it where it
    /// is missing.
    pub(crate) fn open(&self, key: &Key) -> Result<Shelf, Failure> {
        let folder = self.folder_of(key)?;
        make_store(&self.path).map_err(|error| cannot("make the store", &self.path, &error))?;
        let below = folder.strip_prefix(&self.path).unwrap_or(&folder);
        let mut path = match self.path.canonicalize() {
            Ok(path) => path,
            Err(error) => return Err(cannot("open the store", &self.path, &error)),
        };
        for name in below {
            path.push(name);
            make_private(&path).map_err(|error| cannot("make", &path, &error))?;
        }
        let lock = Lock::of_file(&path.join(".lock"));
        match lock {
            Ok(Some(lock)) => Ok(Shelf { path, _lock: lock }),
            Ok(None) => {
                let root = shown(&key.root);
                let why = "another statwalk does it now; try again when it is done";
                Err(Failure::Usage(format!("cannot store {root}: {why}")))
            }
            Err(error) => Err(cannot("lock", &path, &error)),
        }
    }
}

impl Shelf {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The name for a snapshot whose scan began at a time.
    pub(crate) fn next(&self, began_ns: i64) -> Result<Stored, Failure> {
        Ok(Stored::next(&snapshots_in(&self.path)?, began_ns))
    }

    pub(crate) fn snapshots(&self) -> Result<Vec<Stored>, Failure> {
        snapshots_in(&self.path)
    }

    /// Removes the leftovers of runs that were killed. Answers with their names.
    pub(crate) fn clear(&self) -> Result<Vec<OsString>, Failure> {
        clear(&self.path)
    }

    /// Removes a snapshot. A kill meanwhile leaves it whole, or a leftover.
    pub(crate) fn remove(&self, stored: Stored, token: u64) -> Result<(), Failure> {
        let snapshot = self.path.join(stored.folder());
        let leftover = self.path.join(Folder::temporary_name(token));
        let renamed = fs::rename(&snapshot, &leftover);
        renamed.map_err(|error| cannot("remove", &snapshot, &error))?;
        remove_leftover(&leftover)
    }
}

/// Removes leftovers from a folder, of which no other process makes snapshots now.
pub(crate) fn clear(folder: &Path) -> Result<Vec<OsString>, Failure> {
    let mut names = names_in(folder)?;
    names.retain(|name| Folder::is_leftover(name));
    for name in &names {
        remove_leftover(&folder.join(name))?;
    }
    Ok(names)
}

/// Removes a folder whose name says that it is no snapshot. It follows no link.
fn remove_leftover(leftover: &Path) -> Result<(), Failure> {
    fs::remove_dir_all(leftover).map_err(|error| cannot("remove", leftover, &error))
}

fn shown(path: &[u8]) -> String {
    escape(path, Charset::Unicode).into_owned()
}

fn cannot(verb: &str, path: &Path, error: &io::Error) -> Failure {
    let path = shown(path.as_os_str().as_bytes());
    Failure::Usage(format!("cannot {verb} {path}: {}", reason(error)))
}

/// Makes the store with the folders above it. One that is there stays as it is: the user may
/// have made it for others to enter, and nothing lies in it but folders that are private.
fn make_store(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => {
            let own = user::effective()?;
            if ![own, 0].contains(&found.uid()) {
                return Err(io::Error::other("the link belongs to another user"));
            }
            // A link without a target has no folder to make: where would it be?
            fs::metadata(path).map(drop)
        }
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let mut builder = DirBuilder::new();
            builder.recursive(true).mode(0o700).create(path)
        }
        Err(error) => Err(error),
    }
}

/// Makes a folder that only its owner enters, or sees that there is such a one.
fn make_private(path: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        made => return made,
    }
    let found = fs::symlink_metadata(path)?;
    if !found.is_dir() {
        return Err(io::Error::other("it is no folder"));
    }
    if found.uid() != user::effective()? {
        return Err(io::Error::other("it belongs to another user"));
    }
    match found.mode() & OF_OTHERS {
        0 => Ok(()),
        _ => fs::set_permissions(path, fs::Permissions::from_mode(0o700)),
    }
}

/// The names in a folder; none where it is missing.
fn names_in(folder: &Path) -> Result<Vec<OsString>, Failure> {
    let names = || -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(folder)? {
            names.push(entry?.file_name());
        }
        names.sort();
        Ok(names)
    };
    match names() {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        names => names.map_err(|error| cannot("list", folder, &error)),
    }
}

fn snapshots_in(folder: &Path) -> Result<Vec<Stored>, Failure> {
    let names = names_in(folder)?;
    let mut found: Vec<Stored> = names
        .iter()
        .filter_map(|name| Stored::parse(name))
        .collect();
    found.sort();
    Ok(found)
}

/// The values of one level, each with its folder. Long ones lie several folders below.
fn levels(folder: &Path) -> Result<Vec<(Vec<u8>, PathBuf)>, Failure> {
    let mut found = Vec::new();
    let mut open = vec![(Level::default(), folder.to_owned())];
    while let Some((level, folder)) = open.pop() {
        for name in names_in(&folder)? {
            let path = folder.join(&name);
            if !fs::symlink_metadata(&path).is_ok_and(|found| found.is_dir()) {
                continue;
            }
            match level.with(&name) {
                Some(Read::More(level)) => open.push((level, path)),
                Some(Read::Whole(value)) => found.push((value, path)),
                None => {}
            }
        }
    }
    Ok(found)
}
