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
mod man;
mod report;
mod stats;
mod summary;
mod top;

#[cfg(test)]
mod printed_twice;

pub(crate) use self::df::{file_system_of, table_of as space_table};
pub(crate) use self::report::name_of as name_of_report;

use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::flags::Invocation;
use crate::output;

/// Runs the command.
///
/// # Errors
///
/// Returns an error where there is no answer, or stdout does not take it.
pub(crate) fn run(invocation: Invocation) -> Result<ExitStatus, Failure> {
    let status = answer(invocation)?;
    // An answer without a byte, as of a search that finds nothing, meets no failing
    // write.
    output::require_open()?;
    Ok(status)
}

fn answer(invocation: Invocation) -> Result<ExitStatus, Failure> {
    match invocation {
        Invocation::Summary(flags) => summary::run(*flags),
        Invocation::Browse(flags) => browse::run(*flags),
        Invocation::Top(flags) => top::run(*flags),
        Invocation::Stats(flags) => stats::run(*flags),
        Invocation::Find(flags) => find::run(*flags),
        Invocation::Errors(flags) => errors::run(*flags),
        Invocation::Report(flags) => report::run(*flags),
        Invocation::Df(flags) => df::run(*flags),
        Invocation::Extents(flags) => extents::run(*flags),
        Invocation::Changes(flags) => changes::run(&flags),
        Invocation::Bench(flags) => bench::run(*flags),
        Invocation::Completions(shell) => completions::run(shell),
        Invocation::Man(command) => man::run(command.as_deref()),
    }
}
