// SPDX-License-Identifier: MIT OR Apache-2.0

//! Decides whether this process may read a device.
//!
//! A device shows all files, whatever their permissions say. statwalk must not show
//! its user more than system calls would.

use std::io;

use statwalk_sys::capabilities::{self, Capabilities};

use crate::error::Errno;
use crate::reason::{NotInPlace, Obstacle};

/// `CAP_DAC_OVERRIDE` and `CAP_DAC_READ_SEARCH`, include/uapi/linux/capability.h.
///
/// With either, a process reads every directory by system calls, too.
const READS_EVERYTHING: u64 = 1 << 1 | 1 << 2;

/// The reason not to read a device, even a readable one. Absent if there is none.
///
/// `was_asked` says that the caller named the source. Then the right to open the device
/// suffices, and inherited capabilities count as given on purpose.
pub(crate) fn objection(was_asked: bool) -> Option<NotInPlace> {
    if let Some(objection) = objection_to_images() {
        return Some(objection);
    }
    if !capabilities::has_all_ids() {
        return lacks("this user namespace maps owners, which the device does not");
    }
    if was_asked {
        return None;
    }
    let capabilities = Capabilities::read();
    if capabilities.ambient & READS_EVERYTHING != 0 {
        return lacks("the right to read everything is an ambient capability");
    }
    if capabilities.effective & READS_EVERYTHING == 0 {
        return lacks(
            "without the right to read everything, a device shows more than is permitted",
        );
    }
    None
}

fn lacks(text: &str) -> Option<NotInPlace> {
    Some(Obstacle::Privilege.because(text))
}

/// The system refused a call, perhaps for lack of a privilege, which is named then.
pub(crate) fn refused(what: &str, error: &io::Error, needs: &str) -> NotInPlace {
    /// `EPERM` and `EACCES`, include/uapi/asm-generic/errno-base.h.
    const WITHOUT_PRIVILEGE: [i32; 2] = [1, 13];
    match error.raw_os_error() {
        Some(number) if WITHOUT_PRIVILEGE.contains(&number) => {
            Obstacle::Privilege.because(format!("{what}: {} (needs {needs})", Errno(number)))
        }
        Some(number) => Obstacle::Unreadable.because(format!("{what}: {}", Errno(number))),
        None => Obstacle::Unreadable.because(format!("{what}: {error}")),
    }
}

/// The reason to read neither an image nor a named device. Absent if there is none.
///
/// The caller of a set-uid program must not see files by its privilege.
pub(crate) fn objection_to_images() -> Option<NotInPlace> {
    match statwalk_sys::secure_execution::is_on() {
        true => lacks("this program runs set-uid, set-gid or with capabilities of its file"),
        false => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_the_privilege_and_no_number() {
        let check = |number, expected: &str| {
            let error = io::Error::from_raw_os_error(number);
            let not = refused("to do", &error, "root");
            assert_eq!(not.to_string(), format!("to do: {expected}"));
        };
        check(1, "operation not permitted (needs root)");
        check(13, "permission denied (needs root)");
        check(5, "input/output error");
        let not = refused("to do", &io::Error::other("no"), "root");
        assert_eq!(not, Obstacle::Unreadable.because("to do: no"));
    }
}
