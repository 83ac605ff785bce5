// SPDX-License-Identifier: MIT OR Apache-2.0

//! Standard output and standard error as descriptors.
//!
//! No error of a write is lost: std's own handle takes a closed stdout for success.

use std::io::{self, Write};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::BorrowedFd;
use rustix::io::Errno;

/// Standard output itself.
pub(crate) struct Stdout;

/// Standard error itself.
pub(crate) struct Stderr;

/// The number of times that a write is repeated after EINTR.
///
/// A file system in user space can answer EINTR for ever.
pub(crate) const INTERRUPTIONS_MAX: u32 = 100;

/// The pause after a second EAGAIN.
const PAUSE: Duration = Duration::from_millis(1);

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        write(rustix::stdio::stdout(), bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Write for Stderr {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        write(rustix::stdio::stderr(), bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes a line to stderr, if there is one.
pub(crate) fn say(message: &str) {
    line(&format!("statwalk: {message}"));
}

/// Writes a line to stderr as it is.
pub(crate) fn line(text: &str) {
    // One write a line, so that lines of several programs do not mix. Where stderr is
    // closed, there is no reader.
    let _ = Stderr.write_all(format!("{text}\n").as_bytes());
}

/// The system's words for an error, without its number.
pub(crate) fn reason(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(number) => statwalk_core::Errno(number).to_string(),
        None => error.to_string(),
    }
}

/// Writes as much as fits, and waits while nothing fits.
///
/// A process that shares the open file may have set `O_NONBLOCK`, which belongs to the
/// file and not to us. A slow reader then shows as EAGAIN.
pub(crate) fn write(fd: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<usize> {
    let (mut interruptions, mut refusals) = (0, 0);
    loop {
        match rustix::io::write(fd, bytes) {
            Err(Errno::INTR) if interruptions < INTERRUPTIONS_MAX => interruptions += 1,
            // Under its own name, std would repeat the call for ever.
            Err(Errno::INTR) => return Err(io::Error::other(reason(&Errno::INTR.into()))),
            Err(Errno::AGAIN) => {
                // A terminal can be ready and yet have too little room.
                if refusals > 0 {
                    std::thread::sleep(PAUSE);
                }
                refusals += 1;
                let mut ready = [PollFd::from_borrowed_fd(fd, PollFlags::OUT)];
                match poll(&mut ready, None) {
                    Ok(_) | Err(Errno::INTR) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            answer => return Ok(answer?),
        }
    }
}
