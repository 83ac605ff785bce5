// SPDX-License-Identifier: MIT OR Apache-2.0

//! A desk: threads that answer questions of one kind.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::message::Message;
use crate::system::stdio::reason;

/// Whether the question is of no use any more.
type Stop<'a> = dyn Fn() -> bool + Sync + 'a;

type Job = Box<dyn FnOnce(&Stop<'_>) -> Option<Message> + Send>;

/// How often the end of a thread is asked for.
const PERIOD: Duration = Duration::from_millis(20);

/// A desk for questions of one kind. A new question ends the one before, and so does the
/// end of the desk.
pub(crate) struct Desk {
    name: &'static str,
    answers: Sender<Message>,
    /// The number of the last question.
    newest: Arc<AtomicU64>,
    threads: Threads,
}

enum Threads {
    /// One for all questions: each waits for the end of the one before.
    One(Sender<(Ticket, Job)>),
    /// One for each question: one that hangs in the system holds no other. That of the last
    /// is kept.
    Each {
        last: Option<JoinHandle<()>>,
        /// The answer to a question that gets no thread, from the reason.
        refused: fn(String) -> Message,
    },
}

/// The number of a question, by which its answer is known.
#[derive(Clone, Debug)]
pub(crate) struct Ticket {
    number: u64,
    newest: Arc<AtomicU64>,
}

impl Ticket {
    /// Whether no question came after it, and nobody ended it.
    pub(crate) fn is_last(&self) -> bool {
        self.newest.load(Ordering::Relaxed) == self.number
    }

    /// Does a job, unless it is of no use any more. Returns whether the browser is there.
    fn run(&self, job: Job, answers: &Sender<Message>) -> bool {
        let is_old = || !self.is_last();
        if is_old() {
            return true;
        }
        match job(&is_old) {
            Some(answer) => answers.send(answer).is_ok(),
            None => true,
        }
    }
}

impl Desk {
    /// A desk with one thread.
    pub(crate) fn new(name: &'static str, answers: Sender<Message>) -> io::Result<Desk> {
        let (jobs, waiting) = mpsc::channel::<(Ticket, Job)>();
        let sender = answers.clone();
        start(name, move || {
            while let Ok((ticket, job)) = waiting.recv() {
                if !ticket.run(job, &sender) {
                    return;
                }
            }
        })?;
        Ok(Desk {
            name,
            answers,
            newest: Arc::default(),
            threads: Threads::One(jobs),
        })
    }

    /// A desk with a thread for each question. Where the system gives none, `refused` makes
    /// the answer.
    pub(crate) fn with_a_thread_each(
        name: &'static str,
        answers: Sender<Message>,
        refused: fn(String) -> Message,
    ) -> Desk {
        Desk {
            name,
            answers,
            newest: Arc::default(),
            threads: Threads::Each {
                last: None,
                refused,
            },
        }
    }

    /// Asks a question. The job asks now and then whether it is to stop. Its answer comes
    /// even where another question came meanwhile.
    pub(crate) fn ask(&mut self, job: impl FnOnce(&Stop<'_>) -> Option<Message> + Send + 'static) {
        let ticket = self.ticket();
        self.begin(ticket, Box::new(job));
    }

    /// Asks a question, whose answer is dropped where another one came meanwhile, or where
    /// somebody ended it.
    pub(crate) fn ask_for_the_last(
        &mut self,
        job: impl FnOnce(&Stop<'_>) -> Option<Message> + Send + 'static,
    ) {
        let ticket = self.ticket();
        let own = ticket.clone();
        let job = move |stop: &Stop<'_>| {
            let answer = job(stop)?;
            Some(Message::OfTheLast(own, Box::new(answer)))
        };
        self.begin(ticket, Box::new(job));
    }

    /// Ends the last question.
    pub(crate) fn end(&self) {
        self.newest.fetch_add(1, Ordering::Relaxed);
    }

    /// Ends the last question, and waits so long at most for the thread that has it.
    pub(crate) fn end_within(&mut self, wait: Duration) {
        self.end();
        let Threads::Each {
            last: Some(thread), ..
        } = &self.threads
        else {
            return;
        };
        let start = Instant::now();
        while !thread.is_finished() && start.elapsed() < wait {
            thread::sleep(PERIOD);
        }
    }

    fn ticket(&self) -> Ticket {
        Ticket {
            number: self.newest.fetch_add(1, Ordering::Relaxed) + 1,
            newest: Arc::clone(&self.newest),
        }
    }

    fn begin(&mut self, ticket: Ticket, job: Job) {
        match &mut self.threads {
            Threads::One(jobs) => {
                // The thread ends with the browser alone.
                let _ = jobs.send((ticket, job));
            }
            Threads::Each { last, refused } => {
                let answers = self.answers.clone();
                let started = start(self.name, move || {
                    ticket.run(job, &answers);
                });
                match started {
                    Ok(thread) => *last = Some(thread),
                    Err(error) => {
                        let error = format!("cannot start a thread: {}", reason(&error));
                        // The browser may be gone.
                        let _ = self.answers.send(refused(error));
                    }
                }
            }
        }
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        self.end();
    }
}

/// Starts a thread of the browser.
pub(crate) fn start(
    name: &str,
    work: impl FnOnce() + Send + 'static,
) -> io::Result<JoinHandle<()>> {
    thread::Builder::new()
        .name(format!("browse-{name}"))
        .spawn(work)
}

#[cfg(test)]
mod tests {
    use super::*;
    use statwalk_browse::Event;

    fn said(text: &str) -> Option<Message> {
        Some(Message::Event(Event::Message(text.to_owned())))
    }

    fn text_of(message: Message) -> Option<String> {
        match message {
            Message::Event(Event::Message(text)) => Some(text),
            Message::OfTheLast(ticket, message) if ticket.is_last() => text_of(*message),
            _ => None,
        }
    }

    #[test]
    fn only_the_answer_to_the_last_question_counts() {
        let (sender, answers) = mpsc::channel();
        for mut desk in [
            Desk::new("test", sender.clone()).unwrap(),
            Desk::with_a_thread_each("test", sender, |text| Message::Event(Event::Message(text))),
        ] {
            desk.ask_for_the_last(|_| said("one"));
            // It is on its way when the next question comes.
            let first = answers.recv().unwrap();
            desk.ask_for_the_last(|_| said("two"));
            assert_eq!(text_of(first), None);
            let second = answers.recv().unwrap();
            assert_eq!(text_of(second).as_deref(), Some("two"));
            desk.ask_for_the_last(|_| said("three"));
            let third = answers.recv().unwrap();
            desk.end();
            assert_eq!(text_of(third), None);
            desk.ask(|_| said("four"));
            let fourth = answers.recv().unwrap();
            desk.end();
            assert_eq!(text_of(fourth).as_deref(), Some("four"));
        }
    }

    #[test]
    fn a_question_stops_when_another_comes_and_when_the_desk_goes() {
        for is_dropped in [false, true] {
            let (sender, answers) = mpsc::channel();
            let mut desk = Desk::with_a_thread_each("test", sender, |text| {
                Message::Event(Event::Message(text))
            });
            let (begun, begins) = mpsc::channel();
            let job = move |stop: &Stop<'_>| {
                begun.send(()).unwrap();
                while !stop() {
                    thread::yield_now();
                }
                said("stopped")
            };
            desk.ask(job);
            begins.recv().unwrap();
            match is_dropped {
                true => drop(desk),
                false => desk.end_within(Duration::from_secs(60)),
            }
            let answer = answers.recv().unwrap();
            assert_eq!(text_of(answer).as_deref(), Some("stopped"));
        }
    }
}
