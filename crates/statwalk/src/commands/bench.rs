// SPDX-License-Identifier: MIT OR Apache-2.0

//! `statwalk bench`: every way to scan a tree, sorted by time.

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde::ser::{Serialize, SerializeMap};
use statwalk_core::Order;
use statwalk_view::{
    Align, Cell, Charset, Column, PlotBar, Spread, Terminal, bar_plot, counted, escape, list_table,
};

use crate::answer::origin::Origin;
use crate::bench::conditions::Conditions;
use crate::bench::measurement::{Cache, End, Measured, Measurements, Plan, Rounds, measure};
use crate::bench::settings;
use crate::commands::delivery::form_of;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::flags::{BenchFlags, When};
use crate::output::json::{self, Fields, Json, Object};
use crate::output::plain::Rows;
use crate::output::printer::{Answer, print};
use crate::request::{Request, calls};
use crate::system::screen::{self, Screen};
use crate::system::signals;
use crate::system::stdio::reason;
use crate::system::whole_file::{Existing, WholeFile};

/// The least gain that counts: machines are not that steady.
const GAIN_MIN: f64 = 0.02;

/// The least number of runs whose spread has a meaning.
const RUNS_MIN: usize = 5;
/// The share of the processors that others may use. With more, the times are theirs, too.
const OTHERS_MAX: f64 = 0.1;

pub(super) fn run(flags: BenchFlags) -> Result<ExitStatus, Failure> {
    let calls = calls(&flags.scan.walk.read)?;
    let request = Request::new(
        &flags.scan,
        flags.path.clone(),
        form_of(&flags.scan.walk.form),
    )?;
    let path = request.paths.first().cloned().unwrap_or_default();
    // A missing tree is a usage error here: there is nothing to measure.
    std::fs::symlink_metadata(&path).map_err(|error| {
        let path = escape(path.as_os_str().as_bytes(), Charset::Unicode);
        Failure::Usage(format!("cannot open {path}: {}", reason(&error)))
    })?;
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let asked = flags
        .scan
        .walk
        .read
        .order
        .map_or_else(|| Order::default().into(), |choice| choice.0);
    let settings = settings::chosen(&flags.vary, flags.cross, flags.level, asked, processors);
    let seed = flags.seed.unwrap_or_else(|| {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        now.map_or(0, |now| now.as_secs())
    });
    let plan = Plan {
        path: &path,
        scan: &request.scan,
        calls: &calls,
        settings: &settings,
        rounds: flags.rounds,
        budget: Duration::from_secs(flags.budget),
        cold: flags.cold,
        seed,
        shows_progress: match flags.scan.walk.progress {
            When::Always => true,
            When::Auto => screen::of_stderr().is_some() && screen::is_ours(),
            When::Never => false,
        },
    };
    let conditions = Conditions::of(&path);
    let cannot_write = |error: &io::Error| {
        let file = flags.svg.as_deref().map(|file| file.as_os_str().as_bytes());
        let file = escape(file.unwrap_or_default(), Charset::Unicode);
        Failure::Usage(format!("cannot write {file}: {}", reason(error)))
    };
    // The place is checked before the time of the measurements is spent.
    let plot = flags.svg.as_deref();
    let plot = plot.map(|file| WholeFile::begin(file, Existing::Replaced));
    let plot = plot.transpose().map_err(|error| cannot_write(&error))?;
    let measurements = measure(&plan)?;
    let answer = BenchAnswer {
        origin: Origin::of_this_process(),
        path,
        flags: &flags,
        seed,
        conditions,
        rows: rows(&measurements.measured),
        measurements,
    };
    if let Some(mut plot) = plot {
        let written = plot.write(answer.plot().as_bytes());
        let written = written.and_then(|()| plot.finish());
        written.map_err(|error| cannot_write(&error))?;
    }
    print(&answer, request.form)?;
    Ok(answer.status())
}

struct BenchAnswer<'a> {
    path: PathBuf,
    flags: &'a BenchFlags,
    seed: u64,
    conditions: Conditions,
    /// The settings with a time, the fastest first.
    rows: Vec<Row>,
    measurements: Measurements,
    origin: Arc<Origin>,
}

/// A setting, and the statistics of its runs.
struct Row {
    /// The index of its measurements.
    index: usize,
    wall: Spread,
    cpu: Spread,
    calls: f64,
    workers: usize,
    rounds: usize,
}

fn rows(measured: &[Measured]) -> Vec<Row> {
    let mut rows: Vec<Row> = measured
        .iter()
        .enumerate()
        .filter(|(_, measured)| measured.differs.is_none())
        .filter_map(|(index, measured)| {
            let all = |of: fn(&crate::bench::measurement::Run) -> f64| {
                Spread::of(&measured.runs.iter().map(of).collect::<Vec<_>>())
            };
            Some(Row {
                index,
                wall: all(|run| run.wall_s)?,
                cpu: all(|run| run.cpu_s)?,
                calls: all(|run| run.calls as f64)?.median,
                workers: measured.runs.iter().map(|run| run.workers).max()?,
                rounds: measured.runs.len(),
            })
        })
        .collect();
    rows.sort_by(|a, b| a.wall.median.total_cmp(&b.wall.median));
    rows
}

impl Answer for BenchAnswer<'_> {
    fn lines(&self, screen: Screen) -> Vec<String> {
        self.report(screen.terminal)
    }

    fn write_rows(&self, rows: &mut Rows) -> Result<(), Failure> {
        // A pipe has no width at which lines must end.
        let terminal = Terminal {
            width: usize::MAX,
            ..screen::stderr_or_default().terminal
        };
        let mut lines = self.report(terminal).into_iter();
        lines.try_for_each(|line| rows.row(&[], line.as_bytes()))
    }

    fn document(&self) -> impl Serialize {
        json::alone(&self.origin, self)
    }
}

impl BenchAnswer<'_> {
    fn measured(&self, row: &Row) -> &Measured {
        &self.measurements.measured[row.index]
    }

    fn caches(&self) -> &'static [Cache] {
        match self.flags.cold {
            true => &[Cache::Warm, Cache::Cold],
            false => &[Cache::Warm],
        }
    }

    /// The rows of one cache state that read the same attributes as the default.
    fn comparable(&self, cache: Cache) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(move |row| {
            let measured = self.measured(row);
            measured.cache == cache && measured.setting.level == self.flags.level
        })
    }

    fn base(&self, cache: Cache) -> Option<&Row> {
        self.comparable(cache)
            .find(|row| self.measured(row).setting.is_base())
    }

    /// The user's own flags, where enough runs measured them on a machine that had little
    /// else to do.
    fn judged_base(&self, cache: Cache) -> Option<&Row> {
        let base = self.base(cache).filter(|row| row.rounds >= RUNS_MIN);
        base.filter(|_| !self.is_disturbed())
    }

    fn is_disturbed(&self) -> bool {
        (self.measurements.load.others).is_some_and(|share| share > OTHERS_MAX)
    }

    /// The fastest setting that flags select, if it beats the user's own flags by more
    /// than chance.
    fn best(&self, cache: Cache) -> Option<(&Row, String)> {
        let base = self.judged_base(cache)?;
        let often = self.comparable(cache).filter(|row| row.rounds >= RUNS_MIN);
        let mut selectable = often.filter_map(|row| {
            let flags = self.measured(row).setting.flags()?;
            Some((row, flags))
        });
        let (best, flags) = selectable.next()?;
        let is_faster = best.wall.median < base.wall.median * (1.0 - GAIN_MIN)
            && best.wall.high < base.wall.low;
        is_faster.then_some((best, flags))
    }

    fn status(&self) -> ExitStatus {
        if let Some(signal) = signals::caught() {
            return ExitStatus::Interrupted(signal);
        }
        let differs = |measured: &Measured| measured.differs.is_some();
        match self.measurements.is_complete && !self.measurements.measured.iter().any(differs) {
            true => ExitStatus::Complete,
            false => ExitStatus::Incomplete,
        }
    }

    fn report(&self, terminal: Terminal) -> Vec<String> {
        let totals = &self.measurements.totals;
        let path = escape(self.path.as_os_str().as_bytes(), terminal.charset);
        let mut lines = vec![format!(
            "{path}: {}, {}",
            counted(totals.entries, "entry", "entries"),
            counted(totals.dirs, "directory", "directories")
        )];
        lines.extend(self.conditions.lines());
        lines.extend(self.disturbance());
        for &cache in self.caches() {
            lines.push(String::new());
            lines.extend(self.table(cache, terminal));
        }
        lines.push(String::new());
        lines.extend(self.untimed());
        lines.extend(self.how_it_ended());
        for &cache in self.caches() {
            lines.push(self.verdict(cache));
        }
        lines
    }

    fn table(&self, cache: Cache, terminal: Terminal) -> Vec<String> {
        let title = format!("SETTING, {}", cache.name());
        let columns = [
            Column::new("TIME", Align::Right),
            Column::new("SPREAD", Align::Right).optional(),
            Column::new("RATIO", Align::Right).optional(),
            Column::new("CPU", Align::Right).optional(),
            Column::new("CALLS/ENTRY", Align::Right).optional(),
            Column::new("WORKERS", Align::Right).optional(),
            Column::new("LEVEL", Align::Left).optional(),
            Column::new(&title, Align::Left),
        ];
        let base = self.base(cache).map(|row| row.wall.median);
        let entries = self.measurements.totals.entries.max(1) as f64;
        let rows = self
            .rows
            .iter()
            .filter(|row| self.measured(row).cache == cache);
        let cells = rows.map(|row| {
            let setting = &self.measured(row).setting;
            let ratio = base.map_or(String::new(), |base| {
                format!("{:.2}", row.wall.median / base)
            });
            [
                seconds(row.wall.median),
                format!("{:.0} %", row.wall.width() * 100.0),
                ratio,
                seconds(row.cpu.median),
                format!("{:.2}", row.calls / entries),
                row.workers.to_string(),
                setting.level.name().to_owned(),
                setting.label(),
            ]
            .map(|text| Cell::Text(text.into()))
            .into()
        });
        list_table(&columns, &cells.collect::<Vec<_>>(), terminal)
    }

    /// The load by other programs, in a sentence.
    fn disturbance(&self) -> Option<String> {
        let load = &self.measurements.load;
        let percent = |share: f64| format!("{:.0} %", share * 100.0);
        Some(format!(
            "others used {} of the processors meanwhile, the host took {}",
            percent(load.others?),
            percent(load.stolen?)
        ))
    }

    /// The settings without a time, each with the reason.
    fn untimed(&self) -> Vec<String> {
        let measured = self.measurements.measured.iter();
        measured
            .filter_map(|measured| {
                let label = measured.setting.label();
                let level = measured.setting.level.name();
                let cache = measured.cache.name();
                let why = match &measured.differs {
                    Some(told) => format!("differs: {told}"),
                    None if measured.runs.is_empty() => "not measured".to_owned(),
                    None => return None,
                };
                Some(format!("No time for {label} ({level}, {cache}): {why}."))
            })
            .collect()
    }

    /// The reason for an early end, if there was one.
    fn end(&self) -> End {
        let ends = self.measurements.rounds.iter().map(|rounds| rounds.end);
        ends.max().unwrap_or(End::AllRounds)
    }

    fn how_it_ended(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.measurements.rounds.iter().map(told_rounds).collect();
        lines.push(format!(
            "{:.0} s of {} s; seed {}.",
            self.measurements.elapsed.as_secs_f64(),
            self.flags.budget,
            self.seed
        ));
        lines
    }

    fn verdict(&self, cache: Cache) -> String {
        let cache_name = cache.name();
        match (self.best(cache), self.judged_base(cache)) {
            (Some((best, flags)), Some(base)) => format!(
                "Best for this tree, {cache_name}: {flags} ({:.2} of the default's time).",
                best.wall.median / base.wall.median
            ),
            (None, Some(_)) => format!(
                "Best for this tree, {cache_name}: the default; nothing was faster by more than chance."
            ),
            _ if self.is_disturbed() => format!(
                "Best for this tree, {cache_name}: not known, other programs used too much of the \
                 processors."
            ),
            _ => format!(
                "Best for this tree, {cache_name}: not known, it takes {RUNS_MIN} rounds that count."
            ),
        }
    }

    fn plot(&self) -> String {
        let path = escape(self.path.as_os_str().as_bytes(), Charset::Unicode);
        let entries = counted(self.measurements.totals.entries, "entry", "entries");
        let title = format!("statwalk bench {path}: {entries}");
        let bars: Vec<PlotBar> = self
            .rows
            .iter()
            .map(|row| {
                let Measured { setting, cache, .. } = self.measured(row);
                PlotBar {
                    label: format!(
                        "{}, {}, {}",
                        setting.label(),
                        setting.level.name(),
                        cache.name()
                    ),
                    value: row.wall.median,
                    spread: (row.wall.low, row.wall.high),
                    text: seconds(row.wall.median),
                    is_base: setting.is_base() && setting.level == self.flags.level,
                }
            })
            .collect();
        bar_plot(&title, &bars)
    }
}

impl Fields for BenchAnswer<'_> {
    fn write(&self, object: &mut Object<impl SerializeMap>) {
        let measurements = &self.measurements;
        let done = |cache| {
            let mut rounds = measurements.rounds.iter();
            let rounds = rounds.find(|rounds| rounds.cache == cache);
            rounds.map(|rounds| rounds.done)
        };
        object.text("path", self.path.as_os_str().as_bytes());
        object.field("conditions", Json(Surroundings(self)));
        object.field("entries", measurements.totals.entries);
        object.field("dirs", measurements.totals.dirs);
        // Whether statwalk read everything in every run.
        object.field("complete", measurements.is_complete);
        object.field("seed", self.seed);
        object.field("rounds_asked", self.flags.rounds);
        // The first warm round too, which does not count.
        object.field("rounds_done", done(Cache::Warm).unwrap_or(0));
        object.known("cold_rounds_done", done(Cache::Cold));
        object.known(
            "stopped_by",
            match self.end() {
                End::AllRounds => None,
                End::Budget => Some("budget"),
                End::Interrupted => Some("signal"),
            },
        );
        object.field("elapsed_s", measurements.elapsed.as_secs_f64());
        let timed = self.rows.iter().map(|row| (self.measured(row), Some(row)));
        let untimed = measurements.measured.iter();
        let untimed = untimed.filter(|of| of.differs.is_some() || of.runs.is_empty());
        let results = timed.chain(untimed.map(|of| (of, None)));
        let entries = measurements.totals.entries.max(1) as f64;
        object.list(
            "results",
            results.map(|(of, row)| Setting { of, row, entries }),
        );
        // The flags of the best setting, empty for the default; absent where unknown.
        let best = |cache| match self.best(cache) {
            Some((_, flags)) => Some(flags),
            None => self.judged_base(cache).map(|_| String::new()),
        };
        object.known("best_warm", best(Cache::Warm));
        object.known("best_cold", best(Cache::Cold).filter(|_| self.flags.cold));
    }
}

/// A setting. Without a row it was not measured, or its answer differs.
struct Setting<'a> {
    of: &'a Measured,
    row: Option<&'a Row>,
    entries: f64,
}

impl Fields for Setting<'_> {
    fn write(&self, object: &mut Object<impl SerializeMap>) {
        let Setting { of, row, entries } = self;
        object.field("cache", of.cache.name());
        object.field("level", of.setting.level.name());
        object.field("setting", of.setting.label());
        object.known("flags", of.setting.flags());
        object.field("rounds", row.map_or(0, |row| row.rounds));
        match row {
            Some(row) => {
                object.field("wall_s", Json(row.wall));
                object.field("cpu_s", Json(row.cpu));
                object.field("calls_per_entry", row.calls / entries);
                // Of the largest run.
                object.field("workers", row.workers);
            }
            None => object.known("differs", of.differs.as_ref()),
        }
    }
}

impl Fields for Spread {
    fn write(&self, object: &mut Object<impl SerializeMap>) {
        object.field("median", self.median);
        object.field("first_quartile", self.low);
        object.field("third_quartile", self.high);
    }
}

/// The surroundings of a measurement.
struct Surroundings<'a>(&'a BenchAnswer<'a>);

impl Fields for Surroundings<'_> {
    fn write(&self, object: &mut Object<impl SerializeMap>) {
        let (conditions, load) = (&self.0.conditions, &self.0.measurements.load);
        object.field("kernel", &conditions.kernel);
        object.field("processors", conditions.processors);
        object.known("processor", conditions.processor.as_ref());
        object.known("file_system", conditions.file_system.as_ref());
        object.known("mount_options", conditions.mount_options.as_ref());
        object.known("device", conditions.device.as_ref());
        object.known("rotational", conditions.is_rotational);
        // Shares of the processors: that of other processes, and that of a machine's host.
        object.known("others_share", load.others);
        object.known("stolen_share", load.stolen);
    }
}

/// The progress of the rounds with one state of the caches, in a sentence.
fn told_rounds(rounds: &Rounds) -> String {
    let counted = rounds.counted();
    let why = match rounds.end {
        End::AllRounds => "",
        End::Budget => ", then the time was over",
        End::Interrupted => ", then it was interrupted",
    };
    let plural = if counted == 1 { "" } else { "s" };
    let cache = rounds.cache.name();
    format!("{counted} round{plural} counted, {cache}{why}.")
}

/// A time in the unit that gives it three digits.
fn seconds(time_s: f64) -> String {
    match time_s {
        s if s < 0.01 => format!("{:.2} ms", s * 1e3),
        s if s < 0.1 => format!("{:.1} ms", s * 1e3),
        s if s < 1.0 => format!("{:.0} ms", s * 1e3),
        s if s < 10.0 => format!("{s:.2} s"),
        s if s < 100.0 => format!("{s:.1} s"),
        s => format!("{s:.0} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_digits() {
        let times = [0.001_234, 0.012_34, 0.123_4, 1.234, 12.34, 123.4];
        let expected = ["1.23 ms", "12.3 ms", "123 ms", "1.23 s", "12.3 s", "123 s"];
        assert_eq!(times.map(seconds), expected);
    }
}
