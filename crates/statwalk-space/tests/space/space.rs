// SPDX-License-Identifier: MIT OR Apache-2.0

//! The used bytes of a file system against files that are deleted but open, hidden,
//! shared or compressed.

use std::fs::{self, File};
use std::ops::ControlFlow;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

use rustix::fs::ioctl_ficlone;
use statwalk_core::{MountCrossing, Scan, Totals};
use statwalk_space::btrfs::{Inodes, extent_usage};
use statwalk_space::{FileSystem, SpaceAccount, UsedPart};
use statwalk_testkit::mounts::{self, FileSystem as Made, Mounted};
use statwalk_testkit::{Scratch, ext4_images, or_skip};

const MIB: i64 = 1 << 20;

/// The account of the file system that holds a path.
fn account(path: &Path) -> SpaceAccount {
    let found = FileSystem::holding(path).unwrap();
    let scan = found.scan();
    if found.file_system() != Some("btrfs") {
        let outcome = scan.run(&Totals::new()).unwrap();
        return found
            .account(&outcome.output, &outcome.report, None)
            .unwrap();
    }
    let outcome = scan.run(&(Totals::new(), Inodes::new())).unwrap();
    let (totals, inodes) = outcome.output;
    let usage = extent_usage(inodes, |_| ControlFlow::Continue(())).unwrap();
    found
        .account(&totals, &outcome.report, Some(&usage))
        .unwrap()
}

fn part(account: &SpaceAccount, wanted: UsedPart) -> i64 {
    let mut parts = account.parts.iter();
    let found = parts.find(|(part, _)| *part == wanted);
    found.map_or(i64::MIN, |(_, bytes)| *bytes)
}

/// The remainder must be at most one part in `share` of the used bytes.
fn check_remainder(account: &SpaceAccount, share: i64, what: &str) {
    let used = i64::try_from(account.capacity.used_bytes).unwrap();
    let sum: i64 = account.parts.iter().map(|part| part.1).sum();
    assert_eq!(sum, used, "{what}: {account:#?}");
    let rest = part(account, UsedPart::Remainder);
    println!("{what}: {used} used, {rest} remain: {:?}", account.parts);
    assert!(rest.abs() <= used / share, "{what}: {account:#?}");
}

/// Bytes that nobody can compress.
fn noise(count: i64) -> Vec<u8> {
    let mut state = 88_172_645_463_325_252_u64;
    let words = std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    });
    words.flatten().take(count as usize).collect()
}

/// A file system that disagrees in all ways at once.
struct Disagreeing {
    _open: File,
    _over: Mounted,
    _in: Scratch,
}

/// 90 MiB of plain files, 23 MiB deleted but open, 37 MiB hidden.
fn disagree(at: &Path, mounted: &Mounted) -> Result<Disagreeing, statwalk_testkit::Skipped> {
    for (number, mib) in [60, 30].into_iter().enumerate() {
        fs::write(at.join(format!("plain-{number}")), noise(mib * MIB)).unwrap();
    }
    for number in 0..500 {
        fs::write(at.join(format!("small-{number}")), noise(5000)).unwrap();
    }
    let gone = at.join("gone");
    fs::write(&gone, noise(23 * MIB)).unwrap();
    let open = File::open(&gone).unwrap();
    fs::remove_file(&gone).unwrap();
    let below = at.join("below");
    fs::create_dir(&below).unwrap();
    fs::write(below.join("hidden"), noise(37 * MIB)).unwrap();
    mounted.settle().unwrap();
    let other = Scratch::new().unwrap();
    let over = mounts::bind(other.path(), &below)?;
    Ok(Disagreeing {
        _open: open,
        _over: over,
        _in: other,
    })
}

fn check_causes(account: &SpaceAccount, what: &str) {
    assert_eq!(part(account, UsedPart::HiddenByMounts) / MIB, 37, "{what}");
    let unnamed = part(account, UsedPart::DeletedOpen);
    // XFS gives a growing file more than it needs.
    assert!((23 * MIB..48 * MIB).contains(&unnamed), "{what}: {unnamed}");
    let file = &account.unnamed[0];
    // A child that another test forks at this moment holds it, too.
    let mut holders = file.holders.iter().map(|holder| holder.pid);
    assert!(holders.any(|pid| pid == std::process::id()), "{what}");
    let path = file.path.as_deref().unwrap();
    assert!(path.ends_with(b"/gone"), "{}", path.escape_ascii());
}

#[test]
fn a_file_system_that_disagrees_in_all_ways() {
    for (made, share) in [
        (Made::Ext4, i64::MAX),
        (Made::Xfs, 100),
        (Made::Btrfs, 100),
        (Made::Tmpfs, 1000),
    ] {
        let scratch = Scratch::new().unwrap();
        let at = scratch.subdirectory("at").unwrap();
        let mounted = or_skip!(made.mount(&at));
        let what = format!("{made:?}");
        let _kept = or_skip!(disagree(&at, &mounted));
        // The path lies below the mount point: all of the file system counts.
        let account = account(&at.join("plain-0"));
        check_causes(&account, &what);
        check_remainder(&account, share, &what);
        assert!(account.changed_bytes.abs() < MIB, "{what}");
    }
}

/// What a mount covers and shows again is not hidden: one that is mounted onto itself, two
/// that are mounted onto each other, a part, and a file.
#[test]
fn only_what_no_mount_shows_is_hidden() {
    for made in [Made::Ext4, Made::Tmpfs] {
        let scratch = Scratch::new().unwrap();
        let at = scratch.subdirectory("at").unwrap();
        let mounted = or_skip!(made.mount(&at));
        for (name, mib) in [
            ("store/package", 5),
            ("store/place/covered", 2),
            ("one/file", 3),
            ("two/file", 4),
            ("whole/part/shown", 6),
            ("whole/hidden", 7),
            ("config", 1),
            ("other", 1),
            ("other place", 2),
        ] {
            let path = at.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, noise(mib * MIB)).unwrap();
        }
        fs::create_dir(at.join("aside")).unwrap();
        mounted.settle().unwrap();
        let bind = |from: &str, to: &str| mounts::bind(&at.join(from), &at.join(to));
        let itself = or_skip!(bind("store", "store"));
        itself.make_read_only().unwrap();
        let inner = or_skip!(Made::Tmpfs.mount(&at.join("store/place")));
        let aside = or_skip!(bind("one", "aside"));
        let one = or_skip!(bind("two", "one"));
        let two = or_skip!(mounts::bind(aside.path(), &at.join("two")));
        let part = or_skip!(bind("whole/part", "whole"));
        let file = or_skip!(bind("config", "config"));
        let covering = or_skip!(bind("other", "other place"));
        let account = account(&at);
        let what = format!("{made:?}: {account:#?}");
        let hidden = part_of(&account, UsedPart::HiddenByMounts);
        assert_eq!(hidden, 2 + 7 + 2, "{what}");
        let reached = part_of(&account, UsedPart::Reached);
        assert_eq!(reached, 5 + 3 + 4 + 6 + 1 + 1, "{what}");
        let named = account.hidden.iter().filter(|hidden| hidden.entries > 0);
        let named: Vec<_> = named.map(|hidden| hidden.point.clone()).collect();
        assert_eq!(named, [at.join("whole"), at.join("store/place")], "{what}");
        check_remainder(&account, 200, &what);
        // A scan that enters mounts of the same file system, and then the rest.
        let found = FileSystem::holding(&at).unwrap();
        let stay = Scan::new(&at).crossing(MountCrossing::Stay);
        let mut outcome = stay.run(&Totals::new()).unwrap();
        let rest = found.scan_of_hidden().unwrap().run(&Totals::new()).unwrap();
        outcome.output.extend(rest.output);
        let account = found.account(&outcome.output, &outcome.report, None);
        let account = account.unwrap();
        assert_eq!(part_of(&account, UsedPart::HiddenByMounts), 2 + 7 + 2);
        // A file that is mounted counts at both places, as by `du -x`.
        let twice = 1;
        assert_eq!(part_of(&account, UsedPart::Reached), reached + twice);
        drop((covering, file, part, two, one, aside, inner, itself));
    }
}

/// A part in whole MiB: directories themselves take less than one.
fn part_of(account: &SpaceAccount, wanted: UsedPart) -> i64 {
    part(account, wanted) / MIB
}

/// Metadata of mixed block groups counted as data of other subvolumes, of which there
/// was none.
#[test]
fn mixed_block_groups_of_a_btrfs() {
    let scratch = Scratch::new().unwrap();
    let at = scratch.subdirectory("at").unwrap();
    let image = scratch.path().join("image");
    File::create(&image).unwrap().set_len(400 << 20).unwrap();
    let mut mkfs = Command::new("mkfs.btrfs");
    mkfs.args(["-q", "-f", "--mixed"]).arg(&image);
    if !mkfs.status().is_ok_and(|status| status.success()) {
        return statwalk_testkit::Skipped::needs("mkfs.btrfs").report();
    }
    let access = mounts::Access::ReadWrite;
    let mounted = or_skip!(mounts::image(&image, "btrfs", &at, access, ""));
    fs::write(at.join("plain"), noise(30 * MIB)).unwrap();
    for number in 0..2_000 {
        fs::write(at.join(format!("small-{number}")), noise(100)).unwrap();
    }
    mounted.settle().unwrap();
    let whole = account(&at);
    assert_eq!(
        part(&whole, UsedPart::OtherSubvolumes),
        i64::MIN,
        "{whole:#?}"
    );
    assert!(part(&whole, UsedPart::Metadata) > MIB / 2, "{whole:#?}");
    assert_eq!(part(&whole, UsedPart::Remainder), 0, "{whole:#?}");
    or_skip!(mounts::btrfs_subvolume(&at.join("other")));
    mounted.settle().unwrap();
    // The scan met no file of it, so it might hold some: the two cannot be told apart.
    let whole = account(&at);
    let lacks = |part| whole.unknown.iter().any(|lack| lack.part == part);
    assert!(lacks(UsedPart::Metadata) && lacks(UsedPart::OtherSubvolumes));
    assert!(part(&whole, UsedPart::Remainder) > MIB / 2, "{whole:#?}");
}

#[test]
fn shared_extents_take_off_on_xfs() {
    for (features, deviation) in [("rmapbt=1,reflink=1", 0), ("rmapbt=0,reflink=1", 2 * MIB)] {
        let scratch = Scratch::new().unwrap();
        let at = scratch.subdirectory("at").unwrap();
        let image = scratch.path().join("image");
        File::create(&image).unwrap().set_len(512 << 20).unwrap();
        let mut mkfs = Command::new("mkfs.xfs");
        mkfs.args(["-q", "-f", "-m", features]).arg(&image);
        if !mkfs.status().is_ok_and(|status| status.success()) {
            return statwalk_testkit::Skipped::needs("mkfs.xfs with rmapbt").report();
        }
        let access = mounts::Access::ReadWrite;
        let mounted = or_skip!(mounts::image(&image, "xfs", &at, access, ""));
        let _kept = or_skip!(disagree(&at, &mounted));
        let clone = File::create(at.join("clone")).unwrap();
        ioctl_ficlone(&clone, File::open(at.join("plain-0")).unwrap()).unwrap();
        drop(clone);
        mounted.settle().unwrap();
        let account = account(&at);
        check_causes(&account, features);
        let saved = -part(&account, UsedPart::Sharing);
        assert!((saved - 60 * MIB).abs() <= deviation, "{features}: {saved}");
        check_remainder(&account, 100, features);
        // Without a reverse map the saving is a bound, and the answer says so.
        assert_eq!(account.unknown.len(), usize::from(deviation > 0));
        assert!(part(&account, UsedPart::Remainder) >= 0, "{features}");
    }
}

/// A deleted image behind a loop device: the kernel holds it, and no process does.
#[test]
fn ext4_lists_deleted_files_that_the_kernel_holds() {
    for features in ["orphan_file", "^orphan_file", "orphan_file,^extents,^64bit"] {
        let scratch = Scratch::new().unwrap();
        let at = scratch.subdirectory("at").unwrap();
        let image = scratch.path().join("image");
        File::create(&image).unwrap().set_len(256 << 20).unwrap();
        let arguments = ["-q", "-F", "-t", "ext4", "-O", features];
        let mkfs = Command::new("mkfs.ext4")
            .args(arguments)
            .arg(&image)
            .status();
        if !mkfs.is_ok_and(|status| status.success()) {
            return statwalk_testkit::Skipped::needs("mkfs.ext4").report();
        }
        let access = mounts::Access::ReadWrite;
        let mounted = or_skip!(mounts::image(&image, "ext4", &at, access, ""));
        let inner = at.join("inner");
        fs::write(&inner, noise(20 * MIB)).unwrap();
        let made = Command::new("mkfs.ext4")
            .args(["-q", "-F", "-E", "nodiscard"])
            .arg(&inner)
            .status();
        assert!(made.unwrap().success());
        let below = scratch.subdirectory("below").unwrap();
        let held = or_skip!(mounts::image(&inner, "ext4", &below, access, ""));
        mounted.settle().unwrap();
        // mkfs makes holes in it.
        let inner_stat = fs::metadata(&inner).unwrap();
        fs::remove_file(&inner).unwrap();
        let gone = at.join("gone");
        fs::write(&gone, noise(7 * MIB)).unwrap();
        let open = File::open(&gone).unwrap();
        mounted.settle().unwrap();
        let blocks = inner_stat.blocks() + open.metadata().unwrap().blocks();
        fs::remove_file(&gone).unwrap();
        mounted.settle().unwrap();

        let account = account(&at);
        let bytes = part(&account, UsedPart::DeletedOpen);
        assert_eq!(bytes as u64, 512 * blocks, "{features}");
        check_remainder(&account, i64::MAX, features);
        assert_eq!(account.unnamed.len(), 2, "{features}: {account:#?}");
        let unseen = &account.unnamed[0];
        assert_eq!(
            (unseen.inode, &unseen.path),
            (inner_stat.ino(), &None),
            "{features}"
        );
        assert_eq!(unseen.holders, []);
        assert!(account.unnamed[1].path.is_some(), "{features}");
        drop((open, held));
    }
}

/// What a file system holds in which nothing is hidden: its files have all kinds of trees,
/// and one of them has no name. Their attributes are different: `docs/shortcomings.md`.
fn fill(at: &Path) -> File {
    fs::create_dir(at).unwrap();
    fs::write(at.join("plain"), noise(3 * MIB)).unwrap();
    fs::create_dir_all(at.join("a/b/c")).unwrap();
    for number in 0..300 {
        fs::write(at.join(format!("a/b/{number}")), noise(number * 20)).unwrap();
    }
    std::os::unix::fs::symlink("x".repeat(200), at.join("link")).unwrap();
    // Each piece is an extent of its own, so that the tree has inner nodes.
    let sparse = File::create(at.join("sparse")).unwrap();
    for piece in 0..600 {
        std::os::unix::fs::FileExt::write_at(&sparse, b"piece", piece * 10_000).unwrap();
    }
    let gone = File::create(at.join("gone")).unwrap();
    std::io::Write::write_all(&mut &gone, &noise(MIB)).unwrap();
    fs::remove_file(at.join("gone")).unwrap();
    gone
}

/// Fills the image, and compares its parts with statfs, mounted in both ways.
fn check_nothing_remains(image: &Path, what: &str) -> Result<(), statwalk_testkit::Skipped> {
    let scratch = Scratch::new().unwrap();
    let at = scratch.subdirectory("at").unwrap();
    for options in ["", "minixdf"] {
        let access = mounts::Access::ReadWrite;
        let mounted = mounts::image(image, "ext4", &at, access, options)?;
        let open = fill(&at.join(format!("round{options}")));
        mounted.settle().unwrap();
        check_all_is_known(&at, &format!("{what}, {options}"));
        drop(open);
        mounted.unmount().unwrap();
    }
    Ok(())
}

#[track_caller]
fn check_all_is_known(at: &Path, what: &str) {
    let account = account(at);
    assert_eq!(account.unknown, [], "{what}");
    assert!(part(&account, UsedPart::DeletedOpen) >= MIB, "{what}");
    let rest = part(&account, UsedPart::Remainder);
    assert_eq!(rest, 0, "{what}: {:?}", account.parts);
}

#[test]
fn nothing_remains_of_an_ext4() {
    let kinds: [(u64, &[&str]); 27] = [
        (32, &["-b", "1024"]),
        (32, &["-b", "4096"]),
        (80, &["-b", "1024", "-O", "^resize_inode"]),
        (80, &["-b", "4096", "-O", "^has_journal"]),
        (80, &["-b", "4096", "-O", "^has_journal,^resize_inode"]),
        (80, &["-b", "1024", "-O", "meta_bg,^resize_inode"]),
        (80, &["-b", "1024", "-O", "meta_bg,^resize_inode,^flex_bg"]),
        (80, &["-b", "1024", "-O", "^flex_bg"]),
        (80, &["-b", "1024", "-O", "^extents,^64bit,^has_journal"]),
        // A journal with blocks of pointers, two levels deep.
        (
            300,
            &["-b", "1024", "-O", "^extents,^64bit", "-J", "size=70"],
        ),
        (80, &["-b", "2048", "-O", "^sparse_super,^resize_inode"]),
        (80, &["-b", "1024", "-O", "sparse_super2,^resize_inode"]),
        (80, &["-O", "^metadata_csum,^uninit_bg", "-I", "128"]),
        (80, &["-O", "orphan_file"]),
        (80, &["-O", "fast_commit"]),
        (80, &["-O", "mmp"]),
        (80, &["-t", "ext2", "-b", "1024"]),
        (80, &["-t", "ext3", "-b", "4096"]),
        (64, &["-b", "4096", "-O", "bigalloc"]),
        (200, &["-b", "4096", "-O", "bigalloc", "-C", "65536"]),
        (200, &["-b", "1024", "-O", "bigalloc", "-C", "8192"]),
        (200, &["-O", "bigalloc,^has_journal", "-C", "32768"]),
        (200, &["-O", "bigalloc,^resize_inode", "-C", "32768"]),
        (
            500,
            &["-b", "1024", "-O", "bigalloc,^flex_bg", "-C", "16384"],
        ),
        (500, &["-b", "1024"]),
        (2048, &["-b", "4096"]),
        (2048, &["-b", "4096", "-E", "resize=1000000000"]),
    ];
    for (mib, arguments) in kinds {
        let scratch = Scratch::new().unwrap();
        let image = scratch.path().join("image");
        let family: &[&str] = match arguments.contains(&"-t") {
            true => &[],
            false => &["-t", "ext4"],
        };
        let all = [family, arguments].concat();
        or_skip!(ext4_images::make(&image, mib << 20, &all, None));
        let what = format!("{mib} MiB {arguments:?}");
        or_skip!(check_nothing_remains(&image, &what));
    }
}

#[test]
fn nothing_remains_of_an_ext4_whose_journal_lies_elsewhere() {
    for block_bytes in ["1024", "4096"] {
        let scratch = Scratch::new().unwrap();
        let [image, journal] = ["image", "journal"].map(|name| scratch.path().join(name));
        let arguments = ["-b", block_bytes, "-O", "journal_dev"];
        or_skip!(ext4_images::make(&journal, 16 << 20, &arguments, None));
        let device = or_skip!(mounts::LoopDevice::of(&journal, mounts::Access::ReadWrite));
        let place = format!("device={}", device.path().display());
        let arguments = ["-t", "ext4", "-b", block_bytes, "-J", &place];
        or_skip!(ext4_images::make(&image, 80 << 20, &arguments, None));
        or_skip!(check_nothing_remains(&image, block_bytes));
    }
}

/// The kernel takes the overhead of an ext4 with clusters from the superblock, whatever it
/// is, and counts it anew where it is none.
#[test]
fn nothing_remains_of_an_ext4_with_an_old_overhead() {
    for (overhead, is_less) in [(0, false), (1, false), (200, true)] {
        let scratch = Scratch::new().unwrap();
        let image = scratch.path().join("image");
        let arguments = ["-t", "ext4", "-O", "bigalloc", "-C", "65536"];
        or_skip!(ext4_images::make(&image, 200 << 20, &arguments, None));
        let script = format!("set_super_value overhead_clusters {overhead}\n");
        or_skip!(ext4_images::debugfs(
            &image,
            mounts::Access::ReadWrite,
            &script
        ));
        or_skip!(check_nothing_remains(&image, &script));
        let at = scratch.subdirectory("at").unwrap();
        let access = mounts::Access::ReadOnly;
        let _mounted = or_skip!(mounts::image(&image, "ext4", &at, access, ""));
        let metadata = part(&account(&at), UsedPart::Metadata);
        assert_eq!(metadata < 0, is_less, "{overhead}: {metadata}");
    }
}

/// With an overhead as large as this the used bytes of df are 0.
#[test]
fn an_ext4_with_an_absurd_overhead_has_no_known_metadata() {
    let scratch = Scratch::new().unwrap();
    let at = scratch.subdirectory("at").unwrap();
    let image = scratch.path().join("image");
    let arguments = ["-t", "ext4", "-O", "bigalloc", "-C", "65536"];
    or_skip!(ext4_images::make(&image, 200 << 20, &arguments, None));
    let script = "set_super_value overhead_clusters 2000\n";
    let access = mounts::Access::ReadWrite;
    or_skip!(ext4_images::debugfs(&image, access, script));
    let _mounted = or_skip!(mounts::image(&image, "ext4", &at, access, ""));
    let account = account(&at);
    let [unknown] = &account.unknown[..] else {
        panic!("{account:?}");
    };
    assert_eq!(unknown.part, UsedPart::Metadata);
    let reason = "by its superblock it has more metadata than there is";
    assert_eq!(unknown.reason, reason);
}

/// Reserved descriptors come into use, and the groups become more.
#[test]
fn nothing_remains_of_an_ext4_that_has_grown() {
    for features in ["resize_inode", "^resize_inode,meta_bg"] {
        let scratch = Scratch::new().unwrap();
        let at = scratch.subdirectory("at").unwrap();
        let image = scratch.path().join("image");
        let arguments = ["-t", "ext4", "-b", "1024", "-O", features];
        or_skip!(ext4_images::make(&image, 64 << 20, &arguments, None));
        let mut resize = Command::new("resize2fs");
        resize.arg("-f").arg(&image).arg("600M");
        let Ok(grown) = resize.output() else {
            return statwalk_testkit::Skipped::needs("resize2fs").report();
        };
        assert!(grown.status.success(), "{features}: {grown:?}");
        let access = mounts::Access::ReadWrite;
        let mounted = or_skip!(mounts::image(&image, "ext4", &at, access, ""));
        let open = fill(&at.join("round"));
        mounted.settle().unwrap();
        assert!(account(&at).capacity.total_bytes > 500 << 20);
        check_all_is_known(&at, features);
        drop(open);
    }
}

/// Without a journal the kernel keeps no list: then only processes know.
#[test]
fn an_ext4_without_a_journal_has_no_list() {
    let scratch = Scratch::new().unwrap();
    let at = scratch.subdirectory("at").unwrap();
    let image = scratch.path().join("image");
    File::create(&image).unwrap().set_len(256 << 20).unwrap();
    let mut mkfs = Command::new("mkfs.ext4");
    mkfs.args(["-q", "-F", "-O", "^has_journal"]).arg(&image);
    if !mkfs.status().is_ok_and(|status| status.success()) {
        return statwalk_testkit::Skipped::needs("mkfs.ext4").report();
    }
    let access = mounts::Access::ReadWrite;
    let mounted = or_skip!(mounts::image(&image, "ext4", &at, access, ""));
    let _kept = or_skip!(disagree(&at, &mounted));
    let account = account(&at);
    check_causes(&account, "no journal");
    check_remainder(&account, i64::MAX, "no journal");
}

#[test]
fn compression_and_clones_take_off_on_btrfs() {
    let scratch = Scratch::new().unwrap();
    let at = scratch.subdirectory("at").unwrap();
    let mounted = or_skip!(Made::Btrfs.mount(&at));
    let _kept = or_skip!(disagree(&at, &mounted));
    let clone = File::create(at.join("clone")).unwrap();
    ioctl_ficlone(&clone, File::open(at.join("plain-0")).unwrap()).unwrap();
    let set = Command::new("btrfs")
        .args(["property", "set"])
        .arg(&at)
        .args(["compression", "zstd"])
        .status();
    assert!(set.is_ok_and(|status| status.success()));
    fs::write(at.join("zeros"), vec![b'x'; 64 << 20]).unwrap();
    mounted.settle().unwrap();
    let account = account(&at);
    check_causes(&account, "btrfs");
    let saved = -part(&account, UsedPart::Sharing);
    assert!((115 * MIB..130 * MIB).contains(&saved), "{saved}");
    check_remainder(&account, 100, "compression on btrfs");
}

/// No mount shows the snapshot and the other subvolume.
#[test]
fn subvolumes_outside_all_mounts_are_named() {
    let scratch = Scratch::new().unwrap();
    let [top, at] = ["top", "at"].map(|name| scratch.subdirectory(name).unwrap());
    let mounted = or_skip!(Made::Btrfs.mount(&top));
    for (name, mib) in [("a", 20), ("b", 30)] {
        or_skip!(mounts::btrfs_subvolume(&top.join(name)));
        fs::write(top.join(name).join("file"), noise(mib * MIB)).unwrap();
    }
    fs::write(top.join("a/gone"), noise(10 * MIB)).unwrap();
    or_skip!(mounts::btrfs_snapshot(
        &top.join("a"),
        &top.join("snapshot")
    ));
    fs::remove_file(top.join("a/gone")).unwrap();
    mounted.settle().unwrap();
    let _at = or_skip!(mounts::btrfs_mount_subvolume(&mounted, "a", &at));
    let with_top = account(&at);
    // The top has no file of its own.
    assert_eq!(part(&with_top, UsedPart::OtherSubvolumes), 0);
    let cover = Scratch::new().unwrap();
    let _cover = or_skip!(mounts::bind(cover.path(), &top));
    let account = account(&at);
    assert_eq!(part(&account, UsedPart::Reached), 20 * MIB);
    // The other subvolume, and the file that only the snapshot has.
    assert_eq!(part(&account, UsedPart::OtherSubvolumes), 40 * MIB);
    check_remainder(&account, 100, "outside all mounts");
}

#[test]
fn subvolumes_that_are_mounted_side_by_side_are_all_reached() {
    let scratch = Scratch::new().unwrap();
    let [top, left, right] =
        ["top", "left", "right"].map(|name| scratch.subdirectory(name).unwrap());
    let mounted = or_skip!(Made::Btrfs.mount(&top));
    for (name, mib) in [("a", 20), ("b", 30)] {
        or_skip!(mounts::btrfs_subvolume(&top.join(name)));
        fs::write(top.join(name).join("file"), noise(mib * MIB)).unwrap();
    }
    mounted.settle().unwrap();
    let _left = or_skip!(mounts::btrfs_mount_subvolume(&mounted, "a", &left));
    let _right = or_skip!(mounts::btrfs_mount_subvolume(&mounted, "b", &right));
    // With the top mounted, one scan from there reaches all, and nothing twice.
    let found = FileSystem::holding(&left).unwrap();
    assert_eq!(found.shown().collect::<Vec<_>>(), [top.as_path()]);
    check_remainder(&account(&left), 100, "the top");
    // A mount over the top covers it: then two mounts show what there is.
    let cover = Scratch::new().unwrap();
    let _cover = or_skip!(mounts::bind(cover.path(), &top));
    let found = FileSystem::holding(&right).unwrap();
    assert_eq!(found.shown().count(), 2);
    let account = account(&right);
    assert_eq!(part(&account, UsedPart::Reached), 50 * MIB);
    check_remainder(&account, 100, "side by side");
}
