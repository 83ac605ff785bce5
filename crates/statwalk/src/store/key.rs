// SPDX-License-Identifier: MIT OR Apache-2.0

//! The key of a stored snapshot: host, file system and root, as folders of the store.
//!
//! A folder's name is reversible, so no file has to say it once more.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A name has at most 255 bytes on most file systems. The rest of a longer one lies in
/// folders below.
const PIECE_BYTES: usize = 200;

/// The last byte of a piece that is not the last one.
const GOES_ON: u8 = b'+';

/// The longest root in the letters of the store. The path of a snapshot stays below PATH_MAX.
const ROOT_BYTES: usize = 3000;

/// The snapshots that can follow each other: of one root, on one file system, by one host.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) host: Vec<u8>,
    /// The identity of the file system that holds the root.
    pub(crate) file_system: Vec<u8>,
    /// The real path.
    pub(crate) root: Vec<u8>,
}

impl Key {
    /// The folder of the key below the store; absent where the root is too long.
    pub(crate) fn folder(&self) -> Option<PathBuf> {
        let root = encoded(&self.root);
        if root.len() > ROOT_BYTES {
            return None;
        }
        let all = [encoded(&self.host), encoded(&self.file_system), root];
        Some(all.iter().flat_map(|level| pieces(level)).collect())
    }
}

/// Bytes in letters, digits, `-`, `_`, `.` and `%XX`. The first letter is no dot, because the
/// store's own files begin with one.
fn encoded(bytes: &[u8]) -> Vec<u8> {
    if bytes.is_empty() {
        return b"%".to_vec();
    }
    let mut text = Vec::new();
    for (place, &byte) in bytes.iter().enumerate() {
        let is_plain = byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        if is_plain || (byte == b'.' && place > 0) {
            text.push(byte);
        } else {
            text.extend_from_slice(format!("%{byte:02X}").as_bytes());
        }
    }
    text
}

/// The bytes that a text stands for; absent where no bytes have it.
fn decoded(text: &[u8]) -> Option<Vec<u8>> {
    if text == b"%" {
        return Some(Vec::new());
    }
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some((&first, behind)) = rest.split_first() {
        if first != b'%' {
            bytes.push(first);
            rest = behind;
            continue;
        }
        let digits = std::str::from_utf8(behind.get(..2)?).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &behind[2..];
    }
    (encoded(&bytes) == text).then_some(bytes)
}

fn pieces(text: &[u8]) -> Vec<PathBuf> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while rest.len() > PIECE_BYTES {
        let mut piece = rest[..PIECE_BYTES].to_vec();
        piece.push(GOES_ON);
        pieces.push(PathBuf::from(OsStr::from_bytes(&piece)));
        rest = &rest[PIECE_BYTES..];
    }
    pieces.push(PathBuf::from(OsStr::from_bytes(rest)));
    pieces
}

/// A level of the store while its folders are read from above.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Level(Vec<u8>);

/// A level with one more folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Read {
    /// It goes on in the folder.
    More(Level),
    /// It ends with the folder, and stands for these bytes.
    Whole(Vec<u8>),
}

impl Level {
    /// Adds the name of a folder; absent where the store has no such folder.
    pub(crate) fn with(&self, folder: &OsStr) -> Option<Read> {
        let name = folder.as_bytes();
        match name.split_last() {
            Some((&GOES_ON, piece)) if piece.len() == PIECE_BYTES => {
                Some(Read::More(Level([&self.0[..], piece].concat())))
            }
            Some(_) if name.len() <= PIECE_BYTES => {
                decoded(&[&self.0[..], name].concat()).map(Read::Whole)
            }
            _ => None,
        }
    }
}

/// The keys whose root is nearest to a path, at it or above.
pub(crate) fn nearest<'a>(keys: impl IntoIterator<Item = &'a Key>, path: &Path) -> Vec<&'a Key> {
    let above = |key: &&Key| path.starts_with(Path::new(OsStr::from_bytes(&key.root)));
    let mut found: Vec<&Key> = keys.into_iter().filter(above).collect();
    let longest = found.iter().map(|key| key.root.len()).max();
    found.retain(|key| Some(key.root.len()) == longest);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(host: &[u8], root: &[u8]) -> Key {
        Key {
            host: host.to_vec(),
            file_system: b"ext4-c0ffee".to_vec(),
            root: root.to_vec(),
        }
    }

    fn read_back(folder: &Path) -> Vec<Vec<u8>> {
        let (mut read, mut level) = (Vec::new(), Level::default());
        for name in folder {
            match level.with(name).unwrap() {
                Read::More(longer) => level = longer,
                Read::Whole(bytes) => {
                    read.push(bytes);
                    level = Level::default();
                }
            }
        }
        read
    }

    #[test]
    fn a_key_is_read_back_from_its_folders() {
        let long = [&b"/"[..], &[b'a'; 1000]].concat();
        let exact = [b'a'; PIECE_BYTES];
        for (host, root) in [
            (&b"box"[..], &b"/"[..]),
            (b"", b"/home/ann"),
            (b"..", b"/.."),
            (b"a/b%+", b"/x+%2F\xff\n "),
            (b"box", &long),
            (b"box", &exact),
        ] {
            let key = key(host, root);
            let folder = key.folder().unwrap();
            assert!(folder.is_relative(), "{folder:?}");
            let names: Vec<_> = folder.iter().collect();
            assert!(names.iter().all(|name| name.len() <= 201), "{folder:?}");
            assert!(names.iter().all(|name| !name.as_bytes().starts_with(b".")));
            let whole = [key.host, key.file_system, key.root];
            assert_eq!(read_back(&folder), whole, "{folder:?}");
        }
        let folder = key(b"box", b"/home").folder().unwrap();
        assert_eq!(folder.to_str(), Some("box/ext4-c0ffee/%2Fhome"));
        assert_eq!(key(b"box", &[b'/'; 1001]).folder(), None);
    }

    #[test]
    fn two_keys_never_share_a_folder() {
        // Each of them has bytes that the letters of another one could mean.
        let roots: [&[u8]; 6] = [b"/a", b"%2Fa", b"/A", b"/a+", b"/a.", b"/.a"];
        let folders: Vec<_> = roots.map(|root| key(b"box", root).folder().unwrap()).into();
        for (place, folder) in folders.iter().enumerate() {
            assert!(!folders[..place].contains(folder), "{folder:?}");
        }
    }

    #[test]
    fn a_foreign_folder_is_no_key() {
        for name in ["lost found", ".lock", "%2f", "%", "a%", "%41", "a+", "+"] {
            let read = Level::default().with(OsStr::new(name));
            let expected = (name == "%").then(|| Read::Whole(Vec::new()));
            assert_eq!(read, expected, "{name}");
        }
    }

    #[test]
    fn the_nearest_root_at_or_above_a_path_counts() {
        let keys = ["/", "/home", "/home/ann", "/home/an"].map(|root| key(b"box", root.as_bytes()));
        let root = |path: &str| {
            let found = nearest(&keys, Path::new(path));
            assert_eq!(found.len(), 1);
            String::from_utf8(found[0].root.clone()).unwrap()
        };
        assert_eq!(root("/home/ann/x"), "/home/ann");
        assert_eq!(root("/home/ann"), "/home/ann");
        assert_eq!(root("/home/anna"), "/home");
        assert_eq!(root("/usr"), "/");
        assert!(nearest(&keys[1..], Path::new("/usr")).is_empty());
        // One root on two file systems: a disk was replaced.
        let mut other = keys[1].clone();
        other.file_system = b"xfs-beef".to_vec();
        let both = [keys[1].clone(), other];
        assert_eq!(nearest(&both, Path::new("/home/ann")).len(), 2);
    }
}
