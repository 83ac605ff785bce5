// SPDX-License-Identifier: MIT OR Apache-2.0

//! Automount points without a server: a process that triggers one is noticed, and hangs.
//!
//! The kernel asks for a mount by a packet in a pipe. The process that woke it waits
//! for the answer, which never comes; a signal that kills ends the wait. So a process
//! that may wake one is a process of its own, in another process group. The kernel
//! takes the test's own group for the automounter, and never lets it wait.
//!
//! Facts: Documentation/filesystems/autofs.rst, include/uapi/linux/auto_fs.h.

use std::io::{PipeReader, Read};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::mount::MountFlags;

use crate::mounts::{Mounted, mount_it, needs_root};
use crate::skipped::Skipped;

/// The part of an autofs that triggers a mount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trigger {
    /// Its root.
    Direct,
    /// The empty directories in it, and names that it does not show.
    Indirect,
}

/// An autofs, which goes away with this value.
///
/// The test itself sees it as its automounter does: it wakes nothing, makes the
/// directories of an indirect one by [`std::fs::create_dir`], and mounts on them.
#[derive(Debug)]
pub struct Automount {
    // First, because as long as it is mounted somebody may write to the pipe.
    mounted: Mounted,
    requests: PipeReader,
}

impl Automount {
    /// Mounts one on a directory.
    ///
    /// # Errors
    ///
    /// Skipped without root or the kernel's support.
    pub fn mount(at: &Path, trigger: Trigger) -> Result<Automount, Skipped> {
        needs_root()?;
        let (requests, requester) = std::io::pipe().expect("a pipe");
        let kind = match trigger {
            Trigger::Direct => "direct",
            Trigger::Indirect => "indirect",
        };
        let options = format!(
            "fd={},pgrp={},minproto=5,maxproto=5,{kind}",
            requester.as_raw_fd(),
            rustix::process::getpgrp().as_raw_nonzero()
        );
        mount_it("statwalk", at, "autofs", MountFlags::empty(), &options)?;
        Ok(Automount {
            mounted: Mounted::new(at),
            requests,
        })
    }

    /// Where it is mounted.
    pub fn path(&self) -> &Path {
        self.mounted.path()
    }

    /// The name for which a mount was asked first since the last call, waiting up to `timeout` for it.
    ///
    /// For a direct one the name is the kernel's own.
    pub fn request(&mut self, timeout: Duration) -> Option<String> {
        // struct autofs_v5_packet: twelve numbers, then the name, ended by NUL.
        const NAME_OFFSET: usize = 44;
        let timeout = Timespec::try_from(timeout).expect("a short time");
        let mut pipe = [PollFd::new(&self.requests, PollFlags::IN)];
        if poll(&mut pipe, Some(&timeout)).expect("the pipe can be watched") == 0 {
            return None;
        }
        // The kernel writes whole packets, and each read takes one.
        let mut packet = [0; 512];
        let length = self.requests.read(&mut packet).expect("a packet");
        let name = packet[..length].get(NAME_OFFSET..).unwrap_or_default();
        let end = name.iter().position(|&byte| byte == 0);
        Some(String::from_utf8_lossy(&name[..end.unwrap_or(name.len())]).into_owned())
    }
}
