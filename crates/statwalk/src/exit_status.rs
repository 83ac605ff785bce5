// SPDX-License-Identifier: MIT OR Apache-2.0

//! How the program ends.

/// How the program ends. The numbers are part of its contract. Where several
/// apply, the later one is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExitStatus {
    /// 0: done, and everything was read. Entries that vanished meanwhile, and a
    /// reader of our output that left, are no failures.
    Complete,
    /// 1: done, but something could not be read: the result is a lower bound.
    Incomplete,
    /// 3: done, but a root is larger than `--fail-over` allows, also by a lower bound.
    OverLimit,
    /// 2: bad usage, a root that is not there (the others were counted), or an
    /// output that could not be written.
    Failed,
    /// A signal stopped the scan; what was known was printed. The program dies
    /// of the same signal, which a shell shows as 128 and its number.
    Interrupted(i32),
}

impl ExitStatus {
    /// Its number; of a signal as a shell shows it.
    pub(crate) fn code(self) -> i32 {
        match self {
            ExitStatus::Complete => 0,
            ExitStatus::OverLimit => 3,
            ExitStatus::Incomplete => 1,
            ExitStatus::Failed => 2,
            ExitStatus::Interrupted(signal) => 128 + signal,
        }
    }
}
