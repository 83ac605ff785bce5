// SPDX-License-Identifier: MIT OR Apache-2.0

//! Makes an error of the kernel a [`Failure`] for the lister.

use rustix::io::Errno as KernelErrno;

use crate::error::Errno;
use crate::failure::Failure;
use crate::listing::source::NotOpened;

impl From<KernelErrno> for Failure {
    #[cold]
    fn from(error: KernelErrno) -> Failure {
        let errno = Errno(error.raw_os_error());
        match error {
            KernelErrno::NOENT => Failure::NotFound(errno),
            KernelErrno::NOTDIR => Failure::NotADirectory(errno),
            KernelErrno::LOOP => Failure::Loop(errno),
            KernelErrno::XDEV => Failure::OtherDevice(errno),
            KernelErrno::NAMETOOLONG => Failure::NameTooLong(errno),
            _ => Failure::Other(errno),
        }
    }
}

impl From<KernelErrno> for NotOpened {
    #[cold]
    fn from(error: KernelErrno) -> NotOpened {
        Failure::from(error).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A failure that the core finds out has the number that the kernel would give.
    #[test]
    fn failures_of_the_core_are_of_the_kernels_kinds() {
        for failure in [
            Failure::NOT_FOUND,
            Failure::NOT_A_DIRECTORY,
            Failure::LOOP,
            Failure::OTHER_DEVICE,
            Failure::DAMAGED,
            Failure::BAD_HANDLE,
            Failure::OVERFLOW,
        ] {
            let number = failure.errno().0;
            assert_eq!(
                Failure::from(KernelErrno::from_raw_os_error(number)),
                failure
            );
        }
    }
}
