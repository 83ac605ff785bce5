// SPDX-License-Identifier: MIT OR Apache-2.0

//! The start of a program without the start of Rust's runtime.
//!
//! Before it calls `main`, the standard library reads `/proc/self/maps` to find the
//! guard page of the stack, and installs handlers that tell a stack overflow from
//! another fault. `docs/platform.md` has the time that takes. This file does the part
//! that a program relies on: the standard streams are open, and a closed pipe is an
//! error and not a signal (`library/std/src/sys/pal/unix/mod.rs`, Rust 1.95).
//!
//! The C library hands the arguments to `std::env::args_os` by itself
//! (`.init_array`), but only the GNU one does.

use std::ffi::c_int;

/// Makes a function that takes nothing and never returns the program's start.
///
/// On the GNU C library it becomes the C `main`, and the crate needs
/// `#![no_main]` there; elsewhere it is called by an ordinary `fn main`.
///
/// A stack overflow ends in SIGSEGV without a message. Where the address space has a
/// limit, the second function is called instead of an abort, see
/// [`call_instead`](crate::abort::call_instead).
///
/// ```no_run
/// #![cfg_attr(all(target_os = "linux", target_env = "gnu"), no_main)]
///
/// fn run() -> ! {
///     println!("{} arguments", std::env::args_os().len());
///     std::process::exit(0)
/// }
///
/// fn aborted() -> ! {
///     statwalk_sys::allocator::end_process(2)
/// }
///
/// statwalk_sys::entry_point!(run, aborted);
/// ```
#[macro_export]
macro_rules! entry_point {
    ($run:path, $aborted:path) => {
        #[cfg(all(target_os = "linux", target_env = "gnu"))]
        // SAFETY: this is the symbol that the C library calls, once, with the
        // arguments and the result of a C `main`; no other item has that name.
        #[unsafe(no_mangle)]
        extern "C" fn main(
            _arg_count: ::std::ffi::c_int,
            _args: *const *const ::std::ffi::c_char,
        ) -> ::std::ffi::c_int {
            $crate::entry_point::prepare();
            let run: fn() -> ! = $run;
            let address_space = $crate::address_space::limit_bytes();
            if address_space.is_some() {
                $crate::address_space::use_sparingly();
                // Without the handler it ends with SIGABRT, as other programs do.
                let _ = $crate::abort::call_instead($aborted);
            }
            $crate::first_stack::run_on_enough(run, address_space)
        }

        #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
        fn main() -> ! {
            let run: fn() -> ! = $run;
            run()
        }
    };
}

/// Keeps the places of standard streams that are closed, and has a closed pipe
/// be an error.
///
/// Without it the first file that is opened would become standard output. A stream in
/// such a place can be neither read nor written: that fails with EBADF, as on a closed
/// stream. So no answer is lost without a word.
pub fn prepare() {
    for stream in 0..=2 {
        // SAFETY: F_GETFD takes no argument and changes nothing.
        if unsafe { libc::fcntl(stream, libc::F_GETFD) } == -1 {
            keep_place();
        }
    }
    // SAFETY: no other thread runs yet; SIG_IGN is no function of ours.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
}

/// Takes the lowest free descriptor for good.
///
/// `O_PATH`: open(2). Not `/dev/null`, which takes what is written, can be
/// opened anew by way of `/dev/stdin`, and is not there in every container.
fn keep_place() {
    const ROOT: &std::ffi::CStr = c"/";
    // SAFETY: the path is a C string that lives as long as the program. The
    // descriptor is meant to stay open.
    let _: c_int = unsafe { libc::open(ROOT.as_ptr(), libc::O_PATH) };
}
