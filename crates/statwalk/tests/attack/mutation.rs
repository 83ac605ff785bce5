// SPDX-License-Identifier: MIT OR Apache-2.0

//! Trees in which others create, rename and remove while they are scanned.
//!
//! What nobody touches is there exactly once; nothing is there that never was;
//! no path is torn; and it ends.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use statwalk_testkit::mounts::{FileSystem, Mounted};
use statwalk_testkit::{Random, Scratch, or_skip};

use crate::program::{self, statwalk};
use crate::sound::faults_of;
use statwalk_testkit::attack::{Attack, Round};

const QUIET_DIRS: u64 = 40;
const BUSY_DIRS: u64 = 10;
const FILES: u64 = 25;
/// In one directory, so that it has an index.
const FILES_OF_LARGE: u64 = 700;
/// Names that come and go, for each thread.
const SLOTS: u64 = 60;
const CHURNERS: u64 = 2;

/// A file system and how it can be read.
const GROUNDS: [(FileSystem, &[&str]); 4] = [
    (FileSystem::Tmpfs, &["posix", "auto"]),
    (FileSystem::Ext4, &["posix", "ext4", "auto"]),
    (FileSystem::Btrfs, &["posix", "btrfs", "auto"]),
    (FileSystem::Xfs, &["posix"]),
];

/// A tree with what stays in it.
struct Tree {
    root: PathBuf,
    busy: Vec<PathBuf>,
    still: BTreeSet<Vec<u8>>,
    /// Of what stays; what comes and goes has no size.
    bytes: u64,
}

impl Tree {
    fn new(at: &Path) -> Tree {
        let root = at.join("tree");
        let mut tree = Tree {
            root: root.clone(),
            busy: Vec::new(),
            still: BTreeSet::new(),
            bytes: 0,
        };
        for number in 0..QUIET_DIRS + BUSY_DIRS {
            let parent = root.join(format!("still-{}-end", number % 5));
            let dir = parent.join(format!("still-dir-{number}-end"));
            fs::create_dir_all(&dir).unwrap();
            tree.stays(&parent);
            tree.stays(&dir);
            let is_last = number + 1 == QUIET_DIRS + BUSY_DIRS;
            for file in 0..if is_last { FILES_OF_LARGE } else { FILES } {
                let path = dir.join(format!("still-{file}-end"));
                let bytes = file * 13;
                fs::write(&path, vec![1; bytes as usize]).unwrap();
                tree.bytes += bytes;
                tree.stays(&path);
            }
            if number >= QUIET_DIRS {
                tree.busy.push(dir);
            }
        }
        tree
    }

    fn stays(&mut self, path: &Path) {
        self.still.insert(path.as_os_str().as_bytes().to_vec());
    }

    /// Whether a path could have been there at any time.
    fn is_possible(&self, path: &[u8]) -> bool {
        let mut names = path.rsplit(|&byte| byte == b'/');
        let mut length = path.len();
        // Names that come and go, down from a directory that stays.
        loop {
            if self.still.contains(&path[..length]) {
                return true;
            }
            let Some(name) = names.next() else {
                return false;
            };
            if !is_busy_name(name) || name.len() + 1 > length {
                return false;
            }
            length -= name.len() + 1;
        }
    }
}

fn busy_name(thread: u64, slot: u64) -> String {
    // Of all lengths, so that records move.
    let tail = "x".repeat(slot as usize);
    format!("busy-{thread}-{slot}-{tail}-end")
}

fn is_busy_name(name: &[u8]) -> bool {
    let text = std::str::from_utf8(name).unwrap_or_default();
    let mut parts = text.split('-').skip(1).map(|part| part.parse().ok());
    match (parts.next().flatten(), parts.next().flatten()) {
        (Some(thread), Some(slot)) => busy_name(thread, slot) == text,
        _ => false,
    }
}

/// Changes the busy directories until it is told to stop. Whatever does not fit
/// what is there fails, which is as good as another change.
fn churn(tree: &Tree, thread: u64, stop: &AtomicBool, changes: &AtomicU64) {
    let mut random = Random::new(thread);
    let mut dirs = tree.busy.clone();
    while !stop.load(Ordering::Relaxed) {
        let place = |random: &mut Random, dirs: &[PathBuf]| {
            random
                .pick(dirs)
                .join(busy_name(thread, random.below(SLOTS)))
        };
        let (one, other) = (place(&mut random, &dirs), place(&mut random, &dirs));
        let done = match random.below(10) {
            0..4 => fs::File::create_new(&one).map(drop),
            4..6 => fs::remove_file(&one),
            6 => fs::create_dir(&one),
            7 => fs::remove_dir(&one),
            8 => fs::hard_link(&one, &other),
            // Directories with what they hold too.
            _ => fs::rename(&one, &other),
        };
        // Some directories that come are filled; some of those are renamed.
        if done.is_ok() && one.is_dir() && dirs.len() < tree.busy.len() + 8 {
            dirs.push(one);
        } else if random.one_in(50) {
            dirs.truncate(tree.busy.len());
        }
        changes.fetch_add(u64::from(done.is_ok()), Ordering::Relaxed);
    }
}

fn check(round: &mut Round, tree: &Tree, source: &str) {
    let threads = format!("-j{}", 1 + round.random.below(4));
    let order = *round
        .random
        .pick(&["parallel", "recursive", "queue", "inode", "futures"]);
    let buffer = *round.random.pick(&["1K", "4K", "32K"]);
    let flags = [
        &threads, "--order", order, "--buffer", buffer, "--source", source,
    ];
    let ended = program::run(statwalk().args(["find", "-0"]).args(flags).arg(&tree.root));
    if ended.check_end(round, &[0, 1]) {
        let mut found = BTreeSet::new();
        let mut faults = Vec::new();
        for row in ended.rows() {
            if !tree.is_possible(row) {
                faults.push(format!("'{}' never was", row.escape_ascii()));
            }
            // A name that moves may be met where it was and where it is.
            if !found.insert(row) && tree.still.contains(row) {
                faults.push(format!("'{}' twice", row.escape_ascii()));
            }
        }
        let mut missing = tree.still.iter().filter(|path| !found.contains(&path[..]));
        if let Some(path) = missing.next() {
            let more = missing.count();
            faults.push(format!("no '{}' and {more} more", path.escape_ascii()));
        }
        faults.truncate(5);
        round.check(faults.is_empty(), || {
            format!("{}: {}", faults.join(", "), ended.told())
        });
    }
    let ended = program::run(
        statwalk()
            .args(["--json", "-s"])
            .args(flags)
            .arg(&tree.root),
    );
    if !ended.check_end(round, &[0, 1]) {
        return;
    }
    let document = ended.json().unwrap_or_default();
    let mut faults = faults_of(&document, ended.code());
    let field = |name: &str| document["roots"][0][name].as_u64();
    if field("file_size_bytes") != Some(tree.bytes) {
        let found = field("file_size_bytes");
        faults.push(format!("{found:?} bytes and not {}", tree.bytes));
    }
    // The root is one more.
    if field("entries") <= Some(tree.still.len() as u64) {
        faults.push(format!("{:?} entries", field("entries")));
    }
    round.check(faults.is_empty(), || {
        format!("{}: {}", faults.join(", "), ended.told())
    });
}

#[test]
fn what_nobody_touches_is_there_once() {
    let scratch = Scratch::new().unwrap();
    let mut grounds: Vec<(Mounted, Tree, &[&str])> = Vec::new();
    for (file_system, sources) in GROUNDS {
        let at = scratch.subdirectory(&format!("{file_system:?}")).unwrap();
        match file_system.mount(&at) {
            Ok(mounted) => {
                let tree = Tree::new(&at);
                mounted.settle().unwrap();
                grounds.push((mounted, tree, sources));
            }
            Err(skipped) => skipped.report(),
        }
    }
    or_skip!(match grounds.is_empty() {
        true => Err(statwalk_testkit::Skipped::needs("a file system to change")),
        false => Ok(()),
    });
    let attack = Attack {
        kind: "mutation",
        rounds_small: 8,
        checks_least: 4,
    };
    let changes = AtomicU64::new(0);
    attack.run(|round| {
        let (_, tree, sources) = round.in_turn(&grounds);
        let stop = AtomicBool::new(false);
        let before = changes.load(Ordering::Relaxed);
        std::thread::scope(|scope| {
            for thread in 0..CHURNERS {
                let (stop, changes) = (&stop, &changes);
                scope.spawn(move || churn(tree, thread, stop, changes));
            }
            // Those threads stop also where a check breaks off.
            let checked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                for source in *sources {
                    check(round, tree, source);
                }
            }));
            stop.store(true, Ordering::Relaxed);
            if let Err(panic) = checked {
                std::panic::resume_unwind(panic);
            }
        });
        let made = changes.load(Ordering::Relaxed) - before;
        round.check(made > 10, || format!("{made} changes only"));
    });
}

#[test]
fn names_that_never_were_are_noticed() {
    let scratch = Scratch::new().unwrap();
    let tree = Tree::new(scratch.path());
    let busy = tree.busy[0].as_os_str().as_bytes();
    let name = busy_name(1, 7);
    let path = |name: &str| [busy, b"/", name.as_bytes()].concat();
    assert!(tree.is_possible(&path(&name)));
    assert!(tree.is_possible(&path(&format!("{name}/{}", busy_name(0, 0)))));
    assert!(tree.is_possible(busy));
    for torn in [&name[1..], &name[..name.len() - 1], "still-900-end", ""] {
        assert!(!tree.is_possible(&path(torn)), "{torn}");
    }
}
