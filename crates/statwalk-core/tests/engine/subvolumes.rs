// SPDX-License-Identifier: MIT OR Apache-2.0

//! Directories and inodes read from the trees of a btrfs instead of through the
//! kernel: the same answers, with subvolumes, mounts and exclusions. `churn.rs`
//! has those that change meanwhile.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use statwalk_core::{
    Exclusions, Obstacle, Reason, Report, Scan, Source, SymlinkPolicy, SyncPolicy, Totals,
};
use statwalk_testkit::mounts::{self, FileSystem, Mounted, bind};
use statwalk_testkit::naive::Options;
use statwalk_testkit::{Scratch, Skipped, or_skip, trees};

use super::harness::agreement::check_scan;
use super::harness::answer::{answer, scan_of};
use super::harness::listing::Listing;
use super::harness::records::Records;
use super::harness::{ENTER, THREADS, text};

/// A btrfs with all kinds of entries. Nothing is synced: the scan has to do it.
fn filled(at: &Path) -> Result<Mounted, Skipped> {
    let mounted = FileSystem::Btrfs.mount(at)?;
    trees::make_assorted(at).unwrap();
    for (name, tree) in [("times", trees::times()), ("sparse", trees::sparse())] {
        tree.materialise(&at.join(name)).unwrap();
    }
    Ok(mounted)
}

/// What the plan says of directories read in place, and of those the kernel was asked for.
fn dirs_of(report: &Report) -> (u64, u64) {
    let why = &report.plan.why;
    let told = why.iter().find_map(|why| match *why {
        Reason::BtrfsInPlace {
            dirs,
            dirs_by_kernel,
            ..
        } => Some((dirs, dirs_by_kernel)),
        _ => None,
    });
    told.unwrap_or_else(|| panic!("{why:?}"))
}

/// Whether a file system was left to the kernel because of an obstacle.
fn is_left(why: &[Reason], obstacle: Obstacle) -> bool {
    let is_it = |why: &Reason| matches!(why, Reason::NotInPlace(not) if not.obstacle == obstacle);
    why.iter().any(is_it)
}

#[test]
fn a_mounted_btrfs_agrees() {
    let scratch = Scratch::new().unwrap();
    let at = scratch.subdirectory("at").unwrap();
    let _mounted = or_skip!(filled(&at));
    let stay = Options {
        one_file_system: true,
        ..ENTER
    };
    let each = Options {
        count_links: true,
        ..ENTER
    };
    for options in [ENTER, stay, each] {
        let scan = scan_of(&[&at], &options).source(Source::Btrfs);
        check_scan(&[&at], &options, &[1, 3], &scan);
        let (_, report) = answer(&scan);
        assert_eq!(report.plan.source, "btrfs");
        let (in_place, by_kernel) = dirs_of(&report);
        assert!(in_place > 300 && by_kernel == 0, "{:?}", report.plan.why);
    }
}

#[test]
fn every_attribute_of_every_entry_agrees() {
    let scratch = Scratch::new().unwrap();
    let at = scratch.subdirectory("at").unwrap();
    let _mounted = or_skip!(filled(&at));
    // Data in the tree, beside it, preallocated, in many pieces; names that find no
    // place among the others of an inode.
    for (name, bytes) in [("inline", 1000), ("one", 4096), ("more", 300_000)] {
        std::fs::write(at.join(name), vec![7; bytes]).unwrap();
    }
    let many = at.join("many-names");
    std::fs::create_dir(&many).unwrap();
    std::fs::write(many.join("first"), b"x").unwrap();
    for number in 0..400 {
        let name = format!("{number}-{}", "n".repeat(200));
        std::fs::hard_link(many.join("first"), many.join(name)).unwrap();
    }
    or_skip!(mounts::btrfs_subvolume(&at.join("inner")));
    trees::basic().materialise(&at.join("inner/basic")).unwrap();
    or_skip!(mounts::btrfs_subvolume(&at.join("inner/innermost")));
    std::fs::write(at.join("inner/innermost/file"), b"content").unwrap();
    // Where what it shows had a subvolume, a snapshot has an empty directory, which
    // the kernel makes up, with the time at that moment.
    or_skip!(mounts::btrfs_snapshot(
        &at.join("inner"),
        &at.join("snapshot")
    ));
    for root in [at.clone(), at.join("inner"), at.join("wide")] {
        let records = |source, threads| {
            let scan = Scan::new(&root).source(source).threads(threads);
            let mut outcome = scan.run(&Records).unwrap();
            let made_up = at.join("snapshot/innermost");
            if let Some(record) = outcome.output.get_mut(made_up.as_os_str().as_bytes()) {
                record.forget_times();
            }
            outcome
        };
        let expected = records(Source::Posix, 1);
        for threads in THREADS {
            let found = records(Source::Btrfs, threads);
            assert_eq!(found.report.plan.source, "btrfs");
            assert_eq!(found.output.len(), expected.output.len());
            for (path, record) in &expected.output {
                assert_eq!(found.output.get(path), Some(record), "{}", text(path));
            }
        }
    }
}

#[test]
fn subvolumes_and_mounts_below_agree() {
    let scratch = Scratch::new().unwrap();
    let at = scratch.subdirectory("at").unwrap();
    let mounted = or_skip!(filled(&at));
    for name in ["s1", "basic/s2"] {
        or_skip!(mounts::btrfs_subvolume(&at.join(name)));
        let inside = at.join(name).join("tree");
        trees::hard_links().materialise(&inside).unwrap();
    }
    or_skip!(mounts::btrfs_snapshot(&at.join("s1"), &at.join("s3")));
    for place in ["m0", "m1", "deeper/m2", "s1/m3"] {
        std::fs::create_dir_all(at.join(place)).unwrap();
        std::fs::write(at.join(place).join("hidden"), [0; 5000]).unwrap();
    }
    std::fs::write(at.join("file-place"), b"hidden").unwrap();
    let outside = scratch.subdirectory("outside").unwrap();
    trees::basic().materialise(&outside.join("t")).unwrap();
    let elsewhere = scratch.path().join("file");
    std::fs::write(&elsewhere, [0; 9000]).unwrap();
    let _tmpfs = or_skip!(FileSystem::Tmpfs.mount(&at.join("m0")));
    std::fs::write(at.join("m0/seen"), [0; 12_345]).unwrap();
    let _in_subvolume = or_skip!(FileSystem::Tmpfs.mount(&at.join("s1/m3")));
    let _directory = or_skip!(bind(&outside, &at.join("deeper/m2")));
    let _file = or_skip!(bind(&elsewhere, &at.join("file-place")));
    for one_file_system in [false, true] {
        let options = Options {
            one_file_system,
            ..ENTER
        };
        let scan = scan_of(&[&at], &options).source(Source::Btrfs);
        check_scan(&[&at], &options, &THREADS, &scan);
    }
    // A subvolume that is mounted once more: what both show is listed once.
    let _again = or_skip!(mounts::btrfs_mount_subvolume(
        &mounted,
        "s1",
        &at.join("m1")
    ));
    for threads in THREADS {
        let scan = |source| {
            let scan = Scan::new(&at).source(source).threads(threads);
            scan.run(&Listing::with_sizes()).unwrap()
        };
        let (by_tree, by_kernel) = (scan(Source::Btrfs), scan(Source::Posix));
        assert_eq!(by_tree.output.len(), by_kernel.output.len());
        assert_eq!(by_tree.report.sum(), by_kernel.report.sum());
    }
}

/// The same scan in another way.
type Variant = Box<dyn Fn(Scan) -> Scan>;

#[test]
fn links_exclusions_and_several_roots_agree() {
    let scratch = Scratch::new().unwrap();
    let at = scratch.subdirectory("at").unwrap();
    let _mounted = or_skip!(filled(&at));
    std::fs::write(at.join("wide/.gitignore"), "*1\n!*11\n").unwrap();
    std::fs::create_dir_all(at.join("wide/below/n1")).unwrap();
    std::fs::create_dir_all(at.join("wide/repository/.git")).unwrap();
    std::fs::create_dir_all(at.join("wide/repository/n1/deep1")).unwrap();
    std::fs::create_dir_all(at.join("cache/inner")).unwrap();
    let tag = "Signature: 8a477f597d28d172789f06886806bc55\n";
    std::fs::write(at.join("cache/CACHEDIR.TAG"), tag).unwrap();
    std::fs::write(at.join("cache/inner/f"), [0; 4000]).unwrap();
    let links = at.join("hard_links");
    for (target, link) in [("../basic", "to-tree"), (".", "loop"), ("no", "dangling")] {
        std::os::unix::fs::symlink(target, links.join(link)).unwrap();
    }
    let follow = |scan: Scan| scan.symlinks(SymlinkPolicy::Follow);
    let with = |exclusions: Exclusions| move |scan: Scan| scan.exclusions(exclusions.clone());
    let (names, paths) = (Exclusions::new(), Exclusions::new());
    let variants: [(&Path, Variant); 5] = [
        (&links, Box::new(follow)),
        (&at, Box::new(with(names.glob(b"*2").unwrap()))),
        (&at, Box::new(with(paths.glob(b"deep/*/*").unwrap()))),
        (&at, Box::new(with(Exclusions::new().caches(true)))),
        (&at, Box::new(with(Exclusions::new().gitignore(true)))),
    ];
    for (number, (root, variant)) in variants.iter().enumerate() {
        let listed = |source, threads| {
            let scan = variant(Scan::new(root).source(source).threads(threads));
            let outcome = scan.run(&Listing::with_sizes()).unwrap();
            (outcome.output, outcome.report.sum())
        };
        let expected = listed(Source::Posix, 1);
        for threads in THREADS {
            assert!(listed(Source::Btrfs, threads) == expected, "{number}");
        }
    }
    let roots = [
        at.join("hard_links"),
        at.clone(),
        at.join("deep"),
        at.join("basic/d"),
    ];
    let roots: Vec<_> = roots.into_iter().filter(|root| root.exists()).collect();
    let scan = scan_of(&roots, &ENTER).source(Source::Btrfs);
    check_scan(&roots, &ENTER, &THREADS, &scan);
}

#[test]
fn a_very_large_directory_agrees() {
    let scratch = Scratch::new().unwrap();
    let at = scratch.subdirectory("at").unwrap();
    let mounted = or_skip!(FileSystem::Btrfs.mount_sized(&at, 1 << 30));
    trees::wide(100_000).materialise(&at.join("wide")).unwrap();
    std::fs::create_dir(at.join("dirs")).unwrap();
    for number in 0..70_000 {
        std::fs::create_dir(at.join("dirs").join(number.to_string())).unwrap();
    }
    for threads in [1, 3] {
        let scan = |source| {
            let scan = Scan::new(&at).source(source).threads(threads);
            let outcome = scan.run(&Listing::with_sizes()).unwrap();
            assert!(outcome.report.is_complete());
            (outcome.output, outcome.report)
        };
        let (found, report) = scan(Source::Btrfs);
        assert!(found == scan(Source::Posix).0);
        // So many subdirectories come from the kernel, in pieces.
        let (in_place, by_kernel) = dirs_of(&report);
        assert!(in_place >= 2 && by_kernel == 1, "{:?}", report.plan.why);
        let types = |source| {
            let scan = Scan::new(&at).source(source).threads(threads);
            scan.run(&Totals::new().without_sizes()).unwrap().output
        };
        assert_eq!(types(Source::Btrfs), types(Source::Posix));
    }
    drop(mounted);
}

#[test]
fn what_cannot_be_searched_is_refused_or_left_to_the_kernel() {
    let scratch = Scratch::new().unwrap();
    let at = scratch.subdirectory("at").unwrap();
    let _mounted = or_skip!(FileSystem::Btrfs.mount(&at));
    for dir in 0..1_500 {
        std::fs::create_dir(at.join(dir.to_string())).unwrap();
    }
    let refused = |scan: Scan| scan.run(&Totals::new()).unwrap_err().to_string();
    let asked = Scan::new(&at).source(Source::Btrfs);
    let told = refused(asked.syncing(SyncPolicy::Refused));
    assert!(told.contains("synced"), "{told}");
    let memory = super::harness::scratch_in_memory();
    let told = refused(Scan::new(memory.path()).source(Source::Btrfs));
    assert!(told.contains("tmpfs"), "{told}");
    let told = refused(Scan::new(&at).source(Source::Ext4));
    assert!(told.contains("btrfs"), "{told}");
    // Who asks for nothing gets an answer, and the reason in the plan.
    let scan = Scan::new(&at).threads(1).syncing(SyncPolicy::Refused);
    let outcome = scan.run(&Totals::new()).unwrap();
    assert_eq!(outcome.report.plan.source, "posix");
    let why = &outcome.report.plan.why;
    assert!(is_left(why, Obstacle::SyncRefused), "{why:?}");
    assert_eq!(outcome.output[0].dirs, 1_501);
}

/// The scan begins with the kernel, and goes over to the trees when it proves to be
/// large enough.
#[test]
fn a_larger_scan_goes_over_to_the_trees_by_itself() {
    let scratch = Scratch::new().unwrap();
    let at = scratch.subdirectory("at").unwrap();
    let mounted = or_skip!(FileSystem::Btrfs.mount(&at));
    for outer in 0..60 {
        for inner in 0..60 {
            let dir = at.join(format!("{outer}/{inner}"));
            std::fs::create_dir_all(&dir).unwrap();
            std::fs::write(dir.join("file"), vec![1; outer * inner]).unwrap();
        }
    }
    // What others have to write must not keep it from being chosen here.
    mounted.settle().unwrap();
    let scan = scan_of(&[&at], &ENTER);
    check_scan(&[&at], &ENTER, &[1, 2], &scan);
    let outcome = scan.threads(1).run(&Totals::new()).unwrap();
    let why = &outcome.report.plan.why;
    if !is_left(why, Obstacle::Unwritten) {
        assert_eq!(outcome.report.plan.source, "btrfs", "{why:?}");
        let (in_place, _) = dirs_of(&outcome.report);
        assert!((1_000..2_700).contains(&in_place), "{why:?}");
    }
}
