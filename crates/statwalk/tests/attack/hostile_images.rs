// SPDX-License-Identifier: MIT OR Apache-2.0

//! Images of ext2, ext3 and ext4 in which random bytes of the metadata changed.
//!
//! A scan of one ends, in bounded time and memory, with an answer that agrees
//! with itself; where directories have checksums, a complete answer has all names.
//! (Checksums of inodes are not compared, `docs/sources/ext4.md` says why.)

use std::fs;
use std::ops::Range;
use std::path::Path;

use serde_json::Value;
use statwalk_testkit::{Random, Scratch, Skipped, ext4_images, or_skip};

use crate::program::{self, Ended, command};
use crate::sound::faults_of;
use statwalk_testkit::attack::{Attack, Round};

/// Kinds of images whose structures differ; the first has checksums everywhere.
const KINDS: [&[&str]; 7] = [
    &["-t", "ext4", "-b", "1024"],
    &["-t", "ext4", "-b", "1024", "-O", "^metadata_csum"],
    &["-t", "ext2", "-b", "1024"],
    &[
        "-t",
        "ext4",
        "-b",
        "4096",
        "-O",
        "^metadata_csum,meta_bg,^resize_inode",
    ],
    &[
        "-t",
        "ext4",
        "-b",
        "1024",
        "-O",
        "^metadata_csum,inline_data",
    ],
    &["-t", "ext4", "-b", "1024", "-O", "^metadata_csum,^filetype"],
    &["-t", "ext3", "-b", "1024", "-O", "^dir_index"],
];
const CHECKED: usize = 0;
/// Where the superblock says which features there are, `s_feature_compat` and the
/// following in fs/ext4/ext4.h.
const FEATURES: Range<usize> = 1024 + 0x5C..1024 + 0x68;
const IMAGE_BYTES: u64 = 4 << 20;
/// What a scan of such an image may take, in KiB of address space.
const MEMORY_KIB: u64 = 1 << 20;

const VIEWS: [&[&str]; 3] = [
    &["--json", "-s"],
    &["--json", "-a", "-d9"],
    &["--json", "--count"],
];

/// An image, and how many names it holds.
struct Image {
    bytes: Vec<u8>,
    entries: Value,
}

fn make(home: &Path, number: usize) -> Result<Image, Skipped> {
    let tree = home.join("tree");
    if !tree.exists() {
        fs::create_dir_all(tree.join("a/b/c/d")).unwrap();
        fs::write(tree.join("a/b/file"), vec![1; 3_000]).unwrap();
        fs::hard_link(tree.join("a/b/file"), tree.join("a/second")).unwrap();
        std::os::unix::fs::symlink("x".repeat(100), tree.join("a/link")).unwrap();
        ext4_images::wide(&tree.join("wide"), 300).unwrap();
    }
    let file = home.join(format!("image{number}"));
    ext4_images::make(&file, IMAGE_BYTES, KINDS[number], Some(&tree))?;
    let ended = ask(&file, &["--json", "-s"]);
    assert_eq!(ended.code(), Some(0), "{}", ended.told());
    Ok(Image {
        bytes: fs::read(&file).unwrap(),
        entries: ended.json().unwrap()["roots"][0]["entries"].clone(),
    })
}

fn ask(image: &Path, arguments: &[&str]) -> Ended {
    let mut command = command("sh");
    let script = format!("ulimit -v {MEMORY_KIB}; exec \"$0\" \"$@\"");
    command.args(["-c", &script]).arg(program::path());
    command.args(arguments).args(["--source", "ext4"]);
    program::run(command.arg(image))
}

/// Changes bytes; the beginning of an image holds most of its metadata.
fn damage(bytes: &mut [u8], random: &mut Random) {
    let times = random.below(40);
    for _ in 0..=times {
        let magnitude = 11 + random.below(12);
        let end = (1_u64 << magnitude).min(bytes.len() as u64);
        let offset = random.below(end) as usize;
        bytes[offset] = match random.below(4) {
            0 => 0,
            1 => 0xFF,
            2 => bytes[offset] ^ 1 << random.below(8),
            _ => random.next() as u8,
        };
        if random.one_in(8) {
            // A number in another place, as a write that went astray leaves it.
            let from = random.below(bytes.len() as u64 - 64) as usize & !3;
            let to = random.below(end.max(2_048) - 64) as usize & !3;
            bytes.copy_within(from..from + 32, to);
        }
    }
}

/// Where `entries` is known for sure, a complete answer has so many.
fn check(round: &mut Round, ended: &Ended, entries: Option<&Value>) {
    if !ended.check_end(round, &[0, 1, 2]) {
        return;
    }
    if ended.code() == Some(2) {
        round.check(!ended.stderr.is_empty(), || {
            format!("2 without a reason: {}", ended.told())
        });
        return;
    }
    let faults = match ended.json() {
        Ok(document) => {
            let mut faults = faults_of(&document, ended.code());
            let found = &document["roots"][0]["entries"];
            if let Some(entries) = entries.filter(|_| ended.code() == Some(0))
                && found != entries
            {
                faults.push(format!("complete with {found} and not {entries} entries"));
            }
            faults
        }
        Err(error) => vec![error],
    };
    round.check(faults.is_empty(), || {
        format!("{}: {}", faults.join(", "), ended.told())
    });
}

#[test]
fn any_bytes_may_stand_anywhere() {
    let scratch = Scratch::new().unwrap();
    let images: Result<Vec<Image>, Skipped> = (0..KINDS.len())
        .map(|number| make(scratch.path(), number))
        .collect();
    let images = or_skip!(images);
    let attack = Attack {
        kind: "hostile_images",
        rounds_small: 175,
        checks_least: 2,
    };
    attack.run(|round| {
        let number = *round.in_turn(&[0, 1, 2, 3, 4, 5, 6]);
        let image = &images[number];
        let mut bytes = image.bytes.clone();
        damage(&mut bytes, &mut round.random);
        let file = scratch.path().join("damaged");
        fs::write(&file, &bytes).unwrap();
        let threads = format!("-j{}", 1 + round.random.below(4));
        let order = round
            .random
            .pick(&["parallel", "recursive", "queue", "inode"]);
        let view = *round.random.pick(&VIEWS);
        let arguments = [view, &[&threads, "--order", order]].concat();
        let ended = ask(&file, &arguments);
        // A flag that is gone says that there are no checksums.
        let is_checked = number == CHECKED && bytes[FEATURES] == image.bytes[FEATURES];
        check(round, &ended, is_checked.then_some(&image.entries));
    });
}
