// SPDX-License-Identifier: MIT OR Apache-2.0

//! Directories without types that are too large to be withheld: "a million JPG files and a
//! single .thumbnail" (article 5).

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use statwalk_core::tuning::Calls;
use statwalk_core::{Fields, Outcome, RootTotals, Scan, Source, Totals};
use statwalk_testkit::mounts::{FileSystem, Mounted};
use statwalk_testkit::{Scratch, Skipped, or_skip};

use super::harness::child;
use super::harness::listing::Listing;

/// The most names of one inode on ext4: `EXT4_LINK_MAX`, fs/ext4/ext4.h (Linux 6.18).
const LINKS_MAX: usize = 65_000;

/// A directory `flat` of so many files, which take few inodes.
fn flat(files: usize) -> Result<(Scratch, Mounted), Skipped> {
    let scratch = Scratch::new().unwrap();
    let at = scratch.subdirectory("mnt").unwrap();
    let mounted = FileSystem::Ext4WithoutFiletype.mount(&at)?;
    let dir = mounted.path().join("flat");
    std::fs::create_dir(&dir).unwrap();
    let name = |number: usize| dir.join(format!("IMG_{number:07}.JPG"));
    for first in (0..files).step_by(LINKS_MAX) {
        std::fs::write(name(first), b"").unwrap();
        for number in first + 1..files.min(first + LINKS_MAX) {
            std::fs::hard_link(name(first), name(number)).unwrap();
        }
    }
    age(&dir);
    Ok((scratch, mounted))
}

/// What changed a moment ago is not trusted.
fn age(dir: &Path) {
    let hour_ago = SystemTime::now() - Duration::from_secs(3_600);
    let dir = std::fs::File::open(dir).unwrap();
    dir.set_modified(hour_ago).unwrap();
}

fn shape(dir: &Path, threads: usize, calls: Calls) -> Outcome<Vec<RootTotals>> {
    let scan = Scan::new(dir).source(Source::Posix).threads(threads);
    scan.calls(calls)
        .run(&Totals::new().without_types())
        .unwrap()
}

/// A part for [`child`].
pub(crate) fn scanned_in_a_child(argument: &str) {
    let (threads, dir) = argument.split_once(' ').unwrap();
    let threads = threads.parse().unwrap();
    child::print_totals(&shape(Path::new(dir), threads, Calls::default()));
}

#[test]
fn many_files_and_one_subdirectory_cost_a_few_stats() {
    const FILES: u64 = 300_000;
    let (_scratch, mounted) = or_skip!(flat(FILES as usize));
    let dir = mounted.path().join("flat");
    let scan = |threads: usize| {
        let argument = format!("{threads} {}", dir.display());
        child::run("large_untyped::scanned_in_a_child", &argument)
    };
    let check = |dirs: u64| {
        for threads in [1, 3] {
            let found = scan(threads);
            assert_eq!(found["complete"], 1, "{found:?}");
            assert_eq!(found["dirs"], dirs, "{found:?}");
            assert_eq!(found["entries"], FILES + dirs, "{found:?}");
            // Two listings of 10 MB, in buffers of 128 KiB.
            assert!(found["calls"] < 300, "{found:?}");
            assert!(found["peak_kib"] < 48 << 10, "{found:?}");
        }
    };
    check(1);
    for name in [".thumbnail", "thumbnails"] {
        std::fs::create_dir(dir.join(name)).unwrap();
        age(&dir);
        check(2);
        std::fs::remove_dir(dir.join(name)).unwrap();
    }
}

#[test]
fn what_the_names_do_not_tell_is_asked() {
    const FILES: u64 = 70_000;
    let (_scratch, mounted) = or_skip!(flat(FILES as usize));
    let dir = mounted.path().join("flat");
    std::fs::create_dir_all(dir.join("thumbnails.d/inner")).unwrap();
    std::fs::create_dir(dir.join(".thumbnail")).unwrap();
    let check = |calls: Calls, threads| {
        let found = shape(&dir, threads, calls);
        assert!(found.report.is_complete(), "{:?}", found.report);
        let sum = &found.output[0];
        assert_eq!((sum.entries, sum.dirs), (FILES + 4, 4));
        found.report.calls
    };
    for threads in [1, 3] {
        // Just changed; then the name of one subdirectory is none of the likely ones.
        for is_aged in [false, true] {
            if is_aged {
                age(&dir);
            }
            assert!(check(Calls::default(), threads) > FILES);
        }
        let plain = check(Calls::default().link_stop(false), threads);
        // The second listing, and the likely names twice.
        let searched = check(Calls::default(), threads);
        assert!(searched < plain + 200, "{searched}, {plain}");
        assert!(check(Calls::default().likely_first(false), threads) > FILES);
        std::fs::rename(dir.join("thumbnails.d"), dir.join("thumbnails")).unwrap();
        age(&dir);
        assert!(check(Calls::default(), threads) < 200);
        let scan = Scan::new(&dir).source(Source::Posix).threads(threads);
        let names = Listing {
            fields: Fields::NAME,
        };
        let found = scan.run(&names).unwrap();
        assert_eq!(found.output.len() as u64, FILES + 4);
        assert!(found.report.calls < 200, "{}", found.report.calls);
        std::fs::rename(dir.join("thumbnails"), dir.join("thumbnails.d")).unwrap();
    }
}

/// More names are likely than a scan asks about in vain.
#[test]
fn a_search_ends() {
    const FILES: usize = 66_000;
    let (_scratch, mounted) = or_skip!(flat(FILES));
    let dir = mounted.path().join("flat");
    let file = dir.join("IMG_0065000.JPG");
    for number in 0..50_000 {
        std::fs::hard_link(&file, dir.join(format!("IMG_{number:07}"))).unwrap();
    }
    let file = dir.join("IMG_0000000");
    std::fs::copy(&file, dir.join("second")).unwrap();
    for number in 50_000..70_000 {
        let name = dir.join(format!("IMG_{number:07}"));
        std::fs::hard_link(dir.join("second"), name).unwrap();
    }
    std::fs::create_dir(dir.join("thumbnails.d")).unwrap();
    age(&dir);
    let files = FILES as u64 + 70_001;
    let found = shape(&dir, 1, Calls::default());
    let sum = &found.output[0];
    assert_eq!((sum.entries, sum.dirs), (files + 2, 2));
    let calls = found.report.calls;
    assert!((files + 65_536..files + 66_000).contains(&calls), "{calls}");
}

/// An error lost all entries that were gathered before it. One that only the search meets is
/// none: the second pass tells what it meets itself.
#[test]
fn an_error_costs_no_entry_that_was_read() {
    const FILES: u64 = 70_000;
    let (_scratch, mounted) = or_skip!(flat(FILES as usize));
    let dir = mounted.path().join("flat");
    // No likely name, so the search goes to the end.
    std::fs::create_dir(dir.join("thumbnails.d")).unwrap();
    age(&dir);
    let mut mended = 0;
    // The listing that is given up takes some 80 calls, and each pass then some 20.
    for call in (20..=128).step_by(6) {
        let inject = format!("inject=getdents64:error=EIO:when={call}");
        let words = ["strace", "-f", "--seccomp-bpf", "-o", "/dev/null", "-e"];
        let before = [&words[..], &["trace=getdents64", "-e", &inject]].concat();
        let argument = format!("1 {}", dir.display());
        let mut command = child::command(&before, "large_untyped::scanned_in_a_child", &argument);
        let output = or_skip!(command.output().map_err(|_| Skipped::needs("strace")));
        let found = child::numbers(&output);
        match found["complete"] {
            1 => {
                mended += 1;
                assert_eq!(found["entries"], FILES + 2, "{call}: {found:?}");
                assert_eq!(found["dirs"], 2, "{call}: {found:?}");
            }
            // What was read before the error is there.
            _ => {
                assert_eq!(found["unreadable"], 1, "{call}: {found:?}");
                assert!(found["entries"] > 10_000, "{call}: {found:?}");
            }
        }
    }
    assert!(mended >= 3, "{mended}");
}

/// Directories that come and go must never hide others.
#[test]
fn nothing_is_hidden_while_others_come_and_go() {
    let (_scratch, mounted) = or_skip!(flat(70_000));
    let dir = mounted.path().join("flat");
    for name in ["stays", "stays.d"] {
        std::fs::create_dir(dir.join(name)).unwrap();
    }
    let end = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut number = 0;
            while !end.load(Ordering::Relaxed) {
                let passing = dir.join(format!("passing{}", number % 7));
                let _ = std::fs::create_dir(&passing);
                std::thread::sleep(Duration::from_millis(number % 30));
                let _ = std::fs::remove_dir(&passing);
                // A clock that went back, or somebody who hides what they did.
                if number % 2 == 0 {
                    age(&dir);
                    std::thread::sleep(Duration::from_millis(number % 50));
                }
                number += 1;
            }
        });
        for round in 0..60 {
            let found = shape(&dir, 1 + round % 3, Calls::default());
            let sum = &found.output[0];
            assert!(sum.dirs >= 3 || !found.report.is_complete(), "{sum:?}");
        }
        end.store(true, Ordering::Relaxed);
    });
}
