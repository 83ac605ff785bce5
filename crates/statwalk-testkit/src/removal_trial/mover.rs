// SPDX-License-Identifier: MIT OR Apache-2.0

//! Somebody who moves things while the user works. It removes nothing, so that an inode
//! number that is gone was removed by the browser.

use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;

use rustix::fs::{CWD, Mode, OFlags, RenameFlags, ResolveFlags, openat2, renameat_with};

use super::forest::{Forest, is_data};
use super::mounter::{self, Mount};
use super::name;
use super::picture::Kind;
use crate::Random;

/// A storm mounts at so many places.
const STORM_PLACES: u64 = 8;

/// Somebody who moves one thing at a time.
#[derive(Default)]
pub(super) struct Mover {
    count: u64,
}

impl Mover {
    /// Moves something, more often near the given paths. Answers with a sentence; absent
    /// where nothing was moved.
    pub(super) fn act(
        &mut self,
        forest: &Forest,
        near: &[PathBuf],
        random: &mut Random,
    ) -> Option<String> {
        self.count += 1;
        let number = self.count;
        let root = &forest.root;
        let path = self.target(forest, near, random)?;
        let below = path.strip_prefix(root).ok()?.to_owned();
        let twin = forest.outside.join(&below);
        let short = |path: &Path| path.strip_prefix(&forest.ground.trees).map(Path::to_owned);
        let told = |what: &str, other: &Path| {
            let (path, other) = (short(&path).ok()?, short(other).ok()?);
            Some(format!("{what} {} {}", path.display(), other.display()))
        };
        match random.below(9) {
            0 | 1 => {
                exchange(&path, &twin).ok()?;
                told("exchange", &twin)
            }
            2 => {
                let to = path.with_file_name(format!("n{number}"));
                fs::rename(&path, &to).ok()?;
                told("rename", &to)
            }
            3 => {
                let other = self.target(forest, near, random)?;
                let is_nested = other.starts_with(&path) || path.starts_with(&other);
                (!is_nested).then_some(())?;
                exchange(&path, &other).ok()?;
                told("exchange", &other)
            }
            4 | 5 => {
                // A link to something with the same names, within the tree or not.
                let to = match random.one_in(3) {
                    true => self.target(forest, near, random)?,
                    false => twin,
                };
                (!to.starts_with(&path)).then_some(())?;
                let away = forest.aside.join(format!("{number}"));
                fs::rename(&path, &away).ok()?;
                std::os::unix::fs::symlink(&to, &path).ok()?;
                told("replace by a link:", &to)
            }
            6 => {
                let dir = path.with_file_name(format!("a{number}"));
                fs::create_dir(&dir).ok()?;
                for file in 0..random.below(4) {
                    fs::write(dir.join(format!("f{file}")), "new").ok()?;
                }
                told("make beside", &dir)
            }
            7 => {
                let away = forest.aside.join(format!("{number}"));
                let is_dir = path.is_dir();
                fs::rename(&path, &away).ok()?;
                match (random.one_in(2), is_dir) {
                    (true, _) => {}
                    (false, true) => {
                        fs::create_dir(&path).ok()?;
                        fs::write(path.join("f0"), "another one").ok()?;
                    }
                    (false, false) => fs::write(&path, "another one").ok()?,
                }
                told("replace by a new one, or move aside", &away)
            }
            _ if random.one_in(4) => {
                exchange(root, &forest.outside).ok()?;
                Some("exchange the root".to_owned())
            }
            _ => {
                exchange(&path, &twin).ok()?;
                exchange(&path, &twin).ok()?;
                told("exchange and back", &twin)
            }
        }
    }

    fn target(&self, forest: &Forest, near: &[PathBuf], random: &mut Random) -> Option<PathBuf> {
        if !near.is_empty() && !random.one_in(4) {
            let path = random.pick(near);
            let above: Vec<&Path> = path.ancestors().collect();
            let below_root =
                |path: &&&Path| path.starts_with(&forest.root) && **path != forest.root;
            let above: Vec<&Path> = above.iter().filter(below_root).copied().collect();
            return (!above.is_empty()).then(|| (*random.pick(&above)).to_owned());
        }
        let picture = super::picture::Picture::of(&forest.root);
        let paths = picture.things.keys().skip(1);
        let paths: Vec<&PathBuf> = paths.filter(|path| !is_data(path)).collect();
        (!paths.is_empty()).then(|| (*random.pick(&paths)).clone())
    }
}

fn exchange(one: &Path, other: &Path) -> rustix::io::Result<()> {
    renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)
}

/// Somebody who exchanges confirmed items, and directories above them, with their twins, and
/// mounts on them and in them, for as long as it is there. Nothing comes into a confirmed
/// item.
pub(super) struct Storm {
    is_over: Arc<AtomicBool>,
    exchanges: Arc<AtomicU64>,
    mounts: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

impl Storm {
    /// `points` are directories of other file systems, if it mounts.
    pub(super) fn begin(
        forest: &Forest,
        confirmed: &[PathBuf],
        points: Option<Vec<PathBuf>>,
        seed: u64,
    ) -> Storm {
        let is_outermost = |path: &&PathBuf| {
            let mut others = confirmed.iter().filter(|other| other != path);
            !others.any(|other| path.starts_with(other))
        };
        let mut pairs = Vec::new();
        for path in confirmed.iter().filter(is_outermost) {
            for path in path.ancestors() {
                let Ok(below) = path.strip_prefix(&forest.root) else {
                    break;
                };
                if !below.as_os_str().is_empty() {
                    pairs.push((path.to_owned(), forest.outside.join(below)));
                }
            }
        }
        let is_over = Arc::new(AtomicBool::new(false));
        let exchanges = Arc::new(AtomicU64::new(0));
        let mounts = Arc::new(AtomicU64::new(0));
        let (over, count) = (Arc::clone(&is_over), Arc::clone(&exchanges));
        let mount_count = Arc::clone(&mounts);
        let mut random = Random::new(seed);
        let pairs_to_mount: Vec<(PathBuf, PathBuf)> = match &points {
            None => Vec::new(),
            Some(points) => (0..STORM_PLACES)
                .filter_map(|_| {
                    let at = mounter::target(forest, confirmed, &mut random)?;
                    let source = mounter::source(forest, points, &at, &mut random)?;
                    Some((source, at))
                })
                .collect(),
        };
        let thread = std::thread::spawn(move || {
            let mut mounted: Vec<Mount> = Vec::new();
            while !over.load(Ordering::Relaxed) && !pairs.is_empty() {
                if !pairs_to_mount.is_empty() && random.one_in(2) {
                    let (source, at) = random.pick(&pairs_to_mount);
                    match mounted.len() < 2 {
                        false => mounted.clear(),
                        true => mounted.extend(Mount::bind(source, at, false)),
                    }
                    mount_count.fetch_add(1, Ordering::Relaxed);
                }
                let (path, twin) = random.pick(&pairs);
                if exchange_without_links(path, twin).is_some() {
                    count.fetch_add(1, Ordering::Relaxed);
                }
                for _ in 0..random.below(2000) {
                    std::hint::spin_loop();
                }
            }
        });
        Storm {
            is_over,
            exchanges,
            mounts,
            thread: Some(thread),
        }
    }

    /// Ends it. Answers with the numbers of exchanges and of mounts.
    pub(super) fn end(mut self) -> (u64, u64) {
        self.stop();
        let count = |number: &AtomicU64| number.load(Ordering::Relaxed);
        (count(&self.exchanges), count(&self.mounts))
    }

    fn stop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

impl Drop for Storm {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A link above would bring something into a confirmed item.
fn exchange_without_links(one: &Path, other: &Path) -> Option<()> {
    let parent = |path: &Path| -> Option<OwnedFd> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let resolve = ResolveFlags::NO_SYMLINKS;
        openat2(CWD, path.parent()?, flags, Mode::empty(), resolve).ok()
    };
    let (above, above_other) = (parent(one)?, parent(other)?);
    let flags = RenameFlags::EXCHANGE;
    renameat_with(&above, name(one), &above_other, name(other), flags).ok()
}

/// Puts something new where an item was.
pub(super) fn occupy(path: &Path, kind: Kind) -> Option<()> {
    match kind {
        Kind::Directory => fs::create_dir(path).ok(),
        _ => fs::write(path, "in the way").ok(),
    }
}
