// SPDX-License-Identifier: MIT OR Apache-2.0

//! Processors, open files and address space that the process may use.

#[cfg(test)]
use crate::simulation::world;
use crate::system::machine;

/// How much of a limited address space there must be for each worker, so that
/// stacks take a sixteenth of it and what is found has room.
const BYTES_FOR_EACH_WORKER: u64 = 4 << 20;

/// How many processors the process may run on.
pub(crate) fn processors() -> usize {
    #[cfg(test)]
    if let Some(world) = world::current() {
        return world.processors();
    }
    machine::processors()
}

/// How many of them control groups grant it. To find out takes as long as scanning a
/// small directory.
pub(crate) fn granted_processors() -> usize {
    #[cfg(test)]
    if let Some(world) = world::current() {
        return world.processors();
    }
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// How many files the scan may open.
pub(crate) fn free_descriptors() -> usize {
    #[cfg(test)]
    if let Some(world) = world::current() {
        return world.free_descriptors();
    }
    machine::free_descriptors()
}

/// For how many workers there is address space, where that is limited.
pub(crate) fn workers_with_room() -> usize {
    machine::address_space_bytes().map_or(usize::MAX, |bytes| {
        (bytes / BYTES_FOR_EACH_WORKER).max(1) as usize
    })
}
