// SPDX-License-Identifier: MIT OR Apache-2.0

//! Runs settings in turn, and notes the cost of each run.
//!
//! Each round runs every setting, in a new order. A disturbance of the machine thus
//! does not hit one setting alone. The first round fills the caches and does not
//! count. Cold rounds come after the warm ones and have half of the time. A cold run
//! leaves only its own data in memory, so a warm run after it would be half cold.

use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use statwalk_core::tuning::Calls;
use statwalk_core::{Outcome, RootTotals, Scan};

use super::conditions::{Load, processor_time_s};
use super::settings::Setting;
use crate::failure::Failure;
use crate::flags::Level;
use crate::system::open_files;
use crate::system::screen;
use crate::system::signals;
use crate::system::stdio::Stderr;

/// The period at which statwalk looks after a run.
const PERIOD: Duration = Duration::from_millis(40);

/// The options that all runs share.
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

/// The state of the caches before a run.
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
    /// The difference from the counts of the other settings.
    pub(crate) differs: Option<String>,
}

/// The cost of one run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    pub(crate) wall_s: f64,
    pub(crate) cpu_s: f64,
    pub(crate) calls: u64,
    pub(crate) workers: usize,
}

pub(crate) struct Measurements {
    pub(crate) measured: Vec<Measured>,
    /// The progress of the rounds, warm ones first.
    pub(crate) rounds: Vec<Rounds>,
    pub(crate) totals: RootTotals,
    /// Whether every run read the whole tree.
    pub(crate) is_complete: bool,
    pub(crate) elapsed: Duration,
    pub(crate) load: Load,
}

/// The progress of the rounds with one state of the caches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rounds {
    pub(crate) cache: Cache,
    /// The finished rounds, the first too.
    pub(crate) done: u32,
    pub(crate) end: End,
}

impl Rounds {
    /// The rounds that count. A cold round needs none before it to fill the caches.
    pub(crate) fn counted(&self) -> u32 {
        match self.cache {
            Cache::Warm => self.done.saturating_sub(1),
            Cache::Cold => self.done,
        }
    }
}

/// The reason for the end. Of several, the later one in this list is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum End {
    AllRounds,
    Budget,
    Interrupted,
}

/// Runs all settings, round after round.
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
    let each = caches.iter().flat_map(|&cache| {
        plan.settings.iter().map(move |setting| Measured {
            setting: setting.clone(),
            cache,
            runs: Vec::new(),
            differs: None,
        })
    });
    let mut measurements = Measurements {
        measured: each.collect(),
        rounds: Vec::new(),
        totals: RootTotals::default(),
        is_complete: true,
        elapsed: Duration::ZERO,
        load: Load::start(),
    };
    let mut known = None;
    for (&cache, part) in caches.iter().zip(1..) {
        let deadline = started + plan.budget * part / caches.len() as u32;
        let mut rounds = Rounds {
            cache,
            done: 0,
            end: End::AllRounds,
        };
        let first = u32::from(cache == Cache::Cold);
        for round in first..plan.rounds {
            let turns = plan.turns(cache, &measurements.measured, round == 1, &mut random);
            let early = plan.round((round, deadline), &turns, &mut known, &mut measurements)?;
            if let Some(end) = early {
                rounds.end = end;
                break;
            }
            rounds.done += 1;
        }
        measurements.rounds.push(rounds);
        if rounds.end == End::Interrupted {
            break;
        }
    }
    plan.hide_progress();
    load.stop();
    signals::let_next_kill();
    measurements.load = load;
    measurements.totals = known.map(|(_, totals)| totals).unwrap_or_default();
    measurements.elapsed = started.elapsed();
    Ok(measurements)
}

type Ran = (Outcome<Vec<RootTotals>>, Run);

impl Plan<'_> {
    /// The settings of a round, in its order. `base_first` puts the user's own flags
    /// first: the others are compared with them.
    fn turns(
        &self,
        cache: Cache,
        measured: &[Measured],
        base_first: bool,
        random: &mut fastrand::Rng,
    ) -> Vec<usize> {
        let of_cache = |&index: &usize| measured[index].cache == cache;
        let mut turns: Vec<usize> = (0..measured.len()).filter(of_cache).collect();
        random.shuffle(&mut turns);
        if base_first {
            turns.sort_by_key(|&index| !measured[index].setting.is_base());
        }
        turns
    }

    /// Runs each setting once, and gives the reason for an early end.
    fn round(
        &self,
        (round, deadline): (u32, Instant),
        turns: &[usize],
        known: &mut Option<(Level, RootTotals)>,
        measurements: &mut Measurements,
    ) -> Result<Option<End>, Failure> {
        for (turn, &index) in turns.iter().enumerate() {
            let this = &mut measurements.measured[index];
            let left = deadline.saturating_duration_since(Instant::now());
            self.show((round, turn, turns.len()), this, left);
            // The first run has no time limit: without it there is no answer at
            // all.
            if left.is_zero() && known.is_some() {
                return Ok(Some(End::Budget));
            }
            if this.cache == Cache::Cold {
                drop_caches(self.path)?;
            }
            let limit = known.is_some().then_some(left);
            let (outcome, run) = match self.run(&this.setting, limit)? {
                Ok(ran) => ran,
                Err(early) => return Ok(Some(early)),
            };
            measurements.is_complete &= outcome.report.is_complete();
            let found = outcome.output[0];
            match known {
                None => *known = Some((this.setting.level, found)),
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
        Ok(None)
    }

    /// Runs one setting. The inner error is the reason for an early stop.
    fn run(&self, setting: &Setting, limit: Option<Duration>) -> Result<Result<Ran, End>, Failure> {
        let scan = setting.apply(self.scan, self.calls);
        let sink = setting.sink();
        let processor_time = || {
            processor_time_s().ok_or_else(|| {
                Failure::Usage("cannot read the processor time: clock_gettime is refused".into())
            })
        };
        let cpu = processor_time()?;
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
            cpu_s: processor_time()? - cpu,
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

    fn show(&self, (round, turn, turns): (u32, usize, usize), this: &Measured, left: Duration) {
        if !self.shows_progress {
            return;
        }
        let text = format!(
            "{}, round {} of {} · {} of {turns}: {} · {} s left",
            this.cache.name(),
            round + u32::from(this.cache == Cache::Warm),
            self.rounds - u32::from(this.cache == Cache::Cold),
            turn + 1,
            this.setting.label(),
            left.as_secs(),
        );
        let terminal = screen::stderr_or_default().terminal;
        let text = statwalk_view::truncate_end(&text, terminal.width, terminal.charset);
        // Where stderr is closed, no user looks.
        let _ = Stderr.write_all(format!("\r\x1b[K{text}").as_bytes());
    }

    fn hide_progress(&self) {
        if self.shows_progress {
            let _ = Stderr.write_all(b"\r\x1b[K");
        }
    }
}

/// Drops the cached files of the whole machine.
fn drop_caches(path: &Path) -> Result<(), Failure> {
    const CACHES: &str = "/proc/sys/vm/drop_caches";
    // The kernel cannot drop data that waits to be written. To open a FIFO would wait,
    // and a FIFO is no tree.
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    if let Ok(dir) = rustix::fs::open(path, flags, Mode::empty()) {
        let _ = rustix::fs::syncfs(&dir);
    }
    std::fs::write(CACHES, "3").map_err(|error| {
        Failure::Usage(format!(
            "cannot drop the caches for --cold through {CACHES}: {}",
            crate::system::stdio::reason(&error)
        ))
    })
}

/// The first field in which two answers differ.
fn difference(level: Level, expected: &RootTotals, found: &RootTotals) -> Option<String> {
    let mut pairs: Vec<(_, u128, u128)> = vec![
        ("entries", expected.entries.into(), found.entries.into()),
        ("directories", expected.dirs.into(), found.dirs.into()),
    ];
    if level >= Level::Types {
        pairs.extend([
            ("files", expected.files.into(), found.files.into()),
            (
                "symbolic links",
                expected.symlinks.into(),
                found.symlinks.into(),
            ),
            ("others", expected.others.into(), found.others.into()),
        ]);
    }
    // `level` is the least of both, so both have sizes or neither.
    let sizes = expected.sizes.zip(found.sizes);
    if let Some((expected, found)) = sizes.filter(|_| level >= Level::Sizes) {
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
    use statwalk_core::RootSizes;

    use crate::bench::settings::chosen;
    use crate::flags::Axis;

    /// Once a warm run came after a cold one that had read less, and was half cold.
    /// With little time, each setting ran once or never.
    #[test]
    fn warm_and_cold_runs_do_not_mix_and_the_base_comes_first() {
        let settings = chosen(
            &[Axis::Order],
            false,
            Level::Sizes,
            statwalk_core::Order::Parallel.into(),
            2,
        );
        let plan = Plan {
            path: Path::new("."),
            scan: &Scan::new("."),
            calls: &Calls::default(),
            settings: &settings,
            rounds: 2,
            budget: Duration::from_secs(1),
            cold: true,
            seed: 1,
            shows_progress: false,
        };
        let caches = [Cache::Warm, Cache::Cold];
        let each = caches.map(|cache| {
            settings.iter().map(move |setting| Measured {
                setting: setting.clone(),
                cache,
                runs: Vec::new(),
                differs: None,
            })
        });
        let measured: Vec<Measured> = each.into_iter().flatten().collect();
        let mut random = fastrand::Rng::with_seed(1);
        for cache in caches {
            for _ in 0..20 {
                let turns = plan.turns(cache, &measured, true, &mut random);
                assert!(turns.iter().all(|&index| measured[index].cache == cache));
                assert_eq!(turns.len(), settings.len());
                assert!(measured[turns[0]].setting.is_base());
            }
        }
    }

    #[test]
    fn answers_are_compared_as_far_as_both_go() {
        let mut whole = RootTotals::default();
        whole.entries = 3;
        whole.dirs = 1;
        whole.files = 2;
        let mut sums = RootSizes::default();
        sums.allocated_bytes = 4096;
        whole.sizes = Some(sums);
        let mut names = whole;
        names.files = 0;
        names.others = 2;
        names.sizes = None;
        assert_eq!(difference(Level::Names, &whole, &names), None);
        assert!(difference(Level::Types, &whole, &names).is_some());
        let mut sizes = whole;
        sums.allocated_bytes += 512;
        sizes.sizes = Some(sums);
        assert_eq!(
            difference(Level::Full, &whole, &sizes).as_deref(),
            Some("4608 bytes on disk instead of 4096")
        );
        assert_eq!(difference(Level::Types, &whole, &sizes), None);
    }
}
