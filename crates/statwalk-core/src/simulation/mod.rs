// SPDX-License-Identifier: MIT OR Apache-2.0

//! The whole scheduler on a machine that is simulated, in one thread.
//!
//! Workers, frontier, sharing of large directories, the number of workers and
//! cancellation are those of the program. A seed decides who runs next, how long each
//! call takes, and what fails, vanishes, changes or hangs. After each step it is checked
//! that nothing was delivered twice and that all bounds are kept; at the end, that
//! nothing is lost without an error. `cargo xtask simulate SEED` runs one again.
//!
//! The simulator of TigerBeetle is the model.

mod controller;
mod judge;
mod recorder;
mod scenario;
mod source;
pub(crate) mod world;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use recorder::{Log, Recorder};
use scenario::Scenario;
use source::Simulated;
use world::World;

use crate::listing::context::ScanContext;
use crate::lock::lock;
use crate::report::{Outcome, Report};
use crate::threads;

/// How many seeds a test run tries, unless `STATWALK_SEEDS` says otherwise.
const SEEDS: u64 = 20_000;

/// A scan that goes on, as it is looked at between two steps.
struct Watched {
    context: Arc<ScanContext<Simulated>>,
    sleeps_beside_work: Box<dyn Fn() -> bool + Send>,
}

/// How a scan ended.
struct Ended {
    report: Report,
    rows: usize,
    /// Rows that had been delivered at that moment.
    delivered: usize,
    finished_at: Duration,
    /// When it was stopped, if it was.
    cancelled_at: Option<Duration>,
    idle: Duration,
    /// How many workers had a place when the last directory was done.
    workers_at_last: usize,
}

/// Scans in a simulation, and checks each step.
fn run(scenario: &Scenario, seed: u64, traces: bool) -> (Ended, Arc<Mutex<Log>>) {
    let world = World::new(scenario.machine.clone(), seed, traces);
    let log = Arc::new(Mutex::new(Log::default()));
    let ended: Arc<Mutex<Option<Ended>>> = Arc::default();
    let watched: Arc<Mutex<Option<Watched>>> = Arc::default();
    let mut asleep_since = None;
    let caller = {
        let (scenario, log) = (scenario.clone(), Arc::clone(&log));
        let (ended, watched) = (Arc::clone(&ended), Arc::clone(&watched));
        move || *lock(&ended) = Some(call(&scenario, &log, &watched))
    };
    let workers_max = scenario
        .threads
        .unwrap_or(scenario.machine.processors.max(64));
    // While parts of one wait, it stays open beyond the bound: see `listing::shared`.
    let large = scenario
        .tree
        .directories_of_more_than(scenario.withheld_max);
    world.run(caller, |world| {
        {
            let Log {
                twice, too_late, ..
            } = &*lock(&log);
            assert!(twice.is_empty(), "{world}: delivered twice: {twice:?}");
            assert!(
                too_late.is_empty(),
                "{world}: finished too early: {too_late:?}"
            );
        }
        if let Some(watched) = &*lock(&watched) {
            let since = match (watched.sleeps_beside_work)() {
                true => *asleep_since.get_or_insert(world.time()),
                false => {
                    asleep_since = None;
                    world.time()
                }
            };
            assert!(since == world.time(), "{world}: workers sleep beside work");
            let open = watched.context.source.open_directories();
            let most = world.machine().free_descriptors.max(5) + large;
            assert!(open <= most, "{world}: {open} directories are open");
        }
        let threads = world.threads();
        assert!(threads <= workers_max + 1, "{world}: {threads} threads");
    });
    let Watched { context, .. } = lock(&watched).take().expect("the scan was begun");
    assert_eq!(Arc::strong_count(&context), 1, "somebody keeps the scan");
    assert_eq!(
        context.source.open_directories(),
        0,
        "directories stay open"
    );
    let ended = lock(&ended).take().expect("the caller has an answer");
    (ended, log)
}

/// The work of the thread that wants the answer.
fn call(scenario: &Scenario, log: &Arc<Mutex<Log>>, watched: &Mutex<Option<Watched>>) -> Ended {
    let world = world::current().expect("it is called in a simulation");
    let sink = Recorder {
        fields: scenario.fields,
        log: Arc::clone(log),
    };
    let scan = scenario.scan();
    let roots = scan.root_paths().expect("no root holds a NUL");
    let source = scenario.tree.source(scenario.listings);
    let running = scan.start_on(source, sink, roots, Vec::new(), threads::now());
    let pool = Arc::downgrade(&running.ongoing.pool);
    *lock(watched) = Some(Watched {
        context: Arc::clone(&running.ongoing.scan_context),
        sleeps_beside_work: Box::new(move || {
            pool.upgrade().is_some_and(|pool| pool.sleeps_beside_work())
        }),
    });
    let mut cancelled_at = None;
    let mut choices = scenario.caller.enters.map(fastrand::Rng::with_seed);
    loop {
        let left = (scenario.caller.cancels).map(|end| end.saturating_sub(world.time()));
        let patience = scenario.caller.patience;
        if running
            .ongoing
            .pool
            .wait(left.map_or(patience, |left| left.min(patience)))
        {
            break;
        }
        if let Some(choices) = &mut choices {
            let entered = choices.choice(&lock(log).dirs).copied();
            entered
                .into_iter()
                .for_each(|id| running.ongoing.pool.prefer(id));
        }
        if left == Some(Duration::ZERO) {
            cancelled_at = Some(world.time());
            running.ongoing.pool.cancel();
        }
    }
    let workers_at_last = running.ongoing.pool.workers_wanted();
    let outcome: Outcome<usize> = running.finish();
    Ended {
        report: outcome.report,
        rows: outcome.output,
        delivered: lock(log).rows,
        finished_at: world.time(),
        cancelled_at,
        idle: world.idle(),
        workers_at_last,
    }
}

fn seed_from(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

fn try_seed(seed: u64, traces: bool) {
    let scenario = Scenario::of(seed);
    let (ended, log) = run(&scenario, seed, traces);
    judge::judge(&scenario, &ended, &lock(&log));
}

/// Without this a failing seed could not be looked at.
#[test]
fn a_seed_decides_all_that_happens() {
    for seed in 0..300 {
        let scenario = Scenario::of(seed);
        let [first, second] = [(); 2].map(|()| {
            let (ended, log) = run(&scenario, seed, false);
            let delivered = lock(&log).delivered.len();
            let report = ended.report;
            (ended.finished_at, report.calls, report.errors, delivered)
        });
        assert_eq!(first, second, "seed {seed}");
    }
}

#[test]
#[allow(clippy::print_stderr)]
fn nothing_is_lost_and_nobody_sleeps() {
    let seeds = match seed_from("STATWALK_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..seed_from("STATWALK_SEEDS").unwrap_or(SEEDS),
    };
    let traces = seeds.end - seeds.start == 1;
    for seed in seeds {
        if traces {
            eprintln!("{:#?}", Scenario::of(seed));
        }
        let outcome = std::panic::catch_unwind(|| try_seed(seed, traces));
        if let Err(panic) = outcome {
            eprintln!("run it again: cargo xtask simulate {seed}");
            std::panic::resume_unwind(panic);
        }
    }
}
