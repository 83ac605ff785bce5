// SPDX-License-Identifier: MIT OR Apache-2.0

//! The record of removed items: one line of JSON before each act.
//!
//! A user removes files because the disk is full, and a full disk has no room for the
//! line. So a line that fails for want of space does not stop the removal: the journal
//! keeps it, and writes it after the next items have gone, marked as late. Any other
//! failure, for instance of permission, stops the item: then the user can choose to
//! remove without a journal. A report counts late and lost lines.

use std::ffi::OsStr;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{FlockOperation, OFlags};
use rustix::io::Errno;
use serde::Serialize;
use statwalk_view::json_path;

use crate::item::Item;
use crate::now::Now;

/// A file that gets a line before each item is removed.
///
/// | Key | Value |
/// |---|---|
/// | `time_s`, `user` | seconds since 1970; the number of the user |
/// | `kind` | `permanent` or `trash` |
/// | `path`, `path_b64` | the path as in the JSON of statwalk; `path_b64` only where it is no UTF-8 |
/// | `device`, `inode`, `bytes` | the confirmed identity; the bytes that the user saw |
/// | `late` | `true` where the line was written after the act, else absent |
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: Vec<u8>,
    user: u32,
    waiting: Vec<Vec<u8>>,
    report: JournalReport,
}

/// Lines that are not where a journal promises them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JournalReport {
    /// Lines that were written after the act, because the disk was full before.
    pub late_count: u64,
    /// Lines that were never written, because the disk stayed full.
    pub lost_count: u64,
}

#[derive(Serialize)]
struct Line<'a> {
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
    late: bool,
}

fn is_false(value: &bool) -> bool {
    !value
}

impl Journal {
    /// Opens the file for more lines; makes it, and directories above, for the user alone.
    ///
    /// # Errors
    ///
    /// The file cannot be made or written, is a link, or is no regular file.
    pub fn open(path: &[u8]) -> io::Result<Journal> {
        let path = Path::new(OsStr::from_bytes(path));
        if let Some(directory) = path.parent() {
            DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(directory)?;
        }
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .mode(0o600)
            .custom_flags(flags as i32)
            .open(path)?;
        if !file.metadata()?.is_file() {
            return Err(Errno::INVAL.into());
        }
        let path = path.canonicalize()?.into_os_string().into_vec();
        Ok(Journal {
            file,
            path,
            user: rustix::process::geteuid().as_raw(),
            waiting: Vec::new(),
            report: JournalReport::default(),
        })
    }

    /// The file, which a removal must not take.
    pub(crate) fn path(&self) -> &[u8] {
        &self.path
    }

    /// Writes the line of an item to the disk.
    ///
    /// # Errors
    ///
    /// The file cannot be written, for another reason than a full disk or quota.
    pub(crate) fn announce(&mut self, item: &Item, kind: &str, now: Now) -> io::Result<()> {
        self.catch_up();
        let (path, path_b64) = json_path(item.path());
        let mut line = Line {
            time_s: now.seconds,
            user: self.user,
            kind,
            path,
            path_b64,
            device: item.identity().device,
            inode: item.identity().inode,
            bytes: item.bytes(),
            late: false,
        };
        match self.append(&text(&line)?) {
            Err(error) if is_full(&error) => {
                line.late = true;
                self.waiting.push(text(&line)?);
                Ok(())
            }
            other => other,
        }
    }

    /// Writes the lines that found no room before.
    pub(crate) fn catch_up(&mut self) {
        let mut waiting = std::mem::take(&mut self.waiting).into_iter();
        while let Some(line) = waiting.next() {
            if self.append(&line).is_err() {
                self.waiting.push(line);
                self.waiting.extend(waiting);
                return;
            }
            self.report.late_count += 1;
        }
    }

    /// The lines that came late or not at all.
    pub(crate) fn close(mut self) -> JournalReport {
        self.catch_up();
        self.report.lost_count = self.waiting.len() as u64;
        self.report
    }

    /// Appends a whole line or nothing. A lock keeps other processes out meanwhile.
    fn append(&mut self, line: &[u8]) -> io::Result<()> {
        rustix::fs::flock(&self.file, FlockOperation::LockExclusive)?;
        let appended = self.append_locked(line);
        // The lock ends with the file at the latest.
        let _ = rustix::fs::flock(&self.file, FlockOperation::Unlock);
        appended
    }

    fn append_locked(&mut self, line: &[u8]) -> io::Result<()> {
        let length = self.file.metadata()?.len();
        // A line that a crash cut off must not swallow this one.
        let mut last = [b'\n'];
        if length > 0 {
            self.file.seek(SeekFrom::Start(length - 1))?;
            self.file.read_exact(&mut last)?;
        }
        let begin: &[u8] = if last == *b"\n" { b"" } else { b"\n" };
        let written =
            (self.file.write_all(&[begin, line].concat())).and_then(|()| self.file.sync_data());
        if written.is_err() {
            self.file.set_len(length)?;
        }
        written
    }
}

fn text(line: &Line<'_>) -> io::Result<Vec<u8>> {
    let mut text = serde_json::to_vec(line)?;
    text.push(b'\n');
    Ok(text)
}

fn is_full(error: &io::Error) -> bool {
    let errno = Errno::from_io_error(error);
    matches!(errno, Some(Errno::NOSPC | Errno::DQUOT))
}
