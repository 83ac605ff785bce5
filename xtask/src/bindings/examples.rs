// SPDX-License-Identifier: MIT OR Apache-2.0

//! The C library in languages that have no binding of their own: an example of each, which
//! must say of a tree what `find` says.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::install::is_there;
use crate::skipped;

/// Where the C library was installed for its own test.
const LIBRARY: &str = "bindings/target/installed";
const FOLDER: &str = "bindings/examples";

/// A language, what it needs, and how its example is made and called. `$OUT` is a folder
/// for what is built, `$TREE` the tree.
struct Example {
    language: &'static str,
    is_possible: fn() -> bool,
    needs: &'static str,
    run: &'static str,
}

const EXAMPLES: [Example; 4] = [
    Example {
        language: "Perl",
        is_possible: || succeeds("perl", &["-MFFI::Platypus", "-e1"]),
        needs: "FFI::Platypus",
        run: "perl perl/largest.pl $TREE",
    },
    Example {
        language: "C#",
        is_possible: || is_there("mcs") && is_there("mono"),
        needs: "Mono",
        run: "mcs -out:$OUT/largest.exe csharp/Largest.cs && mono $OUT/largest.exe $TREE",
    },
    Example {
        language: "Go",
        is_possible: || is_there("go") && has_go_modules(),
        needs: "Go and its proxy",
        run: "cd go && CGO_ENABLED=0 go build -o $OUT/largest-go . && $OUT/largest-go $TREE",
    },
    Example {
        language: "Qt",
        is_possible: || is_there("c++") && succeeds("pkg-config", &["--exists", "Qt6Core"]),
        needs: "Qt 6",
        run: "c++ -std=c++17 -fPIC qt/largest.cpp -o $OUT/largest-qt \
              $(pkg-config --cflags --libs Qt6Core statwalk) && $OUT/largest-qt $TREE",
    },
];

pub(super) fn test() -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{FOLDER}: {error}");
    let out = std::path::absolute("bindings/target/examples").map_err(failed)?;
    let tree = make_tree(&out).map_err(failed)?;
    let right = told_by_find(&tree)?;
    let library = std::path::absolute(LIBRARY).map_err(failed)?;
    for example in &EXAMPLES {
        let language = example.language;
        if !(example.is_possible)() {
            skipped::suite(example.needs, &format!("example in {language}"));
            continue;
        }
        println!("xtask: example in {language}");
        let done = Command::new("sh")
            .args(["-c", example.run])
            .current_dir(FOLDER)
            .env("OUT", &out)
            .env("TREE", &tree)
            .env("LD_LIBRARY_PATH", library.join("lib"))
            .env("PKG_CONFIG_PATH", library.join("lib/pkgconfig"))
            .output()
            .map_err(failed)?;
        let said = String::from_utf8_lossy(&done.stdout);
        if !done.status.success() || said != right {
            let complaint = String::from_utf8_lossy(&done.stderr);
            return Err(format!(
                "the example in {language} says {said:?} and find {right:?} ({}): {complaint}",
                done.status
            ));
        }
    }
    Ok(())
}

/// A tree of files, links and names that are no text.
fn make_tree(out: &Path) -> std::io::Result<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    let tree = out.join("tree");
    let _ = fs::remove_dir_all(&tree);
    for number in 0..300 {
        let dir = tree.join(format!("d{}/e{}", number % 7, number % 11));
        fs::create_dir_all(&dir)?;
        fs::write(dir.join(format!("f{number}")), vec![b'x'; number])?;
    }
    for name in [&b"line\nbreak"[..], b"\xff\xfe", b"-rf", b"  "] {
        fs::write(tree.join(std::ffi::OsStr::from_bytes(name)), b"1")?;
    }
    fs::write(tree.join("d3/largest"), vec![b'x'; 70_000])?;
    std::os::unix::fs::symlink("d3", tree.join("link"))?;
    std::os::unix::fs::symlink("nowhere", tree.join("dangling"))?;
    Ok(tree)
}

/// The sums by find(1), and the largest file.
fn told_by_find(tree: &Path) -> Result<String, String> {
    let done = Command::new("find")
        .arg(tree)
        .args(["-mindepth", "1", "-printf", "%y %s\\0"])
        .output()
        .map_err(|error| format!("find: {error}"))?;
    let (mut files, mut directories, mut bytes) = (0_u64, 0_u64, 0_u64);
    for entry in String::from_utf8_lossy(&done.stdout).split_terminator('\0') {
        let (kind, size) = entry.split_once(' ').ok_or("find says something else")?;
        match kind {
            "d" => directories += 1,
            _ => files += 1,
        }
        if kind == "f" {
            bytes += size.parse::<u64>().map_err(|error| error.to_string())?;
        }
    }
    let largest = tree.join("d3/largest");
    Ok(format!(
        "{files} {directories} {bytes}\n70000 {}\n",
        largest.display()
    ))
}

/// Whether the modules of the Go example are there or can be had.
fn has_go_modules() -> bool {
    let got = Command::new("go")
        .args(["mod", "download"])
        .current_dir(FOLDER.to_owned() + "/go")
        .output();
    got.is_ok_and(|done| done.status.success())
}

fn succeeds(program: &str, arguments: &[&str]) -> bool {
    let done = Command::new(program).args(arguments).output();
    done.is_ok_and(|done| done.status.success())
}
