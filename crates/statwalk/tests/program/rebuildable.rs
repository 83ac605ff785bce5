// SPDX-License-Identifier: MIT OR Apache-2.0

//! `top --rebuildable`: directories that a program makes again, and those that only look so.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use statwalk_testkit::mounts::ext4_image;
use statwalk_testkit::{or_skip, program};
use statwalk_view::rebuildable::{CACHE_TAG, CLOSED, Need, PROJECTS, RULES, Rule, Scope};

use crate::browse::Browser;
use crate::picture::on_terminal;
use crate::run::{Answer, Tree, as_ordinary_user, statwalk};
use crate::schema;

/// True ones and their false friends.
const ENTRIES: &str = "
    web/
    web/package.json                              300
    web/node_modules/
    web/node_modules/.package-lock.json           9000    mtime=1600000000
    web/node_modules/left/
    web/node_modules/left/package.json            100     mtime=1600000000
    web/node_modules/left/index.js                70000   mtime=1600000000
    web/node_modules/left/node_modules/
    web/node_modules/left/node_modules/.package-lock.json  50  mtime=1600000000
    web/src/
    web/src/target/
    web/src/target/plan.txt                       200000
    web/dist/
    web/dist/index.html                           5000
    rust/
    rust/Cargo.toml                               50
    rust/target/
    rust/target/CACHEDIR.TAG                      0
    rust/target/debug/
    rust/target/debug/program                     400000
    rust/crates/
    rust/crates/target/
    rust/crates/target/Cargo.toml                 50
    rust/crates/target/src/
    rust/crates/target/src/lib.rs                 6000
    py/
    py/requirements.txt                           20
    py/venv/
    py/venv/pyvenv.cfg                            60
    py/venv/lib/
    py/venv/lib/a.py                              30000
    py/__pycache__/
    py/__pycache__/a.pyc                          5000
    notes/
    notes/venv/
    notes/venv/letter.txt                         900
    notes/build/
    notes/build/house.dwg                         80000
    notes/node_modules                            77
    notes/package.json                            10
    linked/
    linked/package.json                           10
    linked/node_modules                           -> ../web/node_modules
    c/
    c/CMakeLists.txt                              10
    c/CMakeCache.txt                              10
    c/CMakeFiles/
    c/main.c                                      40000
    c/build/
    c/build/CMakeCache.txt                        10
    c/build/CMakeFiles/
    c/build/main.o                                150000
    .vscode/
    .vscode/extensions/
    .vscode/extensions/x/
    .vscode/extensions/x/package.json             10
    .vscode/extensions/x/node_modules/
    .vscode/extensions/x/node_modules/.package-lock.json  10
    cache/
    cache/CACHEDIR.TAG                            0
    cache/data                                    60000
    nocache/
    nocache/CACHEDIR.TAG                          99
    nocache/data                                  60000
    .cargo/
    .cargo/config.toml                            30
    .cargo/registry/
    .cargo/registry/src/
    .cargo/registry/src/a.rs                      20000
    ";

/// The tree, with a tag that is valid.
fn tree() -> Tree {
    let tree = Tree::new(ENTRIES);
    fs::write(tree.path().join("cache/CACHEDIR.TAG"), CACHE_TAG).unwrap();
    tree
}

/// The expected directories, largest first.
const EXPECTED: [&str; 7] = [
    "rust/target",
    "c/build",
    "web/node_modules",
    "cache",
    "py/venv",
    ".cargo/registry",
    "py/__pycache__",
];

/// The paths of rows, without the root, sorted.
fn paths(answer: &Answer, root: &str) -> Vec<String> {
    let lines = answer.lines().into_iter();
    let paths = lines.map(|line| line.split_once('\t').unwrap().1);
    let mut paths: Vec<String> = paths
        .map(|path| {
            path.strip_prefix(root)
                .unwrap()
                .trim_matches('/')
                .to_owned()
        })
        .collect();
    paths.sort();
    paths
}

fn sorted(paths: &[&str]) -> Vec<String> {
    let mut paths: Vec<String> = paths.iter().map(|&path| path.to_owned()).collect();
    paths.sort();
    paths
}

#[test]
fn only_what_a_program_makes_again_is_listed() {
    let tree = tree();
    let answer = tree.run(&["top", "--rebuildable", "tree"]).good();
    let rows: Vec<_> = answer.lines();
    let named = rows.iter().map(|row| row.rsplit_once("tree/").unwrap().1);
    assert_eq!(named.collect::<Vec<_>>(), EXPECTED);
    for flag in [
        "-j1",
        "--order=queue",
        "--source=posix",
        "--stat-order=inode",
    ] {
        let other = tree.run(&["top", "--rebuildable", flag, "tree"]).good();
        assert_eq!(other.lines(), rows, "{flag}");
    }
}

/// On 40×10 the sentence took two lines, and with an error the head had left the screen.
#[test]
fn all_fits_on_a_small_terminal() {
    let tree = tree();
    let text = |columns, rows| {
        let mut command = statwalk();
        command.args(["top", "--rebuildable", "--color=never", "tree"]);
        on_terminal(command.current_dir(tree.parent()), columns, rows)
    };
    let small = text(40, 10);
    assert!(small.lines().count() < 10, "{small}");
    assert!(small.contains("\n7 directories to rebuild: "), "{small}");
    let usual = text(80, 24);
    assert!(
        usual.contains("\n7 directories can be rebuilt: "),
        "{usual}"
    );
}

/// `du` counts the same bytes, of each and of all together.
#[test]
fn the_sums_are_those_of_du() {
    let tree = tree();
    // A file of two names counts once.
    let path = |name: &str| tree.path().join(name);
    fs::hard_link(
        path("web/node_modules/left/index.js"),
        path("py/venv/lib/twice"),
    )
    .unwrap();
    fs::hard_link(path("cache/data"), path("cache/again")).unwrap();
    let mut du = program::command("du");
    du.args(["-sB1", "-c"])
        .args(EXPECTED)
        .current_dir(tree.path());
    let du = Answer::of(&mut du).good();
    let total = du.lines().last().unwrap().replace("\ttotal", "");

    let document = tree
        .run(&["top", "--rebuildable", "--json", "tree"])
        .good()
        .json();
    schema::check("top", &document);
    let sum = &document["rebuildable"];
    assert_eq!(sum["dirs"], EXPECTED.len());
    assert_eq!(sum["allocated_bytes"].to_string(), total);
    let rows = document["top"].as_array().unwrap();
    let added: u64 = rows
        .iter()
        .map(|row| row["allocated_bytes"].as_u64().unwrap())
        .sum();
    assert_eq!(added.to_string(), total);
    for row in rows {
        let path = row["path"].as_str().unwrap();
        if path.contains("node_modules") || path.contains("venv") {
            continue;
        }
        let mut du = program::command("du");
        du.args(["-sB1", path]).current_dir(tree.parent());
        let expected = format!("{}\t{path}", row["allocated_bytes"]);
        assert_eq!(Answer::of(&mut du).good().lines(), [expected]);
    }
    let by = |end: &str| {
        let row = rows
            .iter()
            .find(|row| row["path"].as_str().unwrap().ends_with(end));
        row.unwrap()["rebuilt_by"].clone()
    };
    assert_eq!(by("rust/target"), "cargo build");
    assert_eq!(by("web/node_modules"), "npm install");
    assert_eq!(by("/cache"), "CACHEDIR.TAG");
    assert_eq!(by("c/build"), "cmake");
}

#[test]
fn an_image_has_the_same_without_the_content_of_tags() {
    let tree = tree();
    let image = tree.parent().join("image");
    or_skip!(ext4_image(&image, 64 << 20, &[], Some(&tree.path())));
    let answer = tree
        .run(&["top", "--rebuildable", "--source", "ext4", "image"])
        .good();
    let expected = EXPECTED.into_iter().filter(|path| *path != "cache");
    assert_eq!(
        paths(&answer, "image"),
        sorted(&expected.collect::<Vec<_>>())
    );
}

/// A name that nobody expects, in every place.
#[test]
fn hostile_names_are_paths_like_others() {
    let tree = Tree::new("x 1");
    let mut expected = Vec::new();
    for name in [
        &b"a\nb"[..],
        b"a\tb",
        b"\xff\xfe",
        b"\x1b[31m",
        b"node_modules\n",
        b" ",
    ] {
        let dir = tree.path().join(OsStr::from_bytes(name));
        let modules = dir.join("node_modules");
        fs::create_dir_all(modules.join(OsStr::from_bytes(name))).unwrap();
        fs::write(dir.join("package.json"), "{}").unwrap();
        fs::write(modules.join(".package-lock.json"), "{}").unwrap();
        expected.push([b"tree/", name, b"/node_modules"].concat());
        // Nearly the names of proofs.
        let other = dir.join("target");
        fs::create_dir(&other).unwrap();
        for false_name in [
            &b"CACHEDIR.TAG\n"[..],
            b"CACHEDIR.TAG ",
            b".rustc_info.json\0",
        ] {
            let end = false_name.iter().position(|byte| *byte == 0);
            let false_name = &false_name[..end.unwrap_or(false_name.len()).min(15)];
            fs::write(other.join(OsStr::from_bytes(false_name)), CACHE_TAG).unwrap();
        }
    }
    let answer = tree.run(&["top", "--rebuildable", "-0", "tree"]).good();
    let rows = answer.stdout.split(|byte| *byte == 0);
    let rows = rows.filter(|row| !row.is_empty()).map(|row| {
        let tab = row.iter().position(|byte| *byte == b'\t').unwrap();
        row[tab + 1..].to_vec()
    });
    let mut rows: Vec<Vec<u8>> = rows.collect();
    rows.sort();
    expected.sort();
    assert_eq!(rows, expected);
}

#[test]
fn filters_choose_among_them() {
    let tree = tree();
    let listed = |arguments: &[&str]| {
        let answer = tree.run(&[&["top", "--rebuildable"], arguments, &["tree"]].concat());
        paths(&answer.good(), "tree")
    };
    assert_eq!(listed(&["-n2"]), ["c/build", "rust/target"]);
    assert_eq!(listed(&["-g", "*node*"]), ["web/node_modules"]);
    assert_eq!(listed(&["-S", "+80kB"]), ["c/build", "rust/target"]);
    // The newest file within counts.
    assert_eq!(
        listed(&["--changed-before", "2021-01-01"]),
        ["web/node_modules"]
    );
    assert_eq!(listed(&["--changed-within", "2021-01-01"]).len(), 6);
    assert_eq!(listed(&["--exclude", "web"]).len(), 6);
    let reversed = tree
        .run(&["top", "--rebuildable", "-r", "-n3", "tree"])
        .good();
    assert!(
        reversed.lines()[2].ends_with("rust/target"),
        "{:?}",
        reversed.lines()
    );
    // The sum is that of all that pass, with a row or without.
    let arguments = [
        "top",
        "--rebuildable",
        "-n1",
        "-S",
        "+80kB",
        "--json",
        "tree",
    ];
    let document = tree.run(&arguments).good().json();
    assert_eq!(document["top"].as_array().unwrap().len(), 1);
    assert_eq!(document["rebuildable"]["dirs"], 2);
    for wrong in [
        &["--dirs"][..],
        &["-t", "f"],
        &["--owner", "root"],
        &["-d", "1"],
        &["-L"],
    ] {
        let answer = tree.run(&[&["top", "--rebuildable"], wrong, &["tree"]].concat());
        assert_eq!(answer.code, Some(2), "{wrong:?}");
        assert!(answer.stderr.contains("--rebuildable"), "{}", answer.stderr);
    }
}

/// The place of a directory is that of its real path, wherever the scan begins.
#[test]
fn a_place_does_not_depend_on_the_root() {
    let tree = tree();
    let listed = |directory: &str, root: &str| {
        let mut command = statwalk();
        command.args(["top", "--rebuildable", root]);
        let answer = Answer::of(command.current_dir(tree.path().join(directory)));
        paths(&answer.good(), root)
    };
    assert_eq!(listed(".cargo", "."), ["registry"]);
    symlink(".cargo", tree.path().join("other")).unwrap();
    assert_eq!(listed("", "other/."), ["registry"]);
    // A root is never listed, and what is in packages neither.
    assert_eq!(listed("web", "node_modules"), [""; 0]);
    assert_eq!(listed("web/node_modules", "."), [""; 0]);
    assert_eq!(listed("rust", "target"), [""; 0]);
    let twice = tree.run(&["top", "--rebuildable", "tree/web", "tree", "nowhere"]);
    let named = twice.lines().into_iter();
    let named = named.filter(|line| line.ends_with("web/node_modules"));
    assert_eq!(named.count(), 1);
}

#[test]
fn an_unreadable_directory_proves_nothing() {
    let tree = tree();
    for closed in ["web/node_modules", "rust"] {
        let path = tree.path().join(closed);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o311)).unwrap();
    }
    let mut command = or_skip!(as_ordinary_user(&tree));
    let answer = Answer::of(command.args(["top", "--rebuildable", "tree"]));
    assert_eq!(answer.code, Some(1));
    let expected = EXPECTED.into_iter();
    let expected = expected.filter(|path| !path.contains("web") && !path.contains("rust"));
    assert_eq!(
        paths(&answer, "tree"),
        sorted(&expected.collect::<Vec<_>>())
    );
}

#[test]
fn the_table_names_the_program_and_the_sum() {
    let tree = tree();
    let table = |width: &str| {
        let answer = tree.run(&["top", "--rebuildable", "--width", width, "tree"]);
        String::from_utf8(answer.good().stdout).unwrap()
    };
    let wide = table("100");
    let head: Vec<&str> = wide.lines().next().unwrap().split("  ").collect();
    let head: Vec<&str> = head
        .into_iter()
        .map(str::trim)
        .filter(|word| !word.is_empty())
        .collect();
    assert_eq!(head, ["DISK", "SHARE", "NEWEST", "REBUILT BY", "DIRECTORY"]);
    assert!(
        wide.contains("cargo build     tree/rust/target\n"),
        "{wide}"
    );
    assert!(wide.contains("\n7 directories can be rebuilt: "), "{wide}");
    assert!(table("40").lines().all(|line| line.chars().count() <= 40));
    let none = tree
        .run(&["top", "--rebuildable", "--table", "tree/notes"])
        .good();
    let none = String::from_utf8(none.stdout).unwrap();
    let sentence = "statwalk found no directory that a program makes again.";
    assert!(none.contains(sentence), "{none}");
}

/// The browser has the same directories, and marks none by itself.
#[test]
fn the_view_of_the_browser_has_the_same() {
    let tree = tree();
    let mut browser = or_skip!(Browser::start(tree.parent(), &["tree"]));
    browser.wait_for("nocache/");
    browser.wait_for_scan();
    browser.press("9");
    browser.wait_for("7 directories, ");
    for text in ["cargo build", "npm install", "CACHEDIR.TAG", "rust/target/"] {
        assert!(browser.screen().contains(text), "{}", browser.screen());
    }
    assert!(!browser.screen().contains("marked"), "{}", browser.screen());
    browser.press("E");
    browser.wait_for("nothing is marked");
    browser.press("*");
    browser.wait_for("7 marked: ");
    browser.press("Elist\r");
    browser.wait_for("paths are in list");
    let list = fs::read(tree.parent().join("list")).unwrap();
    let root = [tree.path().as_os_str().as_bytes(), b"/"].concat();
    let paths = list
        .split(|byte| *byte == 0)
        .filter(|path| !path.is_empty());
    let mut paths: Vec<String> = paths
        .map(|path| String::from_utf8(path.strip_prefix(&root[..]).unwrap().to_vec()).unwrap())
        .collect();
    paths.sort();
    assert_eq!(paths, sorted(&EXPECTED));
    // Enter shows the directory beside the others.
    browser.press("\x1b[H\r");
    browser.wait_for("Cargo.toml");
    assert!(
        browser.screen().contains("tree/rust "),
        "{}",
        browser.screen()
    );
    browser.press("qq");
    assert_eq!(browser.end().0.code(), Some(0));
}

#[test]
fn the_marked_ones_alone_go_to_the_trash_and_come_back() {
    let tree = tree();
    let mut browser = or_skip!(Browser::start(tree.parent(), &["--enable-delete", "tree"]));
    browser.wait_for("nocache/");
    browser.wait_for_scan();
    browser.press("9");
    browser.wait_for("7 directories, ");
    browser.press("* ");
    browser.wait_for("6 marked: ");
    browser.press("d");
    browser.wait_for("[Cancel]");
    browser.press("y");
    browser.wait_for("1 directory, ");
    browser.wait_for("in the trash");
    let is_there = |path: &str| tree.path().join(path).exists();
    // The cursor was on the largest, and Space took its mark back.
    assert!(is_there(EXPECTED[0]));
    assert!(EXPECTED[1..].iter().all(|path| !is_there(path)));
    for friend in [
        "notes/build/house.dwg",
        "c/main.c",
        "nocache/data",
        ".cargo/config.toml",
    ] {
        assert!(is_there(friend), "{friend}");
    }
    browser.press("U");
    browser.wait_for("7 directories, ");
    assert!(EXPECTED.iter().all(|path| is_there(path)));
    browser.press("q");
    assert_eq!(browser.end().0.code(), Some(0));
}

/// The directories that programs make here and now.
#[test]
fn real_programs_make_what_the_rules_say() {
    let tree = Tree::new(
        "
        c/
        c/CMakeLists.txt   0
        py/
        py/pyproject.toml  0
        py/a.py            5
        npm/
        npm/package.json   0
        npm/local/
        npm/local/package.json  0
        ",
    );
    let path = |name: &str| tree.path().join(name);
    fs::write(
        path("c/CMakeLists.txt"),
        "cmake_minimum_required(VERSION 3.10)\nproject(a NONE)\n",
    )
    .unwrap();
    fs::write(path("py/a.py"), "a = 1").unwrap();
    let package =
        |name: &str, more: &str| format!(r#"{{"name":"{name}","version":"1.0.0"{more}}}"#);
    fs::write(path("npm/local/package.json"), package("local", "")).unwrap();
    let needs = r#","dependencies":{"local":"file:local"}"#;
    fs::write(path("npm/package.json"), package("app", needs)).unwrap();
    let mut expected = Vec::new();
    for (made, directory, line) in [
        ("c/build-x", "c", "cmake -S . -B build-x"),
        ("py/.venv", "py", "python3 -m venv --without-pip .venv"),
        ("py/__pycache__", "py", "python3 -m compileall -q a.py"),
        (
            "npm/node_modules",
            "npm",
            "npm install --offline --no-audit --no-fund",
        ),
    ] {
        let mut command = Command::new("sh");
        command.args(["-c", line]).current_dir(path(directory));
        let ended = command.output().unwrap();
        if ended.status.success() && Path::new(&path(made)).is_dir() {
            expected.push(made);
        } else {
            println!(
                "skipped: {line}: {}",
                String::from_utf8_lossy(&ended.stderr)
            );
        }
    }
    let answer = tree.run(&["top", "--rebuildable", "tree"]).good();
    assert_eq!(paths(&answer, "tree"), sorted(&expected));
}

/// The page that is made from the rules; `RENEW_DOCS=1` writes it anew.
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/rebuildable.md");

#[test]
fn the_page_is_made_from_the_rules() {
    let expected = page();
    if std::env::var_os("RENEW_DOCS").is_some() {
        fs::write(PAGE, &expected).unwrap();
    }
    assert!(
        fs::read_to_string(PAGE).unwrap() == expected,
        "docs/rebuildable.md is not what the rules say: run this test with RENEW_DOCS=1"
    );
}

fn page() -> String {
    let mut page = String::from(
        "# Directories that can be rebuilt

<!-- Made from crates/statwalk-view/src/rebuildable by `RENEW_DOCS=1 cargo test -p statwalk --test program -- rebuildable`. -->

`statwalk top --rebuildable` lists directories that a program makes again, and removes none.
A row is no promise: to make the directory again can take hours, a network, or a package that its server has dropped since.

```
statwalk top --rebuildable /data                            the largest first
statwalk top --rebuildable --changed-before 90d /data       those without a new file for 90 days
statwalk top --rebuildable --json /data                     with the programs, for a program
```

- Each rule needs a proof: a file that only the program writes into the directory, or a name that it reserves beside the file of a project.
- The names of the scan are the proof. Of a `CACHEDIR.TAG` statwalk reads the signature. An image gives no content, so the last rule holds for no directory of one.
- No directory is listed that holds `.git`, `.hg`, `.svn`, `.jj` or `.bzr`, that a scan could not read whole, or that is a root of the scan.
- Of directories within one another the outermost has the row.
- View 9 of [`statwalk browse`](browse.md) has the same directories, ready to be marked.
- A project below a directory with a dot before its name is left out: programs install their own parts there. Name such a directory as a path, and its projects count.

## Projects

",
    );
    let rows = |page: &mut String, scope: Scope| {
        page.push_str("| Directory | Proof | Rebuilt by | Origin |\n|---|---|---|---|\n");
        for rule in RULES.iter().filter(|rule| rule.scope == scope) {
            let Rule {
                names,
                rebuilt_by,
                origin,
                ..
            } = rule;
            let (names, proof) = (words(names, " or "), proof(rule));
            let _ = writeln!(page, "| {names} | {proof} | {rebuilt_by} | {origin} |");
        }
    };
    rows(&mut page, Scope::Project);
    let _ = writeln!(page, "\nFiles of a project are {}.", words(PROJECTS, ", "));
    page.push_str("\n## Caches\n\n");
    rows(&mut page, Scope::Everywhere);
    page.push_str(
        "\n## Places that are left out\n\n\
         They belong to an installation, an image, a snapshot or the trash, with all in them:\n\n",
    );
    let _ = writeln!(page, "```\n{}\n```", CLOSED.join("\n"));
    page
}

fn words(names: &str, between: &str) -> String {
    let names: Vec<String> = names.split(' ').map(|name| format!("`{name}`")).collect();
    names.join(between)
}

fn proof(rule: &Rule) -> String {
    let needs = rule.needs.iter().map(|need| match need {
        Need::Beside(names) => format!("beside {}", words(names, " or ")),
        Need::Inside(names) => format!("with {}", words(names, " or ")),
        Need::Without(PROJECTS) => "without a file of a project".to_owned(),
        Need::Without(names) => format!("without {}", words(names, " or ")),
        Need::WithoutBelow(names) => format!("without {} down to two levels", words(names, " or ")),
        Need::ValidTag => "with the signature".to_owned(),
    });
    let needs: Vec<String> = needs.collect();
    match needs.is_empty() {
        true => "its name".to_owned(),
        false => needs.join("; "),
    }
}

/// A tag is read when the view is shown. Meanwhile others can have taken its place.
#[test]
fn a_tag_that_was_replaced_after_the_scan_proves_nothing() {
    let tree = Tree::new("good/\nfifo/\nlink/\ngone/");
    let path = |name: &str| tree.path().join(name);
    for dir in ["good", "fifo", "link", "gone"] {
        fs::write(path(dir).join("CACHEDIR.TAG"), CACHE_TAG).unwrap();
    }
    let mut browser = or_skip!(Browser::start(tree.parent(), &["--enable-delete", "tree"]));
    browser.wait_for("gone/");
    browser.wait_for_scan();
    for dir in ["fifo", "link", "gone"] {
        fs::remove_file(path(dir).join("CACHEDIR.TAG")).unwrap();
    }
    let fifo = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR);
    let tag = path("fifo/CACHEDIR.TAG");
    rustix::fs::mknodat(rustix::fs::CWD, tag, fifo.0, fifo.1, 0).unwrap();
    symlink("../good/CACHEDIR.TAG", path("link/CACHEDIR.TAG")).unwrap();
    browser.press("9");
    browser.wait_for("1 directory, ");
    browser.wait_for("good/");
    // The row is still there when a link has taken the place of its directory.
    let aside = tree.parent().join("aside");
    fs::rename(path("good"), &aside).unwrap();
    symlink(&aside, path("good")).unwrap();
    browser.press("d");
    browser.wait_for("[Cancel]");
    browser.wait_for("symbolic link");
    browser.press("y\r");
    browser.wait_for("nothing was removed");
    assert!(aside.join("CACHEDIR.TAG").exists() && path("good").is_symlink());
    browser.press("R");
    browser.wait_for("no directory below that a program makes again");
    browser.press("q");
    assert_eq!(browser.end().0.code(), Some(0));
}
