// SPDX-License-Identifier: MIT OR Apache-2.0

//! Measures what an entry costs where nothing but the reader of ext4 works:
//! `cargo run --release -p statwalk-ext4 --example speed -- IMAGE [ROUNDS]`.
//!
//! The image is read into memory first, unless it is larger than 4 GiB. Each
//! round walks it from the root with one thread, in each of the ways below. It reads
//! size, blocks, links, times and owners of each entry.

#![allow(clippy::print_stdout, reason = "it prints what it measures")]

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::Instant;

use statwalk_ext4::{
    Bytes, Checksums, DirectoryScratch, FileType, Inode, ROOT_INODE, ReadError, Volume,
};

/// The ways that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// No checksum is looked at.
    WithoutChecksums,
    /// All are compared.
    Checksums,
    /// No inode but those of directories.
    NamesOnly,
    /// As the second, and each inode is asked for when its entry is there.
    OneByOne,
}

fn main() {
    let mut arguments = std::env::args_os().skip(1);
    let image = arguments.next().expect("an image");
    let rounds = arguments
        .next()
        .and_then(|text| text.into_string().ok())
        .map_or(5, |text| text.parse().expect("a number of rounds"));
    let file = File::open(&image).expect("an image that can be read");
    let length_bytes = file.metadata().expect("an image").len();
    if length_bytes <= 4 << 30 {
        let bytes = std::fs::read(&image).expect("an image that can be read");
        measure("memory", bytes.as_slice(), rounds);
    }
    let bytes = ImageBytes { file, length_bytes };
    measure("pread", &bytes, rounds.min(2));
}

/// The image, a call for each piece.
struct ImageBytes {
    file: File,
    length_bytes: u64,
}

impl Bytes for ImageBytes {
    fn read(&self, offset_bytes: u64, into: &mut [u8]) -> Result<(), ReadError> {
        let read = self.file.read_exact_at(into, offset_bytes);
        read.map_err(|_| ReadError::BeyondEnd)
    }

    fn length_bytes(&self) -> u64 {
        self.length_bytes
    }
}

const WAYS: [Way; 4] = [
    Way::WithoutChecksums,
    Way::Checksums,
    Way::NamesOnly,
    Way::OneByOne,
];

/// All ways in each round, so that a disturbance meets all of them.
fn measure(from: &str, bytes: &(impl Bytes + ?Sized), rounds: u32) {
    let mut times = [const { Vec::new() }; WAYS.len()];
    let mut answers = [(0, 0); WAYS.len()];
    for _ in 0..rounds {
        for ((way, times), answer) in WAYS.into_iter().zip(&mut times).zip(&mut answers) {
            let begin = Instant::now();
            *answer = walk(bytes, way);
            times.push(begin.elapsed().as_secs_f64() * 1e9 / answer.0 as f64);
        }
    }
    for ((way, times), (entries, sum)) in WAYS.into_iter().zip(&mut times).zip(answers) {
        times.sort_by(f64::total_cmp);
        println!(
            "{from:7} {:17} {entries} entries, sum {sum:x}: {:.1} ns an entry at best, {:.1} in the middle",
            format!("{way:?}"),
            times[0],
            times[times.len() / 2],
        );
    }
}

/// The number of entries, and something that depends on all their attributes.
fn walk(bytes: &(impl Bytes + ?Sized), way: Way) -> (u64, u64) {
    let checksums = match way {
        Way::WithoutChecksums => Checksums::Ignored,
        _ => Checksums::Verified,
    };
    let volume = Volume::open_with(bytes, checksums).expect("ext4");
    let (mut entries, mut sum) = (0, 0_u64);
    let mut scratch = DirectoryScratch::new();
    let mut waiting = vec![ROOT_INODE];
    while let Some(number) = waiting.pop() {
        let directory = volume.inode(number).expect("a sound image");
        let mut add = |inode: &Inode| {
            sum = sum
                .wrapping_add(inode.size_bytes())
                .wrapping_add(inode.allocated_bytes())
                .wrapping_add(u64::from(inode.links()))
                .wrapping_add(inode.mtime().unix_ns() as u64)
                .wrapping_add(u64::from(inode.uid()));
        };
        let outcome = if matches!(way, Way::NamesOnly | Way::OneByOne) {
            volume.read_directory(&directory, &mut scratch, |entry| {
                entries += 1;
                if entry.kind == FileType::Directory {
                    waiting.push(entry.inode);
                }
                if way == Way::OneByOne || entry.kind == FileType::Directory {
                    add(&volume.inode(entry.inode).expect("a sound image"));
                }
            })
        } else {
            volume.read_directory_and_inodes(&directory, &mut scratch, |entry, inode| {
                entries += 1;
                let inode = inode.expect("a sound image");
                if entry.kind == FileType::Directory {
                    waiting.push(entry.inode);
                }
                add(inode);
            })
        };
        outcome.expect("a sound image");
    }
    (entries, sum)
}
