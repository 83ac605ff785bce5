// SPDX-License-Identifier: MIT OR Apache-2.0

//! Random trees on every file system: the program, the naive walker, GNU find
//! and du say the same, whatever the source, the order and the number of workers.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use statwalk_testkit::model::NodeKind;
use statwalk_testkit::mounts::{self, FileSystem, Mounted};
use statwalk_testkit::naive::{self, Counts, NaiveReport, Options};
use statwalk_testkit::program::ORDERS;
use statwalk_testkit::{Model, Scratch, Skipped, remove_tree, settle, strategy, unprivileged};

use crate::program::{self, Ended, statwalk};
use crate::sound::faults_of;
use statwalk_testkit::attack::{Attack, Round};

/// Where a tree is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ground {
    On(FileSystem),
    /// An overlay whose lower and upper directories lie on ext4.
    Overlay,
    /// Made anew from a directory in memory for each tree.
    Squashfs,
}

const GROUNDS: [Ground; 7] = [
    Ground::On(FileSystem::Tmpfs),
    Ground::On(FileSystem::Ext4),
    Ground::On(FileSystem::Btrfs),
    Ground::On(FileSystem::Xfs),
    Ground::On(FileSystem::Ext4WithoutFiletype),
    Ground::Overlay,
    Ground::Squashfs,
];

/// The file systems that this machine has, mounted for the whole attack.
struct Grounds {
    mounted: Vec<(FileSystem, Mounted)>,
    // Last, because the mounts lie in it.
    scratch: Scratch,
}

impl Grounds {
    fn new() -> Grounds {
        let scratch = Scratch::new().unwrap();
        let mut mounted = Vec::new();
        for file_system in FileSystem::ALL {
            let at = scratch.subdirectory(&format!("{file_system:?}")).unwrap();
            match file_system.mount(&at) {
                Ok(mount) => mounted.push((file_system, mount)),
                Err(skipped) => skipped.report(),
            }
        }
        Grounds { mounted, scratch }
    }

    fn at(&self, wanted: FileSystem) -> Option<&Path> {
        let mut mounted = self.mounted.iter();
        let found = mounted.find(|(file_system, _)| *file_system == wanted);
        found.map(|(_, mount)| mount.path())
    }

    /// Where trees are made that are on no file system of their own.
    fn fallback(&self) -> &Path {
        self.at(FileSystem::Tmpfs).unwrap_or(self.scratch.path())
    }
}

/// A tree on its ground, removed with this.
struct Planted {
    tree: PathBuf,
    sources: &'static [&'static str],
    // Unmounted before what lies below is removed.
    _mounted: Option<Mounted>,
    home: PathBuf,
}

impl Drop for Planted {
    fn drop(&mut self) {
        self._mounted = None;
        remove_tree(&self.home).unwrap();
    }
}

/// A random tree; unreadable directories are nothing to root.
fn random_tree(round: &mut Round, size_bytes_max: u64) -> Model {
    let limits = strategy::Limits {
        entries_max: *round.random.pick(&[10, 60, 60, 200]),
        size_bytes_max,
        ..strategy::Limits::default()
    };
    let mut model = strategy::of_seed(&strategy::models(limits), round.random.next());
    let dirs: Vec<_> = model
        .nodes()
        .filter(|(id, node)| *id != Model::ROOT && node.kind == NodeKind::Directory)
        .map(|(id, _)| id)
        .collect();
    for dir in dirs {
        if round.random.one_in(6) {
            model.set_mode(dir, *round.random.pick(&[0o000, 0o100, 0o400, 0o311]));
        }
    }
    model
}

fn plant(round: &mut Round, grounds: &Grounds, ground: Ground) -> Result<Planted, Skipped> {
    // Its holes are read when a squashfs is made.
    let size_bytes_max = match ground {
        Ground::Squashfs => 200_000,
        _ => 1 << 40,
    };
    let model = random_tree(round, size_bytes_max);
    let below = |at: &Path| {
        let home = at.join("home");
        std::fs::create_dir(&home).unwrap();
        home
    };
    let on = |home: PathBuf, sources| {
        let tree = home.join("tree");
        model.materialise(&tree).unwrap();
        settle(&tree).unwrap();
        Planted {
            tree,
            sources,
            _mounted: None,
            home,
        }
    };
    match ground {
        Ground::On(file_system) => {
            let at = grounds.at(file_system);
            let at = at.ok_or_else(|| Skipped::needs(format!("{file_system:?}")))?;
            let sources: &[&str] = match file_system {
                FileSystem::Ext4 | FileSystem::Ext4WithoutFiletype => &["posix", "auto", "ext4"],
                FileSystem::Btrfs => &["posix", "auto", "btrfs"],
                _ => &["posix", "auto"],
            };
            Ok(on(below(at), sources))
        }
        Ground::Squashfs => {
            let mut planted = on(below(grounds.fallback()), &["posix", "auto"]);
            let at = planted.home.join("at");
            std::fs::create_dir(&at).unwrap();
            planted._mounted = Some(mounts::squashfs(&at, &planted.tree)?);
            planted.tree = at;
            Ok(planted)
        }
        Ground::Overlay => {
            let at = grounds.at(FileSystem::Ext4);
            let home = below(at.ok_or_else(|| Skipped::needs("ext4"))?);
            let mut planted = on(home, &["posix", "auto"]);
            let [upper, work, at] = ["upper", "work", "at"].map(|name| {
                let path = planted.home.join(name);
                std::fs::create_dir(&path).unwrap();
                path
            });
            planted._mounted = Some(mounts::overlay(&at, &planted.tree, &upper, &work)?);
            // Some of the lower tree goes, and another comes.
            for entry in std::fs::read_dir(&at).unwrap() {
                let entry = entry.unwrap();
                match (round.random.one_in(4), entry.file_type().unwrap().is_dir()) {
                    (true, true) => remove_tree(&entry.path()).unwrap(),
                    (true, false) => std::fs::remove_file(entry.path()).unwrap(),
                    (false, _) => {}
                }
            }
            let more = random_tree(round, 1 << 30);
            more.materialise(&at.join("upper tree")).unwrap();
            settle(&at).unwrap();
            planted.tree = at;
            Ok(planted)
        }
    }
}

/// What the program says in the words of the naive walker.
fn counts_of(document: &Value) -> Option<Counts> {
    let root = &document["roots"][0];
    let field = |name: &str| root[name].as_u64();
    Some(Counts {
        entries: field("entries")?,
        files: field("files")?,
        dirs: field("dirs")?,
        symlinks: field("symlinks")?,
        others: field("others")?,
        file_size_bytes: field("file_size_bytes")?.into(),
        apparent_bytes: field("apparent_bytes")?.into(),
        allocated_bytes: field("allocated_bytes")?.into(),
        extra_hard_links: field("extra_hard_links")?,
        unreadable: field("unreadable")?,
        vanished: field("vanished")?,
        excluded: field("excluded")?,
        crossings: field("crossings")?,
    })
}

fn errors_of(document: &Value) -> BTreeSet<(Vec<u8>, i64)> {
    let errors = document["errors"].as_array().unwrap();
    let path = |error: &Value| match error["path_b64"].as_str() {
        Some(exact) => STANDARD.decode(exact).unwrap(),
        None => error["path"].as_str().unwrap_or_default().into(),
    };
    let number = |error: &Value| error["errno"].as_i64().unwrap_or_default();
    errors
        .iter()
        .map(|error| (path(error), number(error)))
        .collect()
}

fn check_sizes(round: &mut Round, ended: &Ended, expected: &NaiveReport, links: &str) {
    let document = match ended.json() {
        Ok(document) => document,
        Err(error) => {
            round.check(false, || format!("{error}: {}", ended.told()));
            return;
        }
    };
    let mut faults = faults_of(&document, ended.code());
    let mut counts = expected.total();
    if links == "-l" {
        // Nothing looks for further names where each counts.
        counts.extra_hard_links = 0;
    }
    let found = counts_of(&document);
    if found != Some(counts) {
        faults.push(format!("{found:?} and not {counts:?}"));
    }
    let errors = expected.errors().into_iter();
    let errors: BTreeSet<_> = errors
        .map(|(path, errno)| (path.to_vec(), i64::from(errno)))
        .collect();
    if errors_of(&document) != errors {
        faults.push(format!("other errors than {errors:?}"));
    }
    if ended.code() != Some(i32::from(!errors.is_empty())) {
        faults.push("another exit status".to_owned());
    }
    round.check(faults.is_empty(), || {
        format!("{}: {}", faults.join(", "), ended.told())
    });
}

fn check_paths(round: &mut Round, ended: &Ended, expected: &NaiveReport) {
    let all = expected.entries.iter().skip(1);
    let mut expected: Vec<&[u8]> = all.map(|entry| entry.path.as_slice()).collect();
    let mut found: Vec<&[u8]> = ended.rows().collect();
    expected.sort_unstable();
    found.sort_unstable();
    round.check(found == expected, || {
        let mut pairs = found.iter().zip(&expected);
        let differs = pairs.find(|(found, expected)| found != expected);
        let differs =
            differs.map(|(a, b)| (a.escape_ascii().to_string(), b.escape_ascii().to_string()));
        format!("paths, {differs:?}: {}", ended.told())
    });
}

/// GNU find and du, as root, who may read all.
fn check_references(round: &mut Round, tree: &Path, expected: &NaiveReport, links: &str) {
    let output = |program: &str, arguments: &[&str]| {
        let mut command = program::command(program);
        let output = command.arg(tree).args(arguments).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let du = match links {
        "-l" => output("du", &["-s", "-B1", "-l"]),
        _ => output("du", &["-s", "-B1"]),
    };
    let bytes = du.split('\t').next().and_then(|text| text.parse().ok());
    let total = expected.total();
    round.check(bytes == Some(total.allocated_bytes), || {
        format!("du says {bytes:?}, the walker {total:?}")
    });
    let names = output("find", &["-printf", "x"]).len() as u64;
    round.check(names == total.entries, || {
        format!("find says {names}, the walker {total:?}")
    });
}

/// One tree, asked for by one user with one policy for links.
fn check(round: &mut Round, planted: &Planted, copy: &Path) -> Result<(), Skipped> {
    let links = *round.random.pick(&["", "", "-l"]);
    let options = Options {
        count_links: links == "-l",
        ..Options::default()
    };
    let ordinary = round.random.one_in(3);
    let scan = || naive::scan_with(&[&planted.tree], &options).unwrap();
    let expected = match ordinary {
        true => unprivileged::as_ordinary_user(scan)?,
        false => scan(),
    };
    if !ordinary && unprivileged::is_root() {
        check_references(round, &planted.tree, &expected, links);
    }
    let command = || -> Result<Command, Skipped> {
        let mut command = match ordinary {
            true => unprivileged::command(copy)?,
            false => statwalk(),
        };
        program::in_known_surroundings(&mut command);
        Ok(command)
    };
    for source in planted.sources {
        // In place means to look at the device, which only root may.
        if ordinary && !matches!(*source, "posix" | "auto") {
            continue;
        }
        let threads = *round.random.pick(&["-j1", "-j2", "-j4"]);
        let order = *round.random.pick(&ORDERS);
        let flags = ["--source", source, threads, "--order", order];
        let mut sizes = command()?;
        sizes.args(["--json", "-s"]).args(flags);
        sizes.args((!links.is_empty()).then_some(links));
        sizes.arg(&planted.tree);
        let ended = program::run(&mut sizes);
        check_sizes(round, &ended, &expected, links);
        // A list of names has no policy for links.
        let mut paths = command()?;
        paths.args(["find", "-0"]).args(flags).arg(&planted.tree);
        let ended = program::run(&mut paths);
        if ended.check_end(round, &[0, 1]) {
            check_paths(round, &ended, &expected);
        }
    }
    Ok(())
}

#[test]
fn everybody_says_the_same() {
    let grounds = Grounds::new();
    let copy = unprivileged::publish(&program::path(), grounds.scratch.path()).unwrap();
    let attack = Attack {
        kind: "random_trees",
        rounds_small: 28,
        checks_least: 1,
    };
    attack.run(|round| {
        let ground = *round.in_turn(&GROUNDS);
        let done = plant(round, &grounds, ground).and_then(|planted| check(round, &planted, &copy));
        if let Err(skipped) = done {
            skipped.report();
            // Where only a part of the file systems is to be had, that is tried.
            let scratch = Ground::On(FileSystem::Tmpfs);
            round.check(ground != scratch || !unprivileged::is_root(), || {
                "root can mount a tmpfs".to_owned()
            });
        }
    });
}
