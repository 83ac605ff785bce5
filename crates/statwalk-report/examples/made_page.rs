// SPDX-License-Identifier: MIT OR Apache-2.0

//! Writes the report of a made tree, which no disk has to hold: for measurements of pages.
//!
//! ```text
//! cargo run --release -p statwalk-report --example made_page -- ENTRIES DETAIL FILE
//! ```
//!
//! DETAIL is a number of nodes, or `full`. The same arguments give the same bytes.
//! `bench/pages` opens such pages in a browser.

use std::borrow::Cow;
use std::error::Error;
use std::fs::File;
use std::io::Write;

use statwalk_report::{
    AgeGroup, Answer, Category, Choice, Detail, Ending, Groups, NONE, Names, Owner, ReportTree,
    Sums, Totals, html,
};
use statwalk_view::{Figures, Kind, Tree};

/// 2026-11-20 12:00 UTC.
const NOW_S: i64 = 1_795_176_000;
const DAY_S: i64 = 86_400;
/// The bytes of a directory itself for so many entries.
const DIRECTORY_BYTES: u64 = 4096;
const ENTRIES_OF_A_BLOCK: u64 = 100;

const CATEGORIES: [(&str, &str); 8] = [
    ("video", "mkv"),
    ("archive", "tar.gz"),
    ("image", "jpg"),
    ("object", "so"),
    ("source", "rs"),
    ("document", "pdf"),
    ("log", "log"),
    ("data", "csv"),
];
const NOT_FILES: u8 = CATEGORIES.len() as u8;
const OWNERS: [&str; 5] = ["root", "kim", "postgres", "build", "climate"];
const WORDS: [&str; 16] = [
    "data", "lib", "share", "build", "runs", "photos", "cache", "src", "backup", "logs", "models",
    "mail", "climate", "projects", "target", "dist",
];

/// Random numbers that are the same in each run (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// From 0 to 1.
    fn part(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// An entry. The children of a directory stand together, behind it.
struct Entry {
    first_child: u32,
    child_count: u32,
    is_dir: bool,
    category: u8,
    owner: u8,
    newest_s: i64,
    allocated_bytes: u64,
    apparent_bytes: u64,
    entries: u64,
}

/// A tree of entries. Node `n` below their number is an entry, and `n` plus their number are
/// the bytes of a directory itself.
struct MadeTree {
    entries: Vec<Entry>,
}

impl MadeTree {
    fn new(entry_count: usize) -> MadeTree {
        let mut random = Random(7);
        let mut entries = vec![directory(0, 3)];
        // Larger files below some directories than below others.
        let mut scales = vec![24.0_f64];
        let mut at = 0;
        while entries.len() < entry_count {
            let (owner, mood, scale) = (entries[at].owner, entries[at].category, scales[at]);
            let is_last = at + 1 == entries.len();
            if entries[at].is_dir {
                let files = match random.below(2_000) {
                    0 => 50_000,
                    1..20 => 3_000,
                    _ => random.below(24),
                };
                let directories = random.below(6) + u64::from(is_last);
                let room = (entry_count - entries.len()) as u64;
                entries[at].first_child = entries.len() as u32;
                entries[at].child_count = (files + directories).min(room) as u32;
                for number in 0..u64::from(entries[at].child_count) {
                    let mut entry = match number < directories {
                        true => directory(owner, mood),
                        false => file(owner, mood, scale, &mut random),
                    };
                    if random.below(7) == 0 && entry.is_dir {
                        entry.owner = random.below(OWNERS.len() as u64) as u8;
                        entry.category = random.below(CATEGORIES.len() as u64) as u8;
                    }
                    scales.push(scale * (0.4 + random.part() * 1.2));
                    entries.push(entry);
                }
            }
            at += 1;
        }
        let mut tree = MadeTree { entries };
        tree.sum();
        tree
    }

    fn sum(&mut self) {
        for at in (0..self.entries.len()).rev() {
            if !self.entries[at].is_dir {
                continue;
            }
            let own = own_bytes(&self.entries[at]);
            let (mut allocated, mut apparent, mut entries, mut newest) = (own, own, 1, i64::MIN);
            let first = self.entries[at].first_child as usize;
            for child in &self.entries[first..first + self.entries[at].child_count as usize] {
                allocated += child.allocated_bytes;
                apparent += child.apparent_bytes;
                entries += child.entries;
                newest = newest.max(child.newest_s);
            }
            let entry = &mut self.entries[at];
            (entry.allocated_bytes, entry.apparent_bytes) = (allocated, apparent);
            (entry.entries, entry.newest_s) = (entries, newest);
        }
    }

    /// The entry of a node, where it is one.
    fn entry(&self, node: usize) -> Result<&Entry, &Entry> {
        match self.entries.get(node) {
            Some(entry) => Ok(entry),
            None => Err(&self.entries[node - self.entries.len()]),
        }
    }

    fn answer(&self) -> Answer {
        let mut categories = [Sums::default(); CATEGORIES.len()];
        let mut owners = [Sums::default(); OWNERS.len()];
        let (mut not_files, mut all) = (Sums::default(), Sums::default());
        for entry in &self.entries {
            let (allocated, apparent) = match entry.is_dir {
                true => (own_bytes(entry), own_bytes(entry)),
                false => (entry.allocated_bytes, entry.apparent_bytes),
            };
            let group = match entry.is_dir {
                true => &mut not_files,
                false => &mut categories[usize::from(entry.category)],
            };
            for sums in [group, &mut owners[usize::from(entry.owner)], &mut all] {
                sums.allocated_bytes += u128::from(allocated);
                sums.apparent_bytes += u128::from(apparent);
                sums.entries += 1;
            }
        }
        let named = CATEGORIES.iter().zip(categories);
        let category = |key: &str, sums| Category {
            key: key.to_owned(),
            label: key.to_owned(),
            sums,
        };
        let group = |label: &str, is_not_files, sums| AgeGroup {
            label: label.to_owned(),
            from_s: None,
            to_s: None,
            is_not_files,
            sums,
        };
        let mut files = all;
        files.allocated_bytes -= not_files.allocated_bytes;
        files.apparent_bytes -= not_files.apparent_bytes;
        files.entries -= not_files.entries;
        Answer {
            program: concat!("statwalk ", env!("CARGO_PKG_VERSION")).to_owned(),
            roots: vec![b"/srv".to_vec()],
            host: b"made".to_vec(),
            time_ns: NOW_S * 1_000_000_000,
            totals: Totals {
                sums: all,
                files: files.entries,
                directories: not_files.entries,
                ..Totals::default()
            },
            categories: (named.clone().map(|(&(key, _), sums)| category(key, sums)))
                .chain([category("not_files", not_files)])
                .collect(),
            endings: (named.map(|(&(_, ending), sums)| Ending::Named(ending.to_owned(), sums)))
                .chain([Ending::NotFiles(not_files)])
                .collect(),
            owners: (0..)
                .zip(OWNERS.iter().zip(owners))
                .map(|(id, (name, sums))| Owner {
                    id: Some(id),
                    name: Some(name.as_bytes().to_vec()),
                    sums,
                })
                .collect(),
            ages: vec![
                group("files", false, files),
                group("directories", true, not_files),
            ],
            ..Answer::default()
        }
    }
}

fn directory(owner: u8, mood: u8) -> Entry {
    Entry {
        first_child: 0,
        child_count: 0,
        is_dir: true,
        category: mood,
        owner,
        newest_s: i64::MIN,
        allocated_bytes: 0,
        apparent_bytes: 0,
        entries: 1,
    }
}

fn file(owner: u8, mood: u8, scale: f64, random: &mut Random) -> Entry {
    let category = match random.below(10) {
        0..7 => mood,
        _ => random.below(CATEGORIES.len() as u64) as u8,
    };
    let blocks = (scale * (1.0 + (random.part() * 9.0).exp())) as u64;
    let days = (random.part() * 7.5).exp() as i64;
    Entry {
        is_dir: false,
        category,
        newest_s: NOW_S - days * DAY_S - random.below(DAY_S as u64).cast_signed(),
        allocated_bytes: blocks * 4096,
        apparent_bytes: (blocks * 4096).saturating_sub(random.below(4096)),
        ..directory(owner, mood)
    }
}

fn own_bytes(directory: &Entry) -> u64 {
    DIRECTORY_BYTES * (1 + u64::from(directory.child_count) / ENTRIES_OF_A_BLOCK)
}

impl Tree for MadeTree {
    type Node = usize;

    fn root(&self) -> usize {
        0
    }

    fn name(&self, node: usize) -> Cow<'_, [u8]> {
        let word = WORDS[Random(node as u64).below(WORDS.len() as u64) as usize];
        let name = match self.entry(node) {
            Err(_) => String::new(),
            Ok(_) if node == 0 => "/srv".to_owned(),
            Ok(entry) if entry.is_dir => format!("{word}-{node}"),
            Ok(entry) => format!(
                "{word}-{node}.{}",
                CATEGORIES[usize::from(entry.category)].1
            ),
        };
        Cow::Owned(name.into_bytes())
    }

    fn kind(&self, node: usize) -> Kind {
        match self.entry(node) {
            Ok(entry) if entry.is_dir => Kind::Directory,
            Ok(_) => Kind::File,
            Err(_) => Kind::Itself,
        }
    }

    fn figures(&self, node: usize) -> Figures {
        match self.entry(node) {
            Ok(entry) => Figures {
                allocated_bytes: entry.allocated_bytes.into(),
                apparent_bytes: entry.apparent_bytes.into(),
                entries: entry.entries,
                newest_mtime_ns: (entry.newest_s != i64::MIN)
                    .then_some(entry.newest_s.saturating_mul(1_000_000_000)),
                incomplete: false,
            },
            Err(directory) => Figures {
                allocated_bytes: own_bytes(directory).into(),
                apparent_bytes: own_bytes(directory).into(),
                ..Figures::default()
            },
        }
    }

    fn for_each_child(&self, node: usize, mut each: impl FnMut(u128, usize)) {
        let Some(directory) = self.entry(node).ok().filter(|entry| entry.is_dir) else {
            return;
        };
        let first = directory.first_child as usize;
        for child in first..first + directory.child_count as usize {
            each(self.entries[child].allocated_bytes.into(), child);
        }
        each(own_bytes(directory).into(), self.entries.len() + node);
    }
}

impl ReportTree for MadeTree {
    fn groups(&self, node: usize) -> Groups {
        let (Ok(entry) | Err(entry)) = self.entry(node);
        let (category, ending) = match self.kind(node) {
            Kind::Directory => (NONE, NONE),
            Kind::File => (entry.category, entry.category),
            _ => (NOT_FILES, NONE),
        };
        Groups {
            owner: entry.owner.into(),
            category,
            ending,
        }
    }

    fn ending(&self, node: usize) -> Cow<'_, [u8]> {
        let ending = match self.entry(node) {
            Ok(entry) if !entry.is_dir => CATEGORIES[usize::from(entry.category)].1,
            _ => "",
        };
        Cow::Borrowed(ending.as_bytes())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [entries, detail, file] = &words[..] else {
        return Err("made_page ENTRIES DETAIL FILE".into());
    };
    let detail = match &detail[..] {
        "full" => Detail::Full,
        number => Detail::Nodes(number.parse()?),
    };
    let tree = MadeTree::new(entries.parse()?);
    let (choice, answer) = Choice::beside(&tree, detail, Names::Original, || tree.answer());
    let page = html(&answer, &tree, choice);
    let mut file = File::create(file)?;
    for piece in page.pieces() {
        file.write_all(piece)?;
    }
    Ok(())
}
