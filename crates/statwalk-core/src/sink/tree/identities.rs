// SPDX-License-Identifier: MIT OR Apache-2.0

//! The device and the inode number of each directory of a tree, in ten bytes, and of each
//! name of an inode that has several.

use std::sync::{Arc, Mutex};

use super::link_names::LinkName;
use crate::entry::FileId;
use crate::lock::lock;

/// An inode, by the number of its device within the scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(C, packed(2))]
pub(super) struct DirIdentity {
    inode: u64,
    device: u16,
}

impl DirIdentity {
    /// A directory that is not known, or lies on one device too many.
    pub(super) const UNKNOWN: DirIdentity = DirIdentity {
        inode: 0,
        device: u16::MAX,
    };

    /// Absent where there are too many devices.
    pub(super) fn new(inode: u64, device: usize) -> Option<DirIdentity> {
        let device = u16::try_from(device).ok();
        let device = device.filter(|&device| device != DirIdentity::UNKNOWN.device)?;
        Some(DirIdentity { inode, device })
    }

    pub(super) fn file_id(self, devices: &[u64]) -> Option<FileId> {
        let dev = *devices.get(usize::from(self.device))?;
        let ino = self.inode;
        Some(FileId { dev, ino })
    }
}

/// The identities that one worker has met.
#[derive(Clone, Default)]
pub(super) struct Identities {
    /// For all workers.
    devices: Arc<Mutex<Vec<u64>>>,
    /// The device that this worker met last: most neighbours lie on the same.
    last: Option<(u64, u16)>,
    /// Absent where those of directories are not kept.
    found: Option<Vec<Found>>,
    /// Absent where names are not kept.
    names: Option<Vec<LinkName>>,
}

/// The number of a directory, and its identity.
#[derive(Clone, Copy)]
#[repr(C, packed(2))]
struct Found(u32, DirIdentity);

impl Identities {
    pub(super) fn new(directories: bool, names: bool) -> Identities {
        Identities {
            found: directories.then(Vec::new),
            names: names.then(Vec::new),
            ..Identities::default()
        }
    }

    #[inline]
    pub(super) fn push(&mut self, dir: u32, id: FileId) {
        if self.found.is_some() {
            let identity = self.identity(id);
            self.found
                .as_mut()
                .expect("it is there")
                .push(Found(dir, identity));
        }
    }

    pub(super) fn keeps_names(&self) -> bool {
        self.names.is_some()
    }

    /// Keeps a file of a directory as one of so many names of an inode.
    pub(super) fn push_name(&mut self, id: FileId, dir: u32, file: u64, links: u32) {
        let identity = self.identity(id);
        // On one device too many, no two are known to be the same.
        if let Some(names) = self.names.as_mut().filter(|_| identity.device != u16::MAX) {
            names.push(LinkName {
                identity,
                dir,
                file,
                links,
            });
        }
    }

    #[inline]
    fn identity(&mut self, id: FileId) -> DirIdentity {
        let device = match self.last {
            Some((last, number)) if last == id.dev => number,
            _ => self.number_of_other(id.dev),
        };
        let inode = id.ino;
        DirIdentity { inode, device }
    }

    fn number_of_other(&mut self, device: u64) -> u16 {
        let mut devices = lock(&self.devices);
        let known = devices.iter().position(|&known| known == device);
        let index = known.unwrap_or_else(|| {
            if devices.len() < usize::from(u16::MAX) {
                devices.push(device);
            }
            devices.len() - 1
        });
        let number = match devices.get(index) {
            Some(&there) if there == device => index as u16,
            _ => DirIdentity::UNKNOWN.device,
        };
        self.last = Some((device, number));
        number
    }

    /// The devices of all workers in the order of their numbers.
    pub(super) fn into_devices(self) -> Vec<u64> {
        lock(&self.devices).clone()
    }

    /// The directories, and the names of inodes.
    pub(super) fn into_all(self) -> (impl Iterator<Item = (u32, DirIdentity)>, Vec<LinkName>) {
        let found = self.found.unwrap_or_default().into_iter();
        let dirs = found.map(|Found(dir, identity)| (dir, identity));
        (dirs, self.names.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const _: () = assert!(size_of::<DirIdentity>() == 10);
    const _: () = assert!(size_of::<Found>() == 14);

    #[test]
    fn each_identity_comes_back_until_there_are_too_many_devices() {
        let mut identities = Identities::new(true, false);
        let mut other = identities.clone();
        let ids = (0..70_000).map(|number| FileId {
            dev: number * 3,
            ino: u64::MAX - number,
        });
        let ids: Vec<FileId> = ids.collect();
        for (number, &id) in (0..).zip(&ids) {
            identities.push(number, id);
        }
        other.push(70_000, ids[9]);
        let devices = other.clone().into_devices();
        let (found, others) = (identities.into_all().0, other.into_all().0);
        let found: Vec<_> = found.chain(others).collect();
        for &(number, identity) in &found[..ids.len()] {
            let known = ids[number as usize];
            let known = (number < u32::from(u16::MAX)).then_some(known);
            assert_eq!(identity.file_id(&devices), known, "{number}");
        }
        assert_eq!(found[ids.len()].1.file_id(&devices), Some(ids[9]));
        assert_eq!(DirIdentity::UNKNOWN.file_id(&devices), None);
    }
}
