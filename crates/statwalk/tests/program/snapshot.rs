// SPDX-License-Identifier: MIT OR Apache-2.0

//! Storing scans: the folders that are written, and those that are not.

use std::collections::BTreeMap;
use std::fs::{self, File, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::process::{Pid, Signal, kill_process};
use statwalk_testkit::fault_fs::{FaultFs, Hang, Op};
use statwalk_testkit::{Random, Scratch, or_skip, trees};

use crate::run::{Answer, LONG, Tree, as_ordinary_user, statwalk};
use crate::schema;
use crate::signals::wait_until_the_rest_is_read;

/// A tree beside a store.
struct Place {
    tree: Tree,
}

impl Place {
    fn new(entries: &str) -> Place {
        Place {
            tree: Tree::new(entries),
        }
    }

    fn data(&self) -> PathBuf {
        self.tree.parent().join("data")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = statwalk();
        command.arg("snapshot").args(arguments);
        command.env("XDG_DATA_HOME", self.data());
        command.current_dir(self.tree.parent());
        command
    }

    fn run(&self, arguments: &[&str]) -> Answer {
        Answer::of(&mut self.command(arguments))
    }

    /// Stores the tree, and answers with the folder.
    #[track_caller]
    fn store(&self, arguments: &[&str]) -> PathBuf {
        let answer = self.run(&[arguments, &["tree"]].concat());
        assert_eq!(answer.code, Some(0), "{}", answer.stderr);
        folder_in(&answer)
    }

    /// The folder of the tree's key, once there is a snapshot.
    fn shelf(&self) -> PathBuf {
        let list = self.run(&["--list", "--json"]).good().json();
        let folder = list["snapshots"][0]["folder"].as_str().unwrap();
        Path::new(folder).parent().unwrap().to_owned()
    }
}

/// The folder in a row.
fn folder_in(answer: &Answer) -> PathBuf {
    let lines = answer.lines();
    assert_eq!(lines.len(), 1, "{lines:?}");
    PathBuf::from(lines[0].split('\t').nth(2).unwrap())
}

/// The files below a folder with their bytes, by their paths in it.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(at) = open.pop() {
        for entry in fs::read_dir(&at).unwrap() {
            let path = entry.unwrap().path();
            match path.symlink_metadata().unwrap().is_dir() {
                true => open.push(path),
                false => {
                    let name = path.strip_prefix(folder).unwrap().to_owned();
                    found.insert(name, fs::read(&path).unwrap());
                }
            }
        }
    }
    found
}

/// The names in a folder, but for the lock.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name != ".lock").collect();
    names.sort();
    names
}

#[test]
fn a_scan_is_stored_and_listed() {
    let place = Place::new("a/\na/file 1000\nb/\nb/other 2000\nb/l -> x");
    assert_eq!(place.run(&["--list"]).good().stdout, b"");
    let written = place.run(&["tree", "--json"]).good().json();
    schema::check("snapshot", &written);
    assert_eq!(written["complete"], true);
    assert_eq!(written["snapshot"]["entries"], 6);
    let second = place.store(&[]);
    assert!(second.join("_manifest.json").is_file());

    let root = place.tree.path().canonicalize().unwrap();
    let list = place.run(&["--list", "--json"]).good().json();
    schema::check("snapshot_list", &list);
    let all = list["snapshots"].as_array().unwrap();
    assert_eq!(all.len(), 2);
    assert_eq!(
        (&all[0]["number"], &all[1]["number"]),
        (&2.into(), &1.into())
    );
    for one in all {
        assert_eq!(one["root"], root.to_str().unwrap());
        assert_eq!(one["state"], "complete");
        assert_eq!(one["entries"], 6);
        let folder = Path::new(one["folder"].as_str().unwrap());
        let tables: u64 = files(folder)
            .iter()
            .filter(|(name, _)| name.extension().is_some_and(|end| end == "parquet"))
            .map(|(_, bytes)| bytes.len() as u64)
            .sum();
        assert_eq!(one["bytes"], tables);
    }
    let du = Answer::of(
        Command::new("du")
            .args(["-sB1", "tree"])
            .current_dir(place.tree.parent()),
    );
    let du = du.lines()[0].split('\t').next().unwrap().to_owned();
    let rows = place.run(&["--list"]).good();
    let rows = rows.lines();
    assert_eq!(rows.len(), 2);
    let columns: Vec<&str> = rows[0].split('\t').collect();
    assert_eq!(columns[1..3], ["6", &du]);
    assert_eq!(columns[4..], ["complete", root.to_str().unwrap()]);
    let table = place.run(&["--list", "--table"]).good();
    let lines = table.lines();
    assert!(
        lines[0].starts_with("WHEN ") && lines[0].ends_with("ROOT"),
        "{lines:?}"
    );
    assert!(
        lines.last().unwrap().starts_with("2 snapshots in "),
        "{lines:?}"
    );
    // Of the root of a path below it; another path has none.
    assert_eq!(place.run(&["--list", "tree/a"]).good().lines().len(), 2);
    assert!(place.run(&["--list", "data"]).good().stdout.is_empty());
}

#[test]
fn a_tree_at_rest_has_the_same_tables_each_time() {
    for (_, model) in trees::named() {
        let place = Place {
            tree: Tree::of(&model),
        };
        let [first, second] = [&["-j1"][..], &["-j4"]].map(|flags| files(&place.store(flags)));
        for (name, bytes) in &first {
            let is_table = name.extension().is_some_and(|end| end == "parquet");
            if is_table && !name.starts_with("filesystems") {
                assert!(second.get(name) == Some(bytes), "{name:?}");
            }
        }
        assert_eq!(
            first.keys().collect::<Vec<_>>(),
            second.keys().collect::<Vec<_>>()
        );
    }
}

/// The root file system has the store of root, and there the folder that is being written.
#[test]
fn a_scan_leaves_its_own_folder_out() {
    let place = Place::new("a/\na/file 1");
    let root = place.tree.parent().canonicalize().unwrap();
    let root = root.to_str().unwrap();
    for _ in 0..2 {
        place.run(&[root]).good();
        let mut command = statwalk();
        command.args(["find", "--json", &format!("{root}@last")]);
        let found = Answer::of(command.env("XDG_DATA_HOME", place.data())).good();
        let names = String::from_utf8(found.stdout).unwrap();
        assert!(
            names.contains(".lock") && !names.contains(".tmp"),
            "{names}"
        );
        let mut command = statwalk();
        command.args(["--json", &format!("{root}@last")]);
        let document = Answer::of(command.env("XDG_DATA_HOME", place.data()))
            .good()
            .json();
        assert_eq!(document["roots"][0]["excluded"], 0);
        assert_eq!(document["complete"], true);
    }
}

#[test]
fn a_new_folder_is_written_and_nothing_is_replaced() {
    let place = Place::new("file 1");
    let out = place.tree.parent().join("out");
    assert_eq!(place.store(&["-o", "out"]), out.canonicalize().unwrap());
    let before = files(&out);
    for taken in ["out", "tree", "tree/file", "."] {
        let answer = place.run(&["-o", taken, "tree"]);
        assert_eq!(answer.code, Some(2), "{taken}");
        assert!(
            answer.stderr.ends_with("file exists\n"),
            "{}",
            answer.stderr
        );
        assert_eq!(answer.stdout, b"");
    }
    assert_eq!(files(&out), before);
    assert_eq!(names(place.tree.parent()), ["out", "tree"]);
    let answer = place.run(&["-o", "nowhere/out", "tree"]);
    assert_eq!(answer.code, Some(2));
    assert_eq!(
        answer.stderr,
        "statwalk: cannot write nowhere/out: no such file or directory\n"
    );
    assert!(!place.data().exists(), "the store is not needed");
}

#[test]
fn nobody_else_can_read_it() {
    let place = Place::new("file 1");
    let mode = |path: &Path| path.symlink_metadata().unwrap().mode() & 0o777;
    let stored = place.store(&[]);
    for folder in stored
        .ancestors()
        .take_while(|at| !at.ends_with("statwalk"))
    {
        assert_eq!(mode(folder), 0o700, "{folder:?}");
    }
    assert_eq!(mode(&place.data().join("statwalk")), 0o700);
    assert_eq!(mode(&place.store(&["-o", "out"])), 0o700);
}

#[test]
fn two_writers_of_one_root_do_not_meet() {
    let place = Place::new("file 1");
    place.store(&[]);
    let lock = File::open(place.shelf().join(".lock")).unwrap();
    flock(&lock, FlockOperation::LockExclusive).unwrap();
    let answer = place.run(&["tree"]);
    assert_eq!(answer.code, Some(2));
    let why = "another statwalk does it now; try again when it is done\n";
    assert!(answer.stderr.ends_with(why), "{}", answer.stderr);
    drop(lock);
    place.store(&[]);

    // Many at a time: each stores a whole one, or nothing.
    let children: Vec<_> = (0..8)
        .map(|_| {
            let mut command = place.command(&["tree"]);
            command.stdout(Stdio::null()).stderr(Stdio::null());
            command.spawn().unwrap()
        })
        .collect();
    let stored = children
        .into_iter()
        .map(|mut child| child.wait().unwrap().code());
    let stored = stored.filter(|code| *code == Some(0)).count();
    assert!(stored >= 1);
    let rows = place.run(&["--list"]).good();
    assert_eq!(rows.lines().len(), 2 + stored);
    assert_eq!(names(&place.shelf()).len(), 2 + stored);
}

#[test]
fn a_kill_leaves_a_whole_snapshot_or_none() {
    let place = Place::new("file 1");
    for dir in 0..40 {
        let dir = place.tree.path().join(format!("dir{dir}"));
        fs::create_dir(&dir).unwrap();
        for file in 0..50 {
            File::create(dir.join(format!("file{file}"))).unwrap();
        }
    }
    place.store(&[]);
    let shelf = place.shelf();
    let first = files(&shelf.join(&names(&shelf)[0]));
    let mut random = Random::new(53);
    let (mut killed, mut left) = (0, 0);
    for _ in 0..100 {
        let mut command = place.command(&["tree"]);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        std::thread::sleep(Duration::from_micros(random.below(60_000)));
        child.kill().unwrap();
        killed += u32::from(child.wait().unwrap().code().is_none());
        for name in names(&shelf) {
            if name.starts_with('.') {
                left += 1;
                continue;
            }
            let manifest = fs::read(shelf.join(&name).join("_manifest.json")).unwrap();
            let manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
            for table in ["entries", "dirs", "owners", "filesystems"] {
                for file in manifest["tables"][table].as_array().unwrap() {
                    let path = shelf.join(&name).join(file["name"].as_str().unwrap());
                    assert_eq!(path.metadata().unwrap().len(), file["bytes"], "{path:?}");
                }
            }
        }
    }
    assert!(killed > 20, "{killed}");
    // The next run names what is left, and removes it.
    let is_left = names(&shelf).iter().any(|name| name.starts_with('.'));
    let answer = place.run(&["tree"]);
    assert_eq!(answer.code, Some(0));
    assert_eq!(
        answer
            .stderr
            .contains("which a run that was killed left behind"),
        is_left
    );
    assert!(
        names(&shelf).iter().all(|name| !name.starts_with('.')),
        "{left}"
    );
    assert_eq!(files(&shelf.join(&names(&shelf)[0])), first);
}

#[test]
fn leftovers_beside_a_folder_go_too() {
    let place = Place::new("file 1");
    let rest = place
        .tree
        .parent()
        .join(".statwalk-snapshot-00000000000000a7.tmp");
    fs::create_dir_all(rest.join("entries")).unwrap();
    fs::write(rest.join("entries/part-00000.parquet"), "PAR1").unwrap();
    let foreign = place
        .tree
        .parent()
        .join(".statwalk-snapshot-00000000000000a8.tmp");
    fs::create_dir(&foreign).unwrap();
    fs::write(foreign.join("mine"), "x").unwrap();
    let answer = place.run(&["-o", "out", "tree"]);
    assert_eq!(answer.code, Some(0));
    assert!(!rest.exists() && foreign.join("mine").exists());
    let told: Vec<&str> = answer.stderr.lines().collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].starts_with("statwalk: removed ") || told[1].starts_with("statwalk: removed "));
    // While a neighbour writes, nothing is removed: it could be the neighbour's.
    fs::create_dir(&rest).unwrap();
    let neighbour = File::open(place.tree.parent()).unwrap();
    flock(&neighbour, FlockOperation::LockShared).unwrap();
    place.run(&["-o", "out-2", "tree"]).good();
    assert!(rest.exists());
}

#[test]
fn a_full_disk_leaves_nothing() {
    let place = Place::new("file 1");
    place.store(&[]);
    let shelf = place.shelf();
    let before = files(&shelf);
    // No file may have more bytes: each write beyond fails.
    for limit in [0, 1, 2] {
        let program = env!("CARGO_BIN_EXE_statwalk");
        let line = format!("ulimit -f {limit}; exec {program} snapshot tree");
        let mut command = statwalk_testkit::program::command("sh");
        command.args(["-c", &line]).current_dir(place.tree.parent());
        let answer = Answer::of(command.env("XDG_DATA_HOME", place.data()));
        assert_eq!(answer.code, Some(2), "{limit}: {}", answer.stderr);
        assert!(
            answer.stderr.contains("file too large"),
            "{}",
            answer.stderr
        );
        assert!(answer.stdout.is_empty());
        assert_eq!(files(&shelf), before);
        assert_eq!(names(&shelf).len(), 1);
    }
}

#[test]
fn a_target_that_cannot_be_written_is_told_before_the_scan() {
    let tree = Tree::new("file 1\nlocked/");
    let mut command = or_skip!(as_ordinary_user(&tree));
    fs::set_permissions(tree.path().join("locked"), Permissions::from_mode(0o555)).unwrap();
    command.args(["snapshot", "-o", "tree/locked/out", "tree"]);
    let answer = Answer::of(command.env("XDG_DATA_HOME", tree.path().join("locked")));
    assert_eq!(answer.code, Some(2));
    assert!(
        answer.stderr.ends_with("permission denied\n"),
        "{}",
        answer.stderr
    );
    let mut command = or_skip!(as_ordinary_user(&tree));
    command.args(["snapshot", "tree"]);
    let answer = Answer::of(command.env("XDG_DATA_HOME", tree.path().join("locked")));
    assert_eq!(answer.code, Some(2));
    assert!(
        answer
            .stderr
            .starts_with("statwalk: cannot make the store "),
        "{}",
        answer.stderr
    );
    assert!(names(&tree.path().join("locked")).is_empty());
}

#[test]
fn a_store_that_is_a_link_leads_to_another_disk() {
    let place = Place::new("file 1");
    fs::create_dir_all(place.data()).unwrap();
    let disk = place.tree.parent().join("disk");
    fs::create_dir(&disk).unwrap();
    symlink(&disk, place.data().join("statwalk")).unwrap();
    let stored = place.store(&[]);
    assert!(
        stored.starts_with(disk.canonicalize().unwrap()),
        "{stored:?}"
    );
    assert_eq!(place.run(&["--list"]).good().lines().len(), 1);
}

#[test]
fn an_interrupted_scan_is_stored_on_request_alone() {
    let scratch = Scratch::new().unwrap();
    for (flags, is_stored) in [(&[][..], false), (&["--partial"], true)] {
        let mount = or_skip!(
            FaultFs::builder()
                .files("alive", 5, 1000)
                .dir("dead")
                .hang("dead", Op::Opendir, Hang::UntilSignal)
                .mount()
        );
        let mut command = statwalk();
        command
            .arg("snapshot")
            .args(flags)
            .arg(".")
            .current_dir(mount.path());
        command.env("XDG_DATA_HOME", scratch.path());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        assert!(mount.wait_for(LONG, |counts| counts.hanging == 1));
        wait_until_the_rest_is_read(&mount);
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        let answer = Answer::from(child.wait_with_output().unwrap());
        // It died of the signal.
        assert_eq!(answer.code, None, "{}", answer.stderr);
        let mut list = statwalk();
        list.args(["snapshot", "--list", "--json"]);
        let list = Answer::of(list.env("XDG_DATA_HOME", scratch.path()))
            .good()
            .json();
        let all = list["snapshots"].as_array().unwrap();
        assert_eq!(all.len(), usize::from(is_stored), "{}", answer.stderr);
        assert_eq!(
            !is_stored,
            answer.stderr.contains("nothing is stored"),
            "{}",
            answer.stderr
        );
        if is_stored {
            // Every answer from it says so, with the status of a lower bound.
            let name = format!("{}@last", all[0]["root"].as_str().unwrap());
            for words in [
                &["-s"][..],
                &["--json"],
                &["find"],
                &["top"],
                &["--width=200"],
            ] {
                let mut command = statwalk();
                command.args(words).arg(&name);
                let answer = Answer::of(command.env("XDG_DATA_HOME", scratch.path()));
                assert_eq!(answer.code, Some(1), "{words:?}");
                let stdout = String::from_utf8_lossy(&answer.stdout);
                let is_told = match words[0] {
                    "--width=200" => stdout.contains("nterrupted"),
                    "--json" => answer.json()["interrupted"] == true,
                    _ => answer
                        .stderr
                        .contains("the snapshot is of an interrupted scan"),
                };
                assert!(is_told, "{words:?} {stdout} {}", answer.stderr);
            }
            assert_eq!(all[0]["state"], "partial");
            assert!(all[0]["entries"].as_u64().unwrap() >= 7, "{list}");
        }
    }
}

#[test]
fn older_states_are_left_out_with_a_sentence() {
    let place = Place::new(
        ".snapshot/\n.snapshot/old 1\na/\na/.zfs/\na/.zfs/old 1\nb/\nb/.snapshot/\nc/\nc/.snapshot 5",
    );
    let answer = place.run(&["tree"]);
    assert_eq!(answer.code, Some(0));
    let root = place.tree.path().canonicalize().unwrap();
    let root = root.display();
    assert_eq!(
        answer.stderr,
        format!(
            "statwalk: left out 3 directories of older states: {root}/.snapshot, {root}/a/.zfs \
             … 1 more; to enter them: --include-snapshots\n"
        )
    );
    assert!(answer.lines()[0].starts_with("5\t"), "{:?}", answer.lines());
    let all = place.run(&["--include-snapshots", "tree"]).good();
    assert!(all.lines()[0].starts_with("10\t"), "{:?}", all.lines());
    // As a root it is asked for.
    place.run(&["tree/.snapshot"]).good();
}

#[test]
fn older_snapshots_go_by_age_and_by_size() {
    let place = Place::new("file 1");
    let folders: Vec<_> = (0..4).map(|_| place.store(&[])).collect();
    let answer = place.run(&["--keep", "1d", "tree", "--json"]).good().json();
    schema::check("snapshot", &answer);
    assert_eq!(answer["snapshot"]["removed"].as_array().unwrap().len(), 4);
    assert!(folders.iter().all(|folder| !folder.exists()));
    let newest = place.store(&["--keep-size", "1B"]);
    assert_eq!(
        names(&place.shelf()),
        [newest.file_name().unwrap().to_str().unwrap()]
    );
    // Those of another root stay.
    place
        .run(&["--keep", "1d", "--keep-size", "1B", "tree/file"])
        .good();
    assert_eq!(place.run(&["--list"]).good().lines().len(), 2);
    for (flags, why) in [
        (
            ["--keep", "7"],
            "invalid value '7' for --keep: must be numbers with d, w or m",
        ),
        (["--keep-size", "x"], "invalid value 'x' for --keep-size: "),
    ] {
        let answer = place.run(&[flags[0], flags[1], "tree"]);
        assert_eq!(answer.code, Some(2));
        assert!(answer.stderr.contains(why), "{}", answer.stderr);
    }
    assert_eq!(place.run(&["--list"]).good().lines().len(), 2);
}

#[test]
fn a_check_names_the_faults() {
    let place = Place::new("a/\na/file 1000\nb/\nb/other 2000");
    let folder = place.store(&[]);
    let folder_name = folder.to_str().unwrap();
    for name in ["tree@last", folder_name] {
        let answer = place.run(&["--check", name, "--json"]).good().json();
        schema::check("snapshot_check", &answer);
        assert_eq!(
            (&answer["entries"], &answer["dirs"]),
            (&5.into(), &3.into())
        );
        assert_eq!(answer["fault_count"], 0);
        let table = place.run(&["--check", name, "--width=300"]).good();
        let expected = "no fault in 5 entries and 3 directories.";
        assert!(table.lines()[0].ends_with(expected), "{:?}", table.lines());
        assert!(place.run(&["--check", name]).good().stdout.is_empty());
    }
    for (words, why) in [
        (&["--check"][..], "--check needs a snapshot"),
        (
            &["--check", "tree"],
            "cannot check tree: it names no snapshot",
        ),
        (&["--check", "tree@1"], "the store has 1 snapshot of "),
        (
            &["--check", "-x", "tree@last"],
            "--one-file-system is for a scan, and --check",
        ),
        (&["--check", "--list"], "cannot be used with"),
    ] {
        let answer = place.run(words);
        assert_eq!(answer.code, Some(2), "{words:?}");
        assert!(answer.stderr.contains(why), "{words:?}: {}", answer.stderr);
    }
    let table = folder.join("entries/part-00000.parquet");
    let mut bytes = fs::read(&table).unwrap();
    bytes[40] ^= 1;
    fs::write(&table, bytes).unwrap();
    let answer = place.run(&["--check", "tree@last", "--json"]);
    assert_eq!(answer.code, Some(1), "{}", answer.stderr);
    let document = answer.json();
    schema::check("snapshot_check", &document);
    assert!(document["fault_count"].as_u64().unwrap() > 0);
    let place_of_first = document["faults"][0]["place"].as_str().unwrap();
    assert!(place_of_first.contains("entries"), "{document}");
}

#[test]
fn a_damaged_snapshot_is_listed_as_such() {
    let place = Place::new("file 1");
    let [first, second] = [place.store(&[]), place.store(&[])];
    fs::write(first.join("_manifest.json"), "{").unwrap();
    let answer = place.run(&["--list", "--json"]);
    assert_eq!(answer.code, Some(1));
    let list = answer.json();
    schema::check("snapshot_list", &list);
    assert_eq!(list["snapshots"][1]["state"], "damaged");
    let table = place.run(&["--list", "--table"]);
    let text = String::from_utf8(table.stdout).unwrap();
    assert!(text.contains("cannot read"), "{text}");
    // It is no reason to stop, and stays.
    let answer = place.run(&["--keep", "1d", "tree"]);
    assert_eq!(answer.code, Some(0), "{}", answer.stderr);
    assert!(
        answer.stderr.starts_with("statwalk: cannot read "),
        "{}",
        answer.stderr
    );
    assert!(first.exists() && !second.exists());
}

#[test]
fn flags_without_a_meaning_are_refused() {
    let place = Place::new("file 1");
    for (arguments, why) in [
        (
            &["--list", "-x"][..],
            "--one-file-system is for a scan, and --list scans nothing",
        ),
        (&["--list", "--exclude=a"], "--exclude is for a scan"),
        (&["--list", "-l"], "--count-links is for a scan"),
        (&["--list", "--explain"], "--explain is for a scan"),
        (&["--list", "--keep", "7d"], "cannot be used with"),
        (&["--list", "-o", "out"], "cannot be used with"),
        (
            &["-o", "out", "--keep", "7d", "tree"],
            "cannot be used with",
        ),
        (
            &["nowhere"],
            "cannot open nowhere: no such file or directory",
        ),
        (&["tree", "tree"], "unexpected argument"),
    ] {
        let answer = place.run(arguments);
        assert_eq!(answer.code, Some(2), "{arguments:?}: {}", answer.stderr);
        assert!(
            answer.stderr.contains(why),
            "{arguments:?}: {}",
            answer.stderr
        );
    }
    assert!(!place.data().exists());
}

#[test]
fn unreadable_entries_are_stored_with_status_1() {
    let tree = Tree::new("locked/\nlocked/file 5\nopen/");
    let mut command = or_skip!(as_ordinary_user(&tree));
    fs::set_permissions(tree.path().join("locked"), Permissions::from_mode(0o000)).unwrap();
    let data = tree.parent().join("data");
    fs::create_dir(&data).unwrap();
    fs::set_permissions(&data, Permissions::from_mode(0o777)).unwrap();
    command
        .args(["snapshot", "tree", "--json"])
        .env("XDG_DATA_HOME", &data);
    let answer = Answer::of(&mut command);
    assert_eq!(answer.code, Some(1), "{}", answer.stderr);
    let document = answer.json();
    schema::check("snapshot", &document);
    assert_eq!(document["complete"], false);
    assert_eq!(document["snapshot"]["entries"], 3);
}

#[test]
fn hostile_names_have_a_place_in_the_store() {
    let tree = Tree::new("x 1");
    let long = "l".repeat(250);
    for name in [
        &b"\xff\n%2F\x1b"[..],
        b"..a",
        "ä".as_bytes(),
        long.as_bytes(),
    ] {
        let root = tree.path().join(std::ffi::OsStr::from_bytes(name));
        fs::create_dir_all(root.join(&long)).unwrap();
        let mut command = statwalk();
        command.arg("snapshot").arg(root.join(&long));
        let answer = Answer::of(command.env("XDG_DATA_HOME", tree.parent()));
        assert_eq!(answer.code, Some(0), "{name:?}: {}", answer.stderr);
    }
    let mut command = statwalk();
    command.args(["snapshot", "--list", "--json"]);
    let list = Answer::of(command.env("XDG_DATA_HOME", tree.parent()))
        .good()
        .json();
    schema::check("snapshot_list", &list);
    assert_eq!(list["snapshots"].as_array().unwrap().len(), 4);
}
