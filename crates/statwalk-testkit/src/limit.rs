// SPDX-License-Identifier: MIT OR Apache-2.0

//! Limits of time that hold on a busy machine, too.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// The processor time of the job that is measured.
const JOB: Duration = Duration::from_millis(30);

/// A limit of a machine with nothing beside, in the time that this machine takes now.
///
/// It is no looser on a calm machine, and longer where others have the processors.
///
/// Ask for it after what it limits, so that both meet the same neighbours.
///
/// # Examples
///
/// ```
/// use std::time::{Duration, Instant};
///
/// let begun = Instant::now();
/// let answer = 6 * 7;
/// let took = begun.elapsed();
/// assert!(took < statwalk_testkit::stretched(Duration::from_secs(1)), "{took:?}: {answer}");
/// ```
#[must_use]
pub fn stretched(limit: Duration) -> Duration {
    limit.mul_f64(slowness())
}

/// Whether a time is below a limit of a machine with nothing beside, in the time that this
/// machine takes now.
///
/// Only a time above the limit itself costs a look at the machine, which takes 30 ms of a
/// processor: a loop can ask as often as it likes.
#[must_use]
pub fn is_within(took: Duration, limit: Duration) -> bool {
    took < limit || took < stretched(limit)
}

/// How many times as long as on a machine with nothing beside a job takes now: at least 1.
///
/// A thread works until it has had some processor time, and that is compared with the clock.
#[must_use]
pub fn slowness() -> f64 {
    let (begun, begun_cpu) = (Instant::now(), processor_time());
    let mut sum = 0_u64;
    let worked = loop {
        let worked = processor_time().saturating_sub(begun_cpu);
        if worked >= JOB {
            break worked;
        }
        for number in 0..10_000 {
            sum = std::hint::black_box(sum.wrapping_add(number));
        }
    };
    (begun.elapsed().as_secs_f64() / worked.as_secs_f64()).max(1.0)
}

/// Of this thread.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    // A clock of a thread is never negative.
    Duration::new(
        time.tv_sec.unsigned_abs(),
        time.tv_nsec.unsigned_abs() as u32,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_stretch_a_limit() {
        let limit = Duration::from_secs(1);
        assert!(stretched(limit) >= limit);
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let is_over = std::sync::atomic::AtomicBool::new(false);
        let longest = std::thread::scope(|scope| {
            for _ in 0..4 * processors {
                scope.spawn(|| {
                    while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                        std::hint::spin_loop();
                    }
                });
            }
            let longest = (0..5).map(|_| stretched(limit)).max();
            is_over.store(true, std::sync::atomic::Ordering::Relaxed);
            longest
        });
        // Five threads for each processor.
        assert!(longest > Some(2 * limit), "{longest:?}");
    }
}
