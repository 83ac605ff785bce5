// SPDX-License-Identifier: MIT OR Apache-2.0

//! Whether the pictures are older than what they show.
//!
//! The moving picture keeps a hash of the words in each file that puts words on its screens. A
//! new word of one of them makes the picture old; a comment, a test, or another file does not.
//! Colours and places are not looked at. Those of a report are old with any change of the page.

use std::fs;

use super::PICTURE;

/// The files whose words the session shows, and the session.
const SHOWN: [&str; 10] = [
    "crates/statwalk/src/browse/undo.rs",
    "crates/statwalk/src/commands/summary/answer.rs",
    "crates/statwalk/src/output/space_table.rs",
    "crates/statwalk-browse/src/dialog.rs",
    "crates/statwalk-browse/src/draw/foot.rs",
    "crates/statwalk-browse/src/draw/head.rs",
    "crates/statwalk-browse/src/draw/removal.rs",
    "crates/statwalk-browse/src/draw/rows.rs",
    "xtask/src/picture/mod.rs",
    "xtask/src/picture/stage.rs",
];

const BEGIN: &str = "<!-- Words of ";

/// The page whose pictures are kept, and the sentence at its head.
const PAGE: [&str; 3] = [
    "crates/statwalk-report/viewer/dist/viewer.css",
    "crates/statwalk-report/viewer/dist/viewer.js",
    "crates/statwalk-report/src/gist.rs",
];

/// Where a line for each of these stands.
const PAGE_RECORD: &str = "docs/pictures/report.txt";

/// What the picture keeps: a line for each file.
pub(crate) fn record() -> Result<String, String> {
    let lines = SHOWN.iter().map(|file| {
        let text = fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
        Ok(line(file, &text))
    });
    lines.collect()
}

fn line(file: &str, text: &str) -> String {
    format!("{BEGIN}{file}: {:016x} -->\n", hash(&literals(text)))
}

fn page_record() -> Result<String, String> {
    let lines = PAGE.iter().map(|file| {
        let text = fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
        let hash = match file.ends_with(".rs") {
            true => hash(&literals(&text)),
            false => hash(&[&text]),
        };
        Ok(format!("{file}: {hash:016x}\n"))
    });
    lines.collect()
}

/// Notes that the pictures of a report are of the page of now.
pub(crate) fn keep_page() -> Result<(), String> {
    fs::write(PAGE_RECORD, page_record()?)
        .map_err(|error| format!("cannot write {PAGE_RECORD}: {error}"))
}

/// Writes the record of now into the picture as it is: for a new word that no screen of the
/// session shows.
pub(crate) fn keep() -> Result<(), String> {
    let text = fs::read_to_string(PICTURE).map_err(|error| format!("{PICTURE}: {error}"))?;
    let kept = text.split_inclusive('\n');
    let kept: String = kept.filter(|line| !line.starts_with(BEGIN)).collect();
    let (head, rest) = kept.split_once('\n').unwrap_or((&kept, ""));
    let new = format!("{head}\n{}{rest}", record()?);
    fs::write(PICTURE, new).map_err(|error| format!("cannot write {PICTURE}: {error}"))
}

/// A fault for each file with other words than the picture was made of.
pub(crate) fn check(faults: &mut Vec<String>) {
    let checked = fs::read_to_string(PICTURE).map_err(|error| format!("{PICTURE}: {error}"));
    match checked.and_then(|picture| Ok((picture, record()?))) {
        Ok((picture, record)) => faults.extend(changed(&picture, &record).map(|file| {
            format!(
                "{PICTURE}: it is older than the words of {file}: run `cargo xtask picture`, or \
                 `cargo xtask picture --keep` if the session shows none of them"
            )
        })),
        Err(error) => faults.push(error),
    }
    match page_record() {
        Ok(record) if fs::read_to_string(PAGE_RECORD).is_ok_and(|kept| kept == record) => {}
        Ok(_) => faults.push(format!(
            "{PAGE_RECORD}: the pictures of a report are older than its page: run \
             `cargo xtask page-picture`, or `cargo xtask page-picture --keep` if they do not show it"
        )),
        Err(error) => faults.push(error),
    }
}

/// The files of the record that the picture has otherwise.
fn changed<'a>(picture: &str, record: &'a str) -> impl Iterator<Item = &'a str> {
    let kept: Vec<String> = picture.lines().map(str::to_owned).collect();
    let now = record
        .lines()
        .filter(move |line| !kept.iter().any(|kept| kept == line));
    now.filter_map(|line| Some(line.strip_prefix(BEGIN)?.split_once(": ")?.0))
}

/// The literals of a source with a letter in them, without those of its tests, in order.
fn literals(text: &str) -> Vec<&str> {
    let text = text.split("#[cfg(test)]").next().unwrap_or_default();
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                at = text[at..].find('\n').map_or(bytes.len(), |end| at + end);
            }
            // A quote as a character, and not the end of a lifetime.
            b'\'' if text[at..].starts_with("'\"'") => at += 3,
            b'\'' if text[at..].starts_with("'\\") => at += 3,
            b'"' => {
                let end = end_of_literal(bytes, at + 1);
                found.push(&text[at + 1..end]);
                at = end + 1;
            }
            _ => at += 1,
        }
    }
    found.retain(|literal| literal.contains(char::is_alphabetic));
    found
}

/// The place of the quote that ends the literal which begins here.
fn end_of_literal(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() && bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    at.min(bytes.len())
}

/// FNV-1a, the same on every machine.
fn hash(words: &[&str]) -> u64 {
    let bytes = words.iter().flat_map(|word| word.bytes().chain([0]));
    bytes.fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str =
        "// a \"comment\"\nfn a() { b('\"', \"f \\\"filter\\\"\", \" · \", '\\''); }\n";

    #[test]
    fn the_words_of_a_source_are_its_literals() {
        assert_eq!(literals(SOURCE), ["f \\\"filter\\\""]);
        let with_test = format!("{SOURCE}#[cfg(test)]\nmod tests {{ \"other\" }}");
        assert_eq!(literals(&with_test), literals(SOURCE));
    }

    #[test]
    fn a_picture_is_old_when_a_word_is_new_and_not_when_a_comment_is() {
        let picture = format!("<svg>\n{}{}", line("a.rs", SOURCE), line("b.rs", SOURCE));
        let old = |record: &str| {
            changed(&picture, record)
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        let other = SOURCE.replace("comment", "remark").replace("fn a", "fn b");
        assert!(old(&line("a.rs", &other)).is_empty());
        let new = SOURCE.replace("filter", "search");
        let record = format!("{}{}", line("a.rs", SOURCE), line("b.rs", &new));
        assert_eq!(old(&record), ["b.rs"]);
        assert_eq!(old(&line("c.rs", "")), ["c.rs"]);
    }
}
