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
    // SAFETY: ioprio_set takes three integers and touches no memory of ours.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_ioprio_set,
            WHO_PROCESS,
            0,
            CLASS_IDLE << CLASS_SHIFT,
        )
    };
    if answer == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn an_ordinary_thread_may_become_idle() {
        std::thread::spawn(|| super::set_idle().unwrap())
            .join()
            .unwrap();
    }
}
