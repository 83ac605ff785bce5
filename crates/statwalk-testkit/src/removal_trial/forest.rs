// SPDX-License-Identifier: MIT OR Apache-2.0

//! The trees of a trial: the one of the browser, another with the same names, and a place
//! for what was moved aside.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::picture::Picture;
use super::{DATA, Ground};
use crate::{Random, remove_tree};

/// Paths of a trial.
pub(super) struct Forest {
    pub(super) ground: Ground,
    pub(super) root: PathBuf,
    pub(super) outside: PathBuf,
    pub(super) aside: PathBuf,
    /// The directories that pictures are taken of, and the paths that these have there.
    pub(super) views: Vec<(PathBuf, PathBuf)>,
}

/// The user's number follows (FreeDesktop.org Trash specification).
const TRASH_OF_A_MOUNT: &[u8] = b".Trash-";

const NAMES: [&str; 6] = ["cache", "data", "old", "x", "a b", "-rf"];

impl Forest {
    pub(super) fn of(ground: &Ground) -> Forest {
        Forest {
            root: ground.root(),
            outside: ground.trees.join("outside"),
            aside: ground.trees.join("aside"),
            views: vec![(ground.trees.clone(), ground.trees.clone())],
            ground: ground.clone(),
        }
    }

    /// Makes the trees, and empties the trash of an earlier trial.
    pub(super) fn plant(ground: &Ground, random: &mut Random) {
        let forest = Forest::of(ground);
        let trash = ground.trash();
        if trash.exists() {
            remove_tree(&trash).unwrap();
        }
        let seed = random.next();
        for top in [&forest.root, &forest.outside] {
            // The same names in both.
            let mut random = Random::new(seed);
            fs::create_dir(top).unwrap();
            match random.below(3) {
                0 => wide(top, &mut random),
                1 => deep(top, &mut random, 3),
                _ => heavy(top, &mut random),
            }
        }
        fs::create_dir(&forest.aside).unwrap();
    }

    /// A picture of all trees, without the trash.
    pub(super) fn picture(&self) -> Picture {
        let mut picture = self.whole();
        picture.things.retain(|path, _| !is_data(path));
        picture
    }

    /// A picture of all trees, and of the trash.
    pub(super) fn picture_with_trash(&self) -> Picture {
        let mut picture = self.whole();
        picture.add(&self.ground.trash().join("files"));
        picture
    }

    /// The same, with what lies in a trash there.
    pub(super) fn whole(&self) -> Picture {
        let mut picture = Picture::default();
        for (view, point) in &self.views {
            picture.add_view(view, point);
        }
        picture
    }
}

/// Whether a path is that of a directory of data in a tree, or of the trash of a mount, or
/// below one.
pub(super) fn is_data(path: &Path) -> bool {
    path.components().any(|part| {
        let name = part.as_os_str();
        name == DATA || name.as_bytes().starts_with(TRASH_OF_A_MOUNT)
    })
}

fn file(path: &Path, random: &mut Random) {
    let length = random.below(3) * 5000 + random.below(100);
    fs::write(path, vec![b'x'; length as usize]).unwrap();
}

/// Many directories with few in each, so that a number means another one in each scan.
fn wide(top: &Path, random: &mut Random) {
    for dir in 0..6 + random.below(18) {
        let dir = top.join(format!("d{dir:02}"));
        fs::create_dir(&dir).unwrap();
        for sub in 0..random.below(8) {
            let sub = dir.join(format!("s{sub}"));
            fs::create_dir(&sub).unwrap();
            if random.one_in(3) {
                file(&sub.join("f0"), random);
            }
        }
        for number in 0..random.below(3) {
            file(&dir.join(format!("f{number}")), random);
        }
    }
}

/// The same names on each level.
fn deep(top: &Path, random: &mut Random, levels: u32) {
    for name in NAMES {
        let path = top.join(name);
        match random.below(5) {
            0 => {}
            1 | 2 if levels > 0 => {
                fs::create_dir(&path).unwrap();
                deep(&path, random, levels - 1);
            }
            3 => std::os::unix::fs::symlink("data", &path).unwrap(),
            _ => file(&path, random),
        }
    }
}

/// Few directories with many files, which take a while to go.
fn heavy(top: &Path, random: &mut Random) {
    for name in NAMES {
        let dir = top.join(name);
        fs::create_dir(&dir).unwrap();
        for sub in NAMES.iter().take(random.below(4) as usize) {
            let sub = dir.join(sub);
            fs::create_dir(&sub).unwrap();
            for number in 0..random.below(40) {
                file(&sub.join(format!("f{number}")), random);
            }
        }
    }
}
