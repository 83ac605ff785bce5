// SPDX-License-Identifier: MIT OR Apache-2.0

//! The end of a process that the standard library or the C library aborts.
//!
//! A thread registers the destructors of its thread-locals at its start, with memory that
//! comes from no global allocator: `library/std/src/sys/thread_local/destructors/list.rs`
//! (Rust 1.95), `__cxa_thread_atexit_impl` of glibc. Where there is none, both write a line
//! to stderr and call abort(3).

use std::ffi::c_int;
use std::io;
use std::sync::OnceLock;

static INSTEAD: OnceLock<fn() -> !> = OnceLock::new();

/// Has the process call a function where it would abort.
///
/// A panic that aborts still ends with SIGABRT. The function runs in a signal handler: it
/// cannot allocate or wait for a lock, see signal-safety(7). The first function stays.
///
/// # Errors
///
/// Returns an error if the system refuses the handler.
pub fn call_instead(function: fn() -> !) -> io::Result<()> {
    if INSTEAD.set(function).is_err() {
        return Ok(());
    }
    let handler = on_abort as extern "C" fn(c_int);
    // SAFETY: the handler has the signature that signal(2) asks for. It calls nothing but
    // two loads and a function whose caller promises that a handler may call it.
    if unsafe { libc::signal(libc::SIGABRT, handler as libc::sighandler_t) } == libc::SIG_ERR {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// If it returns, abort(3) ends the process as it does without a handler.
extern "C" fn on_abort(_: c_int) {
    if !std::thread::panicking()
        && let Some(function) = INSTEAD.get()
    {
        function()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::{Command, ExitStatus};

    use super::*;

    const WAY: &str = "STATWALK_TEST_ABORT";

    fn end() -> ! {
        crate::allocator::end_process(2)
    }

    struct AbortsInAPanic;

    impl Drop for AbortsInAPanic {
        fn drop(&mut self) {
            std::process::abort();
        }
    }

    fn ended(way: &str) -> ExitStatus {
        // The name of a test has no crate.
        let (_, module) = module_path!().split_once("::").unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .arg(format!(
                "{module}::an_abort_calls_the_function_and_a_panic_does_not"
            ))
            .args(["--exact", "--nocapture"])
            .env(WAY, way);
        command.output().unwrap().status
    }

    #[test]
    fn an_abort_calls_the_function_and_a_panic_does_not() {
        if let Ok(way) = std::env::var(WAY) {
            call_instead(end).unwrap();
            let _dropped = (way == "panic").then_some(AbortsInAPanic);
            match way.as_str() {
                "abort" => std::process::abort(),
                _ => panic!("on purpose"),
            }
        }
        assert_eq!(ended("abort").code(), Some(2));
        assert_eq!(ended("panic").signal(), Some(libc::SIGABRT));
    }
}
