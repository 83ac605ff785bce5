// SPDX-License-Identifier: MIT OR Apache-2.0

//! Every named tree with every sink, several numbers of workers and both link
//! policies, against the oracle and the model; the tree of permissions also as
//! an ordinary user.

use statwalk_core::{Cause, Errno, Op, Scan, Totals, TreeSink};
use statwalk_testkit::naive::{self, Options};
use statwalk_testkit::unprivileged::{as_ordinary_user, is_root};
use statwalk_testkit::{Scratch, or_skip, settle, trees};

use super::harness::agreement::{check, counts};
use super::harness::{ENTER, THREADS, made, text};
use crate::harness::sizes;

const EVERY_NAME: Options<'_> = Options {
    count_links: true,
    ..ENTER
};

#[test]
fn named_trees_agree_with_the_oracle_and_the_model() {
    let scratch = Scratch::new().unwrap();
    for (name, tree) in trees::named() {
        let dir = scratch.path().join(name);
        tree.materialise(&dir).unwrap();
        settle(&dir).unwrap();
        check(&[&dir], &Options::default(), &THREADS);

        let outcome = Scan::new(&dir).run(&Totals::new()).unwrap();
        // As an ordinary user the oracle alone can say what is to be seen.
        if is_root() || name != "permissions" {
            let found = counts(&outcome.output[0], &outcome.report.roots[0]);
            assert_eq!(found.totals(), tree.totals(), "{name}");
        }
    }
}

#[test]
fn named_trees_agree_with_every_name_counted() {
    let scratch = Scratch::new().unwrap();
    for (name, tree) in trees::named() {
        if ["deep", "wide"].contains(&name) {
            continue;
        }
        let dir = scratch.path().join(name);
        tree.materialise(&dir).unwrap();
        settle(&dir).unwrap();
        check(&[&dir], &EVERY_NAME, &[1, 3]);
    }
}

/// The root can be written in many ways; paths begin with what was written.
#[test]
fn roots_are_named_as_they_were_given() {
    let (_scratch, dir) = made(&trees::hard_links());
    let parent = dir.parent().unwrap().to_str().unwrap();
    for root in [
        format!("{parent}/t/"),
        format!("{parent}/./t//"),
        format!("{parent}//t/a/../."),
    ] {
        let outcome = Scan::new(&root).run(&TreeSink::new().with_files()).unwrap();
        let tree = outcome.output;
        let node = tree.root(0).unwrap();
        assert_eq!(node.name(), root.as_bytes());
        for child in node.children() {
            let path = text(&child.path());
            assert!(path.starts_with(&root), "{path}");
            assert!(std::fs::symlink_metadata(&path).is_ok(), "{path}");
        }
        let model = trees::hard_links().totals();
        assert_eq!(
            (node.entries(), node.dir_count()),
            (model.entries, model.dirs)
        );
        assert_eq!(node.apparent_bytes(), Some(model.apparent_bytes), "{root}");
    }
}

#[test]
fn an_ordinary_user_sees_what_is_permitted() {
    let (_scratch, dir) = made(&trees::permissions());
    or_skip!(as_ordinary_user(|| {
        assert!(
            std::fs::read_dir(dir.join("none")).is_err(),
            "this is root still"
        );
        check(&[&dir], &Options::default(), &THREADS);

        let outcome = Scan::new(&dir).threads(2).run(&Totals::new()).unwrap();
        let expected = naive::scan(&dir).unwrap();
        // Directories that cannot be opened, and what can be named and not stat'ed.
        assert!(expected.total().unreadable >= 7, "{:?}", expected.errors());
        assert_eq!(outcome.report.sum().unreadable, expected.total().unreadable);
        assert!(!outcome.report.is_complete());
        for error in &outcome.report.errors {
            let path = text(&error.path);
            assert_eq!(error.cause, Cause::System(Errno(13)), "{path}");
            let op = match path.contains("read-only/") && !path.ends_with("inner") {
                true => Op::Stat,
                false => Op::Open,
            };
            assert_eq!(error.op, op, "{path}");
            assert_eq!(error.root, 0);
        }
        let by_cause: u64 = outcome
            .report
            .error_counts
            .iter()
            .map(|count| count.2)
            .sum();
        assert_eq!(by_cause, outcome.report.errors.len() as u64);
    }));
}

/// A directory that cannot be opened still takes its own blocks, as in du.
#[test]
fn an_unreadable_directory_counts_its_own_blocks() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let scratch = Scratch::new().unwrap();
    let dir = scratch.subdirectory("t").unwrap();
    let closed = dir.join("closed");
    std::fs::create_dir(&closed).unwrap();
    std::fs::write(closed.join("hidden"), [1; 9000]).unwrap();
    std::fs::set_permissions(&closed, PermissionsExt::from_mode(0o000)).unwrap();
    settle(&dir).unwrap();
    let blocks = |path| std::fs::symlink_metadata(path).map_or(0, |of| of.blocks() * 512);
    let expected = blocks(&dir) + blocks(&closed);
    let outcome = or_skip!(as_ordinary_user(|| {
        Scan::new(&dir).run(&Totals::new()).unwrap()
    }));
    assert_eq!(sizes(&outcome.output[0]).allocated_bytes, expected.into());
    assert_eq!((outcome.output[0].dirs, outcome.output[0].files), (2, 0));
    assert_eq!(
        outcome.report.errors[0].path,
        closed.to_str().unwrap().as_bytes()
    );
}

/// The report lists no more errors than were asked for, and counts all.
#[test]
fn errors_are_kept_up_to_a_limit_and_counted_beyond_it() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = Scratch::new().unwrap();
    let dir = scratch.subdirectory("t").unwrap();
    for number in 0..400 {
        let closed = dir.join(format!("d{}/closed{number}", number % 20));
        std::fs::create_dir_all(&closed).unwrap();
        std::fs::set_permissions(&closed, PermissionsExt::from_mode(0o000)).unwrap();
    }
    or_skip!(as_ordinary_user(|| {
        for threads in THREADS {
            for kept in [0, 1, 30, 1_000] {
                let scan = Scan::new(&dir).threads(threads).errors_kept(kept);
                let report = scan.run(&Totals::new().without_sizes()).unwrap().report;
                let told = format!("{threads} workers");
                assert_eq!(report.errors.len(), kept.min(400), "{told}");
                assert_eq!(
                    report.error_counts,
                    [(Op::Open, Cause::System(Errno(13)), 400)],
                    "{told}"
                );
                assert_eq!(report.sum().unreadable, 400, "{told}");
            }
        }
    }));
}
