// SPDX-License-Identifier: MIT OR Apache-2.0

//! Rows for other programs: those of GNU du.

use std::path::Path;

use statwalk_testkit::mounts::FileSystem;
use statwalk_testkit::{naive, or_skip, program, trees};

use crate::run::{Answer, Tree, sorted, statwalk};

/// The rows of du and of the program, with NUL at their ends, are the same.
#[track_caller]
fn same_as_du(at: &Path, du: &[&str], ours: &[&str]) {
    let theirs = Answer::of(program::command("du").arg("-0B1").args(du).current_dir(at));
    let ours_is = Answer::of(statwalk().arg("-0").args(ours).current_dir(at));
    assert_eq!(
        sorted(&ours_is.stdout, 0),
        sorted(&theirs.stdout, 0),
        "du {du:?}, statwalk {ours:?}: {}{}",
        ours_is.stderr,
        theirs.stderr
    );
    assert!(!ours_is.stdout.is_empty());
}

#[test]
fn every_named_tree_has_the_rows_of_du() {
    for (name, model) in trees::named() {
        let tree = Tree::of(&model);
        let at = tree.parent();
        println!("{name}");
        same_as_du(at, &["-s", "tree"], &["-s", "tree"]);
        same_as_du(at, &["-s", "tree"], &["-d", "0", "tree"]);
        same_as_du(at, &["-sl", "tree"], &["-sl", "tree"]);
        // Which name of a hard link has the bytes is for us the first by path,
        // for du the first that is met; and a chain is no deeper for being long.
        if !["hard_links", "deep"].contains(&name) {
            same_as_du(at, &["-d1", "tree"], &["tree"]);
            same_as_du(at, &["tree"], &["-d", "99", "tree"]);
            same_as_du(at, &["-ad2", "tree"], &["-ad2", "tree"]);
        }
        same_as_du(at, &["-ald2", "tree"], &["-ald2", "tree"]);
    }
}

#[test]
fn hard_links_count_in_the_subtree_of_the_first_name() {
    let tree = Tree::of(&trees::hard_links());
    let bytes = |arguments: &[&str], path: &str| -> u64 {
        let answer = tree.run(arguments).good();
        let lines = answer.lines();
        let row = lines.iter().find(|row| row.ends_with(&format!("\t{path}")));
        let row = row.unwrap_or_else(|| panic!("{path} in {lines:?}"));
        row.split('\t').next().unwrap().parse().unwrap()
    };
    // z/first is also a/three, which comes first: `/` is lower than `.`.
    assert_eq!(bytes(&["-A", "tree"], "tree/a"), 10_004);
    assert_eq!(bytes(&["-A", "tree"], "tree/a.d"), 0);
    assert_eq!(bytes(&["-A", "tree"], "tree/z"), 0);
    assert_eq!(bytes(&["-A", "-l", "tree"], "tree/z"), 10_000);
    let with_files = tree.run(&["-Aa", "-d9", "tree"]).good();
    let rows = with_files.sorted();
    assert!(
        rows.contains(&r"10000\ttree/a/three\n".to_owned()),
        "{rows:?}"
    );
    assert!(!rows.iter().any(|row| row.contains("z/first")), "{rows:?}");
}

#[test]
fn links_are_followed_as_by_du() {
    let tree = Tree::of(&trees::followable_links());
    let at = tree.parent();
    same_as_du(at, &["-sL", "tree"], &["-sL", "tree"]);
    // A root that is a link counts as itself, or as what it leads to.
    same_as_du(at, &["-s", "tree/a-to-real"], &["-s", "tree/a-to-real"]);
    same_as_du(at, &["-sL", "tree/a-to-real"], &["-sL", "tree/a-to-real"]);
    same_as_du(at, &["-d1", "tree/real/"], &["tree/real/"]);
}

#[test]
fn patterns_leave_out_what_they_leave_out_in_du() {
    let tree = Tree::new(
        "
        a.o            100
        src/
        src/main.c     200
        src/main.o     300
        src/.hidden.o  400
        src/deep/
        src/deep/x     500
        build/
        build/a        600
        build.d/
        build.d/a      700
        tags/
        ",
    );
    let at = tree.parent();
    for glob in [
        "*.o",
        "build",
        "src/deep",
        "tree/build*",
        "[sb]*",
        "?.o",
        "deep/x",
        "main.[co]",
    ] {
        let exclude = format!("--exclude={glob}");
        same_as_du(at, &[&exclude, "tree"], &[&exclude, "-d9", "tree"]);
    }
    // A slash at the end fits a root that is written so, and no other path.
    let roots = ["--exclude=src/", "-s", "tree/src/", "tree/build"];
    same_as_du(at, &roots, &roots);
    let refused = tree.run(&["--exclude", "src/my deep/", "tree"]);
    assert_eq!((refused.code, refused.stdout), (Some(2), Vec::new()));
    let remedy = "ends with a slash; try --exclude 'src/my deep'\n";
    assert!(refused.stderr.ends_with(remedy), "{}", refused.stderr);
    std::fs::write(at.join("patterns"), "*.o\n\nbuild\n").unwrap();
    same_as_du(
        at,
        &["-X", "patterns", "tree"],
        &["-X", "patterns", "-d9", "tree"],
    );
    let json = tree
        .run(&["-s", "--json", "-Xpatterns", "tree"])
        .good()
        .json();
    assert_eq!(json["roots"][0]["excluded"], 4);
    assert_eq!(json["roots"][0]["entries"], 8);
}

#[test]
fn caches_and_ignored_files_are_left_out_on_request_only() {
    let tree = Tree::new(
        "
        .git/
        .gitignore        10
        kept              100
        dropped           200
        cache/
        cache/CACHEDIR.TAG  43
        cache/x           5000
        ",
    );
    let path = tree.path();
    std::fs::write(path.join(".gitignore"), "dropped\n").unwrap();
    let tag = "Signature: 8a477f597d28d172789f06886806bc55";
    std::fs::write(path.join("cache/CACHEDIR.TAG"), tag).unwrap();
    let apparent = |arguments: &[&str]| {
        let answer = tree.run(&[&["-sA", "tree"], arguments].concat()).good();
        String::from_utf8(answer.stdout).unwrap()
    };
    assert_eq!(apparent(&[]), "5351\ttree\n");
    assert_eq!(apparent(&["--gitignore"]), "5151\ttree\n");
    assert_eq!(apparent(&["--exclude-caches"]), "308\ttree\n");
}

#[test]
fn roots_are_those_of_du() {
    let tree = Tree::new("a/\na/x 100\nb/\nb/y 200\nfile 300\nlink -> a");
    let at = tree.parent();
    for roots in [
        &["tree/a", "tree/b"][..],
        &["tree/b", "tree/a", "tree/file", "tree/link"],
        &["tree/a", "tree/a"],
        &["tree/a", "tree"],
        &["tree", "tree/a", "tree/b/y"],
        &["tree/file"],
    ] {
        same_as_du(at, &[&["-d1"], roots].concat(), roots);
        same_as_du(at, &[&["-s"], roots].concat(), &[&["-s"], roots].concat());
    }
    // Without a word it is the directory that one is in.
    same_as_du(&tree.path(), &["-d1"], &[]);
}

#[test]
fn apparent_sizes_are_those_of_files_and_links() {
    for model in [trees::basic(), trees::sparse(), trees::hard_links()] {
        let tree = Tree::of(&model);
        let totals = naive::scan(&tree.path()).unwrap().total().totals();
        let expected = format!("{}\ttree\n", totals.apparent_bytes);
        for flags in ["-sA", "-sb"] {
            let answer = tree.run(&[flags, "tree"]).good();
            assert_eq!(String::from_utf8(answer.stdout).unwrap(), expected);
        }
    }
}

#[test]
fn mounts_are_not_entered_where_that_is_asked() {
    let tree = Tree::new("in/\nin/x 5000\nmount/");
    let mounted = or_skip!(FileSystem::Tmpfs.mount(&tree.path().join("mount")));
    std::fs::write(mounted.path().join("y"), [0; 9000]).unwrap();
    let at = tree.parent();
    same_as_du(at, &["-d1", "tree"], &["tree"]);
    same_as_du(at, &["-xd1", "tree"], &["-x", "tree"]);
    let json = tree.run(&["-sx", "--json", "tree"]).good().json();
    assert_eq!(json["roots"][0]["crossings"], 1);
    assert_eq!(json["roots"][0]["dirs"], 3);
    let json = tree.run(&["-s", "--json", "tree"]).good().json();
    assert_eq!(json["roots"][0]["crossings"], 0);
    assert_eq!(json["roots"][0]["files"], 2);
}

#[test]
fn rows_stand_in_the_order_that_is_asked_for() {
    let tree = Tree::new(
        "
        a/
        a/1  30 mtime=1000
        b/
        b/1  10 mtime=3000
        b/2  1  mtime=1000
        c/
        c/1  20 mtime=2000
        c/2  1  mtime=1000
        c/3  1  mtime=1000
        ",
    );
    let order = |arguments: &[&str]| -> String {
        let answer = tree.run(&[&["-A", "tree"], arguments].concat()).good();
        let paths = answer
            .lines()
            .into_iter()
            .map(|row| row.split_once('\t').unwrap().1);
        let names = paths.map(|path| path.strip_prefix("tree/").unwrap_or("."));
        names.collect()
    };
    assert_eq!(order(&[]), "acb.");
    assert_eq!(order(&["-r"]), "bca.");
    assert_eq!(order(&["--sort", "name"]), "abc.");
    assert_eq!(order(&["--sort", "count"]), "cba.");
    assert_eq!(order(&["--sort=mtime"]), "bca.");
    assert_eq!(order(&["--sort=mtime", "-r"]), "acb.");
    assert_eq!(order(&["-n2"]), "a.");
    assert_eq!(order(&["-n2", "--sort=name", "-r"]), "c.");
}

#[test]
fn sizes_are_bytes_unless_another_unit_is_asked_for() {
    let tree = Tree::new("x 2500000");
    for (flags, expected) in [
        (&["-sA"][..], "2500000\ttree\n"),
        (&["-sb"], "2500000\ttree\n"),
        (&["-sA", "--si"], "2.5M\ttree\n"),
        (&["-sA", "--unit", "KiB"], "2442KiB\ttree\n"),
        (&["-sA", "--unit=kb"], "2500kB\ttree\n"),
        (&["--count"], "2\ttree\n"),
    ] {
        let answer = tree.run(&[flags, &["tree"]].concat()).good();
        assert_eq!(
            String::from_utf8(answer.stdout).unwrap(),
            expected,
            "{flags:?}"
        );
    }
}

#[test]
fn names_leave_as_they_are() {
    let tree = Tree::new("\\xff\\e[2J\\n/");
    let answer = tree.run(&["-A", "tree"]).good();
    assert_eq!(answer.stdout, b"0\ttree/\xff\x1b[2J\n\n0\ttree\n");
    let answer = tree.run(&["-A0", "tree"]).good();
    assert_eq!(answer.stdout, b"0\ttree/\xff\x1b[2J\n\x000\ttree\0");
    // Colour is for terminals, whatever is wished.
    let answer = tree.run(&["-A", "--color=always", "tree"]).good();
    assert_eq!(answer.stdout, b"0\ttree/\xff\x1b[2J\n\n0\ttree\n");
}

#[test]
fn a_word_that_is_a_subcommand_is_a_directory_with_a_dot() {
    let tree = Tree::new("top/\ntop/x 10\nextents/");
    let mut command = statwalk();
    command
        .args(["-A", "./top", "./extents"])
        .current_dir(tree.path());
    let answer = Answer::of(&mut command).good();
    assert_eq!(answer.lines(), ["10\t./top", "0\t./extents"]);
}

#[test]
fn a_word_that_names_no_command_is_a_path() {
    let tree = Tree::new("x 1");
    for name in [
        "diff", "history", "query", "export", "import", "serve", "watch", "trash", "config",
        "schema", "info", "since", "tops",
    ] {
        let path = tree.parent().join(name);
        let missing = format!("statwalk: cannot open {name}: no such file or directory");
        let stderr = tree.run(&[name]).stderr;
        assert!(stderr.starts_with(&missing), "{stderr}");
        std::fs::create_dir(&path).unwrap();
        std::fs::write(path.join("file"), [1; 10]).unwrap();
        let answer = tree.run(&[name, "-sA"]).good();
        assert_eq!(answer.lines(), [format!("10\t{name}")]);
    }
}

#[test]
fn a_deep_tree_has_one_row() {
    let tree = Tree::of(&trees::deep(3_000));
    same_as_du(tree.parent(), &["-s", "tree"], &["-s", "tree"]);
    let mut command = program::command("find");
    let found = Answer::of(command.arg("tree").current_dir(tree.parent()));
    let names = found.stdout.iter().filter(|&&byte| byte == b'\n').count();
    let answer = tree.run(&["--count", "tree"]).good();
    assert_eq!(answer.lines(), [format!("{names}\ttree")]);
}

/// Programs sort and add these rows as they do those of du.
#[test]
fn units_in_rows_are_those_of_du() {
    let tree = Tree::new("small 3\nlarge/\nlarge/file 3000000\nlarge/other 70000");
    for (ours, theirs) in [("--unit=M", "-BM"), ("--unit=kB", "-BkB"), ("--si", "--si")] {
        let rows = tree.run(&["-d1", ours, "tree"]).good().sorted();
        let mut du = program::command("du");
        du.args(["-d1", theirs, "tree"]).current_dir(tree.parent());
        let expected = Answer::of(&mut du).good().sorted();
        assert_eq!(rows, expected, "{ours}");
    }
}
