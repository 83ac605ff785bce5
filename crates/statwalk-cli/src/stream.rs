// SPDX-License-Identifier: MIT OR Apache-2.0

//! Rows on their way from many workers to stdout, while the scan goes on.
//!
//! Each worker gathers rows of its own and writes many at a time. What lies for
//! long is written by the thread that looks after the scan. Where everything
//! was found before anything had to be written, the rows are sorted: a short
//! list reads better so, and is the same each time.

use std::io::{self, Write as _};
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use statwalk::path_order;

use crate::failure::Failure;
use crate::output::Stdout;
use crate::signals;

/// From so many bytes on a worker writes what it has.
const PART_BYTES: usize = 32 << 10;
/// A list that takes longer is not sorted, and its rows are not kept back.
const SHORT: Duration = Duration::from_millis(100);
/// How long a writer may take after a signal.
const GRACE: Duration = Duration::from_millis(100);
/// What a pipe that is ready takes without waiting, `PIPE_BUF` in pipe(7).
const PIPE_BUF: usize = 4096;

/// Rows on their way to stdout.
pub(crate) struct Stream {
    parts: RwLock<Vec<Mutex<Part>>>,
    /// How many rows are still wanted, where there is a limit.
    wanted: Option<AtomicU64>,
    /// Whether no more rows are wanted: enough were found, a signal came, or a
    /// write failed.
    stopped: AtomicBool,
    /// Whether somebody is in a write, which lasts as long as the reader likes.
    writing: AtomicBool,
    writer: Mutex<Writer>,
    started: Instant,
}

struct Writer {
    /// How the writes went; the first that fails is the last.
    result: io::Result<()>,
    has_written: bool,
}

/// Rows of one worker that were not written yet.
#[derive(Default)]
struct Part {
    bytes: Vec<u8>,
    /// By what the rows will be sorted, if they will be.
    keys: Option<Keys>,
}

/// What rows are sorted by.
#[derive(Default)]
struct Keys {
    bytes: Vec<u8>,
    /// Where each row and its key end.
    ends: Vec<(usize, usize)>,
}

/// The end of a part, where rows are added.
pub(crate) struct Adder<'a> {
    part: &'a mut Part,
    wanted: Option<&'a AtomicU64>,
}

impl Adder<'_> {
    /// Adds a row, if any more is wanted. Short lists are sorted by `path`.
    pub(crate) fn row(&mut self, path: &[u8], write: impl FnOnce(&mut Vec<u8>)) {
        if let Some(wanted) = self.wanted {
            let one_less = |left: u64| left.checked_sub(1);
            let (set, get) = (Ordering::Relaxed, Ordering::Relaxed);
            if wanted.fetch_update(set, get, one_less).is_err() {
                return;
            }
        }
        write(&mut self.part.bytes);
        if let Some(keys) = &mut self.part.keys {
            keys.bytes.extend_from_slice(path);
            keys.ends.push((self.part.bytes.len(), keys.bytes.len()));
        }
    }
}

impl Stream {
    /// With at most so many rows.
    pub(crate) fn new(rows_max: Option<u64>) -> Stream {
        Stream {
            parts: RwLock::new(Vec::new()),
            wanted: rows_max.map(AtomicU64::new),
            stopped: AtomicBool::new(false),
            writing: AtomicBool::new(false),
            writer: Mutex::new(Writer {
                result: Ok(()),
                has_written: false,
            }),
            started: Instant::now(),
        }
    }

    /// Makes room for so many workers, and gives their numbers.
    pub(crate) fn add_parts(&self, count: usize) -> Range<usize> {
        let mut parts = self.parts.write().unwrap_or_else(PoisonError::into_inner);
        let first = parts.len();
        parts.resize_with(first + count, || {
            Mutex::new(Part {
                bytes: Vec::new(),
                keys: Some(Keys::default()),
            })
        });
        first..first + count
    }

    /// Lets a worker add rows to its part. Breaks where no more are wanted.
    pub(crate) fn add(&self, part: usize, add: impl FnOnce(&mut Adder<'_>)) -> ControlFlow<()> {
        if self.stopped.load(Ordering::Relaxed) {
            return ControlFlow::Break(());
        }
        let parts = self.parts.read().unwrap_or_else(PoisonError::into_inner);
        let mut part = lock(&parts[part]);
        add(&mut Adder {
            part: &mut part,
            wanted: self.wanted.as_ref(),
        });
        let wanted = self.wanted.as_ref();
        if wanted.is_some_and(|wanted| wanted.load(Ordering::Relaxed) == 0) {
            self.stopped.store(true, Ordering::Relaxed);
            return ControlFlow::Break(());
        }
        if part.bytes.len() >= PART_BYTES {
            self.write(&mut part, lock(&self.writer), |bytes| {
                Stdout.write_all(bytes).map(|()| bytes.len())
            });
        }
        ControlFlow::Continue(())
    }

    /// Writes what may be written without waiting for the reader, once the
    /// list is long.
    pub(crate) fn flush_old(&self) {
        if self.started.elapsed() < SHORT {
            return;
        }
        let parts = self.parts.read().unwrap_or_else(PoisonError::into_inner);
        for part in &*parts {
            // Whoever holds it is about to write, or adds rows; whoever holds the
            // writer may wait for a reader that does not read.
            if let (Ok(mut part), Ok(writer)) = (part.try_lock(), self.writer.try_lock()) {
                self.write(&mut part, writer, write_without_waiting);
            }
        }
    }

    /// Takes no more rows, because of a signal. Dies of it at once where a
    /// writer waits for a reader that does not read: nobody would see the rest.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
        let deadline = Instant::now() + GRACE;
        while self.writing.load(Ordering::SeqCst) {
            if let Some(signal) = signals::caught()
                && Instant::now() > deadline
            {
                signals::die_of(signal);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn write(
        &self,
        part: &mut Part,
        mut writer: MutexGuard<'_, Writer>,
        write: impl FnOnce(&[u8]) -> io::Result<usize>,
    ) {
        self.writing.store(true, Ordering::SeqCst);
        // Once stopped, what is left is written at the end.
        if !self.stopped.load(Ordering::SeqCst) && !part.bytes.is_empty() {
            match write(&part.bytes) {
                Ok(0) => {}
                Ok(count) => {
                    part.bytes.drain(..count);
                    part.keys = None;
                    writer.has_written = true;
                }
                Err(error) => {
                    writer.result = Err(error);
                    self.stopped.store(true, Ordering::SeqCst);
                }
            }
        }
        self.writing.store(false, Ordering::SeqCst);
    }

    /// Writes what is left, sorted if nothing was written before.
    ///
    /// # Errors
    ///
    /// Returns an error if this or an earlier write failed.
    pub(crate) fn finish(&self) -> Result<(), Failure> {
        let mut writer = lock(&self.writer);
        std::mem::replace(&mut writer.result, Ok(())).map_err(Failure::Output)?;
        let parts = self.parts.read().unwrap_or_else(PoisonError::into_inner);
        let parts: Vec<MutexGuard<'_, Part>> = parts.iter().map(lock).collect();
        let left = if writer.has_written {
            let bytes: Vec<&[u8]> = parts.iter().map(|part| &part.bytes[..]).collect();
            bytes.concat()
        } else {
            let mut rows: Vec<(&[u8], &[u8])> = parts.iter().flat_map(|part| part.rows()).collect();
            rows.sort_unstable_by(|a, b| path_order(a.0, b.0));
            let bytes: Vec<&[u8]> = rows.into_iter().map(|(_, row)| row).collect();
            bytes.concat()
        };
        Stdout.write_all(&left).map_err(Failure::Output)
    }
}

impl Part {
    /// The paths, and their rows.
    fn rows(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.keys.iter().flat_map(|keys| {
            let starts = std::iter::once(&(0, 0)).chain(&keys.ends);
            let spans = starts.zip(&keys.ends);
            spans.map(|(start, end)| (&keys.bytes[start.1..end.1], &self.bytes[start.0..end.0]))
        })
    }
}

/// Writes as much as stdout takes at once.
fn write_without_waiting(bytes: &[u8]) -> io::Result<usize> {
    let mut count = 0;
    for piece in bytes.chunks(PIPE_BUF) {
        let mut ready = [PollFd::from_borrowed_fd(
            rustix::stdio::stdout(),
            PollFlags::OUT,
        )];
        let now = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        if !matches!(poll(&mut ready, Some(&now)), Ok(1..)) {
            break;
        }
        Stdout.write_all(piece)?;
        count += piece.len();
    }
    Ok(count)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_knows_its_rows() {
        let stream = Stream::new(Some(2));
        let part = stream.add_parts(1).start;
        let flow = stream.add(part, |out| {
            for path in ["b\n", "a", "c"] {
                out.row(path.as_bytes(), |bytes| {
                    bytes.extend_from_slice(format!("<{path}>").as_bytes());
                });
            }
        });
        // Two were wanted: the third is not taken, and no more are.
        assert!(flow.is_break());
        assert!(
            stream
                .add(part, |_| panic!("no more rows are wanted"))
                .is_break()
        );
        let parts = stream.parts.read().unwrap();
        let part = lock(&parts[0]);
        let rows: Vec<_> = part.rows().collect();
        assert_eq!(rows, [(&b"b\n"[..], &b"<b\n>"[..]), (b"a", b"<a>")]);
    }
}
