// SPDX-License-Identifier: MIT OR Apache-2.0

//! Reads ext2, ext3 and ext4 from the bytes of the device or of an image.
//!
//! The crate `statwalk-ext4` decodes the bytes. It knows neither mounts nor unwritten
//! data. Here `device.rs` opens the bytes, and `mounted.rs` decides where the kernel
//! must be asked. `reader.rs` and `pass.rs` read one directory for a worker, and
//! `attributes.rs` makes attributes of inodes. `read_ahead.rs` brings metadata into
//! memory in the order of a disk.

mod attributes;

mod device;

mod file_bytes;

pub(super) mod mounted;

mod pass;

mod read_ahead;

pub(super) mod reader;
