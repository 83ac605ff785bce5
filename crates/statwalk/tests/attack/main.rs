// SPDX-License-Identifier: MIT OR Apache-2.0

//! The attack: random ways to make the program give a wrong answer.
//!
//! Each kind of attack is a file and one test. It runs rounds; a round has a
//! seed, from which all of its choices follow, and a difference from the right
//! answer is told with the command that runs this round again. By default a kind
//! runs a few rounds, `cargo xtask attack` runs them for as long as it is told.
//!
//! What is right comes from models, from the naive walker, from GNU find and du,
//! and from one rule: an answer that says that it is complete is exact.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "the helpers of tests may print and panic as tests may"
)]

mod program;
mod sound;

mod clock_steps;
mod closed_streams;
mod fuse_errors;
mod hostile_images;
mod injected_errors;
mod limits;
mod loops;
mod mutation;
mod overlay;
mod random_trees;
mod stops;
mod terminal_removals;
mod torn_output;
