// SPDX-License-Identifier: MIT OR Apache-2.0

//! Scans, and writes the snapshot.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use jiff::tz::TimeZone;
use rustix::fs::Access;
use serde::ser::{Serialize, SerializeMap};
use serde_json::{Map, Value};
use statwalk_core::{Fields as ScanFields, Next, Report, Scan};
use statwalk_snapshot::{
    ErrorKind, Facts, Folder, Links, Manifest, MergeOptions, Root, Spool, field_names,
};
use statwalk_view::{SizeFormat, counted, grouped, wrap};

use super::machine::Here;
use super::{failure, shown, store};
use crate::answer::about::About;
use crate::answer::origin::Origin;
use crate::commands::delivery::{conclude, form_of, print};
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::flags::SnapshotFlags;
use crate::output::ending::Errors;
use crate::output::json::{self, Field, Fields, Object};
use crate::output::plain::Rows;
use crate::output::printer::Answer;
use crate::request::{Request, invalid, size};
use crate::store::disk::{Neighbours, Shelf};
use crate::store::key::Key;
use crate::store::retention::{Keep, Kept, going_by_size};
use crate::system::clock;
use crate::system::screen::Screen;
use crate::system::stdio::{reason, say};
use crate::system::{random, signals};
use crate::watch::progress::ProgressOptions;
use crate::watch::{Lookout, PERIOD};

/// The names of directories in which a file system shows its older states: NetApp, GPFS and
/// Ceph, and ZFS.
const OLDER_STATES: [&[u8]; 2] = [b".snapshot", b".zfs"];

/// How many of them a sentence names.
const NAMED_MAX: usize = 2;

/// A snapshot that was written.
struct WrittenAnswer {
    folder: PathBuf,
    manifest: Manifest,
    /// The folders of those that went, to make room.
    removed: Vec<String>,
    about: About,
}

/// The place of the new snapshot.
enum Target {
    /// The folder of its key in the store.
    Store(Shelf),
    /// A folder with a name of the user's.
    Folder {
        parent: PathBuf,
        name: OsString,
        _neighbours: Neighbours,
    },
}

pub(super) fn run(flags: SnapshotFlags) -> Result<ExitStatus, Failure> {
    let rules = Rules::new(&flags)?;
    let path = PathBuf::from(flags.path.clone().unwrap_or_else(|| ".".into()));
    // The working directory may be another one when the snapshot is read.
    let root = path.canonicalize().map_err(|error| {
        let path = shown(&path);
        Failure::Usage(format!("cannot open {path}: {}", reason(&error)))
    })?;
    let form = form_of(&flags.scan.walk.form);
    let mut request = Request::of_paths_alone(&flags.scan, [root.clone().into_os_string()], form)?;
    let mut machine = Here::before_scan(&root);
    let target = Target::open(&flags, &root, &machine)?;
    let number = random::number();
    let folder = target.begin(number)?;
    let mut fields = ScanFields::ALL;
    if !flags.access_times {
        fields = fields.without(ScanFields::ATIME);
    }
    let left_out = OlderStates::default();
    request.scan = request.scan.fields(fields).errors_kept(usize::MAX);
    let own = OwnFolder::new(Folder::temporary_name(number));
    request.scan = own.leave_out(request.scan);
    if !flags.include_snapshots {
        request.scan = left_out.leave_out(request.scan);
    }
    // A full disk is an error, and no signal.
    signals::let_large_writes_fail();
    let (spool, mut report) = scan(&request, &folder).map_err(|error| match error {
        ScanError::Begin(failure) => failure,
        ScanError::Write(error) => failure("write", target.parent(), &error),
    })?;
    machine.after_scan();
    let excluded = &mut report.roots[0].excluded;
    *excluded = excluded.saturating_sub(u64::from(own.was_met()));
    if let Some(sentence) = left_out.sentence() {
        say(&sentence);
    }
    if report.interrupted && !flags.partial {
        say("interrupted; nothing is stored (--partial would store the part that was read)");
        return Ok(signals::caught().map_or(ExitStatus::Failed, ExitStatus::Interrupted));
    }
    if report.roots[0].missing.is_some() {
        // It went between the two calls. The reason is on stderr.
        let about = About::of_scan(&request, report, &[]);
        return Ok(conclude(&request, &about, Errors::Untold));
    }
    let facts = facts(&flags, &request, &root, &report, fields);
    let options = MergeOptions {
        access_times: flags.access_times,
        partial: flags.partial,
    };
    let merged = spool.merge(facts, &mut machine, &options);
    let manifest = merged.map_err(|error| failure("write", target.parent(), &error))?;
    let folder = target.finish(folder, &manifest, request.origin.started_ns)?;
    let mut removed = Vec::new();
    if let Target::Store(shelf) = &target {
        removed = rules.thin_out(shelf, &folder, &manifest)?;
    }
    let answer = WrittenAnswer {
        folder,
        manifest,
        removed,
        about: About::of_scan(&request, report, &[]),
    };
    print(&answer, form)?;
    Ok(conclude(&request, &answer.about, Errors::Untold))
}

/// Reads all entries, those of a large tree onto the disk.
fn scan<'f>(request: &Request, folder: &'f Folder) -> Result<(Spool<'f>, Report), ScanError> {
    let progress = ProgressOptions::new(request, Some(SizeFormat::default()));
    let mut lookout = Lookout::new(progress);
    let rows = request.scan.rows();
    let mut rows = rows.map_err(|error| ScanError::Begin(error.into()))?;
    let mut spool = Spool::new(folder);
    let mut added = Ok(());
    loop {
        match rows.next_within(PERIOD) {
            Next::Value(batch) if added.is_ok() => {
                added = spool.add_rows(&batch);
                if added.is_err() {
                    rows.cancel();
                }
            }
            Next::Failed(error) => spool.add_error(&error),
            Next::End => break,
            _ => {}
        }
        let progress = || rows.progress().unwrap_or_default();
        if lookout.look_now_and_then(progress).is_break() {
            rows.cancel();
        }
    }
    lookout.end();
    added.map_err(ScanError::Write)?;
    Ok((spool, rows.finish()))
}

/// The reason why a scan gives no rows.
enum ScanError {
    /// It cannot begin.
    Begin(Failure),
    /// The disk does not take its rows.
    Write(statwalk_snapshot::Error),
}

/// The folder that is being written, which a scan of the store's own file system would meet.
struct OwnFolder {
    name: String,
    was_met: Arc<AtomicBool>,
}

impl OwnFolder {
    fn new(name: String) -> OwnFolder {
        OwnFolder {
            name,
            was_met: Arc::default(),
        }
    }

    fn leave_out(&self, scan: Scan) -> Scan {
        let (name, was_met) = (self.name.clone(), Arc::clone(&self.was_met));
        // Its number is random: no other directory has the name.
        scan.filter_dir(move |dir| {
            let is_own = dir.name() == name.as_bytes();
            if is_own {
                was_met.store(true, Ordering::Relaxed);
            }
            !is_own
        })
    }

    /// Whether the scan met it: then it counts as excluded, and nobody excluded it.
    fn was_met(&self) -> bool {
        self.was_met.load(Ordering::Relaxed)
    }
}

impl Target {
    /// Opens the place before the scan, so that nobody waits for a scan that cannot be stored.
    fn open(flags: &SnapshotFlags, root: &Path, machine: &Here) -> Result<Target, Failure> {
        let Some(output) = &flags.output else {
            let key = Key {
                host: Origin::of_this_process().host.clone(),
                file_system: machine.identity(root).into_bytes(),
                root: root.as_os_str().as_bytes().to_vec(),
            };
            let shelf = store()?.open(&key)?;
            for name in shelf.clear()? {
                say_removed(shelf.path(), &name);
            }
            return Ok(Target::Store(shelf));
        };
        let cannot = |error: &io::Error| {
            let output = shown(output);
            Failure::Usage(format!("cannot write {output}: {}", reason(error)))
        };
        let exists = || Failure::Usage(format!("cannot write {}: file exists", shown(output)));
        let name = output.file_name().ok_or_else(exists)?.to_owned();
        let parent = match output.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let parent = parent.canonicalize().map_err(|error| cannot(&error))?;
        if parent.join(&name).symlink_metadata().is_ok() {
            return Err(exists());
        }
        let needed = Access::WRITE_OK | Access::EXEC_OK;
        let access = rustix::fs::access(&parent, needed);
        access.map_err(|errno| cannot(&errno.into()))?;
        let clear = || clear_neighbourhood(&parent);
        let joined = Neighbours::join(&parent, clear).map_err(|error| cannot(&error))?;
        Ok(Target::Folder {
            parent,
            name,
            _neighbours: joined.0,
        })
    }

    /// The folder that gets the snapshot.
    fn parent(&self) -> &Path {
        match self {
            Target::Store(shelf) => shelf.path(),
            Target::Folder { parent, .. } => parent,
        }
    }

    fn begin(&self, number: u64) -> Result<Folder, Failure> {
        let parent = self.parent();
        Folder::begin(parent, number).map_err(|error| failure("write", parent, &error))
    }

    /// Gives the snapshot its name.
    fn finish(
        &self,
        folder: Folder,
        manifest: &Manifest,
        began_ns: i64,
    ) -> Result<PathBuf, Failure> {
        let name: OsString = match self {
            Target::Store(shelf) => shelf.next(began_ns)?.folder().into(),
            Target::Folder { name, .. } => name.clone(),
        };
        let named = folder.finish(manifest, &name);
        named.map_err(|error| match error.kind() {
            ErrorKind::Exists => {
                let path = shown(&self.parent().join(&name));
                Failure::Usage(format!("cannot write {path}: file exists"))
            }
            _ => failure("write", self.parent(), &error),
        })
    }
}

/// Removes what killed runs of this user left in a folder, which others may use, too.
fn clear_neighbourhood(parent: &Path) {
    let own = rustix::process::geteuid().as_raw();
    let entries = std::fs::read_dir(parent).into_iter().flatten().flatten();
    for entry in entries {
        let name = entry.file_name();
        let is_own = || entry.metadata().is_ok_and(|found| found.uid() == own);
        if !Folder::is_leftover(&name) || !is_own() {
            continue;
        }
        match Folder::remove_leftover(parent, &name) {
            Ok(()) => say_removed(parent, &name),
            // It stays, and hinders nobody.
            Err(error) => say(&failure("remove", &parent.join(&name), &error).to_string()),
        }
    }
}

fn say_removed(folder: &Path, name: &OsStr) {
    let path = shown(&folder.join(name));
    say(&format!(
        "removed {path}, which a run that was killed left behind"
    ));
}

/// The rules by which older snapshots go.
struct Rules {
    keep: Option<Keep>,
    bytes_max: Option<u64>,
}

impl Rules {
    fn new(flags: &SnapshotFlags) -> Result<Rules, Failure> {
        let keep = flags.keep.as_deref().map(|text| {
            let keep = text.parse();
            keep.map_err(|reason| invalid("--keep", text, reason))
        });
        let bytes_max = flags.keep_size.as_deref();
        let bytes_max = bytes_max
            .map(|text| size("--keep-size", text))
            .transpose()?;
        Ok(Rules {
            keep: keep.transpose()?,
            bytes_max: bytes_max.map(|bytes| u64::try_from(bytes).unwrap_or(u64::MAX)),
        })
    }

    /// Removes those that go. Answers with their folders.
    fn thin_out(
        &self,
        shelf: &Shelf,
        newest: &Path,
        manifest: &Manifest,
    ) -> Result<Vec<String>, Failure> {
        if self.keep.is_none() && self.bytes_max.is_none() {
            return Ok(Vec::new());
        }
        let mut all = Vec::new();
        for stored in shelf.snapshots()? {
            let folder = shelf.path().join(stored.folder());
            let read = match folder == newest {
                true => Ok(manifest.clone()),
                false => Manifest::read(&folder),
            };
            // One that cannot be read is for the user to look at, and no reason to stop.
            match read {
                Ok(manifest) => all.push(Kept {
                    stored,
                    bytes: manifest.bytes(),
                    is_whole: !manifest.facts.interrupted,
                }),
                Err(error) => say(&failure("read", &folder, &error).to_string()),
            }
        }
        let mut going = Vec::new();
        if let Some(keep) = self.keep {
            going = keep.going(&all, &TimeZone::system());
            all.retain(|kept| !going.contains(&kept.stored));
        }
        if let Some(bytes) = self.bytes_max {
            going.extend(going_by_size(&all, bytes));
        }
        let mut removed = Vec::new();
        for stored in going {
            shelf.remove(stored, random::number())?;
            removed.push(stored.folder());
        }
        Ok(removed)
    }
}

/// The directories of older states that a scan leaves out.
#[derive(Default)]
struct OlderStates(Arc<Mutex<BTreeSet<Vec<u8>>>>);

impl OlderStates {
    fn leave_out(&self, scan: Scan) -> Scan {
        let seen = Arc::clone(&self.0);
        scan.filter_dir(move |dir| {
            let is_other = !OLDER_STATES.contains(&dir.name());
            if !is_other {
                let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
                seen.insert(dir.path());
            }
            is_other
        })
    }

    /// The sentence that names them; absent where there is none.
    fn sentence(&self) -> Option<String> {
        let seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.is_empty() {
            return None;
        }
        let named: Vec<_> = (seen.iter().take(NAMED_MAX))
            .map(|path| shown(Path::new(OsStr::from_bytes(path))))
            .collect();
        let more = match seen.len() - named.len() {
            0 => String::new(),
            more => format!(" … {more} more"),
        };
        let directories = counted(seen.len() as u64, "directory", "directories");
        Some(format!(
            "left out {directories} of older states: {}{more}; to enter them: --include-snapshots",
            named.join(", ")
        ))
    }
}

/// The facts about the scan that its rows do not have.
fn facts(
    flags: &SnapshotFlags,
    request: &Request,
    root: &Path,
    report: &Report,
    fields: ScanFields,
) -> Facts {
    let began_ns = request.origin.started_ns;
    let bytes = root.as_os_str().as_bytes().to_vec();
    let gaps = &report.roots[0];
    Facts {
        program: format!("statwalk {}", env!("CARGO_PKG_VERSION")),
        host: String::from_utf8_lossy(&request.origin.host).into_owned(),
        began_ns,
        // A clock that goes back would end a scan before its begin.
        ended_ns: clock::now_ns().max(began_ns),
        roots: vec![Root {
            path: bytes.clone(),
            absolute: bytes,
            missing: gaps.missing.map(|errno| errno.0),
            reached_earlier: gaps.reached_earlier,
            interrupted: gaps.interrupted,
            unreadable: gaps.unreadable,
            vanished: gaps.vanished,
            changed_dirs: gaps.changed_dirs,
            excluded: gaps.excluded,
            crossings: gaps.crossings,
            restless_dirs: gaps.restless_dirs,
            overlays_left_out: gaps.overlays_left_out,
            mounts_perhaps_twice: gaps.mounts_perhaps_twice,
            repeated_names: gaps.repeated_names,
        }],
        fields: field_names(fields),
        links: match flags.scan.links.count_links {
            true => Links::Each,
            false => Links::Once,
        },
        follows: flags.scan.links.follow,
        interrupted: report.interrupted,
        options: options(flags, report),
    }
}

/// The options of the scan, and what else its report has.
fn options(flags: &SnapshotFlags, report: &Report) -> Map<String, Value> {
    let read = &flags.scan.walk.read;
    let text = |bytes: &[u8]| statwalk_view::json_path(bytes).0;
    let words =
        |words: &[OsString]| -> Value { words.iter().map(|word| text(word.as_bytes())).collect() };
    let files: Vec<OsString> = read
        .exclude_from
        .iter()
        .map(|file| file.clone().into())
        .collect();
    let left_out: Vec<Value> = (report.left_out.iter())
        .map(|one| {
            let path = ("path".to_owned(), text(&one.path).into());
            let kind = ("file_system".to_owned(), one.file_system.into());
            Value::Object(Map::from_iter([path, kind]))
        })
        .collect();
    let hanging: Vec<Value> = report
        .hanging
        .iter()
        .map(|path| text(path).into())
        .collect();
    let mut options = Map::new();
    let mut set = |name: &str, value: Value| options.insert(name.to_owned(), value);
    set("one_file_system", read.one_file_system.into());
    set("exclude", words(&read.exclude));
    set("exclude_from", words(&files));
    set("exclude_caches", read.exclude_caches.into());
    set("gitignore", read.gitignore.into());
    set("include_kernfs", read.include_kernfs.into());
    set("include_snapshots", flags.include_snapshots.into());
    set("source", report.plan.source.into());
    set("left_out", left_out.into());
    set("hanging", hanging.into());
    options
}

impl Answer for WrittenAnswer {
    fn lines(&self, screen: Screen) -> Vec<String> {
        let size = SizeFormat::Binary.text(self.manifest.bytes().into());
        let entries = grouped(self.manifest.counts.entries);
        let folder = shown(&self.folder);
        let mut lines = wrap(
            &format!("{folder}: {size} for {entries} entries"),
            screen.terminal,
        );
        if !self.removed.is_empty() {
            let count = counted(self.removed.len() as u64, "snapshot", "snapshots");
            let text = format!("Removed {count}: {}.", self.removed.join(", "));
            lines.extend(wrap(&text, screen.terminal));
        }
        if self.manifest.facts.interrupted {
            lines.extend(wrap(
                "Interrupted: the snapshot has a part of the tree.",
                screen.terminal,
            ));
        }
        lines
    }

    fn write_rows(&self, rows: &mut Rows) -> Result<(), Failure> {
        let entries = self.manifest.counts.entries.to_string();
        let bytes = self.manifest.bytes().to_string();
        rows.row(&[&entries, &bytes], self.folder.as_os_str().as_bytes())
    }

    fn document(&self) -> impl Serialize {
        json::alone(&self.about.origin, Document(self))
    }
}

/// The document, with the snapshot as an object in it.
struct Document<'a>(&'a WrittenAnswer);

impl Fields for Document<'_> {
    fn write(&self, object: &mut Object<impl SerializeMap>) {
        let about = &self.0.about;
        object.field("complete", about.gaps.is_complete);
        object.flag("interrupted", about.gaps.interrupted);
        object.elapsed(about.elapsed);
        Field("snapshot", self.0).write(object);
    }
}

impl Fields for WrittenAnswer {
    fn write(&self, object: &mut Object<impl SerializeMap>) {
        object.text("folder", self.folder.as_os_str().as_bytes());
        object.text("root", &self.manifest.facts.roots[0].absolute);
        object.field("entries", self.manifest.counts.entries);
        object.field("bytes", self.manifest.bytes());
        object.field("removed", &self.removed);
    }
}
