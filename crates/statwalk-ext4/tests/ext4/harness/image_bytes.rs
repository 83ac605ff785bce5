// SPDX-License-Identifier: MIT OR Apache-2.0

//! The bytes of an image file or a device, a system call for each piece.

use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::path::Path;

use statwalk_ext4::{Bytes, ReadError};

#[derive(Debug)]
pub(crate) struct ImageBytes {
    file: File,
    length_bytes: u64,
}

impl ImageBytes {
    pub(crate) fn open(path: &Path) -> ImageBytes {
        let mut file = File::open(path).expect("a file that can be read");
        // A block device has no size in its attributes, but an end.
        let length_bytes = file.seek(SeekFrom::End(0)).expect("an end");
        ImageBytes { file, length_bytes }
    }
}

impl Bytes for ImageBytes {
    fn read(&self, offset_bytes: u64, into: &mut [u8]) -> Result<(), ReadError> {
        self.file
            .read_exact_at(into, offset_bytes)
            .map_err(|error| match error.raw_os_error() {
                Some(errno) => ReadError::Failed { errno },
                None => ReadError::BeyondEnd,
            })
    }

    fn length_bytes(&self) -> u64 {
        self.length_bytes
    }
}
