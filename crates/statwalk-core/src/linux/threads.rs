// SPDX-License-Identifier: MIT OR Apache-2.0

//! The numbers and clocks of threads, and how urgent their I/O is.

use std::fs::File;
use std::io::Read as _;
use std::time::Duration;

pub(crate) use statwalk_sys::io_priority::{IoPriority, set_idle};

/// The number by which others can ask for the clocks of the calling thread; 0 if unknown.
pub(crate) fn number() -> i32 {
    statwalk_sys::thread_clock::this_thread().unwrap_or_default()
}

/// How far the calling thread stands behind others for a processor: -20 to 19. On Linux
/// it is that of a thread: setpriority(2), "C library/kernel differences".
pub(crate) fn niceness() -> i32 {
    rustix::process::getpriority_process(None).unwrap_or_default()
}

/// Says how far the calling thread stands behind others. Refused, it stays as it is.
pub(crate) fn set_niceness(niceness: i32) {
    let _ = rustix::process::setpriority_process(None, niceness.min(19));
}

/// How long a thread has computed, and how long it has waited for a processor until
/// it last had one; absent where the thread has ended.
pub(crate) fn cpu_and_wait(thread: i32) -> Option<(Duration, Duration)> {
    let cpu = statwalk_sys::thread_clock::of(thread)?;
    Some((cpu, waited_for_processor(thread).unwrap_or_default()))
}

/// Whether a thread could run and does not.
pub(crate) fn is_kept_from_processors(thread: i32) -> bool {
    let clock = || statwalk_sys::thread_clock::of(thread);
    let before = clock();
    // The state follows the name, which may hold anything: proc(5).
    let mut buffer = [0; 512];
    let text = about(thread, "stat", &mut buffer).unwrap_or_default();
    let name_end = text.iter().rposition(|&byte| byte == b')');
    let state = name_end.and_then(|end| text.get(end + 2));
    state == Some(&b'R') && clock() == before
}

/// The second number of schedstat, in nanoseconds: proc_pid_schedstat in
/// Documentation/scheduler/sched-stats.rst of Linux 6.18.
fn waited_for_processor(thread: i32) -> Option<Duration> {
    let mut buffer = [0; 128];
    let text = about(thread, "schedstat", &mut buffer)?;
    let text = std::str::from_utf8(text).ok()?;
    let nanoseconds = text.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(Duration::from_nanos(nanoseconds))
}

/// Reads the beginning of a file about a thread, with one call of read(2).
///
/// It asks for no size: where all stats are slow, that of such a file is, too.
fn about<'b>(thread: i32, file: &str, buffer: &'b mut [u8]) -> Option<&'b [u8]> {
    let mut file = File::open(format!("/proc/self/task/{thread}/{file}")).ok()?;
    let count = file.read(buffer).ok()?;
    Some(&buffer[..count])
}
