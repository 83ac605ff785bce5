// SPDX-License-Identifier: MIT OR Apache-2.0

//! The flags of `man`.

use clap::Parser;

/// Print the manual page, in the form that man reads
///
/// For instance: statwalk man | man -l -
#[derive(Parser)]
#[command(name = "man", disable_version_flag = true)]
pub(crate) struct ManFlags {
    /// Print the page of this command [default: the page of statwalk itself]
    // The table of commands adds their names.
    #[arg(hide_possible_values = true)]
    pub(crate) command: Option<String>,
}
