// SPDX-License-Identifier: MIT OR Apache-2.0

//! The progress line on stderr.
//!
//! The line appears after a moment, changes ten times a second, and leaves no trace.
//! The thread that waits for the scan draws it; the workers do not know of it.

use std::io::Write as _;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use statwalk_core::Progress as ScanProgress;
use statwalk_view::{Progress, SizeFormat, Terminal, escape, text_width, truncate_end};

use crate::flags::When;
use crate::request::Request;
use crate::system::screen;
use crate::system::stdio::{self, Stderr};
use crate::system::used_inodes::{self, Cover};

/// A shorter scan needs no line.
const APPEARS_AFTER: Duration = Duration::from_millis(300);
const PERIOD: Duration = Duration::from_millis(100);
/// The time after which the line names a directory that holds up a worker.
const HANGS_AFTER: Duration = Duration::from_secs(2);
/// The width of a status line, which is never cut.
const STATUS_WIDTH: usize = 4_000;

#[derive(Clone, Debug)]
pub(crate) struct ProgressOptions {
    /// The condition for the line.
    pub(crate) when: When,
    /// Whether the scan reads sizes.
    pub(crate) sizes: bool,
    /// The format of sizes.
    pub(crate) format: SizeFormat,
    /// The covered file systems, where the scan leaves nothing out.
    pub(crate) cover: Option<Cover>,
}

impl ProgressOptions {
    /// The options of a scan; `sizes` where it reads sizes.
    pub(crate) fn new(request: &Request, sizes: Option<SizeFormat>) -> ProgressOptions {
        ProgressOptions {
            when: request.progress,
            sizes: sizes.is_some(),
            format: sizes.unwrap_or_default(),
            cover: request.cover(),
        }
    }
}

pub(crate) struct ProgressLine {
    options: ProgressOptions,
    started: Instant,
    next: Instant,
    frame: usize,
    /// The number of inodes in those file systems, once statwalk looked for it.
    inodes: Option<Option<u64>>,
    is_drawn: bool,
    stalls: Stalls,
}

impl ProgressLine {
    pub(crate) fn new(options: ProgressOptions) -> ProgressLine {
        let started = Instant::now();
        ProgressLine {
            options,
            started,
            next: started + APPEARS_AFTER,
            frame: 0,
            inodes: None,
            is_drawn: false,
            stalls: Stalls::default(),
        }
    }

    /// Draws the line anew if it is time.
    pub(crate) fn tick(&mut self, snapshot: impl FnOnce() -> ScanProgress) {
        let now = Instant::now();
        if now < self.next {
            return;
        }
        self.next = now + PERIOD;
        let snapshot = snapshot();
        // Even where no line is drawn, SIGUSR1 can ask for the status.
        self.stalls.look(&snapshot, now);
        // The user may have resized the terminal, or put statwalk into the background.
        let Some(terminal) = terminal(self.options.when) else {
            return;
        };
        let text = self.text(&snapshot, now, terminal);
        self.frame += 1;
        self.is_drawn = true;
        draw(&text, terminal);
    }

    /// Takes the line away.
    pub(crate) fn clear(&mut self) {
        if std::mem::take(&mut self.is_drawn) {
            clear_line();
        }
    }

    /// Writes the progress as a line that stays.
    pub(crate) fn print_status(&mut self, snapshot: &ScanProgress) {
        self.clear();
        let now = Instant::now();
        self.stalls.look(snapshot, now);
        let terminal = Terminal {
            width: STATUS_WIDTH,
            ..screen::stderr_or_default().terminal
        };
        let text = self.text(snapshot, now, terminal);
        // A line that stays on the screen does not begin with the turning sign.
        let text = text.split_once(' ').map_or(text.as_str(), |(_, rest)| rest);
        stdio::say(text);
    }

    fn text(&mut self, snapshot: &ScanProgress, now: Instant, terminal: Terminal) -> String {
        let elapsed = now - self.started;
        let (percent, left) = match self.share_done(snapshot.entries, snapshot.entries_expected) {
            Some(done) => (Some((done * 100.0) as u8), time_left(elapsed, done)),
            None => (None, None),
        };
        let stalled = self.stalls.longest(now);
        let path = snapshot.current.first().map(|(path, _)| path.as_slice());
        let progress = Progress {
            entries: snapshot.entries,
            allocated_bytes: snapshot.allocated_bytes.filter(|_| self.options.sizes),
            elapsed,
            percent,
            left: left.filter(|_| stalled.is_none()),
            unreadable: snapshot.unreadable,
            path: path.filter(|_| stalled.is_none()).unwrap_or_default(),
        };
        let mut text = progress.line(self.frame, self.options.format, terminal);
        if let Some((path, since)) = stalled {
            let waits = format!(
                " - no answer for {} s in {}",
                since.as_secs(),
                escape(path, terminal.charset)
            );
            let room = terminal.width.saturating_sub(text_width(&text));
            text.push_str(&truncate_end(&waits, room, terminal.charset));
        }
        text
    }

    /// The share of the whole that is done, where the whole is known.
    fn share_done(&mut self, entries: u64, expected: Option<u64>) -> Option<f64> {
        let options = &self.options;
        let inodes = *self.inodes.get_or_insert_with(|| {
            let of_mounts = || used_inodes::covered(options.cover.as_ref()?);
            expected.or_else(of_mounts)
        });
        // With more entries than inodes, hard links make the share a guess.
        let inodes = inodes.filter(|&inodes| entries < inodes)?;
        Some(entries as f64 / inodes as f64)
    }
}

/// A line with the share that is done, drawn by the thread that does the work.
pub(crate) struct ShareLine {
    when: When,
    /// The time of the next drawing, and whether the line is drawn.
    state: Mutex<(Instant, bool)>,
}

impl ShareLine {
    pub(crate) fn new(when: When) -> ShareLine {
        ShareLine {
            when,
            state: Mutex::new((Instant::now() + APPEARS_AFTER, false)),
        }
    }

    /// Draws the line anew if it is time.
    pub(crate) fn tick(&self, what: &str, done: u64, of: u64) {
        // Another thread draws.
        let Ok(mut state) = self.state.try_lock() else {
            return;
        };
        let now = Instant::now();
        if now < state.0 {
            return;
        }
        let Some(terminal) = terminal(self.when) else {
            return;
        };
        *state = (now + PERIOD, true);
        let percent = u128::from(done) * 100 / u128::from(of.max(1));
        let text = format!("{percent} % {what}");
        let text = truncate_end(&text, terminal.width, terminal.charset);
        draw(&text, terminal);
    }

    /// Takes the line away.
    pub(crate) fn clear(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if std::mem::take(&mut state.1) {
            clear_line();
        }
    }
}

/// Draws a line over the one before.
fn draw(text: &str, terminal: Terminal) {
    let line = match screen::is_dumb() {
        // Blanks cover the rest of an earlier, longer line.
        true => {
            let rest = terminal.width.saturating_sub(text_width(text));
            format!("\r{text}{:rest$}", "")
        }
        false => format!("\r{text}\x1b[K"),
    };
    // Where stderr is closed, no user looks.
    let _ = Stderr.write_all(line.as_bytes());
}

/// Takes the line away.
fn clear_line() {
    let line = match screen::is_dumb() {
        true => {
            let width = screen::stderr_or_default().terminal.width.saturating_sub(1);
            format!("\r{:width$}\r", "")
        }
        false => "\r\x1b[K".to_owned(),
    };
    let _ = Stderr.write_all(line.as_bytes());
}

fn terminal(when: When) -> Option<Terminal> {
    let screen = match when {
        When::Never => None,
        // A line that changes is no use where a terminal only appends.
        When::Auto if screen::is_dumb() => None,
        When::Auto => screen::of_stderr().filter(|_| screen::is_ours()),
        When::Always => Some(screen::stderr_or_default()),
    };
    let mut terminal = screen?.terminal;
    // A terminal wraps when its last column is full.
    terminal.width = terminal.width.saturating_sub(1);
    Some(terminal)
}

/// The time that is left; absent where it would be a guess.
fn time_left(elapsed: Duration, done: f64) -> Option<Duration> {
    (done >= 0.01).then(|| elapsed.mul_f64((1.0 - done) / done))
}

/// The workers that do not get on.
#[derive(Default)]
struct Stalls {
    /// The directory of each worker, its number of steps, and the time since then.
    seen: Vec<(Vec<u8>, u64, Instant)>,
}

impl Stalls {
    fn look(&mut self, snapshot: &ScanProgress, now: Instant) {
        let seen = snapshot.current.iter().map(|(path, steps)| {
            let known = self
                .seen
                .iter()
                .find(|(old, old_steps, _)| old_steps == steps && old == path);
            let since = known.map_or(now, |&(_, _, since)| since);
            (path.clone(), *steps, since)
        });
        self.seen = seen.collect();
    }

    /// The directory that holds up a worker longest, and the time since then.
    fn longest(&self, now: Instant) -> Option<(&[u8], Duration)> {
        let first = self.seen.iter().min_by_key(|(_, _, since)| *since)?;
        let since = now - first.2;
        (since > HANGS_AFTER).then_some((first.0.as_slice(), since))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(current: &[(&str, u64)]) -> ScanProgress {
        let mut snapshot = ScanProgress::default();
        let current = current.iter();
        snapshot.current = current.map(|&(path, steps)| (path.into(), steps)).collect();
        snapshot
    }

    fn options() -> ProgressOptions {
        ProgressOptions {
            when: When::Always,
            sizes: false,
            format: SizeFormat::Binary,
            cover: None,
        }
    }

    #[test]
    fn a_worker_that_stands_still_is_named() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let mut stalls = Stalls::default();
        stalls.look(&snapshot(&[("/a", 5), ("/dead", 7)]), at(0));
        stalls.look(&snapshot(&[("/b", 6), ("/dead", 7)]), at(1_500));
        assert_eq!(stalls.longest(at(1_500)), None);
        stalls.look(&snapshot(&[("/c", 7), ("/dead", 7)]), at(2_100));
        let stalled = stalls.longest(at(2_100)).unwrap();
        assert_eq!(stalled, (&b"/dead"[..], Duration::from_millis(2_100)));
        // The worker goes on: no directory is named any more.
        stalls.look(&snapshot(&[("/c", 8), ("/dead", 8)]), at(2_200));
        assert_eq!(stalls.longest(at(2_300)), None);
    }

    #[test]
    fn the_line_says_where_it_hangs_within_its_width() {
        let mut line = ProgressLine::new(options());
        let started = line.started;
        line.stalls
            .look(&snapshot(&[("/mnt/dead\x1b[2J", 7)]), started);
        let now = started + Duration::from_secs(12);
        let terminal = Terminal::default();
        let text = line.text(&snapshot(&[("/mnt/dead\x1b[2J", 7)]), now, terminal);
        assert!(
            text.ends_with(r"- no answer for 12 s in /mnt/dead\x1b[2J"),
            "{text}"
        );
        let narrow = Terminal {
            width: 30,
            ..terminal
        };
        let text = line.text(&snapshot(&[("/mnt/dead", 7)]), now, narrow);
        assert!(text_width(&text) <= 30, "{text}");
    }

    #[test]
    fn there_is_no_share_of_an_unknown_or_exceeded_whole() {
        let mut line = ProgressLine::new(options());
        assert_eq!(line.share_done(5, None), None);
        line.inodes = Some(Some(10));
        assert_eq!(line.share_done(5, None), Some(0.5));
        assert_eq!(line.share_done(10, None), None);
        // An image knows it by itself.
        let mut line = ProgressLine::new(options());
        assert_eq!(line.share_done(5, Some(20)), Some(0.25));
    }
}
