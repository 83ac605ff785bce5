// SPDX-License-Identifier: MIT OR Apache-2.0

//! Samples the workers, and sets their number.

use std::time::{Duration, Instant};

use super::concurrency::{Concurrency, SAMPLE_MIN, Sample, Step};
use crate::reason::Reason;

/// The pause between samples if the number has been right for long.
const SAMPLE_PAUSE_MAX: Duration = Duration::from_millis(64);
/// A sample that was too short for a decision is taken again after its length divided
/// by this: soon at first, and seldom if calls take very long.
const TOO_SHORT_DIVISOR: u32 = 4;
/// The pause if more workers only lack work.
const RISING_PAUSE_MAX: Duration = Duration::from_millis(16);

/// Samples the workers and decides their number.
pub(super) struct Controller {
    concurrency: Option<Concurrency>,
    last_sample: Instant,
    pause: Duration,
    next_sample: Instant,
    effort: Effort,
}

/// The work of all workers so far.
#[derive(Clone, Copy, Default)]
pub(super) struct Effort {
    /// The time for which they had work.
    pub(super) occupied: Duration,
    /// The time for which they computed.
    pub(super) cpu: Duration,
    /// The time for which they computed or waited for a processor.
    pub(super) busy: Duration,
    /// Calls, and entries that they read without.
    pub(super) work: u64,
}

/// The decision after a sample.
pub(super) struct Decision {
    /// Whether calls wait so long that workers share entries.
    pub(super) is_slow: bool,
    pub(super) step: Option<Step>,
    /// The number of workers from now on.
    pub(super) workers: usize,
}

impl Controller {
    pub(super) fn new(started: Instant) -> Controller {
        Controller {
            concurrency: None,
            last_sample: started,
            pause: SAMPLE_MIN,
            next_sample: started + SAMPLE_MIN,
            effort: Effort::default(),
        }
    }

    /// The time of the next sample.
    pub(super) fn next_sample(&self) -> Instant {
        self.next_sample
    }

    /// Takes a sample; absent if it is too short for a decision. `begin` gives the first
    /// number.
    pub(super) fn sample(
        &mut self,
        now: Instant,
        effort: Effort,
        begin: impl FnOnce() -> Concurrency,
    ) -> Option<Decision> {
        let sample = Sample {
            elapsed: now - self.last_sample,
            occupied: effort.occupied.saturating_sub(self.effort.occupied),
            cpu: effort.cpu.saturating_sub(self.effort.cpu),
            busy: effort.busy.saturating_sub(self.effort.busy),
            calls: effort.work.saturating_sub(self.effort.work),
        };
        let concurrency = self.concurrency.get_or_insert_with(begin);
        if !concurrency.is_long_enough(&sample) {
            self.next_sample = now + sample.elapsed.max(SAMPLE_MIN) / TOO_SHORT_DIVISOR;
            return None;
        }
        let step = concurrency.decide(&sample);
        let is_slow = concurrency.is_slow();
        let workers = concurrency.workers();
        self.pause = match step {
            Some(_) => SAMPLE_MIN,
            None if concurrency.is_about_to_rise() => self.pause.min(RISING_PAUSE_MAX),
            None => (self.pause * 2).min(SAMPLE_PAUSE_MAX),
        };
        self.last_sample = now;
        self.next_sample = now + self.pause;
        self.effort = effort;
        Some(Decision {
            is_slow,
            step,
            workers,
        })
    }

    /// The reason for the number of workers, for the plan.
    pub(super) fn reason(&self) -> Option<Reason> {
        self.concurrency.as_ref()?.reason()
    }
}
