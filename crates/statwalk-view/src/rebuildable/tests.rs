// SPDX-License-Identifier: MIT OR Apache-2.0

//! The search in trees that are written down.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::*;

/// A tree by paths: directories end with a slash, links with an at sign. Files with the
/// signature of a cache are called `CACHEDIR.TAG!`.
#[derive(Default)]
struct Tree {
    /// The directories, by their paths: their traces, and whether a valid tag lies there.
    dirs: BTreeMap<String, (Traces, bool)>,
}

impl Tree {
    fn new<'p>(paths: impl IntoIterator<Item = &'p str>) -> Tree {
        let mut tree = Tree::default();
        tree.dirs.insert(String::new(), Default::default());
        for path in paths {
            tree.add(path);
        }
        tree
    }

    fn add(&mut self, path: &str) {
        let (path, kind) = match path.strip_suffix('/') {
            Some(path) => (path, TraceKind::Directory),
            None => (path, TraceKind::File),
        };
        let (path, kind) = match path.strip_suffix('@') {
            Some(path) => (path, TraceKind::Other),
            None => (path, kind),
        };
        let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
        if !self.dirs.contains_key(above) {
            self.add(&format!("{above}/"));
        }
        if kind == TraceKind::Directory {
            self.dirs.entry(path.to_owned()).or_default();
        }
        let (name, is_tag) = match name.strip_suffix('!') {
            Some(name) => (name, true),
            None => (name, false),
        };
        let dir = self.dirs.get_mut(above).unwrap();
        dir.0 |= Traces::of(name.as_bytes(), kind);
        dir.1 |= is_tag;
    }

    /// The answer of a search as `path (program)`, in the order of paths.
    fn found_below(&self, root: &str) -> Vec<String> {
        let mut all = Vec::new();
        search(&self, &self.start(root), &mut |dir, rule| {
            all.push(format!("{dir} ({})", rule.rebuilt_by));
            ControlFlow::Continue(())
        });
        all.sort_unstable();
        all
    }

    fn start(&self, path: &str) -> Start<&str> {
        Start {
            dir: self.key(""),
            path: path.as_bytes().to_vec(),
            is_hidden: false,
        }
    }

    fn key(&self, path: &str) -> &str {
        self.dirs.get_key_value(path).unwrap().0
    }
}

impl<'t> Directories for &'t Tree {
    type Dir = &'t str;

    fn name(&self, dir: &'t str) -> Cow<'_, [u8]> {
        dir.rsplit('/').next().unwrap().as_bytes().into()
    }

    fn listing(&self, dir: &'t str) -> Listing<&'t str> {
        let below = self.dirs.keys().filter(|path| {
            let (above, _) = path.rsplit_once('/').unwrap_or(("", path));
            !path.is_empty() && above == dir
        });
        Listing {
            traces: self.dirs[dir].0,
            dirs: below.map(String::as_str).collect(),
        }
    }

    fn has_valid_tag(&self, dir: &'t str) -> bool {
        self.dirs[dir].1
    }
}

#[track_caller]
fn check(paths: &[&str], expected: &[&str]) {
    let tree = Tree::new(paths.iter().copied());
    assert_eq!(tree.found_below("/home/kim"), expected, "{paths:?}");
}

/// A directory that fits a pattern of names.
fn example(names: &str) -> String {
    names.replace('*', "x")
}

/// The paths that a rule asks for, below `top`, and one alternative of each need. Without
/// the need `absent`.
fn paths_of(rule: &Rule, name: &str, top: &str, absent: Option<usize>) -> Vec<String> {
    let dir = format!("{top}{}", example(name));
    let above = dir.rsplit_once('/').unwrap().0.to_owned();
    let mut paths = vec![format!("{dir}/"), format!("{dir}/content")];
    for (index, need) in rule.needs.iter().enumerate() {
        if Some(index) == absent {
            continue;
        }
        let first = |names: &str| names.split(' ').next().unwrap().to_owned();
        match need {
            Need::Beside(names) => paths.push(format!("{above}/{}", first(names))),
            Need::Inside("CACHEDIR.TAG") => paths.push(format!("{dir}/CACHEDIR.TAG!")),
            Need::Inside(names) => paths.push(format!("{dir}/{}", first(names))),
            _ => {}
        }
    }
    paths
}

fn found_by(rule: &Rule, paths: &[String]) -> bool {
    let tree = Tree::new(paths.iter().map(String::as_str));
    let end = format!("({})", rule.rebuilt_by);
    tree.found_below("/home/kim")
        .iter()
        .any(|found| found.ends_with(&end))
}

#[test]
fn each_rule_holds_by_all_of_its_proofs_alone() {
    for rule in RULES.iter() {
        for name in rule.names.split(' ') {
            let paths = paths_of(rule, name, "work/", None);
            assert!(found_by(rule, &paths), "{rule:?} {paths:?}");
            let is_positive = |need: &Need| matches!(need, Need::Beside(_) | Need::Inside(_));
            let positive = rule.needs.iter().enumerate();
            for (index, _) in positive.filter(|(_, need)| is_positive(need)) {
                let paths = paths_of(rule, name, "work/", Some(index));
                assert!(!found_by(rule, &paths), "{rule:?} {paths:?}");
            }
        }
    }
}

#[test]
fn each_rule_yields_to_work_of_people() {
    for rule in RULES.iter() {
        for name in rule.names.split(' ') {
            let dir = format!("work/{}", example(name));
            let mut against = vec![
                format!("{dir}/.git/"),
                format!("{dir}/.git"),
                format!("{dir}/.jj@"),
            ];
            for need in &rule.needs {
                let (Need::Without(names) | Need::WithoutBelow(names)) = need else {
                    continue;
                };
                for name in names.split(' ') {
                    against.push(format!("{dir}/{name}"));
                    against.push(format!("{dir}/{name}/"));
                    if matches!(need, Need::WithoutBelow(_)) {
                        against.push(format!("{dir}/below/{name}"));
                    }
                }
            }
            for one in against {
                let mut paths = paths_of(rule, name, "work/", None);
                paths.push(one);
                assert!(!found_by(rule, &paths), "{rule:?} {paths:?}");
            }
        }
    }
}

#[test]
fn projects_below_a_hidden_directory_belong_to_programs() {
    for rule in RULES.iter() {
        for name in rule.names.split(' ') {
            let paths = paths_of(rule, name, ".local/x/", None);
            let is_found = rule.scope == Scope::Everywhere;
            assert_eq!(found_by(rule, &paths), is_found, "{rule:?} {paths:?}");
        }
    }
    // The search begins below the hidden directory.
    let tree = Tree::new([
        "a/Cargo.toml",
        "a/target/.rustc_info.json",
        "c/CACHEDIR.TAG!",
    ]);
    let start = Start {
        is_hidden: true,
        ..tree.start("/home/kim/.x")
    };
    let mut all = Vec::new();
    search(&&tree, &start, &mut |dir, _| {
        all.push(dir);
        ControlFlow::Continue(())
    });
    assert_eq!(all, ["c"]);
    // The user named the root.
    let tree = Tree::new(["a/Cargo.toml", "a/target/.rustc_info.json"]);
    assert_eq!(
        tree.found_below("/home/kim/.work"),
        ["a/target (cargo build)"]
    );
}

#[test]
fn nothing_in_a_closed_place_is_found() {
    for closed in CLOSED {
        let top = format!("{}/a/", example(closed));
        for rule in RULES.iter() {
            let name = rule.names.split(' ').next().unwrap();
            let paths = paths_of(rule, name, &top, None);
            assert!(!found_by(rule, &paths), "{paths:?}");
        }
        let tree = Tree::new(["a/Cargo.toml", "a/target/.rustc_info.json"]);
        for root in [
            format!("/{}", example(closed)),
            format!("/x/{}/b/c", example(closed)),
        ] {
            assert!(tree.found_below(&root).is_empty(), "{root}");
        }
    }
    let tree = Tree::new(["__pycache__/a.pyc"]);
    for root in [
        "/",
        "",
        "/home/usr",
        "/home/usr/src/app",
        "/lib/python",
        "/x/node_modules2",
    ] {
        assert_eq!(tree.found_below(root), ["__pycache__ (python)"], "{root}");
    }
}

#[test]
fn a_directory_of_another_meaning_is_none() {
    for paths in [
        // Named so by a person.
        &[
            "target/notes.txt",
            "build/report.pdf",
            "deps/a",
            "vendor/b",
            "obj/c",
            "env/d",
        ][..],
        // A module that is called target, and one that is called build.
        &["Cargo.toml", "target/Cargo.toml", "target/.rustc_info.json"],
        &["pom.xml", "target/pom.xml", "target/classes/"],
        &["build.gradle", "build/build.gradle", "build/classes/"],
        // The results of cargo in the directory of the source.
        &[
            "a/Cargo.toml",
            "a/src/main.rs",
            "a/.rustc_info.json",
            "a/CACHEDIR.TAG!",
        ],
        // A build in the directory of its source, and above it.
        &["a/CMakeLists.txt", "a/CMakeCache.txt", "a/CMakeFiles/"],
        &[
            "build-a/src/CMakeLists.txt",
            "build-a/CMakeCache.txt",
            "build-a/CMakeFiles/",
        ],
        // Files and links.
        &["package.json", "node_modules"],
        &["package.json", "node_modules@", "Cargo.toml", "target@"],
        &["package.json@", "node_modules/.package-lock.json"],
        &["package.json/", "node_modules/.package-lock.json"],
        &["package.json", "node_modules/.package-lock.json/"],
        // Packages that are installed for all.
        &[
            "lib/node_modules/.package-lock.json",
            "lib/node_modules/a/package.json",
        ],
        &[
            "lib/node_modules/a/package.json",
            "lib/node_modules/a/node_modules/.package-lock.json",
        ],
        // A tag without the signature.
        &["a/CACHEDIR.TAG"],
        &["a/CACHEDIR.TAG@"],
        // The user's own directory of Gradle, beside a project.
        &["build.gradle", ".gradle/gradle.properties"],
        // An environment whose packages nobody has written down.
        &["venv/pyvenv.cfg", "venv/bin/python@"],
        // Names that only look so.
        &["package.json", "Node_modules/.package-lock.json"],
        &[
            "package.json",
            "node_modules2/.package-lock.json",
            "a/xgo/pkg/mod/cache/",
        ],
    ] {
        check(paths, &[]);
    }
}

#[test]
fn the_outermost_comes_alone() {
    check(
        &[
            "a/package.json",
            "a/node_modules/.package-lock.json",
            "a/node_modules/b/package.json",
            "a/node_modules/b/node_modules/.package-lock.json",
            "a/node_modules/.cache/CACHEDIR.TAG!",
            "a/node_modules/c/__pycache__/",
            "a/c/__pycache__/",
        ],
        &["a/c/__pycache__ (python)", "a/node_modules (npm install)"],
    );
    // What is in a tag that is none is looked at.
    check(
        &["a/CACHEDIR.TAG", "a/b/CACHEDIR.TAG!", "a/b/c/__pycache__/"],
        &["a/b (CACHEDIR.TAG)"],
    );
}

#[test]
fn the_program_that_made_it_has_the_row() {
    check(
        &[
            "a/Cargo.toml",
            "a/target/.rustc_info.json",
            "a/target/CACHEDIR.TAG!",
            "elsewhere/.rustc_info.json",
            "elsewhere/CACHEDIR.TAG!",
            ".cargo/registry/CACHEDIR.TAG!",
            ".cache/uv/CACHEDIR.TAG!",
            ".cache/fontconfig/CACHEDIR.TAG!",
        ],
        &[
            ".cache/fontconfig (CACHEDIR.TAG)",
            ".cache/uv (uv)",
            ".cargo/registry (cargo fetch)",
            "a/target (cargo build)",
            "elsewhere (cargo build)",
        ],
    );
}

#[test]
fn a_directory_that_was_not_read_whole_proves_nothing() {
    let mut tree = Tree::new(["Cargo.toml", "target/.rustc_info.json"]);
    assert_eq!(tree.found_below("/w").len(), 1);
    tree.dirs.get_mut("target").unwrap().0 |= Traces::UNREAD;
    assert_eq!(tree.found_below("/w"), Vec::<String>::new());
    let paths = ["build/CMakeCache.txt", "build/CMakeFiles/", "build/a/b"];
    let mut tree = Tree::new(paths);
    assert_eq!(tree.found_below("/w"), ["build (cmake)"]);
    tree.dirs.get_mut("build/a").unwrap().0 |= Traces::UNREAD;
    assert_eq!(tree.found_below("/w"), Vec::<String>::new());
}

#[test]
fn the_search_ends_when_it_is_told() {
    let tree = Tree::new(["a/__pycache__/", "b/__pycache__/", "c/__pycache__/"]);
    let mut count = 0;
    search(&&tree, &tree.start("/w"), &mut |_, _| {
        count += 1;
        ControlFlow::Break(())
    });
    assert_eq!(count, 1);
}

/// A row that no directory can reach would be a promise that nobody keeps.
#[test]
fn texts_of_rules_are_whole() {
    for rule in RULES.iter() {
        let needs = rule.needs.iter().filter_map(|need| match need {
            Need::Beside(names) | Need::Inside(names) => Some(*names),
            Need::Without(names) | Need::WithoutBelow(names) => Some(*names),
            Need::ValidTag => None,
        });
        for words in needs.chain([rule.names]) {
            assert!(words.split(' ').all(|word| !word.is_empty()), "{rule:?}");
        }
        assert!(
            !rule.origin.is_empty() && rule.rebuilt_by.len() <= 20,
            "{rule:?}"
        );
    }
}
