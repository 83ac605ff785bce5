// SPDX-License-Identifier: MIT OR Apache-2.0

//! The oracle against the model, against hand-counted answers, and against find and du.

use std::collections::HashSet;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use proptest::prelude::*;
use statwalk_testkit::model::{EntryType, Model, NodeKind};
use statwalk_testkit::naive::{self, NaiveReport, NotEntered, Options, Subtree, path_order};
use statwalk_testkit::unprivileged::{as_ordinary_user, is_root};
use statwalk_testkit::{Scratch, or_skip, strategy, text, trees};

fn made(tree: &Model) -> (Scratch, PathBuf) {
    let scratch = Scratch::new().expect("a temporary directory");
    let dir = scratch.path().join("t");
    tree.materialise(&dir).expect("a tree that can be made");
    (scratch, dir)
}

/// Without root the tree of permissions is another tree, see [`what_cannot_be_read_is_counted_once_each`].
fn readable_trees() -> impl Iterator<Item = (&'static str, Model)> {
    trees::named()
        .into_iter()
        .filter(|(name, _)| *name != "permissions" || is_root())
}

fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_bytes()
}

fn subtree(report: &NaiveReport, path: &Path) -> Subtree {
    report.subtrees[bytes(path)]
}

/// Everything that must hold of a report, whatever the tree.
fn check_consistency(report: &NaiveReport) {
    let total = report.total();
    assert_eq!(total.entries, report.entries.len() as u64);
    assert_eq!(
        total.entries,
        total.files + total.dirs + total.symlinks + total.others
    );
    assert_eq!(report.subtrees.len() as u64, total.dirs);
    for root in &report.roots {
        let counts = root.counts;
        // An argument that was there before has no entries.
        if let Some(sums) = report
            .subtrees
            .get(&root.path)
            .filter(|_| counts.entries > 0)
        {
            assert_eq!(sums.apparent_bytes, counts.apparent_bytes);
            assert_eq!(sums.allocated_bytes, counts.allocated_bytes);
            assert_eq!(sums.entries, counts.entries);
            assert_eq!(sums.files, counts.files);
            assert_eq!(sums.dirs, counts.dirs);
        }
    }
    let places = report.entries.iter().map(|entry| (entry.root, &entry.path));
    let sorted = places
        .clone()
        .zip(places.skip(1))
        .all(|((root_a, path_a), (root_b, path_b))| {
            root_a
                .cmp(&root_b)
                .then_with(|| path_order(path_a, path_b))
                .is_lt()
        });
    assert!(sorted, "entries are in path order, each once");
}

fn check_against_model(tree: &Model) {
    let (_scratch, dir) = made(tree);
    let report = naive::scan(&dir).expect("the oracle can judge");
    check_consistency(&report);
    assert_eq!(report.total().totals(), tree.totals());
    assert_eq!(report.relative_entries(0), tree.entries());
    assert_eq!(report.total().unreadable, 0);

    let each = Options {
        count_links: true,
        ..Options::default()
    };
    let report = naive::scan_with(&[&dir], &each).expect("the oracle can judge");
    check_consistency(&report);
    assert_eq!(report.total().totals(), tree.totals_of_every_name());

    for (id, node) in tree.nodes() {
        let path = [
            bytes(&dir),
            if id == Model::ROOT { b"" } else { b"/" },
            &tree.path(id),
        ]
        .concat();
        let entry = report.entry(&path).expect("an entry of this path");
        let attributes = entry.attributes.expect("nothing is unreadable");
        if let Some(mtime) = tree.node(tree.inode(id)).mtime {
            assert_eq!(
                attributes.mtime_ns,
                mtime.as_ns(),
                "{}",
                path.escape_ascii()
            );
        }
        if let Some(mode) = node.mode {
            assert_eq!(attributes.mode & 0o7777, mode, "{}", path.escape_ascii());
        }
        if let NodeKind::File {
            size_bytes,
            data_bytes,
        } = node.kind
        {
            assert_eq!(attributes.size_bytes, size_bytes);
            let allocated = attributes.blocks * 512;
            assert!(
                allocated <= data_bytes + (1 << 20),
                "holes take no blocks: {allocated}"
            );
            assert!(
                data_bytes < 4096 || allocated >= 4096,
                "data take blocks: {allocated}"
            );
        }
    }
}

#[test]
fn agrees_with_the_model_on_named_trees() {
    for (name, tree) in readable_trees() {
        eprintln!("{name}");
        check_against_model(&tree);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 200,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn agrees_with_the_model_on_random_trees(tree in strategy::model()) {
        check_against_model(&tree);
    }

    /// Two halves of a tree as two arguments hold what the tree holds, less its root.
    #[test]
    fn arguments_share_out_the_tree(tree in strategy::model(), turned in any::<bool>()) {
        let (_scratch, dir) = made(&tree);
        let whole = naive::scan(&dir).unwrap();
        let mut parts: Vec<PathBuf> =
            std::fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path()).collect();
        parts.sort_by(|a, b| path_order(bytes(a), bytes(b)));
        if turned {
            parts.reverse();
        }
        parts.push(dir.clone());
        parts.push(dir.clone());
        let report = naive::scan_with(&parts, &Options::default()).unwrap();
        check_consistency(&report);
        prop_assert_eq!(report.total(), whole.total());
        // What is left for the root is the root; nothing is left for it a second time.
        prop_assert_eq!(report.roots[parts.len() - 2].counts.entries, 1);
        prop_assert_eq!(report.roots[parts.len() - 1].counts.entries, 0);

        // The other way round the first argument has everything.
        parts.reverse();
        let report = naive::scan_with(&parts, &Options::default()).unwrap();
        prop_assert_eq!(report.roots[0].counts, whole.total());
        prop_assert_eq!(report.total(), whole.total());
    }

    /// Following links never counts a byte twice, and finds all that is there without.
    #[test]
    fn following_adds_and_does_not_repeat(tree in strategy::model()) {
        let scratch = Scratch::new().unwrap();
        // Links of random trees lead up to two directories out of the tree, and no further.
        let dir = ["x", "y", "z"].iter().fold(scratch.path().to_owned(), |outer, name| {
            std::fs::create_dir(outer.join(name)).unwrap();
            outer.join(name)
        });
        tree.materialise(&dir).unwrap();
        let options = Options { follow: true, ..Options::default() };
        let report = naive::scan_with(&[&dir], &options).unwrap();
        check_consistency(&report);
        let plain = naive::scan(&dir).unwrap().total();
        let total = report.total();
        prop_assert!(total.entries >= plain.entries);
        prop_assert!(total.file_size_bytes >= plain.file_size_bytes);
        let mut inodes = HashSet::new();
        for entry in report.entries.iter().filter(|entry| entry.counted) {
            let attributes = entry.attributes.unwrap();
            prop_assert!(inodes.insert((attributes.dev, attributes.ino)));
        }
    }
}

/// `find` gives types, sizes, blocks and inodes; summed up here by themselves.
#[test]
fn agrees_with_find_on_named_trees() {
    for (name, tree) in readable_trees() {
        let (_scratch, dir) = made(&tree);
        let report = naive::scan(&dir).unwrap();
        let output = Command::new("find")
            .arg(&dir)
            .args(["-printf", r"%y %s %b %n %i %D %U %G %m %p\0"])
            .output()
            .unwrap();
        assert!(output.status.success(), "{name}: {output:?}");
        let mut told: Vec<Vec<u8>> = output
            .stdout
            .split(|byte| *byte == 0)
            .map(<[u8]>::to_vec)
            .collect();
        told.pop();
        told.sort();
        let mut ours: Vec<Vec<u8>> = Vec::new();
        for entry in &report.entries {
            let a = entry.attributes.unwrap();
            let text = format!(
                "{} {} {} {} {} {} {} {} {:o} ",
                entry.entry_type.letter(),
                a.size_bytes,
                a.blocks,
                a.nlink,
                a.ino,
                a.dev,
                a.uid,
                a.gid,
                a.mode & 0o7777,
            );
            ours.push([text.as_bytes(), &entry.path].concat());
        }
        ours.sort();
        assert!(ours == told, "{name}");
    }
}

fn du(arguments: &[&str], dir: &Path) -> u128 {
    let output = Command::new("du")
        .args(arguments)
        .arg(dir)
        .output()
        .expect("du runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let number = text
        .split_ascii_whitespace()
        .next()
        .unwrap_or_else(|| panic!("{output:?}"));
    number.parse().expect("du prints a number")
}

#[test]
fn agrees_with_du_on_named_trees() {
    let each = Options {
        count_links: true,
        ..Options::default()
    };
    for (name, tree) in readable_trees() {
        let (_scratch, dir) = made(&tree);
        let once = naive::scan(&dir).unwrap().total().allocated_bytes;
        assert_eq!(once, du(&["-s", "-B1"], &dir), "{name}");
        let every_name = naive::scan_with(&[&dir], &each)
            .unwrap()
            .total()
            .allocated_bytes;
        assert_eq!(every_name, du(&["-s", "-B1", "-l"], &dir), "{name}");
    }
}

/// The sums of every directory. GNU du counts a hard link where it meets it first, so links are left out.
#[test]
fn subtree_sums_agree_with_du() {
    for (name, tree) in readable_trees() {
        if name == "odd_names" || tree.totals().extra_hard_links > 0 {
            continue;
        }
        let (_scratch, dir) = made(&tree);
        let report = naive::scan(&dir).unwrap();
        let output = Command::new("du")
            .args(["-0", "-B1"])
            .arg(&dir)
            .output()
            .unwrap();
        let mut lines = 0;
        for line in output
            .stdout
            .split(|byte| *byte == 0)
            .filter(|line| !line.is_empty())
        {
            let tab = line.iter().position(|byte| *byte == b'\t').unwrap();
            let told: u128 = std::str::from_utf8(&line[..tab]).unwrap().parse().unwrap();
            let sums = report.subtrees[&line[tab + 1..]];
            assert_eq!(
                sums.allocated_bytes,
                told,
                "{name}: {}",
                line.escape_ascii()
            );
            lines += 1;
        }
        assert_eq!(lines, report.subtrees.len(), "{name}");
    }
}

/// du follows links with the same rule: each inode once.
#[test]
fn following_agrees_with_du() {
    let (_scratch, dir) = made(&trees::followable_links());
    let options = Options {
        follow: true,
        ..Options::default()
    };
    let report = naive::scan_with(&[&dir], &options).unwrap();
    check_consistency(&report);
    assert_eq!(
        report.total().allocated_bytes,
        du(&["-s", "-B1", "-L"], &dir)
    );
}

#[test]
fn a_hard_linked_file_counts_in_the_first_of_its_names() {
    let (_scratch, dir) = made(&trees::hard_links());
    let report = naive::scan(&dir).unwrap();
    let apparent = |name: &str| subtree(&report, &dir.join(name)).apparent_bytes;
    // `a/three`, and `a/link-again`, a link of 4 bytes, before `link`.
    assert_eq!(apparent("a"), 10_000 + 4);
    assert_eq!(apparent("a.d"), 0);
    assert_eq!(apparent("z"), 0);
    assert_eq!(apparent("nested"), 500);
    assert_eq!(apparent("nested/inner"), 500);
    assert_eq!(apparent("other"), 0);
}

#[test]
fn first_in_the_order_of_the_arguments() {
    let (_scratch, dir) = made(&trees::hard_links());
    let report = naive::scan_with(&[dir.join("z"), dir.join("a")], &Options::default()).unwrap();
    assert_eq!(subtree(&report, &dir.join("z")).apparent_bytes, 10_000);
    assert_eq!(report.roots[0].counts.extra_hard_links, 0);
    assert_eq!(report.roots[1].counts.extra_hard_links, 1);
    assert_eq!(report.roots[1].counts.file_size_bytes, 0);
}

#[test]
fn newest_is_that_of_what_is_not_a_directory() {
    let (_scratch, dir) = made(&trees::times());
    let report = naive::scan(&dir).unwrap();
    let newest = |name: &str| subtree(&report, &dir.join(name)).newest_mtime_ns;
    assert_eq!(newest("old/only-old"), Some(86_400_000_000_000));
    assert_eq!(newest("old"), Some(315_532_800_000_000_000));
    assert_eq!(newest("future"), None);
    assert_eq!(newest("beyond"), None);
    assert_eq!(newest("no-files"), None);
    let before = report.entry(bytes(&dir.join("half-before-1970"))).unwrap();
    assert_eq!(before.attributes.unwrap().mtime_ns, Some(-500_000_000));
}

#[test]
fn what_cannot_be_read_is_counted_once_each() {
    let scratch = Scratch::new().unwrap();
    let dir = scratch.path().join("t");
    let tree = trees::permissions();
    tree.materialise(&dir).unwrap();
    if !is_root() {
        return;
    }
    let report = or_skip!(as_ordinary_user(|| naive::scan(&dir).unwrap()));
    check_consistency(&report);
    let failed: Vec<String> = report
        .errors()
        .into_iter()
        .map(|(path, errno)| {
            assert_eq!(errno, 13);
            String::from_utf8_lossy(&path[bytes(&dir).len() + 1..]).into_owned()
        })
        .collect();
    let expected = [
        "execute-only",
        "nested/a/none",
        "none",
        "read-only/file",
        "read-only/inner",
        "read-only/link",
        "write-only",
    ];
    assert_eq!(failed, expected);
    let total = report.total();
    assert_eq!(total.unreadable, 7);
    // The listing told what they are.
    let entry = |name: &str| report.entry(bytes(&dir.join(name))).unwrap();
    assert_eq!(entry("read-only/inner").entry_type, EntryType::Directory);
    assert_eq!(entry("read-only/link").entry_type, EntryType::Symlink);
    assert_eq!((total.dirs, total.files, total.symlinks), (10, 4, 1));
    assert_eq!(total.file_size_bytes, 10 + 20 + 100);
    // A directory that cannot be listed counts its own blocks.
    let own = std::fs::symlink_metadata(dir.join("none"))
        .unwrap()
        .blocks()
        * 512;
    let found = subtree(&report, &dir.join("none")).allocated_bytes;
    assert_eq!(found, own.into());
    assert_eq!(
        subtree(&report, &dir.join("read-only/inner")).allocated_bytes,
        0
    );
    assert_eq!(subtree(&report, &dir.join("nested")).file_size(), 100);
}

trait FileSize {
    fn file_size(&self) -> u128;
}

impl FileSize for Subtree {
    fn file_size(&self) -> u128 {
        self.apparent_bytes
    }
}

#[test]
fn roots_can_be_files_links_missing_or_unreadable() {
    let tree = text::parse(
        "
        file        10
        link        -> file
        dangling    -> nowhere
        dir/
        dir/x       20
        to-dir      -> dir
        closed/     mode=000
        closed/x    30
        ",
    )
    .unwrap();
    let (_scratch, dir) = made(&tree);
    let paths = [
        "file",
        "link",
        "dangling",
        "nothing",
        "file/nothing",
        "to-dir",
        "dir",
    ];
    let roots: Vec<_> = paths.iter().map(|name| dir.join(name)).collect();
    let report = naive::scan_with(&roots, &Options::default()).unwrap();
    let missing: Vec<_> = report.roots.iter().map(|root| root.missing).collect();
    assert_eq!(missing, [false, false, false, true, true, false, false]);
    let counts: Vec<_> = report
        .roots
        .iter()
        .map(|root| root.counts.entries)
        .collect();
    assert_eq!(counts, [1, 1, 1, 0, 0, 1, 2]);
    assert_eq!(report.total().symlinks, 3);
    assert_eq!(report.total().file_size_bytes, 30);

    let follow = Options {
        follow: true,
        ..Options::default()
    };
    let report = naive::scan_with(&roots, &follow).unwrap();
    let counts: Vec<_> = report.roots.iter().map(|root| root.counts).collect();
    // The link is the file once more, the directory belongs to the link that came first.
    assert_eq!(
        counts.iter().map(|c| c.entries).collect::<Vec<_>>(),
        [1, 0, 0, 0, 0, 2, 0]
    );
    // A link that leads nowhere is a missing root, where links stand for what they
    // lead to.
    let missing: Vec<_> = report.roots.iter().map(|root| root.missing).collect();
    assert_eq!(missing, [false, false, true, true, true, false, false]);
    assert_eq!(report.total().file_size_bytes, 30);

    if is_root() {
        let closed = dir.join("closed/x");
        let report = or_skip!(as_ordinary_user(|| naive::scan(&closed).unwrap()));
        let counts = report.total();
        assert_eq!(
            (counts.entries, counts.others, counts.unreadable),
            (1, 1, 1)
        );
    }
}

#[test]
fn arguments_that_name_one_thing_twice_count_it_once() {
    let (_scratch, dir) = made(&trees::basic());
    let whole = naive::scan(&dir).unwrap().total();
    let file = dir.join("docs/a.txt");
    let spelled_differently = dir.join("src/../docs/./a.txt");
    let roots = [
        file.clone(),
        spelled_differently,
        dir.join("docs"),
        dir.clone(),
        file,
    ];
    let report = naive::scan_with(&roots, &Options::default()).unwrap();
    let entries: Vec<_> = report
        .roots
        .iter()
        .map(|root| root.counts.entries)
        .collect();
    assert_eq!(entries, [1, 0, 4, whole.entries - 5, 0]);
    assert_eq!(report.total(), whole);
}

#[test]
fn followed_links_are_what_they_lead_to() {
    let (_scratch, dir) = made(&trees::followable_links());
    let follow = Options {
        follow: true,
        ..Options::default()
    };
    let report = naive::scan_with(&[&dir], &follow).unwrap();
    let entry = |name: &str| report.entry(bytes(&dir.join(name))).unwrap();
    // The real path wins over the link, although the link comes first.
    assert_eq!(
        entry("a-to-real").not_entered,
        Some(NotEntered::ListedElsewhere)
    );
    assert_eq!(entry("a-to-real").entry_type, EntryType::Directory);
    assert!(entry("real/file").counted && !entry("a-file").counted);
    assert_eq!(subtree(&report, &dir.join("real")).apparent_bytes, 3500);
    assert!(!entry("to-file").counted && !entry("twice").counted && !entry("to-link").counted);
    // To the root and to real: loops.
    assert_eq!(
        entry("loop/up").not_entered,
        Some(NotEntered::ListedElsewhere)
    );
    assert_eq!(
        entry("real/inner/up").not_entered,
        Some(NotEntered::ListedElsewhere)
    );
    assert_eq!(entry("loop/self").entry_type, EntryType::Symlink);
    assert_eq!(entry("dangling").entry_type, EntryType::Symlink);
    let total = report.total();
    assert_eq!(total.file_size_bytes, 3500);
    assert_eq!(
        total.apparent_bytes,
        3500 + "nowhere".len() as u128 + "self".len() as u128
    );
    assert_eq!((total.dirs, total.files, total.symlinks), (8, 6, 2));
    assert_eq!(
        (total.extra_hard_links, total.crossings, total.unreadable),
        (0, 0, 0)
    );
}

#[test]
fn a_link_out_of_the_tree_brings_in_what_is_there() {
    let tree = text::parse(
        "
        in/
        in/b-first      -> ../out
        in/c-second     -> ../out/inner
        in/d-file       -> ../out/file
        out/
        out/file        100
        out/inner/
        out/inner/x     20
        out/inner/back  -> ../../in
        out/second      = out/file
        ",
    )
    .unwrap();
    let (_scratch, dir) = made(&tree);
    let follow = Options {
        follow: true,
        ..Options::default()
    };
    let report = naive::scan_with(&[dir.join("in")], &follow).unwrap();
    check_consistency(&report);
    let total = report.total();
    // in, b-first, inner, back, c-second; file, second, x, d-file.
    assert_eq!((total.dirs, total.files, total.symlinks), (5, 4, 0));
    assert_eq!(total.file_size_bytes, 120);
    assert_eq!(total.extra_hard_links, 1);
    assert_eq!(
        subtree(&report, &dir.join("in/b-first")).apparent_bytes,
        120
    );
    assert_eq!(subtree(&report, &dir.join("in/c-second")).apparent_bytes, 0);
}

#[test]
fn what_is_excluded_is_no_entry() {
    let (_scratch, dir) = made(&trees::basic());
    let exclude = |path: &[u8]| path.ends_with(b"/docs") || path.ends_with(b".rs");
    let options = Options {
        exclude: Some(&exclude),
        ..Options::default()
    };
    let report = naive::scan_with(&[&dir], &options).unwrap();
    check_consistency(&report);
    let total = report.total();
    // docs, src/docs, src/main.rs, src/lib.rs
    assert_eq!(total.excluded, 4);
    assert_eq!(total.entries, trees::basic().totals().entries - 8);
    // An argument is never excluded.
    let report = naive::scan_with(&[dir.join("docs")], &options).unwrap();
    assert_eq!((report.total().entries, report.total().excluded), (5, 0));
}

#[test]
fn the_oracle_refuses_what_a_path_cannot_name() {
    let (_scratch, dir) = made(&trees::deep(2_100));
    let error = naive::scan(&dir).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::InvalidFilename);
}

#[test]
fn a_directory_can_be_listed_and_its_parent_not() {
    let scratch = Scratch::new().unwrap();
    let closed = scratch.subdirectory("closed").unwrap();
    let dir = closed.join("t");
    trees::basic().materialise(&dir).unwrap();
    std::fs::set_permissions(&closed, PermissionsExt::from_mode(0o111)).unwrap();
    let report = or_skip!(as_ordinary_user(|| naive::scan(&dir).unwrap()));
    assert_eq!(report.total().totals(), trees::basic().totals());
}
