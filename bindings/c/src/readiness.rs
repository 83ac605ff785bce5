// SPDX-License-Identifier: MIT OR Apache-2.0

//! Descriptors for event loops: readable when the next call need not wait.
//!
//! The engine needs a thread that waits for its workers, and looks after them meanwhile. So a
//! caller who asks for a descriptor gets a thread that does it in his place. He lends it the
//! scan when nothing is at hand, and it gives the scan back with the next step. Who does not ask
//! has neither.

use std::fmt::Debug;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use statwalk_core::{Error, Op, Report};
use statwalk_stream::{Failure, Step, Table, Tables, Walk};

/// How long the thread waits before it looks whether the caller wants the scan back.
const SLICE: Duration = Duration::from_millis(10);

/// A scan that gives one step after another.
pub(crate) trait Steps: Debug + Send + 'static {
    type Value: Debug + Send + 'static;

    fn step_within(&mut self, timeout: Duration) -> Result<Step<Self::Value>, Failure>;

    fn end(self) -> Result<Report, Failure>;
}

impl Steps for Walk {
    type Value = ();

    fn step_within(&mut self, timeout: Duration) -> Result<Step<()>, Failure> {
        self.next_within(timeout)
    }

    fn end(self) -> Result<Report, Failure> {
        self.finish()
    }
}

impl Steps for Tables {
    type Value = Table;

    fn step_within(&mut self, timeout: Duration) -> Result<Step<Table>, Failure> {
        self.next_within(timeout)
    }

    fn end(self) -> Result<Report, Failure> {
        self.finish()
    }
}

/// The answer of [`Steps::step_within`].
type Answer<S> = Result<Step<<S as Steps>::Value>, Failure>;

/// A scan, with a thread that waits for it where the caller wants a descriptor.
#[derive(Debug)]
pub(crate) struct Reading<S: Steps> {
    /// Absent while the thread has it.
    scan: Option<S>,
    /// A step that came when the caller took the scan back for something else.
    early: Option<Answer<S>>,
    aide: Option<Aide<S>>,
}

/// The thread, and what the caller shares with it.
#[derive(Debug)]
struct Aide<S: Steps> {
    shared: Arc<Shared<S>>,
    thread: JoinHandle<()>,
}

#[derive(Debug)]
struct Shared<S: Steps> {
    desk: Mutex<Desk<S>>,
    has_changed: Condvar,
    /// Whether the caller wants the scan back, without a step.
    is_recalled: AtomicBool,
    /// Readable but while the thread has the scan.
    event: OwnedFd,
}

/// The place where the scan changes hands.
#[derive(Debug)]
enum Desk<S: Steps> {
    Nothing,
    /// From the caller.
    Scan(S),
    /// From the thread.
    Step(S, Answer<S>),
    /// The thread ends.
    Closed,
}

impl<S: Steps> Reading<S> {
    pub(crate) fn new(scan: S) -> Reading<S> {
        Reading {
            scan: Some(scan),
            early: None,
            aide: None,
        }
    }

    /// The scan; absent while the thread has it, and then nothing has come.
    pub(crate) fn scan(&self) -> Option<&S> {
        self.scan.as_ref()
    }

    /// Asks the scan something, and takes it back for that.
    pub(crate) fn ask<T>(&mut self, ask: impl FnOnce(&mut S) -> T) -> Option<T> {
        if let Some(scan) = &mut self.scan {
            return Some(ask(scan));
        }
        let aide = self.aide.as_ref()?;
        let (mut scan, step) = aide.recall()?;
        let answer = ask(&mut scan);
        match step {
            Ok(Step::Waiting) => aide.lend(scan),
            step => (self.scan, self.early) = (Some(scan), Some(step)),
        }
        Some(answer)
    }

    /// As [`scan`](Self::scan), to change it.
    pub(crate) fn scan_mut(&mut self) -> Option<&mut S> {
        self.scan.as_mut()
    }

    /// The next step. The scan is here when one has come.
    pub(crate) fn step_within(&mut self, timeout: Duration) -> Answer<S> {
        if let Some(step) = self.early.take() {
            return step;
        }
        let Some(aide) = &self.aide else {
            let scan = self.scan.as_mut();
            return scan.map_or(Ok(Step::End), |scan| scan.step_within(timeout));
        };
        if let Some(mut scan) = self.scan.take() {
            match scan.step_within(Duration::ZERO) {
                Ok(Step::Waiting) => aide.lend(scan),
                step => {
                    self.scan = Some(scan);
                    return step;
                }
            }
        }
        match aide.take_within(timeout) {
            Some((scan, step)) => {
                self.scan = Some(scan);
                step
            }
            None => Ok(Step::Waiting),
        }
    }

    /// The descriptor, with a thread from the first call on.
    pub(crate) fn descriptor(&mut self) -> Result<i32, Failure> {
        let aide = match self.aide.take() {
            Some(aide) => aide,
            None => {
                Aide::new().map_err(|error| Failure::Begin(Error::io(Op::Collect, None, error)))?
            }
        };
        Ok(self.aide.insert(aide).shared.event.as_raw_fd())
    }

    /// Ends the scan.
    pub(crate) fn end(mut self) -> Result<Report, Failure> {
        self.end_aide();
        let scan = self.scan.take();
        scan.map_or(Err(Failure::Invalid("the scan is lost")), Steps::end)
    }

    /// Leaves a scan of the parent to itself, in the child of a fork: the thread is not there,
    /// and may have held the lock.
    pub(crate) fn leave(mut self) {
        if let Some(aide) = self.aide.take() {
            let event = aide.shared.event.as_raw_fd();
            std::mem::forget(aide);
            // SAFETY: it is this process's own number of the descriptor, and nobody has it any
            // more: its owner was forgotten.
            drop(unsafe { OwnedFd::from_raw_fd(event) });
        }
    }

    /// Takes the scan back and ends the thread.
    fn end_aide(&mut self) {
        let Some(aide) = self.aide.take() else { return };
        if self.scan.is_none() {
            self.scan = aide.recall().map(|(scan, _)| scan);
        }
        *aide.shared.desk() = Desk::Closed;
        aide.shared.has_changed.notify_all();
        // It catches its panics.
        let _ = aide.thread.join();
    }
}

impl<S: Steps> Drop for Reading<S> {
    fn drop(&mut self) {
        self.end_aide();
    }
}

impl<S: Steps> Aide<S> {
    fn new() -> std::io::Result<Aide<S>> {
        // It is readable from the beginning: something may be at hand.
        // SAFETY: a call without pointers.
        let event = unsafe { libc::eventfd(1, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
        if event < 0 {
            return Err(std::io::Error::last_os_error());
        }
        let shared = Arc::new(Shared {
            desk: Mutex::new(Desk::Nothing),
            has_changed: Condvar::new(),
            is_recalled: AtomicBool::new(false),
            // SAFETY: the kernel has just made it, and nobody else has it.
            event: unsafe { OwnedFd::from_raw_fd(event) },
        });
        let of_thread = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("statwalk-wait".to_owned());
        let thread = thread.spawn(move || of_thread.serve())?;
        Ok(Aide { shared, thread })
    }

    /// Gives the scan to the thread.
    fn lend(&self, scan: S) {
        self.shared.clear();
        *self.shared.desk() = Desk::Scan(scan);
        self.shared.has_changed.notify_all();
    }

    /// Takes the scan back, also without a step.
    fn recall(&self) -> Option<(S, Answer<S>)> {
        self.shared.is_recalled.store(true, Ordering::Relaxed);
        let found = self.take_within(Duration::MAX);
        self.shared.is_recalled.store(false, Ordering::Relaxed);
        found
    }

    /// Takes the scan with its next step, and waits for it up to a time.
    fn take_within(&self, timeout: Duration) -> Option<(S, Answer<S>)> {
        let deadline = Instant::now().checked_add(timeout);
        let mut desk = self.shared.desk();
        loop {
            if let Desk::Step(..) = *desk {
                let Desk::Step(scan, step) = std::mem::replace(&mut *desk, Desk::Nothing) else {
                    return None;
                };
                return Some((scan, step));
            }
            let left = deadline.map(|at| at.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return None;
            }
            // A wait without end ends now and then, and begins again.
            let left = left.unwrap_or(Duration::from_secs(3600));
            let woken = self.shared.has_changed.wait_timeout(desk, left);
            desk = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl<S: Steps> Shared<S> {
    fn desk(&self) -> MutexGuard<'_, Desk<S>> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The thread's work, until the caller has closed the desk.
    fn serve(&self) {
        let mut desk = self.desk();
        loop {
            match std::mem::replace(&mut *desk, Desk::Nothing) {
                Desk::Scan(mut scan) => {
                    drop(desk);
                    let step = self.wait_for(&mut scan);
                    desk = self.desk();
                    *desk = Desk::Step(scan, step);
                    self.signal();
                    self.has_changed.notify_all();
                }
                Desk::Closed => return,
                other => *desk = other,
            }
            let woken = self.has_changed.wait(desk);
            desk = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn wait_for(&self, scan: &mut S) -> Answer<S> {
        loop {
            let step = Failure::catch(|| scan.step_within(SLICE)).and_then(|step| step);
            let is_recalled = self.is_recalled.load(Ordering::Relaxed);
            if is_recalled || !matches!(step, Ok(Step::Waiting)) {
                return step;
            }
        }
    }

    fn signal(&self) {
        let one: u64 = 1;
        // SAFETY: it reads the eight bytes of `one`. The counter is 0, so nothing is full.
        unsafe { libc::write(self.event.as_raw_fd(), (&raw const one).cast(), 8) };
    }

    fn clear(&self) {
        let mut count: u64 = 0;
        // SAFETY: it writes the eight bytes of `count`.
        unsafe { libc::read(self.event.as_raw_fd(), (&raw mut count).cast(), 8) };
    }
}
