// SPDX-License-Identifier: MIT OR Apache-2.0

//! `statwalk`: where the space in a file system went.
//!
//! The program around the engine: what was typed ([`flags`]) becomes what is
//! meant ([`request`]), a command runs a scan and is told how it goes
//! ([`watch`]), and its answer leaves as a picture, as rows ([`plain`]) or as
//! JSON ([`json`]). What it prints and how it exits is part of its contract;
//! `docs/stability.md` has it.

#![forbid(unsafe_code)]
#![cfg_attr(all(not(test), target_os = "linux", target_env = "gnu"), no_main)]
#![allow(
    clippy::print_stderr,
    reason = "a program talks; everything goes to stdout through `output`, and a stderr \
              that is closed must not stop it"
)]

mod bench;
mod commands;
mod exit_status;
mod failure;
mod flags;
mod request;

mod accounts;
mod filters;
mod name_pattern;
mod owners;

mod open_files;
mod progress;
mod signals;
mod used_inodes;
mod watch;

mod ending;
mod error_summary;
mod explain;
mod json;
mod output;
mod plain;
mod rows;
mod screen;
mod stream;
mod tree_picture;

use std::ffi::OsString;

use exit_status::ExitStatus;
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
        Ok(invocation) => commands::run(invocation).unwrap_or_else(failure::Failure::report),
        Err(usage) => {
            // Nobody to read the help is no failure of ours.
            let _ = usage.print();
            ExitStatus::of_usage(&usage)
        }
    };
    status.exit()
}
