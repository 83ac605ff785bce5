// SPDX-License-Identifier: MIT OR Apache-2.0

//! The clock of the machine.

use std::time::SystemTime;

/// Nanoseconds since 1970, to compare with times of files.
pub(crate) fn now_ns() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |now| i64::try_from(now.as_nanos()).unwrap_or(i64::MAX))
}
