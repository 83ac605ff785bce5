// SPDX-License-Identifier: MIT OR Apache-2.0

//! The place of each group's inode table: 12 bytes a group, read once.

use super::bytes::{Bytes, ReadError};
use super::damage::Damage;
use crate::Malformed;
use crate::group_descriptor::{self, GroupDescriptor};
use crate::superblock::Superblock;
use crate::system_zones::GroupBlocks;

/// How many groups are kept at most: 1 PiB in groups of 128 MiB, 100 MB of memory.
pub(super) const GROUPS_MAX: u32 = 1 << 23;

/// How often a descriptor is read whose checksum does not match: the kernel
/// changes both while we read, in two steps.
const TRIES: u32 = 3;

/// A group as it is kept; three halves of 64 bits, so that nothing is padding.
#[derive(Clone, Copy, Debug, Default)]
struct Group {
    table_offset_low: u32,
    table_offset_high: u32,
    /// 0 as well where the descriptor could not be used.
    initialised_inodes: u32,
}

impl Group {
    fn of(descriptor: GroupDescriptor, superblock: &Superblock) -> Option<Group> {
        let offset = descriptor
            .inode_table_block
            .checked_mul(u64::from(superblock.block_size_bytes))
            .filter(|&offset| offset > 0)?;
        Some(Group {
            table_offset_low: offset as u32,
            table_offset_high: (offset >> 32) as u32,
            initialised_inodes: descriptor.initialised_inodes,
        })
    }

    fn table_offset(&self) -> u64 {
        u64::from(self.table_offset_low) | u64::from(self.table_offset_high) << 32
    }

    /// Where the inode lies that has so many before it.
    #[inline]
    fn inode_offset(&self, within: u32, superblock: &Superblock) -> u64 {
        // The table begins within 2^63, and is at most 2^34 bytes long.
        let size = u64::from(superblock.inode_size_bytes);
        self.table_offset().saturating_add(u64::from(within) * size)
    }
}

/// All groups that lie on the device, however many the superblock claims.
#[derive(Debug)]
pub(super) struct GroupTable {
    groups: Vec<Group>,
    split: Split,
}

/// Divides by the number of inodes in a group, by a multiplication: it is done
/// twice for each entry, and a division takes longer than the rest of the answer.
#[derive(Clone, Copy, Debug)]
struct Split {
    inodes_per_group: u32,
    /// 2^64 - 1 divided by it, rounded down.
    reciprocal: u64,
}

impl Split {
    fn new(inodes_per_group: u32) -> Split {
        Split {
            inodes_per_group,
            reciprocal: u64::MAX / u64::from(inodes_per_group.max(1)),
        }
    }

    /// The group of an inode, and its place within the group.
    ///
    /// The rounding loses less than 2^-32 of a group, and each place is more: one
    /// place too many stays within the group.
    #[inline]
    fn of(self, index: u32) -> (u32, u32) {
        let places = u128::from(index) + 1;
        let group = ((places * u128::from(self.reciprocal)) >> 64) as u32;
        (
            group,
            index.wrapping_sub(group.wrapping_mul(self.inodes_per_group)),
        )
    }
}

/// Why there is no place for an inode.
#[derive(Clone, Copy, Debug)]
pub(super) enum NoPlace {
    Unreadable(ReadError),
    Malformed(Malformed),
}

const NOT_ON_DEVICE: NoPlace = NoPlace::Malformed(Malformed {
    offset_bytes: 0,
    what: "the group is not on the device",
});

impl NoPlace {
    pub(super) fn damage(self, inode: u32) -> Damage {
        match self {
            NoPlace::Unreadable(error) => Damage::unreadable(inode, 0, error),
            NoPlace::Malformed(malformed) => Damage::malformed(inode, 0, malformed),
        }
    }
}

impl GroupTable {
    /// Reads the descriptors, a block at a time. One that cannot be used is
    /// looked at again when one of its inodes is wanted. Adds their blocks to `blocks`.
    pub(super) fn read(
        bytes: &impl Bytes,
        superblock: &Superblock,
        blocks: &mut GroupBlocks,
    ) -> GroupTable {
        let group_bytes =
            u64::from(superblock.blocks_per_group) * u64::from(superblock.block_size_bytes);
        let on_device = bytes.length_bytes().div_ceil(group_bytes);
        let count = u64::from(superblock.groups_count.min(GROUPS_MAX)).min(on_device) as u32;
        let mut groups = vec![Group::default(); count as usize];
        let per_block = superblock.block_size_bytes / superblock.descriptor_size_bytes;
        let size = superblock.descriptor_size_bytes as usize;
        let mut buffer = vec![0; superblock.block_size_bytes as usize];
        for (index, chunk) in groups.chunks_mut(per_block as usize).enumerate() {
            let first = index as u32 * per_block;
            let into = &mut buffer[..chunk.len() * size];
            let is_read = group_descriptor::offset_bytes(first, superblock)
                .is_some_and(|offset| bytes.read(offset, into).is_ok());
            if !is_read {
                continue;
            }
            for ((group, raw), number) in chunk.iter_mut().zip(into.chunks(size)).zip(first..) {
                let Ok(descriptor) = GroupDescriptor::decode(raw, number, superblock) else {
                    continue;
                };
                blocks.add(number, &descriptor, superblock);
                *group = Group::of(descriptor, superblock).unwrap_or_default();
            }
        }
        GroupTable {
            groups,
            split: Split::new(superblock.inodes_per_group),
        }
    }

    /// The used part of each inode table: the first inode, and where its bytes begin
    /// and how many there are.
    pub(super) fn tables(&self, superblock: &Superblock) -> impl Iterator<Item = (u32, u64, u64)> {
        let per_group = superblock.inodes_per_group;
        let size = u64::from(superblock.inode_size_bytes);
        (0_u32..)
            .zip(&self.groups)
            .filter(|(_, group)| group.initialised_inodes > 0)
            .map(move |(number, group)| {
                let first = number.wrapping_mul(per_group).wrapping_add(1);
                let bytes = u64::from(group.initialised_inodes) * size;
                (first, group.table_offset(), bytes)
            })
    }

    /// Where an inode lies, as far as that is known without reading anything.
    #[inline]
    pub(super) fn likely_offset(&self, number: u32, superblock: &Superblock) -> Option<u64> {
        let (group, within) = self.split.of(number.wrapping_sub(1));
        let group = self.groups.get(group as usize)?;
        Some(group.inode_offset(within, superblock))
    }

    /// Where an inode lies on the device, if its group was known to have so many when the
    /// volume was opened; `number` is one that exists.
    #[inline]
    pub(super) fn known_offset(&self, number: u32, superblock: &Superblock) -> Option<u64> {
        let (number, within) = self.split.of(number.wrapping_sub(1));
        let group = self.groups.get(number as usize)?;
        (within < group.initialised_inodes).then(|| group.inode_offset(within, superblock))
    }

    /// Where any other inode lies on the device.
    #[cold]
    pub(super) fn offset_looked_up(
        &self,
        number: u32,
        bytes: &impl Bytes,
        superblock: &Superblock,
    ) -> Result<u64, NoPlace> {
        let (number, within) = self.split.of(number.wrapping_sub(1));
        let group = self.look_again(number, within, bytes, superblock)?;
        Ok(group.inode_offset(within, superblock))
    }

    /// Reads the descriptor anew: inodes behind the last one in use may have
    /// been taken into use meanwhile.
    #[cold]
    fn look_again(
        &self,
        number: u32,
        within: u32,
        bytes: &impl Bytes,
        superblock: &Superblock,
    ) -> Result<Group, NoPlace> {
        let descriptor = self.descriptor(number, bytes, superblock)?;
        let group = Group::of(descriptor, superblock).ok_or(NOT_ON_DEVICE)?;
        if within >= group.initialised_inodes {
            return Err(NoPlace::Malformed(Malformed {
                offset_bytes: 0,
                what: "the inode was never used",
            }));
        }
        Ok(group)
    }

    /// Reads the descriptor of a group, again where its checksum does not match.
    pub(super) fn descriptor(
        &self,
        number: u32,
        bytes: &impl Bytes,
        superblock: &Superblock,
    ) -> Result<GroupDescriptor, NoPlace> {
        let is_on_device = (number as usize) < self.groups.len();
        let offset = group_descriptor::offset_bytes(number, superblock);
        let offset = offset.filter(|_| is_on_device).ok_or(NOT_ON_DEVICE)?;
        // EXT4_MAX_DESC_SIZE.
        let mut buffer = [0; 1024];
        let raw = &mut buffer[..(superblock.descriptor_size_bytes as usize).min(1024)];
        let mut outcome = Err(NOT_ON_DEVICE);
        for _ in 0..TRIES {
            bytes.read(offset, raw).map_err(NoPlace::Unreadable)?;
            outcome = GroupDescriptor::decode(raw, number, superblock).map_err(NoPlace::Malformed);
            if outcome.is_ok() {
                break;
            }
        }
        outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_multiplication_divides() {
        let near = |middle: u32| middle.saturating_sub(2)..=middle.saturating_add(2);
        for inodes_per_group in [1, 2, 3, 7, 8, 1024, 8191, 8192, 32_752, 524_288, u32::MAX] {
            let split = Split::new(inodes_per_group);
            let last = (u32::MAX / inodes_per_group).saturating_mul(inodes_per_group);
            let middle = (last / 2 / inodes_per_group).saturating_mul(inodes_per_group);
            for index in [0, inodes_per_group, middle, last, u32::MAX]
                .into_iter()
                .flat_map(near)
            {
                let expected = (index / inodes_per_group, index % inodes_per_group);
                assert_eq!(split.of(index), expected, "{index} / {inodes_per_group}");
            }
        }
    }
}
