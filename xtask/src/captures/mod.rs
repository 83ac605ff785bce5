// SPDX-License-Identifier: MIT OR Apache-2.0

//! Screens of the program as new users would fill them, at three sizes.
//!
//! The pages in `docs/captures` have them as text. `target/captures` has them in the
//! colours of a terminal, on black and on white, to be looked at in a browser.

mod points;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use self::points::{POINTS, Point};
use crate::picture::cells::{CELL, MARGIN, draw, pieces};
use crate::picture::stage::{Cast, Stage};
use crate::step::Step;

const PAGES: &str = "docs/captures";
const LOOKS: &str = "target/captures";

/// Columns and lines. The smallest is the least that the browser is made for.
const SIZES: [(usize, usize); 3] = [(40, 10), (80, 24), (120, 40)];

const CAST: Cast = Cast {
    folder: "target/captured",
    columns: 80,
    lines: 24,
    is_ordinary: true,
};

/// A background, with the colours that a terminal has there: xterm's.
const GROUNDS: [(&str, &str); 2] = [
    (
        "black",
        "body { background: #222; color: #ccc } .page { fill: #000 } text { fill: #e5e5e5 } .dim { fill: #7f7f7f } \
         .warning { fill: #cd0000 } .mark { fill: #cd00cd } .yellow { fill: #cdcd00 } .bar { fill: #00cdcd } .back { fill: #e5e5e5 } \
         .inverse { fill: #000 }",
    ),
    (
        "white",
        "body { background: #ddd; color: #222 } .page { fill: #fff } text { fill: #000 } .dim { fill: #7f7f7f } \
         .warning { fill: #cd0000 } .mark { fill: #cd00cd } .yellow { fill: #cdcd00 } .bar { fill: #00cdcd } .back { fill: #000 } \
         .inverse { fill: #fff }",
    ),
];

/// A screen at one size.
struct Capture {
    size: (usize, usize),
    lines: Vec<String>,
}

/// Plays all points. Needs root, tmux and mkfs.ext4, and writes the folders of pages and of
/// looks.
pub(crate) fn captures() -> Result<(), String> {
    let program = Path::new("target/release/statwalk");
    Step::cargo(&["build", "--release", "-p", "statwalk"]).run()?;
    let stage = Stage::new(&CAST)?;
    let played = play(&stage, program);
    stage.end();
    let all = played?;
    for folder in [PAGES, LOOKS] {
        fs::create_dir_all(folder).map_err(|error| format!("{folder}: {error}"))?;
    }
    for (point, captures) in &all {
        write(
            &format!("{PAGES}/{}.txt", point.name),
            &page(point, captures),
        )?;
    }
    write(&format!("{PAGES}/README.md"), &index())?;
    for (ground, style) in GROUNDS {
        write(&format!("{LOOKS}/{ground}.html"), &looks(style, &all))?;
    }
    println!("{PAGES}: {} points; {LOOKS} has the colours", all.len());
    Ok(())
}

fn write(file: &str, text: &str) -> Result<(), String> {
    fs::write(file, text).map_err(|error| format!("cannot write {file}: {error}"))
}

fn play(stage: &Stage, program: &Path) -> Result<Vec<(&'static Point, Vec<Capture>)>, String> {
    stage.take_program(program)?;
    let mut all = Vec::new();
    for point in POINTS {
        let mut captures = Vec::new();
        for size in SIZES {
            stage.restart(size.0, size.1)?;
            // A line that is longer than the screen would be in the capture.
            stage.letters(&format!("clear; {}", point.line))?;
            stage.press("Enter")?;
            stage.settle(|text| match point.keys {
                [] => text.trim_end().ends_with("\n$"),
                _ => text.contains("? help") && !text.contains('≥'),
            })?;
            for key in point.keys {
                stage.press(key)?;
            }
            let lines = stage.screen()?;
            if lines.iter().any(|line| line.contains("not found")) {
                return Err(format!("{}: {}", point.name, lines.join("\n")));
            }
            captures.push(Capture { size, lines });
        }
        all.push((point, captures));
    }
    Ok(all)
}

/// The captures of a point as text. Blank lines within a screen are one there.
fn page(point: &Point, captures: &[Capture]) -> String {
    let mut page = format!("{}\n\n$ {}", point.wish, point.line);
    if !point.keys.is_empty() {
        let _ = write!(page, "\nKeys: {}", point.keys.join(" "));
    }
    page.push('\n');
    for capture in captures {
        let (columns, lines) = capture.size;
        let _ = write!(page, "\n=== {columns}×{lines}\n");
        let mut was_blank = false;
        for line in &capture.lines {
            let text = plain(line);
            let is_blank = text.is_empty();
            if !(is_blank && was_blank) {
                page.push_str(&text);
                page.push('\n');
            }
            was_blank = is_blank;
        }
        if was_blank {
            page.pop();
        }
    }
    page
}

/// A line without its escape codes.
fn plain(line: &str) -> String {
    let mut parts = line.split("\x1b[");
    let mut text = parts.next().unwrap_or("").to_owned();
    for part in parts {
        text.push_str(part.split_once('m').map_or("", |(_, text)| text));
    }
    text.trim_end().to_owned()
}

fn index() -> String {
    let mut page = String::from(
        "# Screens of a new user\n\n\
         <!-- Made by `cargo xtask captures`. -->\n\n\
         Each line and its keys, on screens of 40×10, 80×24 and 120×40.\n\
         A user without rights played them on an ext4 of 400,000 entries. `/srv/backup` is unreadable, and a program holds a deleted log.\n\
         Several blank lines are one here.\n\
         Durations, process numbers, the number of other processes and the loop device differ from run to run.\n\n\
         The command also writes `target/captures/black.html` and `white.html`: the same screens in xterm's colours, on black and on white.\n\n\
         | Wish | Line | Keys |\n|---|---|---|\n",
    );
    for point in POINTS {
        let Point {
            name, wish, line, ..
        } = point;
        let keys: Vec<String> = point.keys.iter().map(|key| format!("`{key}`")).collect();
        let _ = writeln!(
            page,
            "| [{wish}]({name}.txt) | `{line}` | {} |",
            keys.join(" ")
        );
    }
    page
}

/// All captures as a page of HTML.
fn looks(style: &str, all: &[(&Point, Vec<Capture>)]) -> String {
    let mut page = format!(
        "<!DOCTYPE html><meta charset=\"utf-8\"><style>\
         text {{ font: 14px 'DejaVu Sans Mono', monospace; white-space: pre }} .bold {{ font-weight: bold }} \
         svg {{ margin: 4px; vertical-align: top }} {style}</style>\n"
    );
    for (point, captures) in all {
        let _ = writeln!(page, "<h3>{}: {}</h3>", point.name, point.line);
        page.push_str("<div>");
        for capture in captures {
            page.push_str(&svg(capture));
        }
        page.push_str("</div>\n");
    }
    page
}

fn svg(capture: &Capture) -> String {
    let width = capture.size.0 as f64 * CELL.0 + 2.0 * MARGIN;
    let height = capture.size.1 as f64 * CELL.1 + 2.0 * MARGIN;
    let mut shapes = String::new();
    for (row, line) in capture.lines.iter().enumerate() {
        let top = MARGIN + row as f64 * CELL.1;
        pieces(line)
            .iter()
            .for_each(|piece| draw(piece, top, &mut shapes));
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\">\
         <rect class=\"page\" width=\"100%\" height=\"100%\"/>\n{shapes}</svg>"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_the_text_of_each_screen() {
        let lines = ["\x1b[1mab\x1b[0m c ", "", "", "d", "", ""];
        let capture = Capture {
            size: (40, 10),
            lines: lines.iter().map(|&line| line.to_owned()).collect(),
        };
        let point = POINTS.iter().find(|point| point.name == "search");
        let page = page(point.unwrap(), &[capture]);
        let screens = "\n=== 40×10\nab c\n\nd\n";
        assert!(page.ends_with(screens), "{page}");
        assert!(page.contains("\nKeys: F *.mp4 Enter Space\n"), "{page}");
    }
}
