// SPDX-License-Identifier: MIT OR Apache-2.0

//! The processor time that a thread has used, or all of the process.

use std::time::Duration;

/// `CPUCLOCK_PERTHREAD_MASK | CPUCLOCK_SCHED`, include/linux/posix-timers_types.h
/// of Linux 6.18: the bits below the complement of a thread's number in a clock id.
const PER_THREAD_SCHED: libc::clockid_t = 0b110;

/// The number of the calling thread: gettid(2). Absent where a filter of system calls
/// refuses it; `rustix::thread::gettid` panics then.
#[must_use]
pub fn this_thread() -> Option<i32> {
    // SAFETY: the call takes nothing and changes nothing.
    let number = unsafe { libc::syscall(libc::SYS_gettid) };
    i32::try_from(number).ok().filter(|&number| number > 0)
}

/// The time of a thread of this process, by its number; absent where the thread
/// has ended.
///
/// The clock id is made as `pthread_getcpuclockid` makes it
/// (sysdeps/unix/sysv/linux/pthread_getcpuclockid.c of glibc 2.36).
#[must_use]
pub fn of(thread: i32) -> Option<Duration> {
    read((!thread << 3) | PER_THREAD_SCHED)
}

/// The time of this process; absent where a filter of system calls refuses it.
/// `rustix::time::clock_gettime` panics then.
#[must_use]
pub fn of_process() -> Option<Duration> {
    read(libc::CLOCK_PROCESS_CPUTIME_ID)
}

fn read(clock: libc::clockid_t) -> Option<Duration> {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the kernel writes one timespec, which is ours.
    let answer = unsafe { libc::clock_gettime(clock, &raw mut time) };
    let seconds = u64::try_from(time.tv_sec).ok()?;
    let nanoseconds = u32::try_from(time.tv_nsec).ok()?;
    (answer == 0).then(|| Duration::new(seconds, nanoseconds))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn a_thread_that_waits_uses_none() {
        let (tell, told) = mpsc::channel();
        let (end, ended) = mpsc::channel::<()>();
        let waiting = std::thread::spawn(move || {
            tell.send(this_thread().unwrap()).unwrap();
            let _ = ended.recv();
        });
        let thread = told.recv().unwrap();
        let before = of(thread).unwrap();
        std::thread::sleep(Duration::from_millis(30));
        // It may have been on its way to sleep.
        let after = of(thread).unwrap();
        assert!(after < before + Duration::from_millis(10), "{after:?}");
        drop(end);
        waiting.join().unwrap();
        // The kernel wakes whoever joins before the thread's number is free.
        let patience = std::time::Instant::now() + Duration::from_secs(60);
        while of(thread).is_some() && std::time::Instant::now() < patience {
            std::thread::yield_now();
        }
        assert_eq!(of(thread), None);
    }

    #[test]
    fn a_thread_that_computes_uses_some() {
        let me = this_thread().unwrap();
        let start = of(me).unwrap();
        let mut sum = 0u64;
        for number in 0..50_000_000 {
            sum = std::hint::black_box(sum + number);
        }
        assert!(of(me).unwrap() > start + Duration::from_millis(5));
    }
}
