// SPDX-License-Identifier: MIT OR Apache-2.0

//! The floor of system calls: none that is not needed, counted with strace.

use std::collections::BTreeMap;
use std::path::Path;

use statwalk_core::{Scan, Source, Totals};
use statwalk_testkit::unprivileged::{self, publish};
use statwalk_testkit::{Scratch, Skipped, or_skip};

use super::harness::child;

/// What a scan may need besides: to look at itself and at its roots.
const A_FEW: u64 = 12;

/// Scans in a process that strace watches.
pub(crate) fn scanned_under_strace(argument: &str) {
    let words: Vec<_> = argument.split(' ').collect();
    let scan = Scan::new(words[0])
        .source(Source::Posix)
        .threads(words[1].parse().unwrap());
    let sink = match words[2] {
        "sizes" => Totals::new(),
        _ => Totals::new().without_sizes(),
    };
    child::print_totals(&scan.run(&sink).unwrap());
}

/// How often each call was made, and what the scan found.
struct Counted {
    calls: BTreeMap<String, u64>,
    found: BTreeMap<String, u64>,
}

impl Counted {
    fn of(&self, name: &str) -> u64 {
        self.calls.get(name).copied().unwrap_or(0)
    }

    /// The calls beyond those of a scan of an empty directory.
    fn beyond(&self, nothing: &Counted, name: &str) -> u64 {
        let own = nothing.of(name);
        // The loader looks for libraries in all folders of cargo's LD_LIBRARY_PATH.
        assert!(own <= 100 + A_FEW, "{name}: {own} for an empty directory");
        self.of(name).saturating_sub(own)
    }
}

fn strace(path: &Path, threads: usize, sink: &str) -> Result<Counted, Skipped> {
    let program = std::env::current_exe().unwrap();
    strace_of(&program, &[], path, threads, sink)
}

/// Runs a copy of this program under strace, and under what else is asked for.
fn strace_of(
    program: &Path,
    inner: &[&str],
    path: &Path,
    threads: usize,
    sink: &str,
) -> Result<Counted, Skipped> {
    let home = Scratch::new().unwrap();
    let table = home.path().join("table");
    let argument = format!("{} {threads} {sink}", path.display());
    let mut words = vec!["strace", "-f", "-c", "-U", "calls,name", "-o"];
    words.push(table.to_str().unwrap());
    words.extend(inner);
    let test = "calls::scanned_under_strace";
    let mut command = child::command_of(program, &words, test, &argument);
    let output = command.output().map_err(|_| Skipped::needs("strace"))?;
    let complaints = String::from_utf8_lossy(&output.stderr);
    for (complaint, needs) in [
        ("ptrace", "ptrace"),
        ("PTRACE", "ptrace"),
        ("Can't stat 'setpriv'", "setpriv"),
    ] {
        if complaints.contains(complaint) {
            return Err(Skipped::needs(needs));
        }
    }
    let found = child::numbers(&output);
    let table = std::fs::read_to_string(&table).unwrap();
    let calls: BTreeMap<String, u64> = (table.lines())
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            let count = words.next()?.parse().ok()?;
            Some((words.next()?.to_owned(), count))
        })
        .collect();
    assert!(calls.len() > 5, "{table}");
    Ok(Counted { calls, found })
}

/// A tree of a known shape: 1 + 20 + 20 × 9 directories, 15 files in each of 200.
fn make(dir: &Path) {
    std::fs::create_dir(dir).unwrap();
    for outer in 0..20 {
        for inner in 0..10 {
            let sub = match inner {
                0 => dir.join(format!("o{outer}")),
                inner => dir.join(format!("o{outer}/i{inner}")),
            };
            std::fs::create_dir(&sub).unwrap();
            for file in 0..15 {
                std::fs::write(sub.join(format!("f{file}")), b"x").unwrap();
            }
        }
    }
}

const DIRS: u64 = 201;
const FILES: u64 = 3_000;

#[test]
fn one_stat_for_a_file_and_five_calls_for_a_directory() {
    let scratch = Scratch::new().unwrap();
    let dir = scratch.path().join("t");
    make(&dir);
    let empty = scratch.subdirectory("empty").unwrap();
    for threads in [1, 2] {
        let nothing = or_skip!(strace(&empty, threads, "sizes"));
        let counted = or_skip!(strace(&dir, threads, "sizes"));
        assert_eq!(counted.found["dirs"], DIRS);
        assert_eq!(counted.found["files"], FILES);
        let more = DIRS - 1;
        let told = format!("{threads} workers: {:?}", counted.calls);
        let stats = counted.beyond(&nothing, "statx");
        let floor = FILES + 2 * more;
        assert!((floor..=floor + A_FEW).contains(&stats), "{stats}, {told}");
        assert_eq!(counted.beyond(&nothing, "getdents64"), 2 * more, "{told}");
        let opened = counted.beyond(&nothing, "openat2") + counted.beyond(&nothing, "openat");
        assert!((more..=more + A_FEW).contains(&opened), "{opened}, {told}");
        let closed = counted.beyond(&nothing, "close");
        assert!((more..=more + A_FEW).contains(&closed), "{closed}, {told}");
        // The report counts the same.
        assert_eq!(counted.found["calls"], FILES + 6 * DIRS, "{told}");
        // Nothing else is made for each entry or directory.
        for (name, &count) in &counted.calls {
            // With debug assertions std looks at each descriptor that it closes.
            let known = ["statx", "getdents64", "openat2", "openat", "close", "fcntl"];
            let waits = ["futex", "sched_yield"];
            if name != "total" && !known.contains(&name.as_str()) && !waits.contains(&name.as_str())
            {
                let beyond = count.saturating_sub(nothing.of(name));
                assert!(beyond <= 8 * A_FEW, "{name}: {count}, {told}");
            }
        }
    }
}

#[test]
fn counting_makes_no_stat() {
    let scratch = Scratch::new().unwrap();
    let dir = scratch.path().join("t");
    make(&dir);
    let empty = scratch.subdirectory("empty").unwrap();
    for threads in [1, 2] {
        let nothing = or_skip!(strace(&empty, threads, "types"));
        let counted = or_skip!(strace(&dir, threads, "types"));
        assert_eq!(
            (counted.found["dirs"], counted.found["files"]),
            (DIRS, FILES)
        );
        let told = format!("{threads} workers: {:?}", counted.calls);
        assert!(counted.of("statx") <= A_FEW, "{told}");
        assert_eq!(
            counted.beyond(&nothing, "getdents64"),
            2 * (DIRS - 1),
            "{told}"
        );
        for name in ["fstat", "newfstatat", "fstatfs", "readlink", "lseek"] {
            assert!(counted.beyond(&nothing, name) <= A_FEW, "{name}, {told}");
        }
        // A stat of the root shows that no server gives its names.
        assert_eq!(counted.found["calls"], 4 * DIRS + 1, "{told}");
    }
}

#[test]
fn an_unreadable_directory_costs_one_more_stat() {
    use std::os::unix::fs::PermissionsExt;
    const CLOSED: u64 = 30;
    let scratch = Scratch::new().unwrap();
    let dir = scratch.path().join("t");
    make(&dir);
    let before = or_skip!(as_nobody(scratch.path(), &dir));
    for number in 0..CLOSED {
        let closed = dir.join(format!("o{}/closed{number}", number % 20));
        std::fs::create_dir(&closed).unwrap();
        std::fs::set_permissions(&closed, PermissionsExt::from_mode(0o000)).unwrap();
    }
    let counted = or_skip!(as_nobody(scratch.path(), &dir));
    assert_eq!(before.found["dirs"] + CLOSED, counted.found["dirs"]);
    assert_eq!(counted.found["unreadable"], CLOSED);
    assert_eq!(counted.of("statx") - before.of("statx"), CLOSED);
    assert_eq!(counted.of("openat2") - before.of("openat2"), CLOSED);
    assert_eq!(counted.of("getdents64"), before.of("getdents64"));
}

/// As [`strace`], without the rights of root.
fn as_nobody(home: &Path, dir: &Path) -> Result<Counted, Skipped> {
    if !unprivileged::is_root() {
        return strace(dir, 1, "sizes");
    }
    unprivileged::command("true")?;
    // The program lies where nobody may not look; strace starts a copy of it.
    let program = publish(&std::env::current_exe().unwrap(), home).unwrap();
    let user = unprivileged::NOBODY.to_string();
    let inner = [
        "setpriv",
        "--reuid",
        &user,
        "--regid",
        &user,
        "--clear-groups",
    ];
    strace_of(&program, &inner, dir, 1, "sizes")
}
