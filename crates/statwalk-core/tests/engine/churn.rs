// SPDX-License-Identifier: MIT OR Apache-2.0

//! Scans in place of the kernel while several threads change what is scanned, as
//! fast as they can: names that nobody touches are there once, with what they
//! hold, and whenever the threads rest the kernel agrees about everything.
//!
//! `STATWALK_CHURN_SCANS=20000 cargo test -p statwalk-core --test engine churn::`
//! does it for longer.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString};
use std::fs;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::RwLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::fs::{
    AtFlags, Mode, OFlags, ftruncate, linkat, mkdirat, openat, renameat, symlinkat, unlinkat,
};
use rustix::io::Errno;
use statwalk_core::{FileType, Scan, Source, Totals};
use statwalk_testkit::mounts::{FileSystem, Mounted};
use statwalk_testkit::{Scratch, or_skip};

use super::devices::needs_device;
use super::harness::listing::{Listed, Listing};
use super::harness::text;
use crate::harness::sizes;

const EXT4_SCANS: usize = 320;
/// Fewer, because each begins with a sync.
const BTRFS_SCANS: usize = 200;
/// How long nobody scans at first, which tells what the file system does by itself.
const ALONE: Duration = Duration::from_secs(1);
const CHURNERS: u64 = 3;
/// After so many scans everything rests and the kernel is asked too.
const SCANS_BETWEEN_RESTS: usize = 8;
const QUIET_DIRS: usize = 60;
const BUSY_DIRS: usize = 12;
/// Names that come and go in each busy directory, for each thread.
const SLOTS: usize = 40;
static CONTENT: [u8; 9_000] = [7; 9_000];

/// What stays as it is, by its path.
type Still = BTreeMap<Vec<u8>, (FileType, Option<u64>)>;

/// One thread that changes things: names in all busy directories, its own.
///
/// By descriptors of those directories and by knowing what is where, because the
/// more changes there are, the more meet a scan.
struct Churner {
    dirs: Vec<OwnedFd>,
    /// By directory and slot.
    names: Vec<CString>,
    holds: Vec<Held>,
    state: u64,
}

/// What has a name, as far as the churner knows.
#[derive(Clone, Copy, PartialEq)]
enum Held {
    Nothing,
    File,
    Symlink,
    Directory,
}

impl Churner {
    fn new(number: u64, dirs: &[PathBuf]) -> Churner {
        let open = |dir: &PathBuf| fs::File::open(dir).unwrap().into();
        // Long and short ones, so that records are split and joined.
        let tail = "-with-a-tail-that-moves-others-to-another-block";
        let name = |slot| format!("busy-{number}-{slot}{}", &tail[..slot % (tail.len() + 1)]);
        Churner {
            dirs: dirs.iter().map(open).collect(),
            names: (0..SLOTS)
                .map(|slot| CString::new(name(slot)).unwrap())
                .collect(),
            holds: vec![Held::Nothing; dirs.len() * SLOTS],
            state: number,
        }
    }

    fn any(&mut self, below: usize) -> usize {
        self.state = self
            .state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) as usize % below
    }

    /// Changes one thing; false where it was not as the churner believed.
    fn change(&mut self) -> bool {
        let at = self.any(self.holds.len());
        let choice = self.any(16);
        let (result, now) = match self.holds[at] {
            Held::Nothing => match choice {
                0..12 => (self.write(at, OFlags::CREATE | OFlags::EXCL), Held::File),
                12..14 => (
                    symlinkat("nowhere", self.dir(at), self.name(at)),
                    Held::Symlink,
                ),
                _ => (
                    mkdirat(self.dir(at), self.name(at), Mode::RWXU),
                    Held::Directory,
                ),
            },
            Held::File => match choice {
                0..2 => (self.write(at, OFlags::APPEND), Held::File),
                2..4 => (self.truncate(at), Held::File),
                4..9 => return self.bring(at, true),
                9..11 => return self.bring(at, false),
                _ => (self.remove(at, AtFlags::empty()), Held::Nothing),
            },
            Held::Symlink => match choice {
                0..8 => return self.bring(at, true),
                _ => (self.remove(at, AtFlags::empty()), Held::Nothing),
            },
            Held::Directory => (self.remove(at, AtFlags::REMOVEDIR), Held::Nothing),
        };
        self.holds[at] = match result {
            Ok(()) => now,
            // A rename to another link of the same file does nothing.
            Err(Errno::EXIST) => Held::File,
            Err(_) => self.holds[at],
        };
        result.is_ok()
    }

    /// Renames to another name, or links to it.
    fn bring(&mut self, from: usize, away: bool) -> bool {
        let to = self.any(self.holds.len());
        if self.holds[to] != Held::Nothing && !(away && self.holds[to] == Held::File) {
            return false;
        }
        let result = match away {
            true => renameat(self.dir(from), self.name(from), self.dir(to), self.name(to)),
            false => {
                let none = AtFlags::empty();
                linkat(
                    self.dir(from),
                    self.name(from),
                    self.dir(to),
                    self.name(to),
                    none,
                )
            }
        };
        if result.is_ok() {
            self.holds[to] = self.holds[from];
            if away {
                self.holds[from] = Held::Nothing;
            }
        }
        result.is_ok()
    }

    fn dir(&self, at: usize) -> BorrowedFd<'_> {
        self.dirs[at / SLOTS].as_fd()
    }

    fn name(&self, at: usize) -> &CStr {
        &self.names[at % SLOTS]
    }

    fn open(&self, at: usize, flags: OFlags) -> rustix::io::Result<OwnedFd> {
        let flags = flags | OFlags::WRONLY | OFlags::CLOEXEC;
        openat(self.dir(at), self.name(at), flags, Mode::RUSR | Mode::WUSR)
    }

    /// Most are empty or short.
    fn write(&mut self, at: usize, flags: OFlags) -> rustix::io::Result<()> {
        let length = match self.any(8) {
            0..3 => 0,
            3..7 => self.any(500),
            _ => self.any(CONTENT.len()),
        };
        let file = self.open(at, flags)?;
        if length > 0 {
            rustix::io::write(&file, &CONTENT[..length])?;
        }
        Ok(())
    }

    fn truncate(&mut self, at: usize) -> rustix::io::Result<()> {
        let length = self.any(20_000) as u64;
        ftruncate(self.open(at, OFlags::empty())?, length)
    }

    fn remove(&self, at: usize, flags: AtFlags) -> rustix::io::Result<()> {
        unlinkat(self.dir(at), self.name(at), flags)
    }
}

/// Files in quiet and in busy directories; the last busy one has an index.
fn fill(at: &Path) -> (Vec<PathBuf>, Still) {
    let mut still = Still::new();
    let mut busy = Vec::new();
    for dir in 0..QUIET_DIRS + BUSY_DIRS {
        let path = at
            .join(format!("parent{}", dir % 7))
            .join(format!("d{dir}"));
        fs::create_dir_all(&path).unwrap();
        let is_last = dir + 1 == QUIET_DIRS + BUSY_DIRS;
        for file in 0..if is_last { 600 } else { 30_u64 } {
            let name = path.join(format!("still{file}"));
            let size_bytes = file % 50 * 111;
            fs::write(&name, vec![0; size_bytes as usize]).unwrap();
            let bytes = name.as_os_str().as_bytes().to_vec();
            still.insert(bytes, (FileType::File, Some(size_bytes)));
        }
        let bytes = path.as_os_str().as_bytes().to_vec();
        still.insert(bytes, (FileType::Directory, None));
        if dir >= QUIET_DIRS {
            busy.push(path);
        }
    }
    (busy, still)
}

/// One scan while everything moves.
fn check_moving(at: &Path, source: Source, still: &Still, round: usize) -> (u64, u64) {
    let scan = Scan::new(at).source(source).threads(1 + round % 3);
    let outcome = scan.run(&Listing::with_sizes()).unwrap();
    let mut found = BTreeMap::new();
    for Listed {
        path,
        kind,
        size_bytes,
        ..
    } in outcome.output
    {
        let twice = found.insert(path.clone(), (kind, size_bytes));
        assert_eq!(twice, None, "{:?} twice in scan {round}", text(&path));
    }
    // Complete or not: what nobody touches is there.
    for (path, expected) in still {
        let report = &outcome.report;
        assert_eq!(
            found.get(path),
            Some(expected),
            "{:?} in scan {round}: {report:?}",
            text(path)
        );
    }
    let sum = outcome.report.sum();
    assert!(
        sum.changed_dirs as usize <= BUSY_DIRS,
        "scan {round}: {:?}",
        outcome.report
    );
    assert_eq!(sum.unreadable, 0, "scan {round}: {:?}", outcome.report);
    assert_eq!(outcome.report.is_complete(), sum.changed_dirs == 0);
    (sum.changed_dirs, sum.vanished)
}

/// Nothing moves, and nothing was written back either: the kernel and the source
/// say the same about everything.
fn check_resting(at: &Path, source: Source, round: usize) {
    let listed = |source, threads| {
        let scan = Scan::new(at).source(source).threads(threads);
        let outcome = scan.run(&Listing::with_sizes()).unwrap();
        assert!(outcome.report.is_complete(), "{:?}", outcome.report);
        let totals = scan.run(&Totals::new()).unwrap().output;
        let bytes = sizes(&totals[0]).file_size_bytes;
        (outcome.output, totals[0].entries, bytes)
    };
    let expected = listed(Source::Posix, 2);
    for threads in [1, 2] {
        let found = listed(source, threads);
        let differs = found.0.iter().zip(&expected.0).find(|(a, b)| a != b);
        assert!(found == expected, "after scan {round}: {differs:?}");
    }
}

#[test]
fn while_an_ext4_changes_nothing_is_missed_or_counted_twice() {
    let scratch = Scratch::new().unwrap();
    let at = scratch.subdirectory("at").unwrap();
    let mounted = or_skip!(FileSystem::Ext4.mount(&at));
    or_skip!(needs_device(&mounted));
    churn(&mounted, Source::Ext4, EXT4_SCANS);
}

#[test]
fn while_a_btrfs_changes_nothing_is_missed_or_counted_twice() {
    let scratch = Scratch::new().unwrap();
    let at = scratch.subdirectory("at").unwrap();
    let mounted = or_skip!(FileSystem::Btrfs.mount(&at));
    churn(&mounted, Source::Btrfs, BTRFS_SCANS);
}

fn churn(mounted: &Mounted, source: Source, scans: usize) {
    let scans = std::env::var("STATWALK_CHURN_SCANS")
        .ok()
        .map_or(scans, |text| text.parse().unwrap());
    let at = mounted.path();
    let (busy, still) = fill(at);
    mounted.settle().unwrap();
    let stop = AtomicBool::new(false);
    let changes = AtomicU64::new(0);
    let rest = RwLock::new(());
    std::thread::scope(|scope| {
        let churners: Vec<_> = (0..CHURNERS)
            .map(|number| {
                let (stop, rest, changes) = (&stop, &rest, &changes);
                let mut churner = Churner::new(number, &busy);
                scope.spawn(move || {
                    let mut time = Duration::ZERO;
                    while !stop.load(Ordering::Relaxed) {
                        let _moving = rest.read().unwrap();
                        let begin = Instant::now();
                        let made = (0..50).filter(|_| churner.change()).count() as u64;
                        changes.fetch_add(made, Ordering::Relaxed);
                        time += begin.elapsed();
                    }
                    time
                })
            })
            .collect();
        let begin = Instant::now();
        std::thread::sleep(ALONE);
        let alone = changes.load(Ordering::Relaxed);
        let alone_time = begin.elapsed();
        // Sizes that are not written yet are told from those that are by the
        // time of their change, so the scan has the true time here.
        let (mut changed, mut vanished, mut longest) = (0, 0, Duration::ZERO);
        let checked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            for round in 0..scans {
                let begin = Instant::now();
                let marks = check_moving(at, source, &still, round);
                longest = longest.max(begin.elapsed());
                changed += marks.0;
                vanished += marks.1;
                if round % SCANS_BETWEEN_RESTS == SCANS_BETWEEN_RESTS - 1 {
                    let _resting = rest.write().unwrap();
                    check_resting(at, source, round);
                }
            }
        }));
        stop.store(true, Ordering::Relaxed);
        let times: Vec<_> = churners.into_iter().map(|c| c.join().unwrap()).collect();
        if let Err(panic) = checked {
            std::panic::resume_unwind(panic);
        }
        let met = changes.load(Ordering::Relaxed) - alone;
        let moving = times.into_iter().max().unwrap() - alone_time;
        println!(
            "{scans} scans, the longest of {longest:?}; {met} changes, {:.0} a second after {:.0} \
             before the first scan; {changed} directories marked as changed, {vanished} entries vanished",
            met as f64 / moving.as_secs_f64(),
            alone as f64 / alone_time.as_secs_f64(),
        );
        assert!(met > 10 * scans as u64, "{met} changes");
    });
}
