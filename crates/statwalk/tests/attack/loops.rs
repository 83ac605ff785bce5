// SPDX-License-Identifier: MIT OR Apache-2.0

//! Directories that have several names: loops, which end nowhere, and second
//! names of a directory, on images of ext2 and ext4 that debugfs doctored.
//!
//! No kernel makes such a file system, a broken disk or an enemy does. The
//! kernel refuses to look up a loop (`ELOOP`), so GNU find and du tell it.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use statwalk_testkit::mounts::{self, Access};
use statwalk_testkit::{Model, Random, Scratch, Skipped, ext4_images};
use statwalk_testkit::{Totals, model::NodeKind, or_skip};

use crate::program::{self, Ended, statwalk};
use crate::sound::{errors_of, faults_of};
use statwalk_testkit::attack::{Attack, Round};

const IMAGE_BYTES: u64 = 12 << 20;

/// Kinds of images whose directories lie differently.
const KINDS: [&[&str]; 4] = [
    &["-t", "ext4"],
    &["-t", "ext4", "-O", "^metadata_csum", "-b", "4096"],
    &["-t", "ext4", "-O", "^dir_index"],
    &["-t", "ext2"],
];

/// What debugfs does to a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doctoring {
    /// A directory holds itself, or one that it is in.
    Ancestor,
    /// A directory holds the root.
    Root,
    /// A directory has a name in another one too.
    TwoParents,
    /// A directory has two names in the same one.
    TwoNames,
    /// `..` leads elsewhere.
    Dots,
}

const DOCTORINGS: [Doctoring; 5] = [
    Doctoring::Ancestor,
    Doctoring::Root,
    Doctoring::TwoParents,
    Doctoring::TwoNames,
    Doctoring::Dots,
];

/// Directories `d0`, `d1` …, each with files, some in others.
struct Tree {
    /// Paths of the directories.
    dirs: Vec<String>,
    model: Model,
}

impl Tree {
    fn new(random: &mut Random) -> Tree {
        let mut model = Model::new();
        let mut known = vec![(Model::ROOT, String::new())];
        // From 64 directories on `auto` looks for the device.
        let count = *random.pick(&[3, 5, 12, 90]);
        for number in 0..count {
            let within = match number {
                0 => 0,
                _ => random.below(known.len() as u64) as usize,
            };
            let (parent, path) = known[within].clone();
            let name = format!("d{number}");
            let dir = model.add(parent, name.as_bytes(), NodeKind::Directory);
            let dir = dir.unwrap();
            for file in 0..random.below(4) {
                let name = format!("f{file}");
                let kind = NodeKind::file(1 + random.below(3_000));
                model.add(dir, name.as_bytes(), kind).unwrap();
            }
            known.push((dir, format!("{path}/{name}")));
        }
        let dirs = known.into_iter().skip(1).map(|(_, path)| path);
        Tree {
            dirs: dirs.collect(),
            model,
        }
    }

    /// A directory, and perhaps another one.
    fn two(&self, random: &mut Random) -> (&str, &str) {
        let one = random.pick(&self.dirs);
        let others: Vec<&str> = self.dirs.iter().map(String::as_str).collect();
        let others: Vec<&str> = others.into_iter().filter(|dir| dir != one).collect();
        (one, *random.pick(&others))
    }
}

/// What was done to a tree: the script, and where a loop or the names of one
/// directory are, from the root of the image.
struct Doctored {
    script: String,
    names: Vec<String>,
    is_loop: bool,
}

fn is_within(inner: &str, outer: &str) -> bool {
    let below = inner.strip_prefix(outer);
    below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
}

fn doctor(doctoring: Doctoring, tree: &Tree, random: &mut Random) -> Doctored {
    let (one, other) = tree.two(random);
    let linked = |target: &str, name: String, names: &[&str]| Doctored {
        script: format!("ln {target} {name}\n"),
        is_loop: names.is_empty(),
        names: names
            .iter()
            .map(|&name| name.to_owned())
            .chain([name.clone()])
            .collect(),
    };
    match doctoring {
        Doctoring::Ancestor => {
            let above = tree.dirs.iter().map(String::as_str);
            let above: Vec<&str> = above.filter(|dir| is_within(one, dir)).collect();
            linked(random.pick::<&str>(&above), format!("{one}/again"), &[])
        }
        Doctoring::Root => linked("<2>", format!("{one}/again"), &[]),
        Doctoring::TwoParents if is_within(one, other) => {
            linked(other, format!("{one}/again"), &[])
        }
        Doctoring::TwoParents => linked(other, format!("{one}/again"), &[other]),
        Doctoring::TwoNames => {
            let (parent, _) = one.rsplit_once('/').unwrap();
            linked(one, format!("{parent}/again"), &[one])
        }
        Doctoring::Dots => Doctored {
            script: format!("unlink {one}/..\nln {other} {one}/..\n"),
            is_loop: false,
            names: Vec::new(),
        },
    }
}

/// Makes the image; nothing in it changed lately, so that it can be read in
/// place of the kernel.
fn image(
    home: &Scratch,
    tree: &Tree,
    kind: &[&str],
    script: &str,
) -> Result<std::path::PathBuf, Skipped> {
    let from = home.path().join("tree");
    tree.model.materialise(&from).unwrap();
    let image = home.path().join("image");
    ext4_images::make(&image, IMAGE_BYTES, kind, Some(&from))?;
    let mut script = script.to_owned();
    // The root, then lost+found and what follows it.
    let last = 11 + tree.model.totals().entries;
    for inode in [2].into_iter().chain(11..last) {
        for field in ["ctime", "mtime", "atime"] {
            writeln!(script, "set_inode_field <{inode}> {field} 20200101000000").unwrap();
        }
    }
    ext4_images::debugfs(&image, Access::ReadWrite, &script)?;
    Ok(image)
}

/// What must be the same whoever reads it.
fn numbers(ended: &Ended) -> Vec<u64> {
    let document = ended.json().unwrap_or_default();
    ["files", "dirs", "file_size_bytes", "allocated_bytes"]
        .map(|field| document["roots"][0][field].as_u64().unwrap_or(u64::MAX))
        .to_vec()
}

/// An answer about a doctored tree.
fn check(round: &mut Round, ended: &Ended, root: &Path, tree: &Tree, doctored: &Doctored) {
    let mut totals: Totals = tree.model.totals();
    // mke2fs adds `lost+found`.
    totals.dirs += 1;
    if !ended.check_end(round, &[0, 1]) {
        return;
    }
    let document = ended.json().unwrap_or_default();
    let mut faults = faults_of(&document, ended.code());
    let [files, dirs, bytes, _] = numbers(ended)[..] else {
        unreachable!("four numbers");
    };
    if (files, u128::from(bytes)) != (totals.files, totals.file_size_bytes) {
        let expected = (totals.files, totals.file_size_bytes);
        faults.push(format!("files {:?} and not {expected:?}", (files, bytes)));
    }
    let is_counted = dirs == totals.dirs + 1 && !doctored.names.is_empty();
    if dirs != totals.dirs && !is_counted {
        faults.push(format!("{dirs} directories and not {}", totals.dirs));
    }
    let errors = errors_of(&document);
    let path = |name: &String| format!("{}{name}", root.display());
    let is_told = |name: &String| errors.iter().any(|(found, _)| *found == path(name));
    match (&doctored.names[..], ended.code()) {
        ([], Some(0)) => {}
        ([], _) => faults.push("a wrong `..` is nobody's business".to_owned()),
        (names, _) => {
            if !names.iter().any(is_told) {
                faults.push(format!("no error of {names:?}"));
            }
            if ended.code() != Some(1) {
                faults.push("complete".to_owned());
            }
        }
    }
    round.check(faults.is_empty(), || {
        format!("{}: {}", faults.join(", "), ended.told())
    });
}

/// What find and du say of the mounted image: so many names, so many bytes, and
/// whether there was an error.
fn reference(at: &Path) -> (u64, u64, bool) {
    let mut find = program::command("find");
    let find = find.arg(at).args(["-printf", "x"]).output().unwrap();
    let mut du = program::command("du");
    let du = du.args(["-s", "-B1"]).arg(at).output().unwrap();
    let text = String::from_utf8_lossy(&du.stdout);
    let bytes = text.split('\t').next().unwrap().parse().unwrap();
    let failed = !find.status.success() || !du.status.success();
    (find.stdout.len() as u64, bytes, failed)
}

/// The sources that a mounted image is read by, in one round.
fn check_mounted(round: &mut Round, at: &Path, tree: &Tree, doctored: &Doctored, flags: &[&str]) {
    let (entries, bytes, failed) = reference(at);
    round.check(failed == doctored.is_loop, || {
        format!("find and du failed: {failed}, {:?}", doctored.names)
    });
    let answer = |source: &str| {
        // With one worker: a directory with two names is, to the kernel, where it
        // was looked up last.
        let arguments = [&["--json", "-s", "-j1", "--source", source], flags].concat();
        program::run(statwalk().args(arguments).arg(at))
    };
    let by_kernel = answer("posix");
    if doctored.is_loop || doctored.names.is_empty() {
        check(round, &by_kernel, at, tree, doctored);
    }
    let document = by_kernel.json().unwrap_or_default();
    let root = &document["roots"][0];
    // find does not name what it cannot look up.
    let counted = root["entries"].as_u64();
    let is_same = counted == Some(entries) || doctored.is_loop && counted == Some(entries + 1);
    let is_same = is_same && root["allocated_bytes"].as_u64() == Some(bytes);
    round.check(is_same, || {
        format!("find {entries}, du {bytes}: {}", by_kernel.told())
    });
    for source in ["ext4", "auto"] {
        let in_place = answer(source);
        // System calls list a directory with two names twice, as find and du do; from
        // the device one of them is seen to be damage.
        if !doctored.is_loop && !doctored.names.is_empty() {
            match source {
                "ext4" => check(round, &in_place, at, tree, doctored),
                // It begins by system calls.
                _ => _ = in_place.check_end(round, &[0, 1]),
            }
            continue;
        }
        if !in_place.check_end(round, &[0, 1]) {
            continue;
        }
        let found = in_place.json().unwrap_or_default();
        let is_same = numbers(&in_place) == numbers(&by_kernel)
            && errors_of(&found) == errors_of(&document)
            && found["complete"] == document["complete"];
        round.check(is_same, || {
            format!("not as posix: {}\n{}", in_place.told(), by_kernel.told())
        });
    }
}

#[test]
fn a_directory_with_several_names_counts_once() {
    let probe: Result<(), Skipped> = match Command::new("debugfs").arg("-V").output() {
        Ok(_) => Ok(()),
        Err(_) => Err(Skipped::needs("debugfs")),
    };
    or_skip!(probe);
    let attack = Attack {
        kind: "loops",
        rounds_small: 15,
        checks_least: 4,
    };
    attack.run(|round| {
        let doctoring = *round.in_turn(&DOCTORINGS);
        let kind = *round.in_turn(&KINDS);
        let tree = Tree::new(&mut round.random);
        let doctored = doctor(doctoring, &tree, &mut round.random);
        let home = Scratch::new().unwrap();
        let image = image(&home, &tree, kind, &doctored.script).unwrap();
        for order in ["parallel", "recursive", "inode", "queue"] {
            let threads = round.random.pick(&["-j1", "-j2", "-j4"]);
            let mut command = statwalk();
            command.args([
                "--json", "-s", "--source", "ext4", "--order", order, threads,
            ]);
            let ended = program::run(command.arg(&image));
            check(round, &ended, &image, &tree, &doctored);
        }
        let at = home.subdirectory("at").unwrap();
        let order = *round.random.pick(&["parallel", "recursive", "stack"]);
        match mounts::image(&image, kind[1], &at, Access::ReadOnly, "") {
            Ok(mounted) => {
                let flags = ["--order", order];
                check_mounted(round, mounted.path(), &tree, &doctored, &flags);
            }
            Err(skipped) => skipped.report(),
        }
    });
}
