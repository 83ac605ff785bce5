// SPDX-License-Identifier: MIT OR Apache-2.0

//! The volumes of one scan: which mounts are read from their device, and why
//! others are not.

use std::ffi::CStr;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::fs::{CWD, StatxFlags};

use super::mounted::{Mounted, NoImage, look_up};
use crate::entry::FileType;
use crate::exclusion::Exclusions;
use crate::source::choice::Source;
use crate::source::posix::stat;
use crate::source::privilege;

/// After how many directories a worker looks whether the device can be read:
/// to find out costs as much as reading some fifty.
const DIRS_BEFORE: u32 = 64;

/// Numbers of this bit are no mount's and no device's: they are images'.
const IMAGE: u64 = 1 << 63;

/// The volumes of one scan.
pub(crate) struct VolumeTable {
    choice: Source,
    /// Why none is opened, whatever the mount.
    objection: Option<String>,
    now_ns: i64,
    known: Mutex<Known>,
}

/// What is known of each mount that was asked for: its volume, or why it is
/// left to the kernel.
type Known = Vec<(u64, Result<Arc<Mounted>, String>)>;

impl VolumeTable {
    /// `objection` is what speaks against reading any device in this scan.
    pub(crate) fn new(choice: Source, objection: Option<String>, now_ns: i64) -> VolumeTable {
        VolumeTable {
            choice,
            objection,
            now_ns,
            known: Mutex::default(),
        }
    }

    /// Whether it is time to look for a device, after so many directories.
    pub(super) fn is_worth_it(&self, dirs: u32) -> bool {
        match self.choice {
            Source::Posix => false,
            Source::Ext4 => true,
            Source::Auto => dirs >= DIRS_BEFORE,
        }
    }

    /// The volume of a mount, opened when it is asked for the first time.
    pub(super) fn of_mount(&self, id: u64) -> Option<Arc<Mounted>> {
        self.look_at(id).ok()
    }

    fn look_at(&self, id: u64) -> Result<Arc<Mounted>, String> {
        let mut known = self.lock();
        if let Some((_, found)) = known.iter().find(|(mount, _)| *mount == id) {
            return found.clone();
        }
        let found = self.open(id).map(Arc::new);
        known.push((id, found.clone()));
        found
    }

    fn open(&self, id: u64) -> Result<Mounted, String> {
        if let Some(objection) = &self.objection {
            return Err(objection.clone());
        }
        let Some((index, table)) = look_up(id) else {
            return Err("the mount table does not have this mount".to_owned());
        };
        let mount = &table[index];
        if let Some(objection) = privilege::objection(self.choice == Source::Ext4) {
            return Err(objection.to_owned());
        }
        Mounted::of_mount(mount, &table, self.now_ns)
    }

    /// Sees to it that a root can be read as was asked: opens the image that it
    /// is, or the device that it lies on.
    ///
    /// # Errors
    ///
    /// A sentence, or the kernel's answer.
    pub(crate) fn require(
        &self,
        root: u32,
        path: &CStr,
        follows: bool,
        exclusions: &Exclusions,
    ) -> io::Result<()> {
        let found = match follows {
            true => stat::through_links(CWD, path, StatxFlags::TYPE | StatxFlags::MNT_ID),
            false => stat::by_name(CWD, path, StatxFlags::TYPE | StatxFlags::MNT_ID),
        };
        // A root that is not there is part of the answer.
        let Ok(found) = found else {
            return Ok(());
        };
        if FileType::of_mode(found.stx_mode) == FileType::Directory {
            let looked = self.look_at(stat::mount_id(&found));
            return looked.map(drop).map_err(|reason| refusal(&reason));
        }
        if let Some(objection) = privilege::objection_to_images() {
            return Err(refusal(objection));
        }
        // Only directories and inodes of an image are read.
        if follows {
            return Err(refusal("links in an image cannot be followed"));
        }
        if exclusions.read_files() {
            return Err(refusal(
                "files in an image cannot be read, .gitignore and CACHEDIR.TAG neither",
            ));
        }
        let id = IMAGE | u64::from(root);
        let mounted = Mounted::of_image(path, id).map_err(|reason| match reason {
            NoImage::Unopened(error) => error,
            NoImage::Refused(sentence) => refusal(&sentence),
        })?;
        self.lock().push((id, Ok(Arc::new(mounted))));
        Ok(())
    }

    /// The image that a root is, and its number.
    pub(crate) fn image(&self, root: u32) -> Option<(u64, Arc<Mounted>)> {
        if self.choice != Source::Ext4 {
            return None;
        }
        let id = IMAGE | u64::from(root);
        let known = self.lock();
        let (_, found) = known.iter().find(|(mount, _)| *mount == id)?;
        Some((id, Arc::clone(found.as_ref().ok()?)))
    }

    /// The name of the source, `posix` where no device was read, and what is to
    /// be said about it.
    pub(crate) fn told(&self) -> (&'static str, Vec<String>) {
        let mut source = Source::Posix;
        let mut why = Vec::new();
        for (_, found) in self.lock().iter() {
            match found {
                Ok(mounted) => {
                    source = Source::Ext4;
                    why.extend(mounted.told());
                }
                Err(reason) => why.push(format!("not read from the device: {reason}")),
            }
        }
        (source.name(), why)
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        // Nothing panics between two steps that belong together.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn refusal(sentence: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, sentence.to_owned())
}
