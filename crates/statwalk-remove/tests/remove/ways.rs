// SPDX-License-Identifier: MIT OR Apache-2.0

//! The way from the root of a scan to an item, while directories on it are exchanged.

use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, SystemTime};

use rustix::fs::{CWD, RenameFlags};
use statwalk_remove::{
    EntryType, Freshness, Known, Lookout, Manner, Monitor, Reading, Refusal, Removal, Root, Step,
};
use statwalk_testkit::mounts::{self, FileSystem};
use statwalk_testkit::{Scratch, or_skip};

use crate::harness::{bytes, fast_scratch, make, snapshot, surroundings};
use crate::scanned::{Scanned, known};

fn exchange(a: &Path, b: &Path) -> bool {
    rustix::fs::renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE).is_ok()
}

/// A scan of `tree` met `tree/cache/old`; then a link to another directory took the place
/// of `tree/cache`, and the dialog proposed the other directory's `old`.
#[test]
fn whatever_takes_the_place_of_a_directory_on_the_way_leads_nowhere() {
    let scratch = Scratch::new().unwrap();
    let at = |path: &str| scratch.path().join(path);
    make(
        scratch.path(),
        &["tree/a/b/old/f", "victim/b/old/f", "victim/old/f", "file"],
    );
    let scanned = Scanned::new(&at("tree"), Path::new("a/b/old"));
    let path = |below: &str| bytes(&at(below)).to_vec();
    assert_eq!(scanned.look().unwrap().path(), path("tree/a/b/old"));
    for (place, is_item) in [
        ("tree/a", false),
        ("tree/a/b", false),
        ("tree/a/b/old", true),
    ] {
        fs::rename(at(place), at("moved")).unwrap();
        let missing = scanned.look().unwrap_err();
        assert!(matches!(missing, Refusal::Unseen { .. }), "{missing}");
        symlink(at("victim"), at(place)).unwrap();
        let link = path(place);
        let behind = Refusal::BehindLink {
            path: path("tree/a/b/old"),
            link,
        };
        assert_eq!(scanned.look().unwrap_err(), behind, "{place}");
        // A link to the directory itself is no exception.
        fs::remove_file(at(place)).unwrap();
        symlink(at("moved"), at(place)).unwrap();
        assert_eq!(scanned.look().unwrap_err(), behind, "{place}");
        fs::remove_file(at(place)).unwrap();
        let replaced = Refusal::Replaced {
            path: path("tree/a/b/old"),
            at: path(place),
        };
        for other in ["victim", "file"] {
            fs::rename(at(other), at(place)).unwrap();
            assert_eq!(scanned.look().unwrap_err(), replaced, "{place} {other}");
            fs::rename(at(place), at(other)).unwrap();
        }
        fs::rename(at("moved"), at(place)).unwrap();
        let bound = or_skip!(mounts::bind(&at("victim"), &at(place)));
        assert_eq!(scanned.look().unwrap_err(), replaced, "{place} {is_item}");
        drop(bound);
        assert!(scanned.look().is_ok());
    }
}

/// A file that took the place of another one after the scan went without a word.
#[test]
fn a_file_is_compared_with_the_reading_of_a_scan() {
    let now_ns = || {
        // The clock of files has steps of some milliseconds.
        std::thread::sleep(Duration::from_millis(30));
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        std::thread::sleep(Duration::from_millis(30));
        Some(now.unwrap().as_nanos() as i64)
    };
    let scratch = Scratch::new().unwrap();
    let at = |name: &str| scratch.path().join(name);
    let keeps_births = fs::metadata(scratch.path()).unwrap().created().is_ok();
    let replaced = match keeps_births {
        true => Freshness::Replaced,
        false => Freshness::Changed,
    };
    make(scratch.path(), &["tree/", "older"]);
    let file = at("tree/file");
    let check = |before: &dyn Fn(), during: &dyn Fn(), after: &dyn Fn(), expected| {
        fs::write(&file, "read").unwrap();
        before();
        let begin_ns = now_ns();
        during();
        let scanned = Scanned::new(&at("tree"), Path::new("file"));
        let metadata = fs::symlink_metadata(&file).unwrap();
        let reading = Reading {
            bytes: Some(metadata.len()),
            mtime_ns: Some(metadata.mtime() * 1_000_000_000 + metadata.mtime_nsec()),
            begin_ns,
        };
        now_ns();
        after();
        let seen = scanned.look().unwrap();
        assert_eq!(seen.freshness(&reading), expected);
        assert_eq!(seen.freshness(&Reading::default()), Freshness::AsRead);
        fs::remove_file(&file).unwrap();
    };
    let nothing: &dyn Fn() = &|| {};
    let remake: &dyn Fn() = &|| {
        fs::rename(&file, at("aside")).unwrap();
        fs::write(&file, "read").unwrap();
    };
    let write: &dyn Fn() = &|| {
        let mut file = fs::OpenOptions::new().append(true).open(&file).unwrap();
        file.write_all(b"more").unwrap();
    };
    let same_length: &dyn Fn() = &|| fs::write(&file, "else").unwrap();
    let older: &dyn Fn() = &|| {
        fs::hard_link(at("older"), at("again")).unwrap();
        fs::rename(at("again"), &file).unwrap();
    };
    let old_time: &dyn Fn() = &|| {
        let file = fs::File::options().write(true).open(&file).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
    };
    check(nothing, nothing, nothing, Freshness::AsRead);
    check(nothing, nothing, write, Freshness::Changed);
    check(nothing, nothing, same_length, Freshness::Changed);
    check(nothing, nothing, old_time, Freshness::Changed);
    check(nothing, nothing, remake, replaced);
    check(old_time, nothing, remake, replaced);
    check(old_time, nothing, write, Freshness::Changed);
    check(nothing, nothing, older, Freshness::Changed);
    // Made during the scan, and read by it.
    check(nothing, remake, nothing, Freshness::AsRead);
    check(nothing, remake, write, Freshness::Changed);
}

#[test]
fn a_root_that_moved_is_noticed() {
    let scratch = Scratch::new().unwrap();
    let at = |path: &str| scratch.path().join(path);
    make(scratch.path(), &["up/tree/a/f", "other/a/f"]);
    let whole = Scanned::new(&at("up/tree"), Path::new(""));
    let below = Scanned::new(&at("up/tree"), Path::new("a"));
    let check = |is_there: bool| {
        for scanned in [&whole, &below] {
            let looked = scanned.look();
            let is_root = matches!(looked, Err(Refusal::RootChanged { .. }));
            assert_eq!(
                (looked.is_ok(), is_root),
                (is_there, !is_there),
                "{looked:?}"
            );
        }
    };
    check(true);
    for place in ["up/tree", "up"] {
        fs::rename(at(place), at("moved")).unwrap();
        check(false);
        symlink(at("moved"), at(place)).unwrap();
        check(false);
        fs::remove_file(at(place)).unwrap();
        make(&at("up/tree"), &["a/f"]);
        check(false);
        statwalk_testkit::remove_tree(&at(place)).unwrap();
        fs::rename(at("moved"), at(place)).unwrap();
        check(true);
    }
    assert!(exchange(&at("up/tree"), &at("other")));
    check(false);
}

#[test]
fn links_at_the_root_are_resolved_as_a_scan_does() {
    let scratch = Scratch::new().unwrap();
    let at = |path: &str| scratch.path().join(path);
    make(scratch.path(), &["tree/a/f", "tree/g"]);
    symlink("tree", at("link")).unwrap();
    let real = fs::canonicalize(scratch.path()).unwrap();
    let find = |path: &str, follows| {
        let root = Root::find(bytes(&at(path)), follows).unwrap();
        PathBuf::from(OsStr::from_bytes(root.path()))
    };
    assert_eq!(find("link", false), real.join("link"));
    for (path, follows) in [
        ("link/", false),
        ("link", true),
        ("tree/a/..", false),
        ("tree", false),
    ] {
        assert_eq!(find(path, follows), real.join("tree"), "{path}");
    }
    assert_eq!(find("link/a", false), real.join("tree/a"));
    assert_eq!(find("link/.", false), real.join("tree"));
    assert!(Root::find(bytes(&at("missing")), false).is_err());
    assert!(Root::find(b"", false).is_err());
    // The link goes itself where the scan has read the link.
    let mut lookout = Lookout::default();
    let link = Root::find(bytes(&at("link")), false).unwrap();
    let seen = lookout.look(&link, known(&at("link")), &[]).unwrap();
    assert_eq!(seen.into_item().identity().entry_type, EntryType::Link);
    // Where it has read the directory behind, items below are found, and the root stays.
    let link = Root::find(bytes(&at("link/")), false).unwrap();
    let step = Step {
        name: b"a".to_vec(),
        known: known(&at("tree/a")),
    };
    assert!(lookout.look(&link, known(&at("tree")), &[step]).is_ok());
    let refused = lookout.look(&link, known(&at("tree")), &[]).unwrap_err();
    assert!(matches!(refused, Refusal::RootByLink { .. }), "{refused}");
    let target = real.join("tree");
    let sentence = format!(
        "{} is a root by a symbolic link, so it stays; name it without the link to remove it",
        target.display()
    );
    assert_eq!(refused.to_string(), sentence);
}

#[test]
fn the_mark_knows_its_item_again() {
    let scratch = Scratch::new().unwrap();
    let at = |path: &str| scratch.path().join(path);
    make(scratch.path(), &["tree/d/f", "tree/d/kept"]);
    let scanned = Scanned::new(&at("tree"), Path::new("d/f"));
    let marked = scanned.look().unwrap();
    // It may grow: the survey has the new numbers.
    fs::write(at("tree/d/f"), [1; 5000]).unwrap();
    assert!(scanned.look().unwrap().is_same_item(&marked));
    fs::hard_link(at("tree/d/f"), at("tree/d/g")).unwrap();
    assert!(exchange(&at("tree/d/g"), &at("tree/d/kept")));
    assert!(scanned.look().unwrap().is_same_item(&marked));
    assert!(exchange(&at("tree/d/f"), &at("tree/d/g")));
    assert!(!scanned.look().unwrap().is_same_item(&marked));
}

#[test]
fn a_mount_that_was_there_at_the_scan_is_on_the_way() {
    let scratch = Scratch::new().unwrap();
    let deep = make(&scratch.path().join("tree"), &["mnt/"]).join("mnt");
    let mounted = or_skip!(FileSystem::Tmpfs.mount(&deep));
    make(&deep, &["a/old/f"]);
    let scanned = Scanned::new(&scratch.path().join("tree"), Path::new("mnt/a/old"));
    assert!(scanned.look().is_ok());
    drop(mounted);
    make(&deep, &["a/old/f"]);
    let replaced = scanned.look().unwrap_err();
    assert!(matches!(replaced, Refusal::Replaced { .. }), "{replaced}");
}

#[test]
fn subvolumes_lie_on_the_way() {
    let scratch = Scratch::new().unwrap();
    let top = make(&scratch.path().join("tree"), &["top/"]).join("top");
    let _mounted = or_skip!(FileSystem::Btrfs.mount(&top));
    or_skip!(mounts::btrfs_subvolume(&top.join("sub")));
    make(&top.join("sub"), &["a/old/f"]);
    let scanned = Scanned::new(&scratch.path().join("tree"), Path::new("top/sub/a/old"));
    let item = scanned.look().unwrap().into_item();
    let outcome = Removal::new(vec![item], Manner::Permanent, surroundings()).run(&Monitor::new());
    assert_eq!(outcome.entry_count, 2, "{outcome:?}");
    assert!(top.join("sub/a").exists());
}

#[test]
fn names_of_any_bytes_and_paths_of_any_length_are_found() {
    let scratch = fast_scratch();
    let tree = scratch.subdirectory("tree").unwrap();
    let names: Vec<Vec<u8>> = (0..60_u8)
        .map(|number| {
            let mut name = vec![b'a' + number % 26; 100];
            name.extend([b'\n', 0xff, 0x1b, number + 128]);
            name
        })
        .collect();
    let flags = rustix::fs::OFlags::PATH;
    let mut here = rustix::fs::open(&tree, flags, rustix::fs::Mode::empty()).unwrap();
    for name in &names {
        rustix::fs::mkdirat(&here, &name[..], rustix::fs::Mode::RWXU).unwrap();
        here = rustix::fs::openat(&here, &name[..], flags, rustix::fs::Mode::empty()).unwrap();
    }
    let steps = names.into_iter().map(|name| Step {
        name,
        known: Known::default(),
    });
    let steps: Vec<Step> = steps.collect();
    let root = Root::find(bytes(&tree), false).unwrap();
    let item = Lookout::default()
        .look(&root, Known::default(), &steps)
        .unwrap()
        .into_item();
    assert!(item.path().len() > 6_000);
    let outcome = Removal::new(vec![item], Manner::Permanent, surroundings()).run(&Monitor::new());
    assert_eq!(outcome.entry_count, 1, "{outcome:?}");
    let item = Lookout::default()
        .look(&root, Known::default(), &steps[..1])
        .unwrap()
        .into_item();
    let outcome = Removal::new(vec![item], Manner::Permanent, surroundings()).run(&Monitor::new());
    assert_eq!(outcome.entry_count, 59, "{outcome:?}");
}

/// Steps with such names would lead up, or to another directory.
#[test]
fn a_step_is_a_plain_name() {
    let scratch = Scratch::new().unwrap();
    let tree = make(&scratch.path().join("tree"), &["a/b"]);
    let root = Root::find(bytes(&tree), false).unwrap();
    for name in ["..", ".", "", "a/b", "/"] {
        for names in [&[name, "b"][..], &["a", name]] {
            let steps = names.iter().map(|name| Step {
                name: name.as_bytes().to_vec(),
                known: Known::default(),
            });
            let steps: Vec<Step> = steps.collect();
            let looked = Lookout::default().look(&root, Known::default(), &steps);
            assert!(looked.is_err(), "{names:?}: {looked:?}");
        }
    }
}

/// A pseudorandom number below `limit` (xorshift64).
fn below(state: &mut u64, limit: u64) -> usize {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    (*state % limit) as usize
}

/// An entry that the removal looks at under a name of its own comes back at once.
fn until_it_works(act: impl Fn() -> bool) {
    let start = std::time::Instant::now();
    while !act() {
        assert!(start.elapsed() < std::time::Duration::from_secs(60));
        std::thread::yield_now();
    }
}

/// A thread exchanges the directories above the item for links and other directories,
/// moves the root, and mounts over all of them, from the scan to the end of the removal.
/// The others have entries of the same names. Each trial ends with all of them whole, and
/// with the item either whole, partly or wholly gone.
#[test]
fn nothing_but_the_item_goes_while_the_way_to_it_is_exchanged() {
    let scratch = fast_scratch();
    let at = |path: &str| scratch.path().join(path);
    let victims = [
        "victim/r/a/b/old/f",
        "victim/a/b/old/f",
        "victim/b/old/f",
        "victim/old/f",
        "victim/f",
    ];
    make(scratch.path(), &victims);
    make(
        scratch.path(),
        &["other/f", "w/r/a/b/beside/f", "w/r/a/beside/f"],
    );
    for name in ["link", "other-link"] {
        symlink(at("victim"), at(name)).unwrap();
    }
    let victim = snapshot(&at("victim"));
    let can_mount = mounts::bind(&at("victim"), &at("other")).is_ok();
    let trials = std::env::var("STATWALK_TRIALS").ok();
    let trials = trials.and_then(|count| count.parse().ok()).unwrap_or(4_000);
    let (mut gone, mut refused, mut kept) = (0, 0, 0);
    for trial in 0..trials {
        make(&at("w/r/a/b/old"), &["f", "g/h", "i"]);
        let scanned = Scanned::new(&at("w/r"), Path::new("a/b/old"));
        let is_over = AtomicBool::new(false);
        let ready = Barrier::new(2);
        let outcome = std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut state = 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(trial + 1);
                let places = ["w", "w/r", "w/r/a", "w/r/a/b", "w/r/a/b/old"];
                ready.wait();
                while !is_over.load(Relaxed) {
                    let place = at(places[below(&mut state, 5)]);
                    match below(&mut state, if can_mount { 5 } else { 4 }) {
                        0 | 1 => {
                            let link = at("link");
                            if exchange(&place, &link) {
                                std::thread::yield_now();
                                until_it_works(|| exchange(&place, &link));
                            }
                        }
                        2 => {
                            let moved = at("moved");
                            if fs::rename(&place, &moved).is_ok() {
                                let other = at("other-link");
                                let is_led = fs::rename(&other, &place).is_ok();
                                std::thread::yield_now();
                                if is_led {
                                    until_it_works(|| fs::rename(&place, &other).is_ok());
                                }
                                fs::rename(&moved, &place).unwrap();
                            }
                        }
                        3 => {
                            let victim = at("victim");
                            if exchange(&place, &victim) {
                                std::thread::yield_now();
                                until_it_works(|| exchange(&place, &victim));
                            }
                        }
                        // The item can be gone, and then nothing is bound.
                        _ if place.ends_with("old") => {}
                        _ => drop(mounts::bind(&at("victim"), &place)),
                    }
                }
            });
            ready.wait();
            let wait = || std::thread::sleep(Duration::from_micros((trial * 7) % 150));
            wait();
            // The mark, the dialog and the act, each later than the one before.
            let marked = scanned.look();
            wait();
            let outcome = marked.and_then(|marked| {
                let again = scanned.look()?;
                let item = match again.is_same_item(&marked) {
                    true => again.into_item(),
                    false => {
                        let path = again.path().to_vec();
                        return Err(Refusal::ReplacedAfterMark { path });
                    }
                };
                let removal = Removal::new(vec![item], Manner::Permanent, surroundings());
                wait();
                Ok(removal.run(&Monitor::new()))
            });
            is_over.store(true, Relaxed);
            outcome
        });
        match &outcome {
            Err(_) => refused += 1,
            Ok(_) if at("w/r/a/b/old").exists() => kept += 1,
            Ok(_) => gone += 1,
        }
        assert_eq!(
            snapshot(&at("victim")),
            victim,
            "trial {trial}: {outcome:?}"
        );
        for path in ["w/r/a/b/beside/f", "w/r/a/beside/f", "other/f"] {
            assert!(at(path).exists(), "trial {trial}: {outcome:?}");
        }
        if outcome.is_err() {
            assert_eq!(
                snapshot(&at("w/r/a/b/old")).len(),
                4,
                "trial {trial}: {outcome:?}"
            );
        }
    }
    println!("{trials} trials: {refused} refused, {kept} kept, {gone} gone");
    assert!(
        gone > trials / 100 && refused > trials / 100,
        "{refused} {kept} {gone}"
    );
}
