// SPDX-License-Identifier: MIT OR Apache-2.0

//! Kernels without openat2 (before Linux 5.6), without mount ids (before 5.8) and without
//! statx (before 4.11), and containers that forbid these calls, as strace makes them.

use std::path::Path;

use statwalk_testkit::mounts::{FileSystem, bind, btrfs_subvolume};
use statwalk_testkit::naive::{self, Options};
use statwalk_testkit::{Skipped, or_skip, program, trees};

use crate::run::{Answer, Tree};

/// What a kernel lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kernel {
    /// openat2 is forbidden to a container.
    WithoutOpenat2,
    /// Linux 5.6 and 5.7.
    WithoutMountIds,
    /// statx is forbidden to a container.
    WithoutStatx,
    /// Before Linux 5.6.
    WithoutBoth,
    /// Before Linux 4.11, and old filters of system calls.
    WithoutStatxAndOpenat2,
}

const KERNELS: [Kernel; 5] = [
    Kernel::WithoutOpenat2,
    Kernel::WithoutMountIds,
    Kernel::WithoutStatx,
    Kernel::WithoutBoth,
    Kernel::WithoutStatxAndOpenat2,
];

/// Those that notice mounts of one device, and those that do not.
const NOTICING: &[Kernel] = KERNELS.split_at(3).0;
const BLIND: &[Kernel] = KERNELS.split_at(3).1;

impl Kernel {
    fn has_openat2(self) -> bool {
        matches!(self, Kernel::WithoutMountIds | Kernel::WithoutStatx)
    }

    fn has_statx(self) -> bool {
        !matches!(self, Kernel::WithoutStatx | Kernel::WithoutStatxAndOpenat2)
    }

    fn has_mount_ids(self) -> bool {
        self == Kernel::WithoutOpenat2
    }

    /// What strace changes.
    fn injections(self) -> &'static [&'static str] {
        // struct statx begins with stx_mask (STATX_BASIC_STATS alone, so no
        // STATX_MNT_ID), stx_blksize and stx_attributes, which had no
        // STATX_ATTR_MOUNT_ROOT either.
        const NO_MOUNT_IDS: &str = "inject=statx:poke_exit=@arg5=ff070000001000000000000000000000";
        match self {
            Kernel::WithoutOpenat2 => &["-e", "inject=openat2:error=EPERM"],
            Kernel::WithoutMountIds => &["-e", NO_MOUNT_IDS],
            Kernel::WithoutStatx => &["-e", "inject=statx:error=EPERM"],
            Kernel::WithoutBoth => &["-e", NO_MOUNT_IDS, "-e", "inject=openat2:error=ENOSYS"],
            Kernel::WithoutStatxAndOpenat2 => &["-e", "inject=statx,openat2:error=ENOSYS"],
        }
    }

    /// Runs the program there.
    fn run(self, arguments: &[&str], path: &Path) -> Result<Answer, Skipped> {
        let home = Tree::new("x 0");
        let mut command = program::command("strace");
        if command.arg("--version").output().is_err() {
            return Err(Skipped::needs("strace"));
        }
        let mut command = program::command("strace");
        command
            .args(["-f", "-o", "/dev/null", "-e", "trace=openat2,statx"])
            .args(self.injections())
            .arg(env!("CARGO_BIN_EXE_statwalk"))
            .args(arguments)
            .arg(path);
        let answer = Answer::of(command.current_dir(home.parent()));
        if answer.stderr.contains("ptrace") {
            return Err(Skipped::needs("ptrace"));
        }
        Ok(answer)
    }

    /// What `--json` says of the tree.
    fn totals(self, path: &Path, flags: &[&str]) -> Result<serde_json::Value, Skipped> {
        let arguments = [&["-s", "--json"], flags].concat();
        let mut json = self.run(&arguments, path)?.good().json();
        Ok(json["roots"][0].take())
    }
}

/// The oracle's answer in the words of `--json`.
fn expected(path: &Path, stays: bool, counts_only: bool) -> serde_json::Value {
    let options = Options {
        one_file_system: stays,
        count_links: false,
        follow: false,
        include_kernfs: false,
        exclude: None,
    };
    let counts = naive::scan_with(&[path], &options).unwrap().total();
    let mut told = serde_json::json!({
        "path": path,
        "entries": counts.entries,
        "files": counts.files,
        "dirs": counts.dirs,
        "symlinks": counts.symlinks,
        "others": counts.others,
        "unreadable": 0, "vanished": 0, "changed_dirs": 0, "excluded": 0,
        "crossings": counts.crossings,
    });
    if !counts_only {
        told["file_size_bytes"] = (counts.file_size_bytes as u64).into();
        told["apparent_bytes"] = (counts.apparent_bytes as u64).into();
        told["allocated_bytes"] = (counts.allocated_bytes as u64).into();
        told["extra_hard_links"] = counts.extra_hard_links.into();
    }
    told
}

/// Compares totals and counts with the oracle's, on any kernel.
fn agree(path: &Path, kernels: &[Kernel], flags: &[&str]) -> Result<(), Skipped> {
    for &kernel in kernels {
        for (more, counts_only) in [
            (&["-j1"][..], false),
            (&["-j3"], false),
            (&["-j3", "--count"], true),
        ] {
            let flags = [flags, more].concat();
            let stays = flags.contains(&"-x");
            let found = kernel.totals(path, &flags)?;
            let expected = expected(path, stays, counts_only);
            assert_eq!(found, expected, "{kernel:?} {flags:?}");
        }
    }
    Ok(())
}

#[test]
fn the_plan_names_what_is_lost() {
    let tree = Tree::new("x 10");
    let plain = tree.run(&["-s", "--explain", "tree"]);
    for kernel in KERNELS {
        let told = or_skip!(kernel.run(&["-s", "--explain"], &tree.path())).stderr;
        for (has_it, reason) in [
            (kernel.has_openat2(), "openat2 is not there (Linux 5.6)"),
            (
                kernel.has_mount_ids() || !kernel.has_statx(),
                "statx gives no mount id (Linux 5.8)",
            ),
            (
                kernel.has_statx(),
                "statx is refused or not there (Linux 4.11)",
            ),
        ] {
            assert!(!plain.stderr.contains(reason), "{}", plain.stderr);
            assert_eq!(told.contains(reason), !has_it, "{kernel:?}: {told}");
        }
        let enters = told.contains("a bind mount is entered");
        assert_eq!(enters, BLIND.contains(&kernel), "{told}");
    }
}

#[test]
fn trees_agree() {
    for model in [
        trees::hard_links(),
        trees::symbolic_links(),
        trees::odd_names(),
        trees::special(),
        trees::deep(100),
    ] {
        let tree = Tree::of(&model);
        or_skip!(agree(&tree.path(), &KERNELS, &[]));
        or_skip!(agree(&tree.path(), BLIND, &["-x"]));
    }
}

#[test]
fn file_systems_within_the_tree_are_entered_or_crossings() {
    let tree = Tree::of(&trees::hard_links());
    for (place, file_system) in [("a/m", FileSystem::Tmpfs), ("n", FileSystem::Ext4)] {
        let at = tree.path().join(place);
        std::fs::create_dir(&at).unwrap();
        let mounted = or_skip!(file_system.mount(&at));
        trees::basic().materialise(&at.join("inner")).unwrap();
        mounted.settle().unwrap();
        or_skip!(agree(&tree.path(), &KERNELS, &[]));
        or_skip!(agree(&tree.path(), &KERNELS, &["-x"]));
        or_skip!(agree(&at, &KERNELS, &["-x"]));
    }
}

/// Without mount ids all directories of a device that is shown twice are remembered.
#[test]
fn bind_mounts_are_listed_once() {
    let tree = Tree::of(&trees::hard_links());
    let [inside, outside] = ["m0", "m1"].map(|name| tree.path().join(name));
    for place in [&inside, &outside] {
        std::fs::create_dir(place).unwrap();
    }
    let further = tree.parent().join("further");
    trees::basic().materialise(&further).unwrap();
    statwalk_testkit::settle(&further).unwrap();
    let first = or_skip!(bind(&tree.path().join("nested"), &inside));
    or_skip!(agree(&tree.path(), &KERNELS, &[]));
    let second = or_skip!(bind(&further, &outside));
    or_skip!(agree(&tree.path(), &KERNELS, &[]));
    // They are of the same device, so that `-x` enters them.
    or_skip!(agree(&tree.path(), &KERNELS, &["-x"]));
    drop((first, second));
}

#[test]
fn nested_subvolumes_are_crossings_only_where_nothing_else_is_known() {
    let tree = Tree::new("x 10");
    let at = tree.path().join("m");
    std::fs::create_dir(&at).unwrap();
    let btrfs = or_skip!(FileSystem::Btrfs.mount(&at));
    for name in ["sub", "sub/nested"] {
        or_skip!(btrfs_subvolume(&at.join(name)));
        trees::hard_links()
            .materialise(&at.join(name).join("tree"))
            .unwrap();
    }
    btrfs.settle().unwrap();
    or_skip!(agree(&at, &KERNELS, &[]));
    or_skip!(agree(&at, NOTICING, &["-x"]));
    for &kernel in BLIND {
        let found = or_skip!(kernel.totals(&at, &["-x"]));
        assert_eq!(
            (&found["entries"], &found["crossings"]),
            (&2.into(), &1.into())
        );
    }
}
