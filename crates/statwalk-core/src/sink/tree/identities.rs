// SPDX-License-Identifier: MIT OR Apache-2.0

//! The device and the inode number of each directory of a tree, in ten bytes.

use std::sync::{Arc, Mutex};

use crate::entry::FileId;
use crate::lock::lock;

/// A directory, by the number of its device within the scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    found: Vec<Found>,
}

/// The number of a directory, and its identity.
#[derive(Clone, Copy)]
#[repr(C, packed(2))]
struct Found(u32, DirIdentity);

impl Identities {
    #[inline]
    pub(super) fn push(&mut self, dir: u32, id: FileId) {
        let device = match self.last {
            Some((last, number)) if last == id.dev => number,
            _ => self.number_of_other(id.dev),
        };
        let inode = id.ino;
        self.found.push(Found(dir, DirIdentity { inode, device }));
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

    pub(super) fn into_all(self) -> impl Iterator<Item = (u32, DirIdentity)> {
        (self.found.into_iter()).map(|Found(dir, identity)| (dir, identity))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const _: () = assert!(size_of::<DirIdentity>() == 10);
    const _: () = assert!(size_of::<Found>() == 14);

    #[test]
    fn each_identity_comes_back_until_there_are_too_many_devices() {
        let mut identities = Identities::default();
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
        let found: Vec<_> = identities.into_all().chain(other.into_all()).collect();
        for &(number, identity) in &found[..ids.len()] {
            let known = ids[number as usize];
            let known = (number < u32::from(u16::MAX)).then_some(known);
            assert_eq!(identity.file_id(&devices), known, "{number}");
        }
        assert_eq!(found[ids.len()].1.file_id(&devices), Some(ids[9]));
        assert_eq!(DirIdentity::UNKNOWN.file_id(&devices), None);
    }
}
