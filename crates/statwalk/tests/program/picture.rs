// SPDX-License-Identifier: MIT OR Apache-2.0

//! What a person sees, on a terminal of known size.

use std::process::{Command, Stdio};

use statwalk_testkit::fault_fs::{FaultFs, Hang, Op};
use statwalk_testkit::mounts::FileSystem;
use statwalk_testkit::{or_skip, program, text, trees};

use crate::run::{LONG, Tree, as_ordinary_user, resize, statwalk, terminal, text_on};

/// Runs a program whose stdout is a terminal, and gives what the terminal got.
pub(crate) fn on_terminal(command: &mut Command, columns: u16, rows: u16) -> String {
    let (master, terminal) = terminal(columns, rows);
    let mut child = program::spawn(command.stdout(terminal).stderr(Stdio::piped()));
    // The command keeps a copy of the terminal; without it the end can be seen.
    command.stdout(Stdio::null());
    let text = text_on(master);
    assert!(child.wait().unwrap().code().is_some());
    text
}

fn shown(tree: &Tree, arguments: &[&str]) -> String {
    let mut command = statwalk();
    command.args(arguments).current_dir(tree.parent());
    on_terminal(&mut command, 80, 24)
}

/// The text without the time that the scan took.
fn steady(text: &str) -> String {
    let Some((front, back)) = text.split_once(", in ") else {
        panic!("no time in {text}");
    };
    let (_, back) = back.split_once('.').unwrap();
    format!("{front}, in T.{back}")
}

/// The text without the space on disk, which depends on the file system.
fn without_disk(text: &str) -> String {
    let (front, back) = text.split_once(" on disk, ").unwrap();
    let (front, _) = front.rsplit_once('\n').unwrap();
    format!("{front}\n{back}")
}

/// Half a tree from long ago and half of a day that has not come.
fn tree() -> Tree {
    Tree::new(
        "
        projects/
        projects/climate/
        projects/climate/raw   500000 mtime=1000000000
        projects/climate/plan  250000 mtime=1000000000
        projects/notes         1000   mtime=9000000000
        home/
        home/film              200000 mtime=1000000000
        home/empty/
        ",
    )
}

#[test]
fn the_default_view() {
    let text = shown(
        &tree(),
        &["-A", "--color=never", "--progress=never", "tree"],
    );
    assert_eq!(
        without_disk(&steady(&text)),
        "\
APPARENT SHARE                  ENTRIES  NEWEST  PATH
 929 KiB 100 % ███████████████        9  25 y    tree/
 733 KiB  79 % ███████████▉           5  25 y    ├── projects/climate/  … 1000 B
 488 KiB  53 % ███████▉               1  25 y    │   ├── raw
 244 KiB  26 % ████                   1  25 y    │   └── plan
 195 KiB  21 % ███▏                   3  25 y    └── home/  … 1 more, 0 B
 195 KiB  21 % ███▏                   1  25 y        └── film

929 KiB apparent; 9 entries: 4 files, 5 directories, in T.
"
    );
}

/// A large file among directories is the first that a user looks for.
#[test]
fn large_files_have_rows_without_a_flag() {
    let tree = Tree::new("one/\none/inner/\ntwo/");
    let write = |name: &str, count: usize| {
        std::fs::write(tree.path().join(name), vec![1; count]).unwrap();
    };
    write("film", 900_000);
    write("one/image", 700_000);
    for n in 0..300 {
        write(&format!("two/{n}"), 1_000);
    }
    // The name that comes first in the order of paths has the bytes.
    std::fs::hard_link(
        tree.path().join("one/image"),
        tree.path().join("one/inner/z"),
    )
    .unwrap();
    let rows = |arguments: &[&str]| -> Vec<String> {
        let text = shown(
            &tree,
            &[&["-A", "--color=never", "--unit=B", "tree"], arguments].concat(),
        );
        let (table, _) = text.split_once("\n\n").unwrap();
        let words = |line: &str| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let name = line.rsplit("── ").next().unwrap();
            format!("{} {}", words[0], name.split("  ").last().unwrap().trim())
        };
        table.lines().skip(1).map(words).collect()
    };
    let all = [
        "1,900,000 tree/",
        "900,000 film",
        "700,000 one/",
        "700,000 image",
        "0 inner/",
        "300,000 two/",
    ];
    assert_eq!(rows(&["-n6"]), all);
    // A file that is deeper than the rows is in its directory.
    let upper = [
        "1,900,000 tree/",
        "900,000 film",
        "700,000 one/",
        "300,000 two/",
    ];
    assert_eq!(rows(&["-d1"]), upper);
    // By other keys, the largest are not the first.
    assert!(
        !rows(&["--sort=mtime"])
            .iter()
            .any(|row| row.ends_with("film"))
    );
    let name = rows(&["-n6", "--sort=name"]);
    assert!(name.iter().any(|row| row.ends_with("film")), "{name:?}");
    assert_eq!(tree.run(&["tree"]).good().lines().len(), 3);
}

/// The depth of a row, its size, and the number behind its name.
fn numbers(line: &str, names: usize) -> (usize, u64, u64) {
    let number = |text: &str| -> u64 {
        let digits: String = text.chars().filter(char::is_ascii_digit).collect();
        digits
            .parse()
            .unwrap_or_else(|_| panic!("{text} in {line}"))
    };
    let size = number(line.split(" B ").next().unwrap());
    let label: Vec<char> = line.chars().skip(names).collect();
    let guides = |part: &&[char]| {
        matches!(
            part.iter().collect::<String>().as_str(),
            "├── " | "└── " | "│   " | "    "
        )
    };
    let depth = label.chunks(4).take_while(guides).count();
    let label: String = label.into_iter().collect();
    let behind = label.split_once("  … ").map_or(0, |(_, behind)| {
        number(behind.split_once(", ").map_or(behind, |(_, size)| size))
    });
    (depth, size, behind)
}

/// A user adds the rows below a directory, and gets the directory.
#[test]
fn the_rows_below_a_directory_add_up_to_it() {
    let tree = Tree::of(&trees::hard_links());
    let deep = tree.path().join("deep/only/child");
    std::fs::create_dir_all(&deep).unwrap();
    for n in 0..40_usize {
        let places = [tree.path(), deep.clone()];
        std::fs::write(places[n % 2].join(format!("file{n}")), vec![1; n * n * 200]).unwrap();
    }
    for arguments in [
        &[][..],
        &["-n9"],
        &["-n4"],
        &["-a"],
        &["-l"],
        &["-L"],
        &["-A"],
        &["-d2"],
        &["-r"],
        &["--sort=mtime"],
        &["--sort=count", "-a"],
        &["--min-size=9K"],
    ] {
        let mut command = statwalk();
        command.args(["--color=never", "--unit=B", "tree"]);
        command.args(arguments).current_dir(tree.parent());
        let text = on_terminal(&mut command, 200, 24);
        let (table, _) = text.split_once("\n\n").unwrap();
        let head = table.lines().next().unwrap();
        let names = head.find("PATH").unwrap();
        let rows: Vec<_> = table
            .lines()
            .skip(1)
            .map(|line| numbers(line, names))
            .collect();
        assert!(rows.len() > 2, "{text}");
        for (index, &(depth, size, behind)) in rows.iter().enumerate() {
            let below = rows[index + 1..].iter().take_while(|row| row.0 > depth);
            let children: Vec<_> = below.filter(|row| row.0 == depth + 1).collect();
            let sum: u64 = children.iter().map(|row| row.1).sum();
            let adds_up = children.is_empty() || sum + behind == size;
            assert!(adds_up, "{arguments:?}: row {index} of\n{text}");
        }
    }
}

#[test]
fn the_picture_fills_the_terminal_and_no_more() {
    let tree = Tree::new("");
    // Each has more than 1 %: smaller ones do not fill the screen.
    for n in 0..60 {
        let dir = tree.path().join(format!("d{n}"));
        std::fs::create_dir(&dir).unwrap();
        std::fs::create_dir(dir.join("inner")).unwrap();
    }
    for rows in [12, 24, 50] {
        let mut command = statwalk();
        command.arg("tree").current_dir(tree.parent());
        let text = on_terminal(&mut command, 80, rows);
        // The last row is for the prompt.
        assert_eq!(text.lines().count(), usize::from(rows) - 1, "{text}");
    }
    let mut command = statwalk();
    command
        .args(["-n", "30", "tree"])
        .current_dir(tree.parent());
    let text = on_terminal(&mut command, 80, 12);
    assert_eq!(
        // The root is a row, too.
        text.lines().filter(|line| line.contains("── ")).count(),
        30 - 1,
        "{text}"
    );
    let text = shown(&tree, &["-d1", "tree"]);
    assert!(!text.contains("inner"), "{text}");
}

/// "Half of the screen is directories of 0.1 %."
#[test]
fn small_directories_do_not_fill_the_screen() {
    let tree = Tree::new("");
    for n in 0..300 {
        std::fs::create_dir(tree.path().join(format!("d{n}"))).unwrap();
    }
    let rows = |arguments: &[&str]| {
        let text = shown(&tree, &[arguments, &["--color=never", "tree"]].concat());
        text.lines().filter(|line| line.contains("── d")).count()
    };
    assert!((3..=5).contains(&rows(&[])), "{}", rows(&[]));
    // Who asks for rows gets them.
    assert!(rows(&["-d1"]) > 10 && rows(&["-n9"]) > 5);
}

#[test]
fn on_a_small_terminal_the_sentences_give_way() {
    let tree = tree();
    for arguments in [&[][..], &["top"], &["stats"]] {
        let text = |rows: u16| {
            let mut command = statwalk();
            command
                .args(arguments)
                .args(["-A", "--color=never", "tree"]);
            on_terminal(command.current_dir(tree.parent()), 40, rows)
        };
        assert!(text(16).contains("929 KiB apparent; 9"), "{}", text(16));
        let small = text(10);
        assert!(small.contains("\n\n9 entries, in "), "{small}");
        assert!(small.lines().count() < 10, "{small}");
    }
}

#[test]
fn several_roots_share_one_table_and_the_terminal() {
    let tree = Tree::new("");
    for root in ["one", "two"] {
        for n in 0..30 {
            std::fs::create_dir_all(tree.path().join(format!("{root}/{n}"))).unwrap();
        }
    }
    let text = shown(&tree, &["tree/one", "tree/two", "nope"]);
    // The row that is missing is the prompt's; stderr is no terminal here.
    assert_eq!(text.lines().count(), 24 - 1, "{text}");
    assert_eq!(text.matches("SHARE").count(), 1, "{text}");
    assert!(text.contains("62 entries: 62 directories, in"), "{text}");
    let text = shown(&tree, &["-s", "tree/one", "tree/two"]);
    assert!(
        text.contains("50 %") && text.contains("  tree/two\n"),
        "{text}"
    );
}

#[test]
fn colour_is_for_those_who_want_it() {
    let tree = tree();
    let coloured = |arguments: &[&str], variables: &[(&str, &str)]| {
        let mut command = statwalk();
        command
            .args(arguments)
            .arg("tree")
            .current_dir(tree.parent());
        command.envs(variables.iter().copied());
        on_terminal(&mut command, 80, 24).contains('\x1b')
    };
    assert!(coloured(&[], &[]));
    assert!(coloured(&[], &[("NO_COLOR", "")]));
    assert!(!coloured(&[], &[("NO_COLOR", "1")]));
    assert!(!coloured(&[], &[("TERM", "dumb")]));
    assert!(!coloured(&["--color=never"], &[]));
    assert!(coloured(&["--color=always"], &[("NO_COLOR", "1")]));
}

#[test]
fn a_terminal_without_utf8_gets_ascii() {
    let tree = Tree::new("dir-\\u{e9}/\ndir-\\u{e9}/x 1000");
    let mut command = statwalk();
    command
        .env("LANG", "C")
        .args(["-A", "--color=never", "tree"])
        .current_dir(tree.parent());
    let text = on_terminal(&mut command, 80, 24);
    assert!(text.is_ascii(), "{text}");
    assert!(text.contains(r"`-- dir-\u{e9}/"), "{text}");
}

#[test]
fn names_do_not_reach_a_terminal_raw() {
    let tree = Tree::of(&trees::odd_names());
    for arguments in [
        &["-a", "-n500", "--color=never", "tree"][..],
        &["-s", "--color=never", "tree/dir\n\u{202e}", "tree"],
        &["top", "-n500", "--color=never", "tree"],
        &["find", "tree"],
        &["find", "--json", "tree"],
        &["--json", "-a", "-d9", "tree"],
        &["stats", "--color=never", "tree"],
    ] {
        let text = shown(&tree, arguments);
        let control = |c: &char| {
            (c.is_control() && *c != '\n')
                || "\u{202e}\u{2066}\u{200b}\u{feff}\u{2028}".contains(*c)
        };
        assert_eq!(text.chars().find(control), None, "{arguments:?}");
        assert!(text.len() > 100, "{arguments:?}: {text}");
    }
    let text = shown(&tree, &["find", "tree"]);
    assert!(text.contains(r"tree/\x1b[31mred\x1b[0m"), "{text}");
    assert!(text.contains(r"tree/new\nline"), "{text}");
}

#[test]
fn json_on_a_terminal_is_the_same_document() {
    let tree = Tree::new("a\\e[2J\\u{202e}/");
    let text = shown(&tree, &["--json", "tree"]);
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["tree"][1]["path"], "tree/a\x1b[2J\u{202e}");
}

#[test]
fn tables_have_a_summary_below() {
    let tree = tree();
    let text = shown(&tree, &["top", "-A", "-n2", "--color=never", "tree"]);
    assert_eq!(
        without_disk(&steady(&text)),
        "\
APPARENT  SHARE             NEWEST  FILE
 488 KiB   53 % █████▎        25 y  tree/projects/climate/raw
 244 KiB   26 % ██▋           25 y  tree/projects/climate/plan

929 KiB apparent; 9 entries: 4 files, 5 directories, in T.
"
    );
    let text = shown(
        &tree,
        &["stats", "-A", "--by=depth", "--color=never", "tree"],
    );
    assert_eq!(
        without_disk(&steady(&text)),
        "\
APPARENT  SHARE             ENTRIES  DEPTH
     0 B    0 %                   1  0
     0 B    0 %                   2  1
 196 KiB   21 % ██▏               4  2
 732 KiB   79 % ███████▉          2  3

929 KiB apparent; 9 entries: 4 files, 5 directories, in T.
"
    );
}

#[test]
fn nothing_scrolls_away_for_errors() {
    let tree = Tree::new("");
    for n in 0..40 {
        std::fs::create_dir(tree.path().join(format!("d{n}"))).unwrap();
    }
    let text = shown(&tree, &["errors", "tree"]);
    assert_eq!(text, "statwalk can read everything.\n");
    let denied = tree.path().join("denied");
    std::fs::create_dir(&denied).unwrap();
    std::fs::set_permissions(&denied, std::os::unix::fs::PermissionsExt::from_mode(0o000)).unwrap();
    let mut command = or_skip!(as_ordinary_user(&tree));
    command.args(["errors", "--color=never", "tree"]);
    let text = on_terminal(&mut command, 80, 24);
    assert_eq!(
        text,
        "\
DOING  REASON             PATH
open   permission denied  tree/denied

statwalk cannot read 1 entry.
"
    );
}

#[test]
fn sums_beyond_64_bits_have_their_size_and_share() {
    let tree = Tree::new("mount/");
    let tmpfs = or_skip!(FileSystem::Tmpfs.mount(&tree.path().join("mount")));
    for name in ["a", "b", "c"] {
        let file = std::fs::File::create(tmpfs.path().join(name)).unwrap();
        file.set_len(i64::MAX.cast_unsigned()).unwrap();
    }
    let check = |arguments: &[&str], expected: &[&str]| {
        let text = shown(&tree, arguments);
        for expected in expected {
            assert!(text.contains(expected), "{expected} in {text}");
        }
    };
    check(&["-A", "tree"], &["24.0 EiB 100 %", "24.0 EiB apparent"]);
    check(&["-aA", "tree"], &["8.00 EiB  33 %"]);
    check(&["-sA", "tree", "tree/mount"], &["24.0 EiB"]);
    let all_digits = "27,670,116,110,564,327,421 B";
    check(&["-sA", "--unit", "B", "tree"], &[all_digits]);
    check(&["top", "-A", "tree"], &["8.00 EiB   33 %"]);
    check(
        &["stats", "-A", "--by", "size", "tree"],
        &["24.0 EiB  100 %"],
    );
}

#[test]
fn a_time_that_does_not_fit_has_no_age() {
    let tree = Tree::new("mount/");
    // Of the year 1600, and of 2300.
    let model = text::parse(
        "
        mixed/
        mixed/late    2  mtime=10413792000
        mixed/known   1  mtime=1000000000
        only/
        only/early    1  mtime=-11676096000+999999999
        ",
    );
    let tmpfs = or_skip!(FileSystem::Tmpfs.mount(&tree.path().join("mount")));
    let files = tmpfs.path().join("files");
    model.unwrap().materialise(&files).unwrap();
    let text = shown(&tree, &["-a", "-d9", "--sort", "mtime", "tree/mount/files"]);
    let row = |text: &str, name: &str| {
        let row = text.lines().find(|row| row.contains(name));
        row.unwrap_or_else(|| panic!("{name} in {text}")).to_owned()
    };
    for name in ["late", "early", "only/"] {
        assert!(row(&text, name).contains('–'), "{name} in {text}");
    }
    for name in ["known", "mixed/"] {
        assert!(row(&text, name).contains(" y "), "{name} in {text}");
    }
    // The latest that is known comes first.
    assert!(text.find("mixed/") < text.find("only/"), "{text}");
    let text = shown(&tree, &["top", "-A", "tree/mount/files"]);
    assert!(row(&text, "late").contains('–'), "{text}");
}

/// The table of all directories marked those that lack something. That of the largest ones,
/// that with times, and those with a row for each path did not.
#[test]
fn each_table_marks_directories_that_lack_something() {
    let tree = Tree::new("a/\na/none/ mode=000\na/x 9000\nb/\nb/y 20000");
    for (arguments, width) in [
        (&["top", "--dirs", "tree"][..], 80),
        (&["top", "--dirs", "tree"], 30),
        (&["--time", "tree"], 80),
        (&["-s", "--time", "tree/a", "tree/b"], 80),
        (&["-s", "tree/a", "tree/b"], 80),
        (&["-s", "tree/a", "tree/b"], 30),
        (&["-sc", "tree/a", "tree/b"], 80),
        (&["--count", "tree/a", "tree/b"], 80),
        (&["-s", "--inodes", "tree/a", "tree/b"], 80),
        (&["-s", "tree/b", "tree/a"], 80),
        (&["-s", "tree/a"], 80),
        (&["tree"], 80),
    ] {
        let mut command = or_skip!(as_ordinary_user(&tree));
        command.args(arguments).arg("--color=never");
        let text = on_terminal(&mut command, width, 24);
        let lines = text.lines();
        let marked = lines.filter(|line| line.ends_with(" (incomplete)"));
        let marked: Vec<&str> = marked
            .map(|line| line.trim_end_matches(" (incomplete)"))
            .collect();
        assert!(
            marked.iter().any(|line| line.ends_with(['a', '/'])),
            "{arguments:?} {text}"
        );
        let is_b = |line: &&str| line.trim_end_matches('/').ends_with('b');
        assert!(!marked.iter().any(is_b), "{arguments:?} {text}");
    }
}

/// No row of groups can tell what an unreadable directory holds, and nothing beside them said so.
#[test]
fn groups_that_can_lack_something_say_so() {
    let tree = Tree::new("a/\na/none/ mode=000\na/x 9000\nb/\nb/y 20000");
    let sentence = "Each row is a lower bound";
    for (arguments, height) in [
        (&["stats"][..], 24),
        (&["stats"], 9),
        (&["stats", "--by", "depth"], 24),
        (&["stats", "--by", "owner,age"], 24),
    ] {
        let mut command = or_skip!(as_ordinary_user(&tree));
        command.args(arguments).args(["tree", "--color=never"]);
        let text = on_terminal(&mut command, 80, height);
        assert!(text.contains(sentence), "{arguments:?} {text}");
        let mut command = or_skip!(as_ordinary_user(&tree));
        command.args(arguments).args(["tree/b", "--color=never"]);
        let text = on_terminal(&mut command, 80, height);
        assert!(!text.contains(sentence), "{arguments:?} {text}");
    }
}

/// The sentence below the table and the lines on stderr would say it twice.
#[test]
fn unreadable_entries_are_told_once() {
    let tree = Tree::new("a/\na/none/ mode=000\nb/\nb/none/ mode=000\nb/y 20");
    for arguments in [&["tree"][..], &["top", "tree"], &["--count", "tree"]] {
        let (master, screen) = terminal(80, 24);
        let mut command = or_skip!(as_ordinary_user(&tree));
        command.args(arguments).args(["--color=never"]);
        let stderr = screen.try_clone().unwrap();
        let mut child = program::spawn(command.stdout(screen).stderr(stderr));
        drop(command);
        let both = text_on(master);
        assert_eq!(child.wait().unwrap().code(), Some(1));
        assert!(both.contains("2 entries could not be read"), "{both}");
        assert!(!both.contains("Not in this total"), "{both}");
        assert!(both.contains("tree/a/none, tree/b/none"), "{both}");

        let mut command = or_skip!(as_ordinary_user(&tree));
        command.args(arguments).args(["--color=never"]);
        let stdout = on_terminal(&mut command, 80, 24);
        assert!(
            stdout.contains("Not in this total: 2 unreadable"),
            "{stdout}"
        );
    }
}

/// A table of nothing, or a sentence that praises, would hide the error.
#[test]
fn a_missing_root_gives_its_error_and_no_table() {
    let tree = Tree::new("x 5");
    for arguments in [&[][..], &["-s"], &["--count"], &["top"], &["stats"]] {
        let text = shown(&tree, &[arguments, &["nowhere"]].concat());
        assert_eq!(text, "", "{arguments:?}");
    }
    assert_eq!(
        shown(&tree, &["errors", "--color=never", "nowhere"]),
        "\
DOING  REASON                     PATH
open   no such file or directory  nowhere

statwalk cannot open 1 path.
"
    );
    let text = shown(&tree, &["-sA", "nowhere", "tree"]);
    assert!(text.contains("     5 B"), "{text}");
}

/// watch(1) and users who want a narrower table set the variables.
#[test]
fn columns_and_lines_of_the_environment_come_first() {
    let tree = tree();
    let mut command = statwalk();
    command.args(["-A", "tree"]).current_dir(tree.parent());
    let wide = on_terminal(command.env("COLUMNS", "80"), 40, 24);
    assert!(wide.lines().any(|line| line.contains("NEWEST")), "{wide}");
    let narrow = on_terminal(command.env("COLUMNS", "40"), 80, 24);
    assert!(!narrow.contains("NEWEST"), "{narrow}");
    // Nonsense is no size.
    let plain = on_terminal(command.env("COLUMNS", "many"), 80, 24);
    assert!(plain.contains("NEWEST"), "{plain}");
    let short = on_terminal(command.env("LINES", "9"), 80, 40);
    assert!(short.lines().count() <= 9, "{short}");
}

#[test]
fn a_dumb_terminal_gets_no_escapes() {
    let tree = tree();
    for arguments in [
        &["tree"][..],
        &["--help"],
        &["top", "tree"],
        &["--nonsense"],
    ] {
        let mut command = statwalk();
        command.args(arguments).current_dir(tree.parent());
        let text = on_terminal(command.env("TERM", "dumb"), 80, 24);
        assert!(!text.contains('\x1b'), "{text:?}");
    }
}

/// The scan waits in a directory that does not answer while the user resizes.
#[test]
fn a_table_has_the_size_that_the_terminal_has_at_the_end() {
    let mount = or_skip!(
        FaultFs::builder()
            .files("alive", 5, 1000)
            .dir("dead")
            .hang("dead", Op::Opendir, Hang::UntilSignal)
            .mount()
    );
    let (master, screen) = terminal(120, 24);
    let mut command = statwalk();
    command.args(["--progress=never", "--color=never"]);
    command.arg(mount.path()).stdout(screen);
    let mut child = program::spawn(&mut command);
    drop(command);
    assert!(mount.wait_for(LONG, |counts| counts.hanging == 1));
    resize(&master, 40, 24);
    mount.release();
    let text = text_on(master);
    assert!(child.wait().unwrap().success());
    let widest = text.lines().map(|line| line.chars().count()).max();
    assert!(widest.unwrap() <= 40, "{text}");
}

/// The head of a table that scrolls away says nothing to anybody.
#[test]
fn tables_fill_the_screen_and_do_not_scroll() {
    let tree = Tree::new("dir/");
    for n in 0..60 {
        let name = format!("dir/a-name-of-some-length-{n}.ext{n}");
        std::fs::write(tree.path().join(name), vec![1; n * 1000]).unwrap();
    }
    for (columns, rows) in [(80, 24), (120, 40), (40, 10)] {
        for arguments in [&["top", "-A"][..], &["top", "-rA"], &["stats", "-A"]] {
            let mut command = statwalk();
            command.args(arguments).arg("tree");
            command.arg("--color=never").current_dir(tree.parent());
            let text = on_terminal(&mut command, columns, rows);
            let count = text.lines().count();
            // One line is left for the prompt.
            assert_eq!(
                count,
                usize::from(rows) - 1,
                "{arguments:?} {columns}\n{text}"
            );
            assert!(text.starts_with("APPARENT"), "{text}");
            // The name is the last to give way.
            let whole = match arguments[0] {
                "top" => "tree/dir/a-name",
                _ => ".ext59\n",
            };
            assert!(text.contains(whole), "{text}");
            let has_bars = text.contains(['█', '▍', '▎']);
            assert_eq!(has_bars, columns > 40, "{text}");
        }
    }
    let rest = shown(&tree, &["stats", "-A", "--color=never", "tree"]);
    assert!(rest.contains("… 43 more"), "{rest}");
    let all = shown(&tree, &["stats", "-An99", "--color=never", "tree"]);
    assert!(!all.contains(" more"), "{all}");
    let rows = |arguments: &[&str]| tree.run(arguments).good().lines().len();
    assert_eq!(rows(&["top", "tree"]), 20);
    assert_eq!(rows(&["top", "-n3", "tree"]), 3);
    assert!(rows(&["stats", "tree"]) > 60);
}

/// 5,000 empty files take no space; the blocks that name them belong to the directory.
#[test]
fn the_blocks_of_a_large_directory_are_a_row_of_their_own() {
    let tree = Tree::new("mount/");
    let at = tree.path().join("mount");
    let mounted = or_skip!(FileSystem::Ext4.mount(&at));
    std::fs::create_dir(at.join("many")).unwrap();
    for n in 0..5_000 {
        std::fs::write(at.join(format!("many/{n:030}")), "").unwrap();
    }
    mounted.settle().unwrap();
    for all in [&[][..], &["-a"]] {
        let text = shown(
            &tree,
            &[all, &["--color=never", "-n4", "tree/mount/many"]].concat(),
        );
        let row = |name: &str| {
            let row = text.lines().find(|row| row.contains(name));
            row.unwrap_or_else(|| panic!("{name} in {text}")).to_owned()
        };
        let own = row("(the directory itself)");
        assert_eq!(own[..8], row("tree/mount/many")[..8], "{text}");
        assert!(row("many/").ends_with(" files, 0 B"), "{text}");
    }
    let apparent = shown(&tree, &["-A", "--color=never", "tree/mount/many"]);
    assert!(!apparent.contains("itself"), "{apparent}");
}

#[test]
fn several_roots_are_one_table() {
    let tree = tree();
    let roots = ["tree/home", "tree", "tree/projects", "tree/home/film"];
    let text = shown(
        &tree,
        &[&["-A", "--color=never", "-d0"], &roots[..]].concat(),
    );
    assert_eq!(
        without_disk(&steady(&text)),
        "\
APPARENT SHARE                                       ENTRIES  NEWEST  PATH
 733 KiB  79 % ████████████████████████████▍               6  25 y    tree/
 195 KiB  21 % ███████▋                                    3  25 y    tree/home/

tree/projects has no row: an earlier path contains it.
tree/home/film has no row: an earlier path contains it.
929 KiB apparent; 9 entries: 4 files, 5 directories, in T.
"
    );
    // A file, too, has a row.
    let text = shown(&tree, &["-A", "--color=never", "tree/home/film"]);
    assert!(text.contains("195 KiB 100 % █████████"), "{text}");
}

/// "statwalk -g node_modules shows 8 KiB, and they hold five megabytes": a directory passes
/// by its own name, and counts itself alone.
#[test]
fn a_glob_that_selects_directories_says_what_it_counts() {
    let tree = tree();
    let modules = tree.path().join("app/node_modules");
    std::fs::create_dir_all(&modules).unwrap();
    std::fs::write(modules.join("big"), vec![1; 3 << 20]).unwrap();
    let sentence = "-g selects entries by their own names: a directory counts itself alone";
    let command = "statwalk top --dirs -g node_modules tree sums whole directories.";
    for arguments in [
        &["-g", "node_modules", "tree"][..],
        &["-s", "-g", "node_modules", "tree"],
        &["-a", "-t", "d", "-g", "node_modules", "tree"],
        &["--inodes", "-g", "node_modules", "tree"],
    ] {
        let text = shown(&tree, arguments).replace('\n', " ");
        assert!(text.contains(sentence), "{text}");
        assert!(text.contains(command), "{text}");
    }
    // It is on one line, to be copied.
    for columns in (45..=100).step_by(5) {
        let mut narrow = statwalk();
        narrow.args(["-g", "node_modules", "tree"]);
        let text = on_terminal(narrow.current_dir(tree.parent()), columns, 24);
        let command = "statwalk top --dirs -g node_modules tree";
        assert!(text.contains(command), "{text}");
    }
    // The command does what the sentence says.
    let text = shown(&tree, &["top", "--dirs", "-g", "node_modules", "tree"]);
    assert!(text.contains("3.00 MiB"), "{text}");
    assert!(text.contains("tree/app/node_modules"), "{text}");
    // `top --dirs` takes no filters on times.
    let old = ["-g", "node_modules", "--changed-within", "1y", "tree"];
    let text = shown(&tree, &old).replace('\n', " ");
    assert!(
        text.contains(sentence) && !text.contains("top --dirs"),
        "{text}"
    );
    // Nothing is to be said where no directory passes, and to programs.
    for arguments in [
        &["-g", "big", "tree"][..],
        &["-t", "d", "tree"],
        &["--count", "-g", "node_modules", "tree"],
    ] {
        let text = shown(&tree, arguments);
        assert!(!text.contains("own names"), "{text}");
    }
    let rows = tree.run(&["-g", "node_modules", "tree"]).good();
    assert!(!String::from_utf8_lossy(&rows.stdout).contains("own names"));
    assert_eq!(rows.stderr, "");
}

/// An empty table said nothing about the directories of that name.
#[test]
fn a_list_of_no_files_names_the_one_of_directories() {
    let tree = tree();
    std::fs::create_dir_all(tree.path().join("app/node_modules")).unwrap();
    let text = shown(&tree, &["top", "-g", "node*", "tree"]).replace('\n', " ");
    let sentence =
        "No file passes the filters. statwalk top --dirs -g 'node*' tree lists whole directories.";
    assert!(text.contains(sentence), "{text}");
    let text = shown(&tree, &["top", "--dirs", "-g", "nothing", "tree"]);
    assert!(!text.contains("No file passes"), "{text}");
}

/// Every size was 0 and every share 0 %, and no word told why. A sentence about `-A` came, and
/// the order of rows was still that of their names.
#[test]
fn a_file_system_without_blocks_is_told() {
    let tree = Tree::new("mount/\nblocks/\nblocks/file 5000");
    let tmpfs = or_skip!(FileSystem::Tmpfs.mount(&tree.path().join("mount")));
    let sentence = "No file here has blocks on disk; perhaps this file system counts none. \
                    Sizes, shares and order are apparent sizes.";
    let is_told = |words: &[&str]| {
        let text = shown(&tree, words);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        text.contains(sentence)
    };
    std::fs::create_dir(tmpfs.path().join("empty")).unwrap();
    // No size is 0 for want of blocks.
    assert!(!is_told(&["tree/mount"]));
    for (dir, bytes) in [("a", 1_000_000), ("b", 3_000_000)] {
        let dir = tmpfs.path().join(dir);
        std::fs::create_dir(&dir).unwrap();
        let file = std::fs::File::create(dir.join("file")).unwrap();
        file.set_len(bytes).unwrap();
    }
    for (words, row) in [
        (&["tree/mount"][..], "2.86 MiB  75 %"),
        (&["-a", "tree/mount"], "2.86 MiB  75 %"),
        (&["-d1", "--min-size", "2M", "tree/mount"], "2.86 MiB  75 %"),
        (&["-s", "tree/mount/a", "tree/mount/b"], "2.86 MiB   75 %"),
        (&["top", "tree/mount"], "2.86 MiB   75 %"),
        (&["top", "--dirs", "tree/mount"], "2.86 MiB   75 %"),
        (&["stats", "--by", "size", "tree/mount"], "2.86 MiB   75 %"),
        (&["--time", "tree/mount"], "2.86 MiB"),
    ] {
        assert!(is_told(words), "{words:?}");
        let text = shown(&tree, words);
        assert!(
            text.contains("APPARENT") && !text.contains("DISK"),
            "{text}"
        );
        assert!(text.contains(row), "{words:?} {text}");
        let places = ["2.86 MiB", "977 KiB"].map(|size| text.find(size));
        assert!(
            places[1].is_none() || places[0] < places[1] || words[0] == "stats",
            "{text}"
        );
    }
    for words in [
        &["-A", "tree/mount"][..],
        &["--count", "tree/mount"],
        &["--inodes", "tree/mount"],
        &["tree"],
    ] {
        assert!(!is_told(words), "{words:?}");
    }
    // Numbers that a program reads stay those of the disk, in the other order.
    let run = |words: &[&str]| String::from_utf8(tree.run(words).good().stdout).unwrap();
    let mount = "tree/mount";
    assert_eq!(run(&["top", "-n1", mount]), format!("0\t{mount}/b/file\n"));
    assert_eq!(
        run(&["top", "--dirs", "-n1", mount]),
        format!("0\t{mount}/b\n")
    );
    assert_eq!(
        run(&["-d1", mount]),
        format!("0\t{mount}/b\n0\t{mount}/a\n0\t{mount}/empty\n0\t{mount}\n")
    );
    // A limit is for space on disk.
    for arguments in [
        &["-s", "--fail-over", "1M", mount][..],
        &["--fail-over", "1M", mount],
    ] {
        let text = shown(&tree, arguments);
        assert!(text.contains("APPARENT"), "{text}");
        tree.run(arguments).good();
    }
}
