// SPDX-License-Identifier: MIT OR Apache-2.0

//! The stack that a program starts on, and another one where that is too small.
//!
//! The kernel lets the first stack grow up to `RLIMIT_STACK`, and kills the
//! process where it may not: `ulimit -s 32` leaves less than the parser of a
//! command line takes. Under a limit of the address space it kills also where the
//! rest of the process has taken what the stack wants. A stack that is mapped at
//! the start cannot be refused later. It needs no thread, which may not be had
//! either: makecontext(3).

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::sync::OnceLock;

use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect};

/// The most that a program may take of its stack. The usual limit is eight times that.
const ENOUGH_BYTES: usize = 1 << 20;
/// The size of another stack, and the least that it may have.
const LARGE_BYTES: usize = 8 << 20;
const SMALL_BYTES: usize = 256 << 10;
/// The share of a limited address space that it may take.
const SHARE_OF_ADDRESS_SPACE: u64 = 32;

/// The function that begins on the other stack.
static RUN: OnceLock<fn() -> !> = OnceLock::new();

/// Runs the program on a stack that is large enough.
///
/// `address_space_bytes` is the limit of the address space, if there is one.
pub fn run_on_enough(run: fn() -> !, address_space_bytes: Option<u64>) -> ! {
    if address_space_bytes.is_some() || limit_bytes() < ENOUGH_BYTES {
        let share = address_space_bytes.map(|bytes| bytes / SHARE_OF_ADDRESS_SPACE);
        let share = share.map_or(LARGE_BYTES, |bytes| bytes as usize);
        let wanted = share.clamp(SMALL_BYTES, LARGE_BYTES).next_power_of_two();
        let stack = map(wanted).or_else(|| map(SMALL_BYTES));
        if let Some((start, bytes)) = stack {
            run_on(start, bytes, run);
        }
    }
    run()
}

/// The limit of the first stack. The C library has asked for it at the start, and
/// gives as much to threads: `__pthread_initialize_minimal_internal`, nptl of
/// glibc 2.36.
fn limit_bytes() -> usize {
    let mut bytes = 0;
    let mut attributes = MaybeUninit::uninit();
    // SAFETY: the first call fills the attributes, or fails; the second only reads
    // what the first has filled, and writes one number, which is ours.
    let answer = unsafe {
        match pthread_getattr_default_np(attributes.as_mut_ptr()) {
            0 => libc::pthread_attr_getstacksize(attributes.as_ptr(), &raw mut bytes),
            error => error,
        }
    };
    // Where it is unknown it is what it always is.
    if answer == 0 { bytes } else { LARGE_BYTES }
}

unsafe extern "C" {
    /// pthread_getattr_default_np(3); the `libc` crate does not have it.
    fn pthread_getattr_default_np(attributes: *mut libc::pthread_attr_t) -> libc::c_int;
}

/// Memory for a stack, below which nothing can be written.
fn map(bytes: usize) -> Option<(*mut c_void, usize)> {
    let guard_bytes = rustix::param::page_size();
    let flags = MapFlags::PRIVATE | MapFlags::NORESERVE | MapFlags::STACK;
    let null = std::ptr::null_mut();
    // SAFETY: the kernel chooses an address that is free, so no memory of ours is
    // replaced; what is protected is a part of what was mapped.
    unsafe {
        let all = guard_bytes + bytes;
        let start = mmap_anonymous(null, all, ProtFlags::empty(), flags).ok()?;
        let stack = start.wrapping_byte_add(guard_bytes);
        mprotect(stack, bytes, MprotectFlags::READ | MprotectFlags::WRITE).ok()?;
        Some((stack, bytes))
    }
}

/// Goes on there; returns where that cannot be.
fn run_on(start: *mut c_void, bytes: usize, run: fn() -> !) {
    extern "C" fn begin() {
        if let Some(run) = RUN.get() {
            run()
        }
    }

    if RUN.set(run).is_err() {
        return;
    }
    let mut context = MaybeUninit::<libc::ucontext_t>::uninit();
    // SAFETY: getcontext fills the context, or fails. The stack is memory that
    // nobody else knows, is never unmapped, and ends above `start`. What begins
    // there never returns, so the context needs no successor; and nothing of this
    // stack is dropped, which stays as it is.
    unsafe {
        if libc::getcontext(context.as_mut_ptr()) != 0 {
            return;
        }
        let context = context.assume_init_mut();
        context.uc_stack.ss_sp = start;
        context.uc_stack.ss_size = bytes;
        context.uc_link = std::ptr::null_mut();
        libc::makecontext(context, begin, 0);
        libc::setcontext(context);
    }
}
