// SPDX-License-Identifier: MIT OR Apache-2.0

//! Draws the moving picture of the README: a session in a terminal, as one SVG.
//!
//! The session is a real one. No name and no number is put in afterwards.

pub(crate) mod age;
pub(crate) mod cells;
pub(crate) mod page;
pub(crate) mod stage;

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs;

use self::cells::{CELL, MARGIN, STYLE, draw, pieces};
use self::stage::{Cast, Stage};
use crate::step::Step;

const PICTURE: &str = "docs/pictures/session.svg";
const COLUMNS: usize = 92;
const LINES: usize = 26;
const CAST: Cast = Cast {
    folder: "target/session",
    columns: COLUMNS,
    lines: LINES,
    is_ordinary: false,
};

/// A step of the session.
enum Act {
    /// Letters, one after another.
    Type(&'static str),
    /// A key by tmux' name, and a piece of the screen that it brings.
    Key(&'static str, &'static str),
    /// The screen stays for so many seconds.
    Hold(f64),
}

use Act::{Hold, Key, Type};

const SESSION: &[Act] = &[
    Type("statwalk /srv"),
    Key("Enter", "on disk"),
    Hold(5.0),
    Type("clear && statwalk browse --enable-delete /srv"),
    Key("Enter", "ana"),
    Hold(1.5),
    Key("Enter", "projects"),
    Hold(1.2),
    Key("Down", "projects"),
    Hold(0.6),
    Key("Enter", "atlas"),
    Hold(1.2),
    Key("Enter", "target"),
    Hold(1.2),
    Key("Space", "marked"),
    Hold(1.5),
    Key("d", "Cancel"),
    Hold(5.0),
    Key("Tab", "trash"),
    Hold(1.0),
    Key("Enter", "to remove:"),
    Hold(1.0),
    Type("target"),
    Key("Enter", "in the trash"),
    Hold(2.5),
    Key("U", "back"),
    Hold(2.5),
    Key("q", "$"),
    Type("clear && statwalk df /srv"),
    Key("Enter", "%"),
    Hold(6.0),
];

/// A screen, and how long it stays.
struct Frame {
    lines: Vec<String>,
    seconds: f64,
}

/// Plays the session and draws it. Needs root, tmux and mkfs.ext4, and writes the folder
/// `target/session`.
pub(crate) fn picture() -> Result<(), String> {
    Step::cargo(&["build", "--release", "-p", "statwalk"]).run()?;
    let stage = Stage::new(&CAST)?;
    let frames = play(&stage, SESSION);
    stage.end();
    let frames = frames?;
    fs::write(PICTURE, svg(&frames)).map_err(|error| format!("cannot write {PICTURE}: {error}"))?;
    age::keep()?;
    let seconds: f64 = frames.iter().map(|frame| frame.seconds).sum();
    println!("{PICTURE}: {} screens, {seconds:.0} s", frames.len());
    Ok(())
}

fn play(stage: &Stage, acts: &[Act]) -> Result<Vec<Frame>, String> {
    let mut frames: Vec<Frame> = Vec::new();
    let shoot = |seconds: f64| {
        let lines = stage.screen()?;
        Ok::<_, String>(Frame { lines, seconds })
    };
    for act in acts {
        match act {
            Type(text) => {
                for letters in text.as_bytes().chunks(3) {
                    stage.letters(&String::from_utf8_lossy(letters))?;
                    frames.push(shoot(0.15)?);
                }
            }
            Key(key, piece) => {
                stage.key(key, piece)?;
                frames.push(shoot(0.4)?);
            }
            Hold(seconds) => {
                if let Some(last) = frames.last_mut() {
                    last.seconds += seconds;
                }
            }
        }
    }
    Ok(frames)
}

/// Each line stands in the picture once, however many screens show it.
fn svg(frames: &[Frame]) -> String {
    let whole: f64 = frames.iter().map(|frame| frame.seconds).sum();
    let width = COLUMNS as f64 * CELL.0 + 2.0 * MARGIN;
    let height = LINES as f64 * CELL.1 + 2.0 * MARGIN;
    let (mut styles, mut shapes, mut screens) = (String::new(), String::new(), String::new());
    let mut known: HashMap<&str, usize> = HashMap::new();
    let mut begin = 0.0;
    for (number, frame) in frames.iter().enumerate() {
        let end = begin + frame.seconds;
        let (from, to) = (100.0 * begin / whole, 100.0 * end / whole);
        let first = if number == 0 { "visible" } else { "hidden" };
        // Writing into a string cannot fail.
        let _ = writeln!(
            styles,
            "@keyframes f{number} {{ 0% {{ visibility: {first}; }} {from:.3}% {{ visibility: visible; }} \
             {to:.3}% {{ visibility: hidden; }} }} #f{number} {{ animation-name: f{number}; }}"
        );
        let _ = write!(screens, "<g id=\"f{number}\" class=\"frame\">");
        for (row, line) in frame.lines.iter().enumerate() {
            let found = pieces(line);
            if found.is_empty() {
                continue;
            }
            let next = known.len();
            let id = *known.entry(line).or_insert(next);
            if id == next {
                let _ = write!(shapes, "<g id=\"l{id}\">");
                found.iter().for_each(|piece| draw(piece, 0.0, &mut shapes));
                shapes.push_str("</g>\n");
            }
            let y = MARGIN + row as f64 * CELL.1;
            let _ = write!(screens, "<use href=\"#l{id}\" y=\"{y:.0}\"/>");
        }
        screens.push_str("</g>\n");
        begin = end;
    }
    // Readers who want no motion see the longest screen.
    let longest = (0..frames.len()).max_by(|a, b| {
        let seconds = |number: &usize| frames[*number].seconds;
        seconds(a).total_cmp(&seconds(b))
    });
    let longest = longest.unwrap_or(0);
    format!(
        "<!-- Made by `cargo xtask picture`. -->\n\
         <svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" aria-label=\"A session: the default \
         view, the browser with a removal, and df\">\n<style>{STYLE}\n\
         .frame {{ visibility: hidden; animation-duration: {whole:.2}s; \
         animation-timing-function: step-end; animation-iteration-count: infinite; }}\n\
         @media (prefers-reduced-motion: reduce) {{ .frame {{ animation: none; }} \
         #f{longest} {{ visibility: visible; }} }}\n\
         {styles}</style>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"8\"/>\n\
         <defs>\n{shapes}</defs>\n{screens}</svg>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_two_screens_is_drawn_once() {
        let frame = |lines: &[&str], seconds| Frame {
            lines: lines.iter().map(|&line| line.to_owned()).collect(),
            seconds,
        };
        let picture = svg(&[frame(&["same", "a<b"], 1.0), frame(&["", "same"], 3.0)]);
        assert_eq!(picture.matches(">same</text>").count(), 1, "{picture}");
        assert_eq!(picture.matches("href=\"#l0\"").count(), 2, "{picture}");
        assert!(picture.contains("a&lt;b"), "{picture}");
        assert!(
            picture.contains("25.000% { visibility: visible; } 100.000%"),
            "{picture}"
        );
        assert!(
            picture.contains("#f1 { visibility: visible; }"),
            "{picture}"
        );
    }
}
