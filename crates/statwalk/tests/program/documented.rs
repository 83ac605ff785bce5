// SPDX-License-Identifier: MIT OR Apache-2.0

//! Every documented command line of statwalk runs.
//!
//! The lines stand in code blocks of README.md and docs, in the help and in the manual
//! pages. Each runs in bash on a small tree that takes the place of `/data`, `/usr` and
//! others. A command within a sentence is only parsed: most have no path.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use statwalk_testkit::mounts::{FileSystem, Mounted, ext4_image};
use statwalk_testkit::{Scratch, Skipped, program};

use crate::browse;
use crate::run::{Answer, commands, statwalk};

/// A command line, and the file or page that it stands in.
type Lines = BTreeMap<String, String>;

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// README.md and the pages of docs, with their names.
fn pages() -> Vec<(String, String)> {
    let mut files = vec![workspace().join("README.md")];
    let mut directories = vec![workspace().join("docs")];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            match path.extension() {
                _ if path.is_dir() => directories.push(path),
                Some(extension) if extension == "md" => files.push(path),
                _ => {}
            }
        }
    }
    let read = files.into_iter().map(|file| {
        let name = file
            .strip_prefix(workspace())
            .unwrap()
            .display()
            .to_string();
        (name, fs::read_to_string(&file).unwrap())
    });
    read.collect()
}

/// The command in a line, without its prompt and its description: two blanks divide them.
fn command_of(line: &str) -> Option<String> {
    let line = line.trim().trim_start_matches("$ ");
    let line = line.split("  ").next()?.split(" # ").next()?.trim();
    let is_ours = line == "statwalk" || line.starts_with("statwalk ");
    is_ours.then(|| line.to_owned())
}

/// The command lines of code blocks.
fn lines_of_pages(lines: &mut Lines) {
    for (name, text) in pages() {
        let mut is_code = false;
        for line in text.lines() {
            if line.starts_with("```") {
                is_code = !is_code;
            } else if let Some(command) = command_of(line).filter(|_| is_code) {
                lines.insert(command, name.clone());
            }
        }
    }
}

/// The lines below `Examples:`, and those that begin with `For instance:`.
fn lines_of_help(lines: &mut Lines) {
    let names = commands();
    for name in names.iter().map(String::as_str).chain([""]) {
        let mut help = statwalk();
        help.args([name, "--help"].iter().filter(|word| !word.is_empty()));
        let help = Answer::of(help.env("COLUMNS", "400")).good();
        let help = String::from_utf8(help.stdout).unwrap();
        let examples = help.lines().skip_while(|line| *line != "Examples:");
        let examples = examples.skip(1).take_while(|line| !line.is_empty());
        let instances = help
            .lines()
            .filter_map(|line| line.strip_prefix("For instance: "));
        for command in examples.chain(instances).filter_map(command_of) {
            lines.insert(command, format!("{name} --help"));
        }
    }
}

/// The lines of the section `EXAMPLES` of the manual pages.
fn lines_of_manual(lines: &mut Lines) {
    let names = commands();
    for name in names.iter().map(String::as_str).chain([""]) {
        let mut man = statwalk();
        man.args(["man", name].iter().filter(|word| !word.is_empty()));
        let page = String::from_utf8(Answer::of(&mut man).good().stdout).unwrap();
        let section = page
            .lines()
            .skip_while(|line| *line != ".SH EXAMPLES")
            .skip(1);
        let section = section.take_while(|line| !line.starts_with(".SH"));
        // groff_char(7) has these escapes.
        let plain = section.map(|line| {
            let line = line.trim_start_matches("\\&").replace("\\-", "-");
            line.replace("\\(aq", "'").replace("\\e", "\\")
        });
        for command in plain.filter_map(|line| command_of(&line)) {
            lines.insert(command, format!("man {name}"));
        }
    }
}

/// The directories in the place of those that the lines name.
struct Place {
    // Unmounted before the directory goes.
    mounts: BTreeMap<&'static str, Mounted>,
    scratch: Scratch,
}

/// The surroundings of a line.
#[derive(Clone, Copy, PartialEq)]
enum Need {
    Nothing,
    Ext4,
    Image,
    Btrfs,
}

impl Need {
    fn of(line: &str) -> Need {
        let has = |text: &str| line.contains(text);
        match () {
            () if has("--source ext4 image") => Need::Image,
            () if has("--source ext4") => Need::Ext4,
            () if has("--source btrfs") || has(" extents") || has(" changes") => Need::Btrfs,
            () => Need::Nothing,
        }
    }
}

fn fill(root: &Path) {
    let here = ["docs/pictures", "java", "web", "media"];
    let here = here.map(|name| format!("here/{name}"));
    let above = ["data", "srv", "usr", "home", "var"].map(str::to_owned);
    for directory in above.iter().chain(&here) {
        let directory = root.join(directory);
        fs::create_dir_all(directory.join("below/deep")).unwrap();
        fs::write(directory.join("below/core"), vec![1; 9_000]).unwrap();
        fs::write(directory.join("below/deep/a name.log"), b"x").unwrap();
        fs::write(directory.join("disk.iso"), b"y").unwrap();
    }
}

impl Place {
    fn new() -> Place {
        let scratch = Scratch::new().unwrap();
        fill(scratch.path());
        let place = scratch
            .path()
            .join("home/.local/share/bash-completion/completions");
        fs::create_dir_all(place).unwrap();
        Place {
            scratch,
            mounts: BTreeMap::new(),
        }
    }

    /// The directory in the place of `/`.
    fn root(&mut self, need: Need) -> Result<PathBuf, Skipped> {
        let plain = self.scratch.path().to_owned();
        let (name, file_system) = match need {
            Need::Nothing => return Ok(plain),
            Need::Image => {
                let image = plain.join("here/image.ext4");
                if !image.exists() {
                    ext4_image(&image, 16 << 20, &[], Some(&plain.join("data")))?;
                }
                return Ok(plain);
            }
            Need::Ext4 => ("ext4", FileSystem::Ext4),
            Need::Btrfs => ("btrfs", FileSystem::Btrfs),
        };
        let at = plain.join(name);
        if !self.mounts.contains_key(name) {
            // It is there where an earlier line was skipped.
            fs::create_dir_all(&at).unwrap();
            let mounted = file_system.mount(&at)?;
            fill(&at);
            mounted.settle().unwrap();
            self.mounts.insert(name, mounted);
        }
        Ok(at)
    }

    /// Runs a line in bash, in the directory `here`.
    fn run(&mut self, line: &str) -> Result<Answer, Skipped> {
        if line.contains("--cold") {
            return Err(Skipped::needs("a machine whose caches a test may drop"));
        }
        for part in line.split('|') {
            let tool = part.split_whitespace().next().unwrap_or_default();
            let known = program::command("which").arg(tool).output().unwrap();
            if tool != "statwalk" && !known.status.success() {
                return Err(Skipped::needs(tool));
            }
        }
        if line.contains("@last") {
            // It is the newest of one or more.
            self.run("statwalk snapshot /home")?;
        }
        let root = self.root(Need::of(line))?;
        let words = line.split(' ').map(|word| match word.strip_prefix('/') {
            Some(rest) => root.join(rest).display().to_string(),
            None => word.to_owned(),
        });
        let mut line = words.collect::<Vec<_>>().join(" ");
        if line.contains("UUID:4711") {
            let uuid = self
                .run("statwalk -s --json --source btrfs /data")?
                .good()
                .json();
            let uuid = uuid["plan"]["uuid"]
                .as_str()
                .expect("a btrfs has one")
                .to_owned();
            line = line.replace("UUID", &uuid);
        }
        if let Some(rest) = line.strip_prefix("statwalk browse ") {
            let words: Vec<&str> = rest.split(' ').collect();
            return browse::look(&root, &words, &self.store());
        }
        // A new file system has few generations.
        let line = line.replace("4711", "1");
        let mut bash = program::command("bash");
        bash.args(["-c", &format!("set -eo pipefail; {line}")]);
        let here = match root.join("here") {
            here if here.exists() => here,
            _ => self.scratch.path().join("here"),
        };
        let program = Path::new(env!("CARGO_BIN_EXE_statwalk")).parent().unwrap();
        let path = std::env::var("PATH").unwrap_or_default();
        bash.current_dir(here)
            .env("PATH", format!("{}:{path}", program.display()))
            .env("HOME", self.scratch.path().join("home"))
            .env("XDG_DATA_HOME", self.store())
            .env("MANPAGER", "cat");
        Ok(Answer::of(&mut bash))
    }

    fn store(&self) -> PathBuf {
        self.scratch.path().join("here/store")
    }
}

#[test]
fn every_documented_command_line_runs() {
    let mut lines = Lines::new();
    lines_of_pages(&mut lines);
    let of_pages = lines.len();
    lines_of_help(&mut lines);
    let of_help = lines.len() - of_pages;
    lines_of_manual(&mut lines);
    assert!(of_pages >= 20 && of_help >= 12, "{lines:#?}");
    let mut place = Place::new();
    let mut wrong = Vec::new();
    for (line, page) in &lines {
        match place.run(line) {
            Ok(answer) => {
                // The plan, and the generation for the next time, are no complaints.
                let complains = answer.stderr.lines().any(|text| {
                    let told = text.strip_prefix("statwalk: ").unwrap_or("the plan");
                    !told.starts_with("the plan") && !told.starts_with("next time, ")
                });
                if answer.code != Some(0) || complains {
                    wrong.push(format!(
                        "{page}: {line}\n{:?}: {}",
                        answer.code, answer.stderr
                    ));
                }
            }
            Err(skipped) => skipped.report(),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The commands within sentences.
fn mentioned() -> Lines {
    let mut lines = Lines::new();
    for (name, text) in pages() {
        // It shows what a user gets who types what no command takes.
        if name == "docs/captures/README.md" {
            continue;
        }
        // An odd part stands between two quotes of code.
        for code in text.split('`').skip(1).step_by(2) {
            let is_line = !code.contains(['\n', '…', '|', '>', '[']);
            if let Some(command) = command_of(code).filter(|_| is_line) {
                lines.insert(command, name.clone());
            }
        }
    }
    lines
}

#[test]
fn commands_within_sentences_have_flags_that_exist() {
    let mentioned = mentioned();
    assert!(mentioned.len() >= 10, "{mentioned:#?}");
    let names = commands();
    for (line, page) in &mentioned {
        let mut words: Vec<&str> = line.split_whitespace().skip(1).collect();
        // A word in front that is neither a command nor a path would be a mistake.
        if let Some(first) = words.first().filter(|first| !first.starts_with('-')) {
            let is_path = first.contains('/') || *first == "PATH";
            assert!(
                is_path || names.iter().any(|name| name == first),
                "{page}: {line}"
            );
        }
        // clap complains about a flag that it does not know before it prints help.
        words.push("--help");
        let answer = Answer::of(statwalk().args(words));
        assert_eq!(answer.code, Some(0), "{page}: {line}: {}", answer.stderr);
    }
}

#[test]
fn lines_are_found_as_they_are_written() {
    for (line, command) in [
        ("$ statwalk /usr", Some("statwalk /usr")),
        (
            "  statwalk -s /data    print the total",
            Some("statwalk -s /data"),
        ),
        ("statwalk", Some("statwalk")),
        ("statwalk-core", None),
        ("cargo install statwalk", None),
    ] {
        assert_eq!(command_of(line).as_deref(), command, "{line}");
    }
    assert!(Need::of("statwalk extents /data") == Need::Btrfs);
    let mut place = Place::new();
    // A line that is false breaks the test.
    for line in [
        "statwalk /nowhere",
        "statwalk --no-such-flag /data",
        "statwalk /data | false",
    ] {
        let answer = place.run(line).unwrap();
        assert_ne!(answer.code, Some(0), "{line}");
    }
}
