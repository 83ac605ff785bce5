// SPDX-License-Identifier: MIT OR Apache-2.0

//! The choices that change the calls: what each saves, and that none changes
//! the answer.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use statwalk_core::tuning::{Calls, Freshness, Sharing, StatOrder, TypeSource};
use statwalk_core::{
    Batch, Collect, Context, Fields, FileType, Next, Origin, Outcome, RootTotals, Scan, Sink,
    Source, Totals,
};
use statwalk_testkit::fault_fs::{self, FaultFs, FaultFsBuilder, Latency, Where};
use statwalk_testkit::mounts::FileSystem;
use statwalk_testkit::naive::Options;
use statwalk_testkit::{Scratch, or_skip, settle, trees};

use super::harness::agreement::check_scan;
use super::harness::answer::scan_of;
use super::harness::listing::Listing;
use super::harness::scratch_in_memory;

fn scan_with(path: &Path, calls: Calls, sink: &Totals) -> Outcome<Vec<RootTotals>> {
    let scan = Scan::new(path)
        .source(Source::Posix)
        .threads(1)
        .calls(calls);
    let outcome = scan.run(sink).unwrap();
    assert!(outcome.report.is_complete(), "{:?}", outcome.report);
    outcome
}

/// 1 + 20 directories with 50 files each but in the root.
fn make(dir: &Path) {
    for number in 0..20 {
        let sub = dir.join(format!("sub{number}"));
        std::fs::create_dir_all(&sub).unwrap();
        for file in 0..50 {
            std::fs::write(sub.join(format!("f{file}.jpg")), b"x").unwrap();
        }
    }
}

const DIRS: u64 = 21;
const FILES: u64 = 1_000;

#[test]
fn every_choice_gives_the_same_answer() {
    let scratch = Scratch::new().unwrap();
    let choices = [
        Calls::default().buffer_bytes(1 << 10),
        Calls::default().buffer_bytes(4 << 20),
        Calls::default().types(TypeSource::Stat),
        Calls::default().stat_order(StatOrder::Inode),
        Calls::default().freshness(Freshness::DontSync),
        Calls::default().sharing(Sharing::Never),
        Calls::default()
            .types(TypeSource::Stat)
            .stat_order(StatOrder::Inode)
            .looks_inside(true)
            .buffer_bytes(2 << 10),
    ];
    for (name, tree) in trees::named() {
        // Each name of a path is looked up for each level: the square, with every choice.
        let tree = if name == "deep" {
            trees::deep(300)
        } else {
            tree
        };
        let dir = scratch.path().join(name);
        tree.materialise(&dir).unwrap();
        settle(&dir).unwrap();
        let options = Options::default();
        for calls in &choices {
            let scan = scan_of(&[&dir], &options).calls(calls.clone());
            check_scan(&[&dir], &options, &[1, 3], &scan);
            // The shape alone, with every trick that finds directories.
            let names = scan.run(&Totals::new().without_types()).unwrap();
            let sizes = scan.run(&Totals::new()).unwrap();
            let shape = |of: &RootTotals| (of.entries, of.dirs);
            assert_eq!(
                shape(&names.output[0]),
                shape(&sizes.output[0]),
                "{name}, {calls:?}"
            );
        }
    }
}

#[test]
fn types_come_from_the_listing() {
    let scratch = scratch_in_memory();
    make(scratch.path());
    let calls = |types| {
        let calls = Calls::default().types(types);
        let outcome = scan_with(scratch.path(), calls, &Totals::new().without_sizes());
        assert_eq!(
            (outcome.output[0].dirs, outcome.output[0].files),
            (DIRS, FILES)
        );
        outcome.report.calls
    };
    // The first directory of a mount is stat'ed once, to know the mount.
    assert_eq!(calls(TypeSource::Listing), 4 * DIRS + 1);
    assert_eq!(calls(TypeSource::Stat), 4 * DIRS + 1 + (DIRS - 1) + FILES);
}

#[test]
fn larger_buffers_save_listings() {
    let scratch = scratch_in_memory();
    for number in 0..5_000 {
        std::fs::write(scratch.path().join(format!("file-{number:05}")), b"").unwrap();
    }
    let calls = |bytes| {
        let calls = Calls::default().buffer_bytes(bytes);
        scan_with(scratch.path(), calls, &Totals::new().without_sizes())
            .report
            .calls
    };
    // open, statx, two getdents64, close.
    assert_eq!(calls(4 << 20), 5);
    // 32 bytes an entry: struct linux_dirent64 and a name of ten letters.
    let small = calls(1 << 10);
    assert!((5_000 / 32..5_000 / 28 + 8).contains(&small), "{small}");
}

#[test]
fn a_large_directory_takes_a_larger_buffer_where_it_needs_no_stats() {
    let scratch = scratch_in_memory();
    for number in 0..5_000 {
        std::fs::write(scratch.path().join(format!("file-{number:05}")), b"").unwrap();
    }
    let scan = |calls, totals| scan_with(scratch.path(), calls, &totals).report.calls;
    let grows = Calls::default().sharing(Sharing::Never);
    let fixed = grows.clone().buffer_bytes(32 << 10);
    // 160,000 bytes of entries: five buffers of 32 KiB, or two and one of 128 KiB.
    let saved = scan(fixed.clone(), Totals::new().without_sizes())
        - scan(grows.clone(), Totals::new().without_sizes());
    assert_eq!(saved, 2);
    let with_sizes = scan(fixed, Totals::new()) - scan(grows, Totals::new());
    assert_eq!(with_sizes, 0);
}

/// Takes the inode numbers of one directory in the order in which they come.
struct Inodes;

struct InodesState(Vec<u64>);

impl Sink for Inodes {
    type State = InodesState;
    type Output = Vec<u64>;
    fn fields(&self) -> Fields {
        Fields::ID
    }
    fn states(&self, _: &Context, count: usize) -> Vec<InodesState> {
        (0..count).map(|_| InodesState(Vec::new())).collect()
    }
    fn merge(&self, _: &Context, states: Vec<InodesState>) -> Vec<u64> {
        states.into_iter().flat_map(|state| state.0).collect()
    }
}

impl Collect for InodesState {
    fn batch(&mut self, _: Origin<'_>, batch: &Batch) -> ControlFlow<()> {
        let ids = batch.iter().filter_map(|entry| entry.attributes.id());
        self.0.extend(ids.map(|id| id.ino() as u64));
        ControlFlow::Continue(())
    }
}

#[test]
fn stats_follow_the_inodes_of_the_whole_directory() {
    // tmpfs lists what came last first; several buffers of it.
    let scratch = scratch_in_memory();
    for number in 0..3_000 {
        std::fs::write(scratch.path().join(format!("file-{number:05}")), b"").unwrap();
    }
    let inodes = |stat_order| {
        let calls = Calls::default().stat_order(stat_order);
        let scan = Scan::new(scratch.path())
            .source(Source::Posix)
            .threads(1)
            .calls(calls);
        scan.run(&Inodes).unwrap().output
    };
    let sorted = inodes(StatOrder::Inode);
    assert_eq!(sorted.len(), 3_000);
    assert!(sorted.is_sorted(), "{:?}", &sorted[..20]);
    assert!(!inodes(StatOrder::Listing).is_sorted());
}

/// A file system that tells no types, with 21 directories in the first of which
/// are all others, and 1,000 files; all of it older than a second.
fn untyped() -> Result<(Scratch, statwalk_testkit::mounts::Mounted), statwalk_testkit::Skipped> {
    let scratch = Scratch::new().unwrap();
    let at = scratch.subdirectory("mnt").unwrap();
    let mounted = FileSystem::Ext4WithoutFiletype.mount(&at)?;
    make(&mounted.path().join("t"));
    age(&mounted.path().join("t"));
    Ok((scratch, mounted))
}

/// Sets the times of directories back.
fn age(dir: &Path) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            age(&entry.path());
        }
    }
    let hour_ago = SystemTime::now() - Duration::from_secs(3_600);
    std::fs::File::open(dir)
        .unwrap()
        .set_modified(hour_ago)
        .unwrap();
}

#[test]
fn the_link_count_ends_the_search_for_directories() {
    let (_scratch, mounted) = or_skip!(untyped());
    let tree = mounted.path().join("t");
    let calls = |calls: Calls| {
        let outcome = scan_with(&tree, calls, &Totals::new().without_types());
        let found = &outcome.output[0];
        assert_eq!((found.entries, found.dirs), (DIRS + FILES, DIRS));
        outcome.report.calls
    };
    // open, two getdents64, close; the mount of the first.
    let listing = 4 * DIRS + 1;
    let all = calls(Calls::default().link_stop(false));
    assert_eq!(all, listing + FILES + DIRS - 1);
    // For each directory its file system, its link count, and both again; in
    // the first one all entries are directories.
    let stopped = calls(Calls::default());
    assert!(stopped < listing + 5 * DIRS, "{stopped} of {all}");
    // What is likely comes first: without the guess the directory among the
    // files is found by chance.
    std::fs::create_dir(tree.join("sub0/thumbnails")).unwrap();
    age(&tree);
    let names = |calls: Calls| {
        let outcome = scan_with(&tree.join("sub0"), calls, &Totals::new().without_types());
        assert_eq!((outcome.output[0].entries, outcome.output[0].dirs), (52, 2));
        outcome.report.calls
    };
    let guessed = names(Calls::default());
    let unguessed = names(Calls::default().likely_first(false));
    assert!(
        guessed <= 16 && guessed <= unguessed,
        "{guessed}, {unguessed}"
    );
    // In a directory that was changed just now nothing is trusted.
    std::fs::write(tree.join("sub0/new.jpg"), b"").unwrap();
    let outcome = scan_with(
        &tree.join("sub0"),
        Calls::default(),
        &Totals::new().without_types(),
    );
    assert_eq!((outcome.output[0].entries, outcome.output[0].dirs), (53, 2));
    assert!(
        outcome.report.calls > guessed + 51,
        "{}",
        outcome.report.calls
    );
}

/// In a directory of several buffers the one subdirectory was likely only beside the names
/// of its own buffer: by chance, nearly every entry was stat'ed.
#[test]
fn one_directory_among_many_files_is_likely_wherever_it_is_listed() {
    let (_scratch, mounted) = or_skip!(untyped());
    let tree = mounted.path().join("flat");
    std::fs::create_dir(&tree).unwrap();
    for number in 0..3_000 {
        std::fs::write(tree.join(format!("IMG_{number:06}.jpeg")), b"").unwrap();
    }
    for name in ["thumbs", "a-much-longer-name-of-a-directory", ".cache"] {
        let dir = tree.join(name);
        std::fs::create_dir(&dir).unwrap();
        age(&tree);
        let shape = scan_with(&tree, Calls::default(), &Totals::new().without_types());
        assert_eq!((shape.output[0].entries, shape.output[0].dirs), (3_002, 2));
        assert!(shape.report.calls < 40, "{name}: {}", shape.report.calls);
        // With names, as find prints them, and by several workers.
        for threads in [1, 3] {
            let scan = Scan::new(&tree).source(Source::Posix).threads(threads);
            let outcome = scan
                .run(&Listing {
                    fields: Fields::NAME,
                })
                .unwrap();
            assert_eq!(outcome.output.len(), 3_002, "{name}");
            assert!(
                outcome.report.calls < 40,
                "{name}: {}",
                outcome.report.calls
            );
        }
        // Rows and entries have names alone, too, and know each directory.
        let scan = Scan::new(&tree).source(Source::Posix).fields(Fields::NAME);
        let mut rows = scan.ordered_rows().unwrap();
        let (mut files, mut dirs) = (0, 0);
        loop {
            match rows.next_within(Duration::MAX) {
                Next::Value(rows) => {
                    files += rows.len();
                    dirs += rows.directories().len();
                }
                Next::End => break,
                next => panic!("{next:?}"),
            }
        }
        assert_eq!((files, dirs), (3_000, 2), "{name}");
        let calls = rows.finish().calls;
        assert!(calls < 40, "{name}: {calls}");
        let mut entries = scan.entries().unwrap();
        let dirs = entries.by_ref().filter(|entry| {
            let kind = entry.as_ref().unwrap().file_type();
            assert_ne!(kind, FileType::File);
            kind == FileType::Directory
        });
        assert_eq!(dirs.count(), 2);
        let calls = entries.finish().calls;
        assert!(calls < 40, "{name}: {calls}");
        // Types cost a stat of each entry.
        let types = scan_with(&tree, Calls::default(), &Totals::new().without_sizes());
        assert_eq!((types.output[0].dirs, types.output[0].files), (2, 3_000));
        assert!(types.report.calls > 3_000, "{}", types.report.calls);
        std::fs::remove_dir(&dir).unwrap();
    }
}

/// The safety net: directories that come and go must never hide others.
#[test]
fn the_link_count_hides_no_directory_while_others_come_and_go() {
    let (_scratch, mounted) = or_skip!(untyped());
    let dir = mounted.path().join("t/sub0");
    for number in 0..5 {
        // Unlikely names, so that they are looked at last.
        std::fs::create_dir(dir.join(format!("stays-{number}.jpg"))).unwrap();
    }
    let end = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut number = 0;
            while !end.load(std::sync::atomic::Ordering::Relaxed) {
                let passing = dir.join(format!("passing{}", number % 7));
                let _ = std::fs::create_dir(&passing);
                if number % 3 == 0 {
                    std::thread::sleep(Duration::from_micros(300));
                }
                let _ = std::fs::remove_dir(&passing);
                let file = dir.join(format!("f{}.jpg", number % 50));
                let _ = std::fs::remove_file(&file);
                let _ = std::fs::create_dir(&file);
                let _ = std::fs::remove_dir(&file);
                let _ = std::fs::write(&file, b"x");
                number += 1;
            }
        });
        for _ in 0..300 {
            let scan = Scan::new(&dir).source(Source::Posix).threads(1);
            let outcome = scan.run(&Totals::new().without_types()).unwrap();
            let found = &outcome.output[0];
            assert!(
                found.dirs >= 6 || !outcome.report.is_complete(),
                "{found:?}"
            );
        }
        end.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}

/// A directory of files on a file system that tells no types and remembers names
/// but no attributes.
fn forgetful() -> FaultFsBuilder {
    FaultFs::builder()
        .files("d", 100, 1)
        .dirs("d/subs", 5)
        .unknown_types(Where::Everywhere)
        .cache(Duration::from_secs(60), Duration::ZERO)
}

#[test]
fn looking_inside_needs_no_attributes_of_files() {
    let attributes = |calls: Calls| {
        let mount = forgetful().mount()?;
        let outcome = scan_with(&mount.join("d"), calls, &Totals::new().without_types());
        assert_eq!(
            (outcome.output[0].entries, outcome.output[0].dirs),
            (107, 7)
        );
        Ok::<_, statwalk_testkit::Skipped>(mount.counts().getattr)
    };
    let plain = or_skip!(attributes(Calls::default()));
    let inside = or_skip!(attributes(Calls::default().looks_inside(true)));
    // None of a hundred files; each of six directories is asked twice.
    assert!(plain + 6 >= inside + 100, "{plain}, {inside}");
}

#[test]
fn what_may_be_outdated_is_not_fetched() {
    let attributes = |freshness| {
        let mount = forgetful().mount()?;
        let calls = Calls::default().freshness(freshness);
        scan_with(&mount.join("d"), calls.clone(), &Totals::new());
        let before = mount.counts().getattr;
        scan_with(&mount.join("d"), calls, &Totals::new());
        Ok::<_, statwalk_testkit::Skipped>(mount.counts().getattr - before)
    };
    let fresh = or_skip!(attributes(Freshness::AsStat));
    let remembered = or_skip!(attributes(Freshness::DontSync));
    assert!(fresh >= remembered + 100, "{fresh}, {remembered}");
}

#[test]
fn a_name_in_an_open_directory_is_one_lookup() {
    let lookups = || {
        let fs = FaultFs::builder()
            .files("a/b/c/d", 100, 1)
            .cache(Duration::ZERO, Duration::ZERO);
        let mount = fs.mount()?;
        scan_with(&mount.join("a"), Calls::default(), &Totals::new());
        Ok::<_, statwalk_testkit::Skipped>(mount.counts().lookup)
    };
    // By path, each of four directories on the way would be looked up again for each file.
    let lookups = or_skip!(lookups());
    assert!(lookups <= 110, "{lookups}");
}

#[test]
fn one_directory_is_stated_by_several_workers() {
    check_shared_stats(false, &Totals::new());
}

/// The entries of a directory waited for each other where their types alone were wanted: one
/// after another, in one worker.
#[test]
fn types_that_a_listing_lacks_are_stated_by_several_workers() {
    check_shared_stats(true, &Totals::new().without_sizes());
    check_shared_stats(true, &Totals::new().without_types());
}

/// Checks that workers stat the entries of one slow directory together.
fn check_shared_stats(is_untyped: bool, sink: &Totals) {
    const FILES: u32 = 200;
    let latency = Duration::from_millis(5);
    let took = |sharing| {
        let mut fs = FaultFs::builder()
            .files("d", FILES.into(), 1)
            .latency(Where::Everywhere, Latency::Fixed(latency));
        if is_untyped {
            fs = fs.unknown_types(Where::Everywhere);
        }
        let mount = fs.mount()?;
        let calls = Calls::default().sharing(sharing);
        let scan = Scan::new(mount.path()).threads(16).calls(calls);
        let start = Instant::now();
        let outcome = scan.run(sink).unwrap();
        assert!(outcome.report.is_complete(), "{:?}", outcome.report);
        assert_eq!(outcome.output[0].entries, u64::from(FILES) + 2);
        Ok::<_, statwalk_testkit::Skipped>((start.elapsed(), mount.counts().waiting_max))
    };
    let mut shares = Vec::new();
    // A busy machine delays the one or the other, but not each time.
    for _ in 0..5 {
        let (alone, one) = or_skip!(took(Sharing::Never));
        let (together, most) = or_skip!(took(Sharing::WhenIdle));
        assert!(alone >= latency * FILES && one <= 2, "{alone:?}, {one}");
        if together * 4 < alone && most >= 12 {
            return;
        }
        shares.push((together, alone, most));
    }
    panic!("together, alone and at once: {shares:?}");
}

/// One directory of 500,000 entries took two workers 1.2 times what the floor
/// takes: the right to read on stayed with whoever had it while the other was
/// busy, and the other then waited until that piece was done.
#[test]
fn nobody_waits_while_a_shared_directory_can_be_read_on() {
    const PIECES: u64 = 12;
    const PIECE: usize = 20;
    const MS: Duration = Duration::from_millis(1);
    let took = |sharing| {
        // A piece takes as long to be read as to be stat'ed.
        let fs = FaultFs::builder()
            .files("d", PIECES * PIECE as u64, 1)
            .entries_per_readdir_max(PIECE)
            .latency_of("d", fault_fs::Op::Readdir, Latency::Fixed(40 * MS))
            .latency_of(
                Where::Everywhere,
                fault_fs::Op::Lookup,
                Latency::Fixed(2 * MS),
            );
        let mount = fs.mount()?;
        let calls = Calls::default().sharing(sharing);
        let scan = Scan::new(mount.path()).threads(2).calls(calls);
        let start = Instant::now();
        let outcome = scan.run(&Totals::new()).unwrap();
        assert_eq!(outcome.output[0].files, PIECES * PIECE as u64);
        Ok::<_, statwalk_testkit::Skipped>(start.elapsed())
    };
    let mut shares = Vec::new();
    // A busy machine delays the one or the other, but not each time.
    for _ in 0..3 {
        let alone = or_skip!(took(Sharing::Never));
        let together = or_skip!(took(Sharing::WhenIdle));
        // Little more than half where nobody waits, three quarters as it was.
        if together * 20 < alone * 13 {
            return;
        }
        shares.push((together, alone));
    }
    panic!("together and alone: {shares:?}");
}

#[test]
fn the_reported_calls_are_those_that_are_made() {
    let scratch = scratch_in_memory();
    make(scratch.path());
    let outcome = scan_with(scratch.path(), Calls::default(), &Totals::new());
    // open, statx, two getdents64, statx, close; `calls` compares it with strace.
    assert_eq!(outcome.report.calls, FILES + 6 * DIRS);
}
