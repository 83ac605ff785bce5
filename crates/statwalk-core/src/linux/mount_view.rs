// SPDX-License-Identifier: MIT OR Apache-2.0

//! A mount whose file system a source opens.

use std::ffi::CString;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{Mode, OFlags, StatxFlags, open};

use crate::linux::mounts::Mount;
use crate::linux::statx;
use crate::reason::{NotInPlace, Obstacle};

/// A mount whose file system a source opens.
pub(crate) struct MountView<'a> {
    pub(crate) mount: &'a Mount,
    pub(crate) table: &'a [Mount],
    /// Its mount point, for messages.
    pub(crate) point: String,
    /// Its topmost directory.
    pub(crate) top: OwnedFd,
    pub(crate) top_stat: rustix::fs::Statx,
}

impl MountView<'_> {
    /// Opens the topmost directory of a mount, and checks the mount's options.
    pub(crate) fn of<'a>(
        mount: &'a Mount,
        table: &'a [Mount],
    ) -> Result<MountView<'a>, NotInPlace> {
        let point = String::from_utf8_lossy(&mount.point).into_owned();
        if mount.has_option("lazytime") {
            let text = format!("{point} is mounted with lazytime: times lie in memory");
            return Err(Obstacle::Mount.because(text));
        }
        if mount.has_option("idmapped") {
            let text = format!("{point} is an idmapped mount: it shows other owners");
            return Err(Obstacle::Mount.because(text));
        }
        let path = CString::new(mount.point.clone()).unwrap_or_default();
        let mask = StatxFlags::TYPE | StatxFlags::INO | StatxFlags::MNT_ID;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let found = open(&path, flags, Mode::empty())
            .and_then(|top| statx::by_descriptor(top.as_fd(), mask).map(|found| (top, found)));
        let (top, top_stat) =
            found.map_err(|errno| Obstacle::Unreadable.because(format!("{point}: {errno}")))?;
        if statx::mount_id(&top_stat) != mount.id {
            let text = format!("something else is mounted over {point}");
            return Err(Obstacle::Mount.because(text));
        }
        Ok(MountView {
            mount,
            table,
            point,
            top,
            top_stat,
        })
    }
}

/// The reason against all mounts where device numbers stand for their ids. Such a number can be
/// the id of another mount.
pub(crate) fn no_mount_id() -> NotInPlace {
    Obstacle::Mount
        .because("the mount is unknown: statx is refused or gives no mount id (before Linux 5.8)")
}

/// The reason against all mounts without their table.
pub(crate) fn no_table() -> NotInPlace {
    Obstacle::Mount.because("the table of mounts cannot be read")
}

/// The reason against a mount that is gone.
pub(crate) fn no_mount() -> NotInPlace {
    Obstacle::Mount.because("the mount table does not have this mount")
}
