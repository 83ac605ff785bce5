// SPDX-License-Identifier: MIT OR Apache-2.0

//! The space of a mounted ext4 that no name leads to, by its device: files that were
//! deleted while in use, and files of the file system itself.

use std::os::fd::BorrowedFd;

use statwalk_ext4::{Inode, Volume};

use super::device::Device;
use super::mounted::{open_volume, unreadable};
use crate::reason::NotInPlace;
use crate::source::privilege;

/// The number of reads after which a list that goes on changing is given up.
const READS_MAX: u32 = 16;

/// An inode in use without a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unlinked {
    pub(crate) inode: u64,
    pub(crate) allocated_bytes: u64,
}

impl Unlinked {
    fn of(inode: &Inode) -> Unlinked {
        Unlinked {
            inode: inode.number().into(),
            allocated_bytes: inode.allocated_bytes(),
        }
    }
}

/// The space that no name leads to.
#[derive(Debug)]
pub(crate) struct Nameless {
    /// Absent where the file system has no such list.
    pub(crate) unlinked: Option<Vec<Unlinked>>,
    /// The blocks of files of the file system itself that statfs counts as used.
    pub(crate) metadata_bytes: u64,
}

/// Reads it from the device. The parameters are those of [`open_volume`].
///
/// # Errors
///
/// The device cannot be read, or the list changed during each read.
pub(crate) fn nameless(
    number: &str,
    top: BorrowedFd<'_>,
    point: &str,
) -> Result<Nameless, NotInPlace> {
    if let Some(objection) = privilege::objection(false) {
        return Err(objection);
    }
    let (volume, name) = open_volume(number, top, point)?;
    let wrong = |fault: String| unreadable(format!("{name}: {fault}"));
    let hidden = volume.hidden_files();
    let hidden = hidden.map_err(|damage| wrong(damage.to_string()))?;
    let metadata_bytes = hidden.iter().map(Inode::allocated_bytes);
    // Damaged inodes can claim anything.
    let metadata_bytes = metadata_bytes.fold(0, u64::saturating_add);
    if !volume.lists_unlinked_inodes() {
        return Ok(Nameless {
            unlinked: None,
            metadata_bytes,
        });
    }
    let mut before = read(&volume);
    for _ in 1..READS_MAX {
        let now = read(&volume);
        if let (Ok(before), Ok(now)) = (before, &now)
            && before == *now
        {
            return Ok(Nameless {
                unlinked: Some(before),
                metadata_bytes,
            });
        }
        before = now;
    }
    Err(wrong(match before {
        Ok(_) => "the list of deleted files goes on changing".to_owned(),
        Err(damage) => damage,
    }))
}

fn read(volume: &Volume<Device>) -> Result<Vec<Unlinked>, String> {
    let inodes = volume.unlinked_inodes();
    let inodes = inodes.map_err(|damage| damage.to_string())?;
    Ok(inodes.iter().map(Unlinked::of).collect())
}
