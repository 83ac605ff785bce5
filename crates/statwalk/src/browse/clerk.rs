// SPDX-License-Identifier: MIT OR Apache-2.0

//! A thread that does the last of its jobs.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread;

use super::Message;

type Job = Box<dyn FnOnce(&dyn Fn() -> bool) -> Option<Message> + Send>;

/// A thread for questions of one kind. A new question ends the one before.
pub(crate) struct Clerk {
    jobs: Sender<(u64, Job)>,
    newest: Arc<AtomicU64>,
}

impl Clerk {
    /// Starts the thread.
    ///
    /// # Errors
    ///
    /// Returns an error where the system gives no thread.
    pub(crate) fn new(name: &str, answers: Sender<Message>) -> io::Result<Clerk> {
        let (jobs, waiting) = mpsc::channel::<(u64, Job)>();
        let newest = Arc::new(AtomicU64::new(0));
        let latest = Arc::clone(&newest);
        let work = move || {
            while let Ok((number, job)) = waiting.recv() {
                let is_old = || latest.load(Ordering::Relaxed) != number;
                if !is_old()
                    && let Some(answer) = job(&is_old)
                    && answers.send(answer).is_err()
                {
                    return;
                }
            }
        };
        thread::Builder::new()
            .name(format!("browse-{name}"))
            .spawn(work)?;
        Ok(Clerk { jobs, newest })
    }

    /// Gives it a job. The job asks now and then whether it is to stop.
    pub(crate) fn give(
        &self,
        job: impl FnOnce(&dyn Fn() -> bool) -> Option<Message> + Send + 'static,
    ) {
        let number = self.newest.fetch_add(1, Ordering::Relaxed) + 1;
        // The thread ends with the browser alone.
        let _ = self.jobs.send((number, Box::new(job)));
    }
}
