// SPDX-License-Identifier: MIT OR Apache-2.0

//! The record of items: a line of JSON before each act, and one with its end.
//!
//! A user removes files because the disk is full, and a full disk has no room for the
//! line. So a line that fails for want of space does not stop the removal: the journal
//! keeps it, and writes it after the next items have gone, marked as late. Any other
//! failure, for instance of permission, stops the item: then the user can choose to
//! remove without a journal. A report counts late and lost lines.
//!
//! The line of the end is not on the disk before the next line or the end of the removal
//! is: one sync serves both.

use std::ffi::OsStr;
use std::fs::File;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use serde::Serialize;
use statwalk_sys::user;
use statwalk_view::json_path;

use crate::item::Item;
use crate::monitor::Monitor;
use crate::now::Now;
use crate::outcome::End;
use crate::owner_mode;
use crate::trusted_way;

/// The lock is tried so often at least.
const LOCK_INTERVAL_MAX: Duration = Duration::from_millis(32);

/// The end of a stopped removal waits so long for the lock: its lines tell of items that
/// are gone. Another process has the lock for the time of one sync.
const LAST_WAIT_MAX: Duration = Duration::from_secs(1);

/// A file that gets a line before each item is removed, and one after.
///
/// The line before:
///
/// | Key | Value |
/// |---|---|
/// | `id` | joins the lines of one item |
/// | `time_s`, `user` | seconds since 1970; the number of the user |
/// | `kind` | `permanent` or `trash` |
/// | `path`, `path_b64` | the path as in the JSON of statwalk; `path_b64` only where it is no UTF-8 |
/// | `device`, `inode`, `bytes` | the confirmed identity; the bytes that the user saw |
/// | `by_name` | `true` where inode numbers move, so that `inode` tells nothing, else absent |
/// | `late` | `true` where the line was written after the act, else absent |
///
/// The line after:
///
/// | Key | Value |
/// |---|---|
/// | `id`, `time_s` | as before; the time of the end |
/// | `end` | `removed`, `partly` or `stayed` |
/// | `entries`, `freed` | removed entries, an item in the trash is one; freed bytes |
/// | `errors` | entries that could not be removed |
/// | `reason` | the first error, or `stopped`; absent where the item is gone |
/// | `trash`, `trash_b64` | the path in the trash |
///
/// An item that is refused has one line with the keys of both, but `late`. Where the user
/// could not [confirm](Self::refuse) it, that line has no `kind`, no identity and no
/// `bytes`.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: Vec<u8>,
    user: u32,
    /// Random, so that other runs have other ids.
    run: u64,
    /// Counts items.
    item: u64,
    /// The id of the item whose first line was written or waits.
    announced: Option<String>,
    waiting: Vec<Waiting>,
    /// The last line is perhaps not on the disk.
    is_unsynced: bool,
    report: JournalReport,
}

#[derive(Debug)]
struct Waiting {
    line: Vec<u8>,
    is_end: bool,
}

/// The end of one item.
pub(crate) struct ItemEnd {
    pub end: End,
    pub entry_count: u64,
    pub freed_bytes: u64,
    pub error_count: u64,
    pub reason: Option<String>,
    /// The path in the trash.
    pub trash: Option<Vec<u8>>,
}

/// Lines that are not where a journal promises them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JournalReport {
    /// Lines of the beginning that were written after the act, because the disk was full.
    pub late_count: u64,
    /// Lines that were never written, because the disk stayed full or failed.
    pub lost_count: u64,
}

#[derive(Serialize)]
struct Line<'a> {
    id: &'a str,
    time_s: i64,
    user: u32,
    kind: &'a str,
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_b64: Option<String>,
    device: u64,
    inode: u64,
    bytes: u64,
    #[serde(skip_serializing_if = "is_false")]
    by_name: bool,
    #[serde(skip_serializing_if = "is_false")]
    late: bool,
}

#[derive(Serialize)]
struct EndLine<'a> {
    id: &'a str,
    time_s: i64,
    #[serde(flatten)]
    end: EndPart<'a>,
}

/// The line of an item that was refused.
#[derive(Serialize)]
struct Refused<'a> {
    #[serde(flatten)]
    line: Line<'a>,
    #[serde(flatten)]
    end: EndPart<'a>,
}

/// The line of an item that the user could not confirm.
#[derive(Serialize)]
struct RefusedBefore<'a> {
    id: &'a str,
    time_s: i64,
    user: u32,
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_b64: Option<String>,
    #[serde(flatten)]
    end: EndPart<'a>,
}

#[derive(Serialize)]
struct EndPart<'a> {
    end: &'a str,
    entries: u64,
    freed: u64,
    errors: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trash: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trash_b64: Option<String>,
}

fn is_false(value: &bool) -> bool {
    !value
}

impl Journal {
    /// Opens the file for more lines; makes it, and directories above, for the user alone.
    ///
    /// # Errors
    ///
    /// The file cannot be made or written, is a link, or is no regular file. It, its directory
    /// or a link on the way is another user's.
    pub fn open(path: &[u8]) -> io::Result<Journal> {
        let path = std::path::absolute(OsStr::from_bytes(path))?;
        let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(Errno::INVAL.into());
        };
        let user = user::effective()?;
        let directory = trusted_way::open(directory, user)?;
        let flags = OFlags::RDWR | OFlags::APPEND | OFlags::CREATE | OFlags::CLOEXEC;
        let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let file = rustix::fs::openat(&directory, name, flags, Mode::RUSR | Mode::WUSR)?;
        let file = File::from(file);
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(Errno::INVAL.into());
        }
        if metadata.uid() != user {
            return Err(trusted_way::of_another("file", path.as_os_str().as_bytes()));
        }
        if metadata.len() == 0 {
            owner_mode::grant(&file, Mode::RUSR | Mode::WUSR);
        }
        let path = path.canonicalize()?.into_os_string().into_vec();
        Ok(Journal {
            file,
            path,
            user,
            run: RandomState::new().build_hasher().finish(),
            item: 0,
            announced: None,
            waiting: Vec::new(),
            is_unsynced: false,
            report: JournalReport::default(),
        })
    }

    /// The file, which a removal must not take.
    pub(crate) fn path(&self) -> &[u8] {
        &self.path
    }

    /// Writes a line for each path that the user cannot confirm, with the reason: for
    /// instance a [refusal](crate::Survey::refusals). All lines are on the disk then, or none.
    /// [`Monitor::stop`] ends a wait for another process that writes.
    ///
    /// # Errors
    ///
    /// The file cannot be written, or the monitor was stopped during that wait.
    pub fn refuse<'r>(
        &mut self,
        refused: impl IntoIterator<Item = (&'r [u8], &'r str)>,
        now: Now,
        monitor: &Monitor,
    ) -> io::Result<()> {
        let mut lines = Vec::new();
        for (path, reason) in refused {
            let id = self.next_id();
            let (path, path_b64) = json_path(path);
            lines.extend(text(&RefusedBefore {
                id: &id,
                time_s: now.seconds,
                user: self.user,
                path,
                path_b64,
                end: EndPart {
                    end: "stayed",
                    entries: 0,
                    freed: 0,
                    errors: 1,
                    reason: Some(reason),
                    trash: None,
                    trash_b64: None,
                },
            })?);
        }
        match lines.is_empty() {
            true => Ok(()),
            false => self.append(&lines, Sync::Now, Wait::of(monitor)),
        }
    }

    /// Writes the line of an item to the disk.
    ///
    /// # Errors
    ///
    /// The file cannot be written, for another reason than a full disk or quota. The kind is
    /// [`io::ErrorKind::WouldBlock`] where the monitor was stopped during a wait for the lock.
    pub(crate) fn announce(
        &mut self,
        item: &Item,
        kind: &str,
        now: Now,
        monitor: &Monitor,
    ) -> io::Result<()> {
        let wait = Wait::of(monitor);
        self.catch_up(wait);
        let id = self.next_id();
        let mut line = self.line(&id, item, kind, now);
        match self.append(&text(&line)?, Sync::Now, wait) {
            Err(error) if is_full(&error) => {
                line.late = true;
                let line = text(&line)?;
                let is_end = false;
                self.waiting.push(Waiting { line, is_end });
            }
            other => other?,
        }
        self.announced = Some(id);
        Ok(())
    }

    /// Writes the end of an item, or all of its facts where it was refused.
    ///
    /// A line that fails waits, and counts as lost if it stays so: the item is gone.
    pub(crate) fn end(
        &mut self,
        item: &Item,
        kind: &str,
        now: Now,
        end: &ItemEnd,
        monitor: &Monitor,
    ) {
        let wait = Wait::of(monitor);
        self.catch_up(wait);
        let (trash, trash_b64) = match end.trash.as_deref().map(json_path) {
            Some((path, code)) => (Some(path), code),
            None => (None, None),
        };
        let part = EndPart {
            end: match end.end {
                End::Removed => "removed",
                End::Partly => "partly",
                End::Untouched => "stayed",
            },
            entries: end.entry_count,
            freed: end.freed_bytes,
            errors: end.error_count,
            reason: end.reason.as_deref(),
            trash,
            trash_b64,
        };
        let line = match self.announced.take() {
            Some(id) => text(&EndLine {
                id: &id,
                time_s: now.seconds,
                end: part,
            }),
            None => {
                let id = self.next_id();
                text(&Refused {
                    line: self.line(&id, item, kind, now),
                    end: part,
                })
            }
        };
        let Ok(line) = line else {
            self.report.lost_count += 1;
            return;
        };
        if !self.waiting.is_empty() || self.append(&line, Sync::Later, wait).is_err() {
            self.waiting.push(Waiting { line, is_end: true });
        }
    }

    fn next_id(&mut self) -> String {
        self.item += 1;
        format!("{:016x}-{}", self.run, self.item)
    }

    fn line<'a>(&self, id: &'a str, item: &Item, kind: &'a str, now: Now) -> Line<'a> {
        let (path, path_b64) = json_path(item.path());
        Line {
            id,
            time_s: now.seconds,
            user: self.user,
            kind,
            path,
            path_b64,
            device: item.identity().device,
            inode: item.identity().inode,
            bytes: item.bytes(),
            by_name: item.is_known_by_name(),
            late: false,
        }
    }

    /// Writes the lines that found no room before.
    fn catch_up(&mut self, wait: Wait<'_>) {
        let mut waiting = std::mem::take(&mut self.waiting).into_iter();
        while let Some(next) = waiting.next() {
            if self.append(&next.line, Sync::Now, wait).is_err() {
                self.waiting.push(next);
                self.waiting.extend(waiting);
                return;
            }
            self.report.late_count += u64::from(!next.is_end);
        }
    }

    /// The lines that came late or not at all.
    pub(crate) fn close(mut self, monitor: &Monitor) -> JournalReport {
        self.catch_up(Wait {
            stopped_until: Some(Instant::now() + LAST_WAIT_MAX),
            ..Wait::of(monitor)
        });
        if self.is_unsynced && self.file.sync_data().is_err() {
            self.report.lost_count += 1;
        }
        self.report.lost_count += self.waiting.len() as u64;
        self.report
    }

    /// Appends a whole line or nothing. A lock keeps other processes out meanwhile.
    fn append(&mut self, line: &[u8], sync: Sync, wait: Wait<'_>) -> io::Result<()> {
        self.lock(wait)?;
        let appended = self.append_locked(line, sync);
        // The lock ends with the file at the latest.
        let _ = rustix::fs::flock(&self.file, FlockOperation::Unlock);
        appended
    }

    /// Waits for the lock. A blocking call would hold a removal that the user has stopped.
    fn lock(&self, wait: Wait<'_>) -> io::Result<()> {
        let mut interval = Duration::from_millis(1);
        loop {
            match rustix::fs::flock(&self.file, FlockOperation::NonBlockingLockExclusive) {
                Err(Errno::WOULDBLOCK) if !wait.is_over() => {}
                // Where another host has the lock, a signal can end the call.
                Err(Errno::INTR) => continue,
                other => return Ok(other?),
            }
            thread::sleep(interval);
            interval = (interval * 2).min(LOCK_INTERVAL_MAX);
        }
    }

    fn append_locked(&mut self, line: &[u8], sync: Sync) -> io::Result<()> {
        let length = self.file.metadata()?.len();
        // A line that a crash cut off must not swallow this one.
        let mut last = [b'\n'];
        if length > 0 {
            self.file.seek(SeekFrom::Start(length - 1))?;
            self.file.read_exact(&mut last)?;
        }
        let begin: &[u8] = if last == *b"\n" { b"" } else { b"\n" };
        let written = self.file.write_all(&[begin, line].concat());
        let written = match sync {
            Sync::Now => written.and_then(|()| self.file.sync_data()),
            Sync::Later => written,
        };
        if written.is_err() {
            self.file.set_len(length)?;
        } else {
            self.is_unsynced = sync == Sync::Later;
        }
        written
    }
}

/// How long a line waits for the lock.
#[derive(Clone, Copy)]
struct Wait<'m> {
    monitor: &'m Monitor,
    /// The end of the wait after a stop, where that does not end at once.
    stopped_until: Option<Instant>,
}

impl Wait<'_> {
    fn of(monitor: &Monitor) -> Wait<'_> {
        Wait {
            monitor,
            stopped_until: None,
        }
    }

    fn is_over(&self) -> bool {
        let is_late = self
            .stopped_until
            .is_none_or(|until| Instant::now() >= until);
        is_late && self.monitor.is_stopped()
    }
}

/// When a line must be on the disk.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sync {
    Now,
    Later,
}

fn text(line: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut text = serde_json::to_vec(line)?;
    text.push(b'\n');
    Ok(text)
}

fn is_full(error: &io::Error) -> bool {
    let errno = Errno::from_io_error(error);
    matches!(errno, Some(Errno::NOSPC | Errno::DQUOT))
}
