// SPDX-License-Identifier: MIT OR Apache-2.0

//! Removals through the browser on a terminal, while everything around the marks moves.
//!
//! The trials are those of the kind within the program (`shell_removals`), with a real
//! keyboard and a real screen, and at the speed of a quick person.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use statwalk_testkit::attack::Attack;
use statwalk_testkit::removal_trial::{self, Deeds, Focus, Frame, Ground, Seat};
use statwalk_testkit::terminal::terminal;
use statwalk_testkit::{Scratch, Skipped, is_within, or_skip, program, remove_tree};

use crate::program::LONG;

const COLUMNS: u16 = 110;
const LINES: u16 = 40;
/// A terminal sends a lone Escape where no byte follows for this time.
const ESCAPE_WAIT: Duration = Duration::from_millis(100);
/// A look at an item takes less.
const LOOK_WAIT: Duration = Duration::from_millis(100);
const PERIOD: Duration = Duration::from_millis(3);
/// A trial waits so long for what never comes.
const PATIENCE: Duration = Duration::from_secs(5);

/// A terminal with a browser in it.
struct Terminal {
    child: Child,
    keyboard: File,
    screen: Arc<Mutex<vt100::Parser>>,
}

impl Terminal {
    fn start(ground: &Ground) -> Result<Terminal, Skipped> {
        if program::command("setsid")
            .arg("--version")
            .output()
            .is_err()
        {
            return Err(Skipped::needs("setsid"));
        }
        let (person, side): (OwnedFd, OwnedFd) = terminal(COLUMNS, LINES).unwrap();
        let mut command = program::command("setsid");
        command
            .arg("--ctty")
            .arg(crate::program::path())
            .args(["browse", "--enable-delete"])
            .arg(ground.root())
            .current_dir(&ground.home)
            .env("TERM", "xterm-256color")
            .env("HOME", &ground.home)
            .stdin(side.try_clone().unwrap())
            .stdout(side.try_clone().unwrap())
            .stderr(Stdio::from(side));
        let child = program::spawn(&mut command);
        drop(command);
        let screen = Arc::new(Mutex::new(vt100::Parser::new(LINES, COLUMNS, 0)));
        let own = Arc::clone(&screen);
        let mut reader = File::from(person.try_clone().unwrap());
        std::thread::spawn(move || {
            let mut buffer = [0; 16 << 10];
            while let Ok(count @ 1..) = reader.read(&mut buffer) {
                lock(&own).process(&buffer[..count]);
            }
        });
        Ok(Terminal {
            child,
            keyboard: File::from(person),
            screen,
        })
    }

    fn quit(mut self) {
        self.press("\x03");
        let start = Instant::now();
        while self.child.try_wait().unwrap().is_none() {
            assert!(is_within(start.elapsed(), LONG), "the browser does not end");
            std::thread::sleep(PERIOD);
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It has ended, or a trial has failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn lock(screen: &Mutex<vt100::Parser>) -> MutexGuard<'_, vt100::Parser> {
    screen.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Seat for Terminal {
    fn frame(&mut self) -> Frame {
        let parser = lock(&self.screen);
        let screen = parser.screen();
        let is_inverse = |line| screen.cell(line, 0).is_some_and(vt100::Cell::inverse);
        Frame {
            lines: (screen.rows(0, COLUMNS))
                .map(|line| line.trim_end().to_owned())
                .collect(),
            inverse: (0..LINES).map(is_inverse).collect(),
        }
    }

    fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
        if keys.ends_with('\x1b') {
            std::thread::sleep(ESCAPE_WAIT);
        }
    }

    fn press_on(&mut self, _: &Frame, keys: &str) -> Option<bool> {
        self.press(keys);
        None
    }

    /// Opens the help and closes it: the keys before were taken then.
    fn settle(&mut self) {
        let is_open = |frame: &Frame| {
            let boxes = ["Keys", "Removed", "Remove"];
            boxes.iter().any(|title| frame.has_box(title))
        };
        self.press("?");
        let mut frame = self.wait(&is_open);
        if !is_open(&frame) {
            // A busy machine took an Escape and this key for one.
            self.press("?");
            frame = self.wait(&is_open);
        }
        assert!(is_open(&frame), "no help:\n{}", frame.text());
        if frame.has_box("Keys") {
            self.press("\x1b");
            self.wait(&|frame| !frame.has_box("Keys") && frame.is_quiet());
        }
    }

    fn see_marks(&mut self) {
        std::thread::sleep(LOOK_WAIT);
    }

    fn wait(&mut self, has: &dyn Fn(&Frame) -> bool) -> Frame {
        let start = Instant::now();
        loop {
            let frame = self.frame();
            if has(&frame) || start.elapsed() > PATIENCE {
                return frame;
            }
            std::thread::sleep(PERIOD);
        }
    }
}

#[test]
fn nothing_goes_but_what_was_marked_and_confirmed() {
    let attack = Attack {
        kind: "terminal_removals",
        rounds_small: 20,
        checks_least: 1,
    };
    let scratch = Scratch::new().unwrap();
    let home = scratch.path().to_owned();
    let ground = Ground::new(&home, Focus::Any);
    std::fs::create_dir_all(ground.root()).unwrap();
    drop(or_skip!(Terminal::start(&ground)));
    remove_tree(&ground.trees).unwrap();
    let mut deeds = Deeds::default();
    attack.run(|round| {
        std::fs::create_dir(&ground.trees).unwrap();
        removal_trial::plant(&ground, round);
        let mut terminal = Terminal::start(&ground).unwrap();
        removal_trial::run(&ground, Focus::Any, &mut terminal, round, &mut deeds);
        terminal.quit();
        remove_tree(&ground.trees).unwrap();
    });
    println!("attack: terminal_removals: {deeds:?}");
}
