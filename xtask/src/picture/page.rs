// SPDX-License-Identifier: MIT OR Apache-2.0

//! Takes the picture of a report for the README, in both themes.
//!
//! The report is of the tree of the sessions, and a headless Chromium shows it. No name and
//! no number is put in afterwards.

use std::fs;

use super::age;
use super::stage::{Cast, Stage};
use crate::step::Step;
use crate::viewer;

const PICTURES: [&str; 2] = [
    "docs/pictures/report-light.png",
    "docs/pictures/report-dark.png",
];
/// Readers of the README load one of them.
const BYTES_MAX: u64 = 200_000;
const CAST: Cast = Cast {
    folder: "target/report",
    columns: 92,
    lines: 26,
    is_ordinary: true,
};

/// Makes the report and takes its pictures. Needs root, tmux, mkfs.ext4, Node and Chromium,
/// and writes the folder `target/report`.
pub(crate) fn page_picture() -> Result<(), String> {
    Step::cargo(&["build", "--release", "-p", "statwalk"]).run()?;
    let stage = Stage::new(&CAST)?;
    let taken = take(&stage);
    stage.end();
    taken
}

fn take(stage: &Stage) -> Result<(), String> {
    let failed = |path: &str, error| format!("{path}: {error}");
    let report = format!("{}/home/report.html", CAST.folder);
    stage.letters("cd && statwalk report /srv/ana -o report.html")?;
    stage.key("Enter", "on disk")?;
    let report = fs::canonicalize(&report).map_err(|error| failed(&report, error))?;
    let mut arguments = vec!["run", "picture", "--", report.to_str().unwrap_or_default()];
    let pictures = PICTURES.map(|picture| format!("{}/{picture}", env!("CARGO_MANIFEST_DIR")));
    let pictures = pictures.map(|picture| picture.replace("/xtask/", "/"));
    arguments.extend(pictures.iter().map(String::as_str));
    Step::npm(&arguments, viewer::FOLDER).run()?;
    for picture in PICTURES {
        let bytes = fs::metadata(picture)
            .map_err(|error| failed(picture, error))?
            .len();
        if bytes > BYTES_MAX {
            return Err(format!(
                "{picture} has {bytes} bytes, more than {BYTES_MAX}"
            ));
        }
        println!("{picture}: {bytes} bytes");
    }
    age::keep_page()
}
