// SPDX-License-Identifier: MIT OR Apache-2.0

//! Real file systems, mounts within mounts, and directories that are mounted twice.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use statwalk_core::{
    KernelFileSystems, MountCrossing, Scan, Source, SymlinkPolicy, Totals, TreeSink,
};
use statwalk_testkit::mounts::{
    self, FileSystem, bind, btrfs_mount_subvolume, btrfs_snapshot, btrfs_subvolume, overlay,
    squashfs,
};
use statwalk_testkit::naive::Options;
use statwalk_testkit::{Scratch, Skipped, or_skip, trees};

use super::devices::needs_device;
use super::harness::agreement::{check, check_totals};
use super::harness::listing::Listing;
use super::harness::{ENTER, THREADS, sizes, text};

const STAY: Options<'_> = Options {
    one_file_system: true,
    ..ENTER
};

/// A tree with a few places to mount on.
fn tree_with_places(top: &Path) -> PathBuf {
    let dir = top.join("t");
    trees::hard_links().materialise(&dir).unwrap();
    for place in ["m0", "m1", "m2", "nested/m3"] {
        std::fs::create_dir(dir.join(place)).unwrap();
        // Hidden by what is mounted.
        std::fs::write(dir.join(place).join("hidden"), [0; 5000]).unwrap();
    }
    std::fs::write(dir.join("file-place"), b"hidden").unwrap();
    dir
}

/// Compares totals, both ways, and that no directory is listed twice.
fn agree(dir: &Path) {
    for options in [ENTER, STAY] {
        check_totals(&[dir], &options, &THREADS);
    }
    listed_once(dir);
}

/// No two directories that were listed are the same inode, nor two names equal.
fn listed_once(dir: &Path) {
    for threads in THREADS {
        let outcome = Scan::new(dir)
            .threads(threads)
            .run(&Listing::with_sizes())
            .unwrap();
        let paths: std::collections::HashSet<_> =
            outcome.output.iter().map(|entry| &entry.path).collect();
        assert_eq!(paths.len(), outcome.output.len());
        let mut parents: std::collections::HashMap<(u64, u64), PathBuf> = Default::default();
        for entry in &outcome.output {
            let path = Path::new(std::ffi::OsStr::from_bytes(&entry.path));
            let Some(parent) = path.parent().filter(|parent| parent.starts_with(dir)) else {
                continue;
            };
            let found = std::fs::metadata(parent).unwrap();
            let before = parents.insert((found.dev(), found.ino()), parent.into());
            assert!(
                before.is_none_or(|before| before == parent),
                "{parent:?} is listed twice"
            );
        }
    }
}

#[test]
fn trees_on_each_file_system_agree() {
    for file_system in FileSystem::ALL {
        let scratch = Scratch::new().unwrap();
        let at = scratch.subdirectory("at").unwrap();
        let mounted = match file_system.mount(&at) {
            Ok(mounted) => mounted,
            Err(skipped) => {
                skipped.report();
                continue;
            }
        };
        trees::make_assorted(&at).unwrap();
        mounted.settle().unwrap();
        check(&[&at], &ENTER, &[1, 3]);
        check(&[&at], &STAY, &[2]);
    }
}

#[test]
fn a_read_only_squashfs_agrees() {
    let scratch = Scratch::new().unwrap();
    let from = scratch.path().join("from");
    trees::hard_links().materialise(&from).unwrap();
    trees::odd_names().materialise(&from.join("odd")).unwrap();
    let at = scratch.subdirectory("at").unwrap();
    let _mounted = or_skip!(squashfs(&at, &from));
    check(&[&at], &ENTER, &THREADS);
}

#[test]
fn an_overlay_agrees() {
    let scratch = Scratch::new().unwrap();
    let home = scratch.subdirectory("home").unwrap();
    // The scratch directory may be on an overlay itself, which cannot be an upper one.
    let _tmpfs = or_skip!(FileSystem::Tmpfs.mount(&home));
    let [lower, upper, work, at] = ["lower", "upper", "work", "at"].map(|name| home.join(name));
    trees::hard_links().materialise(&lower).unwrap();
    for path in [&upper, &work, &at] {
        std::fs::create_dir(path).unwrap();
    }
    let _mounted = or_skip!(overlay(&at, &lower, &upper, &work));
    // A copy upwards, a white-out, an opaque directory.
    std::fs::write(at.join("a/new"), [0; 3000]).unwrap();
    std::fs::remove_file(at.join("alone")).unwrap();
    std::fs::remove_dir_all(at.join("nested")).unwrap();
    trees::basic().materialise(&at.join("nested")).unwrap();
    check(&[&at], &ENTER, &THREADS);
    check_totals(&[&at], &STAY, &THREADS);
    // All three trees and the overlay of them: see overlays.rs for where it is entered.
    check_totals(&[&home], &STAY, &THREADS);
    listed_once(&home);
}

#[test]
fn file_systems_within_the_tree_are_entered_or_crossings() {
    let scratch = Scratch::new().unwrap();
    let dir = tree_with_places(scratch.path());
    let tmpfs = or_skip!(FileSystem::Tmpfs.mount(&dir.join("m0")));
    trees::basic()
        .materialise(&tmpfs.path().join("inner"))
        .unwrap();
    std::fs::create_dir(dir.join("m0/inner/m")).unwrap();
    let nested = or_skip!(FileSystem::Tmpfs.mount(&dir.join("m0/inner/m")));
    std::fs::write(nested.path().join("f"), [0; 10_000]).unwrap();
    // Everything agrees: no directory can be reached by two ways.
    check(&[&dir], &ENTER, &THREADS);
    check(&[&dir], &STAY, &THREADS);
    let scan = Scan::new(&dir).crossing(MountCrossing::Stay);
    let outcome = scan.run(&Totals::new().without_sizes()).unwrap();
    assert_eq!(outcome.report.sum().crossings, 1);
    assert!(outcome.report.is_complete());
    // A mount as a root beside the tree that does not enter it.
    check_totals(&[&dir, &dir.join("m0")], &STAY, &[1, 2]);
    check(&[&dir.join("m0"), &dir], &ENTER, &[1, 2]);
    // Two at one place: only the upper can be seen.
    let cover = or_skip!(FileSystem::Tmpfs.mount(&dir.join("m0")));
    std::fs::write(cover.path().join("cover"), b"x").unwrap();
    check(&[&dir], &ENTER, &[1, 2]);
    drop(cover);
    drop(nested);
}

/// Where links were followed, the way that a worker took first had the directory. Below
/// the other one a mount shows something else, and chance decided whether that was read.
#[test]
fn a_second_mount_waits_where_links_are_followed() {
    let scratch = Scratch::new().unwrap();
    let dir = scratch.path().join("t");
    let real = dir.join("x/y/real");
    std::fs::create_dir_all(real.join("covered")).unwrap();
    let other = scratch.path().join("other");
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join("file"), [0; 10]).unwrap();
    // The listing has some of them before the real one, whatever its order.
    let mut second = Vec::new();
    for number in 0..8 {
        let place = dir.join(number.to_string());
        std::fs::create_dir(&place).unwrap();
        second.push(or_skip!(bind(&real, &place)));
    }
    let _inner = or_skip!(bind(&other, &real.join("covered")));
    for threads in THREADS {
        for follow in [SymlinkPolicy::Keep, SymlinkPolicy::Follow] {
            let scan = Scan::new(&dir).threads(threads).symlinks(follow);
            let outcome = scan.run(&Totals::new()).unwrap();
            let found = outcome.output[0];
            assert_eq!((found.dirs, found.files), (13, 1), "{threads} {follow:?}");
            assert_eq!(outcome.report.sum().crossings, 8);
        }
    }
}

/// Nothing looked at who a directory at the depth limit is, so its bytes counted by each way.
#[test]
fn a_directory_that_is_mounted_twice_counts_once_at_the_depth_limit() {
    let scratch = Scratch::new().unwrap();
    for source in [Source::Posix, Source::Ext4] {
        let at = scratch.subdirectory(&format!("{source:?}")).unwrap();
        let mounted = match source {
            Source::Ext4 => Some(or_skip!(FileSystem::Ext4.mount(&at))),
            _ => None,
        };
        if let Some(mounted) = &mounted {
            or_skip!(needs_device(mounted));
        }
        let dir = at.join("t");
        let real = dir.join("x/real");
        std::fs::create_dir_all(real.join("below")).unwrap();
        std::fs::write(real.join("below/file"), [0; 10]).unwrap();
        for place in ["m", "x/m"] {
            std::fs::create_dir(dir.join(place)).unwrap();
        }
        if let Some(mounted) = &mounted {
            mounted.settle().unwrap();
        }
        let _places = ["m", "x/m"].map(|place| bind(&real, &dir.join(place)).unwrap());
        let now = std::time::SystemTime::now() + std::time::Duration::from_secs(86_400);
        let bytes = |names: &[&str]| -> u128 {
            let one = |name: &&str| std::fs::symlink_metadata(dir.join(name)).unwrap();
            let blocks = names
                .iter()
                .map(one)
                .map(|found| u128::from(found.blocks()));
            blocks.sum::<u128>() * 512
        };
        let all = ["", "x", "x/real", "x/real/below", "x/real/below/file"];
        // At a depth of 2, `m` leads to `below`, and the real way ends above it. Further down
        // the real way leads there, and the mounts show nothing of their own.
        for (depth, bytes, dirs, crossings) in [
            (1, bytes(&all[..3]), 3, 0),
            (2, bytes(&all[..4]), 6, 1),
            (3, bytes(&all[..4]), 6, 2),
            (4, bytes(&all), 6, 2),
        ] {
            for threads in THREADS {
                for follow in [SymlinkPolicy::Keep, SymlinkPolicy::Follow] {
                    let scan = Scan::new(&dir).source(source).as_of(now).threads(threads);
                    let scan = scan.max_depth(depth).symlinks(follow);
                    let outcome = scan.run(&Totals::new()).unwrap();
                    let found = outcome.output[0];
                    let told = format!("{source:?}, depth {depth}, {threads} {follow:?}");
                    assert_eq!(sizes(&found).allocated_bytes, bytes, "{told}");
                    assert_eq!(found.dirs, dirs, "{told}");
                    assert_eq!(outcome.report.sum().crossings, crossings, "{told}");
                }
            }
        }
    }
}

#[test]
fn bind_mounts_are_listed_once() {
    let scratch = Scratch::new().unwrap();
    let dir = tree_with_places(scratch.path());
    let outside = scratch.path().join("outside");
    trees::basic().materialise(&outside).unwrap();

    // A directory inside the tree, before and behind it in path order.
    let inner = or_skip!(bind(&dir.join("nested"), &dir.join("m0")));
    agree(&dir);
    let outcome = Scan::new(&dir).run(&TreeSink::new()).unwrap();
    assert_eq!(outcome.report.sum().crossings, 1);
    drop(inner);
    // An ancestor: the tree in itself.
    let ancestor = or_skip!(bind(&dir, &dir.join("nested/m3")));
    agree(&dir);
    drop(ancestor);
    let above = or_skip!(bind(scratch.path(), &dir.join("m1")));
    agree(&dir);
    drop(above);
    // Something outside, twice, and a part of it a third time.
    let first = or_skip!(bind(&outside, &dir.join("m0")));
    let second = or_skip!(bind(&outside, &dir.join("m1")));
    let third = or_skip!(bind(&outside.join("docs"), &dir.join("m2")));
    agree(&dir);
    // The first in path order is the one that is entered.
    for threads in THREADS {
        let scan = Scan::new(&dir).threads(threads);
        let tree = scan.run(&TreeSink::new()).unwrap().output;
        let of = |name: &str| {
            let mut children = tree.root(0).unwrap().children();
            children
                .find(|child| child.name() == name.as_bytes())
                .unwrap()
                .entries()
        };
        assert_eq!(
            of("m0"),
            trees::basic().totals().entries,
            "{threads} workers"
        );
        assert_eq!((of("m1"), of("m2")), (1, 1), "{threads} workers");
    }
    drop((first, second, third));
    // The whole of it with another root.
    let again = or_skip!(bind(&dir.join("a"), &dir.join("m2")));
    for roots in [[dir.join("m2"), dir.clone()], [dir.clone(), dir.join("m2")]] {
        check_totals(&roots, &ENTER, &THREADS);
    }
    drop(again);
}

#[test]
fn a_file_that_is_mounted_is_one_more_name_or_a_crossing() {
    let scratch = Scratch::new().unwrap();
    let dir = tree_with_places(scratch.path());
    let outside = scratch.path().join("outside");
    std::fs::write(&outside, [1; 40_000]).unwrap();
    let mounted = or_skip!(bind(&outside, &dir.join("file-place")));
    check_totals(&[&dir], &ENTER, &THREADS);
    check_totals(&[&dir], &STAY, &THREADS);
    drop(mounted);
    // Of a file in the tree: its bytes once.
    let mounted = or_skip!(bind(&dir.join("pair"), &dir.join("file-place")));
    check_totals(&[&dir], &ENTER, &THREADS);
    check_totals(&[&dir], &STAY, &THREADS);
    drop(mounted);
}

/// A directory that is mounted onto itself, as NixOS, ostree and systemd do it: the same
/// file system, so that a scan that stays there reads it, as `du -x` and `find -xdev` do.
#[test]
fn a_directory_that_is_mounted_onto_itself_is_read() {
    for file_system in [FileSystem::Tmpfs, FileSystem::Ext4, FileSystem::Btrfs] {
        let scratch = Scratch::new().unwrap();
        let at = scratch.subdirectory("at").unwrap();
        let mounted = match file_system.mount(&at) {
            Ok(mounted) => mounted,
            Err(skipped) => {
                skipped.report();
                continue;
            }
        };
        let dir = tree_with_places(&at);
        trees::basic().materialise(&dir.join("m0/store")).unwrap();
        let store = dir.join("m0/store");
        let onto_itself = or_skip!(bind(&store, &store));
        onto_itself.make_read_only().unwrap();
        // Another file system within it stays a crossing, and it within that one, too.
        let inner = or_skip!(FileSystem::Tmpfs.mount(&dir.join("m1")));
        std::fs::create_dir_all(inner.path().join("place")).unwrap();
        let back = or_skip!(bind(&store, &inner.path().join("place")));
        mounted.settle().unwrap();
        agree(&dir);
        as_du_and_find(&dir);
        let stay = Scan::new(&dir).crossing(MountCrossing::Stay);
        for source in [Source::Auto, Source::Posix] {
            let scan = stay.clone().source(source);
            let outcome = scan.run(&Totals::new().without_sizes()).unwrap();
            assert_eq!(outcome.report.sum().crossings, 1, "{file_system:?}");
            assert!(outcome.report.is_complete());
        }
        // As roots, in each order, with the mount above and below.
        let roots = [
            store.clone(),
            dir.clone(),
            dir.join("m0"),
            store.join("docs"),
        ];
        for shift in 0..roots.len() {
            let mut roots = roots.clone();
            roots.rotate_left(shift);
            check_totals(&roots, &STAY, &[1, 3]);
            check_totals(&roots, &ENTER, &[1, 3]);
        }
        // Only its topmost directory lies at the limit, as for the rest of the mount.
        let shallow = stay.max_depth(2).run(&Totals::new()).unwrap();
        assert_eq!(shallow.report.sum().crossings, 1, "{file_system:?}");
        drop((back, inner));
        // Covered again by itself, and by a directory above: each is still read once.
        let again = or_skip!(bind(&store, &store));
        agree(&dir);
        as_du_and_find(&dir);
        drop(again);
        let above = or_skip!(bind(&dir, &store.join("docs")));
        agree(&dir);
        drop((above, onto_itself));
    }
}

/// A user's sshfs or portal without `allow_other`: root may not look inside.
#[test]
fn a_mount_that_shuts_out_the_user_is_left_out() {
    let scratch = Scratch::new().unwrap();
    let dir = tree_with_places(scratch.path());
    let _directory = or_skip!(mounts::private_fuse(&dir.join("m0")));
    let _file = or_skip!(mounts::private_fuse(&dir.join("file-place")));
    for threads in THREADS {
        let scan = Scan::new(&dir).threads(threads);
        let stay = scan.clone().crossing(MountCrossing::Stay);
        for depth in [1, 2, u32::MAX] {
            let stay = stay.clone().max_depth(depth);
            let report = stay.run(&Totals::new()).unwrap().report;
            assert!(report.is_complete(), "{depth}: {report:?}");
            assert_eq!(report.sum().crossings, 2, "{depth}");
        }
        let report = scan.run(&Totals::new()).unwrap().report;
        assert_eq!((report.sum().unreadable, report.sum().crossings), (2, 0));
    }
}

/// Compares a scan that stays on the file system with `du -x` and `find -xdev`.
fn as_du_and_find(dir: &Path) {
    let output = |command: &mut Command| {
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let du = output(Command::new("du").args(["-sxB1"]).arg(dir));
    let du: u64 = du.split_whitespace().next().unwrap().parse().unwrap();
    let find = output(
        Command::new("find")
            .arg(dir)
            .args(["-xdev", "-printf", "x"]),
    );
    for threads in THREADS {
        let scan = Scan::new(dir)
            .threads(threads)
            .crossing(MountCrossing::Stay);
        let outcome = scan.run(&Totals::new()).unwrap();
        // `find -xdev` and a scan name the place of another file system, `du -x` does not.
        let found = &outcome.output[0];
        assert_eq!(found.sizes.unwrap().allocated_bytes, u128::from(du));
        assert_eq!(found.entries, find.len() as u64);
    }
}

fn btrfs(at: &Path) -> Result<mounts::Mounted, Skipped> {
    let btrfs = FileSystem::Btrfs.mount(at)?;
    btrfs_subvolume(&at.join("sub"))?;
    trees::hard_links()
        .materialise(&at.join("sub/tree"))
        .unwrap();
    btrfs_subvolume(&at.join("sub/nested"))?;
    trees::basic()
        .materialise(&at.join("sub/nested/tree"))
        .unwrap();
    btrfs_snapshot(&at.join("sub"), &at.join("snapshot"))?;
    trees::basic().materialise(&at.join("plain")).unwrap();
    btrfs.settle().unwrap();
    Ok(btrfs)
}

/// Every subvolume has an `st_dev` of its own and the root inode 256.
#[test]
fn nested_subvolumes_belong_to_their_surroundings() {
    let scratch = Scratch::new().unwrap();
    let at = scratch.subdirectory("at").unwrap();
    let btrfs = or_skip!(btrfs(&at));
    // Snapshots leave empty directories of inode 2 where subvolumes were.
    check(&[&at], &ENTER, &THREADS);
    check(&[&at], &STAY, &THREADS);
    let scan = Scan::new(&at).crossing(MountCrossing::Stay);
    for sink in [Totals::new(), Totals::new().without_sizes()] {
        assert_eq!(scan.run(&sink).unwrap().report.sum().crossings, 0);
    }
    // Mounted once more, separately: within itself, and beside it.
    std::fs::create_dir(at.join("m")).unwrap();
    let again = or_skip!(btrfs_mount_subvolume(&btrfs, "sub", &at.join("m")));
    btrfs.settle().unwrap();
    agree(&at);
    let stay = scan
        .run(&Totals::new().without_sizes())
        .unwrap()
        .report
        .sum();
    assert_eq!(stay.crossings, 1);
    drop(again);
    let inner = at.join("sub/tree/m");
    std::fs::create_dir(&inner).unwrap();
    let again = or_skip!(btrfs_mount_subvolume(&btrfs, "sub/nested", &inner));
    btrfs.settle().unwrap();
    agree(&at);
    drop(again);
}

/// Subvolumes side by side, as distributions set them up.
#[test]
fn separately_mounted_subvolumes_are_mounts() {
    let scratch = Scratch::new().unwrap();
    let hidden = scratch.subdirectory("hidden").unwrap();
    let btrfs = or_skip!(btrfs(&hidden));
    let dir = tree_with_places(scratch.path());
    let first = or_skip!(btrfs_mount_subvolume(&btrfs, "sub", &dir.join("m0")));
    let second = or_skip!(btrfs_mount_subvolume(&btrfs, "snapshot", &dir.join("m1")));
    statwalk_testkit::settle(&dir).unwrap();
    check(&[&dir], &ENTER, &THREADS);
    check(&[&dir], &STAY, &THREADS);
    drop((first, second));
}

#[test]
fn kernel_file_systems_are_left_out_and_named() {
    let scratch = Scratch::new().unwrap();
    let dir = tree_with_places(scratch.path());
    let proc = or_skip!(mount_proc(&dir.join("m1")));
    for threads in THREADS {
        for sink in [Totals::new(), Totals::new().without_sizes()] {
            let outcome = Scan::new(&dir).threads(threads).run(&sink).unwrap();
            let left_out: Vec<_> = (outcome.report.left_out.iter())
                .map(|left| (text(&left.path), left.file_system))
                .collect();
            let place = dir.join("m1").to_str().unwrap().to_owned();
            assert_eq!(left_out, [(place, "proc")]);
            assert_eq!(outcome.report.sum().excluded, 1);
            assert_eq!(outcome.report.sum().crossings, 0);
            assert!(outcome.report.is_complete());
        }
    }
    check(&[&dir], &ENTER, &THREADS);
    // On request it is entered, and as a root.
    let entries = |scan: Scan| scan.run(&Totals::new().without_sizes()).unwrap().output[0].entries;
    let left_out = entries(Scan::new(&dir));
    let entered = entries(Scan::new(&dir).kernel_file_systems(KernelFileSystems::Enter));
    assert!(entered > left_out + 1_000, "{entered} {left_out}");
    drop(proc);
    let outcome = Scan::new("/proc/self/").run(&Totals::new()).unwrap();
    assert!(outcome.output[0].entries > 100, "{outcome:?}");
    assert!(outcome.report.left_out.is_empty());
}

/// The rest of the machine is not for this test, so it stays on one mount.
#[test]
fn proc_as_a_root_is_scanned() {
    for sink in [Totals::new().without_sizes(), Totals::new()] {
        let scan = Scan::new("/proc").crossing(MountCrossing::Stay).threads(2);
        let outcome = scan.run(&sink).unwrap();
        assert!(outcome.output[0].entries > 1_000, "{outcome:?}");
        assert_eq!(outcome.report.roots[0].missing, None);
    }
}

/// A mount that goes away with this value.
struct Proc(PathBuf);

impl Drop for Proc {
    fn drop(&mut self) {
        let _ = rustix::mount::unmount(&self.0, rustix::mount::UnmountFlags::DETACH);
    }
}

fn mount_proc(at: &Path) -> Result<Proc, Skipped> {
    let flags = rustix::mount::MountFlags::empty();
    match rustix::mount::mount(c"proc", at, c"proc", flags, c"") {
        Ok(()) => Ok(Proc(at.to_owned())),
        Err(errno) => Err(Skipped::needs(format!("mount proc: {errno}"))),
    }
}
