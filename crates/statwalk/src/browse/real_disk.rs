// SPDX-License-Identifier: MIT OR Apache-2.0

//! The file system itself, as the answers of the browser ask it.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use statwalk_browse::Disk;

use crate::system::{cache_tag, real_path};

/// The disk of this machine.
pub(crate) struct RealDisk;

impl Disk for RealDisk {
    fn real_path(&self, path: &[u8]) -> Vec<u8> {
        real_path::of_root(Path::new(OsStr::from_bytes(path)))
    }

    fn has_cache_tag(&self, path: &[u8]) -> bool {
        cache_tag::is_valid(path)
    }
}
