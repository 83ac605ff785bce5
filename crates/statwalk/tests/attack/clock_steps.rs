// SPDX-License-Identifier: MIT OR Apache-2.0

//! An ext4 with data that waits to be written, and scanners whose clock was set forward
//! or back: what the kernel shows through find is right, and no clock changes it.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::fs::{FallocateFlags, fallocate, statvfs};
use statwalk_testkit::mounts::{self, Access, Mounted};
use statwalk_testkit::{Random, Scratch, Skipped, or_skip};

use crate::program::{self, Ended, command};
use crate::sound::faults_of;
use statwalk_testkit::attack::{Attack, Round};

const DIRS: u64 = 300;
const FILES: u64 = 4;
const CHANGES: u64 = 40;
const BYTES_MAX: u64 = 1 << 20;
/// Where less than this is free, files go: all of them together do not fit the image.
const FREE_BYTES_MIN: u64 = 64 * BYTES_MAX;

/// Seconds by which the scanner's clock differs from that of the kernel.
const STEPS: [&str; 7] = [
    "+7200",
    "+130",
    "+31536000",
    "-7200",
    "-31536000",
    "+0",
    "-3",
];

const OPTIONS: [&str; 4] = ["", "nodelalloc", "data=journal", "data=writeback"];

struct Ground {
    mounted: Mounted,
    _home: Scratch,
}

/// The numbers of a tree: entries, bytes of files, bytes of blocks.
type Numbers = (u64, u64, u64);

impl Ground {
    fn new(at: &Path, options: &str) -> Result<Ground, Skipped> {
        let home = Scratch::new().unwrap();
        let image = home.path().join("image");
        mounts::ext4_image(&image, 1 << 30, &[], None)?;
        let mounted = mounts::image(&image, "ext4", at, Access::ReadWrite, options)?;
        for number in 0..DIRS {
            let dir = at.join(number.to_string());
            fs::create_dir(&dir).unwrap();
            for file in 0..FILES {
                fs::write(dir.join(file.to_string()), vec![1; 100 * file as usize]).unwrap();
            }
        }
        mounted.settle().unwrap();
        Ok(Ground {
            mounted,
            _home: home,
        })
    }

    fn numbers(&self) -> Numbers {
        let mut find = command("find");
        let found = find
            .arg(self.mounted.path())
            .args(["-printf", "%y %s %b\n"]);
        let text = String::from_utf8(found.output().unwrap().stdout).unwrap();
        let mut numbers = (0, 0, 0);
        for line in text.lines() {
            let mut words = line.split(' ');
            let is_file = words.next() == Some("f");
            let mut number = || words.next().unwrap().parse::<u64>().unwrap();
            let (size, blocks) = (number(), number());
            numbers.0 += 1;
            numbers.1 += if is_file { size } else { 0 };
            numbers.2 += 512 * blocks;
        }
        numbers
    }
}

fn some_file(at: &Path, random: &mut Random) -> PathBuf {
    let dir = at.join(random.below(DIRS).to_string());
    dir.join(random.below(2 * FILES).to_string())
}

/// One change, of which a part waits in memory.
fn change(at: &Path, random: &mut Random) {
    let path = some_file(at, random);
    let bytes = vec![2; random.below(BYTES_MAX) as usize];
    let place = random.below(BYTES_MAX);
    let open = || {
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(false);
        options.open(&path).unwrap()
    };
    let space = statvfs(at).unwrap();
    let what = match space.f_bavail * space.f_frsize < FREE_BYTES_MIN {
        true => 3,
        false => random.below(8),
    };
    match what {
        0 => fs::write(&path, &bytes).unwrap(),
        1 => open().write_all_at(&bytes, place).unwrap(),
        2 => open().set_len(place).unwrap(),
        3 => _ = fs::remove_file(&path),
        4 => _ = fs::rename(&path, some_file(at, random)),
        5 => {
            let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            fallocate(open(), hole, place, 1 + bytes.len() as u64).unwrap();
        }
        6 => {
            let file = open();
            fallocate(&file, FallocateFlags::KEEP_SIZE, 0, BYTES_MAX).unwrap();
            file.write_all_at(&bytes[..bytes.len() / 2], place / 2)
                .unwrap();
        }
        _ => {
            let file = open();
            let length = file.metadata().unwrap().len();
            file.write_all_at(&bytes[..bytes.len().min(9_000)], length)
                .unwrap();
        }
    }
}

/// Runs the program of this build, because the one of a release calls no library whose
/// clock could be replaced.
fn scan(ground: &Ground, step: &str, source: &str, threads: &str) -> Ended {
    let mut wrapped = command("faketime");
    wrapped.args(["-f", &format!("{step}s"), env!("CARGO_BIN_EXE_statwalk")]);
    let flags = ["--json", "-s", "--source", source, threads];
    program::run(wrapped.args(flags).arg(ground.mounted.path()))
}

fn numbers_of(ended: &Ended) -> Option<Numbers> {
    let document = ended.json().ok()?;
    let field = |name: &str| document["roots"][0][name].as_u64();
    let bytes = field("file_size_bytes")?;
    Some((field("entries")?, bytes, field("allocated_bytes")?))
}

fn check(round: &mut Round, ground: &Ground, step: &str, source: &str) {
    let threads = *round.random.pick(&["-j1", "-j2", "-j4"]);
    let before = ground.numbers();
    let ended = scan(ground, step, source, threads);
    let after = ground.numbers();
    if !ended.check_end(round, &[0]) {
        return;
    }
    let mut faults = faults_of(&ended.json().unwrap_or_default(), ended.code());
    let found = numbers_of(&ended);
    // What is written meanwhile can take a block for its own map.
    let is_between = |found: Numbers| {
        let (least, most) = (before.2.min(after.2), before.2.max(after.2));
        (found.0, found.1) == (after.0, after.1) && (least..=most).contains(&found.2)
    };
    if !found.is_some_and(is_between) {
        faults.push(format!("{found:?} and not {before:?} to {after:?}"));
    }
    round.check(faults.is_empty(), || {
        let faults = faults.join(", ");
        format!("clock {step} s, {source}: {faults}: {}", ended.told())
    });
}

/// Whether the program sees the false clock: to one that is back by a year, every
/// directory has changed since the scan began, and is left to the kernel.
fn obeys(ground: &Ground) -> Result<(), Skipped> {
    let ended = scan(ground, "-31536000", "ext4", "-j1");
    if ended.stderr.contains("cannot") {
        return Err(Skipped::needs("block devices that may be opened"));
    }
    let document = ended.json().unwrap_or_default();
    let text = document["plan"]["why"].to_string();
    match text.contains("in place") && !text.contains("asked for 0 that") {
        true => Ok(()),
        false => Err(Skipped::needs("a program whose clock faketime can replace")),
    }
}

#[test]
fn no_clock_changes_the_answer() {
    let is_there = Command::new("faketime").arg("--version").output().is_ok();
    or_skip!(match is_there {
        true => Ok(()),
        false => Err(Skipped::needs("faketime")),
    });
    let scratch = Scratch::new().unwrap();
    let mut grounds = Vec::new();
    for (number, options) in OPTIONS.into_iter().enumerate() {
        let at = scratch.subdirectory(&number.to_string()).unwrap();
        grounds.push(or_skip!(Ground::new(&at, options)));
    }
    or_skip!(obeys(&grounds[0]));
    let attack = Attack {
        kind: "clock_steps",
        rounds_small: 8,
        checks_least: 4,
    };
    attack.run(|round| {
        let ground = round.in_turn(&grounds);
        let step = *round.in_turn(&STEPS);
        let at = ground.mounted.path();
        for source in ["ext4", "auto"] {
            for _ in 0..CHANGES {
                change(at, &mut round.random);
            }
            check(round, ground, step, source);
        }
    });
}
