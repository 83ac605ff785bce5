// SPDX-License-Identifier: MIT OR Apache-2.0

//! The browser on a terminal. Its states and screens have tests of their own, in
//! `crates/statwalk-browse`.

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};

use rustix::fs::ioctl_ficlone;
use rustix::process::{Pid, Signal, kill_process};
use rustix::termios::{Winsize, tcgetwinsize};
use statwalk_testkit::fault_fs::{FaultFs, Hang, Op};
use statwalk_testkit::mounts::FileSystem;
use statwalk_testkit::{Skipped, or_skip, program};

use super::run::{Answer, LONG, Tree, resize, statwalk, terminal, wait_until};

const ENTER_SCREEN: &str = "\x1b[?1049h";
pub(crate) const LEAVE_SCREEN: &str = "\x1b[?1049l";
const SHOW_CURSOR: &str = "\x1b[?25h";

/// A browser on a terminal of its own.
pub(crate) struct Browser {
    pub(crate) child: Child,
    keyboard: File,
    pub(crate) screen: std::os::fd::OwnedFd,
    shown: Arc<Mutex<Vec<u8>>>,
}

impl Browser {
    /// Starts it in a directory.
    pub(crate) fn start(directory: &Path, arguments: &[&str]) -> Result<Browser, Skipped> {
        Browser::open(directory, arguments, Vec::new(), None)
    }

    pub(crate) fn with(
        directory: &Path,
        arguments: &[&str],
        environment: Vec<(&str, String)>,
        stdout: impl Fn() -> Stdio,
    ) -> Result<Browser, Skipped> {
        Browser::open(directory, arguments, environment, Some(stdout()))
    }

    /// Without a stdout of the test's own, it is the terminal.
    fn open(
        directory: &Path,
        arguments: &[&str],
        environment: Vec<(&str, String)>,
        stdout: Option<Stdio>,
    ) -> Result<Browser, Skipped> {
        let known = program::command("setsid").arg("--version").output();
        if known.is_err() {
            return Err(Skipped::needs("setsid"));
        }
        let (screen, terminal) = terminal(80, 24);
        let mut command = program::command("setsid");
        command
            // Under nohup(1) the tests have signals that are ignored, and programs keep that.
            .args(["--ctty", "env", "--default-signal"])
            .args([env!("CARGO_BIN_EXE_statwalk"), "browse"])
            .args(arguments)
            .current_dir(directory)
            .env("TERM", "xterm-256color")
            .env("HOME", directory)
            .envs(environment)
            .stdin(terminal.try_clone().unwrap())
            .stderr(terminal.try_clone().unwrap());
        command.stdout(stdout.unwrap_or_else(|| terminal.into()));
        let child = program::spawn(&mut command);
        drop(command);
        let shown = Arc::new(Mutex::new(Vec::new()));
        let mut reader = File::from(screen.try_clone().unwrap());
        let all = Arc::clone(&shown);
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = reader.read(&mut buffer) {
                all.lock().unwrap().extend_from_slice(&buffer[..count]);
            }
        });
        Ok(Browser {
            child,
            keyboard: File::from(screen.try_clone().unwrap()),
            screen,
            shown,
        })
    }

    /// The screen that a terminal shows.
    pub(crate) fn screen(&self) -> String {
        let Winsize { ws_row, ws_col, .. } = tcgetwinsize(&self.screen).unwrap();
        let mut parser = vt100::Parser::new(ws_row, ws_col, 0);
        parser.process(&self.shown.lock().unwrap());
        parser.screen().contents()
    }

    /// The text from the terminal's cursor to the end of its line, and whether it is hidden.
    fn at_cursor(&self) -> (String, bool) {
        let Winsize { ws_row, ws_col, .. } = tcgetwinsize(&self.screen).unwrap();
        let mut parser = vt100::Parser::new(ws_row, ws_col, 0);
        parser.process(&self.shown.lock().unwrap());
        let (row, column) = parser.screen().cursor_position();
        let text = parser.screen().contents_between(row, column, row, ws_col);
        (text, parser.screen().hide_cursor())
    }

    /// All bytes that came.
    pub(crate) fn shown(&self) -> String {
        String::from_utf8_lossy(&self.shown.lock().unwrap()).into_owned()
    }

    #[track_caller]
    pub(crate) fn wait_for(&self, text: &str) {
        let start = std::time::Instant::now();
        while !self.screen().contains(text) {
            let late = start.elapsed() > LONG;
            assert!(
                !late,
                "{text} does not come:
{}",
                self.screen()
            );
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }

    /// Waits for bytes that came, also after the end of the screen.
    #[track_caller]
    pub(crate) fn wait_for_bytes(&self, text: &str) {
        let start = std::time::Instant::now();
        while !self.shown().contains(text) {
            let late = start.elapsed() > LONG;
            assert!(!late, "{text} does not come: {:?}", self.shown());
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }

    /// Waits for the end of the scan: nothing is removed or read again before.
    pub(crate) fn wait_for_scan(&self) {
        let height = usize::from(tcgetwinsize(&self.screen).unwrap().ws_row);
        wait_until("the scan does not end", || {
            let screen = self.screen();
            // The foot comes last: half a frame says nothing.
            let foot = screen.lines().nth(height - 2).unwrap_or_default();
            !foot.trim().is_empty() && !foot.contains("reading:") && !foot.contains("no answer for")
        });
    }

    /// Puts the cursor on the first row whose name begins so. At the end of a scan the head
    /// is final before the rows are: without its row a jump goes nowhere.
    #[track_caller]
    pub(crate) fn jump_to(&mut self, name: &str) {
        let (plain, in_path) = (format!(" {name}"), format!("/{name}"));
        wait_until(&format!("no row begins with {name}"), || {
            let screen = self.screen();
            // The foot has words that begin so, too.
            let lines: Vec<&str> = screen.lines().collect();
            let rows = lines.get(2..lines.len().saturating_sub(2));
            let mut rows = rows.unwrap_or_default().iter();
            rows.any(|row| row.contains(&plain) || row.contains(&in_path))
        });
        self.press(&format!("'{name}\r"));
    }

    pub(crate) fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id()).unwrap();
        kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
    }

    /// Waits for the end. Answers with the status, and the text of stdout if it is a pipe.
    pub(crate) fn end(mut self) -> (ExitStatus, String, String) {
        // What it prints is smaller than a pipe.
        let mut status = None;
        wait_until("the browser does not end", || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        let status = status.unwrap();
        let mut out = String::new();
        if let Some(mut stdout) = self.child.stdout.take() {
            stdout.read_to_string(&mut out).unwrap();
        }
        // The reader has everything once the last byte of the end is there.
        let ends = || self.shown().contains(LEAVE_SCREEN);
        wait_until("the screen is not given back", ends);
        (status, out, self.shown())
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It has ended, or a test has failed.
        let _ = self.child.kill();
    }
}

/// Runs a browser in a directory, with a store of snapshots, and quits once its first screen
/// is there.
pub(crate) fn look(directory: &Path, arguments: &[&str], store: &Path) -> Result<Answer, Skipped> {
    let environment = vec![("XDG_DATA_HOME", store.display().to_string())];
    let mut browser = Browser::open(directory, arguments, environment, None)?;
    browser.wait_for("help");
    browser.press("q");
    let (status, ..) = browser.end();
    Ok(Answer {
        code: status.code(),
        stdout: Vec::new(),
        stderr: String::new(),
    })
}

pub(crate) fn tree() -> Tree {
    Tree::new("large 5000000\nsub/\nsub/a 10\nsub/b 20\nname\\x1b[2J 1")
}

#[test]
fn rows_appear_and_the_terminal_is_given_back() {
    let tree = tree();
    let mut browser = or_skip!(Browser::start(tree.parent(), &["tree"]));
    browser.wait_for("large");
    browser.wait_for(r"name\x1b[2J");
    browser.wait_for("sub/");
    browser.press("q");
    let (status, _, shown) = browser.end();
    assert_eq!(status.code(), Some(0));
    assert!(shown.starts_with(ENTER_SCREEN), "{shown:?}");
    assert!(shown.contains(SHOW_CURSOR));
    // The name of the file did not act.
    assert!(!shown.contains("name\x1b[2J"));
}

#[test]
fn the_directory_is_printed_where_the_user_quits_with_a_capital() {
    let tree = tree();
    let stdout = Stdio::piped;
    let mut browser = or_skip!(Browser::with(tree.parent(), &["tree"], vec![], stdout));
    browser.wait_for("sub/");
    browser.jump_to("sub");
    browser.press("l");
    browser.wait_for("tree/sub");
    browser.press("Q");
    let (status, out, _) = browser.end();
    assert_eq!((status.code(), out.as_str()), (Some(0), "tree/sub\n"));
}

/// `Q` wrote escape sequences of a name raw to the terminal, which obeyed them.
#[test]
fn the_printed_directory_is_escaped_on_a_terminal_alone() {
    let tree = Tree::new("kept 0");
    std::fs::create_dir(tree.path().join("a\x1b[31mred")).unwrap();
    let mut browser = or_skip!(Browser::start(tree.parent(), &["tree"]));
    browser.wait_for("red");
    // While the scan goes on, the file can be the first row.
    browser.press("'a\rlQ");
    browser.wait_for_bytes("red\r\n");
    let (status, _, shown) = browser.end();
    let (_, printed) = shown.rsplit_once(LEAVE_SCREEN).unwrap();
    assert!(
        printed.contains("red") && !printed.contains("\x1b[31m"),
        "{printed:?}"
    );
    assert_eq!(status.code(), Some(0));
    let stdout = Stdio::piped;
    let mut browser = or_skip!(Browser::with(tree.parent(), &["tree"], vec![], stdout));
    browser.wait_for("red");
    // While the scan goes on, the file can be the first row.
    browser.press("'a\rlQ");
    let (_, out, _) = browser.end();
    assert_eq!(out, "tree/a\x1b[31mred\n");
}

/// A FIFO in its place hung, and a device was read without an end.
#[test]
fn a_file_of_keys_is_a_regular_file_of_moderate_size() {
    let tree = tree();
    let config = tree.parent().join(".config/statwalk");
    std::fs::create_dir_all(&config).unwrap();
    let file = config.join("keys.toml");
    let check = |reason: &str| {
        let mut command = statwalk();
        command.args(["browse", "tree"]).current_dir(tree.parent());
        let answer = Answer::of(command.env("HOME", tree.parent()));
        assert_eq!(answer.code, Some(2));
        assert!(answer.stderr.contains("cannot read "), "{}", answer.stderr);
        assert!(answer.stderr.ends_with(reason), "{}", answer.stderr);
        let _ = std::fs::remove_file(&file);
    };
    let status = program::command("mkfifo").arg(&file).status().unwrap();
    assert!(status.success());
    check("keys.toml: not a regular file\n");
    std::os::unix::fs::symlink("/dev/zero", &file).unwrap();
    check("keys.toml: not a regular file\n");
    std::fs::write(&file, vec![b'#'; (1 << 20) + 1]).unwrap();
    check("keys.toml: larger than 1 MiB\n");
}

#[test]
fn signals_give_the_terminal_back() {
    let tree = tree();
    for signal in [Signal::TERM, Signal::INT] {
        let browser = or_skip!(Browser::start(tree.parent(), &["tree"]));
        browser.wait_for("sub/");
        browser.signal(signal);
        let (status, _, shown) = browser.end();
        assert_eq!(status.signal(), Some(signal.as_raw()));
        assert!(shown.contains(SHOW_CURSOR));
    }
}

#[test]
fn it_stops_and_goes_on() {
    let tree = tree();
    let mut browser = or_skip!(Browser::start(tree.parent(), &["tree"]));
    browser.wait_for("sub/");
    browser.press("\x1a");
    wait_until("it stays", || browser.shown().contains(LEAVE_SCREEN));
    let entered = |shown: &str| shown.matches(ENTER_SCREEN).count();
    assert_eq!(entered(&browser.shown()), 1);
    // An orphaned group is not stopped (POSIX, 11.1.4), and goes on at once.
    browser.signal(Signal::CONT);
    wait_until("it does not go on", || entered(&browser.shown()) >= 2);
    browser.press("q");
    let status = browser.child.wait().unwrap();
    assert_eq!(status.code(), Some(0));
}

#[test]
fn another_size_is_another_screen() {
    let tree = tree();
    let mut browser = or_skip!(Browser::start(tree.parent(), &["tree"]));
    browser.wait_for("sub/");
    resize(&browser.screen, 20, 5);
    browser.wait_for("too small");
    resize(&browser.screen, 120, 40);
    browser.wait_for("q quit");
    browser.press("q");
    assert_eq!(browser.end().0.code(), Some(0));
}

#[test]
fn marks_are_written_and_nothing_is_overwritten() {
    let tree = tree();
    let mut browser = or_skip!(Browser::start(tree.parent(), &["tree"]));
    browser.wait_for("sub/");
    browser.jump_to("sub");
    browser.press(" ");
    browser.wait_for("1 marked");
    browser.press("Elist\r");
    let list = tree.parent().join("list");
    wait_until("no list", || list.exists());
    browser.wait_for("paths are in list");
    let marked = tree.path().join("sub");
    let expected = [marked.as_os_str().as_bytes(), b"\0"].concat();
    assert_eq!(std::fs::read(&list).unwrap(), expected);
    browser.press("Elist\r");
    browser.wait_for("file exists");
    browser.press("qq");
    assert_eq!(browser.end().0.code(), Some(0));
    assert_eq!(std::fs::read(&list).unwrap(), expected);
}

/// The hidden cursor stayed where the last cell was drawn. Screen readers and braille
/// displays read there: the foot after the first picture, and then the wrong rows.
#[test]
fn the_terminals_cursor_is_on_the_selected_row() {
    let tree = Tree::new("first 90000\nsecond 60000\nthird 30000");
    let mut browser = or_skip!(Browser::start(&tree.path(), &["--enable-delete", "."]));
    browser.wait_for_scan();
    let cases = [
        ("", "first", true),
        ("j", "second", true),
        ("j", "third", true),
        ("k", "second", true),
        ("d", "Cancel", true),
        ("\t", "Move to trash", true),
        ("\x1b", "second", true),
        ("/", "", false),
    ];
    for (keys, text, is_hidden) in cases {
        browser.press(keys);
        wait_until("the cursor does not follow", || {
            let (at, hidden) = browser.at_cursor();
            at.starts_with(text) && hidden == is_hidden
        });
    }
}

/// A browser that may remove, with the cursor on `sub`.
pub(crate) fn remover(tree: &Tree, arguments: &[&str]) -> Result<Browser, Skipped> {
    let mut browser = Browser::start(tree.parent(), arguments)?;
    browser.wait_for("sub/");
    browser.wait_for_scan();
    browser.jump_to("sub");
    Ok(browser)
}

fn journal(tree: &Tree) -> String {
    let journal = tree.parent().join(".local/state/statwalk/removed.jsonl");
    std::fs::read_to_string(journal).unwrap_or_default()
}

#[test]
fn nothing_is_removed_unless_it_is_allowed() {
    for arguments in [&["tree"][..], &["--enable-delete", "-r", "tree"]] {
        let tree = tree();
        let mut browser = or_skip!(remover(&tree, arguments));
        browser.press("d");
        browser.wait_for("nothing is removed here");
        browser.press("q");
        assert_eq!(browser.end().0.code(), Some(0));
        assert!(tree.path().join("sub/a").exists());
        assert_eq!(journal(&tree), "");
    }
}

#[test]
fn the_confirmed_directory_is_removed() {
    let tree = tree();
    let sub = tree.path().join("sub");
    let kept = tree.path().join("kept");
    std::fs::hard_link(sub.join("a"), &kept).unwrap();
    std::os::unix::fs::symlink(tree.path(), sub.join("up")).unwrap();
    let mut browser = or_skip!(remover(&tree, &["--enable-delete", "tree"]));
    browser.press("d");
    browser.wait_for("[Cancel]");
    browser.wait_for("4 entries");
    // Each of these leaves the dialog, and nothing happens.
    browser.press("\r");
    browser.wait_for("nothing was removed");
    assert!(sub.join("a").exists());
    browser.press("d");
    browser.wait_for("[Cancel]");
    browser.press("\t\t\rsub");
    browser.wait_for("to remove: sub");
    assert!(sub.join("a").exists());
    browser.press("\r");
    browser.wait_for("4 entries removed");
    assert!(!sub.exists());
    assert!(kept.exists() && tree.path().join("large").exists());
    assert!(!browser.screen().contains("sub/"), "{}", browser.screen());
    assert!(
        browser.screen().contains("4 entries"),
        "{}",
        browser.screen()
    );
    let journal = journal(&tree);
    let lines = journal
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    let [begin, end]: [serde_json::Value; 2] = lines.collect::<Vec<_>>().try_into().unwrap();
    assert_eq!(begin["path"], sub.to_str().unwrap());
    assert_eq!(
        (&begin["kind"], &end["end"]),
        (&"permanent".into(), &"removed".into())
    );
    assert_eq!(begin["id"], end["id"]);
    browser.press("q");
    assert_eq!(browser.end().0.code(), Some(0));
}

/// A clone outside keeps what the removed file shared with it.
#[test]
fn shared_extents_are_not_freed() {
    let tree = Tree::new("at/");
    let at = tree.path().join("at");
    let mounted = or_skip!(FileSystem::Btrfs.mount(&at));
    let sub = at.join("sub");
    std::fs::create_dir(&sub).unwrap();
    std::fs::write(at.join("origin"), vec![7; 8 << 20]).unwrap();
    std::fs::write(sub.join("own"), vec![8; 2 << 20]).unwrap();
    let clone = File::create(sub.join("clone")).unwrap();
    ioctl_ficlone(&clone, File::open(at.join("origin")).unwrap()).unwrap();
    drop(clone);
    mounted.settle().unwrap();
    let mut browser = or_skip!(remover(&tree, &["--enable-delete", "tree/at"]));
    browser.press("d");
    browser.wait_for("8.00 MiB are shared");
    browser.wait_for("[Cancel]");
    browser.press("\t\t\rsub\r");
    browser.wait_for("3 entries removed, 2.00 MiB freed");
    browser.press("q");
    assert_eq!(browser.end().0.code(), Some(0));
}

#[test]
fn the_trash_gives_back() {
    let tree = tree();
    let sub = tree.path().join("sub");
    let mut browser = or_skip!(remover(&tree, &["--enable-delete", "tree"]));
    browser.press("d");
    browser.wait_for("[Cancel]");
    browser.press("y");
    browser.wait_for("is in the trash");
    assert!(!sub.exists());
    let trash = tree.parent().join(".local/share/Trash");
    assert!(trash.join("files/sub/a").exists() && trash.join("info/sub.trashinfo").exists());
    browser.press("U");
    browser.wait_for("is back");
    browser.wait_for("sub/");
    assert!(sub.join("a").exists());
    assert!(!trash.join("info/sub.trashinfo").exists());
    browser.press("q");
    assert_eq!(browser.end().0.code(), Some(0));
}

/// The dialog is bound to the directory that it shows, not to its name.
#[test]
fn another_directory_of_the_same_name_stays() {
    let tree = tree();
    let sub = tree.path().join("sub");
    let mut browser = or_skip!(remover(&tree, &["--enable-delete", "tree"]));
    browser.press("d");
    browser.wait_for("[Cancel]");
    std::fs::rename(&sub, tree.parent().join("elsewhere")).unwrap();
    std::fs::create_dir(&sub).unwrap();
    std::fs::write(sub.join("new"), "content").unwrap();
    browser.press("\t\t\rsub\r");
    browser.wait_for("it changed after the confirmation");
    assert!(sub.join("new").exists() && tree.parent().join("elsewhere/a").exists());
    // The list of errors, then the browser.
    browser.press("qq");
    assert_eq!(browser.end().0.code(), Some(0));
}

/// The row said `tree/cache/old`, but a link had taken the place of `tree/cache` after the
/// scan: `d` proposed another directory's `old`, and `y` removed it.
#[test]
fn a_link_in_place_of_a_scanned_directory_leads_nowhere() {
    for mark_count in [0, 1, 9] {
        let files: Vec<String> = (0..8).map(|n| format!("\ncache/x{n} 1")).collect();
        let tree = Tree::new(&format!(
            "cache/\ncache/old/\ncache/old/a 10{}",
            files.concat()
        ));
        let cache = tree.path().join("cache");
        let victim = tree.parent().join("victim");
        std::fs::create_dir_all(victim.join("old")).unwrap();
        std::fs::write(victim.join("old/a"), "precious").unwrap();
        let started = Browser::start(tree.parent(), &["--enable-delete", "tree"]);
        let mut browser = or_skip!(started);
        browser.wait_for("cache/");
        browser.wait_for_scan();
        browser.press("\r");
        browser.wait_for("old/");
        browser.jump_to("old");
        match mark_count {
            0 => {}
            1 => browser.press(" "),
            _ => browser.press("*"),
        }
        if mark_count > 0 {
            browser.wait_for(&format!("{mark_count} marked"));
        }
        let moved = tree.parent().join("moved");
        std::fs::rename(&cache, &moved).unwrap();
        std::os::unix::fs::symlink(&victim, &cache).unwrap();
        browser.press("d");
        browser.wait_for("[Cancel]");
        browser.wait_for("lies behind the symbolic link");
        if mark_count == 9 {
            browser.wait_for("and 2 more; view 8 has them");
            browser.wait_for("and 6 more items must stay");
        }
        assert!(!browser.screen().contains("victim"), "{}", browser.screen());
        // There is nothing but Cancel.
        browser.press("y\ty\r");
        browser.wait_for("nothing was removed");
        browser.press("qq");
        assert_eq!(browser.end().0.code(), Some(0));
        assert!(victim.join("old/a").exists() && moved.join("old/a").exists());
        let journal = journal(&tree);
        // Without a mark, the item under the cursor.
        let count = mark_count.max(1);
        assert_eq!(journal.lines().count(), count);
        assert_eq!(journal.matches(r#""end":"stayed""#).count(), count);
    }
}

/// With `-L` the rows show directories and files behind links. A removal takes none of
/// them, and not the link instead.
#[test]
fn nothing_behind_a_followed_link_is_removed() {
    for (name, keys) in [("link/", ""), ("old/", "\r"), ("leaf", "")] {
        let tree = tree();
        let outside = tree.parent().join("outside");
        std::fs::create_dir_all(outside.join("old")).unwrap();
        std::fs::write(outside.join("old/a"), "precious").unwrap();
        std::os::unix::fs::symlink(&outside, tree.path().join("link")).unwrap();
        std::os::unix::fs::symlink(outside.join("old/a"), tree.path().join("leaf")).unwrap();
        let started = Browser::start(tree.parent(), &["--enable-delete", "-L", "tree"]);
        let mut browser = or_skip!(started);
        browser.wait_for("link/");
        browser.wait_for("leaf");
        if !keys.is_empty() {
            browser.jump_to("link");
            browser.press(keys);
        }
        browser.wait_for(name);
        browser.jump_to(name.trim_end_matches('/'));
        browser.press("d");
        browser.wait_for("[Cancel]");
        browser.wait_for("symbolic link");
        browser.press("y\r");
        browser.wait_for("nothing was removed");
        browser.press("q");
        assert_eq!(browser.end().0.code(), Some(0));
        assert!(outside.join("old/a").exists() && tree.path().join("link/old/a").exists());
        assert!(tree.path().join("leaf").exists());
    }
}

/// A source that reads a file system in place gives the same identities as the kernel.
#[test]
fn items_of_a_file_system_that_was_read_in_place_are_found() {
    for (file_system, source) in [(FileSystem::Ext4, "ext4"), (FileSystem::Btrfs, "btrfs")] {
        let tree = Tree::new("at/");
        let at = tree.path().join("at");
        let mounted = or_skip!(file_system.mount(&at));
        std::fs::create_dir_all(at.join("way/sub/below")).unwrap();
        std::fs::write(at.join("way/sub/below/f"), "content").unwrap();
        mounted.settle().unwrap();
        let arguments = ["--enable-delete", "--source", source, "tree/at"];
        let mut browser = or_skip!(Browser::start(tree.parent(), &arguments));
        browser.wait_for("way/");
        browser.jump_to("way");
        browser.press("\r");
        browser.wait_for("sub/");
        browser.jump_to("sub");
        browser.press("d");
        browser.wait_for("[Cancel]");
        browser.press("\t\t\rsub\r");
        browser.wait_for("3 entries removed");
        browser.press("q");
        assert_eq!(browser.end().0.code(), Some(0));
        assert!(!at.join("way/sub").exists());
    }
}

/// A mark is bound to its item, and not to the name.
#[test]
fn a_file_that_took_the_place_of_a_marked_one_stays() {
    // On a busy machine the file can be replaced before the browser has looked at it.
    while !or_skip!(stays_in_place_of_a_marked_one()) {}
}

/// Answers whether the mark came before the other file, and not after it.
fn stays_in_place_of_a_marked_one() -> Result<bool, Skipped> {
    let tree = tree();
    let (large, other) = (tree.path().join("large"), tree.parent().join("other"));
    let mut browser = Browser::start(tree.parent(), &["--enable-delete", "tree"])?;
    browser.wait_for("large");
    browser.jump_to("large");
    browser.press(" ");
    browser.wait_for("1 marked");
    // Without a mark, the moment of `d` counts.
    std::fs::write(&other, "precious").unwrap();
    std::fs::rename(&other, &large).unwrap();
    browser.press("d");
    browser.wait_for("was replaced after");
    if browser.screen().contains("was replaced after the scan") {
        assert_eq!(std::fs::read_to_string(&large).unwrap(), "precious");
        return Ok(false);
    }
    browser.press("y\r");
    browser.wait_for("nothing was removed");
    browser.press("qq");
    assert_eq!(browser.end().0.code(), Some(0));
    assert_eq!(std::fs::read_to_string(&large).unwrap(), "precious");
    let line: serde_json::Value = serde_json::from_str(&journal(&tree)).unwrap();
    let shown = large.display().to_string();
    assert_eq!(line["path"], shown);
    assert_eq!(line["end"], "stayed");
    let reason = line["reason"].as_str().unwrap();
    assert!(
        reason.ends_with(" was replaced after it was marked"),
        "{reason}"
    );
    Ok(true)
}

/// With `sudo` and the user's `HOME`, files of root came there, and the user's settings
/// held for root.
#[test]
fn the_settings_of_another_user_do_not_count() {
    let tree = tree();
    let config = tree.parent().join(".config/statwalk");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(config.join("keys.toml"), "enable-delete = true").unwrap();
    for (owner, sentence) in [(None, "[Cancel]"), (Some(4_242), "nothing is removed here")] {
        if let Some(owner) = owner
            && std::os::unix::fs::chown(tree.parent(), Some(owner), None).is_err()
        {
            return Skipped::needs("root").report();
        }
        let mut browser = or_skip!(remover(&tree, &["tree"]));
        browser.press("d");
        browser.wait_for(sentence);
        browser.press("nq");
        assert_eq!(browser.end().0.code(), Some(0));
    }
}

#[test]
fn the_working_directory_is_refused() {
    let tree = tree();
    let mut browser = or_skip!(Browser::start(
        &tree.path().join("sub"),
        &["--enable-delete", "../.."]
    ));
    browser.wait_for("tree/");
    browser.wait_for_scan();
    browser.jump_to("tree");
    browser.press("d");
    browser.wait_for("holds the");
    // There is nothing but Cancel.
    browser.press("y\ty\rq");
    assert_eq!(browser.end().0.code(), Some(0));
    assert!(tree.path().join("sub/a").exists());
}

#[test]
fn a_shell_can_be_started_unless_that_is_forbidden() {
    let tree = tree();
    let shell = tree.parent().join("shell");
    std::fs::write(&shell, "#!/bin/sh\npwd > ../place\n").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&shell, mode).unwrap();
    let place = tree.parent().join("place");
    let run = |flags: &[&str]| {
        let shell = vec![("SHELL", shell.display().to_string())];
        let arguments = [&["tree"][..], flags].concat();
        let browser = Browser::with(tree.parent(), &arguments, shell, Stdio::inherit);
        browser.map(|mut browser| {
            browser.wait_for("sub/");
            browser.press("b");
            match flags.is_empty() {
                true => wait_until("no shell", || place.exists()),
                false => browser.wait_for("-rr forbids it"),
            }
            browser.press("q");
            assert_eq!(browser.child.wait().unwrap().code(), Some(0));
        })
    };
    or_skip!(run(&["-rr"]));
    assert!(!place.exists());
    or_skip!(run(&[]));
    let place = std::fs::read_to_string(place).unwrap();
    assert!(place.ends_with("/tree\n"), "{place}");
}

#[test]
fn without_a_path_a_file_system_is_selected() {
    let tree = tree();
    let mut browser = or_skip!(Browser::start(tree.parent(), &[]));
    browser.wait_for("mounted file systems");
    browser.wait_for("Enter browse");
    // Whatever is fullest here.
    browser.press("\r");
    browser.wait_for("? help");
    browser.press("q");
    assert_eq!(browser.end().0.code(), Some(0));
    let mut browser = or_skip!(Browser::start(tree.parent(), &[]));
    browser.wait_for("Enter browse");
    browser.press("q");
    assert_eq!(browser.end().0.code(), Some(0));
}

#[test]
fn the_space_of_the_file_system_is_explained() {
    let tree = tree();
    let mut browser = or_skip!(Browser::start(tree.parent(), &["tree"]));
    browser.wait_for("sub/");
    browser.press("D");
    browser.wait_for("used, of this:");
    browser.wait_for("reached by the scan");
    browser.press("qq");
    assert_eq!(browser.end().0.code(), Some(0));
}

#[test]
fn other_names_of_a_file_are_found() {
    let tree = tree();
    let inside = tree.path().join("sub");
    std::fs::hard_link(inside.join("a"), tree.path().join("second")).unwrap();
    std::fs::hard_link(inside.join("a"), tree.parent().join("outside")).unwrap();
    let mut browser = or_skip!(Browser::start(tree.parent(), &["tree"]));
    browser.wait_for("second");
    browser.jump_to("second");
    browser.press("i");
    browser.wait_for("Other name       tree/sub/a");
    browser.wait_for("1 outside of the scan");
    browser.press("qq");
    assert_eq!(browser.end().0.code(), Some(0));
}

#[test]
fn a_directory_is_read_again() {
    let tree = tree();
    let mut browser = or_skip!(Browser::start(tree.parent(), &["tree"]));
    browser.wait_for("sub/");
    browser.wait_for_scan();
    browser.jump_to("sub");
    browser.press("l");
    browser.wait_for("tree/sub ");
    std::fs::write(tree.path().join("sub/third"), [1; 100_000]).unwrap();
    browser.press("r");
    browser.wait_for("+1 entry");
    browser.wait_for("third");
    std::fs::remove_dir_all(tree.path().join("sub")).unwrap();
    browser.press("r");
    browser.wait_for("no such file or directory");
    browser.press("q");
    assert_eq!(browser.end().0.code(), Some(0));
}

#[test]
fn a_directory_that_hangs_is_named_and_can_be_left_behind() {
    let fs = FaultFs::builder().file("large", 5_000_000).dir("dead");
    let fs = fs.hang("dead", Op::Opendir, Hang::UntilSignal);
    let mount = or_skip!(fs.mount());
    let path = mount.path().display().to_string();
    let mut browser = or_skip!(Browser::start(mount.path().parent().unwrap(), &[&path]));
    browser.wait_for("no answer for");
    browser.wait_for("dead");
    // Keys are taken meanwhile.
    browser.press("?");
    browser.wait_for("one row up");
    browser.press("q");
    browser.press("S");
    browser.wait_for("large");
    browser.press("7");
    browser.wait_for("no answer");
    browser.press("q");
    assert_eq!(browser.end().0.code(), Some(0));
}

/// The keys that the tests of statwalk-browse replay on data of their own.
#[test]
fn a_session_is_replayed() {
    let session = Path::new(env!("CARGO_MANIFEST_DIR"));
    let session = session.join("../statwalk-browse/sessions/everyday.keys");
    let session = std::fs::read_to_string(session).unwrap();
    let tree = Tree::new("photos/\nsrc/\n");
    let files = [
        ("photos/sea.JPG", 5_000_000),
        ("photos/hills.jpg", 2_000_000),
        ("src/main.rs", 8_000),
        ("\x1b[2Jred\n", 100_000),
        ("日本語.txt", 200_000),
    ];
    for (name, bytes) in files {
        std::fs::write(tree.path().join(name), vec![1; bytes]).unwrap();
    }
    std::os::unix::fs::symlink("nowhere", tree.path().join(".hidden")).unwrap();
    let mut browser = or_skip!(Browser::start(tree.parent(), &["tree"]));
    for line in session.lines() {
        match line.split_once(' ') {
            _ if line.is_empty() || line.starts_with('#') => {}
            Some(("see", text)) => browser.wait_for(text),
            Some(("not", text)) => {
                wait_until(line, || !browser.screen().contains(text));
            }
            Some(_) => {}
            None => {
                browser.press(match line {
                    "right" => "\x1b[C",
                    "left" => "\x1b[D",
                    "down" => "\x1b[B",
                    "home" => "\x1b[H",
                    "enter" => "\r",
                    "space" => " ",
                    "esc" => "\x1b",
                    key => {
                        assert_eq!(key.len(), 1, "{key}");
                        key
                    }
                });
                // A key at once behind Esc would be one together with Alt.
                let pause = if line == "esc" { 100 } else { 0 };
                std::thread::sleep(std::time::Duration::from_millis(pause));
            }
        }
    }
    browser.press("q");
    assert_eq!(browser.end().0.code(), Some(0));
}

/// The scan waits for a directory, so it does not end before the user ends it.
#[test]
fn files_are_rows_before_the_scan_ends() {
    let fs = FaultFs::builder()
        .file("large", 5_000_000)
        .file("small", 10)
        .dir("sub")
        .file("sub/deep", 3_000_000)
        .dir("dead");
    let fs = fs.hang("dead", Op::Opendir, Hang::UntilSignal);
    let mount = or_skip!(fs.mount());
    let path = mount.path().display().to_string();
    let mut browser = or_skip!(Browser::start(mount.path().parent().unwrap(), &[&path]));
    browser.wait_for("large");
    browser.wait_for("small");
    assert!(
        !browser.screen().contains("<files>"),
        "{}",
        browser.screen()
    );
    // A mark stays on its file when all items get their numbers of the end.
    browser.jump_to("sub");
    browser.press("\r");
    browser.wait_for("deep");
    browser.press(" ");
    browser.wait_for("1 marked");
    browser.press("S8");
    browser.wait_for("sub/deep");
    browser.press("qq");
    assert_eq!(browser.end().0.code(), Some(0));
}

#[test]
fn keys_of_the_user_count() {
    let tree = tree();
    let config = tree.parent().join(".config/statwalk");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(config.join("keys.toml"), "quit = [\"z\"]\n").unwrap();
    let mut browser = or_skip!(Browser::start(tree.parent(), &["tree"]));
    browser.wait_for("sub/");
    browser.press("z");
    assert_eq!(browser.end().0.code(), Some(0));
    std::fs::write(config.join("keys.toml"), "quit = [\"shift-z\"]\n").unwrap();
    let mut command = statwalk();
    command.args(["browse", "tree"]).current_dir(tree.parent());
    let answer = Answer::of(command.env("HOME", tree.parent()));
    assert_eq!(answer.code, Some(2));
    let message = "keys.toml, line 1: there is no key 'shift-z'\n";
    assert!(answer.stderr.ends_with(message), "{}", answer.stderr);
}

#[test]
fn without_a_terminal_or_a_path_it_says_so() {
    let tree = tree();
    let answer = tree.run(&["browse", "nothing"]);
    assert_eq!(answer.code, Some(2));
    assert_eq!(
        answer.stderr,
        "statwalk: cannot stat nothing: no such file or directory\n"
    );
    let mut command = program::command("setsid");
    command.args(["--wait", env!("CARGO_BIN_EXE_statwalk"), "browse", "tree"]);
    let answer = Answer::of(command.current_dir(tree.parent()));
    assert_eq!(answer.code, Some(2));
    assert!(
        answer
            .stderr
            .starts_with("statwalk: browse needs a terminal"),
        "{}",
        answer.stderr
    );
}
