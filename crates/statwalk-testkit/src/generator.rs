// SPDX-License-Identifier: MIT OR Apache-2.0

//! Big trees for tests: as many entries as asked, the same for the same seed, without a model in memory.
//!
//! Small trees with an answer for every entry are [`crate::model`]'s; corpora of
//! the benchmarks are made in `bench/`.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, Mode, OFlags};

use crate::model::{EntryType, Totals, write_data};
use crate::random::Random;

/// The shape of a big tree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shape {
    /// All names, the root included; exactly so many are made.
    pub entries: u64,
    /// Sub-directories of a directory, at least 2; the last ones have fewer.
    pub branching: u64,
    /// Entries of a directory that are not directories, on average.
    pub files_per_directory: u64,
    /// The share of these that are further names of a file, 0 to 1.
    pub hard_link_share: f64,
    /// The share of these that are symbolic links, 0 to 1.
    pub symlink_share: f64,
    /// The share of files that have data (up to 16 KiB); the others are holes of up to 16 MiB.
    pub data_share: f64,
}

impl Default for Shape {
    fn default() -> Self {
        Shape {
            entries: 10_000,
            branching: 8,
            files_per_directory: 12,
            hard_link_share: 0.03,
            symlink_share: 0.02,
            data_share: 0.05,
        }
    }
}

/// Makes a tree in `dir`, which must not exist.
///
/// The same seed and shape make the same names, types, sizes and links.
///
/// # Errors
///
/// The first failing call; the entries made before stay.
pub fn generate(dir: &Path, seed: u64, shape: &Shape) -> io::Result<Totals> {
    std::fs::create_dir(dir)?;
    let root = OwnedFd::from(File::open(dir)?);
    let directories = (shape.entries / (shape.files_per_directory + 1)).max(1);
    let mut generator = Generator {
        random: Random::new(seed),
        shape: *shape,
        root: root.try_clone()?,
        totals: Totals::default(),
        directories,
        directories_done: 0,
        files_left: shape.entries.saturating_sub(directories),
        linkable: VecDeque::new(),
    };
    // The directories are the nodes of a complete tree, numbered as in a heap:
    // those of `n` are `n * branching + 1` and following. With at least two
    // branches there are few levels, so every path is short.
    let mut pending = vec![(0, String::new())];
    while let Some((number, path)) = pending.pop() {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = rustix::fs::openat(&root, format!("./{path}"), flags, Mode::empty())?;
        generator.fill(&directory, &path)?;
        let first = number * shape.branching.max(2) + 1;
        for child in first..(first + shape.branching.max(2)).min(directories) {
            let name = format!("d{child:x}");
            rustix::fs::mkdirat(&directory, &name, Mode::from_raw_mode(0o755))?;
            pending.push((child, format!("{path}{name}/")));
        }
    }
    Ok(generator.totals)
}

struct Generator {
    random: Random,
    shape: Shape,
    root: OwnedFd,
    totals: Totals,
    directories: u64,
    directories_done: u64,
    files_left: u64,
    /// Paths of the last files, and how many more names each may get.
    linkable: VecDeque<(String, u32)>,
}

impl Generator {
    /// Makes everything in one directory that is not a directory.
    fn fill(&mut self, directory: &OwnedFd, path: &str) -> io::Result<()> {
        self.totals.count_name(EntryType::Directory);
        self.directories_done += 1;
        let directories_left = self.directories - self.directories_done;
        let count = match directories_left {
            0 => self.files_left,
            // From none to twice the mean of what is left: the mean holds, and the last gets no heap.
            _ => self
                .random
                .below(2 * self.files_left / (directories_left + 1) + 1),
        };
        let count = count.min(self.files_left);
        self.files_left -= count;
        for number in 0..count {
            self.make_one(directory.as_fd(), path, number)?;
        }
        Ok(())
    }

    fn make_one(&mut self, directory: impl AsFd, path: &str, number: u64) -> io::Result<()> {
        let kind = self.random.share();
        let name = format!("{:04x}-{number}", self.random.below(1 << 16));
        if kind < self.shape.symlink_share {
            let target = format!("../{name}");
            rustix::fs::symlinkat(&target, directory, &name)?;
            self.totals.count_name(EntryType::Symlink);
            self.totals
                .count_bytes(EntryType::Symlink, target.len() as u64);
            return Ok(());
        }
        if kind < self.shape.symlink_share + self.shape.hard_link_share && !self.linkable.is_empty()
        {
            let chosen = self.random.below(self.linkable.len() as u64) as usize;
            let (first_name, left) = &mut self.linkable[chosen];
            rustix::fs::linkat(&self.root, &*first_name, directory, &name, AtFlags::empty())?;
            *left -= 1;
            if *left == 0 {
                self.linkable.remove(chosen);
            }
            self.totals.count_name(EntryType::File);
            self.totals.extra_hard_links += 1;
            return Ok(());
        }

        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(0o644);
        let mut file = File::from(rustix::fs::openat(directory, &name, flags, mode)?);
        let size_bytes = if self.random.share() < self.shape.data_share {
            let size_bytes = self.random.below(16 << 10);
            write_data(&mut file, size_bytes)?;
            size_bytes
        } else {
            // Few large, many small, some empty.
            let size_bytes = (16 << 20) >> self.random.below(26);
            file.set_len(size_bytes)?;
            size_bytes
        };
        self.totals.count_name(EntryType::File);
        self.totals.count_bytes(EntryType::File, size_bytes);
        const LINKABLE_MAX: usize = 64;
        const NAMES_MAX: u32 = 1_000;
        if self.linkable.len() == LINKABLE_MAX {
            self.linkable.pop_front();
        }
        self.linkable
            .push_back((format!("{path}{name}"), NAMES_MAX));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::naive;
    use crate::scratch::Scratch;

    #[test]
    fn the_tree_is_what_was_asked_and_what_was_told() {
        let scratch = Scratch::new().unwrap();
        for (number, entries) in [1, 2, 13, 14, 5_000].into_iter().enumerate() {
            let dir = scratch.path().join(number.to_string());
            let shape = Shape {
                entries,
                hard_link_share: 0.2,
                ..Shape::default()
            };
            let told = generate(&dir, 7, &shape).unwrap();
            assert_eq!(told.entries, entries);
            assert_eq!(naive::scan(&dir).unwrap().total().totals(), told);
            if entries == 5_000 {
                assert!(
                    told.extra_hard_links > 500 && told.symlinks > 50,
                    "{told:?}"
                );
                assert!(told.dirs > 300, "{told:?}");
            }
        }
    }

    #[test]
    fn the_seed_decides() {
        let scratch = Scratch::new().unwrap();
        let scan = |name: &str, seed| {
            let dir = scratch.path().join(name);
            generate(
                &dir,
                seed,
                &Shape {
                    entries: 2_000,
                    ..Shape::default()
                },
            )
            .unwrap();
            let report = naive::scan(&dir).unwrap();
            (report.relative_entries(0), report.total().totals())
        };
        let first = scan("first", 1);
        assert_eq!(scan("again", 1), first);
        assert_ne!(scan("other", 2), first);
    }
}
