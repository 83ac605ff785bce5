// SPDX-License-Identifier: MIT OR Apache-2.0

//! Describing a [`FaultFs`]: its tree, then its faults.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::io::Errno;

use super::answer::Settings;
use super::disk::{Disk, Head};
use super::mount::FaultMount;
use super::rules::{Changes, Hang, Latency, Op, Repetition, Rule, RuleBook, When, Where};
use super::run::Letter;
use super::server::Slots;
use super::tree::Tree;
use super::wire::Validity;
use crate::model::{EntryType, Model, NodeKind, Totals};
use crate::skipped::Skipped;

/// A synthetic file system that misbehaves on request.
#[derive(Debug)]
pub struct FaultFs;

impl FaultFs {
    /// Starts a description with an empty root and no faults.
    pub fn builder() -> FaultFsBuilder {
        FaultFsBuilder {
            tree: Tree::new(),
            rules: Vec::new(),
            settings: Settings {
                validity: Validity::default(),
                entries_per_readdir_max: usize::MAX,
                is_writable: false,
            },
            slots: None,
            disk: None,
        }
    }
}

/// The shape of a tree in which all directories of a level are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uniform {
    /// Levels of directories below the one that is given.
    pub depth: u32,
    /// Subdirectories in each directory above the lowest level.
    pub dirs_each: u32,
    /// Files in each directory.
    pub files_each: u64,
    /// The size of each file.
    pub file_size_bytes: u64,
}

/// The description of a [`FaultFs`].
///
/// Paths are relative to the root of the mount, and `""` is the root itself. A method
/// that describes the tree panics where the tree contradicts itself. Rules may name
/// paths that are described later.
///
/// A rule for a path comes before one for [`Where::Everywhere`], among equals
/// the one that was given first; one that no longer strikes is passed over.
#[derive(Clone, Debug)]
pub struct FaultFsBuilder {
    tree: Tree,
    rules: Vec<(Where, Rule)>,
    settings: Settings,
    slots: Option<usize>,
    disk: Option<Disk>,
}

/// The tree.
impl FaultFsBuilder {
    /// Adds a directory, and its parents.
    pub fn dir(mut self, path: impl AsRef<Path>) -> Self {
        self.tree.make_dir(path.as_ref());
        self
    }

    /// Adds a regular file, and its parents. It cannot be read.
    pub fn file(mut self, path: impl AsRef<Path>, size_bytes: u64) -> Self {
        self.tree.add(path.as_ref(), NodeKind::file(size_bytes));
        self
    }

    /// Adds a regular file that can be read, and its parents.
    pub fn text(mut self, path: impl AsRef<Path>, text: impl Into<Vec<u8>>) -> Self {
        self.tree.add_text(path.as_ref(), text.into());
        self
    }

    /// Lets an entry that was added claim any `st_blocks`.
    pub fn claim_blocks(mut self, path: impl AsRef<Path>, blocks: u64) -> Self {
        self.tree.claim_blocks(path.as_ref(), blocks);
        self
    }

    /// Adds a symbolic link, and its parents.
    pub fn symlink(mut self, path: impl AsRef<Path>, target: impl AsRef<Path>) -> Self {
        let target = target.as_ref().as_os_str().as_bytes().to_vec();
        self.tree.add(path.as_ref(), NodeKind::Symlink { target });
        self
    }

    /// Adds all entries of a model below the directory `path`.
    pub fn model(mut self, path: impl AsRef<Path>, model: &Model) -> Self {
        self.tree.add_model(path.as_ref(), model);
        self
    }

    /// Adds entries in the text form, see [`crate::text`].
    ///
    /// # Panics
    ///
    /// Panics if the text is not in that form.
    pub fn entries(self, text: &str) -> Self {
        let model = crate::text::parse(text);
        self.model("", &model.unwrap_or_else(|error| panic!("{error:?}")))
    }

    /// Adds `count` files `f000000`, `f000001`, … to the directory `path`, at
    /// no cost in memory. Once for each directory.
    pub fn files(mut self, path: impl AsRef<Path>, count: u64, size_bytes: u64) -> Self {
        self.tree
            .add_run(path.as_ref(), Letter::Files, count, size_bytes);
        self
    }

    /// Adds `count` empty directories `d000000`, `d000001`, … to the directory
    /// `path`, at no cost in memory. Once for each directory.
    pub fn dirs(mut self, path: impl AsRef<Path>, count: u64) -> Self {
        self.tree.add_run(path.as_ref(), Letter::Dirs, count, 0);
        self
    }

    /// Adds a chain of `depth` directories named `c` below the directory `path`.
    pub fn chain(mut self, path: impl AsRef<Path>, depth: usize) -> Self {
        let mut path = path.as_ref().to_path_buf();
        path.extend(std::iter::repeat_n("c", depth));
        self.tree.make_dir(&path);
        self
    }

    /// Adds a tree below the directory `path`: directories `n0`, `n1`, … on
    /// each level, and files `f000000`, … in all of them.
    pub fn uniform(mut self, path: impl AsRef<Path>, shape: Uniform) -> Self {
        let mut level = vec![path.as_ref().to_path_buf()];
        for depth in 0..=shape.depth {
            let mut next = Vec::new();
            for dir in level {
                self.tree.make_dir(&dir);
                if shape.files_each > 0 {
                    let (count, size_bytes) = (shape.files_each, shape.file_size_bytes);
                    self.tree.add_run(&dir, Letter::Files, count, size_bytes);
                }
                if depth < shape.depth {
                    next.extend((0..shape.dirs_each).map(|n| dir.join(format!("n{n}"))));
                }
            }
            level = next;
        }
        self
    }

    /// The totals of the tree, without its faults.
    ///
    /// Names that appear only through a fault (a directory without end, one that
    /// grows) are not counted.
    pub fn expected(&self) -> Totals {
        self.tree.expected()
    }

    /// 512 × `st_blocks` over every inode, directories included, without faults.
    pub fn expected_allocated_bytes(&self) -> u128 {
        self.tree.allocated_bytes()
    }
}

/// The faults.
impl FaultFsBuilder {
    /// Lets calls of one operation fail.
    ///
    /// The kernel looks a name up once more when the answer is `ESTALE`: of
    /// `When::First(n)` every second failure is seen by the caller.
    pub fn fail(self, place: impl Into<Where>, op: Op, errno: Errno, when: When) -> Self {
        self.rule(
            place,
            Rule::Fail {
                op,
                errno,
                when,
                after_entries: 0,
            },
        )
    }

    /// Lets the listing of a directory fail once so many entries have been
    /// given, `.` and `..` not counted. In a directory with fewer entries it
    /// ends as usual; with exactly so many, the error is in place of the end.
    pub fn fail_readdir_after(
        self,
        place: impl Into<Where>,
        entries: u64,
        errno: Errno,
        when: When,
    ) -> Self {
        self.rule(
            place,
            Rule::Fail {
                op: Op::Readdir,
                errno,
                when,
                after_entries: entries,
            },
        )
    }

    /// Lets a name vanish between the listing, which has it, and any lookup:
    /// later listings do not have it.
    pub fn vanished(self, path: impl Into<PathBuf>) -> Self {
        self.vanishes_at(path, Op::Lookup)
    }

    /// Lets a name vanish when it is looked up, or a directory when it is listed.
    ///
    /// # Panics
    ///
    /// Panics unless `op` is [`Op::Lookup`] or [`Op::Readdir`].
    pub fn vanishes_at(self, path: impl Into<PathBuf>, op: Op) -> Self {
        let possible = matches!(op, Op::Lookup | Op::Readdir);
        assert!(possible, "names vanish at a lookup or a listing");
        self.rule(path.into(), Rule::Vanishes { op })
    }

    /// Lists a name with a NUL before it: callers see an empty one.
    pub fn nul_before(self, path: impl Into<PathBuf>) -> Self {
        self.rule(path.into(), Rule::NulBefore)
    }

    /// Lists a name that no lookup finds.
    pub fn not_found(self, path: impl Into<PathBuf>) -> Self {
        self.fail(path.into(), Op::Lookup, Errno::NOENT, When::Always)
    }

    /// Replaces an entry after so many lookups by one of another kind and with
    /// an inode number of its own. Listings go on showing the old one.
    ///
    /// With 0 it is replaced between the listing and whatever comes next; with
    /// 1 between a `stat` and the `open` that follows. The new entry is empty:
    /// a directory without entries, a symbolic link to `.`.
    pub fn replaced(self, path: impl Into<PathBuf>, by: EntryType, after_lookups: u32) -> Self {
        assert_ne!(by, EntryType::Unknown, "what is found has a type");
        self.rule(path.into(), Rule::Replaced { by, after_lookups })
    }

    /// Lists the names of a directory without their types (`DT_UNKNOWN`).
    pub fn unknown_types(self, place: impl Into<Where>) -> Self {
        self.rule(place, Rule::UnknownTypes)
    }

    /// Adds a directory whose listing never ends: after its other entries come
    /// empty files or empty directories `e000000`, `e000001`, …
    ///
    /// # Panics
    ///
    /// Panics unless `of` is [`EntryType::File`] or [`EntryType::Directory`].
    pub fn endless(mut self, path: impl AsRef<Path>, of: EntryType) -> Self {
        let possible = matches!(of, EntryType::File | EntryType::Directory);
        assert!(possible, "files or directories without end");
        self.tree.add_endless_run(path.as_ref(), of);
        self
    }

    /// Changes mtime, ctime and the number of links at every [`Op::Getattr`].
    ///
    /// The first one already differs from what the lookup before it said.
    pub fn attributes_change(self, place: impl Into<Where>, changes: Changes) -> Self {
        self.rule(place, Rule::AttributesChange(changes))
    }

    /// Gives another inode number with each answer, as IPFS does.
    pub fn numbers_move(self, place: impl Into<Where>) -> Self {
        self.rule(place, Rule::NumbersMove)
    }

    /// Moves mtime and ctime at every [`Op::Getattr`], and nothing else.
    pub fn times_move(self, place: impl Into<Where>) -> Self {
        self.rule(place, Rule::TimesMove)
    }

    /// Lets a directory grow by so many empty files `g000000`, … with each
    /// listing after the first: after each open and each rewind. A listing
    /// under way keeps its entries.
    pub fn grows(
        self,
        place: impl Into<Where>,
        entries_per_listing: u64,
        changes: Changes,
    ) -> Self {
        self.rule(
            place,
            Rule::Grows {
                entries_per_listing,
                changes,
            },
        )
    }

    /// Lets a directory list its names more than once. It must have an end without that.
    pub fn repeats(self, place: impl Into<Where>, repetition: Repetition) -> Self {
        self.rule(place, Rule::Repeats(repetition))
    }

    /// Lets calls of one operation hang until they are released.
    pub fn hang(self, place: impl Into<Where>, op: Op, hang: Hang) -> Self {
        self.rule(place, Rule::Hang { op, hang })
    }

    /// Slows down every [`Op`].
    pub fn latency(self, place: impl Into<Where>, latency: Latency) -> Self {
        self.rule(place, Rule::Latency { op: None, latency })
    }

    /// Slows down one [`Op`].
    pub fn latency_of(self, place: impl Into<Where>, op: Op, latency: Latency) -> Self {
        self.rule(
            place,
            Rule::Latency {
                op: Some(op),
                latency,
            },
        )
    }

    fn rule(mut self, place: impl Into<Where>, rule: Rule) -> Self {
        self.rules.push((place.into(), rule));
        self
    }
}

/// The server.
impl FaultFsBuilder {
    /// Serves no more than so many calls with a latency at once; the others
    /// wait for their turn. Without limit by default.
    pub fn server_slots(mut self, slots: usize) -> Self {
        self.slots = Some(slots);
        self
    }

    /// Gives no more than so many entries at a time, so that one `getdents64`
    /// returns less than fits its buffer.
    pub fn entries_per_readdir_max(mut self, entries: usize) -> Self {
        self.settings.entries_per_readdir_max = entries.max(1);
        self
    }

    /// Lets files be opened for writing at their end, and be made. Written data is
    /// forgotten. Names can be removed and renamed within the file system; link counts and
    /// times stay as they were.
    pub fn writable(mut self) -> Self {
        self.settings.is_writable = true;
        self
    }

    /// Lets the kernel keep names and attributes for so long. Both are 0 by
    /// default, so that every call arrives.
    pub fn cache(mut self, entries: Duration, attributes: Duration) -> Self {
        self.settings.validity = Validity {
            entry: entries,
            attributes,
        };
        self
    }

    /// Has inodes lie on a disk with one head, which serves one call at a time.
    pub fn disk(mut self, disk: Disk) -> Self {
        self.disk = Some(disk);
        self.slots = Some(1);
        self
    }

    /// Mounts the file system on a new temporary directory.
    ///
    /// # Errors
    ///
    /// Returns [`Skipped`] where the machine cannot mount FUSE file systems.
    ///
    /// # Panics
    ///
    /// Panics if a rule names a path that is not in the tree, or if mounting
    /// fails for any other reason.
    pub fn mount(self) -> Result<FaultMount, Skipped> {
        let rules = RuleBook::new(self.rules, &self.tree);
        let head = self.disk.map(Head::new);
        FaultMount::new(
            self.tree,
            rules,
            self.settings,
            Slots::new(self.slots),
            head,
        )
    }
}
