// SPDX-License-Identifier: MIT OR Apache-2.0

//! `statwalk man`: the manual page.

use std::io::Write as _;

use clap_mangen::Man;

use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::flags;
use crate::output::Output;

pub(super) fn run(name: Option<&str>) -> Result<ExitStatus, Failure> {
    let mut whole = flags::whole();
    whole.build();
    let command = match name {
        None => whole,
        Some(name) => {
            let found = whole.find_subcommand(name).cloned();
            let found = found.expect("clap takes the names of commands alone");
            // The page of a command is called as git's are.
            let name = format!("statwalk-{}", found.get_name());
            found.name(name)
        }
    };
    let mut page = Vec::new();
    Man::new(command)
        .render(&mut page)
        .map_err(Failure::Output)?;
    let mut out = Output::new();
    out.write(|out| out.write_all(&page))?;
    out.finish()?;
    Ok(ExitStatus::Complete)
}
