// SPDX-License-Identifier: MIT OR Apache-2.0

//! `statwalk df PATH…`: the used space of a file system, and the parts of it.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde::Serialize;
use statwalk_core::btrfs::{ExtentUsage, extent_usage};
use statwalk_core::space::{FileSystem, SpaceAccount, UnnamedFile, UsedPart};
use statwalk_core::{InodeTable, Inodes, Outcome, Report, Sink, Totals};
use statwalk_view::{
    Align, Cell, Charset, Column, SizeFormat, Terminal, escape, grouped, list_table, share, wrap,
};

use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::flags::{DfFlags, When};
use crate::output::ending::{self, Errors};
use crate::output::json::{self, DfJson, FileSystemJson};
use crate::output::plain::Rows;
use crate::output::printer::{Answer, print};
use crate::output::screen::Screen;
use crate::request::{Form, Request, RowEnd, Sizes, form};
use crate::watch::progress::ShareLine;
use crate::watch::{PERIOD, watch};

/// How long a file system may take to answer.
const ANSWER_WAIT: Duration = Duration::from_secs(10);

/// The number of files without a name, unless the user sets one.
const FILES_DEFAULT: usize = 5;

/// The file systems of all paths.
struct DfAnswer {
    sizes: Sizes,
    files_max: usize,
    explained: Vec<Explained>,
}

/// A file system with its account.
struct Explained {
    request: Request,
    file_system: FileSystem,
    report: Report,
    account: SpaceAccount,
}

pub(super) fn run(flags: DfFlags) -> Result<ExitStatus, Failure> {
    let sizes = Sizes::on_disk(&flags.units)?;
    let form = form(&flags.form);
    let mut paths: Vec<PathBuf> = flags.paths.iter().map(PathBuf::from).collect();
    if paths.is_empty() {
        paths.push(PathBuf::from("."));
    }
    let mut answer = DfAnswer {
        sizes,
        files_max: flags.lines.unwrap_or(FILES_DEFAULT),
        explained: Vec::new(),
    };
    let mut status = ExitStatus::Complete;
    let mut seen = HashSet::new();
    for path in paths {
        let file_system = match file_system_of(&path) {
            Ok(file_system) => file_system,
            Err(failure) => {
                status = failure.report();
                continue;
            }
        };
        if !seen.insert(file_system.device()) {
            continue;
        }
        let points = file_system.shown().map(PathBuf::from).collect();
        let request = Request::of_scan(file_system.scan(), points, form, flags.progress);
        let lookout = Watched {
            progress: flags.progress,
            format: sizes.format,
        };
        let explained = explain(file_system, request, &lookout)?;
        let is_interrupted = explained.report.interrupted;
        answer.explained.push(explained);
        if is_interrupted {
            break;
        }
    }
    print(&answer, form)?;
    for explained in &answer.explained {
        let errors = ending::conclude(&explained.request, &explained.report, Errors::Untold);
        status = worse(status, errors);
    }
    Ok(status)
}

/// Finds the file system that holds a path. It may be on a server that is dead, so a
/// thread asks it first, and stays behind. To find it can take longer, for an XFS is synced.
///
/// # Errors
///
/// Returns the reason why there is none, or that there is no answer.
fn file_system_of(path: &Path) -> Result<FileSystem, Failure> {
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
    Ok(explained.lines(format, FILES_DEFAULT, terminal))
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
    let sums = Totals::with_sizes();
    let mut extents = None;
    let (totals, report) = match file_system.file_system() {
        Some("btrfs") => {
            let outcome = lookout.scan(&request, &(sums, Inodes))?;
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
    Ok(Explained {
        request,
        file_system,
        report,
        account,
    })
}

/// The one of two statuses that counts: a signal, then a missing path, then an entry that
/// could not be read.
fn worse(a: ExitStatus, b: ExitStatus) -> ExitStatus {
    let rank = |status| match status {
        ExitStatus::Complete => 0,
        ExitStatus::OverLimit => 1,
        ExitStatus::Incomplete => 2,
        ExitStatus::Failed => 3,
        ExitStatus::Interrupted(_) => 4,
    };
    match rank(b) > rank(a) {
        true => b,
        false => a,
    }
}

/// A size that can be below zero.
fn signed_text(format: SizeFormat, bytes: i64) -> String {
    let text = format.text(bytes.unsigned_abs().into());
    match bytes < 0 {
        true => format!("-{text}"),
        false => text,
    }
}

/// The words for a part.
fn words(part: UsedPart) -> &'static str {
    match part {
        UsedPart::Reached => "reached by the scan",
        UsedPart::DeletedOpen => "deleted but still open",
        UsedPart::HiddenByMounts => "hidden below mount points",
        UsedPart::Metadata => "metadata",
        UsedPart::Reserved => "kept back by the file system",
        UsedPart::Sharing => "compression and shared extents",
        UsedPart::OtherSubvolumes => "held by other subvolumes and snapshots",
        _ => "remainder",
    }
}

impl Explained {
    /// The tables, and the sentences below them.
    fn lines(&self, format: SizeFormat, files_max: usize, terminal: Terminal) -> Vec<String> {
        let right = |title| Column::new(title, Align::Right);
        let left = |title| Column::new(title, Align::Left);
        let mut lines = wrap(&self.title(format, terminal), terminal);
        let columns = [right("DISK"), right("SHARE").optional(), left("SPACE")];
        lines.extend(list_table(&columns, &self.space_rows(format), terminal));
        let files = self.file_rows(format, files_max);
        if !files.is_empty() {
            lines.push(String::new());
            let columns = [
                right("DISK"),
                right("PID"),
                left("PROCESS").optional(),
                left("DELETED, STILL OPEN"),
            ];
            lines.extend(list_table(&columns, &files, terminal));
            let rest = self.account.unnamed.len() - files.len();
            if rest > 0 {
                lines.push(format!("… {} more", grouped(rest as u64)));
            }
        }
        let sentences = self.sentences(format);
        if !sentences.is_empty() {
            lines.push(String::new());
        }
        lines.extend(sentences.iter().flat_map(|text| wrap(text, terminal)));
        lines
    }

    /// The line that names the file system.
    fn title(&self, format: SizeFormat, terminal: Terminal) -> String {
        let charset = terminal.charset;
        let point = escape(self.file_system.point().as_os_str().as_bytes(), charset).into_owned();
        match (self.file_system.file_system(), self.file_system.source()) {
            (Some(kind), Some(source)) => {
                let kind = escape(kind.as_bytes(), charset);
                let source = escape(source, charset);
                let whole = self.account.capacity.total_bytes + self.outside_bytes().unwrap_or(0);
                format!("{point}: {kind} on {source}, {}", format.text(whole.into()))
            }
            _ => point,
        }
    }

    /// The space of the device that is not in the blocks of files.
    fn outside_bytes(&self) -> Option<u64> {
        let capacity = self.account.capacity;
        // statfs counts the devices of a btrfs together.
        let device = capacity
            .device_bytes
            .filter(|_| self.file_system.file_system() != Some("btrfs"));
        let outside = device?.checked_sub(capacity.total_bytes);
        outside.filter(|bytes| *bytes > 0)
    }

    /// The rows of the device, then those of the used bytes.
    fn space_rows(&self, format: SizeFormat) -> Vec<Vec<Cell<'static>>> {
        let capacity = self.account.capacity;
        let size = |bytes: u64| format.text(bytes.into());
        let row = |size: String, share: String, words: &'static str| {
            vec![
                Cell::Text(size.into()),
                Cell::Text(share.into()),
                Cell::Text(words.into()),
            ]
        };
        let whole = capacity.total_bytes + self.outside_bytes().unwrap_or(0);
        let of_whole = |bytes: u64| share(bytes.into(), whole.into());
        let mut rows = Vec::new();
        if let Some(outside) = self.outside_bytes() {
            rows.push(row(
                size(outside),
                of_whole(outside),
                "outside the blocks of files: metadata, journal",
            ));
        }
        let used = capacity.used_bytes;
        rows.push(row(
            size(capacity.free_bytes),
            of_whole(capacity.free_bytes),
            "free",
        ));
        if capacity.reserved_bytes > 0 {
            rows.push(row(
                size(capacity.reserved_bytes),
                of_whole(capacity.reserved_bytes),
                "  of this reserved for root",
            ));
        }
        rows.push(row(size(used), of_whole(used), "used, of this:"));
        let parts = self.account.parts.iter();
        let shown = parts.filter(|(part, bytes)| *bytes != 0 || *part == UsedPart::Remainder);
        rows.extend(shown.map(|(part, bytes)| {
            let sign = if *bytes < 0 { "-" } else { "" };
            let share = share(bytes.unsigned_abs().into(), used.into());
            vec![
                Cell::Text(signed_text(format, *bytes).into()),
                Cell::Text(format!("{sign}{share}").into()),
                Cell::Text(format!("  {}", words(*part)).into()),
            ]
        }));
        rows
    }

    /// The sentences below the table.
    fn sentences(&self, format: SizeFormat) -> Vec<String> {
        let mut lines: Vec<String> = self
            .account
            .unknown
            .iter()
            .map(|unknown| {
                let part = words(unknown.part);
                format!("In the remainder: {part}; {}.", unknown.reason)
            })
            .collect();
        if self.account.unreadable > 0 {
            let count = grouped(self.account.unreadable);
            lines.push(format!("In the remainder: {count} unreadable entries."));
        }
        let changed = self.account.changed_bytes;
        if changed != 0 {
            lines.push(format!(
                "The used space changed by {} during the scan.",
                signed_text(format, changed)
            ));
        }
        if self.account.capacity.total_bytes == 0 {
            lines.push("This file system has no blocks of its own.".to_owned());
        }
        lines
    }

    /// The rows of the largest files without a name.
    fn file_rows(&self, format: SizeFormat, files_max: usize) -> Vec<Vec<Cell<'_>>> {
        let files = self.account.unnamed.iter().take(files_max);
        let cells = |file: &'_ UnnamedFile| {
            let first = file.holders.first();
            let more = file.holders.len().saturating_sub(1) as u64 + file.more_holders;
            let pid = first
                .map(|holder| holder.pid.to_string())
                .unwrap_or_default();
            let pid = match more {
                0 => pid,
                more => format!("{pid} +{more}"),
            };
            let name = first.map(|holder| holder.name.clone()).unwrap_or_default();
            let path = match &file.path {
                Some(path) => Cell::Name(path.clone().into()),
                None => Cell::Text(format!("inode {}, no process seen", file.inode).into()),
            };
            vec![
                Cell::Text(format.text(file.allocated_bytes.into()).into()),
                Cell::Text(pid.into()),
                Cell::Name(name.into()),
                path,
            ]
        };
        files.map(cells).collect()
    }
}

impl Answer for DfAnswer {
    fn lines(&self, screen: Screen) -> Vec<String> {
        let mut lines = Vec::new();
        for explained in &self.explained {
            if !lines.is_empty() {
                lines.push(String::new());
            }
            let format = self.sizes.format;
            lines.extend(explained.lines(format, self.files_max, screen.terminal));
        }
        lines
    }

    fn write_rows(&self, rows: &mut Rows) -> Result<(), Failure> {
        let format = self.sizes.format_in_rows;
        for explained in &self.explained {
            let capacity = explained.account.capacity;
            let point = explained.file_system.point().as_os_str().as_bytes();
            for (name, bytes) in [
                ("total", capacity.total_bytes),
                ("free", capacity.free_bytes),
                ("reserved-for-root", capacity.reserved_bytes),
                ("used", capacity.used_bytes),
            ] {
                rows.row(&[&format.text(bytes.into()), name], point)?;
            }
            for (part, bytes) in &explained.account.parts {
                rows.row(&[&signed_text(format, *bytes), part.name()], point)?;
            }
        }
        Ok(())
    }

    fn document(&self) -> impl Serialize {
        let file_systems = self.explained.iter().map(|explained| {
            FileSystemJson::new(
                &explained.file_system,
                &explained.account,
                &explained.report,
                ending::errors(&explained.request, &explained.report),
            )
        });
        json::alone(DfJson::new(file_systems.collect()))
    }
}
