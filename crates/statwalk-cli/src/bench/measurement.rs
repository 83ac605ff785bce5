// SPDX-License-Identifier: MIT OR Apache-2.0

//! Tries settings in turn, and notes what each run took.
//!
//! Rounds go over all settings in a new order each time, so that what happens
//! on the machine meanwhile does not hit one of them alone. The first round
//! fills the caches and is not counted.

use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use statwalk::{Calls, Outcome, RootTotals, Scan};

use super::conditions::Load;
use super::settings::Setting;
use crate::failure::Failure;
use crate::flags::Level;
use crate::{open_files, screen, signals};

/// How often a run is looked after.
const PERIOD: Duration = Duration::from_millis(40);

/// What the runs have in common.
pub(crate) struct Plan<'a> {
    pub(crate) path: &'a Path,
    pub(crate) scan: &'a Scan,
    pub(crate) calls: &'a Calls,
    pub(crate) settings: &'a [Setting],
    pub(crate) rounds: u32,
    pub(crate) budget: Duration,
    pub(crate) cold: bool,
    pub(crate) seed: u64,
    pub(crate) shows_progress: bool,
}

/// Whether the data is in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cache {
    Warm,
    Cold,
}

impl Cache {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Cache::Warm => "warm",
            Cache::Cold => "cold",
        }
    }
}

/// One setting and its runs.
pub(crate) struct Measured {
    pub(crate) setting: Setting,
    pub(crate) cache: Cache,
    pub(crate) runs: Vec<Run>,
    /// What it counted differently from the others.
    pub(crate) differs: Option<String>,
}

/// What one run took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    pub(crate) wall_s: f64,
    pub(crate) cpu_s: f64,
    pub(crate) calls: u64,
    pub(crate) workers: usize,
}

/// Everything that was measured.
pub(crate) struct Measurements {
    pub(crate) measured: Vec<Measured>,
    /// Rounds that were finished, the first among them.
    pub(crate) rounds_done: u32,
    pub(crate) end: End,
    pub(crate) totals: RootTotals,
    /// Whether the tree could be read wholly.
    pub(crate) is_complete: bool,
    pub(crate) elapsed: Duration,
    pub(crate) load: Load,
}

/// Why it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    AllRounds,
    Budget,
    Interrupted,
}

/// Measures.
///
/// # Errors
///
/// Returns an error where the scan cannot begin or caches cannot be dropped.
pub(crate) fn measure(plan: &Plan<'_>) -> Result<Measurements, Failure> {
    signals::install();
    open_files::raise_limit();
    let started = Instant::now();
    let mut load = Load::start();
    let mut random = fastrand::Rng::with_seed(plan.seed);
    let caches: &[Cache] = match plan.cold {
        true => &[Cache::Warm, Cache::Cold],
        false => &[Cache::Warm],
    };
    let each = plan.settings.iter().flat_map(|setting| {
        caches.iter().map(|&cache| Measured {
            setting: setting.clone(),
            cache,
            runs: Vec::new(),
            differs: None,
        })
    });
    let mut measured: Vec<Measured> = each.collect();
    let mut expected: Option<(Level, RootTotals)> = None;
    let mut is_complete = true;
    let mut rounds_done = 0;
    let mut end = End::AllRounds;
    'rounds: for round in 0..plan.rounds {
        let mut turns: Vec<usize> = (0..measured.len()).collect();
        random.shuffle(&mut turns);
        for (turn, &index) in turns.iter().enumerate() {
            let this = &mut measured[index];
            plan.show(round, turn, turns.len(), &this.setting, started.elapsed());
            let left = plan.budget.saturating_sub(started.elapsed());
            if left.is_zero() && expected.is_some() {
                end = End::Budget;
                break 'rounds;
            }
            if this.cache == Cache::Cold {
                drop_caches(plan.path)?;
            }
            // The very first run may take as long as it takes: without it there
            // is nothing to say.
            let limit = expected.is_some().then_some(left);
            let (outcome, run) = match plan.run(&this.setting, limit)? {
                Ok(ran) => ran,
                Err(early) => {
                    end = early;
                    break 'rounds;
                }
            };
            is_complete &= outcome.report.is_complete();
            let found = outcome.output[0];
            match &mut expected {
                None => expected = Some((this.setting.level, found)),
                Some((level, totals)) => {
                    let common = this.setting.level.min(*level);
                    if let Some(told) = difference(common, totals, &found) {
                        this.differs.get_or_insert(told);
                    }
                    if this.setting.level > *level {
                        (*level, *totals) = (this.setting.level, found);
                    }
                }
            }
            if round > 0 {
                this.runs.push(run);
            }
        }
        rounds_done += 1;
    }
    plan.hide_progress();
    load.stop();
    signals::let_next_kill();
    Ok(Measurements {
        measured,
        rounds_done,
        end,
        totals: expected.map(|(_, totals)| totals).unwrap_or_default(),
        is_complete,
        elapsed: started.elapsed(),
        load,
    })
}

type Ran = (Outcome<Vec<RootTotals>>, Run);

impl Plan<'_> {
    /// Runs one setting. The inner error says why it was stopped.
    fn run(&self, setting: &Setting, limit: Option<Duration>) -> Result<Result<Ran, End>, Failure> {
        let scan = setting.apply(self.scan, self.calls);
        let sink = setting.sink();
        let cpu = processor_time();
        let started = Instant::now();
        let running = scan.start(&sink)?;
        let mut stopped = None;
        while !running.wait_for(PERIOD) {
            if signals::caught().is_some() {
                stopped = Some(End::Interrupted);
            } else if limit.is_some_and(|limit| started.elapsed() > limit) {
                stopped = Some(End::Budget);
            }
            if stopped.is_some() {
                running.canceller().cancel();
                break;
            }
        }
        let outcome = running.finish();
        let run = Run {
            wall_s: started.elapsed().as_secs_f64(),
            cpu_s: processor_time() - cpu,
            calls: outcome.report.calls,
            workers: outcome.report.workers,
        };
        if stopped.is_none() && signals::caught().is_some() {
            stopped = Some(End::Interrupted);
        }
        Ok(match stopped {
            Some(end) => Err(end),
            None => Ok((outcome, run)),
        })
    }

    fn show(&self, round: u32, turn: usize, turns: usize, setting: &Setting, elapsed: Duration) {
        if !self.shows_progress {
            return;
        }
        let text = format!(
            "round {} of {} · {} of {turns}: {} · {} s of {} s",
            round + 1,
            self.rounds,
            turn + 1,
            setting.label(),
            elapsed.as_secs(),
            self.budget.as_secs(),
        );
        let terminal = screen::stderr_or_default().terminal;
        let text = statwalk_view::truncate_end(&text, terminal.width, terminal.charset);
        // Where stderr is closed there is nobody to look.
        let _ = std::io::stderr().write_all(format!("\r\x1b[K{text}").as_bytes());
    }

    fn hide_progress(&self) {
        if self.shows_progress {
            let _ = std::io::stderr().write_all(b"\r\x1b[K");
        }
    }
}

/// The processor time of this process, in seconds.
fn processor_time() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Empties what the kernel keeps in memory of files, for the whole machine.
fn drop_caches(path: &Path) -> Result<(), Failure> {
    const CACHES: &str = "/proc/sys/vm/drop_caches";
    // What was changed and not written yet cannot be dropped.
    if let Ok(dir) = std::fs::File::open(path) {
        let _ = rustix::fs::syncfs(&dir);
    }
    std::fs::write(CACHES, "3").map_err(|error| {
        Failure::Usage(format!(
            "--cold: {CACHES}: {}",
            crate::failure::reason(&error)
        ))
    })
}

/// What two answers have in common and is not the same.
fn difference(level: Level, expected: &RootTotals, found: &RootTotals) -> Option<String> {
    let mut pairs = vec![
        ("entries", expected.entries, found.entries),
        ("directories", expected.dirs, found.dirs),
    ];
    if level >= Level::Types {
        pairs.extend([
            ("files", expected.files, found.files),
            ("symbolic links", expected.symlinks, found.symlinks),
            ("others", expected.others, found.others),
        ]);
    }
    if level >= Level::Sizes {
        pairs.extend([
            (
                "bytes of files",
                expected.file_size_bytes,
                found.file_size_bytes,
            ),
            (
                "bytes apparent",
                expected.apparent_bytes,
                found.apparent_bytes,
            ),
            (
                "bytes on disk",
                expected.allocated_bytes,
                found.allocated_bytes,
            ),
        ]);
    }
    let (what, expected, found) = pairs.into_iter().find(|(_, a, b)| a != b)?;
    Some(format!("{found} {what} instead of {expected}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_compared_as_far_as_both_go() {
        let mut whole = RootTotals::default();
        whole.entries = 3;
        whole.dirs = 1;
        whole.files = 2;
        whole.allocated_bytes = 4096;
        let mut names = whole;
        names.files = 0;
        names.others = 2;
        names.allocated_bytes = 0;
        assert_eq!(difference(Level::Names, &whole, &names), None);
        assert!(difference(Level::Types, &whole, &names).is_some());
        let mut sizes = whole;
        sizes.allocated_bytes += 512;
        assert_eq!(
            difference(Level::Full, &whole, &sizes).as_deref(),
            Some("4608 bytes on disk instead of 4096")
        );
        assert_eq!(difference(Level::Types, &whole, &sizes), None);
    }
}
