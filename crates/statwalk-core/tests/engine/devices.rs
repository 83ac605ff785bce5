// SPDX-License-Identifier: MIT OR Apache-2.0

//! Directories and inodes read from the device instead of through the kernel:
//! the same answers, on mounted file systems and in images. `churn.rs` has those
//! that change meanwhile.

use std::path::Path;
use std::time::{Duration, SystemTime};

use statwalk_core::{
    Exclusions, Fields, LinkPolicy, Reason, Scan, Source, SymlinkPolicy, Time, Totals, TreeSink,
};
use statwalk_testkit::mounts::{self, FileSystem, Mounted, bind};
use statwalk_testkit::naive::Options;
use statwalk_testkit::trees::{self, WideFiles, make_wide};
use statwalk_testkit::{Scratch, Skipped, ext4_images, or_skip};

use super::harness::agreement::check_scan;
use super::harness::answer::{answer, scan_of};
use super::harness::listing::{Listed, Listing};
use super::harness::{ENTER, THREADS};

/// When nothing that is there now has changed lately any more.
fn later() -> SystemTime {
    SystemTime::now() + Duration::from_secs(24 * 3600)
}

/// An ext4 with all kinds of entries, written to its device.
fn filled(at: &Path) -> Result<Mounted, Skipped> {
    let mounted = FileSystem::Ext4.mount(at)?;
    trees::make_assorted(at).unwrap();
    mounted.settle().unwrap();
    Ok(mounted)
}

/// Skips where the device itself cannot be read, as in many containers.
pub(crate) fn needs_device(mounted: &Mounted) -> Result<(), Skipped> {
    let device = mounted.device().expect("a loop device");
    match std::fs::File::open(device) {
        Ok(_) => Ok(()),
        Err(_) => Err(Skipped::needs("block devices that may be opened")),
    }
}

/// How many directories the plan says were read in place.
fn read_in_place(why: &[Reason]) -> u64 {
    let dirs = why.iter().map(|why| match *why {
        Reason::Ext4InPlace { dirs, .. } | Reason::ImageInPlace { dirs, .. } => dirs,
        _ => 0,
    });
    dirs.sum()
}

#[test]
fn a_mounted_ext4_agrees() {
    let scratch = Scratch::new().unwrap();
    let at = scratch.subdirectory("at").unwrap();
    let mounted = or_skip!(filled(&at));
    or_skip!(needs_device(&mounted));
    let stay = Options {
        one_file_system: true,
        ..ENTER
    };
    let each = Options {
        count_links: true,
        ..ENTER
    };
    for options in [ENTER, stay, each] {
        let scan = scan_of(&[&at], &options).source(Source::Ext4);
        // Everything has just been made, so sizes come from the kernel; a day
        // later everything comes from the device.
        check_scan(&[&at], &options, &[2], &scan);
        let scan = scan.as_of(later());
        check_scan(&[&at], &options, &[1, 3], &scan);
        let (_, report) = answer(&scan);
        assert_eq!(report.plan.source, "ext4");
        let in_place = read_in_place(&report.plan.why);
        assert!(in_place > 300, "{:?}", report.plan.why);
    }
}

/// A tree that was just written and then mounted read-only took four times as long:
/// each of its files was stat'ed as one whose size may not be written yet.
#[test]
fn what_cannot_be_written_to_needs_no_second_look() {
    let scratch = Scratch::new().unwrap();
    let at = scratch.subdirectory("at").unwrap();
    let mounted = or_skip!(filled(&at));
    or_skip!(needs_device(&mounted));
    mounted.make_read_only().unwrap();
    let scan = scan_of(&[&at], &ENTER).source(Source::Ext4);
    check_scan(&[&at], &ENTER, &[2], &scan);
    let (_, report) = answer(&scan);
    let why = &report.plan.why;
    let second_looks = why.iter().find_map(|why| match *why {
        Reason::Ext4InPlace {
            files_by_kernel, ..
        } => Some(files_by_kernel),
        _ => None,
    });
    assert_eq!(second_looks, Some(0), "{why:?}");
}

#[test]
fn links_are_followed_alike() {
    let scratch = Scratch::new().unwrap();
    let at = scratch.subdirectory("at").unwrap();
    let mounted = or_skip!(FileSystem::Ext4.mount(&at));
    or_skip!(needs_device(&mounted));
    trees::basic().materialise(&at.join("basic")).unwrap();
    trees::hard_links().materialise(&at.join("b")).unwrap();
    for (target, link) in [
        ("basic", "to-directory"),
        ("../basic", "b/to-directory"),
        (".", "b/loop"),
        ("nowhere", "b/dangling"),
        ("alone", "b/to-file"),
    ] {
        std::os::unix::fs::symlink(target, at.join(link)).unwrap();
    }
    mounted.settle().unwrap();
    let listed = |source, threads| {
        let scan = Scan::new(&at).source(source).threads(threads);
        let scan = scan.symlinks(SymlinkPolicy::Follow).as_of(later());
        let totals = scan.run(&Totals::new()).unwrap().output;
        (totals, scan.run(&Listing::with_sizes()).unwrap().output)
    };
    let expected = listed(Source::Posix, 1);
    for threads in THREADS {
        assert_eq!(listed(Source::Ext4, threads), expected);
    }
}

#[test]
fn several_roots_on_one_device_agree() {
    let scratch = Scratch::new().unwrap();
    let at = scratch.subdirectory("at").unwrap();
    let mounted = or_skip!(filled(&at));
    or_skip!(needs_device(&mounted));
    let roots = [
        at.join("hard_links"),
        at.clone(),
        at.join("deep"),
        at.join("wide"),
    ];
    let scan = scan_of(&roots, &ENTER).source(Source::Ext4).as_of(later());
    check_scan(&roots, &ENTER, &THREADS, &scan);
}

#[test]
fn what_is_mounted_below_agrees() {
    let scratch = Scratch::new().unwrap();
    let at = scratch.subdirectory("at").unwrap();
    let mounted = or_skip!(filled(&at));
    or_skip!(needs_device(&mounted));
    for place in ["m0", "m1", "deeper/m2"] {
        std::fs::create_dir_all(at.join(place)).unwrap();
        std::fs::write(at.join(place).join("hidden"), [0; 5000]).unwrap();
    }
    std::fs::write(at.join("file-place"), b"hidden").unwrap();
    let outside = scratch.subdirectory("outside").unwrap();
    trees::basic().materialise(&outside.join("t")).unwrap();
    let elsewhere = scratch.path().join("file");
    std::fs::write(&elsewhere, [0; 9000]).unwrap();
    mounted.settle().unwrap();
    let _tmpfs = or_skip!(FileSystem::Tmpfs.mount(&at.join("m0")));
    std::fs::write(at.join("m0/seen"), [0; 12_345]).unwrap();
    let _directory = or_skip!(bind(&outside, &at.join("deeper/m2")));
    let _file = or_skip!(bind(&elsewhere, &at.join("file-place")));
    for one_file_system in [false, true] {
        let options = Options {
            one_file_system,
            ..ENTER
        };
        let scan = scan_of(&[&at], &options)
            .source(Source::Ext4)
            .as_of(later());
        check_scan(&[&at], &options, &THREADS, &scan);
    }
    // The same file system twice: what both show is listed once.
    let _again = or_skip!(bind(&at.join("basic"), &at.join("m1")));
    for threads in THREADS {
        let scan = |source| {
            let scan = Scan::new(&at).source(source).threads(threads);
            scan.as_of(later()).run(&Listing::with_sizes()).unwrap()
        };
        let names = |listing: &[Listed]| listing.len();
        let (by_device, by_kernel) = (scan(Source::Ext4), scan(Source::Posix));
        assert_eq!(names(&by_device.output), names(&by_kernel.output));
        assert_eq!(by_device.report.sum(), by_kernel.report.sum());
    }
}

#[test]
fn exclusions_agree() {
    let scratch = Scratch::new().unwrap();
    let at = scratch.subdirectory("at").unwrap();
    let mounted = or_skip!(filled(&at));
    or_skip!(needs_device(&mounted));
    std::fs::write(at.join("wide/.gitignore"), "*1\n!*11\n").unwrap();
    std::fs::create_dir_all(at.join("wide/below/n1")).unwrap();
    std::fs::create_dir_all(at.join("wide/repository/.git")).unwrap();
    std::fs::create_dir_all(at.join("wide/repository/n1/deep1")).unwrap();
    std::fs::create_dir_all(at.join("wide/below/n11")).unwrap();
    std::fs::create_dir_all(at.join("cache/inner")).unwrap();
    let tag = "Signature: 8a477f597d28d172789f06886806bc55\n";
    std::fs::write(at.join("cache/CACHEDIR.TAG"), tag).unwrap();
    std::fs::write(at.join("cache/inner/f"), [0; 4000]).unwrap();
    mounted.settle().unwrap();
    for exclusions in [
        Exclusions::new().glob(b"*2").unwrap(),
        Exclusions::new().glob(b"deep/*/*").unwrap(),
        Exclusions::new().caches(true),
        Exclusions::new().gitignore(true),
    ] {
        let listed = |source, threads| {
            let scan = Scan::new(&at)
                .source(source)
                .threads(threads)
                .as_of(later())
                .exclusions(exclusions.clone());
            let outcome = scan.run(&Listing::with_sizes()).unwrap();
            (outcome.output, outcome.report.sum())
        };
        let expected = listed(Source::Posix, 1);
        assert!(expected.1.excluded > 0);
        for threads in THREADS {
            assert!(listed(Source::Ext4, threads) == expected, "{exclusions:?}");
        }
    }
}

#[test]
fn images_and_devices_agree_with_what_they_held() {
    let scratch = Scratch::new().unwrap();
    let at = scratch.subdirectory("at").unwrap();
    let image = scratch.path().join("image");
    or_skip!(mounts::ext4_image(&image, 256 << 20, &[], None));
    let mounted = or_skip!(mounts::image(
        &image,
        "ext4",
        &at,
        mounts::Access::ReadWrite,
        ""
    ));
    trees::hard_links().materialise(&at.join("links")).unwrap();
    trees::odd_names().materialise(&at.join("odd")).unwrap();
    trees::special().materialise(&at.join("special")).unwrap();
    mounted.settle().unwrap();
    let without_root = |listed: Vec<Listed>, root: &Path| -> Vec<_> {
        let length = root.as_os_str().len();
        let rest = |entry: Listed| (entry.path[length..].to_vec(), entry.kind, entry.size_bytes);
        listed.into_iter().map(rest).collect()
    };
    let scan = |root: &Path, source| {
        let scan = Scan::new(root).source(source).links(LinkPolicy::Once);
        let totals = scan.run(&Totals::new()).unwrap();
        let listed = scan.run(&Listing::with_sizes()).unwrap();
        assert!(totals.report.is_complete());
        (
            totals.output,
            without_root(listed.output, root),
            totals.report.plan,
        )
    };
    let (sums, listed, _) = scan(&at, Source::Posix);
    let (image_sums, image_listed, plan) = scan(&image, Source::Ext4);
    assert_eq!(image_sums, sums);
    assert_eq!(image_listed, listed);
    assert_eq!(plan.source, "ext4");
    // It is mounted and written to: its journal is open.
    let is_journal = |why: &Reason| matches!(why, Reason::JournalNotReplayed { .. });
    let journal = |why: &[Reason]| why.iter().any(is_journal);
    assert!(journal(&plan.why), "{:?}", plan.why);
    mounted.unmount().unwrap();
    let (sums_at_rest, listed_at_rest, plan) = scan(&image, Source::Ext4);
    assert_eq!((sums_at_rest, listed_at_rest), (sums, listed));
    assert!(!journal(&plan.why), "{:?}", plan.why);
    // Without being asked for, a file is a file.
    let as_file = Scan::new(&image).run(&Totals::new()).unwrap();
    assert_eq!((as_file.output[0].entries, as_file.output[0].files), (1, 1));
}

/// So that progress has a share: a scan of an image knows how much there is.
#[test]
fn images_say_how_many_entries_to_expect() {
    let scratch = Scratch::new().unwrap();
    let tree = scratch.subdirectory("tree").unwrap();
    make_wide(&tree.join("wide"), 500, WideFiles::Empty).unwrap();
    let image = scratch.path().join("image");
    or_skip!(ext4_images::make(
        &image,
        32 << 20,
        &["-t", "ext4"],
        Some(&tree)
    ));
    let sink = Totals::new();
    let expected_of = |roots: &[&Path], source: Source| {
        let scan = Scan::of(
            roots
                .iter()
                .map(|root| root.to_path_buf())
                .collect::<Vec<_>>(),
        );
        let running = scan.source(source).start(&sink).unwrap();
        let expected = running.progress().entries_expected;
        running.wait();
        let outcome = running.finish();
        let entries: u64 = outcome.output.iter().map(|root| root.entries).sum();
        (expected, entries)
    };
    let (expected, entries) = expected_of(&[&image], Source::Ext4);
    // Ten inodes have no name, and the orphan file has none.
    let difference = expected.unwrap() - entries;
    assert!((9..=10).contains(&difference), "{expected:?} and {entries}");
    let (both, _) = expected_of(&[&image, &image], Source::Ext4);
    assert_eq!(both, expected.map(|one| 2 * one));
    assert_eq!(expected_of(&[&image, &tree], Source::Auto).0, None);
}

/// Nanoseconds of 64 bits end in 2262, the seconds of ext4 in 2446. A damaged image
/// with such a time lost the file, and its answer was complete.
#[test]
fn a_file_that_changed_in_the_far_future_is_counted() {
    let scratch = Scratch::new().unwrap();
    let tree = scratch.subdirectory("from").unwrap();
    let from = scratch.subdirectory("from/dir").unwrap();
    std::fs::write(from.join("file"), [1; 3000]).unwrap();
    let image = scratch.path().join("image");
    or_skip!(mounts::ext4_image(&image, 8 << 20, &[], Some(&tree)));
    let script = ["dir", "dir/file"].map(|name| {
        let field = |field: &str| format!("set_inode_field /{name} {field}\n");
        field("ctime 0xFFFFFFFF") + &field("ctime_extra 3")
    });
    let access = mounts::Access::ReadWrite;
    or_skip!(ext4_images::debugfs(&image, access, &script.concat()));
    let at = scratch.subdirectory("at").unwrap();
    let mounted = or_skip!(mounts::image(&image, "ext4", &at, access, ""));
    let totals = |root: &Path, source| {
        let scan = Scan::new(root).source(source);
        let outcome = scan.run(&Totals::new()).unwrap();
        assert!(outcome.report.is_complete());
        outcome.output
    };
    let expected = totals(&at, Source::Posix);
    assert_eq!(expected[0].entries, 4, "with lost+found");
    assert_eq!(totals(&image, Source::Ext4), expected);
    // Of the time itself the nanoseconds are absent, and its seconds are there.
    for (root, source) in [(&at, Source::Posix), (&image, Source::Ext4)] {
        let scan = Scan::new(root).source(source).fields(Fields::CTIME);
        let odd = (scan.entries().unwrap()).map(|entry| entry.unwrap().attributes());
        let odd: Vec<_> = odd
            .filter(|of| of.time_ns(Time::Changed).is_none())
            .collect();
        let year_2378 = Some((3 << 32) - 1);
        let seconds: Vec<_> = odd.iter().map(|of| of.time_s(Time::Changed)).collect();
        assert_eq!(seconds, [year_2378; 2]);
    }
    if needs_device(&mounted).is_ok() {
        assert_eq!(totals(&at, Source::Ext4), expected);
    }
}

/// One directory is worth a look at the device if it is large, be it a root or among
/// the first that are read.
#[test]
fn a_large_directory_alone_is_read_in_place() {
    let scratch = Scratch::new().unwrap();
    let at = scratch.subdirectory("at").unwrap();
    let mounted = or_skip!(FileSystem::Ext4.mount(&at));
    or_skip!(needs_device(&mounted));
    std::fs::create_dir(at.join("outer")).unwrap();
    make_wide(&at.join("outer/large"), 12_000, WideFiles::Empty).unwrap();
    make_wide(&at.join("outer/small"), 100, WideFiles::Empty).unwrap();
    // Data that others have to write could keep `auto` from a sync.
    mounted.make_read_only().unwrap();
    let scan = |root: &str, source| {
        let scan = Scan::new(at.join(root)).source(source).as_of(later());
        let listed = scan.run(&Listing::with_sizes()).unwrap();
        let totals = scan.run(&Totals::new()).unwrap();
        assert!(totals.report.is_complete());
        (listed.output, totals.output, totals.report.plan.source)
    };
    for (root, expected) in [
        ("outer", "ext4"),
        ("outer/large", "ext4"),
        ("outer/small", "posix"),
    ] {
        let (listed, sums, source) = scan(root, Source::Auto);
        assert_eq!(source, expected, "{root}");
        let kernel = scan(root, Source::Posix);
        assert_eq!((listed, sums), (kernel.0, kernel.1), "{root}");
    }
}

#[test]
fn what_cannot_be_read_by_the_device_is_refused_or_left_to_the_kernel() {
    let scratch = Scratch::new().unwrap();
    let garbage = scratch.path().join("garbage");
    std::fs::write(&garbage, vec![7; 100_000]).unwrap();
    let refused = Scan::new(&garbage)
        .source(Source::Ext4)
        .run(&Totals::new())
        .unwrap_err()
        .to_string();
    assert!(
        refused.contains("garbage") && refused.contains("superblock"),
        "{refused}"
    );
    let memory = super::harness::scratch_in_memory();
    for dir in 0..200 {
        std::fs::create_dir(memory.path().join(dir.to_string())).unwrap();
    }
    let asked = Scan::new(memory.path()).source(Source::Ext4);
    let refused = asked.run(&Totals::new()).unwrap_err().to_string();
    assert!(refused.contains("tmpfs"), "{refused}");
    // Who asks for nothing gets an answer, and the reason in the plan.
    let outcome = Scan::new(memory.path()).run(&Totals::new()).unwrap();
    assert_eq!(outcome.report.plan.source, "posix");
    assert_eq!(outcome.output[0].dirs, 201);
    // What is not there is part of the answer, as with any source.
    let missing = Scan::new(scratch.path().join("missing")).source(Source::Ext4);
    let outcome = missing.run(&Totals::new()).unwrap();
    assert!(outcome.report.roots[0].missing.is_some());
}

/// Of an owner above 65,535 the device has both halves, and this mount shows one.
#[test]
fn a_mount_that_shows_half_of_an_owner_is_left_to_the_kernel() {
    for options in ["nouid32", ""] {
        let scratch = Scratch::new().unwrap();
        let at = scratch.subdirectory("at").unwrap();
        let image = scratch.path().join("image");
        or_skip!(mounts::ext4_image(&image, 16 << 20, &[], None));
        let script = match options {
            "" => "set_super_value default_mount_opts 0x10\n",
            _ => "",
        };
        or_skip!(ext4_images::debugfs(
            &image,
            mounts::Access::ReadWrite,
            script
        ));
        let access = mounts::Access::ReadWrite;
        let mounted = or_skip!(mounts::image(&image, "ext4", &at, access, options));
        or_skip!(needs_device(&mounted));
        let refused = Scan::new(&at).source(Source::Ext4).run(&Totals::new());
        let told = refused.unwrap_err().to_string();
        assert!(told.contains("nouid32"), "{told}");
    }
}

#[test]
fn a_cut_or_damaged_image_gives_what_is_left_and_says_so() {
    let scratch = Scratch::new().unwrap();
    let from = scratch.subdirectory("from").unwrap();
    trees::wide(3_000).materialise(&from.join("a")).unwrap();
    trees::hard_links().materialise(&from.join("b")).unwrap();
    let image = scratch.path().join("image");
    or_skip!(mounts::ext4_image(&image, 64 << 20, &[], Some(&from)));
    let whole = Scan::new(&image)
        .source(Source::Ext4)
        .run(&Totals::new())
        .unwrap();
    assert!(whole.report.is_complete());
    let bytes = std::fs::read(&image).unwrap();
    let mut answers = 0;
    for length in (1 << 10..bytes.len()).step_by(3 << 20) {
        std::fs::write(&image, &bytes[..length]).unwrap();
        let scan = Scan::new(&image).source(Source::Ext4);
        // A superblock that is cut off is no file system.
        if let Ok(outcome) = scan.run(&TreeSink::new().with_files()) {
            answers += 1;
            let cut = |why: &Reason| matches!(why, Reason::CutImage { .. });
            assert!(outcome.report.plan.why.iter().any(cut));
            let is_whole = outcome.report.roots[0].unreadable == 0;
            assert_eq!(outcome.report.is_complete(), is_whole);
        }
    }
    assert!(answers > 10);
    // Noise over directories and inode tables.
    for seed in 0..40 {
        let mut noisy = bytes.clone();
        let mut state = seed;
        for _ in 0..20_000 {
            state = (state as u64)
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695) as usize;
            let at = 4096 + (state >> 16) % (noisy.len() - 4096);
            noisy[at] ^= state as u8;
        }
        std::fs::write(&image, &noisy).unwrap();
        let scan = Scan::new(&image).source(Source::Ext4);
        let outcome = scan.run(&Totals::new()).unwrap();
        let told = outcome.report.roots[0].unreadable;
        let less = whole.output[0]
            .entries
            .saturating_sub(outcome.output[0].entries);
        assert!(
            less == 0 || told > 0,
            "{less} entries are missing without a word"
        );
    }
}

#[test]
fn an_appended_file_has_its_size_before_it_is_written_back() {
    let scratch = Scratch::new().unwrap();
    let at = scratch.subdirectory("at").unwrap();
    let mounted = or_skip!(FileSystem::Ext4.mount(&at));
    or_skip!(needs_device(&mounted));
    for number in 0..300 {
        std::fs::write(at.join(format!("f{number}")), vec![1; number * 50]).unwrap();
    }
    // Nothing is settled: the device has no sizes yet.
    let scan = scan_of(&[&at], &ENTER).source(Source::Ext4);
    check_scan(&[&at], &ENTER, &[1, 2], &scan);
}
