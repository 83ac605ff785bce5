// SPDX-License-Identifier: MIT OR Apache-2.0

//! The source that a scan of paths has on this system.

use std::ffi::CStr;
use std::io;
use std::sync::Arc;

use super::mount_view;
use super::posix::probe::{self, StatCall};
use super::posix::{Posix, PosixOptions, WorkingDirectory};
use super::volumes::VolumeTable;
use crate::calls::Calls;
use crate::reason::{NotInPlace, Obstacle, Reason};
use crate::source::choice::{Source, SourceOptions};

/// The source of the file systems of this system: Linux, by its system calls.
pub(crate) type Native = Posix;

/// Makes the source for a scan of some roots, and adds what the plan says of it to `why`.
///
/// The error is the number of a root that the wanted source cannot read, and the reason.
pub(crate) fn prepare(
    options: &SourceOptions<'_>,
    roots: &[Arc<CStr>],
    why: &mut Vec<Reason>,
) -> Result<Native, (usize, io::Error)> {
    let has_openat2 = probe::has_openat2();
    if !has_openat2 {
        why.push(Reason::NoOpenat2);
    }
    let stat_call = probe::stat_call();
    let has_mount_ids = stat_call == StatCall::WithMountIds;
    match stat_call {
        StatCall::WithMountIds => {}
        StatCall::Statx => why.push(Reason::NoMountIds { has_openat2 }),
        StatCall::Fstatat => why.push(Reason::NoStatx { has_openat2 }),
        StatCall::None => {
            let text = "statx and fstatat are refused (a filter of system calls)";
            let error = io::Error::new(io::ErrorKind::PermissionDenied, text);
            return Err((0, error));
        }
    }
    why.extend(options.calls.reasons());
    let directory = WorkingDirectory::of(roots, options.relative_to);
    let posix = Posix::new(PosixOptions {
        working_directory: directory.map_err(|error| (0, error.into()))?,
        wanted: options.wanted,
        calls: options.calls.clone(),
        follows: options.follows,
        has_openat2,
        has_mount_ids,
        root_paths: roots.to_vec(),
        volumes: VolumeTable::new(
            options.source,
            options.syncing,
            objection_to_reading_in_place(options, has_mount_ids),
            options.now_ns,
        ),
    });
    for (number, root) in roots.iter().enumerate() {
        posix
            .volumes
            .require(
                posix.here(),
                number as u32,
                root,
                options.follows,
                options.exclusions,
            )
            .map_err(|error| (number, error))?;
    }
    Ok(posix)
}

/// The reason against reading anything in place in this scan, although that may be
/// possible.
fn objection_to_reading_in_place(
    options: &SourceOptions<'_>,
    has_mount_ids: bool,
) -> Option<NotInPlace> {
    if !has_mount_ids {
        return Some(mount_view::no_mount_id());
    }
    let asks_in_its_own_way = *options.calls != Calls::default();
    (options.source == Source::Auto && asks_in_its_own_way)
        .then(|| Obstacle::Calls.because("how the kernel is to be asked was said"))
}
