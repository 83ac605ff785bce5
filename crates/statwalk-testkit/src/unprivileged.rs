// SPDX-License-Identifier: MIT OR Apache-2.0

//! Runs code and programs without the rights of root, where tests run as root.
//!
//! Root reads directories of mode 000, so a test of unreadable entries must run as
//! another user. Where the tests are not run by root there is nothing to do, and both
//! helpers run their argument as it is.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::{Gid, Uid};
use rustix::thread::CapabilitySet;

use crate::skipped::Skipped;

/// The user and the group that own nothing.
pub const NOBODY: u32 = 65534;

/// Says whether the tests run as root.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Calls `body` on a thread of its own as the user nobody, without groups and capabilities.
///
/// Threads that `body` starts run as that user too; the rest of the process does not.
/// Panics of `body` go on in the caller. The files that `body` reads must lie in
/// directories that nobody may enter: [`crate::Scratch`] is one.
///
/// # Errors
///
/// Skipped where root may not become another user.
pub fn as_ordinary_user<T: Send>(body: impl FnOnce() -> T + Send) -> Result<T, Skipped> {
    if !is_root() {
        return Ok(body());
    }
    may_become_nobody()?;
    let name = std::thread::current().name().unwrap_or("nobody").to_owned();
    let outcome = std::thread::scope(|scope| {
        std::thread::Builder::new()
            .name(name)
            .spawn_scoped(scope, || {
                become_nobody().map_err(|e| Skipped::needs(format!("setresuid: {e}")))?;
                Ok(body())
            })
            .expect("one more thread")
            .join()
    });
    outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// These calls act on the calling thread alone, other than those of libc.
fn become_nobody() -> io::Result<()> {
    let (user, group) = (Uid::from_raw(NOBODY), Gid::from_raw(NOBODY));
    rustix::thread::set_thread_groups(&[])?;
    rustix::thread::set_thread_res_gid(group, group, group)?;
    rustix::thread::set_thread_res_uid(user, user, user)?;
    Ok(())
}

/// A command that runs as the user nobody.
///
/// # Errors
///
/// Skipped where root may not become another user.
pub fn command(program: impl AsRef<std::ffi::OsStr>) -> Result<Command, Skipped> {
    let mut command = Command::new(program);
    if is_root() {
        may_become_nobody()?;
        // Before it sets the user, std drops the supplementary groups.
        command.gid(NOBODY).uid(NOBODY);
    }
    Ok(command)
}

/// Copies a program to where nobody can run it: build directories often lie below `/root`.
///
/// # Errors
///
/// The file cannot be copied.
pub fn publish(program: &Path, to_directory: &Path) -> io::Result<PathBuf> {
    let name = program.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let copy = to_directory.join(name);
    // Not here: a child of another test, between fork and exec, would have the copy open for
    // writing, and the kernel runs no such program (ETXTBSY in execve(2)).
    let copied = Command::new("cp").arg(program).arg(&copy).status()?;
    if !copied.success() {
        return Err(io::Error::other("cp has failed"));
    }
    std::fs::set_permissions(&copy, PermissionsExt::from_mode(0o755))?;
    Ok(copy)
}

fn may_become_nobody() -> Result<(), Skipped> {
    let needed = CapabilitySet::SETUID | CapabilitySet::SETGID;
    match rustix::thread::capabilities(None) {
        Ok(sets) if sets.effective.contains(needed) => Ok(()),
        _ => Err(Skipped::needs("CAP_SETUID and CAP_SETGID")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::or_skip;
    use crate::scratch::Scratch;

    #[test]
    fn a_directory_of_mode_000_stays_closed() {
        let scratch = Scratch::new().unwrap();
        let closed = scratch.subdirectory("closed").unwrap();
        std::fs::set_permissions(&closed, PermissionsExt::from_mode(0o000)).unwrap();
        let error = or_skip!(as_ordinary_user(|| {
            // A thread of this thread must have lost its rights as well.
            std::thread::scope(|scope| {
                scope
                    .spawn(|| std::fs::read_dir(&closed).unwrap_err().kind())
                    .join()
                    .unwrap()
            })
        }));
        assert_eq!(error, io::ErrorKind::PermissionDenied);
        // The thread of the test has kept its own.
        assert_eq!(std::fs::read_dir(&closed).is_ok(), is_root());
    }

    #[test]
    fn panics_pass_through() {
        let panic = std::panic::catch_unwind(|| {
            as_ordinary_user(|| std::panic::resume_unwind(Box::new("told")))
        });
        match panic {
            Err(payload) => assert_eq!(payload.downcast_ref::<&str>(), Some(&"told")),
            Ok(outcome) => {
                let () = or_skip!(outcome);
            }
        }
    }

    #[test]
    fn a_command_is_not_root() {
        let scratch = Scratch::new().unwrap();
        let id = publish(Path::new("/usr/bin/id"), scratch.path()).unwrap();
        let output = or_skip!(command(id)).arg("-u").output().unwrap();
        let user = String::from_utf8(output.stdout).unwrap();
        let expected = if is_root() {
            NOBODY
        } else {
            rustix::process::geteuid().as_raw()
        };
        assert_eq!(user.trim(), expected.to_string());
        // No supplementary group is left either.
        let output = or_skip!(command("/usr/bin/id")).arg("-G").output().unwrap();
        let groups = String::from_utf8(output.stdout).unwrap();
        if is_root() {
            assert_eq!(groups.trim(), NOBODY.to_string());
        }
    }
}
