// SPDX-License-Identifier: MIT OR Apache-2.0

//! The trash that items went to, and its place in the numbers.
//!
//! A move to the trash frees nothing. Where the scan has the trash, its row has the bytes
//! that other rows lose.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use statwalk_browse::{Data, ItemId, child};
use statwalk_view::Kind;

/// The directory of a trash with the items.
const FILES: &str = "files";

/// The way from `/` to a trash, and on to the items in it.
///
/// The user can spell the root of the scan and the home in many ways, so the numbers and
/// the trash meet where device and inode number are the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trail {
    steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Step {
    name: Vec<u8>,
    device_and_inode: (u64, u64),
}

/// The place of a trash in numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Spot {
    /// The trash, or a directory in it that is a root.
    Row(ItemId),
    /// A directory, and the name of its entry that came after the scan. The trash is that
    /// entry or lies in it.
    New(ItemId, Vec<u8>),
    /// The numbers do not have it.
    Elsewhere,
}

impl Trail {
    /// Resolves the path of a trash. Absent where it leads nowhere.
    pub(crate) fn to(trash: &[u8]) -> Option<Trail> {
        let trash = Path::new(OsStr::from_bytes(trash)).canonicalize().ok()?;
        let files = trash.join(FILES);
        let mut way: Vec<&Path> = files.ancestors().collect();
        way.reverse();
        let steps = way.into_iter().map(|path| {
            let metadata = path.symlink_metadata().ok()?;
            Some(Step {
                name: path.file_name().unwrap_or_default().as_bytes().to_vec(),
                device_and_inode: (metadata.dev(), metadata.ino()),
            })
        });
        Some(Trail {
            steps: steps.collect::<Option<_>>()?,
        })
    }

    /// Whether a directory is on the way, or in the trash on the way to its items.
    fn passes(&self, device_and_inode: (u64, u64)) -> bool {
        let mut steps = self.steps.iter();
        steps.any(|step| step.device_and_inode == device_and_inode)
    }

    /// Finds the trash in numbers. `is_partial` says that the scan was stopped.
    pub(crate) fn find(&self, data: &dyn Data, is_partial: bool) -> Spot {
        let mut spot = Spot::Elsewhere;
        for root in data.roots() {
            match self.find_below(root, data, is_partial) {
                Spot::Elsewhere => {}
                Spot::New(..) if spot != Spot::Elsewhere => {}
                Spot::Row(id) => return Spot::Row(id),
                new => spot = new,
            }
        }
        spot
    }

    fn find_below(&self, root: ItemId, data: &dyn Data, is_partial: bool) -> Spot {
        let own = data.identity(root);
        let is_root = |step: &Step| Some(step.device_and_inode) == own;
        let Some(start) = self.steps.iter().rposition(is_root) else {
            return Spot::Elsewhere;
        };
        let trash = self.steps.len() - 2;
        let mut at = root;
        for step in self.steps[..=trash].iter().skip(start + 1) {
            let Some(item) = data.item(at).filter(|item| item.kind == Kind::Directory) else {
                return Spot::Elsewhere;
            };
            if item.notes.is_excluded || item.notes.is_mount {
                return Spot::Elsewhere;
            }
            match child(data, at, &step.name) {
                Some(below) => at = below,
                // It may be as old and as large as anything that the user did not want to
                // wait for.
                None if is_partial && item.notes.is_incomplete => return Spot::Elsewhere,
                None => return Spot::New(at, step.name.clone()),
            }
        }
        let notes = data.item(at).map(|item| item.notes);
        match notes.is_some_and(|notes| notes.is_excluded || notes.is_mount) {
            true => Spot::Elsewhere,
            false => Spot::Row(at),
        }
    }
}

/// The trashes that items went to.
#[derive(Default)]
pub(super) struct TrashDesk {
    known: Vec<Known>,
}

struct Known {
    trash: Vec<u8>,
    trail: Option<Trail>,
    /// The bytes of items in it that the sums lack.
    lacking: u128,
}

impl TrashDesk {
    /// Notes that items went to a trash, which has this trail now.
    pub(super) fn add(&mut self, trash: &[u8], bytes: u128, trail: Option<Trail>) {
        let known = self.known.iter_mut().find(|known| known.trash == trash);
        match known {
            Some(known) => {
                known.lacking += bytes;
                // It can be another directory than before.
                known.trail = trail;
            }
            None => self.known.push(Known {
                trash: trash.to_vec(),
                trail,
                lacking: bytes,
            }),
        }
    }

    /// Notes that items came back from a trash.
    pub(super) fn take_back(&mut self, trash: &[u8], bytes: u128) {
        let mut known = self.known.iter_mut();
        if let Some(known) = known.find(|known| known.trash == trash) {
            known.lacking = known.lacking.saturating_sub(bytes);
        }
    }

    pub(super) fn trail(&self, trash: &[u8]) -> Option<&Trail> {
        let known = self.known.iter().find(|known| known.trash == trash)?;
        known.trail.as_ref()
    }

    /// Notes that a directory has newer numbers, which were read after all moves.
    pub(super) fn settle(&mut self, dir: ItemId, data: &dyn Data) {
        let id = data.identity(dir);
        for known in self.known.iter_mut().filter(|known| known.lacking > 0) {
            // There can be one on each of thousands of mounts, and a search looks through
            // directories.
            let is_above = |trail: &Trail| id.is_none_or(|id| trail.passes(id));
            if !known.trail.as_ref().is_some_and(is_above) {
                continue;
            }
            if let Some(Spot::Row(row)) = known.trail.as_ref().map(|trail| trail.find(data, false))
            {
                let mut way = std::iter::successors(Some(row), |id| data.parent(*id));
                if way.any(|above| above == dir) {
                    known.lacking = 0;
                }
            }
        }
    }

    /// Another scan finds each trash as it is.
    pub(super) fn begin_scan(&mut self) {
        self.known.iter_mut().for_each(|known| known.lacking = 0);
    }

    /// The bytes in any trash that the sums lack.
    pub(super) fn lacking(&self) -> u128 {
        self.known.iter().map(|known| known.lacking).sum()
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;
    use std::path::PathBuf;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use rustix::io::Errno;
    use statwalk_browse::{Item, item_at};
    use statwalk_core::{Exclusions, Scan, TreeSink};
    use statwalk_testkit::fault_fs::{FaultFs, Op, When};
    use statwalk_testkit::or_skip;

    use super::super::tree_data::TreeData;
    use super::*;

    fn bytes(path: &Path) -> Vec<u8> {
        path.as_os_str().as_bytes().to_vec()
    }

    /// The numbers of roots, and the path of a spot in them.
    fn found(roots: &[PathBuf], exclude: &str, trash: &Path, is_partial: bool) -> String {
        let exclusions = Exclusions::new().glob(exclude.as_bytes()).unwrap();
        let scan = Scan::of(roots).exclusions(exclusions);
        let outcome = scan
            .run(&TreeSink::new().with_files().with_identities())
            .unwrap();
        let paths: Vec<Vec<u8>> = roots.iter().map(|root| bytes(root)).collect();
        let data = TreeData::new(1, outcome.output, &paths, &outcome.report, Arc::default());
        let path = |id| String::from_utf8(data.path(id).unwrap()).unwrap();
        match Trail::to(&bytes(trash)).unwrap().find(&data, is_partial) {
            Spot::Row(id) => path(id),
            Spot::New(id, name) => format!("{} + {}", path(id), String::from_utf8_lossy(&name)),
            Spot::Elsewhere => "elsewhere".to_owned(),
        }
    }

    #[test]
    fn a_trash_is_found_by_its_inode() {
        let scratch = tempfile::tempdir().unwrap();
        let top = scratch.path().canonicalize().unwrap();
        let home = top.join("home");
        let trash = home.join("share/Trash");
        for name in ["files/x", "info"] {
            std::fs::create_dir_all(trash.join(name)).unwrap();
        }
        std::fs::create_dir(top.join("other")).unwrap();
        std::os::unix::fs::symlink("home", top.join("link")).unwrap();
        let show = |path: &Path| path.to_str().unwrap().to_owned();
        let row = |root: &Path| found(&[root.to_owned()], "none", &trash, false);
        for root in [&top, &home, &trash, &home.join("share")] {
            assert_eq!(row(root), show(&trash));
        }
        let spelled = top.join("other/../link/.");
        assert_eq!(row(&spelled), format!("{}/share/Trash", show(&spelled)));
        // The items alone.
        assert_eq!(row(&trash.join("files")), show(&trash.join("files")));
        for root in ["other", "home/share/Trash/info", "home/share/Trash/files/x"] {
            assert_eq!(row(&top.join(root)), "elsewhere");
        }
        let behind_link = found(
            std::slice::from_ref(&home),
            "none",
            &top.join("link/share/Trash"),
            false,
        );
        assert_eq!(behind_link, show(&trash));
        // The first root that has it.
        let roots = [top.join("other"), trash.clone(), top.clone()];
        assert_eq!(found(&roots, "none", &trash, false), show(&trash));
    }

    /// Counts how often a directory is looked through.
    struct Counted(TreeData, AtomicUsize);

    impl Data for Counted {
        fn roots(&self) -> Vec<ItemId> {
            self.0.roots()
        }

        fn item(&self, id: ItemId) -> Option<Item<'_>> {
            self.0.item(id)
        }

        fn parent(&self, id: ItemId) -> Option<ItemId> {
            self.0.parent(id)
        }

        fn identity(&self, id: ItemId) -> Option<(u64, u64)> {
            self.0.identity(id)
        }

        fn children(
            &self,
            dir: ItemId,
            visit: &mut dyn FnMut(ItemId, Item<'_>) -> ControlFlow<()>,
        ) {
            self.1.fetch_add(1, Ordering::Relaxed);
            self.0.children(dir, visit);
        }
    }

    /// Items went to the trashes of 300 mounts, and each new reading of one looked for all
    /// others in the directory of the mounts.
    #[test]
    fn a_reading_of_one_trash_looks_for_no_other() {
        let scratch = tempfile::tempdir().unwrap();
        let top = scratch.path().canonicalize().unwrap();
        let trashes: Vec<PathBuf> = (0..20)
            .map(|number| top.join(format!("mount {number}/Trash")))
            .collect();
        for trash in &trashes {
            std::fs::create_dir_all(trash.join("files")).unwrap();
        }
        let sink = TreeSink::new().with_files().with_identities();
        let outcome = Scan::new(&top).run(&sink).unwrap();
        let (tree, report) = (outcome.output, outcome.report);
        let data = TreeData::new(1, tree, &[bytes(&top)], &report, Arc::default());
        let data = Counted(data, AtomicUsize::new(0));
        let mut desk = TrashDesk::default();
        for trash in &trashes {
            desk.add(&bytes(trash), 1, Trail::to(&bytes(trash)));
        }
        for (left, trash) in trashes.iter().enumerate().rev() {
            let dir = item_at(&bytes(trash), &data).unwrap();
            data.1.store(0, Ordering::Relaxed);
            desk.settle(dir, &data);
            assert_eq!(data.1.load(Ordering::Relaxed), 2);
            assert_eq!(desk.lacking(), left as u128);
        }
        // One above has all of them.
        for trash in &trashes {
            desk.add(&bytes(trash), 1, Trail::to(&bytes(trash)));
        }
        desk.settle(data.roots()[0], &data);
        assert_eq!(desk.lacking(), 0);
    }

    #[test]
    fn a_trash_that_came_later_is_new() {
        let scratch = tempfile::tempdir().unwrap();
        let top = scratch.path().canonicalize().unwrap();
        let trash = top.join("home/share/Trash");
        std::fs::create_dir_all(trash.join("files")).unwrap();
        // A pattern stands for the time before: the reading of the new entry obeys it.
        let home = top.join("home").to_str().unwrap().to_owned();
        for (pattern, expected) in [
            ("Trash", format!("{home}/share + Trash")),
            ("share", format!("{home} + share")),
        ] {
            for is_partial in [false, true] {
                let found = found(&[top.join("home")], pattern, &trash, is_partial);
                assert_eq!(found, expected);
            }
        }
    }

    #[test]
    fn what_a_stopped_scan_left_out_is_not_read_for_the_trash() {
        let fs = FaultFs::builder().dir("home/Trash/files").dir("home/bad");
        let fs = fs.fail("home/bad", Op::Opendir, Errno::IO, When::Always);
        let mount = or_skip!(fs.mount());
        let home = mount.join("home");
        let roots = [home.clone()];
        let find = |is_partial| found(&roots, "Trash", &home.join("Trash"), is_partial);
        assert_eq!(find(false), format!("{} + Trash", home.display()));
        assert_eq!(find(true), "elsewhere");
    }
}
