// SPDX-License-Identifier: MIT OR Apache-2.0

//! Automount points: a scan wakes none, says where they stand, and goes on.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use statwalk_core::{Exclusions, MountCrossing, Order, Scan, SymlinkPolicy, Totals};
use statwalk_testkit::automount::{Automount, Trigger};
use statwalk_testkit::mounts::{FileSystem, Mounted};
use statwalk_testkit::{Scratch, Skipped, or_skip, trees};

use super::harness::child;

/// Longer than any scan here takes; only one that waits for a mount takes longer.
const LONG: Duration = Duration::from_secs(30);

/// How long after a scan a request would be in the pipe at the latest: it is
/// written before whoever asks begins to wait.
const AT_ONCE: Duration = Duration::from_millis(50);

/// A process whose group is its own, so that autofs lets it wait.
struct Stranger(Child);

impl Stranger {
    fn start(command: &mut Command) -> Result<Stranger, Skipped> {
        let program = command.get_program().to_string_lossy().into_owned();
        command.process_group(0);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().map_err(|_| Skipped::needs(program))?;
        Ok(Stranger(child))
    }

    fn group(&self) -> Pid {
        Pid::from_child(&self.0)
    }

    /// What it printed.
    fn ended(mut self) -> Output {
        let start = Instant::now();
        while self.0.try_wait().unwrap().is_none() {
            if start.elapsed() > LONG {
                self.kill();
                panic!("it hangs: {:?}", self.0);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        self.0.wait_with_output().unwrap()
    }

    fn kill(&mut self) {
        kill_process_group(self.group(), Signal::KILL).unwrap();
        self.0.wait().unwrap();
    }
}

/// Does in a process of its own what the first word of the argument says.
pub(crate) fn done_as_a_stranger(argument: &str) {
    let words: Vec<_> = argument.split(' ').collect();
    let path = words[1];
    if words[0] == "list" {
        let count = std::fs::read_dir(path).map_or(0, Iterator::count);
        println!("count={count}");
        return;
    }
    let has = |word| words.contains(&word);
    let mut scan = Scan::new(path).threads(words[2].parse().unwrap());
    if has("recursive") {
        scan = scan.order(Order::Recursive);
    }
    if has("stay") {
        scan = scan.crossing(MountCrossing::Stay);
    }
    if has("follow") {
        scan = scan.symlinks(SymlinkPolicy::Follow);
    }
    if has("gitignore") {
        scan = scan.exclusions(Exclusions::new().gitignore(true));
    }
    let sink = match has("types") {
        true => Totals::new().without_sizes(),
        false => Totals::new(),
    };
    child::print_totals(&scan.run(&sink).unwrap());
}

fn stranger(before: &[&str], argument: &str) -> Result<Stranger, Skipped> {
    let test = "automounts::done_as_a_stranger";
    Stranger::start(&mut child::command(before, test, argument))
}

/// A tree with an automount point at `direct`, and at `indirect` a directory
/// with two of them, `idle` and `further/idle`, and something that is mounted.
struct Tree {
    // Dropped in this order: what is mounted goes before what it is mounted on.
    _mounted: Mounted,
    direct: Automount,
    indirect: Automount,
    dir: PathBuf,
    _scratch: Scratch,
}

/// What the tree holds without what is mounted.
fn own_entries() -> u64 {
    // Two directories more, and a file.
    trees::basic().totals().entries + 3
}

fn made() -> Result<Tree, Skipped> {
    let scratch = Scratch::new().unwrap();
    let dir = scratch.path().join("t");
    trees::basic().materialise(&dir).unwrap();
    let [direct, indirect] = ["direct", "indirect"].map(|name| dir.join(name));
    for place in [&direct, &indirect] {
        std::fs::create_dir(place).unwrap();
    }
    std::fs::write(dir.join("a-file"), b"x").unwrap();
    let direct = Automount::mount(&direct, Trigger::Direct)?;
    let indirect = Automount::mount(&indirect, Trigger::Indirect)?;
    std::fs::create_dir(indirect.path().join("idle")).unwrap();
    std::fs::create_dir_all(indirect.path().join("further/idle")).unwrap();
    let place = indirect.path().join("mounted");
    std::fs::create_dir(&place).unwrap();
    let mounted = FileSystem::Tmpfs.mount(&place)?;
    std::fs::write(place.join("file"), [0; 5000]).unwrap();
    Ok(Tree {
        _mounted: mounted,
        direct,
        indirect,
        dir,
        _scratch: scratch,
    })
}

impl Tree {
    fn assert_asleep(&mut self, told: &str) {
        for automount in [&mut self.direct, &mut self.indirect] {
            let woken = automount.request(AT_ONCE);
            assert_eq!(woken, None, "{:?}, {told}", automount.path());
        }
    }

    /// Scans as `how` says, and expects so many entries and crossings.
    fn check(&mut self, before: &[&str], how: &str, entries: u64, crossings: u64) {
        let argument = format!("scan {} {how}", self.dir.display());
        let output = or_skip!(stranger(before, &argument)).ended();
        let found = child::numbers(&output);
        let told = format!("{argument}: {found:?}");
        assert_eq!(found["entries"], entries, "{told}");
        assert_eq!(found["crossings"], crossings, "{told}");
        assert_eq!(found["complete"], 1, "{told}");
        self.assert_asleep(&told);
    }
}

/// The ways to scan the tree: workers, order and what is wanted.
const WAYS: [&str; 6] = [
    "1 recursive",
    "1 recursive types",
    "1",
    "1 types",
    "4",
    "4 types",
];

/// All of it: below `indirect` four directories more, and a file.
fn check_both_crossings(tree: &mut Tree, before: &[&str], ways: &[&str]) {
    for way in ways {
        tree.check(before, way, own_entries() + 5, 3);
        tree.check(before, &format!("{way} stay"), own_entries(), 2);
    }
}

/// Without this the other tests could not fail.
#[test]
fn whoever_lists_an_automount_point_wakes_it() {
    let mut tree = or_skip!(made());
    let asleep = tree.direct.request(Duration::ZERO);
    assert_eq!(asleep, None);
    let wakes = |automount: &mut Automount, name: &str| {
        let path = automount.path().join(name);
        let argument = format!("list {}", path.display());
        let mut stranger = stranger(&[], &argument).unwrap();
        let woken = automount.request(LONG);
        stranger.kill();
        woken
    };
    assert!(wakes(&mut tree.direct, "").is_some());
    for name in ["idle", "not-shown"] {
        assert_eq!(wakes(&mut tree.indirect, name).as_deref(), Some(name));
    }
    let list = format!("list {}", tree.indirect.path().display());
    let listed = child::numbers(&or_skip!(stranger(&[], &list)).ended());
    assert_eq!(listed["count"], 3);
    tree.assert_asleep(&list);
}

#[test]
fn a_scan_wakes_no_automount() {
    let mut tree = or_skip!(made());
    check_both_crossings(&mut tree, &[], &WAYS);
}

#[test]
fn nor_does_it_without_openat2() {
    let mut tree = or_skip!(made());
    let strace = ["strace", "-f", "-o", "/dev/null", "-e"];
    let without_openat2 = ["inject=openat2:error=ENOSYS"];
    let before = [strace.as_slice(), &without_openat2].concat();
    check_both_crossings(&mut tree, &before, &["1", "3", "3 types"]);
}

/// Looking for a name that autofs does not show would ask for it.
#[test]
fn rules_are_not_looked_for_where_that_would_mount() {
    let mut tree = or_skip!(made());
    std::fs::write(tree.dir.join(".gitignore"), "a-file\n").unwrap();
    // The rules' own file comes, what they leave out goes.
    tree.check(&[], "2 gitignore", own_entries() + 5, 3);
    tree.check(&[], "2 gitignore types", own_entries() + 5, 3);
}

/// A link to an automount point counts as itself.
#[test]
fn links_to_automount_points_are_not_followed() {
    let mut tree = or_skip!(made());
    for (name, target) in [("to-direct", "direct"), ("to-idle", "indirect/idle")] {
        let target = Path::new(target);
        std::os::unix::fs::symlink(target, tree.dir.join(name)).unwrap();
    }
    for way in ["1 follow", "4 follow types"] {
        tree.check(&[], way, own_entries() + 5 + 2, 3);
    }
}
