// SPDX-License-Identifier: MIT OR Apache-2.0

//! The numbers as Markdown (GitHub's, for its tables), to paste into a ticket or a mail.

use std::cmp::Reverse;
use std::fmt::Write as _;

use statwalk_view::{Charset, SizeFormat, escape, grouped, share};

use crate::answer::{Answer, Measure, Owner, Sums};
use crate::gist::gist;
use crate::plain::{date, heading, mark, totals};
use crate::redaction::{Names, Naming};

/// The largest directories and files.
const ROWS: usize = 20;
/// The largest groups; the others are one row.
const GROUPS: usize = 8;

/// Makes the text of a scan.
#[must_use]
pub fn markdown(answer: &Answer, names: Names) -> String {
    let mut naming = Naming::new(names, answer);
    let answer = &naming.apply(answer);
    let mut text = format!("# {}\n\n", inline(&heading(answer)));
    let _ = writeln!(
        text,
        "{}, {}. {}",
        date(answer),
        answer.program,
        totals(answer)
    );
    let gist = gist(answer);
    if !gist.is_empty() {
        let _ = writeln!(text, "{gist}");
    }
    for sentence in answer.gaps.iter().chain(&answer.left_out) {
        let _ = writeln!(text, "{sentence}");
    }
    let measure = Measure::of(answer);
    if let Some(sentence) = measure.sentence() {
        let _ = writeln!(text, "{sentence}");
    }
    if names == Names::Redacted {
        text.push_str("Names are replaced by numbers.\n");
    }
    let whole = measure.bytes(&answer.totals.sums);
    let title = measure.title();
    let size = |bytes: u128| {
        let share = share(bytes, whole);
        format!(
            "{} | {}",
            SizeFormat::Binary.text(bytes),
            share.trim_start()
        )
    };

    let directories = answer.directories.iter().take(ROWS);
    head(
        &mut text,
        "Largest directories",
        &format!("{title} | Share | Entries | Path"),
        "--: | --: | --: | ---",
    );
    for one in directories {
        let (sums, path) = (&one.sums, code(&one.path));
        let entries = grouped(sums.entries);
        let mark = mark(one);
        let _ = writeln!(
            text,
            "{} | {entries} | {path}{mark}",
            size(measure.bytes(sums))
        );
    }
    head(
        &mut text,
        "Largest files",
        &format!("{title} | Share | Path"),
        "--: | --: | ---",
    );
    for one in answer.largest.iter().take(ROWS) {
        let _ = writeln!(
            text,
            "{} | {}",
            size(measure.bytes_of_file(one)),
            code(&one.path)
        );
    }
    let categories = answer.categories.iter();
    let categories = categories.map(|one| (one.label.clone(), one.sums));
    let columns = format!("{title} | Share | Files | ");
    groups(
        &mut text,
        "Content",
        &columns,
        categories.collect(),
        measure,
        size,
    );
    let owners = answer.owners.iter().map(|one| (owner(one), one.sums));
    let columns = format!("{title} | Share | Entries | ");
    groups(
        &mut text,
        "Owners",
        &columns,
        owners.collect(),
        measure,
        size,
    );
    head(
        &mut text,
        "Last modified",
        &format!("{title} | Share | Files | "),
        "--: | --: | --: | ---",
    );
    for age in answer.ages.iter().filter(|age| age.sums.entries > 0) {
        let (sums, label) = (&age.sums, &age.label);
        let files = grouped(sums.entries);
        let _ = writeln!(text, "{} | {files} | {label}", size(measure.bytes(sums)));
    }
    text
}

fn head(text: &mut String, title: &str, columns: &str, alignment: &str) {
    let _ = write!(text, "\n## {title}\n\n{columns}\n{alignment}\n");
}

/// The largest groups, and a row of the others.
fn groups(
    text: &mut String,
    title: &str,
    columns: &str,
    mut groups: Vec<(String, Sums)>,
    measure: Measure,
    size: impl Fn(u128) -> String,
) {
    groups.retain(|(_, sums)| sums.entries > 0);
    groups.sort_by_key(|(_, sums)| Reverse(measure.bytes(sums)));
    if groups.len() > GROUPS + 1 {
        let rest = groups.split_off(GROUPS);
        let mut sum = Sums::default();
        for (_, sums) in &rest {
            sum.add(*sums);
        }
        groups.push((format!("{} more", rest.len()), sum));
    }
    head(text, title, columns, "--: | --: | --: | ---");
    for (label, sums) in groups {
        let (entries, label) = (grouped(sums.entries), inline(&label));
        let _ = writeln!(text, "{} | {entries} | {label}", size(measure.bytes(&sums)));
    }
}

fn owner(owner: &Owner) -> String {
    match (&owner.name, owner.id) {
        (Some(name), _) => escape(name, Charset::Unicode).into_owned(),
        (None, Some(id)) => id.to_string(),
        (None, None) => "unknown".to_owned(),
    }
}

/// A path as code: only so nothing in it is Markdown. A pipe divides cells in code, too.
fn code(path: &[u8]) -> String {
    let path = escape(path, Charset::Unicode).replace('|', r"\|");
    let mut longest = 0;
    let mut run = 0;
    for letter in path.chars() {
        run = if letter == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat(longest + 1);
    let space = match longest > 0 || path.starts_with(' ') && path.ends_with(' ') {
        true => " ",
        false => "",
    };
    format!("{fence}{space}{path}{space}{fence}")
}

/// Text whose punctuation stands for itself (CommonMark 2.4).
fn inline(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        if matches!(
            letter,
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '&' | '|' | '~' | '#'
        ) {
            safe.push('\\');
        }
        safe.push(letter);
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_code_and_one_cell() {
        let check = |path: &str, expected: &str| assert_eq!(code(path.as_bytes()), expected);
        check("/a b", "`/a b`");
        check("/a|b", r"`/a\|b`");
        check("/`x``y", "``` /`x``y ```");
        check("/<img>\n", r"`/<img>\n`");
    }

    #[test]
    fn a_label_is_no_markup() {
        assert_eq!(inline("a_b <i>*"), r"a\_b \<i\>\*");
    }
}
