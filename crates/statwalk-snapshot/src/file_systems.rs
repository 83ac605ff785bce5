// SPDX-License-Identifier: MIT OR Apache-2.0

//! The file systems of a scan, in the order in which they appear.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use crate::machine::{FileSystem, Machine};

/// The file systems in the order in which they appear.
#[derive(Default)]
pub(crate) struct FileSystems {
    pub(crate) all: Vec<FileSystem>,
    pub(crate) devices: Vec<Vec<u64>>,
    /// The hashes of their identities.
    hashes: Vec<i64>,
    by_dev: HashMap<u64, u32, RandomState>,
}

impl FileSystems {
    /// Gives the file system of a device a number, if it has none.
    pub(crate) fn add(&mut self, dev: u64, machine: &mut dyn Machine) {
        if self.by_dev.contains_key(&dev) {
            return;
        }
        let file_system = machine.file_system(dev);
        let identity = file_system.identity.clone();
        let known = self.all.iter().position(|other| other.identity == identity);
        let fs = known.unwrap_or_else(|| {
            let hash = twox_hash::XxHash64::oneshot(0, identity.as_bytes());
            self.hashes.push(hash as i64);
            self.all.push(file_system);
            self.devices.push(Vec::new());
            self.all.len() - 1
        });
        self.devices[fs].push(dev);
        self.by_dev.insert(dev, fs as u32);
    }

    #[inline]
    pub(crate) fn number(&self, dev: u64) -> Option<i64> {
        self.by_dev.get(&dev).map(|&fs| i64::from(fs))
    }

    /// Stands for the file system of a device in hashes: its number can be another in the next
    /// snapshot.
    #[inline]
    pub(crate) fn identity_hash(&self, dev: u64) -> Option<i64> {
        self.by_dev.get(&dev).map(|&fs| self.hashes[fs as usize])
    }
}
