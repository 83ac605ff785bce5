// SPDX-License-Identifier: MIT OR Apache-2.0

//! `statwalk df [PATH…]`: the used space of file systems, and the parts of it.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::ffi::OsString;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde::Serialize;
use statwalk_core::btrfs::{ExtentUsage, extent_usage};
use statwalk_core::space::{FileSystem, SpaceAccount};
use statwalk_core::{InodeTable, Inodes, Outcome, Sink, Totals};
use statwalk_view::{Charset, SizeFormat, Terminal, escape};

use crate::answer::about::About;
use crate::answer::origin::Origin;
use crate::commands::delivery::{conclude, print};
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::flags::{DfFlags, When};
use crate::output::ending::Errors;
use crate::output::json::{self, DfJson, FileSystemJson, NotScannedJson};
use crate::output::plain::Rows;
use crate::output::printer::Answer;
use crate::output::screen::Screen;
use crate::output::space_list::{self, ListedSpace, Note};
use crate::output::space_table::{SpaceTable, signed_text};
use crate::request::file_systems::{MountedSpace, Space, file_systems};
use crate::request::{Form, Request, RowEnd, Sizes, form};
use crate::watch::progress::ShareLine;
use crate::watch::{PERIOD, watch};

/// How long a file system may take to answer.
const ANSWER_WAIT: Duration = Duration::from_secs(10);

/// The number of files without a name and of hidden directories, unless the user sets one.
const DETAILS_DEFAULT: usize = 5;

/// The file systems of all paths, or all of the machine.
pub(super) struct DfAnswer {
    origin: Arc<Origin>,
    sizes: Sizes,
    details_max: usize,
    explained: Vec<Explained>,
    /// Those that no scan explains, where the user named no path.
    not_scanned: Vec<NotScanned>,
    /// Whether the user named no path, and there are several: then one table has them all.
    is_list: bool,
}

/// A file system without a scan, and the reason.
struct NotScanned {
    mounted: MountedSpace,
    reason: String,
}

/// A file system with its account.
struct Explained {
    request: Request,
    file_system: FileSystem,
    about: About,
    account: SpaceAccount,
    /// The blocks of the entries that the scan reached.
    reached_bytes: u128,
}

pub(super) fn run(flags: DfFlags) -> Result<ExitStatus, Failure> {
    let form = form(&flags.form);
    let (answer, mut status) = answer_of(&flags)?;
    print(&answer, form)?;
    for explained in &answer.explained {
        let errors = conclude(&explained.request, &explained.about, Errors::Untold);
        status = worse(status, errors);
    }
    Ok(status)
}

/// Scans the file systems, and makes the answer; with the status of those that have none.
///
/// # Errors
///
/// Returns an error for flags without a meaning, and where no answer can be made.
pub(super) fn answer_of(flags: &DfFlags) -> Result<(DfAnswer, ExitStatus), Failure> {
    let sizes = Sizes::on_disk(&flags.units)?;
    let form = form(&flags.form);
    let mut answer = DfAnswer {
        origin: Origin::of_this_process(),
        sizes,
        details_max: flags.lines.unwrap_or(DETAILS_DEFAULT),
        explained: Vec::new(),
        not_scanned: Vec::new(),
        is_list: false,
    };
    let lookout = Watched {
        progress: flags.progress,
        format: sizes.format,
    };
    let status = match flags.paths.is_empty() {
        true => answer.add_all(form, &lookout)?,
        false => answer.add_paths(&flags.paths, form, &lookout)?,
    };
    answer.is_list =
        flags.paths.is_empty() && (answer.explained.len() != 1 || !answer.not_scanned.is_empty());
    Ok((answer, status))
}

impl DfAnswer {
    /// Explains the file systems of paths, each once.
    fn add_paths(
        &mut self,
        paths: &[OsString],
        form: Form,
        lookout: &Watched,
    ) -> Result<ExitStatus, Failure> {
        let mut status = ExitStatus::Complete;
        let mut seen = HashSet::new();
        for path in paths {
            let file_system = match file_system_of(Path::new(path)) {
                Ok(file_system) => file_system,
                Err(failure) => {
                    status = failure.report();
                    continue;
                }
            };
            if seen.insert(file_system.device()) && self.add(file_system, form, lookout)? {
                break;
            }
        }
        Ok(status)
    }

    /// Explains the file systems of the machine, but for those elsewhere.
    fn add_all(&mut self, form: Form, lookout: &Watched) -> Result<ExitStatus, Failure> {
        let mut status = ExitStatus::Complete;
        let mut is_interrupted = false;
        let mut seen = HashSet::new();
        for mounted in file_systems(ANSWER_WAIT)? {
            let mut leave_out = |reason: String| {
                self.not_scanned.push(NotScanned {
                    mounted: mounted.clone(),
                    reason,
                })
            };
            if mounted.space.is_none() {
                status = ExitStatus::Incomplete;
                leave_out(format!("no answer for {} s", ANSWER_WAIT.as_secs()));
            } else if is_interrupted {
                leave_out("interrupted before its scan".to_owned());
            } else if mounted.is_remote() {
                leave_out(format!("{} is not scanned unasked", mounted.file_system));
            } else {
                match file_system_of(&mounted.point) {
                    Ok(file_system) if seen.insert(file_system.device()) => {
                        is_interrupted = self.add(file_system, form, lookout)?;
                    }
                    Ok(_) => {}
                    Err(failure) => {
                        status = ExitStatus::Incomplete;
                        leave_out(failure.to_string());
                    }
                }
            }
        }
        Ok(status)
    }

    /// Scans a file system. Returns whether the user interrupted that.
    fn add(
        &mut self,
        file_system: FileSystem,
        form: Form,
        lookout: &Watched,
    ) -> Result<bool, Failure> {
        let points = file_system.shown().map(PathBuf::from).collect();
        let request = Request::of_scan(file_system.scan(), points, form, lookout.progress);
        let explained = explain(file_system, request, lookout)?;
        let is_interrupted = explained.about.gaps.interrupted;
        self.explained.push(explained);
        Ok(is_interrupted)
    }

    /// The file systems as one list, the fullest first.
    fn listed(&self) -> Vec<ListedSpace<'_>> {
        let explained = self.explained.iter().map(|explained| ListedSpace {
            point: explained.file_system.point(),
            space: Some(explained.space()),
            note: Note::Explained(&explained.account),
        });
        let others = self.not_scanned.iter().map(|other| ListedSpace {
            point: &other.mounted.point,
            space: other.mounted.space,
            note: Note::NotScanned(&other.reason),
        });
        let mut listed: Vec<_> = explained.chain(others).collect();
        listed.sort_by_key(|one| Reverse(one.space.map(|space| space.used_bytes)));
        listed
    }
}

/// Finds the file system that holds a path. It may be on a server that is dead, so a
/// thread asks it first, and stays behind. To find it can take longer, for an XFS is synced.
///
/// # Errors
///
/// Returns the reason why there is none, or that there is no answer.
pub(crate) fn file_system_of(path: &Path) -> Result<FileSystem, Failure> {
    let (sender, answer) = mpsc::channel();
    let asked = path.to_owned();
    let asks = thread::Builder::new().spawn(move || {
        let _ = (std::fs::metadata(&asked), rustix::fs::statvfs(&asked));
        let _ = sender.send(());
    });
    // Where the system gives no thread, the caller waits.
    if asks.is_ok() && answer.recv_timeout(ANSWER_WAIT).is_err() {
        let path = escape(path.as_os_str().as_bytes(), Charset::Unicode);
        let seconds = ANSWER_WAIT.as_secs();
        let text = format!("cannot stat {path}: no answer for {seconds} s");
        return Err(Failure::Usage(text));
    }
    Ok(FileSystem::holding(path)?)
}

/// The table for the file system of a directory, for the browser. It shows nothing while
/// it scans, and ends where `stop` asks for it.
///
/// # Errors
///
/// Returns the reason why there is no table.
pub(crate) fn table_of(
    directory: &Path,
    format: SizeFormat,
    terminal: Terminal,
    stop: &AtomicBool,
) -> Result<Vec<String>, Failure> {
    let file_system = file_system_of(directory)?;
    let points = file_system.shown().map(PathBuf::from).collect();
    let form = Form::Rows(RowEnd::Newline);
    let request = Request::of_scan(file_system.scan(), points, form, When::Never);
    let explained = explain(file_system, request, &Quiet(stop))?;
    // The box of the browser scrolls.
    Ok(explained
        .table(format, DETAILS_DEFAULT)
        .lines(usize::MAX, terminal))
}

/// The one who looks after the scan.
trait Lookout {
    fn scan<S: Sink>(&self, request: &Request, sink: &S) -> Result<Outcome<S::Output>, Failure>;
    fn extents(&self, inodes: InodeTable) -> Option<ExtentUsage>;
}

/// Shows the progress on stderr, and takes signals.
struct Watched {
    progress: When,
    format: SizeFormat,
}

impl Lookout for Watched {
    fn scan<S: Sink>(&self, request: &Request, sink: &S) -> Result<Outcome<S::Output>, Failure> {
        watch(&request.scan, sink, request.progress(Some(self.format)))
    }

    fn extents(&self, inodes: InodeTable) -> Option<ExtentUsage> {
        let line = ShareLine::new(self.progress);
        let usage = extent_usage(inodes, |progress| {
            line.tick("of files and extents", progress.done, progress.of);
            ControlFlow::Continue(())
        });
        line.clear();
        usage.ok()
    }
}

/// Shows nothing, and asks whether the answer is still wanted.
struct Quiet<'a>(&'a AtomicBool);

impl Lookout for Quiet<'_> {
    fn scan<S: Sink>(&self, request: &Request, sink: &S) -> Result<Outcome<S::Output>, Failure> {
        let running = request.scan.start(sink)?;
        while !running.wait_for(PERIOD) {
            if self.0.load(Relaxed) {
                running.canceller().cancel();
                break;
            }
        }
        Ok(running.finish())
    }

    fn extents(&self, inodes: InodeTable) -> Option<ExtentUsage> {
        let go_on = |_| match self.0.load(Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        extent_usage(inodes, go_on).ok()
    }
}

/// Scans a file system, and accounts for its used bytes.
fn explain(
    file_system: FileSystem,
    request: Request,
    lookout: &impl Lookout,
) -> Result<Explained, Failure> {
    let sums = Totals::new();
    let mut extents = None;
    let (totals, report) = match file_system.file_system() {
        Some("btrfs") => {
            let outcome = lookout.scan(&request, &(sums, Inodes::new()))?;
            let (totals, inodes) = outcome.output;
            if !outcome.report.interrupted {
                // Without the right to search the trees the part stays unknown.
                extents = lookout.extents(inodes);
            }
            (totals, outcome.report)
        }
        _ => {
            let outcome = lookout.scan(&request, &sums)?;
            (outcome.output, outcome.report)
        }
    };
    let account = file_system.account(&totals, &report, extents.as_ref())?;
    let shown = totals.iter().take(file_system.shown().count());
    let reached_bytes = shown
        .filter_map(|root| root.sizes)
        .map(|sizes| sizes.allocated_bytes)
        .sum();
    let about = About::of_scan(&request, report, &totals);
    Ok(Explained {
        request,
        file_system,
        about,
        account,
        reached_bytes,
    })
}

/// The one of two statuses that counts: a signal, then a missing path, then an entry that
/// could not be read.
fn worse(a: ExitStatus, b: ExitStatus) -> ExitStatus {
    let rank = |status| match status {
        ExitStatus::Complete => 0,
        ExitStatus::Incomplete => 1,
        ExitStatus::OverLimit => 2,
        ExitStatus::Failed => 3,
        ExitStatus::Interrupted(_) => 4,
    };
    match rank(b) > rank(a) {
        true => b,
        false => a,
    }
}

impl Explained {
    fn table(&self, format: SizeFormat, details_max: usize) -> SpaceTable<'_> {
        SpaceTable {
            file_system: &self.file_system,
            account: &self.account,
            reached_bytes: self.reached_bytes,
            format,
            details_max,
        }
    }

    fn space(&self) -> Space {
        let capacity = self.account.capacity;
        Space {
            total_bytes: capacity.total_bytes,
            used_bytes: capacity.used_bytes,
            free_bytes: capacity.free_bytes,
        }
    }
}

impl Answer for DfAnswer {
    fn lines(&self, screen: Screen) -> Vec<String> {
        let format = self.sizes.format;
        let (rows, terminal) = (screen.rows, screen.terminal);
        if self.is_list {
            return space_list::lines(&self.listed(), format, rows, terminal);
        }
        let mut lines = Vec::new();
        for explained in &self.explained {
            if !lines.is_empty() {
                lines.push(String::new());
            }
            let table = explained.table(format, self.details_max);
            lines.extend(table.lines(rows, terminal));
        }
        lines
    }

    fn write_rows(&self, rows: &mut Rows) -> Result<(), Failure> {
        let format = self.sizes.format_in_rows;
        let explained = self.explained.iter();
        let explained = explained.map(|one| (one.file_system.point(), one.space(), Some(one)));
        let others = self.not_scanned.iter();
        let others = others.filter_map(|one| Some((&*one.mounted.point, one.mounted.space?, None)));
        for (point, space, explained) in explained.chain(others) {
            let point = point.as_os_str().as_bytes();
            let account = explained.map(|one| &one.account);
            let reserved = account.map(|account| account.capacity.reserved_bytes);
            for (name, bytes) in [
                ("total", Some(space.total_bytes)),
                ("free", Some(space.free_bytes)),
                ("reserved-for-root", reserved),
                ("used", Some(space.used_bytes)),
            ] {
                let Some(bytes) = bytes else { continue };
                rows.row(&[&format.text(bytes.into()), name], point)?;
            }
            for (part, bytes) in account.iter().flat_map(|account| &account.parts) {
                rows.row(&[&signed_text(format, *bytes), part.name()], point)?;
            }
        }
        Ok(())
    }

    fn document(&self) -> impl Serialize {
        let file_systems = self.explained.iter().map(|explained| {
            FileSystemJson::new(&explained.file_system, &explained.account, &explained.about)
        });
        let not_scanned = self.not_scanned.iter();
        let not_scanned = not_scanned.map(|one| NotScannedJson::new(&one.mounted, &one.reason));
        let document = DfJson::new(file_systems.collect(), not_scanned.collect());
        json::alone(&self.origin, document)
    }
}
