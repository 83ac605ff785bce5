// SPDX-License-Identifier: MIT OR Apache-2.0

//! An allocator that reports a lack of memory, instead of aborting.
//!
//! If an allocation fails, the standard library ends the process with SIGABRT, and
//! stable Rust cannot change that. So this allocator checks each request itself.
//!
//! The program promises the exit status 2 then, with a reason on stderr, and the browser
//! gives the terminal back: `docs/platform.md`. Without that promise this file could go.

use std::alloc::{GlobalAlloc, Layout, System};

/// The system's allocator, which calls a function if it has no memory.
#[derive(Debug)]
pub struct CheckedAllocator {
    refused: fn(usize) -> !,
}

impl CheckedAllocator {
    /// The allocator calls `refused` with the requested bytes. `refused` cannot allocate.
    #[must_use]
    pub const fn new(refused: fn(usize) -> !) -> CheckedAllocator {
        CheckedAllocator { refused }
    }

    #[inline]
    fn checked(&self, memory: *mut u8, bytes: usize) -> *mut u8 {
        if memory.is_null() {
            self.refuse(bytes);
        }
        memory
    }

    #[cold]
    fn refuse(&self, bytes: usize) -> ! {
        (self.refused)(bytes)
    }
}

// SAFETY: every request is passed to the system's allocator as it is, and its
// answer back; where that is no memory, nothing is answered at all.
unsafe impl GlobalAlloc for CheckedAllocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract, which is the same.
        self.checked(unsafe { System.alloc(layout) }, layout.size())
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        self.checked(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    #[inline]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        // SAFETY: as above.
        self.checked(unsafe { System.realloc(memory, layout, bytes) }, bytes)
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// Ends the process at once: nothing is written that lies in buffers, and nothing
/// allocated any more. See _exit(2).
pub fn end_process(status: i32) -> ! {
    // SAFETY: _exit takes an integer and does not return.
    unsafe { libc::_exit(status) }
}
