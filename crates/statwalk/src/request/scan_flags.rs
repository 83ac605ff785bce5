// SPDX-License-Identifier: MIT OR Apache-2.0

//! The flags that only a scan can follow.

use crate::flags::{LinkFlags, ReadFlags, ScanFlags};

/// The first flag of those that say what a scan reads, and how; absent where none is set.
///
/// `--count-links` is none of them: it says how bytes count, and a stored scan has the inodes.
pub(crate) fn first_of_scan(flags: &ScanFlags) -> Option<&'static str> {
    first_of_reading(&flags.walk.read).or_else(|| first_of_links(&flags.links))
}

/// The same among those of reading.
pub(crate) fn first_of_reading(flags: &ReadFlags) -> Option<&'static str> {
    // All are named here, so that a new one is not forgotten.
    let ReadFlags {
        one_file_system,
        exclude,
        exclude_from,
        exclude_caches,
        gitignore,
        include_kernfs,
        threads,
        order,
        source,
        nice,
        buffer,
        stat_order,
        cached_attributes,
    } = flags;
    let all = [
        (*one_file_system, "--one-file-system"),
        (!exclude.is_empty(), "--exclude"),
        (!exclude_from.is_empty(), "--exclude-from"),
        (*exclude_caches, "--exclude-caches"),
        (*gitignore, "--gitignore"),
        (*include_kernfs, "--include-kernfs"),
        (threads.is_some(), "--threads"),
        (order.is_some(), "--order"),
        (source.is_some(), "--source"),
        (*nice, "--nice"),
        (buffer.is_some(), "--buffer"),
        (stat_order.is_some(), "--stat-order"),
        (*cached_attributes, "--cached-attributes"),
    ];
    first(&all)
}

/// The same among those on links.
pub(crate) fn first_of_links(flags: &LinkFlags) -> Option<&'static str> {
    first(&[(flags.follow, "--follow"), (flags.no_sync, "--no-sync")])
}

fn first(all: &[(bool, &'static str)]) -> Option<&'static str> {
    let set = all.iter().find(|(is_set, _)| *is_set);
    set.map(|(_, flag)| *flag)
}
