// SPDX-License-Identifier: MIT OR Apache-2.0

//! `statwalk completions`: a script that completes commands and flags.

use std::io::Write as _;

use clap_complete::Shell;

use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::flags;
use crate::output::Output;

pub(super) fn run(shell: Shell) -> Result<ExitStatus, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut flags::whole(), "statwalk", &mut script);
    let mut out = Output::new();
    out.write(|out| out.write_all(&script))?;
    out.finish()?;
    Ok(ExitStatus::Complete)
}
