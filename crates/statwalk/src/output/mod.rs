// SPDX-License-Identifier: MIT OR Apache-2.0

//! Standard output and standard error.
//!
//! Standard output has a large buffer. No error of a write is lost: std's own handle
//! takes a closed stdout for success.

pub(crate) mod attribute_table;
pub(crate) mod ending;
pub(crate) mod error_summary;
pub(crate) mod explain;
pub(crate) mod found_fields;
pub(crate) mod group_label;
pub(crate) mod groups_table;
pub(crate) mod interruptible;
pub(crate) mod json;
pub(crate) mod own_names;
pub(crate) mod plain;
pub(crate) mod printer;
pub(crate) mod rows;
pub(crate) mod scanned_tree;
pub(crate) mod space_list;
pub(crate) mod space_table;

use std::io::{self, BufWriter, Write};

use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::failure::Failure;
use crate::system::stdio::Stdout;

/// Standard output, with a buffer.
pub(crate) struct Output {
    buffer: BufWriter<Stdout>,
}

const BUFFER_BYTES: usize = 64 << 10;

impl Output {
    pub(crate) fn new() -> Output {
        Output {
            buffer: BufWriter::with_capacity(BUFFER_BYTES, Stdout),
        }
    }

    /// Writes lines, each with a newline.
    pub(crate) fn lines<T: AsRef<str>>(
        &mut self,
        lines: impl IntoIterator<Item = T>,
    ) -> Result<(), Failure> {
        for line in lines {
            self.write(|out| {
                out.write_all(line.as_ref().as_bytes())?;
                out.write_all(b"\n")
            })?;
        }
        Ok(())
    }

    /// Lets a closure write.
    pub(crate) fn write(
        &mut self,
        write: impl FnOnce(&mut BufWriter<Stdout>) -> io::Result<()>,
    ) -> Result<(), Failure> {
        write(&mut self.buffer).map_err(Failure::Output)
    }

    /// The bytes in the buffer, which stdout does not get.
    #[cfg(test)]
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        let (_, bytes) = self.buffer.into_parts();
        bytes.expect("no write has panicked")
    }

    /// Writes the rest of the buffer.
    pub(crate) fn finish(mut self) -> Result<(), Failure> {
        self.write(BufWriter::flush)
    }
}

/// Refuses a stdout that was closed when the program began.
pub(crate) fn require_open() -> Result<(), Failure> {
    let flags = rustix::fs::fcntl_getfl(rustix::stdio::stdout());
    // A closed descriptor is replaced at the start by one that is only for reading
    // (crates/statwalk-sys/src/entry_point.rs). A filter of system calls can refuse the
    // question: then a write answers it.
    match flags.map(|flags| flags & OFlags::RWMODE) {
        Ok(OFlags::WRONLY | OFlags::RDWR) => Ok(()),
        Ok(_) => Err(Failure::Output(Errno::BADF.into())),
        Err(Errno::BADF) => Err(Failure::Output(Errno::BADF.into())),
        Err(_) => Ok(()),
    }
}
