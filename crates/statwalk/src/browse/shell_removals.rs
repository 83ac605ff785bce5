// SPDX-License-Identifier: MIT OR Apache-2.0

//! Removals through the shell of the browser, in the process: a kind of attack for each
//! focus of a trial.
//!
//! The shell runs on a thread of its own, before a [`Simulated`] screen. The trial has the
//! other side of it, a [`Desk`]. The home with the journal and the trash is a variable of
//! the environment, so the rounds run in a process that has it from its start.

#![cfg(test)]

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::{self, BufRead as _};
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use clap::CommandFactory;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::Modifier;
use statwalk_browse::{Bytes, Cursor, Key, Keymap, Options, OwnerNames};
use statwalk_testkit::attack::{Attack, Round};
use statwalk_testkit::removal_trial::{self, Deeds, Focus, Frame, Ground, Seat};
use statwalk_testkit::{Scratch, or_skip, program, remove_tree};
use statwalk_view::{Charset, Colour, SizeFormat, text_width};

use super::screen::{Input, Screen};
use super::sightings::Sightings;
use super::{IDLE_WAIT, Shell, Wanted};
use crate::failure::Failure;
use crate::flags::{BrowseFlags, parse_as};
use crate::request::Request;
use crate::system::accounts;

/// The clock of the screen runs so many times as fast as the one on the wall, and its waits
/// are as much shorter.
const SPEED: u32 = 20;
/// A trial waits so long for what never comes.
const LONG: Duration = Duration::from_secs(20);
/// The directory of the process that runs the rounds.
const GROUND: &str = "STATWALK_TEST_GROUND";

/// The things that the shell and the trial share.
#[derive(Default)]
struct State {
    inputs: VecDeque<Input>,
    frame: Frame,
    /// Whether the shell has nothing to do but to wait for a key.
    is_idle: bool,
    is_over: bool,
}

impl State {
    fn press(&mut self, keys: &str) {
        let key = |sign| match sign {
            '\r' => Key::Enter,
            '\t' => Key::Tab,
            '\x1b' => Key::Esc,
            sign => Key::Char(sign),
        };
        self.inputs.extend(keys.chars().map(key).map(Input::Key));
        self.is_idle = false;
    }
}

#[derive(Clone, Default)]
struct Desk {
    shared: Arc<(Mutex<State>, Condvar)>,
    sightings: Sightings,
}

impl Desk {
    fn state(&self) -> MutexGuard<'_, State> {
        (self.shared.0.lock()).unwrap_or_else(PoisonError::into_inner)
    }

    fn changed(&self) {
        self.shared.1.notify_all();
    }

    /// Waits until the state has something, or a time is over.
    fn until(&self, wait: Duration, has: impl Fn(&State) -> bool) -> MutexGuard<'_, State> {
        let waited = self
            .shared
            .1
            .wait_timeout_while(self.state(), wait, |state| !has(state));
        waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

impl Seat for Desk {
    fn frame(&mut self) -> Frame {
        self.state().frame.clone()
    }

    fn press(&mut self, keys: &str) {
        self.state().press(keys);
        self.changed();
    }

    fn press_on(&mut self, frame: &Frame, keys: &str) -> Option<bool> {
        let mut state = self.state();
        let is_same = state.frame == *frame;
        if is_same {
            state.press(keys);
        }
        drop(state);
        self.changed();
        Some(is_same)
    }

    fn settle(&mut self) {
        let state = self.until(LONG, |state| state.is_over || state.is_idle);
        assert!(
            state.is_idle,
            "the shell does not settle:\n{}",
            state.frame.text()
        );
    }

    fn see_marks(&mut self) {
        let start = Instant::now();
        while self.sightings.is_looking() {
            assert!(start.elapsed() < LONG, "the marks are not seen");
            thread::sleep(Duration::from_micros(100));
        }
    }

    fn wait(&mut self, has: &dyn Fn(&Frame) -> bool) -> Frame {
        let frame = self.until(LONG, |state| has(&state.frame)).frame.clone();
        assert!(
            has(&frame),
            "what was waited for never came:\n{}",
            frame.text()
        );
        frame
    }
}

/// The screen of a shell, without a terminal.
struct Simulated {
    desk: Desk,
    size: (u16, u16),
    opened: Instant,
}

impl Simulated {
    fn show(&self, draw: &mut dyn FnMut(&mut Buffer) -> Option<Cursor>) -> Frame {
        let (width, height) = self.size;
        let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
        draw(&mut buffer);
        let line = |y: u16| {
            let (mut text, mut covered) = (String::new(), 0);
            for x in 0..width {
                let symbol = buffer[(x, y)].symbol();
                if covered == 0 {
                    text.push_str(symbol);
                    covered = text_width(symbol).max(1);
                }
                covered -= 1;
            }
            text.trim_end().to_owned()
        };
        let is_inverse = |y| buffer[(0, y)].modifier.contains(Modifier::REVERSED);
        Frame {
            lines: (0..height).map(line).collect(),
            inverse: (0..height).map(is_inverse).collect(),
        }
    }
}

impl Screen for Simulated {
    fn size(&self) -> (u16, u16) {
        self.size
    }

    fn now(&self) -> Duration {
        self.opened.elapsed() * SPEED
    }

    fn draw(&mut self, draw: &mut dyn FnMut(&mut Buffer) -> Option<Cursor>) -> Result<(), Failure> {
        let frame = self.show(draw);
        self.desk.state().frame = frame;
        self.desk.changed();
        Ok(())
    }

    fn has_input(&mut self, wait: Duration) -> Result<bool, Failure> {
        let mut state = self.desk.state();
        if state.inputs.is_empty() && wait == IDLE_WAIT {
            state.is_idle = true;
            self.desk.changed();
        }
        drop(state);
        let state = self
            .desk
            .until(wait / SPEED, |state| !state.inputs.is_empty());
        Ok(!state.inputs.is_empty())
    }

    fn input(&mut self, wait: Duration) -> Result<Option<Input>, Failure> {
        let mut state = self
            .desk
            .until(wait / SPEED, |state| !state.inputs.is_empty());
        Ok(state.inputs.pop_front())
    }

    fn draw_question(
        &mut self,
        draw: &mut dyn FnMut(&mut Buffer) -> Option<Cursor>,
    ) -> Result<(), Failure> {
        let frame = self.show(draw);
        let mut state = self.desk.state();
        state.frame = frame;
        state.inputs.clear();
        drop(state);
        self.desk.changed();
        Ok(())
    }

    fn was_continued(&self) -> bool {
        false
    }

    fn leave(&mut self) {}

    fn resume(&mut self) {}

    fn suspend(&mut self) {}

    fn copy(&mut self, _: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn close(&mut self) {}
}

fn shell(root: &Path, size: (u16, u16)) -> Shell {
    let words = [
        OsString::from("--enable-delete"),
        root.as_os_str().to_owned(),
    ];
    let flags: BrowseFlags = parse_as(BrowseFlags::command(), &words).unwrap();
    let request = Request::of_browser(&flags.read, &flags.links, flags.paths).unwrap();
    let options = Options {
        keymap: Keymap::default(),
        format: SizeFormat::Binary,
        bytes: Bytes::Disk,
        charset: Charset::Unicode,
        colour: Colour::Off,
        owners: OwnerNames::new(accounts::user_text),
        starts_programs: false,
        follows_links: false,
        removes: true,
    };
    Shell::new(Wanted::Scan(Box::new(request)), options, size).unwrap()
}

fn trial(ground: &Ground, focus: Focus, round: &mut Round, deeds: &mut Deeds) {
    std::fs::create_dir(&ground.trees).unwrap();
    removal_trial::plant(ground, round);
    let size = *round.random.pick(&[(80, 24), (120, 40), (150, 60)]);
    let mut desk = Desk::default();
    let mut screen = Simulated {
        desk: desk.clone(),
        size,
        opened: Instant::now(),
    };
    let own = desk.clone();
    let mut shell = shell(&ground.root(), size);
    desk.sightings = shell.remover.sightings.clone();
    let work = thread::spawn(move || {
        let ended = shell.work(&mut screen).is_ok();
        let left = shell.remover.end(LONG);
        own.state().is_over = true;
        own.changed();
        ended && left.is_none()
    });
    removal_trial::run(ground, focus, &mut desk, round, deeds);
    // A box can be open, and Ctrl-C ends in each.
    desk.state().inputs.push_back(Input::Key(Key::Ctrl('c')));
    desk.changed();
    assert!(work.join().unwrap(), "the shell ends");
    remove_tree(&ground.trees).unwrap();
}

fn rounds(ground: &Ground, focus: Focus, attack: &Attack) {
    let mut deeds = Deeds::default();
    let mut rounds = 0;
    attack.run(|round| {
        trial(ground, focus, round, &mut deeds);
        rounds += 1;
    });
    println!("attack: {}: {deeds:?}", attack.kind);
    let has_acted = match focus {
        Focus::Undo => deeds.undone * 3 >= rounds,
        Focus::Mounts => deeds.confirmed_at_mounts * 8 >= rounds,
        _ => deeds.removed * 2 >= rounds && deeds.refused * 20 >= rounds,
    };
    assert!(rounds < 50 || has_acted, "{deeds:?} in {rounds} rounds");
}

/// Runs the rounds in a process whose home is a new directory.
fn run(focus: Focus, kind: &'static str, test: &str, rounds_small: u64) {
    let attack = Attack {
        kind,
        rounds_small,
        checks_least: 1,
    };
    if let Some(home) = std::env::var_os(GROUND) {
        return rounds(&Ground::new(Path::new(&home), focus), focus, &attack);
    }
    or_skip!(focus.check());
    // Each line of the journal waits for the disk, which takes most of the time elsewhere.
    let memory = Path::new("/dev/shm");
    let scratch = Scratch::within(memory).or_else(|_| Scratch::new()).unwrap();
    let ground = Ground::new(scratch.path(), focus);
    let own = std::env::current_exe().unwrap();
    let mut command = match focus {
        Focus::Mounts => {
            // Its mounts go with the process, however that ends.
            let mut command = program::command("unshare");
            command.arg("--mount").arg(own);
            command
        }
        _ => program::command(own),
    };
    command
        .arg(format!("browse::{kind}::{test}"))
        .args(["--exact", "--nocapture"])
        .env(GROUND, &ground.home)
        .env("HOME", &ground.home)
        .env("XDG_DATA_HOME", &ground.data)
        .stdout(Stdio::piped());
    let attack = std::env::vars_os().filter(|(name, _)| {
        let name = name.to_string_lossy();
        name.starts_with("STATWALK_ATTACK_")
    });
    command.envs(attack);
    let mut child = program::spawn(&mut command);
    let lines = io::BufReader::new(child.stdout.take().unwrap()).lines();
    for line in lines {
        println!("{}", line.unwrap());
    }
    assert!(
        child.wait().unwrap().success(),
        "the rounds have differences"
    );
}

mod any {
    use super::{Focus, run};

    /// In 4 of 10 sessions a mark was on another directory after `R`, and in each the
    /// dialog followed a link that had taken the place of a directory.
    #[test]
    fn nothing_goes_but_what_was_marked_and_confirmed() {
        let test = "nothing_goes_but_what_was_marked_and_confirmed";
        run(Focus::Any, "shell_removals::any", test, 200);
    }
}

mod undo {
    use super::{Focus, run};

    #[test]
    fn what_was_moved_comes_back_or_stays_in_the_trash() {
        let test = "what_was_moved_comes_back_or_stays_in_the_trash";
        run(Focus::Undo, "shell_removals::undo", test, 60);
    }
}

mod trash {
    use super::{Focus, run};

    /// The bytes of moved items left the sums, although the trash was in the tree.
    #[test]
    fn a_trash_in_the_tree_has_its_row() {
        let test = "a_trash_in_the_tree_has_its_row";
        run(Focus::Trash, "shell_removals::trash", test, 60);
    }
}

mod refresh {
    use super::{Focus, run};

    #[test]
    fn a_mark_keeps_its_item_through_each_reading() {
        let test = "a_mark_keeps_its_item_through_each_reading";
        run(Focus::Refresh, "shell_removals::refresh", test, 60);
    }
}

mod mounts {
    use super::{Focus, run};

    #[test]
    fn nothing_goes_that_a_mount_shows_or_covers() {
        let test = "nothing_goes_that_a_mount_shows_or_covers";
        run(Focus::Mounts, "shell_removals::mounts", test, 60);
    }
}
