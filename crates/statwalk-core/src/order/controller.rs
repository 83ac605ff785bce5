// SPDX-License-Identifier: MIT OR Apache-2.0

//! Looks at what the workers do, now and then, and says how many there are to be.

use std::time::{Duration, Instant};

use super::concurrency::{Concurrency, SAMPLE_MIN, Sample, Step};

/// How often the number of workers is looked at where it has been right for long.
const SAMPLE_PAUSE_MAX: Duration = Duration::from_millis(64);
/// A sample that was too short to decide is taken again after its length divided by
/// this: soon at first, and seldom where calls take for ever.
const TOO_SHORT_DIVISOR: u32 = 4;
/// How often where more workers only want work.
const RISING_PAUSE_MAX: Duration = Duration::from_millis(16);

/// Looks at what the workers do and decides how many there are.
pub(super) struct Controller {
    concurrency: Option<Concurrency>,
    last_sample: Instant,
    pause: Duration,
    next_sample: Instant,
    effort: Effort,
}

/// What all workers did so far.
#[derive(Clone, Copy, Default)]
pub(super) struct Effort {
    /// How long they had something to do.
    pub(super) occupied: Duration,
    /// How long they computed.
    pub(super) cpu: Duration,
    /// How long they computed or waited for a processor.
    pub(super) busy: Duration,
    /// Calls, and entries that were read without.
    pub(super) work: u64,
}

/// What a sample led to.
pub(super) struct Decision {
    /// Whether calls wait so long that entries are handed around.
    pub(super) is_slow: bool,
    pub(super) step: Option<Step>,
    /// How many workers there are to be.
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

    /// When it is time to sample again.
    pub(super) fn next_sample(&self) -> Instant {
        self.next_sample
    }

    /// Looks at what all workers did so far; nothing where that is too little to
    /// decide. `begin` says how many there are at first.
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

    /// What became of the number of workers, for the plan.
    pub(super) fn reason(&self) -> Option<String> {
        self.concurrency.as_ref()?.reason()
    }
}
