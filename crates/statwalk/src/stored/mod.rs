// SPDX-License-Identifier: MIT OR Apache-2.0

//! A stored scan, as commands read it in place of a path.

mod depth;
mod named;

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use statwalk_core::{
    Cause, Context, EntryError, Fields, LinkPolicy, Op, Replay, ReplayError, RootReport, Sink,
};
use statwalk_snapshot::{Class, Dir, ErrorRow, Found, Owners as StoredOwners, Root, Snapshot};
use statwalk_view::{Charset, escape};

use self::depth::DepthLimit;
pub(crate) use self::named::folder_of;
use crate::answer::about::{Gaps, LeftOut};
use crate::answer::origin::Origin;
use crate::answer::owner_names::Owners;
use crate::answer::plan_text::PlanText;
use crate::answer::record::Findings;
use crate::failure::Failure;
use crate::system::panics::{caught, reads};
use crate::system::stdio::reason;

/// A stored scan, or a directory in it.
#[derive(Debug)]
pub(crate) struct StoredScan {
    /// The name that the user has for it.
    word: OsString,
    snapshot: Snapshot,
    /// The directory that is read, and its path; absent for the whole.
    below: Option<(Dir, Vec<u8>)>,
    owners: StoredOwners,
}

/// How a stored scan is read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reading {
    /// The depth of the deepest entries; absent for all.
    pub(crate) depth_max: Option<u32>,
    /// Whether the bytes of an inode count for each of its names.
    pub(crate) counts_links: bool,
    /// How many errors are kept; absent for all.
    pub(crate) errors_max: Option<usize>,
}

/// The space of a file system at the time of a scan.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StoredSpace {
    pub(crate) block_bytes: u64,
    pub(crate) blocks: u64,
    pub(crate) free_blocks: u64,
    pub(crate) available_blocks: u64,
}

impl StoredScan {
    /// Opens the snapshot in a folder, or a directory in it.
    fn open(word: &OsStr, folder: &Path, inside: Option<&Path>) -> Result<StoredScan, Failure> {
        let cannot = |error| failure("read", folder, &error);
        reads(folder);
        let snapshot = caught(|| Snapshot::open(folder)).map_err(cannot)?;
        if snapshot.manifest().facts.roots.len() != 1 {
            let folder = shown(folder);
            let why = "it has several roots, and the program reads snapshots of one";
            return Err(Failure::Usage(format!("cannot read {folder}: {why}")));
        }
        let below = match inside {
            Some(path) => below(&snapshot, path)?,
            None => None,
        };
        Ok(StoredScan {
            owners: caught(|| snapshot.owners()).map_err(cannot)?,
            word: word.to_owned(),
            snapshot,
            below,
        })
    }

    /// The snapshot, and the path of the directory in it that is read; absent for the whole.
    pub(crate) fn into_snapshot(self) -> (Snapshot, Option<Vec<u8>>) {
        (self.snapshot, self.below.map(|(_, path)| path))
    }

    /// The name that the user has for it.
    pub(crate) fn word(&self) -> &OsStr {
        &self.word
    }

    /// The origin of an answer: the machine and the time are those of the scan.
    pub(crate) fn origin(&self) -> Arc<Origin> {
        let facts = &self.snapshot.manifest().facts;
        let process = Origin::of_this_process();
        Arc::new(Origin {
            started_ns: facts.began_ns,
            host: facts.host.clone().into_bytes(),
            ..(*process).clone()
        })
    }

    /// The time of the scan, to which ages and spans refer.
    pub(crate) fn now(&self) -> Zoned {
        let ns = self.snapshot.manifest().facts.began_ns;
        let moment = Timestamp::from_nanosecond(ns.into()).unwrap_or(Timestamp::UNIX_EPOCH);
        moment.to_zoned(TimeZone::system())
    }

    /// The path of the directory that is read.
    pub(crate) fn root(&self) -> PathBuf {
        let root = || &self.root_facts().path;
        let path = self.below.as_ref().map_or_else(root, |(_, path)| path);
        PathBuf::from(OsStr::from_bytes(path))
    }

    /// The number that a user had at the time of the scan; absent where no entry belongs to
    /// one of this name.
    pub(crate) fn uid(&self, name: &[u8]) -> Result<Option<u32>, Failure> {
        self.owner_where(|uid, _| Some(uid).filter(|&uid| self.owners.user(uid) == Some(name)))
    }

    /// The same of a group.
    pub(crate) fn gid(&self, name: &[u8]) -> Result<Option<u32>, Failure> {
        self.owner_where(|_, gid| Some(gid).filter(|&gid| self.owners.group(gid) == Some(name)))
    }

    /// The first number that `fits` takes from the user and the group of an entry.
    fn owner_where(&self, fits: impl Fn(u32, u32) -> Option<u32>) -> Result<Option<u32>, Failure> {
        let cannot = |error| failure("read", self.snapshot.folder(), &error);
        let mut seen = HashSet::new();
        let rows = caught(|| self.snapshot.scan_rows(None, Fields::OWNER));
        let mut rows = rows.map_err(cannot)?;
        while let Some(next) = caught(|| rows.next()) {
            let (entries, directories) = next.map_err(cannot)?;
            for columns in [&entries.attributes, &directories.columns.attributes] {
                for (&uid, &gid) in columns.uids.iter().zip(&columns.gids) {
                    if seen.insert((uid, gid))
                        && let Some(found) = fits(uid, gid)
                    {
                        return Ok(Some(found));
                    }
                }
            }
        }
        Ok(None)
    }

    /// Whether it has times of the last access.
    pub(crate) fn has_access_times(&self) -> bool {
        let fields = &self.snapshot.manifest().facts.fields;
        fields.iter().any(|name| name == "atime")
    }

    /// Whether a directory of the scan had a valid `CACHEDIR.TAG`.
    pub(crate) fn has_cache_tag(&self, path: &[u8]) -> bool {
        let found = caught(|| self.snapshot.find(path));
        matches!(found, Ok(Some(Found::Dir(dir))) if dir.cachedir_tag == Some(true))
    }

    /// The file systems of the scan that have space, by mount point, at the end of the scan.
    pub(crate) fn spaces(&self) -> Vec<(Vec<u8>, StoredSpace)> {
        // Without them, an answer has fewer lines.
        let all = caught(|| self.snapshot.file_systems()).unwrap_or_default();
        let known = all.into_iter().filter_map(|one| {
            let end = one.end.filter(|space| space.blocks > 0)?;
            let space = StoredSpace {
                block_bytes: end.block_bytes,
                blocks: end.blocks,
                free_blocks: end.free_blocks,
                available_blocks: end.available_blocks,
            };
            Some((one.mount_point, space))
        });
        known.collect()
    }

    /// Gives a sink the entries, and calls `look` with their number now and then.
    pub(crate) fn replay<S: Sink>(
        &self,
        sink: S,
        reading: &Reading,
        look: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<S::Output, Failure> {
        let fields = sink.fields();
        let mut replay = Replay::new(sink, self.context(reading));
        let dir = self.below.as_ref().map(|(dir, _)| dir);
        let cannot = |error| failure("read", self.snapshot.folder(), &error);
        let rows = caught(|| self.snapshot.scan_rows(dir, fields));
        let mut rows = rows.map_err(cannot)?;
        let mut limit = reading.depth_max.map(DepthLimit::new);
        let mut count = 0;
        while let Some(next) = caught(|| rows.next()) {
            let (mut entries, mut directories) = next.map_err(cannot)?;
            if let Some(limit) = &mut limit {
                (entries, directories) = limit.cut(&entries, &directories);
            }
            count += (entries.len() + directories.len()) as u64;
            if replay.columns(&entries, &directories).is_break() || look(count).is_break() {
                break;
            }
        }
        for error in self.errors(reading)? {
            if replay.failed(&error).is_break() {
                break;
            }
        }
        replay.finish().map_err(|error| self.contradiction(&error))
    }

    fn context(&self, reading: &Reading) -> Context {
        let began_ns = self.snapshot.manifest().facts.began_ns;
        let mut context = match &self.below {
            Some((_, path)) => self.snapshot.context_below(path, began_ns),
            None => self.snapshot.context(began_ns),
        };
        if reading.counts_links {
            context.links = LinkPolicy::Each;
        }
        context
    }

    fn contradiction(&self, error: &ReplayError) -> Failure {
        let folder = shown(self.snapshot.folder());
        Failure::Usage(format!("cannot read {folder}: {error}"))
    }

    /// The record of the scan, as far as it concerns what is read.
    pub(crate) fn findings(&self, reading: &Reading) -> Result<Findings, Failure> {
        let facts = &self.snapshot.manifest().facts;
        let elapsed_ns = facts.ended_ns.saturating_sub(facts.began_ns);
        let mut errors = self.errors(reading)?;
        let root = self.root_report(reading, &errors)?;
        let mut counts: BTreeMap<(Op, Cause), u64> = BTreeMap::new();
        for error in &errors {
            *counts.entry((error.op, error.cause)).or_default() += 1;
        }
        let counts = counts.into_iter();
        let mut counts: Vec<_> = counts.map(|((op, cause), n)| (op, cause, n)).collect();
        counts.sort_by_key(|&(op, cause, count)| (Reverse(count), op, cause));
        errors.truncate(reading.errors_max.unwrap_or(usize::MAX));
        Ok(Findings {
            elapsed: Duration::from_nanos(elapsed_ns.unsigned_abs()),
            plan: PlanText::of_snapshot(facts.fields.clone()),
            gaps: Gaps {
                is_complete: !root.interrupted && root.unreadable == 0 && root.changed_dirs == 0,
                interrupted: root.interrupted,
                sum: root,
                error_counts: counts,
                errors,
                left_out: self.left_out(),
                hanging: Vec::new(),
            },
            roots: vec![root],
        })
    }

    fn root_facts(&self) -> &Root {
        &self.snapshot.manifest().facts.roots[0]
    }

    /// The gaps of what is read.
    ///
    /// Those of the whole are those of the scan. Below a directory, and down to a depth, they
    /// are counted: names without a path, as those that patterns left out, are in none.
    fn root_report(&self, reading: &Reading, errors: &[EntryError]) -> Result<RootReport, Failure> {
        let root = self.root_facts();
        let mut report = RootReport::default();
        report.interrupted = root.interrupted;
        if self.below.is_none() && reading.depth_max.is_none() {
            report.unreadable = root.unreadable;
            report.vanished = root.vanished;
            report.changed_dirs = root.changed_dirs;
            report.excluded = root.excluded;
            report.crossings = root.crossings;
            report.restless_dirs = root.restless_dirs;
            report.overlays_left_out = root.overlays_left_out;
            report.mounts_perhaps_twice = root.mounts_perhaps_twice;
            report.repeated_names = root.repeated_names;
            return Ok(report);
        }
        for error in errors {
            match error.cause {
                Cause::Changed => report.changed_dirs += 1,
                _ => report.unreadable += 1,
            }
        }
        let rows = caught(|| self.snapshot.errors());
        for row in rows.map_err(|error| failure("read", self.snapshot.folder(), &error))? {
            if row.class != Class::NotEntered || !self.covers(&row, reading) {
                continue;
            }
            match row.reason.as_deref() {
                Some("mount") => report.crossings += 1,
                Some("exclusion") => report.excluded += 1,
                _ => {}
            }
        }
        Ok(report)
    }

    /// Whether a path lies in what is read.
    fn covers(&self, row: &ErrorRow, reading: &Reading) -> bool {
        self.depth_of(&row.path)
            .is_some_and(|depth| reading.depth_max.is_none_or(|max| depth <= max))
    }

    /// The depth of a path below what is read; absent where it lies elsewhere.
    fn depth_of(&self, path: &[u8]) -> Option<u32> {
        let root = self.root();
        let below = Path::new(OsStr::from_bytes(path))
            .strip_prefix(&root)
            .ok()?;
        u32::try_from(below.components().count()).ok()
    }

    /// The errors in what is read, in path order.
    fn errors(&self, reading: &Reading) -> Result<Vec<EntryError>, Failure> {
        let errors = caught(|| self.snapshot.entry_errors());
        let mut errors = errors.map_err(|error| failure("read", self.snapshot.folder(), &error))?;
        errors.retain(|error| {
            let depth = self.depth_of(&error.path);
            depth.is_some_and(|depth| match reading.depth_max {
                // A directory of the last depth is not opened.
                Some(max) if error.op == Op::Stat => depth <= max,
                Some(max) => depth < max,
                None => true,
            })
        });
        Ok(errors)
    }

    /// The kernel file systems that were left out.
    fn left_out(&self) -> Vec<LeftOut> {
        let options = &self.snapshot.manifest().facts.options;
        let all = options.get("left_out").and_then(|all| all.as_array());
        let all = all.into_iter().flatten().filter_map(|one| {
            let text = |name| one.get(name).and_then(|text| text.as_str());
            Some(LeftOut {
                path: text("path")?.as_bytes().to_vec(),
                file_system: text("file_system")?.to_owned(),
            })
        });
        all.filter(|one| self.depth_of(&one.path).is_some())
            .collect()
    }
}

/// The names of users and groups at the time of the scan.
impl Owners for StoredScan {
    fn user(&self, uid: u32) -> Option<Vec<u8>> {
        self.owners.user(uid).map(<[u8]>::to_vec)
    }

    fn group(&self, gid: u32) -> Option<Vec<u8>> {
        self.owners.group(gid).map(<[u8]>::to_vec)
    }
}

/// The directory at a path in a snapshot; absent for the root itself.
fn below(snapshot: &Snapshot, path: &Path) -> Result<Option<(Dir, Vec<u8>)>, Failure> {
    let cannot = |error| failure("read", snapshot.folder(), &error);
    let found = caught(|| snapshot.find(path.as_os_str().as_bytes()));
    let found = found.map_err(cannot)?;
    let why = match found {
        Some(Found::Dir(dir)) if dir.parent.is_none() => return Ok(None),
        Some(Found::Dir(dir)) => {
            let path = caught(|| snapshot.path(dir.number)).map_err(cannot)?;
            return Ok(Some((*dir, path)));
        }
        Some(Found::Entry(_)) => "not a directory",
        None => "the snapshot does not have it",
    };
    let (path, folder) = (shown(path), shown(snapshot.folder()));
    Err(Failure::Usage(format!(
        "cannot read {path} in {folder}: {why}"
    )))
}

pub(crate) fn shown(path: &Path) -> String {
    escape(path.as_os_str().as_bytes(), Charset::Unicode).into_owned()
}

/// The failure of the crate that writes and reads snapshots, whose errors have their path.
pub(crate) fn failure(verb: &str, path: &Path, error: &statwalk_snapshot::Error) -> Failure {
    let text = match (error.io_error(), error.path()) {
        (Some(cause), own) => format!("{}: {}", shown(own.unwrap_or(path)), reason(cause)),
        (None, Some(_)) => shown(Path::new(OsStr::new(&error.to_string()))),
        (None, None) => format!("{}: {}", shown(path), shown(Path::new(&error.to_string()))),
    };
    Failure::Usage(format!("cannot {verb} {text}"))
}
