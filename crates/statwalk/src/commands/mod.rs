// SPDX-License-Identifier: MIT OR Apache-2.0

//! The commands, one file each.

mod bench;
mod changes;
mod completions;
mod errors;
mod extents;
mod find;
mod man;
mod stats;
mod summary;
mod top;

use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::flags::Invocation;

/// Does what was asked.
///
/// # Errors
///
/// Returns an error where there is no answer.
pub(crate) fn run(invocation: Invocation) -> Result<ExitStatus, Failure> {
    match invocation {
        Invocation::Summary(flags) => summary::run(*flags),
        Invocation::Top(flags) => top::run(*flags),
        Invocation::Stats(flags) => stats::run(*flags),
        Invocation::Find(flags) => find::run(*flags),
        Invocation::Errors(flags) => errors::run(*flags),
        Invocation::Extents(flags) => extents::run(*flags),
        Invocation::Changes(flags) => changes::run(&flags),
        Invocation::Bench(flags) => bench::run(*flags),
        Invocation::Completions(shell) => completions::run(shell),
        Invocation::Man(command) => man::run(command.as_deref()),
    }
}
