// SPDX-License-Identifier: MIT OR Apache-2.0

//! Whether a handle belongs to the process that calls, without a system call.
//!
//! getpid(2) for each entry would cost more than the entry. So there is a page of memory
//! that the kernel empties in the child of a fork (`MADV_WIPEONFORK`, madvise(2), Linux
//! 4.14). It holds a mark, which a handle remembers. A child makes another mark with its
//! first handle: its counter goes on from that of the parent.

use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use statwalk_core::Canceller;
use statwalk_stream::Failure;

/// The process in which a handle was made.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Process {
    /// The page, and its mark then.
    Marked(&'static AtomicU64, u64),
    /// Its number, where the kernel empties no page.
    Numbered(u32),
}

impl Process {
    /// The process that calls.
    pub(crate) fn current() -> Process {
        match wiped_page() {
            Some(page) => Process::Marked(page, mark(page)),
            None => Process::Numbered(std::process::id()),
        }
    }

    /// Whether the caller is in that process, and in no child of a fork.
    pub(crate) fn is_current(self) -> bool {
        match self {
            Process::Marked(page, mark) => page.load(Ordering::Relaxed) == mark,
            Process::Numbered(number) => number == std::process::id(),
        }
    }

    /// Stops a scan of that process. In a child the lock of its workers may be held for ever.
    pub(crate) fn cancel(self, canceller: Option<&Canceller>) {
        let canceller = canceller.filter(|_| self.is_current());
        // A panic was noted by the thread that goes on.
        let _ = Failure::catch(|| canceller.map(Canceller::cancel));
    }

    /// Fails in the child of a fork.
    pub(crate) fn check(self) -> Result<(), Failure> {
        match self.is_current() {
            true => Ok(()),
            false => Err(Failure::Forked),
        }
    }
}

/// The mark of this process, which is not that of any process above it.
fn mark(page: &AtomicU64) -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let found = page.load(Ordering::Relaxed);
    if found != 0 {
        return found;
    }
    let new = LAST.fetch_add(1, Ordering::Relaxed) + 1;
    match page.compare_exchange(0, new, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => new,
        Err(of_another_thread) => of_another_thread,
    }
}

/// The page; absent where the kernel has no such memory.
///
/// It takes no lock: a thread that does not exist in the child of a fork may hold it.
fn wiped_page() -> Option<&'static AtomicU64> {
    static PAGE: AtomicPtr<AtomicU64> = AtomicPtr::new(std::ptr::null_mut());
    let mut page = PAGE.load(Ordering::Acquire);
    if page.is_null() {
        let mapped = map_page()?;
        let null = std::ptr::null_mut();
        let kept = PAGE.compare_exchange(null, mapped, Ordering::AcqRel, Ordering::Acquire);
        page = kept.map_or_else(
            |of_another_thread| {
                unmap_page(mapped);
                of_another_thread
            },
            |_| mapped,
        );
    }
    // SAFETY: `map_page` gave it, aligned and filled with zeros, and nobody unmaps a page that
    // was stored. All writes after that are atomic. The kernel writes in the child of a fork
    // alone, before its first instruction.
    Some(unsafe { &*page })
}

/// Enough for an `AtomicU64`: the kernel rounds it up to its pages.
const PAGE_BYTES: usize = 4096;

/// A page of zeros, which is one again in each child.
fn map_page() -> Option<*mut AtomicU64> {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: a new mapping, at an address that the kernel chooses, touches no memory in use.
    let page = unsafe { libc::mmap(std::ptr::null_mut(), PAGE_BYTES, access, kind, -1, 0) };
    if page == libc::MAP_FAILED {
        return None;
    }
    // An emulator that takes every advice, and follows none, takes this one.
    const NO_ADVICE: libc::c_int = -1;
    // SAFETY: advice for that mapping, which nobody else knows.
    let is_wiped = unsafe {
        libc::madvise(page, PAGE_BYTES, NO_ADVICE) != 0
            && libc::madvise(page, PAGE_BYTES, libc::MADV_WIPEONFORK) == 0
    };
    let page = page.cast();
    if !is_wiped {
        unmap_page(page);
        return None;
    }
    Some(page)
}

/// Gives a page back that was not stored.
fn unmap_page(page: *mut AtomicU64) {
    // SAFETY: `map_page` mapped it, and nobody else knows it. An error leaves a page behind.
    unsafe { libc::munmap(page.cast(), PAGE_BYTES) };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether it holds in a child.
    fn in_child(holds: impl FnOnce() -> bool) -> bool {
        let mut status = 0;
        // SAFETY: the child asks for memory and numbers, and ends without destructors.
        unsafe {
            match libc::fork() {
                0 => libc::_exit(i32::from(!holds())),
                child => assert_eq!(libc::waitpid(child, &mut status, 0), child),
            }
        }
        status == 0
    }

    #[test]
    fn a_child_is_another_process() {
        let here = Process::current();
        assert!(matches!(here, Process::Marked(..)), "{here:?}");
        let numbered = Process::Numbered(std::process::id());
        for process in [here, numbered] {
            assert!(process.is_current());
            assert!(in_child(|| !process.is_current()));
            assert!(process.is_current());
        }
        assert!(Process::current().is_current());
    }

    #[test]
    fn a_handle_of_the_child_makes_none_of_the_parent_its_own() {
        let parent = Process::current();
        assert!(in_child(|| {
            let child = Process::current();
            let is_apart = child.is_current() && !parent.is_current();
            is_apart
                && in_child(|| {
                    let grandchild = Process::current();
                    grandchild.is_current() && !child.is_current() && !parent.is_current()
                })
                && child.is_current()
        }));
    }

    #[test]
    fn threads_agree_on_the_mark() {
        let threads: Vec<_> = (0..8)
            .map(|_| std::thread::spawn(|| Process::current().is_current()))
            .collect();
        for thread in threads {
            assert!(thread.join().unwrap());
        }
    }
}
