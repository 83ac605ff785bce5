// SPDX-License-Identifier: MIT OR Apache-2.0

//! The engine on systems other than Linux: it scans trees in memory and drives sinks by
//! rows of stored scans. It has no source of file systems there.
//!
//! Its types are checked for Windows, macOS and FreeBSD, and it was never run there.

pub(crate) mod machine;
pub(crate) mod native;
pub(crate) mod numbers;
pub(crate) mod text_file;
pub(crate) mod threads;
