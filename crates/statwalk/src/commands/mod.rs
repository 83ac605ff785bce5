// SPDX-License-Identifier: MIT OR Apache-2.0

//! The commands, one file each.

mod bench;
mod browse;
mod changes;
mod completions;
mod delivery;
mod df;
mod errors;
mod extents;
mod find;
mod line;
mod man;
mod report;
#[cfg(feature = "snapshot")]
mod snapshot;
mod stats;
mod summary;
mod table;
mod top;

#[cfg(test)]
mod printed_twice;

pub(crate) use self::delivery::fail;
pub(crate) use self::line::parse;
pub(crate) use self::table::Invocation;

use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::output;

/// Runs the command.
pub(crate) fn run(invocation: Invocation) -> Result<ExitStatus, Failure> {
    let status = invocation()?;
    // An answer without a byte, as of a search that finds nothing, meets no failing
    // write.
    output::require_open()?;
    Ok(status)
}
