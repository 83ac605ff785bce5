// SPDX-License-Identifier: MIT OR Apache-2.0

//! Reads ext2, ext3 and ext4 from the bytes of the device or of an image.
//!
//! A [`Volume`](volume::Volume) reads what lies there, copies each piece before
//! it looks at it, and says what does not fit together; it knows nothing of
//! mounts, or of what the kernel has not written yet. What the bytes mean is in
//! [`decode::ext4`](crate::decode::ext4). `mounted.rs` knows what must be asked
//! of the kernel all the same, `reader.rs` and `pass.rs` read one directory for a
//! worker, `read_ahead.rs` brings what they need into memory in the order of a
//! disk.

pub mod volume;

pub mod bytes;

pub mod damage;

pub mod attributes;

mod directory_reader;

mod group_table;

mod device;

mod file_bytes;

pub(super) mod mounted;

mod pass;

mod read_ahead;

pub(super) mod reader;
