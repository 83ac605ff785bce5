// SPDX-License-Identifier: MIT OR Apache-2.0

//! `statwalk`: where the space in a file system went.
//!
//! [`flags`] reads the command line, and [`request`] interprets it. A command runs a
//! scan under the eyes of [`watch`], and [`output::printer`] prints the answer: as
//! lines, as rows or as JSON. `docs/stability.md` says which output and which exit
//! statuses are promised.

#![forbid(unsafe_code)]
#![cfg_attr(all(not(test), target_os = "linux", target_env = "gnu"), no_main)]
#![allow(
    clippy::print_stderr,
    reason = "a program talks; everything goes to stdout through `output`, and a stderr \
              that is closed must not stop it"
)]

mod answer;
mod bench;
mod browse;
mod commands;
mod exit_status;
mod failure;
mod flags;
mod output;
mod rebuildable;
mod report;
mod request;
mod space;
#[cfg(feature = "snapshot")]
mod store;
#[cfg(feature = "snapshot")]
mod stored;
#[cfg(not(feature = "snapshot"))]
#[path = "stored/absent.rs"]
mod stored;
mod system;
mod watch;

use std::ffi::OsString;
use std::io::Write as _;

use exit_status::ExitStatus;
use failure::Failure;
use output::Output;
#[cfg(not(test))]
use statwalk_sys::allocator::CheckedAllocator;
use system::stdio::Stderr;
use system::{panics, screen, signals};

#[cfg(not(test))]
statwalk_sys::entry_point!(run, system::last_resort::aborted);

#[cfg(not(test))]
#[global_allocator]
static ALLOCATOR: CheckedAllocator = CheckedAllocator::new(system::last_resort::out_of_memory);

#[cfg(test)]
fn main() -> ! {
    run()
}

fn run() -> ! {
    panics::abort_at_panics();
    // The answer keeps the time of the start.
    answer::origin::Origin::of_this_process();
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let status = match commands::parse(&words) {
        Ok(invocation) => commands::run(invocation),
        Err(usage) => tell(&usage),
    };
    end(status.unwrap_or_else(commands::fail))
}

/// Ends the program.
fn end(status: ExitStatus) -> ! {
    match status {
        ExitStatus::Interrupted(signal) => signals::die_of(signal),
        ended => std::process::exit(ended.code()),
    }
}

/// Prints clap's message: help and version on stdout with status 0, a usage error on
/// stderr.
fn tell(usage: &clap::Error) -> Result<ExitStatus, Failure> {
    let is_asked_for = !usage.use_stderr();
    let is_coloured = match is_asked_for {
        true => screen::takes_colour(&std::io::stdout()),
        false => screen::takes_colour(&std::io::stderr()),
    };
    let text = usage.render();
    let text = match is_coloured {
        true => text.ansi().to_string(),
        false => text.to_string(),
    };
    if !is_asked_for {
        // All errors of the program have one prefix.
        let text = text.replacen("error:", "statwalk:", 1);
        // Where stderr is closed, there is no reader.
        let _ = Stderr.write_all(text.as_bytes());
        return Ok(ExitStatus::Failed);
    }
    let mut out = Output::new();
    out.write(|out| out.write_all(text.as_bytes()))?;
    out.finish()?;
    Ok(ExitStatus::Complete)
}
