// SPDX-License-Identifier: MIT OR Apache-2.0

//! The flags of `completions`.

use clap::Parser;
use clap_complete::Shell;

/// Print a script that completes commands and flags in a shell
///
/// For instance: statwalk completions bash > ~/.local/share/bash-completion/completions/statwalk
#[derive(Parser)]
#[command(name = "completions", disable_version_flag = true)]
pub(crate) struct CompletionsFlags {
    /// Print the script for this shell
    pub(crate) shell: Shell,
}
