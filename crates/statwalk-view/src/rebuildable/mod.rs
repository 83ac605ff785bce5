// SPDX-License-Identifier: MIT OR Apache-2.0

//! Directories that a program makes again: installed packages, results of builds, caches.
//!
//! Names alone decide, those of entries within and beside, so that a scan is enough. Only
//! a `CACHEDIR.TAG` must be read. In doubt a directory is no such one: a list that is to
//! be marked must not hold anything that a person wrote.

mod rule;
mod search;
mod table;
mod traces;

#[cfg(test)]
mod tests;

pub use rule::{Need, Rule, Scope};
pub use search::{Directories, Listing, Start, search};
pub use table::{CLOSED, PROJECTS, RULES};
pub use traces::{TraceKind, Traces};

/// The first bytes of a valid `CACHEDIR.TAG`: <https://bford.info/cachedir/>.
pub const CACHE_TAG: &[u8; 43] = b"Signature: 8a477f597d28d172789f06886806bc55";
