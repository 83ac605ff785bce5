// SPDX-License-Identifier: MIT OR Apache-2.0

//! Reads ext2, ext3 and ext4 from the bytes of the device or of an image.
//!
//! Nothing here knows of mounts, threads or what the kernel has not written
//! yet: a [`Volume`](volume::Volume) reads what lies there, copies each piece
//! before it looks at it, and says what does not fit together. What the bytes
//! mean is in [`decode::ext4`](crate::decode::ext4).

pub mod volume;

pub mod bytes;

pub mod damage;

pub mod attributes;

mod directory_reader;

mod group_table;
