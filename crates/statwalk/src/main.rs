// SPDX-License-Identifier: MIT OR Apache-2.0

//! `statwalk`: where the space in a file system went.
//!
//! The program around the engine: what was typed ([`flags`]) becomes what is
//! meant ([`request`]), a command runs a scan and is told how it goes
//! ([`watch`]), and its answer leaves as a picture, as rows ([`output::plain`]) or as
//! JSON ([`output::json`]). What it prints and how it exits is part of its contract;
//! `docs/stability.md` has it.

#![forbid(unsafe_code)]
#![cfg_attr(all(not(test), target_os = "linux", target_env = "gnu"), no_main)]
#![allow(
    clippy::print_stderr,
    reason = "a program talks; everything goes to stdout through `output`, and a stderr \
              that is closed must not stop it"
)]

mod bench;
mod clock;
mod commands;
mod exit_status;
mod failure;
mod flags;
mod output;
mod request;
mod watch;

use std::ffi::OsString;
use std::io::Write as _;

use exit_status::ExitStatus;
use failure::Failure;
use output::{Output, Stderr, screen};
#[cfg(not(test))]
use statwalk_sys::allocator::CheckedAllocator;

#[cfg(not(test))]
statwalk_sys::entry_point!(run);

#[cfg(not(test))]
#[global_allocator]
static ALLOCATOR: CheckedAllocator = CheckedAllocator::new(failure::out_of_memory);

#[cfg(test)]
fn main() -> ! {
    run()
}

fn run() -> ! {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let status = match flags::parse(&words) {
        Ok(invocation) => commands::run(invocation),
        Err(usage) => tell(&usage),
    };
    status.unwrap_or_else(Failure::report).exit()
}

/// Tells what clap has to say: help and version that were asked for, on stdout
/// and with status 0, or what is wrong with the words.
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
        // Where stderr is closed there is nobody left to tell.
        let _ = Stderr.write_all(text.as_bytes());
        return Ok(ExitStatus::Failed);
    }
    let mut out = Output::new();
    out.write(|out| out.write_all(text.as_bytes()))?;
    out.finish()?;
    Ok(ExitStatus::Complete)
}
