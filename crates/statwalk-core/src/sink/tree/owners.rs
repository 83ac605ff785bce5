// SPDX-License-Identifier: MIT OR Apache-2.0

//! The owners of a tree, as numbers of one byte.

use std::sync::{Arc, Mutex};

use crate::lock::lock;

/// The number of an owner within its scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OwnerNumber(u8);

impl OwnerNumber {
    /// An owner that is not known, or one too many.
    pub(super) const UNKNOWN: OwnerNumber = OwnerNumber(u8::MAX);
}

/// The owners that a scan has met, for all workers.
#[derive(Clone, Default)]
pub(super) struct Owners {
    all: Arc<Mutex<Vec<u32>>>,
    /// The owner that this worker met last: most neighbours have the same.
    last: Option<(u32, OwnerNumber)>,
}

impl Owners {
    /// The number of an owner, which is new where it was not met yet.
    #[inline]
    pub(super) fn number(&mut self, uid: u32) -> OwnerNumber {
        match self.last {
            Some((last, number)) if last == uid => number,
            _ => self.number_of_other(uid),
        }
    }

    fn number_of_other(&mut self, uid: u32) -> OwnerNumber {
        let mut all = lock(&self.all);
        let known = all.iter().position(|&known| known == uid);
        let index = known.unwrap_or_else(|| {
            if all.len() < usize::from(u8::MAX) {
                all.push(uid);
            }
            all.len() - 1
        });
        let number = match all.get(index) {
            Some(&there) if there == uid => OwnerNumber(index as u8),
            _ => OwnerNumber::UNKNOWN,
        };
        self.last = Some((uid, number));
        number
    }

    /// The owners in the order of their numbers.
    pub(super) fn into_uids(self) -> Vec<u32> {
        std::mem::take(&mut lock(&self.all))
    }
}

/// The owner with a number.
pub(super) fn uid(owners: &[u32], number: OwnerNumber) -> Option<u32> {
    owners.get(usize::from(number.0)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_owner_has_one_number_until_there_are_too_many() {
        let mut owners = Owners::default();
        let mut other = owners.clone();
        let numbers: Vec<_> = (0..1000).map(|uid| owners.number(uid * 7)).collect();
        for (uid, &number) in (0..).zip(&numbers) {
            assert_eq!(other.number(uid * 7), number, "{uid}");
        }
        drop(other);
        let uids = owners.into_uids();
        for (expected, number) in (0..).zip(numbers) {
            let known = (expected < 255).then_some(expected * 7);
            assert_eq!(uid(&uids, number), known);
        }
    }
}
