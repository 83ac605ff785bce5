// SPDX-License-Identifier: MIT OR Apache-2.0

//! The action of the process at a signal.

/// Whether the process ignores a signal, as one that `nohup` started ignores SIGHUP.
/// `false` for a number that is no signal.
#[must_use]
pub fn is_ignored(signal: i32) -> bool {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: without a new action the call changes nothing. The old one is written into
    // memory of its type, where zeros are valid too.
    let action = unsafe {
        let answer = libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr());
        if answer != 0 {
            return false;
        }
        action.assume_init()
    };
    action.sa_sigaction == libc::SIG_IGN
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rust_programs_ignore_closed_pipes() {
        // The runtime of the test ignores SIGPIPE (std::rt).
        assert!(is_ignored(libc::SIGPIPE));
        assert!(!is_ignored(libc::SIGTERM));
        assert!(!is_ignored(-1));
    }
}
