// SPDX-License-Identifier: MIT OR Apache-2.0

//! Standard output.
//!
//! Everything is gathered and written in large pieces, and an error of a write
//! is never lost: std's own handle takes a closed stdout for success.

use std::io::{self, BufWriter, Write};

use rustix::io::Errno;

use crate::failure::Failure;

/// Standard output, with a buffer.
pub(crate) struct Output {
    buffer: BufWriter<Stdout>,
}

/// Standard output itself.
pub(crate) struct Stdout;

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

    /// Lets something write.
    pub(crate) fn write(
        &mut self,
        write: impl FnOnce(&mut BufWriter<Stdout>) -> io::Result<()>,
    ) -> Result<(), Failure> {
        write(&mut self.buffer).map_err(Failure::Output)
    }

    /// Writes what is still in the buffer.
    pub(crate) fn finish(mut self) -> Result<(), Failure> {
        self.write(BufWriter::flush)
    }
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match rustix::io::write(rustix::stdio::stdout(), bytes) {
                Err(Errno::INTR) => {}
                answer => return Ok(answer?),
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
