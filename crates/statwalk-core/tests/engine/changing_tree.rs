// SPDX-License-Identifier: MIT OR Apache-2.0

//! Scans of a tree that others rename, delete and replace meanwhile: nothing
//! outside is read, nothing that is left alone is missed or counted twice.

use std::collections::HashMap;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::fs::{
    AtFlags, CWD, Mode, OFlags, RenameFlags, mkdirat, openat, renameat, renameat_with, unlinkat,
};
use rustix::io::Errno;
use statwalk_core::{Cause, Exclusions, FileType, KernelFileSystems, Scan, Totals};

use super::harness::listing::{Listed, Listing};
use super::harness::{scratch_in_memory, text};

/// A size that nothing in the tree has: of markers outside.
const MARKER_BYTES: u64 = 7_777_777;

const DIRS: usize = 24;
const FILES: usize = 12;

/// Makes the tree that holds still, and what will be changed in it.
fn build(top: &Path) -> (PathBuf, PathBuf) {
    let (tree, outside) = (top.join("tree"), top.join("outside"));
    for dir in 0..DIRS {
        for sub in ["still", "busy/inner/innermost"] {
            let path = tree.join(format!("d{dir}/{sub}"));
            std::fs::create_dir_all(&path).unwrap();
            for file in 0..FILES {
                std::fs::write(path.join(format!("f{file}")), [0; 100]).unwrap();
            }
        }
    }
    // Outside, the names are those inside: a scan that is led astray finds them.
    for path in [
        "inner/innermost",
        "innermost",
        "still",
        "busy/inner/innermost",
    ] {
        let path = outside.join(path);
        std::fs::create_dir_all(&path).unwrap();
        for file in 0..FILES {
            let file = std::fs::File::create(path.join(format!("f{file}"))).unwrap();
            file.set_len(MARKER_BYTES).unwrap();
        }
        std::fs::write(path.join("MARKER"), b"outside").unwrap();
    }
    (tree, outside)
}

/// A directory of that name itself, never what a link leads to.
fn open_real(dir: impl AsFd, name: &str) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(dir, name, flags, Mode::empty())
}

/// Replaces directories by links to the outside, by files, by each other, and back.
///
/// Everything goes by descriptors that are no links: otherwise this itself would
/// bring into the tree what lies outside.
fn disturb(tree: &Path, outside: &Path, worker: usize, stop: &AtomicBool, steps: &AtomicU64) {
    let aside = tree.parent().unwrap().join(format!("aside{worker}"));
    std::fs::create_dir_all(&aside).unwrap();
    symlink(outside, aside.join("link")).unwrap();
    std::fs::write(aside.join("file"), b"x").unwrap();
    let aside = open_real(CWD, aside.to_str().unwrap()).unwrap();
    let mut turn = 0;
    while !stop.load(Ordering::Relaxed) {
        turn += 1;
        let step = one_change(tree, &aside, worker, turn);
        steps.fetch_add(u64::from(step.is_ok()), Ordering::Relaxed);
    }
}

fn one_change(tree: &Path, aside: &OwnedFd, worker: usize, turn: usize) -> Result<(), Errno> {
    fn exchange(a: &OwnedFd, a_name: &str, b: &OwnedFd, b_name: &str) -> Result<(), Errno> {
        renameat_with(a, a_name, b, b_name, RenameFlags::EXCHANGE)
    }
    // Each worker has directories of its own, so that what it exchanges twice
    // is where it was.
    let own = |turn: usize| {
        let number = turn % (DIRS / 2) * 2 + worker;
        open_real(CWD, tree.join(format!("d{number}")).to_str().unwrap())
    };
    let dir = own(turn)?;
    let busy = open_real(&dir, "busy")?;
    let inner = open_real(&busy, "inner")?;
    match turn % 7 {
        // For a moment the directory is a link to the outside.
        0 | 1 => {
            exchange(&dir, "busy", aside, "link")?;
            std::thread::yield_now();
            exchange(&dir, "busy", aside, "link")
        }
        2 => {
            exchange(&busy, "inner", aside, "link")?;
            exchange(&busy, "inner", aside, "link")
        }
        3 => {
            exchange(&dir, "busy", aside, "file")?;
            exchange(&dir, "busy", aside, "file")
        }
        4 => {
            let other = open_real(&own(turn + 1)?, "busy")?;
            exchange(&busy, "inner", &other, "inner")
        }
        5 => {
            renameat(&inner, "innermost", aside, "moved")?;
            renameat(aside, "moved", &inner, "innermost")
        }
        _ => {
            mkdirat(&busy, "new", Mode::RWXU)?;
            mkdirat(&inner, "new", Mode::RWXU)?;
            unlinkat(&inner, "new", AtFlags::REMOVEDIR)?;
            unlinkat(&busy, "new", AtFlags::REMOVEDIR)
        }
    }
}

fn check(tree: &Path, listed: &[Listed]) {
    let mut names: HashMap<&[u8], u32> = HashMap::new();
    for entry in listed {
        let path = text(&entry.path);
        assert_ne!(entry.size_bytes, Some(MARKER_BYTES), "{path} lies outside");
        assert!(!path.contains("MARKER"), "{path} lies outside");
        *names.entry(&entry.path).or_default() += 1;
    }
    for dir in 0..DIRS {
        let still = tree.join(format!("d{dir}/still"));
        let files = (0..FILES).map(|file| still.join(format!("f{file}")));
        for path in files.chain([still.clone(), tree.join(format!("d{dir}"))]) {
            let path = path.to_str().unwrap();
            let count = names.get(path.as_bytes()).copied().unwrap_or(0);
            assert_eq!(count, 1, "{path}");
        }
    }
}

#[test]
fn nothing_outside_is_read_and_nothing_still_is_missed() {
    let scratch = scratch_in_memory();
    let (tree, outside) = build(scratch.path());
    let (stop, steps) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for worker in 0..2 {
            let (tree, outside, stop, steps) = (&tree, &outside, &stop, &steps);
            scope.spawn(move || disturb(tree, outside, worker, stop, steps));
        }
        // The others stop also when a check fails.
        let outcome = std::panic::catch_unwind(|| {
            let start = Instant::now();
            let mut scans = 0_u32;
            // Longer on a busy machine: both sides must have had their turns.
            let has_met = |scans: u32| scans > 20 && steps.load(Ordering::Relaxed) > 200;
            while start.elapsed() < Duration::from_secs(8)
                || !has_met(scans) && start.elapsed() < Duration::from_secs(60)
            {
                for threads in [1, 2, 3, 8] {
                    let scan = Scan::new(&tree).threads(threads);
                    let outcome = scan.run(&Listing::with_sizes()).unwrap();
                    check(&tree, &outcome.output);
                    // Names alone go another way.
                    let outcome = scan.run(&Listing::of_names()).unwrap();
                    check(&tree, &outcome.output);
                    let excluded = Exclusions::new().glob(b"*/nothing").unwrap();
                    let scan = scan.exclusions(excluded);
                    let scan = scan.kernel_file_systems(KernelFileSystems::Enter);
                    check(&tree, &scan.run(&Listing::with_sizes()).unwrap().output);
                    scans += 3;
                }
            }
            scans
        });
        stop.store(true, Ordering::Relaxed);
        let scans = outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let steps = steps.load(Ordering::Relaxed);
        assert!(scans > 20 && steps > 200, "{scans} scans, {steps} changes");
    });
    // When all is quiet the answer is whole again.
    let outcome = Scan::new(&tree).run(&Totals::new()).unwrap();
    assert!(outcome.report.is_complete());
}

/// Directories that were closed early are found again by their path: what
/// stands there by then may be something else.
#[test]
fn directories_that_are_opened_again_are_the_same() {
    use super::harness::child;
    let numbers = child::run("changing_tree::with_few_descriptors", "64");
    assert!(numbers["scans"] > 5, "{numbers:?}");
}

/// The child of the test above: a limit of open files that makes directories close early.
pub(crate) fn with_few_descriptors(limit: &str) {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let scratch = scratch_in_memory();
    let (tree, outside) = build(scratch.path());
    // A chain so deep that not all of it can be open.
    let mut deep = tree.join("d0/busy/inner");
    for level in 0..150 {
        deep.push("c");
        std::fs::create_dir_all(deep.join("side")).unwrap();
        std::fs::write(deep.join(format!("f{level}")), b"x").unwrap();
    }
    let limit = limit.parse().ok();
    let (current, maximum) = (limit, limit);
    setrlimit(Resource::Nofile, Rlimit { current, maximum }).unwrap();
    let (stop, steps) = (AtomicBool::new(false), AtomicU64::new(0));
    let mut scans = 0;
    std::thread::scope(|scope| {
        scope.spawn(|| disturb(&tree, &outside, 0, &stop, &steps));
        let outcome = std::panic::catch_unwind(|| {
            let start = Instant::now();
            let mut scans = 0_u32;
            while start.elapsed() < Duration::from_secs(4)
                || scans <= 5 && start.elapsed() < Duration::from_secs(60)
            {
                for threads in [1, 4] {
                    let scan = Scan::new(&tree).threads(threads);
                    let outcome = scan.run(&Listing::with_sizes()).unwrap();
                    check(&tree, &outcome.output);
                    for error in &outcome.report.errors {
                        assert_ne!(
                            error.cause,
                            Cause::System(statwalk_core::Errno(24)),
                            "too many open files: {error}"
                        );
                    }
                    scans += 1;
                }
            }
            scans
        });
        stop.store(true, Ordering::Relaxed);
        scans = outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
    let outcome = Scan::new(&tree)
        .threads(3)
        .run(&Listing::with_sizes())
        .unwrap();
    let links = outcome
        .output
        .iter()
        .filter(|entry| entry.kind == FileType::Symlink);
    assert_eq!(links.count(), 0, "the links are back outside");
    println!("scans={scans}");
}
