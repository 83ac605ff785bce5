// SPDX-License-Identifier: MIT OR Apache-2.0

//! Where metadata comes from: images and devices, and when they are refused.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;

use rustix::io::Errno;
use statwalk_testkit::fault_fs::{FaultFs, Op, When};
use statwalk_testkit::mounts::{FileSystem, bind, ext4_image};
use statwalk_testkit::{Skipped, or_skip, trees};

use crate::picture::on_terminal;
use crate::run::{Answer, Tree, as_ordinary_user, statwalk};

/// What `--json` says of the first root, without its path.
fn totals(answer: &Answer) -> serde_json::Value {
    let mut root = answer.json()["roots"][0].clone();
    root.as_object_mut().unwrap().remove("path");
    root
}

#[test]
fn an_image_shows_what_it_was_made_from() {
    let tree = Tree::of(&trees::hard_links());
    let image = tree.parent().join("image");
    or_skip!(ext4_image(&image, 64 << 20, &[], Some(&tree.path())));
    let by_image = tree
        .run(&["-s", "--json", "--source", "ext4", "image"])
        .good();
    let by_kernel = tree.run(&["-s", "--json", "tree"]).good();
    // mke2fs adds a directory of its own, lays files out anew, and makes two of
    // a symbolic link with two names.
    for (name, more) in [("files", 0), ("symlinks", 0), ("dirs", 1), ("entries", 1)] {
        let count = |answer: &Answer| totals(answer)[name].as_u64().unwrap();
        assert_eq!(count(&by_image), count(&by_kernel) + more, "{name}");
    }
    assert_eq!(
        totals(&by_image)["file_size_bytes"],
        totals(&by_kernel)["file_size_bytes"]
    );
    assert_eq!(by_image.json()["plan"]["source"], "ext4");
    // Every command reads it.
    let found = tree.run(&["find", "--source", "ext4", "image"]).good();
    let entries = totals(&by_image)["entries"].as_u64().unwrap();
    assert_eq!(found.lines().len() as u64, entries - 1);
    // Without the flag it is a file.
    let as_file = tree.run(&["-s", "--json", "image"]).good();
    assert_eq!(totals(&as_file)["entries"], 1);
    let told = tree.run(&["-s", "--explain", "--source", "ext4", "image"]);
    assert!(told.stderr.contains("source   ext4"), "{}", told.stderr);
}

#[test]
fn what_is_no_image_is_named() {
    let tree = Tree::new("x 9000");
    let refused = tree.run(&["--source", "ext4", "tree/x"]);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    for word in ["tree/x", "no ext2, ext3 or ext4 superblock"] {
        assert!(refused.stderr.contains(word), "{}", refused.stderr);
    }
    let refused = tree.run(&["--source", "ext4", "/proc/self"]);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(refused.stderr.contains("/proc"), "{}", refused.stderr);
}

/// To open a FIFO waits for a writer, and what a character device does is its own
/// affair: the scan did not begin, and no signal ended it.
#[test]
fn what_holds_no_bytes_is_refused_and_not_opened() {
    let tree = Tree::new("x 9000\nfifo fifo\nlink -> fifo");
    let _socket = UnixListener::bind(tree.path().join("socket")).unwrap();
    for (path, what) in [
        ("tree/fifo", "a named pipe"),
        ("tree/link", "a named pipe"),
        ("tree/socket", "a socket"),
        ("/dev/zero", "a character device"),
    ] {
        for command in [&["-s"][..], &["find"], &["extents"]] {
            let mut arguments = command.to_vec();
            arguments.extend(["--source", "ext4", path]);
            let answer = tree.run(&arguments);
            assert_eq!(answer.code, Some(2), "{arguments:?}: {}", answer.stderr);
            assert_eq!(
                answer.stderr,
                format!(
                    "statwalk: cannot open {path}: {what} holds no file system; \
                     try a regular file or a block device\n"
                )
            );
        }
    }
}

#[test]
fn what_an_image_cannot_give_is_refused() {
    let tree = Tree::of(&trees::basic());
    let image = tree.parent().join("image");
    or_skip!(ext4_image(&image, 64 << 20, &[], Some(&tree.path())));
    for (flag, expected) in [
        ("-L", "links in an image"),
        ("--gitignore", "files in an image"),
        ("--exclude-caches", "files in an image"),
    ] {
        let answer = tree.run(&["-s", "--source", "ext4", flag, "image"]);
        assert_eq!(answer.code, Some(2), "{flag}: {}", answer.stderr);
        assert!(answer.stderr.contains(expected), "{}", answer.stderr);
    }
    // A pattern needs names alone.
    let whole = tree
        .run(&["-s", "--json", "--source", "ext4", "image"])
        .good();
    let less = tree.run(&["-s", "--json", "--source", "ext4", "--exclude=*a*", "image"]);
    let count = |answer: &Answer, name: &str| totals(answer)[name].as_u64().unwrap();
    assert!(count(&less, "excluded") > 0);
    assert!(count(&less, "entries") < count(&whole, "entries"));
}

#[test]
fn a_btrfs_tells_what_changed_since() {
    let tree = Tree::new("x 9000");
    let at = tree.parent().join("at");
    std::fs::create_dir(&at).unwrap();
    let _mounted = or_skip!(FileSystem::Btrfs.mount(&at));
    if let Ok(mut ordinary) = as_ordinary_user(&tree) {
        let refused = Answer::of(ordinary.args(["--source", "btrfs", "at"]));
        let remedy = "(needs root, with CAP_SYS_ADMIN)\n";
        assert!(refused.stderr.ends_with(remedy), "{}", refused.stderr);
    }
    let refused = tree.run(&["--source", "ext4", "at"]);
    let reason = "is btrfs; the source ext4 needs ext2, ext3 or ext4\n";
    assert!(refused.stderr.ends_with(reason), "{}", refused.stderr);
    std::fs::create_dir(at.join("dir")).unwrap();
    std::fs::write(at.join("dir/old"), b"1").unwrap();
    std::fs::write(at.join("dir/gone"), b"1").unwrap();
    let scanned = tree
        .run(&["-s", "--json", "--source", "btrfs", "at"])
        .good();
    let generation = scanned.json()["plan"]["generation"].to_string();
    let refused = tree.run(&["-s", "--no-sync", "--source", "btrfs", "at"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("synced"), "{}", refused.stderr);
    std::fs::write(at.join("dir/n\u{e4}w\n"), vec![1; 5000]).unwrap();
    std::fs::remove_file(at.join("dir/gone")).unwrap();

    let told = tree.run(&["changes", "at", "--since", &generation]);
    assert_eq!(told.code, Some(0), "{}", told.stderr);
    assert_eq!(
        told.stdout,
        "inode\t0\tat/dir\nname\t8192\tat/dir/n\u{e4}w\n\n".as_bytes()
    );
    assert!(told.stderr.contains("next time, use --since "));
    // The UUID is part of it, and taken back.
    let next = told.stderr.trim_end().rsplit(' ').next().unwrap();
    let uuid = scanned.json()["plan"]["uuid"].as_str().unwrap().to_owned();
    assert!(next.starts_with(&format!("{uuid}:")), "{next}");
    tree.run(&["changes", "--json", "at", "--since", next])
        .good();
    let other = uuid.replace(|digit: char| digit.is_ascii_hexdigit(), "5");
    for (since, reason) in [
        ("999999".to_owned(), "made anew"),
        (format!("{other}:1"), "another file system"),
    ] {
        let refused = tree.run(&["changes", "at", "--since", &since]);
        assert_eq!(refused.code, Some(2), "{since}");
        assert!(refused.stderr.contains(reason), "{}", refused.stderr);
    }
    let told = tree
        .run(&["changes", "--since", &generation, "--json", "at"])
        .good();
    let json = told.json();
    assert_eq!(json["since"].to_string(), generation);
    let [dir, file] = json["changes"].as_array().unwrap().as_slice() else {
        panic!("{json}");
    };
    assert_eq!(
        (&dir["path"], &dir["new"]),
        (&"at/dir".into(), &"inode".into())
    );
    let mut names: Vec<_> = dir["names"]
        .as_array()
        .unwrap()
        .iter()
        .map(|n| &n["name"])
        .collect();
    names.sort_by_key(|name| name.to_string());
    assert_eq!(names, ["n\u{e4}w\n", "old"]);
    assert_eq!(
        (&file["type"], &file["apparent_bytes"]),
        (&"f".into(), &5000.into())
    );
    let next = json["generation"].to_string();
    let nothing = tree
        .run(&["changes", "--since", &next, "--json", "at"])
        .good();
    assert_eq!(nothing.json()["changes"], serde_json::json!([]));
}

#[test]
fn extents_tell_what_deleting_frees() {
    let tree = Tree::of(&trees::basic());
    let refused = tree.run(&["extents", "tree"]);
    assert_eq!(
        refused.code,
        Some(2),
        "{}",
        String::from_utf8_lossy(&refused.stdout)
    );
    assert!(
        refused.stderr.contains("lies on no btrfs"),
        "{}",
        refused.stderr
    );
    let at = tree.parent().join("at");
    std::fs::create_dir(&at).unwrap();
    let _mounted = or_skip!(FileSystem::Btrfs.mount(&at));
    let bytes: Vec<u8> = (0..40_960_u32)
        .map(|number| (number.wrapping_mul(number) >> 7) as u8)
        .collect();
    for (name, size) in [("small", 4096), ("large/in", 40_960), ("cloned", 8192)] {
        std::fs::create_dir_all(at.join(name)).unwrap();
        std::fs::write(at.join(name).join("file"), &bytes[..size]).unwrap();
    }
    let clone = std::fs::File::create(at.join("clone")).unwrap();
    let from = std::fs::File::open(at.join("cloned/file")).unwrap();
    rustix::fs::ioctl_ficlone(&clone, &from).unwrap();

    let told = tree.run(&["extents", "at"]).good();
    let rows = "40960\t40960\t40960\tat/large\n8192\t0\t8192\tat/cloned\n\
        4096\t4096\t4096\tat/small\n53248\t53248\t61440\tat\n";
    assert_eq!(told.stdout, rows.as_bytes());
    let told = tree.run(&[
        "extents", "-d", "2", "-n", "2", "--sort", "name", "-r", "at",
    ]);
    let rows = "4096\t4096\t4096\tat/small\n40960\t40960\t40960\tat/large\n";
    assert_eq!(told.good().stdout, rows.as_bytes());
    let told = tree.run(&["extents", "-s", "--json", "at"]).good();
    let extents = &told.json()["extents"];
    assert_eq!(extents["exclusive_bytes"], 53_248);
    assert_eq!(extents["shared_bytes"], 0);
    assert_eq!(extents["compression"][0]["compression"], "none");
    assert_eq!(extents["compression"][0]["extents"], 3);
    assert_eq!(extents["tree"].as_array().unwrap().len(), 1);
    assert!(extents["file_systems"][0]["generation"].as_u64().unwrap() > 0);
    let told = tree.run(&["extents", "at", "nowhere"]);
    assert_eq!(told.code, Some(2));
    assert!(told.stderr.contains("nowhere"), "{}", told.stderr);
}

/// The rows had no mark where something below could not be read.
#[test]
fn extents_mark_directories_that_lack_something() {
    let tree = Tree::of(&trees::basic());
    let at = tree.parent().join("at");
    std::fs::create_dir(&at).unwrap();
    let btrfs = or_skip!(FileSystem::Btrfs.mount(&at));
    for name in ["a", "a.b", "b"] {
        std::fs::create_dir(at.join(name)).unwrap();
        std::fs::write(at.join(name).join("file"), vec![7; 8192]).unwrap();
    }
    std::fs::create_dir(at.join("a/broken")).unwrap();
    let broken = FaultFs::builder().dir("dir");
    let broken = broken.fail("dir", Op::Opendir, Errno::IO, When::Always);
    let broken = or_skip!(broken.mount());
    let bound = or_skip!(bind(broken.path(), &at.join("a/broken")));
    let mut command = statwalk();
    command.args(["extents", "at", "--color=never"]);
    let text = on_terminal(command.current_dir(tree.parent()), 80, 24);
    for (path, is_marked) in [
        ("at", true),
        ("at/a", true),
        ("at/a.b", false),
        ("at/b", false),
    ] {
        let mark = if is_marked { " (incomplete)" } else { "" };
        let row = format!("  {path}{mark}\n");
        assert!(text.contains(&row), "{path}: {text}");
    }
    let json = tree.run(&["extents", "--json", "at"]).json();
    let rows = json["extents"]["tree"].as_array().unwrap();
    let marks: Vec<_> = (rows.iter())
        .map(|row| (row["path"].as_str().unwrap(), row["incomplete"].as_bool()))
        .collect();
    assert_eq!(marks.len(), 4, "{json}");
    for (path, mark) in marks {
        assert_eq!(mark, Some(matches!(path, "at" | "at/a")), "{path}");
    }
    bound.unmount().unwrap();
    btrfs.unmount().unwrap();
}

#[test]
fn an_ordinary_user_reads_images_of_its_own_and_no_device() {
    let tree = Tree::of(&trees::basic());
    let image = tree.parent().join("image");
    or_skip!(ext4_image(&image, 64 << 20, &[], Some(&tree.path())));
    std::fs::set_permissions(&image, std::fs::Permissions::from_mode(0o644)).unwrap();
    let mut program = or_skip!(as_ordinary_user(&tree));
    let answer = Answer::of(program.args(["-s", "--json", "--source", "ext4", "image"]));
    assert_eq!(answer.code, Some(0), "{}", answer.stderr);
    assert!(totals(&answer)["entries"].as_u64().unwrap() > 1);
    let mut program = or_skip!(as_ordinary_user(&tree));
    let answer = Answer::of(program.args(["-s", "--source", "ext4", "tree"]));
    assert_eq!(answer.code, Some(2), "{}", answer.stderr);
    assert!(answer.stderr.contains("tree"), "{}", answer.stderr);
}

/// Whether a program here runs as its owner, and that is not who starts it.
fn honours_set_uid(tree: &Tree) -> Result<(), Skipped> {
    let found = rustix::fs::statvfs(tree.parent()).unwrap();
    if found.f_flag.contains(rustix::fs::StatVfsMountFlags::NOSUID) {
        return Err(Skipped::needs("a temporary directory without nosuid"));
    }
    match rustix::process::geteuid().is_root() {
        true => Ok(()),
        false => Err(Skipped::needs("root")),
    }
}

#[test]
fn a_set_uid_program_lends_its_eyes_to_nobody() {
    let tree = Tree::of(&trees::basic());
    let image = tree.parent().join("image");
    or_skip!(ext4_image(&image, 64 << 20, &[], Some(&tree.path())));
    or_skip!(honours_set_uid(&tree));
    let mut program = or_skip!(as_ordinary_user(&tree));
    let copy = std::path::PathBuf::from(program.get_program());
    std::fs::set_permissions(&copy, std::fs::Permissions::from_mode(0o4755)).unwrap();
    let answer = Answer::of(program.args(["-s", "--source", "ext4", "image"]));
    assert_eq!(answer.code, Some(2), "{}", answer.stderr);
    assert!(answer.stderr.contains("set-uid"), "{}", answer.stderr);
}
