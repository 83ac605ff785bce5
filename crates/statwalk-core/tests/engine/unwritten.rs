// SPDX-License-Identifier: MIT OR Apache-2.0

//! An ext4 with data that the kernel has not written yet, and scanners whose clock was
//! set forward: what is on the device is old, and looks as if it were not.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use rustix::fs::{FallocateFlags, fallocate};
use statwalk_core::{Obstacle, Reason, Report, RootTotals, Scan, Source, SyncPolicy, Totals};
use statwalk_testkit::mounts::{self, Access, FileSystem, IMAGE_BYTES, Mounted};
use statwalk_testkit::{Scratch, ext4_images, or_skip};

use super::devices::needs_device;
use super::harness::listing::{Listed, Listing};

/// More than a scan reads before it opens a device that must be synced.
const DIRS: usize = 600;

/// The clock of a board that was told the time after it had begun to write.
fn stepped() -> SystemTime {
    SystemTime::now() + Duration::from_secs(30 * 24 * 3600)
}

fn fill(at: &Path) {
    for number in 0..DIRS {
        let dir = at.join(number.to_string());
        fs::create_dir(&dir).unwrap();
        fs::write(dir.join("settled"), vec![1; number * 10]).unwrap();
    }
    for name in ["appended", "punched", "cut", "reserved", "grown"] {
        fs::write(at.join(name), vec![1; 100_000]).unwrap();
    }
    let reserved = File::options().write(true).open(at.join("reserved"));
    let keeps = FallocateFlags::KEEP_SIZE;
    fallocate(reserved.unwrap(), keeps, 0, 8 << 20).unwrap();
}

/// Changes what was settled, in each way whose result waits in memory.
fn change(at: &Path) {
    let open = |name: &str| {
        let path = at.join(name);
        File::options().write(true).read(true).open(path).unwrap()
    };
    fs::write(at.join("7/new"), vec![2; 20 << 20]).unwrap();
    open("appended")
        .write_all_at(&[2; 70_000], 100_000)
        .unwrap();
    let punched = open("punched");
    let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    fallocate(&punched, hole, 4096, 40_960).unwrap();
    punched.write_all_at(&[2; 8192], 8192).unwrap();
    let cut = open("cut");
    cut.set_len(10).unwrap();
    cut.write_all_at(&[2; 5_000], 50_000).unwrap();
    // Blocks that are there already: no counter of the kernel shows this.
    open("reserved")
        .write_all_at(&[2; 300_000], 100_000)
        .unwrap();
    let grown = open("grown");
    grown.set_len(3 << 20).unwrap();
    grown.write_all_at(&[2; 4096], 2 << 20).unwrap();
    // As tar, rsync and `cp -p` leave it.
    let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    grown.set_modified(old).unwrap();
}

fn answer(scan: &Scan) -> (Vec<Listed>, Vec<RootTotals>, Report) {
    let listed = scan.run(&Listing::with_sizes()).unwrap().output;
    let totals = scan.run(&Totals::new()).unwrap();
    assert!(totals.report.is_complete(), "{:?}", totals.report);
    (listed, totals.output, totals.report)
}

fn mounted(at: &Path, options: &str) -> Result<(Scratch, Mounted), statwalk_testkit::Skipped> {
    let home = Scratch::new().unwrap();
    let file = home.path().join("image");
    mounts::ext4_image(&file, IMAGE_BYTES, &[], None)?;
    let mounted = mounts::image(&file, "ext4", at, Access::ReadWrite, options)?;
    needs_device(&mounted)?;
    Ok((home, mounted))
}

/// A machine was resumed and its clock set: a file of 20 MiB that had just been written
/// counted as 0 bytes. The answer was complete, and so was the one without `--source`.
#[test]
fn a_file_that_is_not_written_yet_counts_though_the_clock_was_set_forward() {
    for options in ["", "nodelalloc", "data=journal", "data=writeback"] {
        let scratch = Scratch::new().unwrap();
        let at = scratch.subdirectory("at").unwrap();
        let (_home, mounted) = or_skip!(mounted(&at, options));
        fill(&at);
        mounted.settle().unwrap();
        for (source, threads) in [(Source::Ext4, 1), (Source::Auto, 1), (Source::Ext4, 2)] {
            change(&at);
            let scan = Scan::new(&at).source(source).threads(threads);
            let (listed, totals, report) = answer(&scan.as_of(stepped()));
            let expected = answer(&Scan::new(&at).source(Source::Posix));
            let differs = listed.iter().zip(&expected.0).find(|(a, b)| a != b);
            let told = format!("{options:?} {source:?} {differs:?} {:?}", report.plan.why);
            assert!(listed == expected.0 && totals == expected.1, "{told}");
            // Dirty data of other tests can keep `auto` from it.
            if source == Source::Ext4 {
                assert_eq!(report.plan.source, "ext4", "{told}");
            }
        }
    }
}

/// The sync writes data of others, so whoever refuses it gets system calls, unless
/// nothing can be unwritten.
#[test]
fn without_a_sync_only_what_is_clean_is_read_in_place() {
    let scratch = Scratch::new().unwrap();
    let at = scratch.subdirectory("at").unwrap();
    let mounted = or_skip!(FileSystem::Ext4.mount(&at));
    or_skip!(needs_device(&mounted));
    fill(&at);
    mounted.settle().unwrap();
    change(&at);
    let scan = |source| {
        let scan = Scan::new(&at).source(source).threads(1).as_of(stepped());
        scan.syncing(SyncPolicy::Refused)
    };
    let refused = scan(Source::Ext4).run(&Totals::new()).unwrap_err();
    assert!(refused.to_string().contains("synced"), "{refused}");
    let (listed, totals, report) = answer(&scan(Source::Auto));
    let expected = answer(&Scan::new(&at).source(Source::Posix));
    assert_eq!((listed, totals), (expected.0, expected.1));
    let why = &report.plan.why;
    let is_left = |why: &Reason| match why {
        Reason::NotInPlace(not) => not.obstacle == Obstacle::SyncRefused,
        _ => false,
    };
    assert!(why.iter().any(is_left), "{why:?}");
    mounted.make_read_only().unwrap();
    for source in [Source::Ext4, Source::Auto] {
        let (_, totals, report) = answer(&scan(source));
        assert_eq!(report.plan.source, "ext4", "{:?}", report.plan.why);
        assert_eq!(totals, answer(&scan(Source::Posix)).1);
    }
}

/// After an error the kernel shows data that it will never write.
#[test]
fn a_file_system_with_errors_is_left_to_the_kernel() {
    let scratch = Scratch::new().unwrap();
    let (at, tree) = (
        scratch.subdirectory("at").unwrap(),
        scratch.subdirectory("tree").unwrap(),
    );
    fill(&tree);
    let image = scratch.path().join("image");
    or_skip!(mounts::ext4_image(&image, IMAGE_BYTES, &[], Some(&tree)));
    let script = "set_super_value state 3\n";
    or_skip!(ext4_images::debugfs(&image, Access::ReadWrite, script));
    let mounted = or_skip!(mounts::image(&image, "ext4", &at, Access::ReadOnly, ""));
    or_skip!(needs_device(&mounted));
    let scan = Scan::new(&at).source(Source::Ext4);
    let refused = scan.run(&Totals::new()).unwrap_err().to_string();
    assert!(refused.contains("errors"), "{refused}");
    let (_, totals, report) = answer(&Scan::new(&at).threads(1));
    assert_eq!(report.plan.source, "posix", "{:?}", report.plan.why);
    // Nobody holds anything of an image in memory.
    let (_, of_image, _) = answer(&Scan::new(&image).source(Source::Ext4));
    assert_eq!(of_image, totals);
}

/// A short scan must not write what other processes have yet to write, and a longer one
/// says that it did.
#[test]
fn a_sync_is_for_long_scans_and_is_in_the_plan() {
    let scratch = Scratch::new().unwrap();
    let at = scratch.subdirectory("at").unwrap();
    let mounted = or_skip!(FileSystem::Ext4.mount(&at));
    or_skip!(needs_device(&mounted));
    for number in 0..100 {
        fs::create_dir(at.join(number.to_string())).unwrap();
    }
    let (_, _, report) = answer(&Scan::new(&at).threads(1));
    assert_eq!(report.plan.source, "posix", "{:?}", report.plan.why);
    let (_, _, report) = answer(&Scan::new(&at).source(Source::Ext4));
    let code = |why: &Reason| why.code() == "synced";
    let why = &report.plan.why;
    assert!(why.iter().any(code), "{why:?}");
}
