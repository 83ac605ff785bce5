// SPDX-License-Identifier: MIT OR Apache-2.0

//! Removals on an overlay, as every container has one.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use statwalk_remove::{
    Cause, End, Item, Manner, Monitor, Outcome, Refusal, Removal, Trash, restore,
};
use statwalk_testkit::mounts::{self, FileSystem, Mounted};
use statwalk_testkit::{Scratch, Skipped, or_skip};

use crate::harness::{bytes, causes, item, make, snapshot, surroundings};

/// An overlay of two lower directories, the upper one on another file system or not.
struct Overlay {
    mounted: Mounted,
    _other: Option<Mounted>,
    scratch: Scratch,
}

impl Overlay {
    fn new(is_on_other: bool, options: &str) -> Result<Overlay, Skipped> {
        let scratch = Scratch::new().unwrap();
        let [lower, lowest, upper, at] =
            ["lower", "lowest", "upper", "at"].map(|name| scratch.subdirectory(name).unwrap());
        let other = match is_on_other {
            true => Some(FileSystem::Tmpfs.mount(&upper)?),
            false => None,
        };
        let (files, work) = (upper.join("files"), upper.join("work"));
        fs::create_dir(&files).unwrap();
        fs::create_dir(&work).unwrap();
        make(
            &lower,
            &[
                "dir/a/f",
                "dir/a/s/g",
                "dir/b",
                "dir/empty/",
                "lone/x",
                "file",
            ],
        );
        make(&lowest, &["dir/a/low", "dir/low/er/f", "beside/f"]);
        symlink("b", lower.join("dir/link")).unwrap();
        fs::hard_link(lower.join("dir/b"), lower.join("dir/a/b")).unwrap();
        // Deeper than the levels that a removal keeps open, with files on each fifth.
        let mut deep = lower.join("dir/deep");
        for level in 0..150 {
            deep = deep.join("d");
            if level % 5 == 0 {
                make(&deep, &["f", "side/g"]);
            }
        }
        fs::create_dir_all(&deep).unwrap();
        let mounted = mounts::overlay_with(&at, &[&lower, &lowest], &files, &work, options)?;
        Ok(Overlay {
            mounted,
            _other: other,
            scratch,
        })
    }

    fn at(&self, name: &str) -> PathBuf {
        self.mounted.path().join(name)
    }

    fn trash(&self) -> Manner {
        let trash = make(&self.at("Trash"), &["files/", "info/"]);
        fs::set_permissions(&trash, PermissionsExt::from_mode(0o700)).unwrap();
        Manner::Trash(Trash::new(bytes(&trash)))
    }
}

const WAYS: [(bool, &str); 5] = [
    (false, ""),
    (true, ""),
    (true, ",xino=on"),
    (false, ",redirect_dir=on"),
    (true, ",redirect_dir=on,metacopy=on"),
];

fn act(items: Vec<Item>, manner: Manner) -> Outcome {
    Removal::new(items, manner, surroundings()).run(&Monitor::new())
}

/// In a container a directory of the image lost a part of its files and stayed: "another
/// process moved it". `rm -rf` removes it.
#[test]
fn a_directory_of_lower_layers_goes_whole() {
    for (is_on_other, options) in WAYS {
        for without_openat2 in [false, true] {
            let overlay = or_skip!(Overlay::new(is_on_other, options));
            // Partly copied up already, and with an opaque directory.
            make(&overlay.at("dir"), &["a/new", "low/er/new"]);
            fs::remove_file(overlay.at("dir/empty/..").join("a/f")).unwrap();
            statwalk_testkit::remove_tree(&overlay.at("dir/a/s")).unwrap();
            make(&overlay.at("dir/a/s"), &["again"]);
            let count = snapshot(&overlay.at("dir")).len() as u64 + 1;
            let items = vec![item(&overlay.at("dir"))];
            let mut removal = Removal::new(items, Manner::Permanent, surroundings());
            if without_openat2 {
                removal = removal.without_openat2();
            }
            let outcome = removal.run(&Monitor::new());
            assert_eq!(
                causes(&outcome),
                [],
                "{options} {:?}",
                outcome.failures.listed.first()
            );
            assert_eq!(outcome.items[0].end, End::Removed, "{options}");
            assert_eq!(outcome.entry_count, count, "{options}");
            assert!(!overlay.at("dir").exists() && overlay.at("beside/f").exists());
        }
    }
}

/// The kernel renames no directory of a lower layer, unless redirects are allowed.
#[test]
fn the_trash_takes_whole_items_of_an_overlay_or_nothing() {
    for (is_on_other, options) in WAYS {
        let overlay = or_skip!(Overlay::new(is_on_other, options));
        let manner = overlay.trash();
        let before = snapshot(&overlay.at("dir"));
        let items = ["dir", "lone", "file"].map(|name| item(&overlay.at(name)));
        let outcome = act(items.to_vec(), manner);
        let can_move = options.contains("redirect_dir");
        for (item, is_directory) in outcome.items.iter().zip([true, true, false]) {
            let expected = match can_move || !is_directory {
                true => End::Removed,
                false => End::Untouched,
            };
            assert_eq!(item.end, expected, "{options} {:?}", outcome.failures);
        }
        if !can_move {
            let path = bytes(&overlay.at("dir")).to_vec();
            let refusal = Refusal::LowerLayer { path };
            assert_eq!(causes(&outcome)[0], Cause::Refused(refusal));
            // Nothing is moved by half, and no line is left over.
            assert_eq!(snapshot(&overlay.at("Trash/info")).len(), 1);
        }
        for trashed in outcome
            .items
            .iter()
            .filter_map(|item| item.trashed.as_ref())
        {
            restore(trashed).unwrap();
        }
        assert_eq!(snapshot(&overlay.at("dir")), before, "{options}");
        assert!(overlay.at("lone/x").exists() && overlay.at("file").exists());
        assert_eq!(snapshot(&overlay.at("Trash/files")), []);
        assert_eq!(snapshot(&overlay.at("Trash/info")), []);
    }
}

/// A change copies a file up, and its copy is younger: it is the same item still.
#[test]
fn a_mark_knows_an_item_that_was_copied_up() {
    use statwalk_remove::{Known, Lookout, Root, Step};
    for (is_on_other, options) in WAYS {
        let overlay = or_skip!(Overlay::new(is_on_other, options));
        let root = Root::find(bytes(&overlay.at("dir")), false).unwrap();
        let steps = ["a", "low"].map(|name| Step {
            name: name.as_bytes().to_vec(),
            known: Known::default(),
        });
        let look = || {
            Lookout::default()
                .look(&root, Known::default(), &steps)
                .unwrap()
        };
        let marked = look();
        let mode = PermissionsExt::from_mode(0o600);
        fs::set_permissions(overlay.at("dir/a/low"), mode).unwrap();
        assert!(look().is_same_item(&marked), "{options}");
        let outcome = act(vec![look().into_item()], Manner::Permanent);
        assert_eq!(outcome.items[0].end, End::Removed);
        assert!(overlay.scratch.path().join("lowest/dir/a/low").exists());
    }
}
