// SPDX-License-Identifier: MIT OR Apache-2.0

//! What is left out on request: globs as GNU du means them, tagged cache
//! directories, and what `.gitignore` files name, as git means them.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;

use statwalk_core::{Exclusions, Scan, Totals};
use statwalk_testkit::{Scratch, Skipped, or_skip, text as tree_text, trees};

use super::harness::listing::Listing;
use super::harness::{THREADS, made, text};
use crate::harness::sizes;

/// Paths below the root that a scan lists.
fn listed(dir: &Path, exclusions: Exclusions, threads: usize) -> (BTreeSet<String>, u64) {
    let scan = Scan::new(dir).threads(threads).exclusions(exclusions);
    let names = scan.run(&Listing::of_names()).unwrap();
    let sizes = scan.run(&Listing::with_sizes()).unwrap();
    let below = |entries: &[super::harness::listing::Listed]| -> BTreeSet<String> {
        let prefix = dir.to_str().unwrap().len();
        entries
            .iter()
            .map(|entry| text(&entry.path[prefix..]))
            .collect()
    };
    assert_eq!(below(&names.output), below(&sizes.output));
    assert_eq!(names.report.sum().excluded, sizes.report.sum().excluded);
    assert!(sizes.report.is_complete());
    (below(&sizes.output), sizes.report.sum().excluded)
}

fn output(command: &mut Command, program: &'static str) -> Result<Vec<u8>, Skipped> {
    let output = command.output().map_err(|_| Skipped::needs(program))?;
    assert!(output.status.success(), "{command:?}: {output:?}");
    Ok(output.stdout)
}

/// Paths that `du -a` lists; each inode once, so the tree has no hard links.
fn listed_by_du(dir: &Path, globs: &[&str]) -> Result<BTreeSet<String>, Skipped> {
    let globs = globs.iter().map(|glob| format!("--exclude={glob}").into());
    listed_by_du_with(dir, globs)
}

fn listed_by_du_with(
    dir: &Path,
    flags: impl IntoIterator<Item = OsString>,
) -> Result<BTreeSet<String>, Skipped> {
    let mut command = Command::new("du");
    command.args(["-a", "-0", "-l", "-B1"]);
    // The engine compares bytes.
    command.args(flags).env("LC_ALL", "C");
    let lines = output(command.arg(dir), "du")?;
    let prefix = dir.to_str().unwrap().len();
    Ok(lines
        .split(|&byte| byte == 0)
        .filter_map(|line| {
            let tab = line.iter().position(|&byte| byte == b'\t')?;
            Some(text(&line[tab + 1 + prefix..]))
        })
        .collect())
}

#[test]
fn globs_leave_out_what_they_leave_out_in_du() {
    let odd = made(&trees::odd_names());
    let basic = made(&trees::basic());
    let links = made(&trees::hard_links());
    let cases: [&[&str]; 22] = [
        &["*.txt"],
        &["docs"],
        &["docs/*"],
        &["d*r"],
        &["docs/deeper"],
        &["*/deeper"],
        &["t/docs"],
        &["src/*.rs"],
        &["[ab].txt"],
        &["[!a].txt"],
        &["?.txt", "target"],
        &["*b*", "src"],
        &["*"],
        &["*/*"],
        &["nested/inner"],
        &["a/*-again", "x"],
        &["[[:digit:]]*"],
        &["\\*"],
        &["*\\\\*"],
        &["-*"],
        &["..."],
        &["*.d"],
    ];
    for globs in cases {
        for (_, dir) in [&odd, &basic, &links] {
            let expected = or_skip!(listed_by_du(dir, globs));
            let mut exclusions = Exclusions::new();
            for glob in globs {
                exclusions = exclusions.glob(glob.as_bytes()).unwrap();
            }
            for threads in [1, 3] {
                let (found, _) = listed(dir, exclusions.clone(), threads);
                let differences: Vec<_> = found.symmetric_difference(&expected).collect();
                assert!(differences.is_empty(), "{globs:?}: {differences:?}");
            }
        }
    }
}

/// Some words, one after another.
fn sentence(random: &mut impl FnMut(usize) -> usize, words: &[&[u8]], max: usize) -> Vec<u8> {
    let count = 1 + random(max);
    let mut bytes = Vec::new();
    for _ in 0..count {
        bytes.extend_from_slice(words[random(words.len())]);
    }
    bytes
}

/// Unfinished brackets and backslashes at the end were refused, which du takes.
#[test]
fn any_pattern_leaves_out_what_it_leaves_out_in_du() {
    const NAMES: [&[u8]; 17] = [
        b"a",
        b"b",
        b"B",
        b"z",
        b"[",
        b"]",
        b"!",
        b"^",
        b"-",
        b"*",
        b"?",
        b"\\",
        b".",
        b"\n",
        b"\xff",
        b"\xc3\xa9",
        b" ",
    ];
    const PATTERNS: [&[u8]; 28] = [
        b"a",
        b"b",
        b"B",
        b"[",
        b"[",
        b"]",
        b"]",
        b"!",
        b"^",
        b"-",
        b"*",
        b"?",
        b"\\",
        b"\\",
        b".",
        b"/",
        b"\n",
        b"\xff",
        b"\xc3\xa9",
        b" ",
        b"[a",
        b"[!a",
        b"a]",
        b"[[:alpha:]]",
        b"[[:",
        b":]",
        b"[[.a.]",
        b"[=b=]",
    ];
    // SplitMix64, <https://prng.di.unimi.it/splitmix64.c>.
    let mut state = 16_u64;
    let mut random = move |below: usize| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) % below as u64) as usize
    };
    let scratch = Scratch::new().unwrap();
    let dir = scratch.path().join("r");
    std::fs::create_dir(&dir).unwrap();
    for number in 0..160 {
        let name = sentence(&mut random, &NAMES, 3);
        if name == b"." || name == b".." {
            continue;
        }
        let path = dir.join(OsStr::from_bytes(&name));
        // Some exist by now, or lie in one that is left out.
        let _ = match number % 4 {
            0 => std::fs::create_dir(&path)
                .and_then(|()| std::fs::write(path.join("a"), b""))
                .and_then(|()| std::fs::write(path.join("[b"), b"")),
            _ => std::fs::write(&path, b""),
        };
    }
    let everything = listed(&dir, Exclusions::new(), 1).0;
    assert!(everything.len() > 150);
    let file = scratch.path().join("globs");
    let mut with_effect = 0;
    for turn in 0..600 {
        let pattern = match turn {
            0 => b"[".to_vec(),
            1 => b"[a-".to_vec(),
            2 => b"a\\".to_vec(),
            3 => Vec::new(),
            _ => sentence(&mut random, &PATTERNS, 6),
        };
        let told = pattern.escape_ascii();
        let (flag, exclusions) = match turn % 3 {
            // Lines of a file lose the white space at their end.
            0 => {
                let mut lines = pattern.clone();
                lines.extend_from_slice([&b"\r\n"[..], b" \t\n\n \n", b""][turn / 3 % 3]);
                std::fs::write(&file, lines).unwrap();
                let mut flag = OsString::from("--exclude-from=");
                flag.push(&file);
                (flag, Exclusions::new().glob_file(&file).unwrap())
            }
            _ => {
                let mut flag = OsString::from("--exclude=");
                flag.push(OsStr::from_bytes(&pattern));
                (flag, Exclusions::new().glob(&pattern).unwrap())
            }
        };
        let expected = or_skip!(listed_by_du_with(&dir, [flag]));
        let (found, _) = listed(&dir, exclusions, 1);
        let differences: Vec<_> = found.symmetric_difference(&expected).collect();
        assert!(differences.is_empty(), "`{told}`: {differences:?}");
        with_effect += usize::from(!found.is_empty() && found != everything);
    }
    assert!(with_effect > 100, "{with_effect}");
}

#[test]
fn what_is_left_out_is_counted_once_and_is_no_entry() {
    let (_scratch, dir) = made(&trees::basic());
    let whole = trees::basic().totals();
    for threads in THREADS {
        // A directory with five entries and one more file.
        let exclusions = Exclusions::new()
            .glob(b"docs")
            .unwrap()
            .glob(b"README")
            .unwrap();
        let scan = Scan::new(&dir).threads(threads).exclusions(exclusions);
        let outcome = scan.run(&Totals::new()).unwrap();
        // `src/docs` is a link of that name.
        assert_eq!(outcome.report.sum().excluded, 3);
        assert_eq!(outcome.output[0].entries, whole.entries - 1 - 5 - 1);
        assert_eq!(outcome.report.sum().crossings, 0);
        assert!(outcome.report.is_complete());
    }
}

#[test]
fn globs_from_a_file_are_read_line_by_line() {
    let (scratch, dir) = made(&trees::basic());
    let file = scratch.path().join("globs");
    std::fs::write(&file, "*.txt\n\ntarget\n").unwrap();
    let (from_file, _) = listed(&dir, Exclusions::new().glob_file(&file).unwrap(), 2);
    let globs = Exclusions::new()
        .glob(b"*.txt")
        .unwrap()
        .glob(b"target")
        .unwrap();
    assert_eq!(from_file, listed(&dir, globs, 2).0);
    std::fs::write(&file, "*.txt\n[\0a").unwrap();
    let error = Exclusions::new().glob_file(&file).unwrap_err().to_string();
    assert!(
        error.contains("a NUL") && error.contains("globs"),
        "{error}"
    );
    let error = Exclusions::new()
        .glob_file(&scratch.path().join("none"))
        .unwrap_err();
    assert!(error.io_error().is_some(), "{error}");
}

#[test]
fn tagged_cache_directories_are_entries_without_content() {
    const TAG: &str = "Signature: 8a477f597d28d172789f06886806bc55";
    let (_scratch, dir) = made(&trees::basic());
    let tag = |place: &str, content: &str| std::fs::write(dir.join(place), content).unwrap();
    tag("docs/CACHEDIR.TAG", &format!("{TAG}\n# more"));
    tag("src/CACHEDIR.TAG", "Signature: something else");
    std::fs::create_dir(dir.join("target/CACHEDIR.TAG")).unwrap();
    std::os::unix::fs::symlink("../docs/CACHEDIR.TAG", dir.join("empty/CACHEDIR.TAG")).unwrap();
    // A pipe of that name must not hold the scan.
    let fifo = trees::special();
    fifo.materialise(&dir.join("special")).unwrap();
    std::fs::rename(dir.join("special/pipe"), dir.join("special/CACHEDIR.TAG")).unwrap();
    let everything = listed(&dir, Exclusions::new(), 2).0;
    for threads in THREADS {
        let (found, excluded) = listed(&dir, Exclusions::new().caches(true), threads);
        assert_eq!(excluded, 1);
        let missing: Vec<_> = everything.difference(&found).cloned().collect();
        assert!(
            missing.iter().all(|path| path.starts_with("/docs/")),
            "{missing:?}"
        );
        assert_eq!(missing.len(), 5);
        assert!(found.contains("/docs"));
    }
    // The directory that is left out takes no size.
    let scan = Scan::new(&dir).exclusions(Exclusions::new().caches(true));
    let outcome = scan.run(&Totals::new()).unwrap();
    let expected: u128 = 1200 + 12 * 1024 + 8193 + (1 << 20) + 10 + 25;
    assert_eq!(sizes(&outcome.output[0]).file_size_bytes, expected);
}

/// A repository with rules at several levels; `above` is above the root that is scanned.
fn repository(top: &Path) {
    let tree = "
        above/root/keep/a.log        1
        above/root/keep/b.txt        1
        above/root/build/out         1
        above/root/src/build/out     1
        above/root/src/main.o        1
        above/root/src/keep.o        1
        above/root/src/deep/x.tmp    1
        above/root/src/deep/y.tmp    1
        above/root/src/deep/dir/z    1
        above/root/only-dir/f        1
        above/root/files/only-dir    1
        above/root/logs/a.log        1
        above/root/logs/keep.log     1
        above/root/hidden/.secret    1
        above/root/star/a/b/c        1
        above/root/star/a/c          1
        above/root/space\\sname      1
        above/root/outer.bak         1
        above/root/src/outer.bak     1
        above/root/src/deep/keep.bak 1
        ";
    let with_parents = {
        let mut dirs = BTreeSet::new();
        for line in tree.lines() {
            let path = line.split_whitespace().next().unwrap_or("");
            let parts: Vec<_> = path.split('/').collect();
            for end in 1..parts.len() {
                dirs.insert(parts[..end].join("/"));
            }
        }
        let dirs: String = dirs.into_iter().map(|dir| format!("{dir}/\n")).collect();
        format!("{dirs}{tree}")
    };
    tree_text::parse(&with_parents)
        .unwrap()
        .materialise(top)
        .unwrap();
    for (place, rules) in [
        (".gitignore", "*.bak\n# a comment\n\n"),
        ("above/.gitignore", "/root/hidden/\n"),
        (
            "above/root/.gitignore",
            "/build\n*.o\n!keep.o\nonly-dir/\n*.log\nstar/**/c\nspace\\ name\n",
        ),
        ("above/root/src/.gitignore", "deep/*\n!deep/y.tmp\n"),
        ("above/root/logs/.gitignore", "!keep.log\n"),
        ("above/root/src/deep/.gitignore", "!keep.bak\n"),
    ] {
        std::fs::write(top.join(place), rules).unwrap();
    }
}

/// Files that git would take, and the directories that lead to them.
fn listed_by_git(top: &Path, root: &Path) -> Result<BTreeSet<String>, Skipped> {
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.arg("-C").arg(top).args(arguments);
        command
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null");
        output(&mut command, "git")
    };
    git(&["init", "-q", "."])?;
    let lines = git(&["ls-files", "-z", "--others", "--exclude-standard"])?;
    let prefix = root.strip_prefix(top).unwrap().to_str().unwrap().to_owned();
    Ok(lines
        .split(|&byte| byte == 0)
        .filter(|line| !line.is_empty())
        .filter_map(|line| text(line).strip_prefix(&prefix).map(str::to_owned))
        .collect())
}

#[test]
fn gitignore_leaves_out_what_git_ignores() {
    let scratch = Scratch::new().unwrap();
    let top = scratch.path().join("repository");
    repository(&top);
    for root in [
        top.clone(),
        top.join("above/root"),
        top.join("above/root/src"),
    ] {
        let expected = or_skip!(listed_by_git(&top, &root));
        for threads in THREADS {
            let exclusions = Exclusions::new().gitignore(true);
            let (found, excluded) = listed(&root, exclusions, threads);
            assert!(excluded > 0, "{root:?}");
            let files: BTreeSet<_> = (found.into_iter())
                .filter(|path| !path.starts_with("/.git/") && path != "/.git")
                .filter(|path| {
                    let path = path.trim_start_matches('/');
                    std::fs::symlink_metadata(root.join(path)).is_ok_and(|of| !of.is_dir())
                })
                .map(|path| match root == top {
                    true => path.trim_start_matches('/').to_owned(),
                    false => path,
                })
                .collect();
            let differences: Vec<_> = files.symmetric_difference(&expected).collect();
            assert!(differences.is_empty(), "{root:?}: {differences:?}");
        }
    }
}

/// Without a repository around it only the files in the tree count.
#[test]
fn gitignore_above_a_root_counts_only_within_a_repository() {
    let scratch = Scratch::new().unwrap();
    let top = scratch.path().join("no-repository");
    repository(&top);
    let root = top.join("above/root");
    let (found, _) = listed(&root, Exclusions::new().gitignore(true), 2);
    assert!(
        found.contains("/outer.bak") && found.contains("/hidden/.secret"),
        "{found:?}"
    );
    assert!(
        !found.contains("/build") && !found.contains("/keep/a.log"),
        "{found:?}"
    );
    assert!(found.contains("/src/keep.o") && !found.contains("/src/main.o"));
}

/// Each repository has its own rules: the sums of one do not depend on the root of the scan.
#[test]
fn gitignore_does_not_reach_into_another_repository() {
    let scratch = Scratch::new().unwrap();
    let top = scratch.path().join("outer");
    let tree = "
        a.log 1
        plain/
        plain/a.log 1
        inner/
        inner/a.log 1
        inner/a.tmp 1
        inner/build/
        inner/build/o 1
        inner/deep/
        inner/deep/a.log 1
        left-out/
        left-out/a 1
    ";
    tree_text::parse(tree).unwrap().materialise(&top).unwrap();
    std::fs::write(top.join(".gitignore"), "*.log\nbuild/\nleft-out\n").unwrap();
    std::fs::write(top.join("inner/.gitignore"), "*.tmp\n").unwrap();
    let inner = top.join("inner");
    let mut expected = BTreeSet::new();
    for (repository, place) in [
        (&top, "/"),
        (&inner, "/inner/"),
        (&top.join("left-out"), ""),
    ] {
        let files = or_skip!(listed_by_git(repository, repository));
        // git names a repository in another one, and nothing in it.
        let files = files.iter().filter(|file| !file.ends_with('/'));
        expected.extend(files.map(|file| format!("{place}{file}")));
    }
    expected.retain(|file| file.starts_with('/'));
    let files_of = |root: &Path, threads| {
        let (mut found, _) = listed(root, Exclusions::new().gitignore(true), threads);
        found.retain(|path| {
            let on_disk = root.join(path.trim_start_matches('/'));
            !path.contains("/.git/") && on_disk.is_file()
        });
        found
    };
    for threads in THREADS {
        assert_eq!(files_of(&top, threads), expected);
        let alone = files_of(&inner, threads);
        let alone: BTreeSet<_> = alone.iter().map(|path| format!("/inner{path}")).collect();
        let within = expected.iter().filter(|path| path.starts_with("/inner/"));
        assert_eq!(alone, within.cloned().collect());
    }
    // A worktree and a submodule have a file of this name.
    std::fs::remove_dir_all(inner.join(".git")).unwrap();
    std::fs::write(inner.join(".git"), "gitdir: elsewhere\n").unwrap();
    expected.insert("/inner/.git".to_owned());
    assert_eq!(files_of(&top, 2), expected);
}

/// A directory that is read again lost the rules above it, where there is no repository.
#[test]
fn a_part_of_a_scan_keeps_its_gitignore() {
    let scratch = Scratch::new().unwrap();
    let top = scratch.path().join("no-repository");
    repository(&top);
    let above = top.join("above");
    for roots in [vec![top.clone()], vec![above.join("root"), top.clone()]] {
        let scan = Scan::of(&roots).exclusions(Exclusions::new().gitignore(true));
        let paths = |scan: &Scan| -> BTreeSet<Vec<u8>> {
            let listed = scan.run(&Listing::of_names()).unwrap().output;
            listed.iter().map(|entry| entry.path.to_vec()).collect()
        };
        let whole = paths(&scan);
        for part in ["root", "root/src", "root/src/deep", "root/logs"].map(|at| above.join(at)) {
            let in_part = |path: &&Vec<u8>| Path::new(text(path).as_str()).starts_with(&part);
            let expected: BTreeSet<_> = whole.iter().filter(in_part).cloned().collect();
            assert!(expected.len() > 1);
            let once = scan.clone().with_root(&part);
            assert_eq!(paths(&once), expected, "{part:?}");
            // A part of a part.
            let twice = scan.clone().with_root(&above).with_root(&part);
            assert_eq!(paths(&twice), expected, "{part:?}");
        }
    }
    // Not below the scan: no rule of it.
    let scan = Scan::new(above.join("root")).exclusions(Exclusions::new().gitignore(true));
    let elsewhere = scan.with_root(&above).run(&Listing::of_names()).unwrap();
    let alone = Scan::new(&above).exclusions(Exclusions::new().gitignore(true));
    let alone = alone.run(&Listing::of_names()).unwrap();
    assert_eq!(elsewhere.output.len(), alone.output.len());
}
