// SPDX-License-Identifier: MIT OR Apache-2.0

//! Entries by path, contents first, and from a depth on: the same sequence as that of a walker
//! with sorted names, whatever the number of workers.

use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use statwalk_core::{
    Cause, DirId, Entries, EntryError, Fields, Next, Scan, Sequence, Source, SymlinkPolicy,
    path_order,
};
use statwalk_testkit::unprivileged::as_ordinary_user;
use statwalk_testkit::{mounts, or_skip, strategy, trees};

use super::harness::{THREADS, scratch_in_memory, text};

/// A row with its depth, or an error.
type Step = Result<(Vec<u8>, u32), Vec<u8>>;

fn steps(entries: Entries) -> Vec<Step> {
    let step = |entry: Result<statwalk_core::Entry, EntryError>| {
        let entry = entry.map_err(|error| error.path)?;
        Ok((entry.path(), entry.depth()))
    };
    entries.map(step).collect()
}

fn in_sequence(scan: &Scan, sequence: Sequence) -> Vec<Step> {
    steps(scan.entries_in(sequence).unwrap())
}

/// By recursion over sorted names; a directory that cannot be read is an error, too.
fn naive(path: &Path, depth: u32, is_contents_first: bool, follows: bool, out: &mut Vec<Step>) {
    let row = Ok((path.as_os_str().as_bytes().to_vec(), depth));
    let metadata = match follows {
        true => std::fs::metadata(path).or_else(|_| std::fs::symlink_metadata(path)),
        false => std::fs::symlink_metadata(path),
    };
    if !metadata.unwrap().is_dir() {
        return out.push(row);
    }
    if !is_contents_first {
        out.push(row.clone());
    }
    match std::fs::read_dir(path) {
        Ok(listing) => {
            let names = listing.map(|entry| entry.unwrap().file_name().into_vec());
            let mut names: Vec<Vec<u8>> = names.collect();
            names.sort();
            for name in names {
                let below = path.join(std::ffi::OsStr::from_bytes(&name));
                naive(&below, depth + 1, is_contents_first, follows, out);
            }
        }
        Err(_) => out.push(Err(path.as_os_str().as_bytes().to_vec())),
    }
    if is_contents_first {
        out.push(row);
    }
}

fn expected(path: &Path, is_contents_first: bool) -> Vec<Step> {
    let mut out = Vec::new();
    naive(path, 0, is_contents_first, false, &mut out);
    out
}

/// Without equal lines at the ends, which can be millions.
#[track_caller]
fn assert_same(found: &[Step], expected: &[Step]) {
    let same = found.iter().zip(expected).take_while(|(a, b)| a == b);
    let same = same.count();
    let next = |steps: &[Step]| steps[same..].iter().take(3).cloned().collect::<Vec<_>>();
    assert_eq!(next(found), next(expected), "after {same} steps");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_sequence_is_that_of_sorted_names(
        tree in strategy::model(),
        threads in 1..9_usize,
        is_contents_first in any::<bool>(),
        min_depth in 0..4_u32,
    ) {
        let scratch = scratch_in_memory();
        let dir = scratch.path().join("t");
        tree.materialise(&dir).unwrap();
        let sequence = match is_contents_first {
            true => Sequence::new().contents_first(),
            false => Sequence::new().sorted(),
        };
        let mut steps = expected(&dir, is_contents_first);
        for fields in [Fields::NONE, Fields::STAT] {
            let scan = Scan::new(&dir).threads(threads).fields(fields);
            prop_assert_eq!(&in_sequence(&scan, sequence), &steps);
        }
        steps.retain(|step| step.as_ref().is_ok_and(|(_, depth)| *depth >= min_depth));
        let scan = Scan::new(&dir).threads(threads);
        prop_assert_eq!(&in_sequence(&scan, sequence.min_depth(min_depth)), &steps);
        let mut unsorted = in_sequence(&scan, Sequence::new().min_depth(min_depth));
        unsorted.sort();
        steps.sort();
        prop_assert_eq!(unsorted, steps);
    }

    #[test]
    fn what_is_skipped_does_not_come(
        tree in strategy::model(),
        threads in 1..5_usize,
        seed in any::<u64>(),
    ) {
        let scratch = scratch_in_memory();
        let dir = scratch.path().join("t");
        tree.materialise(&dir).unwrap();
        let is_skipped = |path: &[u8]| path.iter().fold(seed, |hash, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        }) >> 61 == 0;
        let mut steps = expected(&dir, false);
        let mut below: Option<Vec<u8>> = None;
        steps.retain(|step| {
            let path = &step.as_ref().unwrap().0;
            if below.as_ref().is_some_and(|below| path.starts_with(below)) {
                return false;
            }
            below = is_skipped(path).then(|| [path, &b"/"[..]].concat());
            true
        });
        let scan = Scan::new(&dir).threads(threads);
        let mut entries = scan.entries_in(Sequence::new().sorted()).unwrap();
        let mut found = Vec::new();
        while let Some(entry) = entries.next() {
            let entry = entry.unwrap();
            if is_skipped(&entry.path()) {
                entries.skip_subtree();
            }
            found.push(Ok((entry.path(), entry.depth())));
        }
        prop_assert_eq!(found, steps);
        prop_assert!(entries.finish().is_complete());
    }
}

#[test]
fn named_trees_come_by_path() {
    let scratch = scratch_in_memory();
    // The deep one has a test of its own.
    for (name, tree) in trees::named()
        .into_iter()
        .filter(|(name, _)| *name != "deep")
    {
        let dir = scratch.path().join(name);
        tree.materialise(&dir).unwrap();
        for threads in THREADS {
            let scan = Scan::new(&dir).threads(threads);
            for is_contents_first in [false, true] {
                let sequence = match is_contents_first {
                    true => Sequence::new().contents_first(),
                    false => Sequence::new().sorted(),
                };
                let found = in_sequence(&scan, sequence);
                assert_same(&found, &expected(&dir, is_contents_first));
            }
        }
    }
}

/// More than workers withhold, so that several read it and its subdirectories come in pieces.
#[test]
fn a_wide_directory_comes_by_name() {
    let scratch = scratch_in_memory();
    let dir = scratch.path().join("wide");
    std::fs::create_dir(&dir).unwrap();
    for number in 0..90_000 {
        let path = dir.join(format!("{:05}", number * 7919 % 90_000));
        match number % 10 {
            0 => std::fs::create_dir(&path).and_then(|()| std::fs::write(path.join("in"), "")),
            _ => std::fs::write(path, ""),
        }
        .unwrap();
    }
    let steps = expected(&dir, false);
    assert_eq!(steps.len(), 99_001);
    for (threads, fields) in [
        (1, Fields::NONE),
        (4, Fields::NONE),
        (1, Fields::STAT),
        (4, Fields::STAT),
    ] {
        let scan = Scan::new(&dir).threads(threads).fields(fields);
        assert_same(&in_sequence(&scan, Sequence::new().sorted()), &steps);
    }
    let scan = Scan::new(&dir).threads(3);
    assert_same(
        &in_sequence(&scan, Sequence::new().contents_first()),
        &expected(&dir, true),
    );
}

/// Deeper than any path that the kernel takes.
#[test]
fn a_deep_tree_comes_by_path() {
    const LEVELS: u32 = 12_000;
    let scratch = scratch_in_memory();
    let mut at = rustix::fs::open(
        scratch.path(),
        rustix::fs::OFlags::DIRECTORY,
        rustix::fs::Mode::empty(),
    )
    .unwrap();
    for _ in 0..LEVELS {
        use rustix::fs::{Mode, OFlags};
        let file = rustix::fs::openat(&at, "z", OFlags::CREATE, Mode::RUSR).unwrap();
        drop(file);
        rustix::fs::mkdirat(&at, "d", Mode::RWXU).unwrap();
        at = rustix::fs::openat(&at, "d", OFlags::DIRECTORY, Mode::empty()).unwrap();
    }
    let depths = |threads: usize, sequence: Sequence| {
        let scan = Scan::new(scratch.path()).threads(threads);
        let mut rows = scan.ordered_rows_in(sequence).unwrap();
        let mut depths = Vec::new();
        loop {
            match rows.next_within(Duration::from_secs(60)) {
                Next::Value(found) => {
                    let columns = &found.directories().columns;
                    let above = (0..columns.len()).map(|row| columns.dir(row));
                    let depth =
                        |dir: Option<DirId>| dir.map_or(0, |dir| rows.depth(dir).unwrap() + 1);
                    depths.extend(above.map(depth));
                }
                Next::End => return depths,
                other => panic!("{other:?}"),
            }
        }
    };
    // Of each level the directory, and then the files on the way back.
    let by_name: Vec<u32> = (0..=LEVELS).chain((1..=LEVELS).rev()).collect();
    // The file of each level comes right before the directory that holds it.
    let contents_first: Vec<u32> = [LEVELS]
        .into_iter()
        .chain((0..LEVELS).rev().flat_map(|level| [level + 1, level]))
        .collect();
    for threads in [1, 4] {
        assert!(depths(threads, Sequence::new().sorted()) == by_name);
        assert!(depths(threads, Sequence::new().contents_first()) == contents_first);
    }
}

#[test]
fn errors_come_in_the_place_of_their_entries() {
    let scratch = scratch_in_memory();
    let dir = scratch.path().join("t");
    for path in ["a/b", "a/c/d", "e", "f/g"] {
        std::fs::create_dir_all(dir.join(path)).unwrap();
        std::fs::write(dir.join(path).join("file"), "").unwrap();
    }
    for sealed in ["a/c", "e"] {
        let mode = std::fs::Permissions::from_mode(0o000);
        std::fs::set_permissions(dir.join(sealed), mode).unwrap();
    }
    or_skip!(as_ordinary_user(|| {
        for is_contents_first in [false, true] {
            let sequence = match is_contents_first {
                true => Sequence::new().contents_first(),
                false => Sequence::new().sorted(),
            };
            let steps = expected(&dir, is_contents_first);
            assert_eq!(steps.iter().filter(|step| step.is_err()).count(), 2);
            for threads in THREADS {
                let scan = Scan::new(&dir).threads(threads);
                assert_eq!(in_sequence(&scan, sequence), steps);
                // Errors of what was skipped are none.
                let mut entries = scan.entries_in(Sequence::new().sorted()).unwrap();
                let mut errors = Vec::new();
                while let Some(entry) = entries.next() {
                    match entry {
                        Ok(entry) if entry.file_name() == "a" => entries.skip_subtree(),
                        Ok(_) => {}
                        Err(error) => errors.push(error.to_path_buf()),
                    }
                }
                assert_eq!(errors, [dir.join("e")]);
                let report = entries.finish();
                assert_eq!(report.roots[0].unreadable, 1);
            }
        }
    }));
}

#[test]
fn roots_come_one_after_another() {
    let scratch = scratch_in_memory();
    let [one, file, missing, two] =
        ["one", "file", "missing", "two"].map(|name| scratch.path().join(name));
    for number in 0..3_000 {
        std::fs::create_dir_all(one.join(format!("{}/{number}", number % 30))).unwrap();
        std::fs::create_dir_all(two.join(number.to_string())).unwrap();
    }
    std::fs::write(&file, "").unwrap();
    let seven = one.join("7");
    let roots = [&two, &file, &missing, &one, &seven];
    let mut steps = expected(&two, false);
    steps.extend(expected(&file, false));
    // A skip above it must not take the root along.
    let of_seven = expected(&seven, false);
    steps.extend(expected(&one, false).into_iter().filter(|step| match step {
        Ok((path, _)) => !path.starts_with(seven.as_os_str().as_bytes()),
        Err(_) => true,
    }));
    steps.extend(of_seven);
    steps.push(Err(missing.as_os_str().as_bytes().to_vec()));
    for threads in THREADS {
        let scan = Scan::of(roots).threads(threads);
        assert_same(&in_sequence(&scan, Sequence::new().sorted()), &steps);
    }
}

/// A link to a directory that is listed elsewhere is an entry; one that leads out has entries.
#[test]
fn what_links_lead_to_comes_in_their_place() {
    let scratch = scratch_in_memory();
    let [dir, out] = ["t", "out"].map(|name| scratch.path().join(name));
    for path in ["a/b", "m", "z/y"] {
        std::fs::create_dir_all(dir.join(path)).unwrap();
        std::fs::write(dir.join(path).join("file"), "").unwrap();
    }
    std::fs::create_dir_all(out.join("below/deep")).unwrap();
    std::fs::write(out.join("below/file"), "").unwrap();
    std::os::unix::fs::symlink(&out, dir.join("m/link")).unwrap();
    std::os::unix::fs::symlink(out.join("below/file"), dir.join("m/to_file")).unwrap();
    std::os::unix::fs::symlink("nowhere", dir.join("m/dangling")).unwrap();
    for is_contents_first in [false, true] {
        let mut steps = Vec::new();
        naive(&dir, 0, is_contents_first, true, &mut steps);
        let sequence = match is_contents_first {
            true => Sequence::new().contents_first(),
            false => Sequence::new().sorted(),
        };
        for threads in THREADS {
            let scan = Scan::new(&dir)
                .threads(threads)
                .symlinks(SymlinkPolicy::Follow);
            assert_same(&in_sequence(&scan, sequence), &steps);
        }
    }
    std::os::unix::fs::symlink("../z", dir.join("a/again")).unwrap();
    let scan = Scan::new(&dir).symlinks(SymlinkPolicy::Follow);
    let found = in_sequence(&scan, Sequence::new().sorted());
    let names = |steps: &[Step]| -> Vec<PathBuf> {
        let paths = steps.iter().map(|step| step.as_ref().unwrap().0.clone());
        paths
            .map(|path| {
                Path::new(&std::ffi::OsString::from_vec(path))
                    .strip_prefix(&dir)
                    .unwrap()
                    .to_owned()
            })
            .collect()
    };
    let begin = [
        "",
        "a",
        "a/again",
        "a/b",
        "a/b/file",
        "m",
        "m/dangling",
        "m/file",
        "m/link",
    ];
    assert_eq!(names(&found[..begin.len()]), begin.map(PathBuf::from));
}

/// A cancelled scan leaves names out that were to come.
#[test]
fn a_scan_that_ends_early_gives_what_it_has() {
    let scratch = scratch_in_memory();
    for number in 0..20_000 {
        let path = scratch.path().join(format!("{}/{number}", number % 200));
        std::fs::create_dir_all(path).unwrap();
    }
    let steps = expected(scratch.path(), false);
    for threads in [1, 4] {
        let scan = Scan::new(scratch.path()).threads(threads);
        let mut entries = scan.entries_in(Sequence::new().sorted()).unwrap();
        let mut found: Vec<Step> = Vec::new();
        while let Some(entry) = entries.next() {
            let entry = entry.unwrap();
            found.push(Ok((entry.path(), entry.depth())));
            if found.len() == 300 {
                entries.cancel();
            }
        }
        assert!(found.len() >= 300);
        let mut left = steps.iter();
        assert!(found.iter().all(|step| left.any(|other| other == step)));
    }
}

/// A filter refuses names that were to come.
#[test]
fn refused_directories_do_not_stop_the_sequence() {
    let scratch = scratch_in_memory();
    for number in 0..3_000 {
        let path = scratch.path().join(format!("{}/{number}", number % 50));
        std::fs::create_dir_all(path).unwrap();
    }
    let mut steps = expected(scratch.path(), false);
    steps.retain(|step| !step.as_ref().unwrap().0.ends_with(b"7"));
    steps.retain(|step| {
        let path = String::from_utf8(step.as_ref().unwrap().0.clone()).unwrap();
        let below = &path[scratch.path().as_os_str().len()..];
        let first = below.trim_start_matches('/').split('/').next().unwrap();
        !first.ends_with('7')
    });
    for threads in [1, 4] {
        let scan = Scan::new(scratch.path()).threads(threads);
        let scan = scan.filter_dir(|dir| !dir.name().ends_with(b"7"));
        assert_same(&in_sequence(&scan, Sequence::new().sorted()), &steps);
    }
}

/// Names that come to nothing hold back no row after them, though the directory above is not
/// done: a directory that vanishes before it is opened, one that is refused, and one that is a
/// root of its own.
#[test]
fn a_name_that_never_comes_holds_nothing_back() {
    const GONE: [&str; 3] = ["00", "03", "05"];
    let scratch = scratch_in_memory();
    let top = scratch.path().to_owned();
    let names: Vec<String> = (0..40).map(|number| format!("{number:02}")).collect();
    for threads in THREADS {
        for name in &names {
            std::fs::create_dir_all(top.join(name)).unwrap();
        }
        let (release, is_released) = std::sync::mpsc::channel::<()>();
        let is_released = std::sync::Mutex::new(is_released);
        let dir = top.clone();
        let scan = Scan::of([&top, &top.join("07")]).threads(threads);
        let scan = scan.filter_dir(move |found| {
            match std::str::from_utf8(found.name()).unwrap() {
                name if GONE.contains(&name) => std::fs::remove_dir(dir.join(name)).unwrap(),
                "09" => return false,
                "39" => {
                    // Fails at once when the sender is gone.
                    let _ = is_released.lock().unwrap().recv();
                }
                // A worker judges missing names now and then.
                _ => std::thread::sleep(Duration::from_millis(3)),
            }
            true
        });
        let mut rows = scan.ordered_rows_in(Sequence::new().sorted()).unwrap();
        let (mut found, mut release) = (Vec::new(), Some(release));
        let mut waited = 0;
        loop {
            match rows.next_within(Duration::from_millis(100)) {
                Next::Value(next) => {
                    let columns = &next.directories().columns;
                    found.extend((0..columns.len()).map(|row| columns.name(row).to_vec()));
                    // The last before the one that waits.
                    if found.last().is_some_and(|name| name == b"38") {
                        release = None;
                    }
                }
                Next::Waiting => {
                    waited += 1;
                    let came = found.len();
                    assert!(waited < 100, "{came} rows came, and the others are held");
                }
                Next::Failed(error) => panic!("{error}"),
                _ => break,
            }
        }
        assert!(release.is_none());
        let root = |path: &Path| path.as_os_str().as_bytes().to_vec();
        let mut expected = vec![root(&top)];
        let left_out =
            |name: &&String| !GONE.contains(&&***name) && !["07", "09"].contains(&&***name);
        expected.extend(
            names
                .iter()
                .filter(left_out)
                .map(|name| name.clone().into_bytes()),
        );
        expected.push(root(&top.join("07")));
        assert_eq!(found, expected, "{threads} workers");
        let report = rows.finish();
        assert!(report.is_complete() && report.roots[0].vanished == 3);
    }
}

/// Makes directories in those of a tree, moves them and removes them.
fn disturb(dirs: &[PathBuf], own: usize, stop: &AtomicBool) {
    let mut random = fastrand::Rng::with_seed(own as u64);
    // Before and after most names.
    let name = |number: usize| match number % 2 {
        0 => format!("!busy-{own}-{number}"),
        _ => format!("~busy-{own}-{number}"),
    };
    while !stop.load(Ordering::Relaxed) {
        let path = dirs[random.usize(..dirs.len())].join(name(random.usize(..8)));
        // Another step can have been there first.
        match random.usize(..4) {
            0 | 1 => drop(std::fs::create_dir_all(path.join("inner/innermost"))),
            2 => {
                let other = dirs[random.usize(..dirs.len())].join(name(random.usize(..8)));
                let _ = std::fs::rename(path, other);
            }
            _ => drop(std::fs::remove_dir_all(path)),
        }
    }
}

/// Two threads change a tree meanwhile. No name of which nothing comes holds others back, none
/// comes twice or in another place, and those that nobody touches come.
#[test]
fn a_tree_that_changes_comes_by_path() {
    let mut vanished = 0;
    for seed in 0..60 {
        let tree = strategy::of_seed(&strategy::model(), seed);
        let scratch = scratch_in_memory();
        let dir = scratch.path().join("t");
        tree.materialise(&dir).unwrap();
        let steps = expected(&dir, false);
        let of_steps = steps.iter().map(|step| step.as_ref().unwrap().0.clone());
        let mut still: Vec<Vec<u8>> = of_steps.collect();
        let paths = still.iter();
        let paths = paths.map(|path| PathBuf::from(std::ffi::OsString::from_vec(path.clone())));
        let dirs: Vec<PathBuf> = paths
            .filter(|path| path.symlink_metadata().unwrap().is_dir())
            .filter(|path| path.as_os_str().len() < 3_000)
            .collect();
        // It comes last, and waits until all before it came.
        let last = dir.join(std::ffi::OsStr::from_bytes(&[0xff; 200]));
        std::fs::create_dir(&last).unwrap();
        let (release, is_released) = std::sync::mpsc::channel::<()>();
        let is_released = std::sync::Mutex::new(is_released);
        let threads = [1, 2, 4][seed as usize % 3];
        let scan = Scan::new(&dir).threads(threads).filter_dir(move |found| {
            if found.name() == [0xff; 200] {
                // Fails at once when the sender is gone.
                let _ = is_released.lock().unwrap().recv();
            } else if found.name()[1..].starts_with(b"busy") {
                std::thread::sleep(Duration::from_micros(200));
            }
            true
        });
        let stop = AtomicBool::new(false);
        let mut found: Vec<Vec<u8>> = Vec::new();
        let report = std::thread::scope(|scope| {
            for own in 0..2 {
                let (dirs, stop) = (&dirs, &stop);
                scope.spawn(move || disturb(dirs, own, stop));
            }
            // The others stop also when this fails.
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                let mut rows = scan.ordered_rows_in(Sequence::new().sorted()).unwrap();
                let (mut release, begin) = (Some(release), Instant::now());
                loop {
                    match rows.next_within(Duration::from_millis(10)) {
                        Next::Value(next) => {
                            let columns = &next.directories().columns;
                            for row in 0..columns.len() {
                                let mut path = Vec::new();
                                if let Some(dir) = columns.dir(row) {
                                    assert!(rows.push_path(dir, &mut path));
                                    path.push(b'/');
                                }
                                path.extend_from_slice(columns.name(row));
                                found.push(path);
                            }
                        }
                        // A name that is made and removed all the time is an error at last.
                        Next::Failed(error)
                            if error.cause == Cause::Changed
                                || text(&error.path).contains("busy") => {}
                        Next::Failed(error) => panic!("seed {seed}: {error}"),
                        Next::Waiting => {}
                        _ => return rows.finish(),
                    }
                    let has_come = |path: &Vec<u8>| found.iter().any(|other| other == path);
                    if release.is_some() && still.iter().all(has_come) {
                        release = None;
                    }
                    let took = begin.elapsed();
                    let is_held = release.is_some() && took > Duration::from_secs(20);
                    assert!(!is_held, "seed {seed}: rows are held back");
                }
            }));
            stop.store(true, Ordering::Relaxed);
            outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        vanished += report.roots[0].vanished;
        let is_before = |a: &Vec<u8>, b: &Vec<u8>| path_order(a, b).is_lt();
        let at = found
            .windows(2)
            .position(|two| !is_before(&two[0], &two[1]));
        let two = at.map(|at| [&found[at], &found[at + 1]].map(|path| path.escape_ascii()));
        assert!(two.is_none(), "seed {seed}: {two:?}");
        still.push(last.into_os_string().into_vec());
        assert!(
            still
                .iter()
                .all(|path| found.binary_search_by(|it| path_order(it, path)).is_ok())
        );
    }
    assert!(vanished > 0, "no directory vanished at the right moment");
}

/// A directory is listed in other places there.
#[test]
fn a_device_is_read_by_path() {
    let scratch = scratch_in_memory();
    let [dir, image] = ["tree", "image"].map(|name| scratch.path().join(name));
    for number in 0..2_000 {
        let path = dir.join(format!("{}/{number}", number % 20));
        std::fs::create_dir_all(&path).unwrap();
        std::fs::write(path.join("file"), "").unwrap();
    }
    or_skip!(mounts::ext4_image(&image, 32 << 20, &[], Some(&dir)));
    for threads in THREADS {
        let scan = Scan::new(&image).source(Source::Ext4).threads(threads);
        let mut expected = steps(scan.entries().unwrap());
        assert!(expected.len() > 4_000);
        expected.sort_by(|a, b| {
            let [a, b] = [a, b].map(|step| &step.as_ref().unwrap().0);
            path_order(a, b)
        });
        assert_same(&in_sequence(&scan, Sequence::new().sorted()), &expected);
        let last = in_sequence(&scan, Sequence::new().contents_first());
        assert_eq!(last.len(), expected.len());
        assert_eq!(last.last(), expected.first());
    }
}
