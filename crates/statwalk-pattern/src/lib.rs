// SPDX-License-Identifier: MIT OR Apache-2.0

//! Patterns that paths are held against: those of a shell, and lines of `.gitignore` files.
//!
//! Patterns and paths are bytes.

#![forbid(unsafe_code)]

mod git_pattern;
mod ignore_file;
mod shell_pattern;

pub use ignore_file::{Excess, IgnoreFile};
pub use shell_pattern::{ShellPattern, ShellPatternError};
