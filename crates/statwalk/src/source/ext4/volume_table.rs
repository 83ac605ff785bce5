// SPDX-License-Identifier: MIT OR Apache-2.0

//! The volumes of one scan: which mounts are read from their device, and why
//! others are not.

use std::ffi::CStr;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::fs::{CWD, StatxFlags};

use super::mounted::{Mounted, NoImage, look_up};
use crate::entry::FileType;
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
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// What is known of each mount that was asked for.
    mounts: Vec<(u64, Option<Arc<Mounted>>)>,
    reasons: Vec<String>,
}

impl VolumeTable {
    /// `objection` is what speaks against reading any device in this scan.
    pub(crate) fn new(choice: Source, objection: Option<String>, now_ns: i64) -> VolumeTable {
        VolumeTable {
            choice,
            objection,
            now_ns,
            state: Mutex::default(),
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
        let mut state = self.lock();
        if let Some((_, known)) = state.mounts.iter().find(|(known, _)| *known == id) {
            return known.clone();
        }
        let opened = self.open(id);
        let found = match opened {
            Ok(mounted) => Some(Arc::new(mounted)),
            Err(reason) => {
                state.reasons.push(reason);
                None
            }
        };
        state.mounts.push((id, found.clone()));
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
    pub(crate) fn require(&self, root: u32, path: &CStr, follows: bool) -> io::Result<()> {
        let found = match follows {
            true => stat::through_links(CWD, path, StatxFlags::TYPE | StatxFlags::MNT_ID),
            false => stat::by_name(CWD, path, StatxFlags::TYPE | StatxFlags::MNT_ID),
        };
        // A root that is not there is part of the answer.
        let Ok(found) = found else {
            return Ok(());
        };
        if FileType::of_mode(found.stx_mode) == FileType::Directory {
            let is_there = self.of_mount(stat::mount_id(&found)).is_some();
            let state = self.lock();
            return match state.reasons.last() {
                Some(reason) if !is_there => Err(refusal(reason)),
                _ => Ok(()),
            };
        }
        if let Some(objection) = privilege::objection_to_images() {
            return Err(refusal(objection));
        }
        let id = IMAGE | u64::from(root);
        let mounted = Mounted::of_image(path, id).map_err(|reason| match reason {
            NoImage::Unopened(error) => error,
            NoImage::Refused(sentence) => refusal(&sentence),
        })?;
        self.lock().mounts.push((id, Some(Arc::new(mounted))));
        Ok(())
    }

    /// The image that a root is, and its number.
    pub(crate) fn image(&self, root: u32) -> Option<(u64, Arc<Mounted>)> {
        if self.choice != Source::Ext4 {
            return None;
        }
        let id = IMAGE | u64::from(root);
        let state = self.lock();
        let (_, known) = state.mounts.iter().find(|(known, _)| *known == id)?;
        Some((id, Arc::clone(known.as_ref()?)))
    }

    /// The name of the source that read most, and what is to be said about it.
    pub(crate) fn told(&self) -> (&'static str, Vec<String>) {
        let state = self.lock();
        let used: Vec<_> = state
            .mounts
            .iter()
            .filter_map(|(_, known)| known.as_ref())
            .collect();
        let source = if used.is_empty() {
            Source::Posix
        } else {
            Source::Ext4
        };
        let mut why: Vec<String> = used.iter().flat_map(|mounted| mounted.told()).collect();
        why.extend(
            state
                .reasons
                .iter()
                .map(|reason| format!("not read from the device: {reason}")),
        );
        (source.name(), why)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing panics between two steps that belong together.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn refusal(sentence: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, sentence.to_owned())
}
