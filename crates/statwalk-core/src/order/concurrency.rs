// SPDX-License-Identifier: MIT OR Apache-2.0

//! The number of workers, if the caller sets none.
//!
//! For data in memory, more workers than processors gain nothing. If each call waits
//! for a network or a disk, the rate is the number of calls under way divided by the
//! latency. So the number follows the workers: while they mostly wait, it is
//! multiplied. If the rate does not follow, the last step is taken back. The number
//! never falls below that of the processors.
//!
//! This file decides; it reads no clock and starts no thread.

use crate::reason::Reason;
use std::time::Duration;

/// The largest number of workers. Divided by the latency of a call it is the rate on a
/// network file system. A worker takes some 100 KiB.
pub(crate) const WORKERS_MAX: usize = 64;

/// The shortest time of a sample.
pub(super) const SAMPLE_MIN: Duration = Duration::from_millis(8);
/// The longest time of a sample, for slow calls.
const SAMPLE_MAX: Duration = Duration::from_millis(400);
/// The calls that each worker should make in a sample, so that the rates of two
/// samples can be compared.
const CALLS_PER_WORKER: u64 = 6;
/// The same for workers that mostly wait: their steps are large, and so are the gains.
const LONG_CALLS_PER_WORKER: u64 = 2;
/// A call of this length or more leads to the largest number in one step. On a network
/// or a disk that turns, more calls under way cost only threads, and each sample lasts
/// some calls.
const LONG_CALL: Duration = Duration::from_millis(1);

/// The share of their time that workers must wait before more are tried. On a cold
/// local disk two workers wait for a third of their time; in memory for none.
const WAITING_ENOUGH: f64 = 0.2;
/// The share from which calls count as slow, so that workers share entries.
const WAITING_LONG: f64 = 0.5;
/// The share from which steps are larger.
const WAITING_MOSTLY: f64 = 0.9;
/// The share of the time for which workers must have work, or their number does not
/// matter.
const OCCUPIED_ENOUGH: f64 = 0.7;
/// The growth of the rate that keeps a step, as a share of the workers it added.
const GAIN_ENOUGH: f64 = 0.1;
/// The gain from which a step that was too large is taken back in part.
const GAIN_TO_KEEP: f64 = 1.5;
/// The time for which a step is tried before it is taken back. In a short sample the
/// rate of a disk halves and doubles by chance. A step that gains at once is kept at
/// once.
const TRIED_MIN: Duration = Duration::from_millis(24);
/// The samples before a step that was taken back is tried again, the first time.
const PATIENCE: u32 = 6;

/// The work of all workers since the last sample.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    pub(super) elapsed: Duration,
    /// The time for which workers had work, summed.
    pub(super) occupied: Duration,
    /// The time for which they computed, summed.
    pub(super) cpu: Duration,
    /// The time for which they computed or waited for a processor, summed.
    pub(super) busy: Duration,
    /// System calls of all workers, and entries that they read without.
    pub(super) calls: u64,
}

impl Sample {
    /// The share of the time with work in which workers waited.
    fn waiting(&self) -> f64 {
        let occupied = self.occupied.as_secs_f64();
        1.0 - (self.busy.as_secs_f64() / occupied.max(f64::MIN_POSITIVE)).min(1.0)
    }

    /// The mean number of workers that had work.
    fn occupied_workers(&self) -> f64 {
        self.occupied.as_secs_f64() / self.elapsed.as_secs_f64().max(f64::MIN_POSITIVE)
    }

    /// The number of workers to try next, from `now` and up to `most`.
    fn next_try(&self, now: usize, most: usize) -> usize {
        let calls = u32::try_from(self.calls).unwrap_or(u32::MAX).max(1);
        match self.waiting() > WAITING_MOSTLY {
            true if self.occupied / calls >= LONG_CALL => most,
            true => (now * 4).min(most),
            false => (now * 2).min(most),
        }
    }
}

/// The calls of one number of workers, and their time.
#[derive(Clone, Copy, Debug, Default)]
struct MeasuredPace {
    calls: f64,
    seconds: f64,
}

impl MeasuredPace {
    /// Adds a sample; earlier samples count half.
    fn add(&mut self, sample: &Sample) {
        self.calls = self.calls / 2.0 + sample.calls as f64;
        self.seconds = self.seconds / 2.0 + sample.elapsed.as_secs_f64();
    }

    fn rate(&self) -> f64 {
        self.calls / self.seconds.max(f64::MIN_POSITIVE)
    }
}

/// A step that waits for its judgement.
#[derive(Clone, Copy, Debug)]
struct Tried {
    /// The number and the rate before.
    before: usize,
    rate_before: f64,
    elapsed: Duration,
    calls: u64,
}

impl Tried {
    /// The number of workers to keep, if `now` of them are too many and make `rate`
    /// calls a second.
    ///
    /// A device that serves eight calls at once makes a step from 2 to 64 gain a factor
    /// of four. That is too little for 64, but much. Twice as many workers as the device
    /// serves keep it busy.
    fn best_below(&self, now: usize, rate: f64) -> usize {
        let gain = rate / self.rate_before.max(f64::MIN_POSITIVE);
        if gain < GAIN_TO_KEEP {
            return self.before;
        }
        let served = (self.before as f64 * gain).ceil() as usize;
        (2 * served).clamp(self.before, (now / 2).max(self.before))
    }
}

/// A change of the number of workers, for the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// More were tried.
    Up(usize),
    /// More gained too little: back to this many.
    Back(usize),
    /// The processors are busy: fewer suffice.
    Down(usize),
}

/// Decides the number of workers.
#[derive(Debug)]
pub(super) struct Concurrency {
    processors: usize,
    most: usize,
    now: usize,
    /// The last step, while it waits for its judgement.
    tried: Option<Tried>,
    /// The rate of the present number.
    pace: MeasuredPace,
    /// Whether calls are slow, so that workers share entries.
    is_slow: bool,
    /// The samples left before the next try.
    rest: u32,
    patience: u32,
    /// The highest number that gained something.
    pub(super) highest: usize,
    /// The share of the time that workers waited before the last step up.
    pub(super) waited_percent: u32,
    /// The steps that were taken back.
    pub(super) taken_back: u32,
}

impl Concurrency {
    pub(super) fn new(processors: usize, most: usize) -> Concurrency {
        let processors = processors.min(most).max(1);
        Concurrency {
            processors,
            most,
            now: processors,
            tried: None,
            pace: MeasuredPace::default(),
            is_slow: false,
            rest: 0,
            patience: PATIENCE,
            highest: processors,
            waited_percent: 0,
            taken_back: 0,
        }
    }

    /// Whether the sample suffices for a decision.
    pub(super) fn is_long_enough(&self, sample: &Sample) -> bool {
        let calls_enough = match sample.waiting() > WAITING_MOSTLY {
            // A worker without work makes no calls.
            true => {
                let working = (sample.occupied_workers().ceil() as u64).clamp(1, self.now as u64);
                LONG_CALLS_PER_WORKER * working
            }
            false => CALLS_PER_WORKER * self.now as u64,
        };
        sample.elapsed >= SAMPLE_MIN
            && (sample.calls >= calls_enough || sample.elapsed >= SAMPLE_MAX)
    }

    /// Whether workers with work mostly waited in the last sample.
    pub(super) fn is_slow(&self) -> bool {
        self.is_slow
    }

    /// Whether more workers are tried as soon as there is work, which can come at any
    /// time.
    pub(super) fn is_about_to_rise(&self) -> bool {
        self.is_slow && self.rest == 0 && self.now < self.most
    }

    /// Takes a sample, and returns the new number of workers if it changes.
    pub(super) fn decide(&mut self, sample: &Sample) -> Option<Step> {
        self.pace.add(sample);
        let time = sample.elapsed.as_secs_f64() * self.now as f64;
        let waiting = sample.waiting();
        let was_slow = std::mem::replace(&mut self.is_slow, waiting > WAITING_LONG);
        // More workers help only if the present ones find work. Before calls were seen
        // to wait, entries were not shared, so one worker may have kept all work.
        let kept_to_itself = self.is_slow
            && !was_slow
            && self.now == self.processors
            && sample.occupied_workers() > OCCUPIED_ENOUGH;
        let occupied = kept_to_itself || sample.occupied.as_secs_f64() > OCCUPIED_ENOUGH * time;
        if let Some(mut tried) = self.tried.take() {
            tried.elapsed += sample.elapsed;
            tried.calls += sample.calls;
            let added = self.now as f64 / tried.before as f64 - 1.0;
            let rate = tried.calls as f64 / tried.elapsed.as_secs_f64();
            if occupied && rate < tried.rate_before * (1.0 + GAIN_ENOUGH * added) {
                if tried.elapsed < TRIED_MIN {
                    self.tried = Some(tried);
                    return None;
                }
                self.set(tried.best_below(self.now, rate));
                self.rest = self.patience;
                self.patience = self.patience.saturating_mul(2);
                self.taken_back += 1;
                return Some(Step::Back(self.now));
            }
            if occupied {
                self.patience = PATIENCE;
            }
        }
        // Also after a step that was not judged for lack of work.
        if occupied && self.now > self.processors {
            self.highest = self.highest.max(self.now);
        }
        let busy =
            sample.cpu.as_secs_f64() > 0.9 * sample.elapsed.as_secs_f64() * self.processors as f64;
        if busy && self.now > self.processors {
            self.set((self.now / 2).max(self.processors));
            return Some(Step::Down(self.now));
        }
        if self.rest > 0 {
            self.rest -= 1;
            return None;
        }
        if occupied && waiting > WAITING_ENOUGH && self.now < self.most {
            self.tried = Some(Tried {
                before: self.now,
                rate_before: self.pace.rate(),
                elapsed: Duration::ZERO,
                calls: 0,
            });
            self.waited_percent = (waiting * 100.0) as u32;
            self.set(sample.next_try(self.now, self.most));
            return Some(Step::Up(self.now));
        }
        None
    }

    fn set(&mut self, workers: usize) {
        self.now = workers;
        self.pace = MeasuredPace::default();
    }

    /// The reason for the number, for the plan, if it changed or was tried.
    pub(super) fn reason(&self) -> Option<Reason> {
        if self.highest > self.processors {
            Some(Reason::MoreWorkers {
                from: self.processors,
                to: self.highest,
                waited_percent: self.waited_percent,
            })
        } else if self.taken_back > 0 {
            Some(Reason::MoreWorkersNoFaster {
                workers: self.processors,
            })
        } else {
            None
        }
    }

    /// The present number of workers.
    pub(super) fn workers(&self) -> usize {
        self.now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A device that serves `width` calls at once in `latency` each, and processors that
    /// compute for `cpu` on each call.
    struct Machine {
        latency: Duration,
        width: usize,
        cpu: Duration,
        processors: usize,
    }

    impl Machine {
        fn sample(&self, workers: usize) -> Sample {
            let elapsed = Duration::from_millis(100);
            let served = workers.min(self.width) as f64 / self.latency.as_secs_f64();
            let computed = match self.cpu.is_zero() {
                true => f64::INFINITY,
                false => self.processors as f64 / self.cpu.as_secs_f64(),
            };
            let calls = served.min(computed) * elapsed.as_secs_f64();
            Sample {
                elapsed,
                cpu: self.cpu.mul_f64(calls),
                busy: self.cpu.mul_f64(calls),
                calls: calls as u64,
                occupied: elapsed * workers as u32,
            }
        }

        /// The number at which it settles, and the samples until then.
        fn settles(&self) -> (usize, u32) {
            let mut concurrency = Concurrency::new(self.processors, WORKERS_MAX);
            let mut last_change = 0;
            for sample in 0..15 {
                if concurrency
                    .decide(&self.sample(concurrency.workers()))
                    .is_some()
                {
                    last_change = sample + 1;
                }
            }
            (concurrency.workers(), last_change)
        }
    }

    const MS: Duration = Duration::from_millis(1);
    const US: Duration = Duration::from_micros(1);

    #[test]
    fn latency_is_met_with_all_there_are() {
        let network = Machine {
            latency: 10 * MS,
            width: 1000,
            cpu: 10 * US,
            processors: 2,
        };
        assert_eq!(network.settles(), (WORKERS_MAX, 1));
    }

    #[test]
    fn a_device_gets_as_many_calls_as_it_serves() {
        let disk = Machine {
            latency: 100 * US,
            width: 8,
            cpu: 5 * US,
            processors: 2,
        };
        let (workers, _) = disk.settles();
        assert!((8..=32).contains(&workers), "{workers}");
        // One step leads from 2 to the largest number, which is too many.
        let distant = Machine {
            latency: 2 * MS,
            ..disk
        };
        let (workers, _) = distant.settles();
        assert!((8..=32).contains(&workers), "{workers}");
        let rotating = Machine {
            latency: 8 * MS,
            width: 1,
            cpu: 5 * US,
            processors: 2,
        };
        assert_eq!(rotating.settles().0, 2);
    }

    #[test]
    fn what_is_in_memory_keeps_its_workers() {
        let memory = Machine {
            latency: 2 * US,
            width: 1000,
            cpu: 2 * US,
            processors: 2,
        };
        assert_eq!(memory.settles(), (2, 0));
    }

    #[test]
    fn nobody_is_added_to_those_who_have_nothing_to_do() {
        let mut concurrency = Concurrency::new(2, WORKERS_MAX);
        let sample = Sample {
            elapsed: 100 * MS,
            occupied: 110 * MS,
            cpu: MS,
            busy: MS,
            calls: 1_000,
        };
        // In the first sample it is not known yet that there is no work.
        assert_eq!(concurrency.decide(&sample), Some(Step::Up(8)));
        assert_eq!(concurrency.decide(&sample), None);
        assert_eq!(concurrency.workers(), 8);
        assert!(concurrency.is_about_to_rise());
        // There is work for all of them.
        let occupied = Sample {
            occupied: 800 * MS,
            calls: 8_000,
            ..sample
        };
        assert_eq!(concurrency.decide(&occupied), Some(Step::Up(32)));
        assert_eq!(concurrency.highest, 8);
    }

    #[test]
    fn workers_go_when_the_processors_are_busy() {
        let mut concurrency = Concurrency::new(2, WORKERS_MAX);
        let slow = Sample {
            elapsed: 100 * MS,
            occupied: 200 * MS,
            cpu: MS,
            busy: MS,
            calls: 10_000,
        };
        assert_eq!(concurrency.decide(&slow), Some(Step::Up(8)));
        let busy = |workers: u32| Sample {
            elapsed: 100 * MS,
            occupied: workers * 100 * MS,
            cpu: 195 * MS,
            busy: 195 * MS,
            calls: 100_000,
        };
        assert_eq!(concurrency.decide(&busy(8)), Some(Step::Down(4)));
        assert_eq!(concurrency.decide(&busy(4)), Some(Step::Down(2)));
        assert_eq!(concurrency.decide(&busy(2)), None);
    }

    /// On a busy disk the first sample after a step was bad by chance, and the scan went
    /// on with two workers for half a second.
    #[test]
    fn one_bad_look_takes_no_step_back() {
        let mut concurrency = Concurrency::new(2, WORKERS_MAX);
        let sample = |workers: u32, calls| Sample {
            elapsed: 8 * MS,
            occupied: workers * 8 * MS,
            cpu: MS,
            busy: 4 * MS,
            calls,
        };
        assert_eq!(concurrency.decide(&sample(2, 1_000)), Some(Step::Up(4)));
        assert_eq!(concurrency.decide(&sample(4, 500)), None);
        // Both samples together suffice, and there is still time to wait.
        assert_eq!(concurrency.decide(&sample(4, 3_000)), Some(Step::Up(8)));
        for _ in 0..2 {
            assert_eq!(concurrency.decide(&sample(8, 500)), None);
        }
        assert_eq!(concurrency.decide(&sample(8, 500)), Some(Step::Back(4)));
    }

    #[test]
    fn short_looks_do_not_count() {
        let concurrency = Concurrency::new(2, WORKERS_MAX);
        let sample = |ms: u32, calls| Sample {
            elapsed: ms * MS,
            occupied: ms * MS,
            cpu: ms * MS / 2,
            busy: ms * MS / 2,
            calls,
        };
        let long_calls = |ms: u32, calls| Sample {
            cpu: US,
            busy: US,
            ..sample(ms, calls)
        };
        assert!(!concurrency.is_long_enough(&long_calls(7, 1000)));
        assert!(!concurrency.is_long_enough(&long_calls(50, 1)));
        assert!(concurrency.is_long_enough(&long_calls(50, 2)));
        assert!(!concurrency.is_long_enough(&sample(1, 1000)));
        assert!(!concurrency.is_long_enough(&sample(50, 3)));
        assert!(concurrency.is_long_enough(&sample(50, 12)));
        assert!(concurrency.is_long_enough(&sample(500, 0)));
    }
}
