// SPDX-License-Identifier: MIT OR Apache-2.0

//! A simulated machine: threads, processors, a device, and one clock.
//!
//! All threads run on one thread of the system, one at a time, and nothing interrupts
//! them but their own calls. A call takes time on a processor, then on the device; who
//! runs next is who is first to have its answer, and the seed where several are. So a
//! seed decides all that happens.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt;
use std::io;
use std::rc::Rc;
use std::time::{Duration, Instant};

use fastrand::Rng;
use generator::{Generator, Gn};

use crate::tally;
use crate::threads::Condvar;

/// The stack of a simulated thread. Those of the system have less in a release.
const STACK_BYTES: usize = 512 << 10;

/// More steps than any simulation needs.
const STEPS_MAX: u64 = 10_000_000;

thread_local! {
    static CURRENT: RefCell<Option<Rc<World>>> = const { RefCell::new(None) };
}

/// The machine on which the calling thread is simulated, if it is.
pub(crate) fn current() -> Option<Rc<World>> {
    CURRENT.with_borrow(Clone::clone)
}

/// The facts of a machine.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    pub(crate) processors: usize,
    /// How many calls its device serves at once.
    pub(crate) device_width: usize,
    /// How long a call computes, and how long the device takes for it.
    pub(crate) call: Span,
    pub(crate) latency: Span,
    /// How many of a hundred calls the device is needed for.
    pub(crate) missing_percent: u32,
    /// Up to how many threads there are, the first one not counted.
    pub(crate) threads_max: usize,
    pub(crate) free_descriptors: usize,
    /// How long it takes until a thread runs that was started or called.
    pub(crate) wake: Span,
}

/// A time that differs from one event to the next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub(crate) least: Duration,
    pub(crate) most: Duration,
}

impl Span {
    pub(crate) fn always(time: Duration) -> Span {
        Span {
            least: time,
            most: time,
        }
    }

    fn pick(self, rng: &mut Rng) -> Duration {
        let (least, most) = (self.least.as_nanos() as u64, self.most.as_nanos() as u64);
        Duration::from_nanos(rng.u64(least..=most.max(least)))
    }
}

/// A machine that runs.
pub(crate) struct World {
    machine: Machine,
    base: Instant,
    now: Cell<Duration>,
    rng: RefCell<Rng>,
    tasks: RefCell<Vec<Task>>,
    /// When which task goes on; some of the entries are out of date.
    agenda: RefCell<BinaryHeap<Reverse<Event>>>,
    current: Cell<usize>,
    processors: RefCell<Servers>,
    device: RefCell<Servers>,
    calls: Cell<u64>,
    /// How many threads make a call, compute, or were called and come.
    busy: Cell<usize>,
    /// How long there was none.
    idle: Cell<Duration>,
    /// Until when calls that hang do so; nothing is known of that before.
    is_ending: Cell<bool>,
    traces: bool,
}

/// A simulated thread.
struct Task {
    generator: Option<Generator<'static, (), ()>>,
    state: State,
    /// Makes entries of the agenda out of date.
    turn: u64,
    cpu: Duration,
    waited: Duration,
    tally: (u64, u64),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// It goes on at a time that is on the agenda.
    Ready,
    /// It waits for a processor or computes.
    Computes,
    /// It waits for a call to this place.
    Waits(usize),
    /// It made a call that does not come back.
    Hangs,
    Gone,
}

/// A time, a lot among those of the same time, a task and its turn.
type Event = (Duration, u32, usize, u64);

/// Something that serves so many at once, in the order in which they come.
struct Servers(BinaryHeap<Reverse<Duration>>);

impl Servers {
    fn new(count: usize) -> Servers {
        Servers((0..count.max(1)).map(|_| Reverse(Duration::ZERO)).collect())
    }

    /// When somebody who comes now has been served, and for how long it waits before.
    fn serve(&mut self, now: Duration, time: Duration) -> (Duration, Duration) {
        let Reverse(free) = self.0.pop().expect("there is one server at least");
        let begin = free.max(now);
        self.0.push(Reverse(begin + time));
        (begin + time, begin - now)
    }
}

impl World {
    pub(crate) fn new(machine: Machine, seed: u64, traces: bool) -> Rc<World> {
        Rc::new(World {
            processors: RefCell::new(Servers::new(machine.processors)),
            device: RefCell::new(Servers::new(machine.device_width)),
            machine,
            base: Instant::now(),
            now: Cell::new(Duration::ZERO),
            rng: RefCell::new(Rng::with_seed(seed)),
            tasks: RefCell::default(),
            agenda: RefCell::default(),
            current: Cell::new(usize::MAX),
            calls: Cell::new(0),
            busy: Cell::new(0),
            idle: Cell::new(Duration::ZERO),
            is_ending: Cell::new(false),
            traces,
        })
    }

    /// Runs `first` as the first thread, and all others until they are gone. After each
    /// step `check` looks at what there is.
    pub(crate) fn run(
        self: &Rc<Self>,
        first: impl FnOnce() + Send + 'static,
        mut check: impl FnMut(&World),
    ) {
        let before = CURRENT.replace(Some(Rc::clone(self)));
        assert!(before.is_none(), "a simulation runs in a simulation");
        let _reset = Reset;
        self.add(STACK_BYTES, first, self.now.get());
        let mut steps = 0;
        while let Some(task) = self.next() {
            steps += 1;
            assert!(steps < STEPS_MAX, "{self}: no end after {steps} steps");
            self.step(task);
            check(self);
        }
    }

    /// The next one to go on. When all that is left hangs, what hangs comes back.
    fn next(&self) -> Option<usize> {
        loop {
            let event = self.agenda.borrow_mut().pop();
            let Some(Reverse((time, _, task, turn))) = event else {
                if !self.let_go() {
                    return None;
                }
                continue;
            };
            if self.tasks.borrow()[task].turn == turn {
                let before = self.now.replace(time.max(self.now.get()));
                if self.busy.get() == 0 {
                    self.idle.set(self.idle.get() + (self.now.get() - before));
                }
                return Some(task);
            }
        }
    }

    /// Lets calls that hang come back. Answers whether there are any.
    fn let_go(&self) -> bool {
        self.is_ending.set(true);
        let hanging: Vec<usize> = self.those_in(State::Hangs);
        let waiting = self
            .tasks
            .borrow()
            .iter()
            .enumerate()
            .find_map(|(task, t)| matches!(t.state, State::Waits(_)).then_some(task));
        if let Some(task) = waiting.filter(|_| hanging.is_empty()) {
            panic!("{self}: thread {task} waits for ever");
        }
        for &task in &hanging {
            self.wake(task, Duration::ZERO);
        }
        !hanging.is_empty()
    }

    fn those_in(&self, state: State) -> Vec<usize> {
        let tasks = self.tasks.borrow();
        let here = tasks
            .iter()
            .enumerate()
            .filter(|(_, task)| task.state == state);
        here.map(|(index, _)| index).collect()
    }

    fn step(&self, index: usize) {
        let mut generator = {
            let mut tasks = self.tasks.borrow_mut();
            let task = &mut tasks[index];
            self.set_state(task, State::Ready);
            tally::set(task.tally);
            task.generator
                .take()
                .expect("a task that is gone is on no agenda")
        };
        self.current.set(index);
        generator.resume();
        let mut tasks = self.tasks.borrow_mut();
        let task = &mut tasks[index];
        task.tally = (tally::made(), tally::read());
        match generator.is_done() {
            true => self.set_state(task, State::Gone),
            false => task.generator = Some(generator),
        }
    }

    fn add(&self, stack_bytes: usize, work: impl FnOnce() + Send + 'static, at: Duration) {
        // In words.
        let stack = stack_bytes.max(STACK_BYTES) / size_of::<usize>();
        let generator = Gn::<()>::new_opt(stack, work);
        let mut tasks = self.tasks.borrow_mut();
        self.busy.set(self.busy.get() + 1);
        tasks.push(Task {
            generator: Some(generator),
            state: State::Ready,
            turn: 0,
            cpu: Duration::ZERO,
            waited: Duration::ZERO,
            tally: (0, 0),
        });
        let event = (at, self.rng.borrow_mut().u32(..), tasks.len() - 1, 0);
        self.agenda.borrow_mut().push(Reverse(event));
    }

    fn set_state(&self, task: &mut Task, state: State) {
        let is_busy = |state| matches!(state, State::Ready | State::Computes);
        let busy = self.busy.get() - usize::from(is_busy(task.state));
        self.busy.set(busy + usize::from(is_busy(state)));
        task.state = state;
    }

    /// Gives the processor to others until this task's turn comes.
    fn suspend(&self, state: State, until: Option<Duration>) {
        let index = self.current.get();
        {
            let mut tasks = self.tasks.borrow_mut();
            let task = &mut tasks[index];
            self.set_state(task, state);
            task.turn += 1;
            if let Some(until) = until {
                let event = (until, self.rng.borrow_mut().u32(..), index, task.turn);
                self.agenda.borrow_mut().push(Reverse(event));
            }
        }
        match state {
            State::Waits(_) => self.trace(|| "wait".to_owned()),
            State::Hangs => self.trace(|| "hang".to_owned()),
            State::Ready | State::Computes | State::Gone => {}
        }
        // The other way hands a scope through all that is called, which is the program.
        #[allow(deprecated)]
        generator::yield_with(());
    }

    /// Says what the thread does that runs, where somebody wants to know.
    #[allow(clippy::print_stderr)]
    pub(crate) fn trace(&self, what: impl FnOnce() -> String) {
        if self.traces {
            eprintln!(
                "{:?} thread {}: {}",
                self.now.get(),
                self.current.get(),
                what()
            );
        }
    }

    fn wake(&self, index: usize, after: Duration) {
        let mut tasks = self.tasks.borrow_mut();
        let task = &mut tasks[index];
        self.set_state(task, State::Ready);
        task.turn += 1;
        let at = self.now.get() + after;
        let event = (at, self.rng.borrow_mut().u32(..), index, task.turn);
        self.agenda.borrow_mut().push(Reverse(event));
    }

    fn pick(&self, span: Span) -> Duration {
        span.pick(&mut self.rng.borrow_mut())
    }

    /// Makes a call: it computes, and may wait for the device.
    pub(crate) fn call(&self) {
        let computing = self.pick(self.machine.call);
        self.compute(computing);
        if self.rng.borrow_mut().u32(0..100) < self.machine.missing_percent {
            let latency = self.pick(self.machine.latency);
            let now = self.now.get();
            let (end, _) = self.device.borrow_mut().serve(now, latency);
            self.suspend(State::Ready, Some(end));
        }
        self.calls.set(self.calls.get() + 1);
    }

    /// Computes for a time.
    pub(crate) fn compute(&self, time: Duration) {
        let (end, waited) = self.processors.borrow_mut().serve(self.now.get(), time);
        self.suspend(State::Computes, Some(end));
        let mut tasks = self.tasks.borrow_mut();
        let task = &mut tasks[self.current.get()];
        task.cpu += time;
        task.waited += waited;
    }

    /// Makes a call that does not come back until all others have ended.
    pub(crate) fn hang(&self) {
        if !self.is_ending.get() {
            self.suspend(State::Hangs, None);
        }
    }

    /// The time since the machine was started.
    pub(crate) fn time(&self) -> Duration {
        self.now.get()
    }

    /// How long no thread did anything.
    pub(crate) fn idle(&self) -> Duration {
        self.idle.get()
    }

    /// How many threads there are besides the first.
    pub(crate) fn threads(&self) -> usize {
        let tasks = self.tasks.borrow();
        tasks[1..]
            .iter()
            .filter(|task| task.state != State::Gone)
            .count()
    }

    pub(crate) fn machine(&self) -> &Machine {
        &self.machine
    }

    // --- In the place of the system ---

    pub(crate) fn now(&self) -> Instant {
        self.base + self.now.get()
    }

    pub(crate) fn start_thread(
        &self,
        stack_bytes: usize,
        work: impl FnOnce() + Send + 'static,
    ) -> io::Result<()> {
        if self.threads() >= self.machine.threads_max {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let after = self.pick(self.machine.wake);
        self.add(stack_bytes, work, self.now.get() + after);
        Ok(())
    }

    /// The number of the thread that runs; never 0.
    pub(crate) fn thread(&self) -> i32 {
        self.current.get() as i32 + 1
    }

    pub(crate) fn cpu_and_wait(&self, thread: i32) -> Option<(Duration, Duration)> {
        let tasks = self.tasks.borrow();
        let task = &tasks[thread as usize - 1];
        (task.state != State::Gone).then_some((task.cpu, task.waited))
    }

    pub(crate) fn is_kept_from_processors(&self, thread: i32) -> bool {
        self.tasks.borrow()[thread as usize - 1].state == State::Computes
    }

    pub(crate) fn processors(&self) -> usize {
        self.machine.processors
    }

    pub(crate) fn free_descriptors(&self) -> usize {
        self.machine.free_descriptors
    }

    /// Waits for a call to a place, at most for a time.
    pub(crate) fn wait(&self, place: &Condvar, timeout: Option<Duration>) {
        // No clock of a real machine stands still while somebody waits.
        let until = timeout.map(|timeout| self.now.get() + timeout + Duration::from_nanos(1));
        self.suspend(State::Waits(address(place)), until);
    }

    pub(crate) fn call_one(&self, place: &Condvar) {
        let mut waiting = self.those_in(State::Waits(address(place)));
        if !waiting.is_empty() {
            let lot = self.rng.borrow_mut().usize(0..waiting.len());
            let task = waiting.swap_remove(lot);
            self.wake(task, self.pick(self.machine.wake));
        }
    }

    pub(crate) fn call_all(&self, place: &Condvar) {
        for task in self.those_in(State::Waits(address(place))) {
            self.wake(task, self.pick(self.machine.wake));
        }
    }
}

/// A condition variable is known by its address: it does not move while somebody waits.
fn address(place: &Condvar) -> usize {
    std::ptr::from_ref(place).addr()
}

impl fmt::Display for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (time, calls) = (self.now.get(), self.calls.get());
        write!(
            f,
            "at {time:?}, after {calls} calls, {} threads",
            self.threads()
        )
    }
}

/// Ends the simulation, also where it panics.
struct Reset;

impl Drop for Reset {
    fn drop(&mut self) {
        let world = CURRENT.take();
        // What a panic leaves behind would unwind here, and panic once more.
        if std::thread::panicking() {
            std::mem::forget(world);
        }
    }
}
