// SPDX-License-Identifier: MIT OR Apache-2.0

//! Processors, open files and address space, where nobody has asked the system yet.

/// The open directories of a scan. No system has so low a limit.
const DESCRIPTORS: usize = 128;

/// How many processors the process may run on.
pub(crate) fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// How many files the scan may open.
pub(crate) fn free_descriptors() -> usize {
    DESCRIPTORS
}

/// The limit of the address space: not known.
pub(crate) fn address_space_bytes() -> Option<u64> {
    None
}
