// SPDX-License-Identifier: MIT OR Apache-2.0

//! The loop between the kernel and the answers, and when an answer is sent.
//!
//! One thread, which never sleeps for a call: an answer that comes later waits
//! in a heap, a call that hangs waits in a table. So any number of calls can
//! be under way at once, and a hanging one holds up no other.
//!
//! The event loops of `fuser` 0.18 would not do. They cannot list a name as
//! `DT_UNKNOWN`. They answer the kernel's INTERRUPT with "not supported"; then a
//! process that waits for a hanging call cannot be killed. And they end only when the
//! last open descriptor below the mount is closed.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::io::{PipeReader, Read};
use std::num::NonZeroU64;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::thread::set_current_timer_slack;

use super::answer::{Answer, Answers};
use super::counts::Board;
use super::disk::Head;
use super::rules::Hang;
use super::wire::{Call, REQUEST_MAX_BYTES, Request, reply, reply_error};

/// The orders of the guard to the server; a byte in the pipe says "look here".
#[derive(Debug, Default)]
pub(super) struct Orders {
    pub(super) release: AtomicBool,
    pub(super) stop: AtomicBool,
}

/// Everything that the server's thread owns.
pub(super) struct Server {
    device: OwnedFd,
    wake: PipeReader,
    orders: Arc<Orders>,
    board: Arc<Board>,
    answers: Answers,
    slots: Slots,
    disk: Option<Head>,
    hanging: HashMap<u64, (Request, Hang)>,
    released: bool,
    later: BinaryHeap<Reverse<Later>>,
    sent_later: u64,
}

/// A reply that waits for its time. Ordered by time, then by arrival.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Later {
    due: Instant,
    number: u64,
    reply: Vec<u8>,
}

/// How many calls are served at once: when each server slot is free again.
pub(super) enum Slots {
    Unlimited,
    Limited(BinaryHeap<Reverse<Instant>>),
}

impl Slots {
    pub(super) fn new(count: Option<usize>) -> Slots {
        match count {
            None => Slots::Unlimited,
            Some(count) => Slots::Limited(vec![Reverse(Instant::now()); count.max(1)].into()),
        }
    }

    /// When a call is done that takes `latency` and arrives now.
    fn done(&mut self, now: Instant, latency: Duration) -> Instant {
        let Slots::Limited(free) = self else {
            return now + latency;
        };
        let start = free.pop().map_or(now, |Reverse(at)| at.max(now));
        free.push(Reverse(start + latency));
        start + latency
    }
}

impl Server {
    /// `device` is the connection to the kernel after the handshake, and must
    /// not block.
    pub(super) fn new(
        device: OwnedFd,
        wake: PipeReader,
        orders: Arc<Orders>,
        board: Arc<Board>,
        answers: Answers,
        slots: Slots,
        disk: Option<Head>,
    ) -> Server {
        Server {
            device,
            wake,
            orders,
            board,
            answers,
            slots,
            disk,
            hanging: HashMap::new(),
            released: false,
            later: BinaryHeap::new(),
            sent_later: 0,
        }
    }

    /// Serves until the guard stops it or the file system is gone.
    pub(super) fn run(mut self) {
        // By default the kernel wakes a thread up to 50 µs late. Refused, it does.
        let _ = set_current_timer_slack(NonZeroU64::new(1));
        let mut message = vec![0; REQUEST_MAX_BYTES];
        loop {
            self.send_due();
            if self.orders.release.load(Ordering::Acquire) && !self.released {
                self.release();
            }
            if self.orders.stop.load(Ordering::Acquire) {
                break;
            }
            match rustix::io::read(&self.device, &mut message) {
                Ok(size) => {
                    let request = Request::decode(&message[..size]);
                    self.arrived(request.expect("the kernel keeps to the protocol"));
                }
                Err(Errno::AGAIN) => self.wait(),
                // NOENT: the request was withdrawn while it was being read.
                Err(Errno::INTR | Errno::NOENT) => {}
                // Unmounted, or the connection was aborted.
                Err(Errno::NODEV | Errno::CONNABORTED) => break,
                Err(errno) => panic!("reading a request: {errno}"),
            }
        }
        self.release();
        while let Some(Reverse(later)) = self.later.pop() {
            self.send(&later.reply);
        }
    }

    /// Waits for a request, an order or the next reply that is due.
    fn wait(&mut self) {
        let next = self.later.peek();
        let rest = next.map(|Reverse(later)| later.due.saturating_duration_since(Instant::now()));
        if rest == Some(Duration::ZERO) {
            return;
        }
        let timeout = rest
            .map(|rest| Timespec::try_from(rest).expect("latencies are shorter than centuries"));
        let mut waited = [
            PollFd::new(&self.device, PollFlags::IN),
            PollFd::new(&self.wake, PollFlags::IN),
        ];
        match poll(&mut waited, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => panic!("waiting for requests: {errno}"),
        }
        if waited[1].revents().contains(PollFlags::IN) {
            self.wake
                .read_exact(&mut [0])
                .expect("the guard writes whole bytes");
        }
    }

    fn arrived(&mut self, request: Request) {
        if let Call::Interrupt { unique } = request.call {
            self.interrupted(unique);
            return;
        }
        let subject = self.answers.subject(&request);
        self.board.arrived(subject, &request.call);
        match self.answers.hang(subject) {
            Some(hang) if !self.released => {
                self.hanging.insert(request.unique, (request, hang));
                self.count_waiting();
            }
            _ => self.serve(&request),
        }
    }

    /// Answers now, and sends the answer once the call's latency is over.
    fn serve(&mut self, request: &Request) {
        let subject = self.answers.subject(request);
        let mut latency = self.answers.latency(subject);
        if let Some(disk) = &mut self.disk
            && subject.op.is_some()
            && let Some(seek) = disk.read(subject.ino)
        {
            latency += seek.duration;
            self.board.change(|counts| {
                counts.seeks += 1;
                counts.seek_blocks += seek.blocks;
            });
        }
        let answer = self.answers.answer(request);
        let unique = request.unique;
        let reply = match answer {
            Answer::Payload(payload) => {
                if request.call == Call::Opendir {
                    self.board.opened_dir();
                }
                reply(unique, &payload)
            }
            Answer::Error(errno) => reply_error(unique, errno),
            Answer::Fault(errno) => {
                self.board.change(|counts| counts.faults += 1);
                reply_error(unique, errno)
            }
            Answer::Silence => return,
        };
        if latency.is_zero() {
            self.send(&reply);
            return;
        }
        let due = self.slots.done(Instant::now(), latency);
        self.sent_later += 1;
        self.later.push(Reverse(Later {
            due,
            number: self.sent_later,
            reply,
        }));
        self.count_waiting();
    }

    fn interrupted(&mut self, unique: u64) {
        // An INTERRUPT for a call that does not hang is left without an answer,
        // as the protocol allows: the call itself is answered soon.
        if let Some((_, Hang::UntilSignal)) = self.hanging.get(&unique) {
            self.hanging.remove(&unique);
            self.board.change(|counts| counts.interrupted += 1);
            self.count_waiting();
            self.send(&reply_error(unique, Errno::INTR));
        }
    }

    fn release(&mut self) {
        self.released = true;
        for (_, (request, _)) in std::mem::take(&mut self.hanging) {
            self.serve(&request);
        }
        self.count_waiting();
    }

    /// Sends one reply, if one is due.
    ///
    /// One, because who gets it sends the next request at once, and that is to be
    /// read before the next reply is sent. Where all replies that are due go
    /// first, the callers end up in step: all requests come together, and for the
    /// latency of one nothing happens.
    fn send_due(&mut self) {
        let first = self.later.peek();
        if first.is_some_and(|Reverse(later)| later.due <= Instant::now())
            && let Some(Reverse(later)) = self.later.pop()
        {
            self.send(&later.reply);
            self.count_waiting();
        }
    }

    fn send(&self, reply: &[u8]) {
        match rustix::io::write(&self.device, reply) {
            // NOENT: nobody waits any more. The others: the connection is gone.
            Ok(_) | Err(Errno::NOENT | Errno::NODEV | Errno::PERM | Errno::CONNABORTED) => {}
            Err(errno) => panic!(
                "the kernel refuses a reply of {} bytes: {errno}",
                reply.len()
            ),
        }
    }

    fn count_waiting(&self) {
        let hanging = self.hanging.len() as u64;
        let waiting = hanging + self.later.len() as u64;
        self.board.change(|counts| {
            counts.hanging = hanging;
            counts.waiting = waiting;
            counts.waiting_max = counts.waiting_max.max(waiting);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_slots_serve_four_calls_in_two_turns() {
        let now = Instant::now();
        let latency = Duration::from_millis(10);
        let mut slots = Slots::new(Some(2));
        let done = [(); 4].map(|()| slots.done(now, latency).duration_since(now));
        assert_eq!(done.map(|at| at.as_millis()), [10, 10, 20, 20]);
        let mut unlimited = Slots::new(None);
        let done = [(); 4].map(|()| unlimited.done(now, latency).duration_since(now));
        assert_eq!(done.map(|at| at.as_millis()), [10; 4]);
    }
}
