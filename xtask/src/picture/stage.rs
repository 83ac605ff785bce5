// SPDX-License-Identifier: MIT OR Apache-2.0

//! The place of a session: a file system that nobody else sees, and a terminal.
//!
//! A new ext4 of 400,000 entries lies on a loop device in a mount namespace of its own.
//! There tmux runs a shell, takes keys, and shows the screen.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

/// How a session is set up.
pub(crate) struct Cast {
    /// The folder of the image, of the home and of the socket.
    pub(crate) folder: &'static str,
    pub(crate) columns: usize,
    pub(crate) lines: usize,
    /// Whether a user without rights plays it, beside a directory that this user cannot read.
    pub(crate) is_ordinary: bool,
}

/// The number of that user, and the name.
const USER: u32 = 1_000;
const USER_NAME: &str = "ana";

/// Small files, by which a program knows what it can make again, and their content.
const PROOFS: [(&str, &str); 4] = [
    ("ana/projects/atlas/Cargo.toml", "[package]"),
    (
        "ana/projects/atlas/target/CACHEDIR.TAG",
        "Signature: 8a477f597d28d172789f06886806bc55",
    ),
    ("ana/projects/site/package.json", "{}"),
    ("ana/projects/site/node_modules/.package-lock.json", "{}"),
];

/// The place of the file system in its namespace.
const PLACE: &str = "/srv";
const IMAGE_BYTES: u64 = 12 << 30;
/// The sizes of large directories depend on it.
const HASH_SEED: &str = "6a1f0e52-38c4-4d0b-9e7a-52b1c0d4e8f3";

const MIB: u64 = 1 << 20;
const DAY: u64 = 86_400;

/// Files, with their size in MiB and their age in days.
const FILES: [(&str, u64, u64); 19] = [
    ("ana/Videos/holiday in Tromsø.mkv", 512, 800),
    ("ana/Videos/talk.mp4", 190, 150),
    ("ana/Videos/rehearsal.mp4", 48, 150),
    ("ana/Downloads/debian-13.iso", 420, 340),
    ("ana/Downloads/survey.zip", 21, 40),
    ("ana/Downloads/map.pdf", 6, 12),
    ("ana/projects/atlas/target/debug/deps/atlas", 210, 2),
    (
        "ana/projects/atlas/target/debug/incremental/cache.bin",
        96,
        2,
    ),
    (
        "ana/projects/atlas/.git/objects/pack/pack-7c41.pack",
        84,
        70,
    ),
    (
        "ana/projects/atlas/src/main/java/com/example/app/App.java",
        1,
        2,
    ),
    (
        "ana/projects/site/node_modules/typescript/lib/tsc.js",
        24,
        200,
    ),
    (
        "ana/projects/site/node_modules/webpack/lib/index.js",
        14,
        200,
    ),
    ("ana/projects/site/index.html", 1, 9),
    ("ana/.cache/pip/http/wheels.bin", 118, 260),
    ("ana/.cache/thumbnails/large.db", 32, 1),
    ("ana/.cargo/registry/src/crates.tar", 66, 30),
    ("ana/.cargo/registry/cache/crates.tar", 38, 30),
    ("ana/mail/2019.mbox", 74, 2_300),
    ("ana/notes.txt", 1, 0),
];

/// Directories of many small files: name, directories, files in each, age in days.
const CROWDS: [(&str, u32, u32, u64); 4] = [
    ("ana/projects/site/node_modules", 9_000, 30, 200),
    ("ana/mail/archive", 300, 260, 900),
    ("ana/.cache/thumbnails/normal", 120, 200, 30),
    ("ana/projects/atlas/target/debug/build", 600, 25, 2),
];

const PATIENCE: Duration = Duration::from_secs(30);

/// A program can need so long before it shows anything.
const SETTLE_TIME: Duration = Duration::from_millis(300);

/// The file system, and tmux in its namespace.
pub(crate) struct Stage {
    folder: PathBuf,
}

impl Stage {
    pub(crate) fn new(cast: &Cast) -> Result<Stage, String> {
        let failed = |error: io::Error| format!("{}: {error}", cast.folder);
        let folder = std::path::absolute(cast.folder).map_err(failed)?;
        if folder.exists() {
            fs::remove_dir_all(&folder).map_err(failed)?;
        }
        let home = folder.join("home");
        fs::create_dir_all(home.join("bin")).map_err(failed)?;
        // A pane that begins anew has the PATH of the tmux that asks for it.
        // A history would be written while the folder is being removed.
        let rc = "PS1='$ '\nPATH=~/bin:/usr/bin:/bin\nunset HISTFILE\n";
        fs::write(home.join("rc"), rc).map_err(failed)?;
        let stage = Stage { folder };
        stage.take_program(Path::new("target/release/statwalk"))?;
        fs::write(stage.folder.join("begin"), Stage::script(cast)).map_err(failed)?;
        let mut unshare = Command::new("unshare");
        unshare.args(["--mount", "--propagation", "private", "sh"]);
        unshare.arg(stage.folder.join("begin"));
        let begun = run(unshare.env("FOLDER", &stage.folder)).and_then(|_| stage.begin());
        match begun {
            Ok(()) => Ok(stage),
            Err(error) => {
                stage.end();
                Err(error)
            }
        }
    }

    /// Makes this program the one that the session calls statwalk.
    pub(crate) fn take_program(&self, program: &Path) -> Result<(), String> {
        let failed = |error: io::Error| format!("{}: {error}", program.display());
        let place = self.folder.join("home/bin/statwalk");
        if place.exists() {
            fs::remove_file(&place).map_err(failed)?;
        }
        fs::copy(program, place).map(drop).map_err(failed)
    }

    /// Makes the file system and starts tmux, in the new namespace.
    fn script(cast: &Cast) -> String {
        let mut script = format!(
            "set -eu\n\
             truncate -s {IMAGE_BYTES} \"$FOLDER/image\"\n\
             mkfs.ext4 -q -N 450000 -E hash_seed={HASH_SEED} \"$FOLDER/image\"\n\
             mount -o loop \"$FOLDER/image\" {PLACE}\n\
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
        let mut as_user = String::new();
        if cast.is_ordinary {
            as_user = format!("setpriv --reuid {USER} --regid {USER} --clear-groups");
            for (file, content) in PROOFS {
                let _ = write!(
                    script,
                    "echo '{content}' > {PLACE}/{file}\n\
                     touch -d @{} {PLACE}/{file}\n",
                    age(2)
                );
            }
            // The names of users are those of no machine.
            let _ = write!(
                script,
                "cd /\n\
                 echo root:x:0:0::/root:/bin/sh > \"$FOLDER/passwd\"\n\
                 echo {USER_NAME}:x:{USER}:{USER}::{PLACE}/{USER_NAME}:/bin/sh >> \"$FOLDER/passwd\"\n\
                 mount --bind \"$FOLDER/passwd\" /etc/passwd\n\
                 mkdir -m 700 {PLACE}/backup\n\
                 fallocate -l {} {PLACE}/backup/disk.img\n\
                 chown -R {USER}:{USER} \"$FOLDER\" {PLACE}\n\
                 chown -R 0:0 {PLACE}/backup\n",
                150 * MIB
            );
        }
        let (columns, lines) = (cast.columns, cast.lines);
        // A deleted log that a program still holds: df and du disagree.
        let _ = write!(
            script,
            "cd /\n\
             find {PLACE} -type d -exec touch -d @{} {{}} +\n\
             (exec 9> {PLACE}/.service.log; fallocate -l 734003200 {PLACE}/.service.log; \
             rm {PLACE}/.service.log; exec {as_user} sleep 3600) > /dev/null 2>&1 < /dev/null &\n\
             echo $! > \"$FOLDER/holder\"\n\
             sync -f {PLACE}\n\
             cd {PLACE}\n\
             exec env -i HOME=\"$FOLDER/home\" XDG_STATE_HOME=\"$FOLDER/home\" PATH=/usr/bin:/bin \
             TERM=xterm-256color LC_ALL=C.UTF-8 {as_user} \
             tmux -S \"$FOLDER/socket\" -f /dev/null new-session -d -x {columns} -y {lines} \
             'exec bash --rcfile ~/rc'\n",
            age(2)
        );
        script
    }

    fn begin(&self) -> Result<(), String> {
        // Without the line of tmux, the program has the whole screen.
        self.tmux(&["set", "-g", "status", "off"])?;
        self.tmux(&["set", "-g", "escape-time", "0"])?;
        self.wait_for("$")
    }

    fn tmux(&self, arguments: &[&str]) -> Result<String, String> {
        let mut tmux = Command::new("tmux");
        let tmux = tmux.arg("-S").arg(self.folder.join("socket"));
        run(tmux.args(arguments))
    }

    /// Begins anew, on a screen of this size.
    pub(crate) fn restart(&self, columns: usize, lines: usize) -> Result<(), String> {
        let (columns, lines) = (columns.to_string(), lines.to_string());
        self.tmux(&["resize-window", "-x", &columns, "-y", &lines])?;
        self.tmux(&["respawn-pane", "-k"])?;
        self.wait_for("$")
    }

    /// Presses a key by tmux' name, whatever it brings, and waits until the screen holds
    /// still.
    pub(crate) fn press(&self, key: &str) -> Result<(), String> {
        self.tmux(&["send-keys", key])?;
        sleep(SETTLE_TIME);
        self.rest()
    }

    /// Waits until the screen holds still and its text is of a kind.
    pub(crate) fn settle(&self, is_ready: impl Fn(&str) -> bool) -> Result<(), String> {
        let begin = Instant::now();
        loop {
            self.rest()?;
            let text = self.tmux(&["capture-pane", "-p"])?;
            if is_ready(&text) {
                return Ok(());
            }
            if begin.elapsed() > PATIENCE {
                return Err(format!("the screen never settles:\n{text}"));
            }
        }
    }

    /// The lines of the screen, with their escape codes.
    pub(crate) fn screen(&self) -> Result<Vec<String>, String> {
        let text = self.tmux(&["capture-pane", "-e", "-p"])?;
        Ok(whole_lines(&text))
    }

    /// Types letters.
    pub(crate) fn letters(&self, letters: &str) -> Result<(), String> {
        self.tmux(&["send-keys", "-l", "--", letters])?;
        sleep(Duration::from_millis(60));
        Ok(())
    }

    /// Presses a key by tmux' name, and waits for a piece of the screen that it brings.
    pub(crate) fn key(&self, key: &str, piece: &str) -> Result<(), String> {
        let before = self.screen()?;
        self.tmux(&["send-keys", key])?;
        let begin = Instant::now();
        while self.screen()? == before && begin.elapsed() < PATIENCE {
            sleep(Duration::from_millis(20));
        }
        self.wait_for(piece)?;
        self.rest()
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
    pub(crate) fn end(&self) {
        // Each may be gone already.
        let _ = self.tmux(&["kill-server"]);
        if let Ok(holder) = fs::read_to_string(self.folder.join("holder")) {
            let _ = run(Command::new("kill").arg(holder.trim()));
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// The lines of a screen, each with the codes that hold at its begin. tmux writes a code
/// where it changes, and not again at the next line.
fn whole_lines(text: &str) -> Vec<String> {
    let mut codes = String::new();
    let mut lines = Vec::new();
    for line in text.lines() {
        lines.push(format!("{codes}{line}"));
        for part in line.split("\x1b[").skip(1) {
            match part.split_once('m') {
                Some(("" | "0", _)) => codes.clear(),
                Some((numbers, _)) => codes.push_str(&format!("\x1b[{numbers}m")),
                None => {}
            }
        }
    }
    lines
}

fn age(days: u64) -> u64 {
    let now = SystemTime::UNIX_EPOCH.elapsed();
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The mark of a row had no colour where the row above ends in the same one.
    #[test]
    fn a_line_begins_with_the_codes_of_the_line_above() {
        let lines = whole_lines("\x1b[1m\x1b[35ma\nb\x1b[0m c\nd");
        let second = "\x1b[1m\x1b[35mb\x1b[0m c";
        assert_eq!(lines, ["\x1b[1m\x1b[35ma", second, "d"]);
    }
}
