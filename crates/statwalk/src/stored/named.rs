// SPDX-License-Identifier: MIT OR Apache-2.0

//! Finds the snapshot that a word of the command line names.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;

use jiff::Zoned;
use jiff::tz::TimeZone;
use rustix::fs::{FileType, lstat};
use statwalk_snapshot::MANIFEST_NAME;
use statwalk_view::{DateStyle, counted};

use super::{StoredScan, shown};
use crate::answer::origin::Origin;
use crate::failure::Failure;
use crate::store::disk::Store;
use crate::store::disk::patience::settled;
use crate::store::key::{Key, nearest};
use crate::store::name::{Facts, Meaning, Selector, StoredName, meaning};
use crate::store::stored::{Stored, selected};
use crate::system::file_system_identity::MountedFileSystems;
use crate::system::file_systems::ANSWER_WAIT;
use crate::system::stdio::say;
use crate::system::{open_files, places};

/// Enough for one call, also where the address space is small.
const STACK_BYTES: usize = 64 << 10;

/// How many names an error lists.
const NAMED_MAX: usize = 5;

impl StoredScan {
    /// The stored scan that the paths of a command name; absent where they are paths.
    ///
    /// A folder among several paths is a path, as in `statwalk -s *`.
    pub(crate) fn named(words: &[OsString]) -> Result<Option<StoredScan>, Failure> {
        for word in words {
            let Some(found) = found(word, words.len() == 1)? else {
                continue;
            };
            if words.len() > 1 {
                let word = shown(Path::new(word));
                let why = "a snapshot is read alone, without other paths";
                return Err(Failure::Usage(format!("cannot read {word}: {why}")));
            }
            let (folder, inside) = found;
            return StoredScan::open(word, &folder, inside.as_deref()).map(Some);
        }
        Ok(None)
    }
}

/// The folder of the snapshot that a word names; absent where it is a path.
pub(crate) fn folder_of(word: &OsStr) -> Result<Option<PathBuf>, Failure> {
    Ok(found(word, true)?.map(|(folder, _)| folder))
}

/// The folder of the snapshot that a word names, and the directory in it.
fn found(word: &OsStr, is_alone: bool) -> Result<Option<(PathBuf, Option<PathBuf>)>, Failure> {
    let facts = Facts {
        now: &Zoned::now,
        exists: &|path| lstat(path).is_ok(),
        is_snapshot: &|path| is_alone && is_snapshot(path),
    };
    match meaning(word, &facts) {
        Meaning::Path => Ok(None),
        Meaning::PathInstead => {
            let word = shown(Path::new(word));
            say(&format!(
                "'{word}' is taken as the path of that name, which exists"
            ));
            Ok(None)
        }
        Meaning::Folder { folder, inside } => Ok(Some((folder, inside))),
        Meaning::Stored(name) => {
            let (folder, inside) = in_store(word, &name)?;
            Ok(Some((folder, Some(inside))))
        }
    }
}

/// Whether a folder has a snapshot. Nobody looks for more than the manifest.
///
/// The path may be on a server that is dead, so a thread asks, and stays behind. The scan of a
/// path that gives no answer shows that, and can be stopped.
fn is_snapshot(folder: &Path) -> bool {
    let manifest = folder.join(MANIFEST_NAME);
    let asked = manifest.clone();
    // std asks for statx at its first error by a call with null pointers, which a program that
    // changes calls, as strace does, cannot follow.
    let has = |path: &Path| {
        lstat(path).is_ok_and(|found| FileType::from_raw_mode(found.st_mode).is_file())
    };
    let (sender, answer) = mpsc::channel();
    // Before there are threads.
    open_files::raise_limit();
    let thread = thread::Builder::new().stack_size(STACK_BYTES);
    let asks = thread.spawn(move || {
        let _ = sender.send(has(&asked));
    });
    match asks {
        Ok(_) => answer.recv_timeout(ANSWER_WAIT).unwrap_or(false),
        // Where the system gives no thread, the caller waits.
        Err(_) => has(&manifest),
    }
}

/// The folder of the store that a name means, and the directory in it.
fn in_store(word: &OsStr, name: &StoredName) -> Result<(PathBuf, PathBuf), Failure> {
    let store = places::store().ok_or_else(|| {
        let why = places::no_home();
        Failure::Usage(format!("cannot find the store: {why}"))
    })?;
    let store = Store::at(store);
    let path = real(&name.path)?;
    let host = &Origin::of_this_process().host;
    let mut keys = store.keys()?;
    keys.retain(|key| key.host == *host);
    let mut found = Vec::new();
    for key in nearest(&keys, &path) {
        let all = store.snapshots(key)?;
        if !all.is_empty() {
            found.push((key, all));
        }
    }
    let Some((key, all)) = preferred(found, &path) else {
        return Err(absent(word, &path, &store, &keys)?);
    };
    let Some(stored) = selected(&all, name.selector) else {
        return Err(not_selected(word, key, &all, name.selector));
    };
    let folder = store.folder(key, stored);
    settled(&folder, MANIFEST_NAME).map_err(|error| unreadable(&folder, &error))?;
    Ok((folder, path))
}

/// Of one root on several file systems: the snapshots of the one that is mounted there now, else
/// those with the newest.
fn preferred<'k>(
    mut found: Vec<(&'k Key, Vec<Stored>)>,
    path: &Path,
) -> Option<(&'k Key, Vec<Stored>)> {
    if found.len() > 1 {
        let root = found
            .first()
            .map(|(key, _)| PathBuf::from(OsStr::from_bytes(&key.root)));
        let root = root.unwrap_or_else(|| path.to_owned());
        let now = MountedFileSystems::now().holding(&root);
        let is_now = |key: &Key| {
            now.as_ref()
                .is_some_and(|now| now.identity.as_bytes() == key.file_system)
        };
        found.sort_by_key(|(key, all)| {
            let newest = all.iter().map(|stored| stored.began_s).max();
            (is_now(key), newest)
        });
    }
    found.pop()
}

/// A path without links; one that is gone stays as it is written.
fn real(path: &Path) -> Result<PathBuf, Failure> {
    path.canonicalize()
        .or_else(|_| std::path::absolute(path))
        .map_err(|error| unreadable(path, &error))
}

fn unreadable(path: &Path, error: &io::Error) -> Failure {
    let reason = crate::system::stdio::reason(error);
    Failure::Usage(format!("cannot read {}: {reason}", shown(path)))
}

/// The error for a path at or above which no root is stored. It says what the store has.
fn absent(word: &OsStr, path: &Path, store: &Store, keys: &[Key]) -> Result<Failure, Failure> {
    let mut roots = Vec::new();
    for key in keys {
        let count = store.snapshots(key)?.len() as u64;
        if count > 0 {
            let root = shown(Path::new(OsStr::from_bytes(&key.root)));
            roots.push(format!(
                "{root} ({})",
                counted(count, "snapshot", "snapshots")
            ));
        }
    }
    let has = match roots.is_empty() {
        true => "the store is empty".to_owned(),
        false => format!("the store has {}", some_of(&roots)),
    };
    let (word, path) = (shown(Path::new(word)), shown(path));
    Ok(Failure::Usage(format!(
        "cannot open {word}: no snapshot has {path}; {has}; to store one: statwalk snapshot PATH"
    )))
}

/// The error for a root without such a snapshot.
fn not_selected(word: &OsStr, key: &Key, all: &[Stored], selector: Selector) -> Failure {
    let root = shown(Path::new(OsStr::from_bytes(&key.root)));
    let zone = TimeZone::system();
    let mut newest_first = all.to_vec();
    newest_first.sort_by(|a, b| b.cmp(a));
    let times = newest_first.iter().filter_map(|stored| {
        DateStyle::default().text(stored.began_s.saturating_mul(1_000_000_000), &zone)
    });
    let times: Vec<String> = times.collect();
    let why = match selector {
        Selector::Before(_) => {
            let count = counted(all.len() as u64, "snapshot", "snapshots");
            format!("the store has {count} of {root}")
        }
        Selector::NotAfter(_) => format!("all snapshots of {root} are newer"),
    };
    let word = shown(Path::new(word));
    Failure::Usage(format!("cannot open {word}: {why}: {}", some_of(&times)))
}

/// The first names, and the number of the others.
fn some_of(names: &[String]) -> String {
    let shown = names.iter().take(NAMED_MAX).cloned().collect::<Vec<_>>();
    match names.len() - shown.len() {
        0 => shown.join(", "),
        more => format!("{} … {more} more", shown.join(", ")),
    }
}
