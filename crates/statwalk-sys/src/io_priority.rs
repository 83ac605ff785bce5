// SPDX-License-Identifier: MIT OR Apache-2.0

//! The I/O scheduling class of a thread.

use std::io;

/// `IOPRIO_WHO_PROCESS`, include/uapi/linux/ioprio.h: the id names a thread.
const WHO_PROCESS: libc::c_int = 1;
/// `IOPRIO_CLASS_IDLE`, include/uapi/linux/ioprio.h.
const CLASS_IDLE: libc::c_int = 3;
/// `IOPRIO_CLASS_SHIFT`, include/uapi/linux/ioprio.h.
const CLASS_SHIFT: libc::c_int = 13;

/// Puts the calling thread into the idle I/O class.
///
/// Threads that it starts afterwards inherit the class. Only some I/O
/// schedulers (bfq, mq-deadline) look at it; the others ignore it.
///
/// # Errors
///
/// Returns the kernel's error; `EPERM` on kernels before 2.6.25 for ordinary
/// users. See ioprio_set(2).
pub fn set_idle() -> io::Result<()> {
    IoPriority(CLASS_IDLE << CLASS_SHIFT).set()
}

/// A class, and a level within it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IoPriority(libc::c_int);

impl IoPriority {
    /// The priority of the calling thread.
    ///
    /// # Errors
    ///
    /// Returns the kernel's error; see ioprio_get(2).
    pub fn current() -> io::Result<IoPriority> {
        // SAFETY: ioprio_get takes two integers and touches no memory of ours.
        let answer = unsafe { libc::syscall(libc::SYS_ioprio_get, WHO_PROCESS, 0) };
        match libc::c_int::try_from(answer) {
            Ok(priority @ 0..) => Ok(IoPriority(priority)),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Gives it to the calling thread.
    ///
    /// # Errors
    ///
    /// Returns the kernel's error; see ioprio_set(2).
    pub fn set(self) -> io::Result<()> {
        // SAFETY: ioprio_set takes three integers and touches no memory of ours.
        let answer = unsafe { libc::syscall(libc::SYS_ioprio_set, WHO_PROCESS, 0, self.0) };
        match answer {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ordinary_thread_may_become_idle() {
        std::thread::spawn(|| set_idle().unwrap()).join().unwrap();
    }

    #[test]
    fn a_thread_gets_back_what_it_had() {
        let thread = std::thread::spawn(|| {
            let before = IoPriority::current().unwrap();
            set_idle().unwrap();
            assert_eq!(
                IoPriority::current().unwrap(),
                IoPriority(CLASS_IDLE << CLASS_SHIFT)
            );
            before.set().unwrap();
            assert_eq!(IoPriority::current().unwrap(), before);
        });
        thread.join().unwrap();
    }
}
