// SPDX-License-Identifier: MIT OR Apache-2.0

//! The C interface of statwalk. `include/statwalk.h` is made from it.
//!
//! The functions check their arguments, call [`statwalk_stream`], and catch panics: none
//! crosses the border. They decide nothing.
//!
//! `unsafe` is allowed here, because every pointer of C is.

mod border;
mod columns;
mod failures;
mod process;
mod readiness;
mod scan;
mod tables;
mod walk;

pub use columns::*;
pub use failures::*;
pub use scan::*;
pub use tables::*;
pub use walk::*;
