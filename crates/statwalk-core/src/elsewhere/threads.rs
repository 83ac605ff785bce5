// SPDX-License-Identifier: MIT OR Apache-2.0

//! Threads without numbers and clocks of their own: how busy workers are is not known
//! here, and how urgent their I/O is cannot be said.

use std::io;
use std::time::Duration;

/// The number of the calling thread: no thread has one.
pub(crate) fn number() -> i32 {
    0
}

/// The clocks of a thread: none has any.
pub(crate) fn cpu_and_wait(_thread: i32) -> Option<(Duration, Duration)> {
    None
}

/// Whether a thread could run and does not: not known.
pub(crate) fn is_kept_from_processors(_thread: i32) -> bool {
    false
}

/// How far the calling thread stands behind others for a processor: not known.
pub(crate) fn niceness() -> i32 {
    0
}

/// Says how far the calling thread stands behind others, where a thread can have that.
pub(crate) fn set_niceness(_niceness: i32) {}

/// How urgent the I/O of a thread is: not known.
pub(crate) struct IoPriority;

impl IoPriority {
    pub(crate) fn current() -> io::Result<IoPriority> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn set(&self) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Makes the I/O of the calling thread less urgent, if that can be.
pub(crate) fn set_idle() -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
