// SPDX-License-Identifier: MIT OR Apache-2.0

//! The copy that may fault, for x86-64.
//!
//! The routine and the handler know of each other. While the routine copies, `r8` and
//! `r9` hold the bounds of the bytes that it reads, and it keeps nothing on the stack.
//! [`FAILED`] bytes after its start stands the ending for a copy that failed.

use std::arch::naked_asm;
use std::ffi::c_void;

pub(super) const IS_SUPPORTED: bool = true;

/// Where the second ending stands, in bytes from the start. The assembler
/// refuses a routine that does not fit before it.
const FAILED: usize = 256;

/// Copies `length` bytes; false if a page of `from` could not be read.
///
/// Below 2 KiB vectors are faster than `rep movsb`, above it is the other way round
/// (`tests::speed` with another bound). 160 bytes from the second cache take 3 against
/// 11 ns, 4 KiB take 72 against 57.
///
/// # Safety
///
/// `into` must be valid for writes of `length` bytes. `from` must be mapped
/// readable for `length` bytes, though its pages need not be there, and the
/// handler of `fault_guard` must be installed.
#[inline]
pub(super) unsafe fn copy(into: *mut u8, from: *const u8, length: usize) -> bool {
    // SAFETY: the same promises.
    unsafe { routine(into, from, length) == 0 }
}

/// The part of memory that the processor's caches move at once.
const LINE_BYTES: usize = 64;

/// Has bytes brought into the caches.
#[inline]
pub(super) fn prefetch(from: *const u8, count: usize) {
    let mut offset = 0;
    // Fewer instructions than an iterator over the steps.
    while offset < count {
        let line = from.wrapping_add(offset).cast();
        offset += LINE_BYTES;
        // SAFETY: a prefetch reads nothing that a program can see, and an address
        // that is not mapped is ignored: Intel's manual, volume 2, PREFETCHh.
        unsafe { std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(line) };
    }
}

/// Zero, or one if it was interrupted by a bad page.
#[unsafe(naked)]
unsafe extern "C" fn routine(into: *mut u8, from: *const u8, length: usize) -> u32 {
    // The first label is the start, as `leave` has it. The direction flag is
    // clear on entry (System V ABI, 3.2.1), which `rep movsb` relies on.
    naked_asm!(
        "2:",
        "mov r8, rsi",
        "lea r9, [rsi + rdx]",
        "cmp rdx, 2048",
        "jae 8f",
        "cmp rdx, 16",
        "jb 6f",
        "sub rdx, 64",
        "jb 4f",
        "3:",
        "movups xmm0, [rsi]",
        "movups xmm1, [rsi + 16]",
        "movups xmm2, [rsi + 32]",
        "movups xmm3, [rsi + 48]",
        "movups [rdi], xmm0",
        "movups [rdi + 16], xmm1",
        "movups [rdi + 32], xmm2",
        "movups [rdi + 48], xmm3",
        "add rsi, 64",
        "add rdi, 64",
        "sub rdx, 64",
        "jae 3b",
        // Fewer than 64 bytes left behind others: the last 32 or 64, some of them for the
        // second time.
        "add rdx, 64",
        "je 9f",
        "cmp rdx, 32",
        "jbe 22f",
        "movups xmm0, [rsi + rdx - 64]",
        "movups xmm1, [rsi + rdx - 48]",
        "movups [rdi + rdx - 64], xmm0",
        "movups [rdi + rdx - 48], xmm1",
        "22:",
        "movups xmm0, [rsi + rdx - 32]",
        "movups xmm1, [rsi + rdx - 16]",
        "movups [rdi + rdx - 32], xmm0",
        "movups [rdi + rdx - 16], xmm1",
        "jmp 9f",
        // Fewer than 64 bytes in all.
        "4:",
        "add rdx, 64",
        "5:",
        "cmp rdx, 16",
        "jb 7f",
        "movups xmm0, [rsi]",
        "movups [rdi], xmm0",
        "add rsi, 16",
        "add rdi, 16",
        "sub rdx, 16",
        "jmp 5b",
        // Fewer than 16 bytes in all: one by one.
        "6:",
        "test rdx, rdx",
        "je 9f",
        "movzx eax, byte ptr [rsi]",
        "mov byte ptr [rdi], al",
        "inc rsi",
        "inc rdi",
        "dec rdx",
        "jmp 6b",
        // Fewer than 16 bytes left: the last 16, some of them for the second time.
        "7:",
        "test rdx, rdx",
        "je 9f",
        "movups xmm0, [rsi + rdx - 16]",
        "movups [rdi + rdx - 16], xmm0",
        "jmp 9f",
        "8:",
        "mov rcx, rdx",
        "rep movsb",
        "9:",
        "xor eax, eax",
        "ret",
        ".org 2b + {failed}, 0xcc",
        "mov eax, 1",
        "ret",
        failed = const FAILED,
    )
}

/// Has an interrupted copy end with a failure, if it is one and `address` lies
/// in what it reads; else changes nothing and returns false.
///
/// An `address` in what the copy *writes* is not ours to explain.
///
/// # Safety
///
/// `context` must be the third argument of a signal handler that is running.
pub(super) unsafe fn leave(context: *mut c_void, address: usize) -> bool {
    // SAFETY: the kernel passes a ucontext_t that this handler alone uses.
    let context = unsafe { &mut *context.cast::<libc::ucontext_t>() };
    let registers = &mut context.uc_mcontext.gregs;
    let start = routine as *const () as usize;
    let at = registers[libc::REG_RIP as usize] as usize;
    let from = registers[libc::REG_R8 as usize] as usize;
    let end = registers[libc::REG_R9 as usize] as usize;
    let is_ours = (start..start + FAILED).contains(&at) && (from..end).contains(&address);
    if is_ours {
        registers[libc::REG_RIP as usize] = (start + FAILED) as libc::greg_t;
    }
    is_ours
}
