// SPDX-License-Identifier: MIT OR Apache-2.0

//! A way to an item, as a scan knows it.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use statwalk_remove::{EntryType, Known, Lookout, Refusal, Root, Sighting, Step};

use crate::harness::bytes;

/// The facts of a scan of this moment.
pub(crate) fn known(path: &Path) -> Known {
    let metadata = fs::symlink_metadata(path).unwrap();
    let kind = metadata.file_type();
    let is_dir = kind.is_dir();
    Known {
        device_and_inode: is_dir.then_some((metadata.dev(), metadata.ino())),
        entry_type: Some(match is_dir {
            true => EntryType::Directory,
            false if kind.is_symlink() => EntryType::Link,
            false => EntryType::File,
        }),
    }
}

/// A root and the way to an item below it, as a scan of this moment knows them.
pub(crate) struct Scanned {
    pub(crate) root: Root,
    pub(crate) known: Known,
    pub(crate) steps: Vec<Step>,
}

impl Scanned {
    pub(crate) fn new(root: &Path, below: &Path) -> Scanned {
        let mut path = root.to_owned();
        let steps = below.iter().map(|name| {
            path.push(name);
            Step {
                name: name.as_bytes().to_vec(),
                known: known(&path),
            }
        });
        Scanned {
            steps: steps.collect(),
            root: Root::find(bytes(root), false).unwrap(),
            known: known(root),
        }
    }

    pub(crate) fn look(&self) -> Result<Sighting, Refusal> {
        Lookout::default().look(&self.root, self.known, &self.steps)
    }
}
