// SPDX-License-Identifier: MIT OR Apache-2.0

//! `statwalk df`: a file system that disagrees in all ways at once, seen by root and by a
//! user without rights.

use std::fs::{self, File, Permissions};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::thread;

use serde_json::Value;
use statwalk_testkit::fault_fs::{FaultFs, Hang, Op};
use statwalk_testkit::mounts::{self, FileSystem};
use statwalk_testkit::{Scratch, Skipped, or_skip, program};

use crate::run::{Answer, LONG, Tree, as_ordinary_user, statwalk};
use crate::schema;

fn bytes(found: &Value, part: &str) -> Option<i64> {
    let mut parts = found["parts"].as_array().unwrap().iter();
    parts.find(|row| row["part"] == part)?["bytes"].as_i64()
}

/// The only file system of an answer, whose parts must add up.
#[track_caller]
fn only(document: &Value) -> &Value {
    schema::check("df", document);
    let all = document["file_systems"].as_array().unwrap();
    assert_eq!(all.len(), 1, "{document:#}");
    let sum: i64 = all[0]["parts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["bytes"].as_i64().unwrap())
        .sum();
    assert_eq!(Some(sum), all[0]["used_bytes"].as_i64(), "{document:#}");
    &all[0]
}

#[test]
fn df_explains_a_file_system_that_disagrees() {
    let tree = Tree::new("mount/");
    let at = tree.path().join("mount");
    let mounted = or_skip!(FileSystem::Ext4.mount(&at));
    fs::write(at.join("plain"), vec![7; 20 << 20]).unwrap();
    // A name that would move the cursor, and looks as if it were deleted.
    let hostile = at.join("\u{1b}[2J (deleted)");
    fs::write(&hostile, vec![7; 5 << 20]).unwrap();
    let gone = File::open(&hostile).unwrap();
    fs::remove_file(&hostile).unwrap();
    fs::write(at.join("kept (deleted)"), vec![7; 1 << 20]).unwrap();
    let kept = File::open(at.join("kept (deleted)")).unwrap();
    let below = at.join("below");
    fs::create_dir(&below).unwrap();
    fs::write(below.join("hidden"), vec![7; 9 << 20]).unwrap();
    let locked = at.join("locked");
    fs::create_dir(&locked).unwrap();
    fs::write(locked.join("secret"), vec![7; 3 << 20]).unwrap();
    fs::set_permissions(&locked, Permissions::from_mode(0o000)).unwrap();
    mounted.settle().unwrap();
    let other = Scratch::new().unwrap();
    let _first = or_skip!(mounts::bind(other.path(), &below));
    // A mount on a mount.
    let _second = or_skip!(mounts::bind(other.path(), &below));

    // The same file system twice counts once, and a path within it is as good.
    let document = tree
        .run(&["df", "--json", "tree/mount/plain", "tree/mount"])
        .good()
        .json();
    let found = only(&document);
    assert_eq!(document["complete"], true, "{document:#}");
    assert_eq!(found["file_system"], "ext4");
    assert!(found["path"].as_str().unwrap().ends_with("/tree/mount"));
    assert_eq!(bytes(found, "deleted-open"), Some(5 << 20));
    assert_eq!(
        bytes(found, "hidden-by-mounts").map(|bytes| bytes >> 20),
        Some(9)
    );
    assert_eq!(bytes(found, "remainder"), Some(0), "{document:#}");
    let hidden = found["hidden"].as_array().unwrap();
    assert_eq!(hidden.len(), 1, "{document:#}");
    assert_eq!(hidden[0]["entries"], 1);
    let point = hidden[0]["path"].as_str().unwrap();
    assert!(point.ends_with("/tree/mount/below"), "{point}");
    let unnamed = found["unnamed"].as_array().unwrap();
    assert_eq!(unnamed.len(), 1, "{document:#}");
    assert_eq!(unnamed[0]["holders"][0]["pid"], std::process::id());

    for width in ["80", "40"] {
        let told = tree.run(&["df", "--width", width, "tree/mount"]).good();
        let lines = told.lines();
        assert!(
            lines
                .iter()
                .all(|line| line.chars().count() <= width.parse().unwrap()),
            "{lines:#?}"
        );
        let text = lines.join("\n");
        assert!(
            text.contains("hidden below mount points") && text.contains("5.00 MiB"),
            "{text}"
        );
        assert!(!text.contains('\u{1b}'), "{text}");
        // One base: the free and the used bytes are the whole.
        assert!(text.contains(" = 100 %") || width == "40", "{text}");
        let joined = text.replace('\n', " ");
        assert!(joined.contains("HIDDEN BELOW"), "{text}");
        let commands = "/tree/mount /mnt; statwalk /mnt/below; umount /mnt";
        assert!(joined.contains(commands), "{text}");
    }
    // "df has no room on 40 columns and 10 rows, and scrolls its title away."
    let mut small = statwalk();
    small.current_dir(tree.parent()).env("LINES", "10");
    let told = Answer::of(small.args(["df", "--width", "40", "tree/mount"])).good();
    let lines = told.lines();
    assert!(lines.len() < 10, "{lines:#?}");
    assert!(lines.iter().all(|line| line.chars().count() <= 40));
    let text = lines.join("\n");
    for words in ["used, of this:", "hidden below", "--table | less"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let told = tree.run(&["df", "tree/mount"]).good();
    let rows = told.lines();
    let row = format!("{}\tdeleted-open\t", 5 << 20);
    assert!(rows.iter().any(|line| line.starts_with(&row)), "{rows:#?}");

    // The default view of the whole points here; the one of a part does not, nor one that
    // enters other file systems.
    let pointer = |words: &[&str]| {
        let told = tree.run(words).good();
        told.lines()
            .join(" ")
            .contains("statwalk df tree/mount tells where")
    };
    assert!(pointer(&["--table", "-x", "tree/mount"]));
    assert!(!pointer(&["--table", "tree/mount"]));
    assert!(!pointer(&["--table", "-x", "-A", "tree/mount"]));
    assert!(!pointer(&["--table", "-x", "tree/mount/locked"]));

    // A user without rights gets the first part, the remainder and the reasons.
    let mut command = or_skip!(as_ordinary_user(&tree));
    let answer = Answer::of(command.args(["df", "--json", "tree/mount"]));
    assert_eq!(answer.code, Some(1));
    let document = answer.json();
    let found = only(&document);
    assert_eq!(document["complete"], false);
    assert_eq!(
        found["unreadable"], 2,
        "locked and lost+found: {document:#}"
    );
    assert_eq!(bytes(found, "hidden-by-mounts"), None);
    assert!(
        bytes(found, "remainder").unwrap() >= 12 << 20,
        "{document:#}"
    );
    assert_eq!(bytes(found, "metadata"), None, "{document:#}");
    let unknown = found["unknown"].to_string();
    for words in ["CAP_SYS_ADMIN", "CAP_SYS_PTRACE", "\"metadata\""] {
        assert!(unknown.contains(words), "{unknown}");
    }
    drop((gone, kept));
}

/// "df says that mounts hide bytes, and not which, nor how to see them." The commands of
/// the sentence show exactly these bytes, whatever the names are.
#[test]
fn the_commands_show_the_hidden_bytes() {
    let tree = Tree::new("mount/");
    let at = tree.path().join("mount");
    let mounted = or_skip!(FileSystem::Ext4.mount(&at));
    let below = at.join("it's a\ttrap");
    fs::create_dir_all(&below).unwrap();
    fs::create_dir(at.join("empty")).unwrap();
    fs::write(below.join("hidden"), vec![7; 2 << 20]).unwrap();
    mounted.settle().unwrap();
    let other = Scratch::new().unwrap();
    let _first = or_skip!(mounts::bind(other.path(), &below));
    let _second = or_skip!(mounts::bind(other.path(), &at.join("empty")));
    let told = tree.run(&["df", "--width", "200", "tree/mount"]).good();
    let lines = told.lines();
    let line = lines
        .iter()
        .find_map(|line| line.strip_prefix("To look below: "));
    let commands = line.unwrap_or_else(|| panic!("{lines:#?}"));
    // The empty directory hides nothing.
    let rows = lines.iter().filter(|line| line.contains("/tree/mount/"));
    assert_eq!(rows.count(), 1, "{lines:#?}");
    // In a mount namespace of its own, so that no other test sees /mnt.
    let path = std::path::Path::new(env!("CARGO_BIN_EXE_statwalk"))
        .parent()
        .unwrap();
    let shown = Command::new("unshare")
        .args(["--mount", "bash", "-ec", commands])
        .env(
            "PATH",
            format!("{}:/usr/sbin:/usr/bin:/sbin:/bin", path.display()),
        )
        .output()
        .unwrap();
    let text = String::from_utf8(shown.stdout).unwrap();
    let bytes: u64 = text
        .lines()
        .last()
        .unwrap()
        .split('\t')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    assert_eq!(bytes >> 20, 2, "{commands}: {text}");
}

/// "df alone shows the file system of the working directory; I wanted all of them."
#[test]
fn without_a_path_all_file_systems_are_explained() {
    let tree = Tree::new("mount/");
    let at = tree.path().join("mount");
    let mounted = or_skip!(FileSystem::Ext4.mount(&at));
    fs::write(at.join("plain"), vec![7; 20 << 20]).unwrap();
    mounted.settle().unwrap();
    let document = tree.run(&["df", "--json"]).json();
    schema::check("df", &document);
    let all = document["file_systems"].as_array().unwrap();
    let points: Vec<_> = all
        .iter()
        .map(|one| one["path"].as_str().unwrap())
        .collect();
    assert!(
        points.iter().any(|point| point.ends_with("/tree/mount")),
        "{points:?}"
    );
    let told = tree.run(&["df", "--width", "80"]);
    let lines = told.lines();
    assert!(lines[0].contains("USED  SHARE"), "{lines:#?}");
    let blank = lines.iter().position(|line| line.is_empty()).unwrap();
    let has = |lines: &[&str], words: &str| lines.join(" ").contains(words);
    assert!(has(&lines[..blank], "/tree/mount"), "{lines:#?}");
    assert!(has(&lines[blank..], "/tree/mount:"), "{lines:#?}");
    assert!(has(&lines[blank..], "reached by the scan"), "{lines:#?}");
    let mut small = statwalk();
    small.current_dir(tree.parent()).env("LINES", "10");
    let told = Answer::of(small.args(["df", "--width", "40"]));
    let lines = told.lines();
    assert!(lines.len() < 10, "{lines:#?}");
    assert_eq!(lines.last(), Some(&"Explain one: statwalk df PATH"));
}

#[test]
fn df_refuses_paths_without_an_answer() {
    let tree = Tree::new("file 5");
    let told = tree.run(&["df", "nowhere", "--json", "tree"]);
    assert_eq!(told.code, Some(2));
    only(&told.json());
    // No size, and no scan of all processes.
    let none = tree.run(&["df", "--table", "/proc"]);
    assert!(
        none.lines()
            .join("\n")
            .contains("tells no size of this file system")
    );
    assert_eq!(none.code, Some(0));
}

/// File systems of FUSE whose statfs has zeros: a number that nobody read is unknown.
#[test]
fn df_reaches_nothing_where_it_scans_nothing() {
    let fs = FaultFs::builder().file("dir/file", 100_000);
    let mount = or_skip!(fs.mount());
    let told = statwalk().args(["df", "--json"]).arg(mount.path()).output();
    let document = Answer::from(told.unwrap()).json();
    let found = only(&document);
    assert_eq!(bytes(found, "reached"), None);
    assert_eq!(bytes(found, "remainder"), Some(0));
    assert_eq!(found["unknown"][0]["part"], "reached");
}

/// A dead file system is named, and holds up no scan that does not enter it.
#[test]
fn a_dead_file_system_holds_up_nobody() {
    let fs = FaultFs::builder().dir("below");
    let dead = or_skip!(fs.hang("", Op::Getattr, Hang::UntilReleased).mount());
    let tree = Tree::new("at/\nfile 5");
    let at = tree.path().join("at");
    let bound = or_skip!(mounts::bind(dead.path(), &at));
    let told = tree.run(&["-x", "tree", "--json"]);
    assert_eq!((told.code, told.stderr.as_str()), (Some(0), ""));
    let mut command = statwalk();
    command.args(["df", "tree/at"]).current_dir(tree.parent());
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = program::spawn(&mut command);
    let mut message = String::new();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let status = thread::scope(|scope| {
        let (told, is_told) = channel::<()>();
        // The kernel keeps the program until such a server takes back its request.
        let dead = &dead;
        scope.spawn(move || {
            let _ = is_told.recv_timeout(LONG);
            dead.release();
        });
        stderr.read_line(&mut message).unwrap();
        drop(told);
        child.wait().unwrap()
    });
    assert_eq!(status.code(), Some(2));
    assert!(message.contains("tree/at: no answer for 10 s"), "{message}");
    drop(bound);
}

/// In every container `df` ended with status 2, and told the user to try a path that
/// exists only outside.
#[test]
fn an_overlay_has_the_space_of_its_upper_layer() {
    let tree = Tree::new("lower/\nupper/\nwork/\nat/");
    let [lower, upper, work, at] =
        ["lower", "upper", "work", "at"].map(|name| tree.path().join(name));
    fs::write(lower.join("below"), vec![7; 4 << 20]).unwrap();
    fs::write(upper.join("above"), vec![7; 2 << 20]).unwrap();
    let _mounted = or_skip!(mounts::overlay(&at, &lower, &upper, &work));
    let document = tree.run(&["df", "--json", "tree/at"]).good().json();
    let found = only(&document);
    assert_eq!(found["file_system"], "overlay");
    let whole = rustix::fs::statvfs(&upper).unwrap();
    let total = whole.f_blocks * whole.f_frsize;
    assert_eq!(found["total_bytes"], total, "{document:#}");
    assert_eq!(bytes(found, "reached"), None, "{document:#}");
    assert_eq!(bytes(found, "remainder"), found["used_bytes"].as_i64());
    assert_eq!(document["complete"], false);
    let told = tree
        .run(&["df", "--table", "--width", "300", "tree/at"])
        .good();
    let text = told.lines().join("\n");
    assert!(
        text.contains("/upper") && text.contains("6.00 MiB"),
        "{text}"
    );
}

#[test]
fn a_full_device_is_a_failure() {
    let full = File::options().write(true).open("/dev/full").unwrap();
    let mut command = statwalk();
    let ended = command
        .args(["df", "/proc"])
        .stdout(full)
        .stderr(std::process::Stdio::null())
        .status()
        .unwrap();
    assert_eq!(ended.code(), Some(2));
}

/// A file system without a free inode had "free 99 %", and no word of inodes.
#[test]
fn df_tells_of_inodes() {
    let tree = Tree::new("mount/\nbtrfs/");
    let at = tree.path().join("mount");
    let mounted = or_skip!(FileSystem::Tmpfs.mount(&at));
    let remounted = Command::new("mount")
        .args(["-o", "remount,nr_inodes=20"])
        .arg(&at)
        .status();
    if !remounted.is_ok_and(|status| status.success()) {
        return Skipped::needs("mount(8)").report();
    }
    let table = || {
        let answer = tree.run(&["df", "--table", "tree/mount"]).good();
        let text = String::from_utf8(answer.stdout).unwrap();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert!(
        table().contains("Inodes: 1 of 20 in use, 5 %."),
        "{}",
        table()
    );
    for number in 1..20 {
        File::create(at.join(number.to_string())).unwrap();
    }
    assert!(File::create(at.join("more")).is_err());
    let sentence = "Inodes: 20 of 20 in use, 100 %; none is free, so it takes no new file.";
    assert!(table().contains(sentence), "{}", table());
    let document = tree.run(&["df", "--json", "tree/mount"]).good().json();
    let found = only(&document);
    assert_eq!(
        (&found["used_inodes"], &found["total_inodes"]),
        (&20.into(), &20.into())
    );
    mounted.unmount().unwrap();
    // A btrfs has as many as it needs, and says 0 of both.
    let at = tree.path().join("btrfs");
    let _mounted = or_skip!(FileSystem::Btrfs.mount(&at));
    let answer = tree.run(&["df", "--table", "tree/btrfs"]).good();
    let text = String::from_utf8(answer.stdout).unwrap();
    assert!(
        text.contains("Inodes: the kernel tells no number of this file system."),
        "{text}"
    );
    let document = tree.run(&["df", "--json", "tree/btrfs"]).good().json();
    assert_eq!(only(&document).get("total_inodes"), None);
}
