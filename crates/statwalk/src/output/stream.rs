// SPDX-License-Identifier: MIT OR Apache-2.0

//! Rows on their way from many workers to stdout, while the scan goes on.
//!
//! Each worker gathers rows of its own and writes many at a time. What lies for
//! long is written by a thread of its own, so that a reader that does not read
//! keeps neither a worker that has room left nor the thread that minds signals.
//! Where everything was found before anything had to be written, the rows are
//! sorted: a short list reads better so, and is the same each time.
//!
//! A row is never torn: whoever writes has the writer, writes whole rows, and
//! gives the writer back when the last byte is out or no more will be written.

use std::io::{self, Write as _};
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread;
use std::time::{Duration, Instant};

use statwalk_core::path_order;

use crate::failure::Failure;
use crate::output::Stdout;
use crate::watch::signals;

/// From so many bytes on a worker writes what it has.
const PART_BYTES: usize = 32 << 10;
/// A list that takes longer is not sorted, and its rows are not kept back.
const SHORT: Duration = Duration::from_millis(100);
/// How often rows are looked for that lie for long.
const PERIOD: Duration = Duration::from_millis(40);
/// How long a writer may take after a signal.
const GRACE: Duration = Duration::from_millis(100);

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
    /// Whoever has a part may wait for it, nobody the other way round.
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

/// The right to write some rows.
struct Turn<'a> {
    stream: &'a Stream,
    writer: MutexGuard<'a, Writer>,
}

impl Turn<'_> {
    /// Writes whole rows, and empties them.
    fn write(mut self, rows: &mut Vec<u8>) {
        self.writer.has_written = true;
        if let Err(error) = Stdout.write_all(rows) {
            self.writer.result = Err(error);
            self.stream.stopped.store(true, Ordering::SeqCst);
        }
        rows.clear();
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.stream.writing.store(false, Ordering::SeqCst);
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
        if part.bytes.len() >= PART_BYTES
            && let Some(turn) = self.turn(lock(&self.writer))
        {
            part.keys = None;
            turn.write(&mut part.bytes);
        }
        ControlFlow::Continue(())
    }

    /// Writes from now on what lies for long, without keeping the caller. Does
    /// nothing while the list is short; is called until it answers true.
    pub(crate) fn flush_old(self: &Arc<Self>) -> bool {
        if self.started.elapsed() < SHORT {
            return false;
        }
        let stream = Arc::clone(self);
        let flush = move || {
            let mut bytes = Vec::new();
            while !stream.stopped.load(Ordering::Relaxed) {
                stream.flush_parts(&mut bytes);
                thread::sleep(PERIOD);
            }
        };
        // Without the thread, rows lie until there are many of them.
        thread::Builder::new().spawn(flush).is_ok()
    }

    /// Writes what lies in the parts; `bytes` is empty and stays so.
    fn flush_parts(&self, bytes: &mut Vec<u8>) {
        for index in 0.. {
            let parts = self.parts.read().unwrap_or_else(PoisonError::into_inner);
            let Some(part) = parts.get(index) else { return };
            // Whoever holds it is about to write, or adds rows; whoever has the
            // writer may wait for a reader that does not read.
            let (Ok(mut part), Ok(writer)) = (part.try_lock(), self.writer.try_lock()) else {
                continue;
            };
            if part.bytes.is_empty() {
                continue;
            }
            let Some(turn) = self.turn(writer) else {
                return;
            };
            part.keys = None;
            std::mem::swap(&mut part.bytes, bytes);
            // Its worker goes on while this waits for the reader.
            drop(part);
            drop(parts);
            turn.write(bytes);
        }
    }

    /// Takes no more rows, and waits for who writes. Dies of a signal where a
    /// writer waits for a reader that does not read: nobody would see the rest.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
        let deadline = Instant::now() + GRACE;
        let mut pause = Duration::from_millis(1);
        while self.writing.load(Ordering::SeqCst) {
            if let Some(signal) = signals::caught()
                && Instant::now() > deadline
            {
                signals::die_of(signal);
            }
            thread::sleep(pause);
            pause = PERIOD.min(pause * 2);
        }
    }

    /// Has whoever has the writer write, unless that is left to the end.
    fn turn<'a>(&'a self, writer: MutexGuard<'a, Writer>) -> Option<Turn<'a>> {
        self.writing.store(true, Ordering::SeqCst);
        let stream = self;
        let turn = Turn { stream, writer };
        // Once stopped, what is left is written at the end.
        (!self.stopped.load(Ordering::SeqCst)).then_some(turn)
    }

    /// Writes what is left, sorted if nothing was written before.
    ///
    /// # Errors
    ///
    /// Returns an error if this or an earlier write failed.
    pub(crate) fn finish(&self) -> Result<(), Failure> {
        self.stopped.store(true, Ordering::SeqCst);
        let parts = self.parts.read().unwrap_or_else(PoisonError::into_inner);
        let parts: Vec<MutexGuard<'_, Part>> = parts.iter().map(lock).collect();
        let mut writer = lock(&self.writer);
        std::mem::replace(&mut writer.result, Ok(())).map_err(Failure::Output)?;
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
