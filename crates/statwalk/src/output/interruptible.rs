// SPDX-License-Identifier: MIT OR Apache-2.0

//! Standard output for answers that are written while a scan goes on.
//!
//! A reader that does not read must not keep the program from seeing a signal. A
//! thread that is blocked in write(2) sees none where another thread takes it. So
//! this waits by poll(2), and writes no more than the reader has room for.

use std::io::{IoSlice, Write as _};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::FileType;
use rustix::io::{Errno, ReadWriteFlags, pwritev2};

use crate::failure::Failure;
use crate::system::signals;
use crate::system::stdio::Stdout;

/// How long it waits for the reader before it looks for signals.
const PERIOD: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 40_000_000,
};

/// How long a reader may take after a signal.
const GRACE: Duration = Duration::from_millis(100);

/// A pipe with room for anything takes so much without waiting: PIPE_BUF, pipe(7).
const PIECE_BYTES: usize = 4096;

/// Standard output that a signal can interrupt.
pub(crate) struct InterruptibleStdout {
    /// Whether it can keep a writer waiting.
    waits: bool,
    /// Whether it may take a write that does not wait; false from the first refusal on.
    takes_nowait: bool,
    /// When a signal was seen while nobody read.
    signalled: Option<Instant>,
}

impl InterruptibleStdout {
    pub(crate) fn new() -> InterruptibleStdout {
        let kind = rustix::fs::fstat(rustix::stdio::stdout())
            .map(|stat| FileType::from_raw_mode(stat.st_mode));
        InterruptibleStdout {
            waits: kind != Ok(FileType::RegularFile),
            takes_nowait: true,
            signalled: None,
        }
    }

    /// Writes all bytes. Dies of a signal where the reader does not read: nobody would
    /// see the rest.
    pub(crate) fn write_all(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        if !self.waits {
            return Stdout.write_all(bytes).map_err(Failure::Output);
        }
        let mut left = bytes;
        while !left.is_empty() {
            left = &left[self.write_what_fits(left)..];
            if !left.is_empty() {
                self.wait_for_reader()?;
                let piece;
                (piece, left) = left.split_at(left.len().min(PIECE_BYTES));
                Stdout.write_all(piece).map_err(Failure::Output)?;
            }
        }
        Ok(())
    }

    /// Writes as much as there is room for, and tells how much that was.
    ///
    /// With RWF_NOWAIT of pwritev2(2), which leaves the file's own flags alone: others
    /// may have it open too. Terminals refuse it, and so do the pipes of old kernels. An error
    /// is left for the write that follows.
    fn write_what_fits(&mut self, bytes: &[u8]) -> usize {
        /// The file's own position.
        const HERE: u64 = u64::MAX;
        if !self.takes_nowait {
            return 0;
        }
        let slices = [IoSlice::new(bytes)];
        match pwritev2(
            rustix::stdio::stdout(),
            &slices,
            HERE,
            ReadWriteFlags::NOWAIT,
        ) {
            Ok(count) => count,
            Err(error) => {
                self.takes_nowait = matches!(error, Errno::AGAIN | Errno::INTR);
                0
            }
        }
    }

    fn wait_for_reader(&mut self) -> Result<(), Failure> {
        loop {
            let stdout = rustix::stdio::stdout();
            let mut ready = [PollFd::from_borrowed_fd(stdout, PollFlags::OUT)];
            match poll(&mut ready, Some(&PERIOD)) {
                Ok(0) | Err(Errno::INTR) => {}
                // A reader that has gone is an answer of write(2) too.
                Ok(_) => return Ok(()),
                Err(error) => return Err(Failure::Output(error.into())),
            }
            if let Some(signal) = signals::caught() {
                let since = *self.signalled.get_or_insert_with(Instant::now);
                if since.elapsed() >= GRACE {
                    signals::die_of(signal);
                }
            }
        }
    }
}
