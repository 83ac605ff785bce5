// SPDX-License-Identifier: MIT OR Apache-2.0

//! What extents take and who has them: against what deleting really frees, and
//! against other programs.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;

use rustix::fs::{FallocateFlags, copy_file_range, fallocate, ioctl_ficlone};
use statwalk_core::{Scan, SymlinkPolicy};
use statwalk_space::btrfs::{ExtentDir, ExtentSums, ExtentUsage, Inodes, extent_usage};
use statwalk_testkit::mounts::{self, FileSystem, bind};
use statwalk_testkit::{Scratch, Skipped, or_skip, trees};

use super::{text, wait_until};

const KIB: usize = 1024;

fn usage_of(root: &Path) -> ExtentUsage {
    let inodes = Scan::new(root).run(&Inodes::new()).unwrap().output;
    extent_usage(inodes, |_| ControlFlow::Continue(())).unwrap()
}

/// The sums of every directory, by its path below the root.
fn sums_of(usage: &ExtentUsage, root: &Path) -> BTreeMap<String, ExtentSums> {
    let mut sums = BTreeMap::new();
    let mut waiting: Vec<ExtentDir<'_>> = usage.roots().collect();
    while let Some(dir) = waiting.pop() {
        let path = text(&dir.path());
        let below = path.strip_prefix(root.to_str().unwrap()).unwrap();
        sums.insert(below.trim_start_matches('/').to_owned(), dir.sums());
        waiting.extend(dir.children());
    }
    sums
}

/// How many bytes of data the file system has, when all that waits is written.
fn data_used(at: &Path) -> u64 {
    let btrfs = |words: &[&str]| {
        let out = Command::new("btrfs").args(words).arg(at).output().unwrap();
        assert!(out.status.success(), "{}", text(&out.stderr));
        String::from_utf8(out.stdout).unwrap()
    };
    // What was deleted is looked at after a commit, which comes every half minute by itself.
    btrfs(&["filesystem", "sync"]);
    btrfs(&["subvolume", "sync"]);
    // A removed file keeps its blocks while the kernel writes its last data, and while a child
    // of another test, between fork and exec, has it open. Going read-only waits for the first
    // (btrfs_remount_ro in fs/btrfs/super.c of Linux 6.18) and is refused for the second.
    let remount = |way| Command::new("mount").args(["-o", way]).arg(at).output();
    let settled = || remount("remount,ro").unwrap().status.success();
    wait_until("nothing is written", settled);
    assert!(remount("remount,rw").unwrap().status.success());
    let told = btrfs(&["filesystem", "df", "-b"]);
    let line = told.lines().find(|line| line.starts_with("Data")).unwrap();
    line.split_once("used=").unwrap().1.trim().parse().unwrap()
}

/// Deletes what is in a directory, and demands that this frees what was told.
fn check_deleting(at: &Path, below: &str) {
    let used = data_used(at);
    let usage = usage_of(at);
    assert_eq!(usage.total.disk_bytes, used, "before {below} was deleted");
    assert_eq!(usage.total.exclusive_bytes, used, "it is all there is");
    let expected = sums_of(&usage, at)[below].exclusive_bytes;
    // Alone, the directory has the same.
    let alone = usage_of(&at.join(below)).total;
    assert_eq!(alone, sums_of(&usage, at)[below], "{below} by itself");
    for entry in fs::read_dir(at.join(below)).unwrap() {
        let entry = entry.unwrap();
        match entry.file_type().unwrap().is_dir() {
            true => fs::remove_dir_all(entry.path()).unwrap(),
            false => fs::remove_file(entry.path()).unwrap(),
        }
    }
    let freed = used - data_used(at);
    println!("{below}: {freed} of {used}");
    assert_eq!(freed, expected, "by deleting {below}");
}

/// Numbers by chance, the same every time.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// Bytes that nobody can compress.
    fn bytes(&mut self, count: usize) -> Vec<u8> {
        let words = std::iter::repeat_with(|| self.next().to_le_bytes());
        words.take(count / 8 + 1).flatten().take(count).collect()
    }
}

fn clone(from: &Path, to: &Path) {
    let to = File::create(to).unwrap();
    ioctl_ficlone(to, File::open(from).unwrap()).unwrap();
}

/// Lets a file go on with what it begins with.
fn repeat(path: &Path, bytes: usize) {
    let mut file = OpenOptions::new();
    let file = file.read(true).write(true).open(path).unwrap();
    // Where blocks can be shared this does so.
    let mut end = bytes as u64;
    let copied = copy_file_range(&file, Some(&mut 0), &file, Some(&mut end), bytes);
    assert_eq!(copied, Ok(bytes));
    file.sync_all().unwrap();
}

fn overwrite(path: &Path, offset: usize, bytes: &[u8]) {
    let file = OpenOptions::new().write(true).open(path).unwrap();
    file.write_all_at(bytes, offset as u64).unwrap();
    // Else the next one could write both at once.
    file.sync_all().unwrap();
}

fn compressed(at: &Path, way: &str) {
    fs::create_dir(at).unwrap();
    let set = ["property", "set"];
    let mut command = Command::new("btrfs");
    command.args(set).arg(at).args(["compression", way]);
    assert!(command.status().unwrap().success());
}

fn delete_subvolume(path: &Path) {
    let mut command = Command::new("btrfs");
    command.args(["-q", "subvolume", "delete"]).arg(path);
    assert!(command.status().unwrap().success());
}

/// A tree with everything that makes extents differ from blocks.
fn build(at: &Path) -> Result<(), Skipped> {
    let mut dice = Dice(7);
    for dir in [
        "plain",
        "clones",
        "cut",
        "holes",
        "links/a/b",
        "links/c",
        "small",
    ] {
        fs::create_dir_all(at.join(dir)).unwrap();
    }
    for file in 0..4 {
        fs::write(at.join(format!("plain/{file}")), dice.bytes(300 * KIB)).unwrap();
        fs::write(at.join(format!("small/{file}")), b"in the tree").unwrap();
    }
    for way in ["zlib", "lzo", "zstd"] {
        let dir = at.join(way);
        compressed(&dir, way);
        fs::write(dir.join("text"), "word after word ".repeat(40_000)).unwrap();
    }
    // Several names of one inode: within a directory, and in two.
    fs::write(at.join("links/a/b/x"), dice.bytes(100 * KIB)).unwrap();
    fs::hard_link(at.join("links/a/b/x"), at.join("links/a/y")).unwrap();
    fs::write(at.join("links/c/x"), dice.bytes(200 * KIB)).unwrap();
    fs::hard_link(at.join("links/c/x"), at.join("links/a/z")).unwrap();
    // Holes, reserved space, a cut tail.
    File::create(at.join("holes/sparse")).unwrap();
    overwrite(&at.join("holes/sparse"), 1 << 20, &dice.bytes(50 * KIB));
    let reserved = File::create(at.join("holes/reserved")).unwrap();
    fallocate(&reserved, FallocateFlags::empty(), 0, 1 << 20).unwrap();
    drop(reserved);
    fs::write(at.join("holes/cut"), dice.bytes(400 * KIB)).unwrap();
    mounts::btrfs_subvolume(&at.join("sub"))?;
    fs::create_dir_all(at.join("sub/deep/deeper")).unwrap();
    for file in 0..4 {
        fs::write(at.join(format!("sub/deep/{file}")), dice.bytes(100 * KIB)).unwrap();
        let deeper = at.join(format!("sub/deep/deeper/{file}"));
        fs::write(deeper, dice.bytes(64 * KIB)).unwrap();
    }
    mounts::btrfs_subvolume(&at.join("still"))?;
    let twice = ["twice", "twice and gone"].map(|name| at.join("still").join(name));
    for file in &twice {
        fs::write(file, dice.bytes(128 * KIB)).unwrap();
    }
    compressed(&at.join("still/zstd"), "zstd");
    fs::write(
        at.join("still/zstd/text"),
        "words and words ".repeat(40_000),
    )
    .unwrap();
    let used = data_used(at);
    // The same extent at another place of the same file.
    twice.iter().for_each(|file| repeat(file, 128 * KIB));
    assert_eq!(data_used(at), used);
    // The snapshot shares its leaf no more, and nothing in the leaf tells.
    mounts::btrfs_snapshot(&at.join("still"), &at.join("still copy"))?;
    fs::remove_file(at.join("still copy/twice and gone")).unwrap();
    fs::remove_dir_all(at.join("still copy/zstd")).unwrap();
    let cut = OpenOptions::new().write(true).open(at.join("holes/cut"));
    cut.unwrap().set_len(10 * KIB as u64).unwrap();
    clone(&at.join("plain/0"), &at.join("clones/0"));
    clone(&at.join("clones/0"), &at.join("clones/again"));
    clone(&at.join("zstd/text"), &at.join("clones/text"));
    clone(&at.join("links/a/y"), &at.join("clones/of link"));
    // Parts of an extent that others have as a whole.
    clone(&at.join("plain/1"), &at.join("cut/1"));
    overwrite(&at.join("cut/1"), 100 * KIB, &dice.bytes(20 * KIB));
    // The whole of it stays for the sake of its ends.
    overwrite(&at.join("plain/2"), 100 * KIB, &dice.bytes(20 * KIB));
    // A snapshot, and one of it, that went their own ways; and one that is gone.
    mounts::btrfs_snapshot(&at.join("sub"), &at.join("snap"))?;
    mounts::btrfs_snapshot(&at.join("snap"), &at.join("snap of snap"))?;
    mounts::btrfs_snapshot(&at.join("snap"), &at.join("gone"))?;
    overwrite(&at.join("snap/deep/0"), 0, &dice.bytes(100 * KIB));
    overwrite(&at.join("sub/deep/1"), 0, &dice.bytes(100 * KIB));
    fs::remove_file(at.join("sub/deep/2")).unwrap();
    fs::write(at.join("sub/deep/new"), dice.bytes(70 * KIB)).unwrap();
    clone(&at.join("sub/deep/3"), &at.join("clones/3"));
    delete_subvolume(&at.join("gone"));
    Ok(())
}

#[test]
fn what_deleting_frees_is_told() {
    let scratch = Scratch::new().unwrap();
    let at = scratch.subdirectory("at").unwrap();
    let _mounted = or_skip!(FileSystem::Btrfs.mount(&at));
    or_skip!(build(&at));
    for below in [
        "still",
        "small",
        "clones",
        "cut",
        "snap/deep/deeper",
        "snap of snap",
        "links/a/b",
        "links/c",
        "zlib",
        "holes",
        "sub/deep",
        "snap",
        "plain",
        "links",
        "",
    ] {
        check_deleting(&at, below);
    }
    assert_eq!(data_used(&at), 0);
}

#[test]
fn other_programs_agree() {
    let scratch = Scratch::new().unwrap();
    let at = scratch.subdirectory("at").unwrap();
    let _mounted = or_skip!(FileSystem::Btrfs.mount(&at));
    or_skip!(build(&at));
    data_used(&at);
    let usage = usage_of(&at);
    let sums = sums_of(&usage, &at);
    for (below, sums) in &sums {
        let path = at.join(below);
        assert_eq!(sums.referenced_bytes, btrfs_du(&path).0, "{below}");
    }
    // There each file is shared as a whole or not at all, and nothing within.
    for below in ["snap/deep", "snap/deep/deeper", "snap of snap/deep/deeper"] {
        let (_, exclusive, set_shared) = btrfs_du(&at.join(below));
        assert_eq!(sums[below].exclusive_bytes, exclusive, "{below}");
        assert_eq!(sums[below].shared_bytes(), set_shared, "{below}");
    }
    if Command::new("compsize").arg("--help").output().is_err() {
        Skipped::needs("compsize").report();
        return;
    }
    for (below, sums) in &sums {
        let Some([disk, plain, referenced]) = compsize(&at.join(below), "TOTAL") else {
            assert_eq!(sums.disk_bytes + sums.inline_bytes, 0, "{below}");
            continue;
        };
        assert_eq!(sums.disk_bytes + sums.inline_bytes, disk, "{below}");
        // compsize counts a file for each of its names.
        if !below.is_empty() && !below.starts_with("links") {
            let held = sums.referenced_bytes + sums.inline_bytes;
            assert_eq!(held, referenced, "{below}");
        }
        assert!(plain >= disk, "{below}");
    }
    for way in &usage.compression {
        let inline = match way.compression.name() {
            "none" => usage.total.inline_bytes,
            _ => 0,
        };
        let rows = [way.compression.name(), "prealloc"];
        let rows = rows.map(|row| compsize(&at, row).unwrap_or_default());
        let prealloc = if inline > 0 { rows[1] } else { [0; 3] };
        assert_eq!(way.disk_bytes + inline, rows[0][0] + prealloc[0], "{way:?}");
        assert_eq!(
            way.plain_bytes + inline,
            rows[0][1] + prealloc[1],
            "{way:?}"
        );
    }
}

/// Total, Exclusive and Set shared.
fn btrfs_du(path: &Path) -> (u64, u64, u64) {
    let mut command = Command::new("btrfs");
    command.args(["filesystem", "du", "-s", "--raw"]).arg(path);
    let out = String::from_utf8(command.output().unwrap().stdout).unwrap();
    let mut numbers = out.lines().last().unwrap().split_whitespace();
    let mut number = || numbers.next().unwrap().parse().unwrap();
    (number(), number(), number())
}

/// Disk Usage, Uncompressed and Referenced.
fn compsize(path: &Path, row: &str) -> Option<[u64; 3]> {
    let out = Command::new("compsize")
        .arg("-b")
        .arg(path)
        .output()
        .unwrap();
    let out = String::from_utf8(out.stdout).unwrap();
    let line = out.lines().find(|line| line.starts_with(row))?;
    let numbers: Vec<u64> = line
        .split_whitespace()
        .skip(2)
        .map(|n| n.parse().unwrap())
        .collect();
    numbers.try_into().ok()
}

#[test]
fn random_trees_free_what_is_told() {
    let scratch = Scratch::new().unwrap();
    for seed in 1..=3 {
        let at = scratch.subdirectory(&format!("at{seed}")).unwrap();
        let _mounted = or_skip!(FileSystem::Btrfs.mount(&at));
        let mut dice = Dice(0x9e37_79b9 * seed);
        or_skip!(mounts::btrfs_subvolume(&at.join("v0")));
        let mut volumes = 1;
        for dir in 0..3 {
            fs::create_dir_all(at.join(format!("v0/{dir}/in"))).unwrap();
        }
        let dirs = ["0", "0/in", "1", "1/in", "2"];
        for step in 0..150 {
            let mut place = || {
                let dir = dirs[dice.below(dirs.len())];
                let name = dice.below(6);
                at.join(format!("v{}/{dir}/f{name}", dice.below(volumes)))
            };
            let (a, b) = (place(), place());
            let size = 1 + dice.below(200 * KIB);
            match dice.below(10) {
                0..3 => fs::write(&a, dice.bytes(size)).unwrap(),
                3 => fs::write(&a, "again and again ".repeat(size / 16)).unwrap(),
                4 | 5 if a.exists() && a != b => {
                    let _ = fs::remove_file(&b);
                    clone(&a, &b);
                }
                6 if a.exists() => overwrite(&a, dice.below(100 * KIB), &dice.bytes(size / 8)),
                7 if a.exists() && !b.exists() => {
                    // Not from one subvolume to another.
                    let _ = fs::hard_link(&a, &b);
                }
                8 if a.exists() => fs::remove_file(&a).unwrap(),
                9 if step % 3 == 0 && volumes < 5 => {
                    let from = at.join(format!("v{}", dice.below(volumes)));
                    let to = at.join(format!("v{volumes}"));
                    or_skip!(mounts::btrfs_snapshot(&from, &to));
                    volumes += 1;
                }
                _ => {}
            }
        }
        for _ in 0..6 {
            let dir = dirs[dice.below(dirs.len())];
            let below = format!("v{}/{dir}", dice.below(volumes));
            check_deleting(&at, &below);
            fs::create_dir_all(at.join(below).join("in")).unwrap();
        }
    }
}

#[test]
fn what_a_balance_moved_is_still_shared() {
    let scratch = Scratch::new().unwrap();
    let at = scratch.subdirectory("at").unwrap();
    let _mounted = or_skip!(FileSystem::Btrfs.mount(&at));
    let sub = at.join("sub");
    or_skip!(mounts::btrfs_subvolume(&sub));
    let mut dice = Dice(5);
    for file in 0..300 {
        fs::write(sub.join(file.to_string()), dice.bytes(8 * KIB)).unwrap();
    }
    let used = data_used(&at);
    or_skip!(mounts::btrfs_snapshot(&sub, &at.join("snap")));
    let mut balance = Command::new("btrfs");
    balance
        .args(["balance", "start", "--full-balance"])
        .arg(&at);
    let out = balance.output().unwrap();
    assert!(out.status.success(), "{}", text(&out.stderr));
    let total = usage_of(&sub).total;
    assert_eq!((total.disk_bytes, total.exclusive_bytes), (used, 0));
    let total = usage_of(&at).total;
    assert_eq!((total.disk_bytes, total.exclusive_bytes), (used, used));
}

#[test]
fn names_elsewhere_keep_what_they_have() {
    let scratch = Scratch::new().unwrap();
    let at = scratch.subdirectory("at").unwrap();
    let _mounted = or_skip!(FileSystem::Btrfs.mount(&at));
    fs::create_dir_all(at.join("in")).unwrap();
    fs::write(at.join("in/file"), Dice(3).bytes(100 * KIB)).unwrap();
    fs::hard_link(at.join("in/file"), at.join("out")).unwrap();
    fs::write(at.join("in/alone"), Dice(4).bytes(64 * KIB)).unwrap();
    let total = usage_of(&at.join("in")).total;
    assert_eq!(total.disk_bytes, 164 * KIB as u64);
    assert_eq!(total.exclusive_bytes, 64 * KIB as u64);
    // Two roots together have all.
    let scan = Scan::of([at.join("in"), at.join("out")]);
    let inodes = scan.run(&Inodes::new()).unwrap().output;
    let usage = extent_usage(inodes, |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(usage.total.disk_bytes, 164 * KIB as u64);
    assert_eq!(usage.total.exclusive_bytes, 164 * KIB as u64);
    let roots: Vec<_> = usage
        .roots()
        .map(|root| root.sums().exclusive_bytes)
        .collect();
    assert_eq!(roots, [64 * KIB as u64, 0]);
    // A file by itself.
    let total = usage_of(&at.join("in/alone")).total;
    assert_eq!(total.exclusive_bytes, 64 * KIB as u64);
}

#[test]
fn what_lies_elsewhere_is_told() {
    let scratch = Scratch::new().unwrap();
    let at = scratch.subdirectory("at").unwrap();
    let other = scratch.subdirectory("other").unwrap();
    trees::basic().materialise(&other).unwrap();
    fs::write(other.join("data"), b"data").unwrap();
    let inodes = Scan::new(&other).run(&Inodes::new()).unwrap().output;
    let error = extent_usage(inodes, |_| ControlFlow::Continue(())).unwrap_err();
    assert!(
        error.to_string().ends_with("it lies on no btrfs"),
        "{error}"
    );
    let _mounted = or_skip!(FileSystem::Btrfs.mount(&at));
    fs::write(at.join("data"), Dice(3).bytes(100 * KIB)).unwrap();
    let inner = at.join("inner");
    fs::create_dir(&inner).unwrap();
    let _bound = or_skip!(bind(&other, &inner));
    let usage = usage_of(&at);
    assert_eq!(usage.total.exclusive_bytes, 100 * KIB as u64);
    assert!(usage.files_elsewhere > 0);
    assert_eq!(usage.generations.len(), 1);
    // Links would bring files that deleting the directory does not.
    let scan = Scan::new(&at).symlinks(SymlinkPolicy::Follow);
    let inodes = scan.run(&Inodes::new()).unwrap().output;
    assert!(extent_usage(inodes, |_| ControlFlow::Continue(())).is_err());
    // Whoever does not want to wait does not.
    let inodes = Scan::new(&at).run(&Inodes::new()).unwrap().output;
    let error = extent_usage(inodes, |_| ControlFlow::Break(())).unwrap_err();
    let kind = error.io_error().map(std::io::Error::kind);
    assert_eq!(kind, Some(std::io::ErrorKind::Interrupted));
}
