// SPDX-License-Identifier: MIT OR Apache-2.0

//! Draws the moving picture of the README: a session in a terminal, as one SVG.
//!
//! The session is a real one. A new ext4 of 400,000 entries lies on a loop device that
//! only a mount namespace of this session sees. There tmux runs a shell, gets the keys
//! below, and shows each screen. No name and no number is put in afterwards.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::cells::{CELL, MARGIN, STYLE, draw, pieces};
use super::{DAY, FILES, MIB};
use crate::step::Step;

const PICTURE: &str = "docs/pictures/session.svg";
const FOLDER: &str = "target/session";
const COLUMNS: usize = 92;
const LINES: usize = 26;

/// The place of the file system in its namespace.
const PLACE: &str = "/srv";
const IMAGE_BYTES: u64 = 12 << 30;

/// Directories of many small files: name, directories, files in each, age in days.
const CROWDS: [(&str, u32, u32, u64); 4] = [
    ("ana/projects/site/node_modules", 9_000, 30, 200),
    ("ana/mail/archive", 300, 260, 900),
    ("ana/.cache/thumbnails/normal", 120, 200, 30),
    ("ana/projects/atlas/target/debug/build", 600, 25, 2),
];

const PATIENCE: Duration = Duration::from_secs(30);

/// A step of the session.
enum Act {
    /// Letters, one after another.
    Type(&'static str),
    /// A key by tmux' name, and a piece of the screen that it brings.
    Key(&'static str, &'static str),
    /// The screen stays for so many seconds.
    Hold(f64),
}

use Act::{Hold, Key, Type};

const SESSION: &[Act] = &[
    Type("statwalk /srv"),
    Key("Enter", "on disk"),
    Hold(5.0),
    Type("clear && statwalk browse --enable-delete /srv"),
    Key("Enter", "ana"),
    Hold(1.5),
    Key("Enter", "projects"),
    Hold(1.2),
    Key("Down", "projects"),
    Hold(0.6),
    Key("Enter", "atlas"),
    Hold(1.2),
    Key("Enter", "target"),
    Hold(1.2),
    Key("Space", "marked"),
    Hold(1.5),
    Key("d", "Cancel"),
    Hold(5.0),
    Key("Tab", "trash"),
    Hold(1.0),
    Key("Enter", "Type target"),
    Hold(1.0),
    Type("target"),
    Key("Enter", "in the trash"),
    Hold(2.5),
    Key("U", "back"),
    Hold(2.5),
    Key("q", "$"),
    Type("clear && statwalk df /srv"),
    Key("Enter", "%"),
    Hold(6.0),
];

/// A screen, and how long it stays.
struct Frame {
    lines: Vec<String>,
    seconds: f64,
}

/// Plays the session and draws it. Needs root, tmux and mkfs.ext4, and writes the folder
/// `target/session`.
pub(crate) fn session() -> Result<(), String> {
    Step::cargo(&["build", "--release", "-p", "statwalk"]).run()?;
    let stage = Stage::new()?;
    let frames = stage.play(SESSION);
    stage.end();
    let frames = frames?;
    fs::write(PICTURE, svg(&frames)).map_err(|error| format!("cannot write {PICTURE}: {error}"))?;
    let seconds: f64 = frames.iter().map(|frame| frame.seconds).sum();
    println!("{PICTURE}: {} screens, {seconds:.0} s", frames.len());
    Ok(())
}

/// The file system, and tmux in its namespace.
struct Stage {
    folder: PathBuf,
}

impl Stage {
    fn new() -> Result<Stage, String> {
        let folder = std::path::absolute(FOLDER).map_err(|error| error.to_string())?;
        if folder.exists() {
            fs::remove_dir_all(&folder).map_err(|error| format!("{FOLDER}: {error}"))?;
        }
        let home = folder.join("home");
        fs::create_dir_all(home.join("bin")).map_err(|error| format!("{FOLDER}: {error}"))?;
        let program = fs::canonicalize("target/release/statwalk");
        let program = program.map_err(|error| format!("target/release/statwalk: {error}"))?;
        std::os::unix::fs::symlink(program, home.join("bin/statwalk"))
            .map_err(|error| format!("{FOLDER}: {error}"))?;
        fs::write(home.join("rc"), "PS1='$ '\n").map_err(|error| format!("{FOLDER}: {error}"))?;
        let stage = Stage { folder };
        fs::write(stage.folder.join("begin"), stage.script())
            .map_err(|error| format!("{FOLDER}: {error}"))?;
        run(Command::new("unshare")
            .args(["--mount", "--propagation", "private", "sh"])
            .arg(stage.folder.join("begin")))?;
        Ok(stage)
    }

    /// Makes the file system and starts tmux, in the new namespace.
    fn script(&self) -> String {
        let folder = self.folder.display();
        let mut script = format!(
            "set -eu\n\
             truncate -s {IMAGE_BYTES} {folder}/image\n\
             mkfs.ext4 -q -N 450000 {folder}/image\n\
             mount -o loop {folder}/image {PLACE}\n\
             rmdir {PLACE}/lost+found\n"
        );
        // Writing into a string cannot fail.
        for (name, mib, days) in FILES {
            let parent = Path::new(name).parent().unwrap_or(Path::new(""));
            let _ = writeln!(
                script,
                "mkdir -p '{PLACE}/{}'; fallocate -l {} '{PLACE}/{name}'; touch -d @{} '{PLACE}/{name}'",
                parent.display(),
                mib * MIB,
                age(days),
            );
        }
        for (name, dirs, files, days) in CROWDS {
            let _ = writeln!(
                script,
                "mkdir -p '{PLACE}/{name}'; cd '{PLACE}/{name}'\n\
                 seq -f 'package-%05g' {dirs} | xargs mkdir\n\
                 for dir in *; do (cd $dir && seq -f 'module-%g.js' {files} | xargs touch -d @{}); done\n\
                 printf '%4000s' x > package-00001/module-1.js; touch -d @{} package-00001/module-1.js",
                age(days),
                age(days),
            );
        }
        // A deleted log that a program still holds: df and du disagree.
        let _ = write!(
            script,
            "cd /\n\
             find {PLACE} -type d -exec touch -d @{} {{}} +\n\
             (exec 9> {PLACE}/.service.log; fallocate -l 734003200 {PLACE}/.service.log; \
             rm {PLACE}/.service.log; exec sleep 3600) > /dev/null 2>&1 < /dev/null &\n\
             echo $! > {folder}/holder\n\
             sync -f {PLACE}\n\
             cd {PLACE}\n\
             exec env -i HOME={folder}/home XDG_STATE_HOME={folder}/home PATH={folder}/home/bin:/usr/bin:/bin \
             TERM=xterm-256color LC_ALL=C.UTF-8 \
             tmux -S {folder}/socket -f /dev/null new-session -d -x {COLUMNS} -y {LINES} \
             'exec bash --rcfile {folder}/home/rc'\n",
            age(2)
        );
        script
    }

    fn tmux(&self, arguments: &[&str]) -> Result<String, String> {
        let mut tmux = Command::new("tmux");
        let tmux = tmux.arg("-S").arg(self.folder.join("socket"));
        run(tmux.args(arguments))
    }

    fn screen(&self) -> Result<Vec<String>, String> {
        let text = self.tmux(&["capture-pane", "-e", "-p"])?;
        Ok(text.lines().map(str::to_owned).collect())
    }

    fn play(&self, acts: &[Act]) -> Result<Vec<Frame>, String> {
        // Without the line of tmux, the program has the whole screen.
        self.tmux(&["set", "-g", "status", "off"])?;
        self.tmux(&["set", "-g", "escape-time", "0"])?;
        self.wait_for("$")?;
        let mut frames = Vec::new();
        for act in acts {
            match act {
                Type(text) => {
                    for letters in text.as_bytes().chunks(3) {
                        let letters = String::from_utf8_lossy(letters);
                        self.tmux(&["send-keys", "-l", "--", &letters])?;
                        sleep(Duration::from_millis(60));
                        self.shoot(0.15, &mut frames)?;
                    }
                }
                Key(key, piece) => {
                    let before = self.screen()?;
                    self.tmux(&["send-keys", key])?;
                    let begin = Instant::now();
                    while self.screen()? == before && begin.elapsed() < PATIENCE {
                        sleep(Duration::from_millis(20));
                    }
                    self.wait_for(piece)?;
                    self.rest()?;
                    self.shoot(0.4, &mut frames)?;
                }
                Hold(seconds) => {
                    if let Some(last) = frames.last_mut() {
                        last.seconds += seconds;
                    }
                }
            }
        }
        Ok(frames)
    }

    fn shoot(&self, seconds: f64, frames: &mut Vec<Frame>) -> Result<(), String> {
        let lines = self.screen()?;
        frames.push(Frame { lines, seconds });
        Ok(())
    }

    fn wait_for(&self, piece: &str) -> Result<(), String> {
        let begin = Instant::now();
        loop {
            let text = self.screen()?.join("\n");
            if text.contains(piece) {
                return Ok(());
            }
            if begin.elapsed() > PATIENCE {
                return Err(format!("the screen never shows {piece}:\n{text}"));
            }
            sleep(Duration::from_millis(30));
        }
    }

    /// Waits until the screen holds still.
    fn rest(&self) -> Result<(), String> {
        let mut last = self.screen()?;
        for _ in 0..100 {
            sleep(Duration::from_millis(250));
            let next = self.screen()?;
            if next == last {
                break;
            }
            last = next;
        }
        Ok(())
    }

    /// Ends the shell and the holder, and with them the namespace and the mount.
    fn end(&self) {
        // Each may be gone already.
        let _ = self.tmux(&["kill-server"]);
        if let Ok(holder) = fs::read_to_string(self.folder.join("holder")) {
            let _ = run(Command::new("kill").arg(holder.trim()));
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn age(days: u64) -> u64 {
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed();
    // An hour more, so that no age changes while the session runs.
    now.map_or(0, |now| now.as_secs())
        .saturating_sub(days * DAY + 3_600)
}

fn run(command: &mut Command) -> Result<String, String> {
    let shown = format!("{command:?}");
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{shown}: {error}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => {
            let error = String::from_utf8_lossy(&output.stderr);
            Err(format!("{shown}: {}: {error}", output.status))
        }
    }
}

/// Each line stands in the picture once, however many screens show it.
fn svg(frames: &[Frame]) -> String {
    let whole: f64 = frames.iter().map(|frame| frame.seconds).sum();
    let width = COLUMNS as f64 * CELL.0 + 2.0 * MARGIN;
    let height = LINES as f64 * CELL.1 + 2.0 * MARGIN;
    let (mut styles, mut shapes, mut screens) = (String::new(), String::new(), String::new());
    let mut known: HashMap<&str, usize> = HashMap::new();
    let mut begin = 0.0;
    for (number, frame) in frames.iter().enumerate() {
        let end = begin + frame.seconds;
        let (from, to) = (100.0 * begin / whole, 100.0 * end / whole);
        let first = if number == 0 { "visible" } else { "hidden" };
        // Writing into a string cannot fail.
        let _ = writeln!(
            styles,
            "@keyframes f{number} {{ 0% {{ visibility: {first}; }} {from:.3}% {{ visibility: visible; }} \
             {to:.3}% {{ visibility: hidden; }} }} #f{number} {{ animation-name: f{number}; }}"
        );
        let _ = write!(screens, "<g id=\"f{number}\" class=\"frame\">");
        for (row, line) in frame.lines.iter().enumerate() {
            let found = pieces(line);
            if found.is_empty() {
                continue;
            }
            let next = known.len();
            let id = *known.entry(line).or_insert(next);
            if id == next {
                let _ = write!(shapes, "<g id=\"l{id}\">");
                found.iter().for_each(|piece| draw(piece, 0.0, &mut shapes));
                shapes.push_str("</g>\n");
            }
            let y = MARGIN + row as f64 * CELL.1;
            let _ = write!(screens, "<use href=\"#l{id}\" y=\"{y:.0}\"/>");
        }
        screens.push_str("</g>\n");
        begin = end;
    }
    // Readers who want no motion see the longest screen.
    let longest = (0..frames.len()).max_by(|a, b| {
        let seconds = |number: &usize| frames[*number].seconds;
        seconds(a).total_cmp(&seconds(b))
    });
    let longest = longest.unwrap_or(0);
    format!(
        "<!-- Made by `cargo xtask picture session`. -->\n\
         <svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" aria-label=\"A session: the default \
         view, the browser with a removal, and df\">\n<style>{STYLE}\n\
         .frame {{ visibility: hidden; animation-duration: {whole:.2}s; \
         animation-timing-function: step-end; animation-iteration-count: infinite; }}\n\
         @media (prefers-reduced-motion: reduce) {{ .frame {{ animation: none; }} \
         #f{longest} {{ visibility: visible; }} }}\n\
         {styles}</style>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"8\"/>\n\
         <defs>\n{shapes}</defs>\n{screens}</svg>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_two_screens_is_drawn_once() {
        let frame = |lines: &[&str], seconds| Frame {
            lines: lines.iter().map(|&line| line.to_owned()).collect(),
            seconds,
        };
        let picture = svg(&[frame(&["same", "a<b"], 1.0), frame(&["", "same"], 3.0)]);
        assert_eq!(picture.matches(">same</text>").count(), 1, "{picture}");
        assert_eq!(picture.matches("href=\"#l0\"").count(), 2, "{picture}");
        assert!(picture.contains("a&lt;b"), "{picture}");
        assert!(
            picture.contains("25.000% { visibility: visible; } 100.000%"),
            "{picture}"
        );
        assert!(
            picture.contains("#f1 { visibility: visible; }"),
            "{picture}"
        );
    }
}
