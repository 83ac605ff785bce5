// SPDX-License-Identifier: MIT OR Apache-2.0

//! Draws the picture of the README: the default view of a small tree, as an SVG.
//!
//! The tree is the same on every run, and so are its sizes and ages. The time of the scan
//! is not, and is replaced.

mod cells;
mod session;

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

use self::cells::{CELL, MARGIN, Piece, STYLE, draw, pieces};
use crate::step::Step;

pub(crate) use self::session::session;

const PICTURE: &str = "docs/pictures/screen.svg";

/// Where the tree stands while the program looks at it; it takes 2 GiB of disk.
const FOLDER: &str = "target/picture";

const MIB: u64 = 1 << 20;
const DAY: u64 = 86_400;

/// Files, with their size in MiB and their age in days.
const FILES: [(&str, u64, u64); 19] = [
    ("ana/Videos/holiday in Tromsø.mkv", 512, 800),
    ("ana/Videos/talk.mp4", 190, 150),
    ("ana/Videos/rehearsal.mp4", 48, 150),
    ("ana/Downloads/debian-13.iso", 420, 340),
    ("ana/Downloads/survey.zip", 21, 40),
    ("ana/Downloads/map.pdf", 6, 12),
    ("ana/projects/atlas/target/debug/deps/atlas", 210, 2),
    (
        "ana/projects/atlas/target/debug/incremental/cache.bin",
        96,
        2,
    ),
    (
        "ana/projects/atlas/.git/objects/pack/pack-7c41.pack",
        84,
        70,
    ),
    (
        "ana/projects/atlas/src/main/java/com/example/app/App.java",
        1,
        2,
    ),
    (
        "ana/projects/site/node_modules/typescript/lib/tsc.js",
        24,
        200,
    ),
    (
        "ana/projects/site/node_modules/webpack/lib/index.js",
        14,
        200,
    ),
    ("ana/projects/site/index.html", 1, 9),
    ("ana/.cache/pip/http/wheels.bin", 118, 260),
    ("ana/.cache/thumbnails/large.db", 32, 1),
    ("ana/.cargo/registry/src/crates.tar", 66, 30),
    ("ana/.cargo/registry/cache/crates.tar", 38, 30),
    ("ana/mail/2019.mbox", 74, 2_300),
    ("ana/notes.txt", 1, 0),
];

pub(crate) fn picture() -> Result<(), String> {
    Step::cargo(&["build", "--release", "-p", "statwalk"]).run()?;
    let text = shown()?;
    let text = text.replace("\u{a0}", " ");
    fs::write(PICTURE, svg(&text)).map_err(|error| format!("{PICTURE}: {error}"))?;
    println!("{PICTURE}");
    Ok(())
}

/// Makes the tree and returns the view of it, with its escape codes.
fn shown() -> Result<String, String> {
    let folder = Path::new(FOLDER);
    let failed = |error: std::io::Error| format!("{FOLDER}: {error}");
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(failed)?;
    }
    for (name, mib, days) in FILES {
        let path = folder.join(name);
        let parent = path.parent().unwrap_or(folder);
        fs::create_dir_all(parent).map_err(failed)?;
        let size = (mib * MIB).to_string();
        let mut fallocate = Command::new("fallocate");
        let status = fallocate.arg("-l").arg(size).arg(&path).status();
        let status = status.map_err(failed)?;
        if !status.success() {
            return Err(format!("fallocate: {status}"));
        }
        // An hour more, so that no age changes while the program runs.
        let age = Duration::from_secs(days * DAY + 3_600);
        let file = File::options().write(true).open(&path).map_err(failed)?;
        file.set_modified(SystemTime::now() - age).map_err(failed)?;
    }
    let program = fs::canonicalize("target/release/statwalk").map_err(failed)?;
    let arguments = ["--table", "--width=80", "--color=always", "ana"];
    let output = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .env("LINES", "24")
        .env("LC_ALL", "C.UTF-8")
        .output();
    let output = output.map_err(failed)?;
    fs::remove_dir_all(folder).map_err(failed)?;
    if !output.status.success() {
        return Err(format!("statwalk: {}", output.status));
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let (front, back) = text.rsplit_once(" ms.").ok_or("there is no time")?;
    let front = front.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    Ok(format!("$ statwalk ana\n{front}2 ms.{back}"))
}

fn svg(text: &str) -> String {
    let lines: Vec<Vec<Piece<'_>>> = text.lines().map(pieces).collect();
    let columns = lines.iter().flatten();
    let columns = columns.map(Piece::end);
    let width = columns.max().unwrap_or(0) as f64 * CELL.0 + 2.0 * MARGIN;
    let height = lines.len() as f64 * CELL.1 + 2.0 * MARGIN;
    let mut out = format!(
        "<!-- Made by `cargo xtask picture`. -->\n\
         <svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" aria-label=\"The default view of \
         statwalk\">\n<style>{STYLE}</style>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"8\"/>\n"
    );
    for (line, pieces) in lines.iter().enumerate() {
        let top = MARGIN + line as f64 * CELL.1;
        for piece in pieces {
            draw(piece, top, &mut out);
        }
    }
    out.push_str("</svg>\n");
    out
}
