// SPDX-License-Identifier: MIT OR Apache-2.0

//! The clock of the machine.

use std::time::SystemTime;

/// Nanoseconds since 1970, to compare with times of files.
pub(crate) fn now_ns() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let now_ns = since.map_or(0, |now| i64::try_from(now.as_nanos()).unwrap_or(i64::MAX));
    #[cfg(test)]
    let now_ns = now_ns + elsewhere::later_ns();
    now_ns
}

/// Another clock and other accounts, for the tests of one thread.
#[cfg(test)]
pub(crate) mod elsewhere {
    use std::cell::Cell;

    const YEAR_NS: i64 = 365 * 86_400 * 1_000_000_000;

    thread_local! {
        static IS_ELSEWHERE: Cell<bool> = const { Cell::new(false) };
    }

    /// Runs a test as on another machine, years later.
    pub(crate) fn elsewhere<T>(work: impl FnOnce() -> T) -> T {
        IS_ELSEWHERE.set(true);
        let result = work();
        IS_ELSEWHERE.set(false);
        result
    }

    pub(crate) fn is_elsewhere() -> bool {
        IS_ELSEWHERE.get()
    }

    pub(super) fn later_ns() -> i64 {
        if is_elsewhere() { 7 * YEAR_NS } else { 0 }
    }
}
