// SPDX-License-Identifier: MIT OR Apache-2.0

//! Somebody who mounts and unmounts while the user works: bind mounts of directories and of
//! files, a file system in memory, and an overlay.
//!
//! Each file system is mounted at a parking place, too, which no tree holds. Pictures are
//! taken there: what a mount covers is in them, and what was unmounted. A mount is known by
//! its descriptor, so it goes wherever it has moved, and with this value, after a panic too.

use std::fs;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::CWD;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags,
    fsconfig_create, fsconfig_set_string, fsmount, fsopen, move_mount, open_tree, unmount,
};

use super::Ground;
use super::forest::{Forest, is_data};
use super::picture::{Kind, Picture, Thing};
use crate::{Random, remove_tree};

/// So many mounts are there at once.
const MOUNTS_MAX: usize = 4;

/// The names in the root of a new file system: some are those of the trees.
const NAMES: [&str; 6] = ["f0", "f1", "s0", "data", "x", "new"];

/// A mount that goes with this value.
pub(super) struct Mount {
    open: OwnedFd,
}

impl Mount {
    /// Mounts what lies at a path at another one of the same kind. No link is followed at
    /// the end of either.
    pub(super) fn bind(source: &Path, at: &Path, with_mounts: bool) -> Option<Mount> {
        let mut flags = OpenTreeFlags::OPEN_TREE_CLONE
            | OpenTreeFlags::OPEN_TREE_CLOEXEC
            | OpenTreeFlags::AT_SYMLINK_NOFOLLOW;
        if with_mounts {
            flags |= OpenTreeFlags::AT_RECURSIVE;
        }
        Mount::attach(open_tree(CWD, source, flags).ok()?, at)
    }

    fn new(file_system: &str, options: &[(&str, &Path)], at: &Path) -> Option<Mount> {
        let open = fsopen(file_system, FsOpenFlags::FSOPEN_CLOEXEC).ok()?;
        for (key, path) in options {
            fsconfig_set_string(&open, *key, *path).ok()?;
        }
        fsconfig_create(&open).ok()?;
        let flags = FsMountFlags::FSMOUNT_CLOEXEC;
        let open = fsmount(&open, flags, MountAttrFlags::empty()).ok()?;
        Mount::attach(open, at)
    }

    fn attach(open: OwnedFd, at: &Path) -> Option<Mount> {
        let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
        move_mount(&open, c"", CWD, at, flags).ok()?;
        Some(Mount { open })
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let place = format!("/proc/self/fd/{}", self.open.as_raw_fd());
        // The path leads to the uppermost of those that lie on it; the last is the own one. One
        // that lay on another may have gone with it.
        while unmount(&place, UnmountFlags::DETACH).is_ok() {}
    }
}

/// A file system at its parking place.
struct Parked {
    _mount: Mount,
    point: PathBuf,
    device: u64,
}

/// The mounts of a trial.
pub(super) struct Mounter {
    /// Those on the trees. They go before those that they show.
    mounts: Vec<Mount>,
    /// In memory, and the overlay.
    parked: [Parked; 2],
    /// The trees without what is mounted there.
    trees: Parked,
    /// The path of the trees in their file system.
    trees_inside: PathBuf,
}

impl Mounter {
    /// Makes the file systems, and has the forest pictured at the parking places.
    pub(super) fn begin(forest: &mut Forest, random: &mut Random) -> Mounter {
        let ground = &forest.ground;
        let park = ground.home.join("park");
        let place = |name: &str| {
            let point = park.join(name);
            fs::create_dir_all(&point).unwrap();
            point
        };
        let parked = |mount: Option<Mount>, point: PathBuf| {
            let mount = mount.unwrap_or_else(|| panic!("cannot mount {}", point.display()));
            let device = fs::metadata(&point).unwrap().dev();
            Parked {
                _mount: mount,
                point,
                device,
            }
        };
        let point = place("trees");
        let trees = parked(Mount::bind(&ground.trees, &point, false), point);
        let point = place("memory");
        let memory = parked(Mount::new("tmpfs", &[], &point), point);
        fill(&memory.point, random);
        let point = place("overlay");
        let overlay = parked(new_overlay(ground, &point, random), point);
        forest.views = vec![
            (trees.point.clone(), ground.trees.clone()),
            (memory.point.clone(), memory.point.clone()),
            (overlay.point.clone(), overlay.point.clone()),
        ];
        let table = table();
        let inside = table.iter().find(|line| line.point == trees.point);
        let inside = inside.expect("it was mounted just now");
        Mounter {
            trees_inside: inside.root.clone(),
            mounts: Vec::new(),
            parked: [memory, overlay],
            trees,
        }
    }

    /// Mounts something, more often at the given paths or below, or unmounts. Answers with a
    /// sentence; absent where nothing happened.
    pub(super) fn act(
        &mut self,
        forest: &Forest,
        near: &[PathBuf],
        random: &mut Random,
    ) -> Option<String> {
        if self.mounts.len() >= MOUNTS_MAX || !self.mounts.is_empty() && random.one_in(3) {
            let index = random.below(self.mounts.len() as u64) as usize;
            drop(self.mounts.swap_remove(index));
            return Some(format!("unmount {index}"));
        }
        let at = target(forest, near, random)?;
        let source = source(forest, &self.points(), &at, random)?;
        let with_mounts = random.one_in(4);
        self.mounts.push(Mount::bind(&source, &at, with_mounts)?);
        Some(format!("mount {} on {}", source.display(), at.display()))
    }

    /// The parking places of the file systems of the trial.
    pub(super) fn points(&self) -> Vec<PathBuf> {
        self.parked
            .iter()
            .map(|parked| parked.point.clone())
            .collect()
    }

    /// Whether an entry lies on the overlay, which moves no directory of a lower layer.
    pub(super) fn is_on_overlay(&self, thing: &Thing) -> bool {
        thing.device == self.parked[1].device
    }

    /// The mounts on the trees now.
    pub(super) fn covers(&self, forest: &Forest) -> Vec<Cover> {
        let table = table();
        let lines = table.iter();
        let lines = lines.filter(|line| line.point.starts_with(&forest.ground.trees));
        let cover = |line: &Line| {
            let parent = table.iter().find(|parent| parent.id == line.parent)?;
            let below = line.point.strip_prefix(&parent.point).ok()?;
            let inside = parent.root.join(below);
            let parked = self.parked.iter().find(|own| own.device == parent.device);
            let hidden = match parked {
                Some(parked) => parked.point.join(inside.strip_prefix("/").ok()?),
                None if parent.device == self.trees.device => {
                    let below = inside.strip_prefix(&self.trees_inside).ok()?;
                    forest.ground.trees.join(below)
                }
                None => return None,
            };
            let (id, point) = (line.id, line.point.clone());
            Some(Cover { id, point, hidden })
        };
        lines.filter_map(cover).collect()
    }
}

/// A mount on the trees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cover {
    pub(super) id: u64,
    /// Its path as everybody sees it.
    pub(super) point: PathBuf,
    /// The path in pictures of the entry that it covers.
    pub(super) hidden: PathBuf,
}

/// A place for a mount: often a marked item, a directory above, or an entry below.
pub(super) fn target(forest: &Forest, near: &[PathBuf], random: &mut Random) -> Option<PathBuf> {
    let top = match near.is_empty() || random.one_in(4) {
        true if random.one_in(12) => return Some(forest.root.clone()),
        true => forest.root.clone(),
        false => {
            let path = random.pick(near);
            let above = path.ancestors().take_while(|path| **path != forest.root);
            let above: Vec<&Path> = above.collect();
            if random.one_in(4) {
                return (!above.is_empty()).then(|| (*random.pick(&above)).to_owned());
            }
            path.clone()
        }
    };
    let picture = Picture::of(&top);
    let paths = picture.things.keys().filter(|path| !is_data(path));
    let paths: Vec<&PathBuf> = paths.collect();
    (!paths.is_empty()).then(|| (*random.pick(&paths)).clone())
}

/// Something of the same kind that can be mounted at a path: the twin, another entry of the
/// trees, the path itself, or a part of another file system.
pub(super) fn source(
    forest: &Forest,
    points: &[PathBuf],
    at: &Path,
    random: &mut Random,
) -> Option<PathBuf> {
    let kind = Thing::at(at)?.kind;
    matches!(kind, Kind::Directory | Kind::File).then_some(())?;
    let top = match random.below(6) {
        0 => return Some(at.to_owned()),
        1 => forest.root.clone(),
        2 => {
            let twin = forest.outside.join(at.strip_prefix(&forest.root).ok()?);
            let is_fit = Thing::at(&twin).is_some_and(|thing| thing.kind == kind);
            match is_fit {
                true => return Some(twin),
                false => forest.outside.clone(),
            }
        }
        _ => {
            let point = random.pick(points).clone();
            if kind == Kind::Directory && random.one_in(2) {
                return Some(point);
            }
            point
        }
    };
    let picture = Picture::of(&top);
    let things = picture.things.iter();
    let things = things.filter(|(path, thing)| thing.kind == kind && !is_data(path));
    let paths: Vec<&PathBuf> = things.map(|(path, _)| path).collect();
    (!paths.is_empty()).then(|| (*random.pick(&paths)).clone())
}

fn new_overlay(ground: &Ground, at: &Path, random: &mut Random) -> Option<Mount> {
    let layers = ground.home.join("layers");
    if layers.exists() {
        remove_tree(&layers).unwrap();
    }
    let layer = |name: &str| {
        let layer = layers.join(name);
        fs::create_dir_all(&layer).unwrap();
        layer
    };
    let [lower, upper, work] = ["lower", "upper", "work"].map(layer);
    for layer in [&lower, &upper] {
        fill(layer, random);
    }
    let options = [
        ("lowerdir", lower.as_path()),
        ("upperdir", upper.as_path()),
        ("workdir", work.as_path()),
    ];
    Mount::new("overlay", &options, at)
}

fn fill(top: &Path, random: &mut Random) {
    for name in NAMES {
        let path = top.join(name);
        match name.starts_with('f') {
            _ if random.one_in(4) => {}
            true => fs::write(&path, name).unwrap(),
            false => {
                fs::create_dir(&path).unwrap();
                for file in 0..random.below(4) {
                    fs::write(path.join(format!("f{file}")), name).unwrap();
                }
            }
        }
    }
}

/// The mount points below a directory.
pub(super) fn points_below(directory: &Path) -> Vec<PathBuf> {
    let points = table().into_iter().map(|line| line.point);
    points
        .filter(|point| point.starts_with(directory))
        .collect()
}

/// A line of the mount table.
struct Line {
    id: u64,
    parent: u64,
    device: u64,
    root: PathBuf,
    point: PathBuf,
}

/// The mount table of this process (proc_pid_mountinfo(5)).
fn table() -> Vec<Line> {
    let text = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let line = |line: &str| {
        let mut fields = line.split(' ');
        let (id, parent) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
        let (major, minor) = fields.next()?.split_once(':')?;
        let device = rustix::fs::makedev(major.parse().ok()?, minor.parse().ok()?);
        let mut path = || Some(PathBuf::from(fields.next()?.replace("\\040", " ")));
        let (root, point) = (path()?, path()?);
        Some(Line {
            id,
            parent,
            device,
            root,
            point,
        })
    };
    text.lines().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

    use super::*;
    use crate::removal_trial::Focus;
    use crate::{Scratch, or_skip};

    #[test]
    fn nothing_is_mounted_after_a_panic() {
        or_skip!(Focus::Mounts.check());
        let scratch = Scratch::new().unwrap();
        let ground = Ground::new(scratch.path(), Focus::Mounts);
        let mut random = Random::new(1);
        fs::create_dir(&ground.trees).unwrap();
        Forest::plant(&ground, &mut random);
        let (mut most, mut covered) = (0, 0);
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let mut forest = Forest::of(&ground);
            let mut mounter = Mounter::begin(&mut forest, &mut random);
            let before = forest.picture();
            for _ in 0..60 {
                mounter.act(&forest, &[], &mut random);
                most = most.max(points_below(&ground.trees).len());
                covered += mounter.covers(&forest).len();
            }
            // No mount hides anything from a picture.
            assert_eq!(forest.picture().things, before.things);
            resume_unwind(Box::new("an end"));
        }));
        assert_eq!(outcome.unwrap_err().downcast_ref(), Some(&"an end"));
        assert!(most > 1 && covered > 0, "{most} {covered}");
        assert_eq!(points_below(scratch.path()), Vec::<PathBuf>::new());
    }
}
