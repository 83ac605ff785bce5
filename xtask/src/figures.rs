// SPDX-License-Identifier: MIT OR Apache-2.0

//! The figures of README.md: an excerpt of the records, and never typed by hand.
//!
//! `cargo xtask figures` writes them, and tidy fails where a record says something else.

use std::fs;
use std::path::Path;

const README: &str = "README.md";
const PAGE: &str = "bench/RESULTS.md";

const BEGIN: &str = "<!-- figures: `cargo xtask figures` writes this part -->";
const END: &str = "<!-- end of figures -->";

/// A row of the table: two ways of one case of a record.
struct Row {
    scan: &'static str,
    record: &'static str,
    /// A piece of the case's heading, and of the sentence below it.
    heading: &'static str,
    tree: &'static str,
    statwalk: &'static str,
    du: &'static str,
    /// The command that made the record.
    command: &'static str,
}

const IN_PLACE: &str = "bench/record/2026-11-22-in-place.md";
const DEVICE: &str = "bench/device --rounds 7 --cold-rounds 3";

const ROWS: [Row; 3] = [
    Row {
        scan: "`/usr` in memory, by system calls",
        record: "bench/record/2026-11-24-articles.md",
        heading: "usr on ext4, warm: size",
        tree: "the system's own /usr",
        statwalk: "program/statwalk",
        du: "program/du",
        command: "bench/articles",
    },
    Row {
        scan: "ext4 as root, in memory",
        record: IN_PLACE,
        heading: "ext4, warm",
        tree: "760000+50000",
        statwalk: "program/statwalk ext4",
        du: "program/du",
        command: DEVICE,
    },
    Row {
        scan: "the same tree, with nothing in memory",
        record: IN_PLACE,
        heading: "ext4, cold",
        tree: "760000+50000",
        statwalk: "program/statwalk ext4",
        du: "program/du",
        command: DEVICE,
    },
];

/// Writes the figures into README.md.
pub(crate) fn figures() -> Result<(), String> {
    let text = read(README)?;
    let [before, _, after] = parts(&text)?;
    let new = format!("{before}{}{after}", block()?);
    fs::write(README, new).map_err(|error| format!("cannot write {README}: {error}"))
}

/// A fault where the figures of README.md are not those of the records.
pub(crate) fn check(faults: &mut Vec<String>) {
    let is_same = read(README).and_then(|text| Ok(parts(&text)?[1] == block()?));
    match is_same {
        Ok(true) => {}
        Ok(false) => faults.push(format!(
            "{README}: a figure differs from its record: run `cargo xtask figures`"
        )),
        Err(error) => faults.push(format!("{README}: {error}")),
    }
}

/// The text before, between and after the two marks.
fn parts(text: &str) -> Result<[&str; 3], String> {
    let begin = text.find(BEGIN).ok_or_else(|| format!("no mark {BEGIN}"))? + BEGIN.len();
    let length = text[begin..]
        .find(END)
        .ok_or_else(|| format!("no mark {END}"))?;
    let (before, rest) = text.split_at(begin);
    let (own, after) = rest.split_at(length);
    Ok([before, own, after])
}

fn block() -> Result<String, String> {
    let mut text = String::from(
        "\n| Scan | entries | statwalk | GNU du | Record | Command |\n\
         |---|---:|---:|---:|---|---|\n",
    );
    for row in &ROWS {
        let record = read(row.record)?;
        let case = case(&record, row.heading, row.tree)
            .ok_or_else(|| format!("no case {}, {} in {}", row.heading, row.tree, row.record))?;
        let wall_ms =
            |way: &str| wall_ms(case, way).ok_or_else(|| format!("no row {way} in {}", row.record));
        let entries = entries(case).ok_or_else(|| format!("no entries in {}", row.record))?;
        let name = Path::new(row.record).file_stem();
        text.push_str(&format!(
            "| {} | {} | {} ms | {} ms | [{}]({}) | `{}` |\n",
            row.scan,
            grouped(entries),
            wall_ms(row.statwalk)?,
            wall_ms(row.du)?,
            name.unwrap_or_default().to_string_lossy(),
            row.record,
            row.command,
        ));
    }
    let page = read(PAGE)?;
    let (first, cases) = first(&page).ok_or_else(|| format!("{PAGE}: nobody is first"))?;
    text.push_str(&format!(
        "\nIn [{PAGE}]({PAGE}), statwalk is first in {first} of {cases} cases.\n"
    ));
    Ok(text)
}

/// The part of a record about one case.
fn case<'a>(record: &'a str, heading: &str, tree: &str) -> Option<&'a str> {
    let lines = record.match_indices("\n#").map(|(at, _)| at);
    let ends = lines.clone().skip(1).chain([record.len()]);
    let mut cases = lines.zip(ends).map(|(begin, end)| &record[begin..end]);
    cases.find(|case| {
        let title = case.trim_start().lines().next().unwrap_or_default();
        title.trim_start_matches('#').trim() == heading && case.contains(tree)
    })
}

/// The median in milliseconds, as the record has it.
fn wall_ms<'a>(case: &'a str, way: &str) -> Option<&'a str> {
    let mut rows = case.lines().map(|line| line.split('|').map(str::trim));
    rows.find_map(|mut cells| (cells.nth(1)? == way).then(|| cells.next())?)
}

/// Files and directories of a case: «103,099 files, 6,900 directories: …».
fn entries(case: &str) -> Option<u64> {
    let line = case.lines().find(|line| line.contains(" directories: "))?;
    let (files, rest) = line.split_once(" files, ")?;
    let (dirs, _) = rest.split_once(" directories")?;
    let number = |text: &str| text.replace(',', "").parse::<u64>().ok();
    Some(number(files)? + number(dirs)?)
}

fn first(page: &str) -> Option<(&str, &str)> {
    let (_, rest) = page.split_once("\nstatwalk is first in ")?;
    let (first, rest) = rest.split_once(" of ")?;
    let (cases, _) = rest.split_once(" cases")?;
    Some((first, cases))
}

fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&[u8]> = digits.as_bytes().rchunks(3).rev().collect();
    String::from_utf8_lossy(&groups.join(&b","[..])).into_owned()
}

fn read(path: &str) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("cannot read {path}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORD: &str = "\
text
### ext4, warm

103,099 files, 6,900 directories: `generator tree 103099+6900`.

| way | wall ms | quartiles |
|---|---:|---:|
| program/statwalk ext4, tree | 29.0 | 23.1 … 36.9 |
| program/statwalk ext4 | 23.4 | 22.8 … 25.6 |

### ext4, warm

1,760,000 files, 50,000 directories: `generator tree 1760000+50000`.

| program/statwalk ext4 | 1,135 | 129.8 … 156.1 |
";

    #[test]
    fn a_figure_is_the_median_of_its_case_and_way() {
        let small = case(RECORD, "ext4, warm", "103099+6900").unwrap();
        assert_eq!(wall_ms(small, "program/statwalk ext4"), Some("23.4"));
        assert_eq!(entries(small), Some(109_999));
        let large = case(RECORD, "ext4, warm", "1760000+50000").unwrap();
        assert_eq!(wall_ms(large, "program/statwalk ext4"), Some("1,135"));
        assert_eq!(entries(large).map(grouped).as_deref(), Some("1,810,000"));
        assert_eq!(wall_ms(large, "program/du"), None);
        assert!(case(RECORD, "ext4", "103099+6900").is_none());
        assert!(case(RECORD, "ext4, warm", "7+7").is_none());
    }

    #[test]
    fn the_rank_comes_from_the_page() {
        let page = "x\nstatwalk is first in 35 of 38 cases, with default settings. Its …";
        assert_eq!(first(page), Some(("35", "38")));
        assert_eq!(first("x"), None);
    }

    #[test]
    fn only_the_part_between_the_marks_changes() {
        let text = format!("a{BEGIN}b{END}c");
        let [before, own, after] = parts(&text).unwrap();
        assert_eq!((before.len(), own), (1 + BEGIN.len(), "b"));
        assert_eq!(after, format!("{END}c"));
        assert!(parts("a").is_err());
    }
}
