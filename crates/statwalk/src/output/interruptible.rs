// SPDX-License-Identifier: MIT OR Apache-2.0

//! Standard output for answers that are written while a scan goes on.
//!
//! A reader that does not read must not keep the program from seeing a signal. A
//! thread that is blocked in write(2) sees none where another thread takes it. So
//! this waits by poll(2), and writes no more than a pipe takes at once.

use std::io::Write as _;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::FileType;
use rustix::io::Errno;

use crate::failure::Failure;
use crate::output::Stdout;
use crate::watch::signals;

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
    /// When a signal was seen while nobody read.
    signalled: Option<Instant>,
}

impl InterruptibleStdout {
    pub(crate) fn new() -> InterruptibleStdout {
        let kind = rustix::fs::fstat(rustix::stdio::stdout())
            .map(|stat| FileType::from_raw_mode(stat.st_mode));
        InterruptibleStdout {
            waits: kind != Ok(FileType::RegularFile),
            signalled: None,
        }
    }

    /// Writes all bytes. Dies of a signal where the reader does not read: nobody would
    /// see the rest.
    ///
    /// # Errors
    ///
    /// Returns an error if stdout takes no more.
    pub(crate) fn write_all(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        if !self.waits {
            return Stdout.write_all(bytes).map_err(Failure::Output);
        }
        for piece in bytes.chunks(PIECE_BYTES) {
            self.wait_for_reader()?;
            Stdout.write_all(piece).map_err(Failure::Output)?;
        }
        Ok(())
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
