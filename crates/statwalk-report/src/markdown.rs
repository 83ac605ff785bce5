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
    let measure = Measure::of(answer);
    let mut tables = Tables {
        text: introduction(answer, measure, names),
        measure,
        whole: measure.bytes(&answer.totals.sums),
    };
    tables.head("Largest directories", &["Entries", "Path"]);
    for one in answer.directories.iter().take(ROWS) {
        let (entries, path) = (grouped(one.sums.entries), code(&one.path));
        let cells = format!("{entries} | {path}{}", mark(one));
        tables.row(measure.bytes(&one.sums), &cells);
    }
    tables.head("Largest files", &["Path"]);
    for one in answer.largest.iter().take(ROWS) {
        tables.row(measure.bytes_of_file(one), &code(&one.path));
    }
    let categories = answer.categories.iter();
    let categories = categories.map(|one| (one.label.clone(), one.sums));
    tables.groups("Content", "Files", categories.collect());
    let owners = answer.owners.iter().map(|one| (owner(one), one.sums));
    tables.groups("Owners", "Entries", owners.collect());
    tables.head("Last modified", &["Files", ""]);
    for age in answer.ages.iter().filter(|age| age.sums.entries > 0) {
        let cells = format!("{} | {}", grouped(age.sums.entries), age.label);
        tables.row(measure.bytes(&age.sums), &cells);
    }
    tables.text
}

/// The heading, and the sentences before the tables.
fn introduction(answer: &Answer, measure: Measure, names: Names) -> String {
    let mut text = format!("# {}\n\n", inline(&heading(answer)));
    let (date, program, totals) = (date(answer), &answer.program, totals(answer));
    let _ = writeln!(text, "{date}, {program}. {totals}");
    let gist = Some(gist(answer)).filter(|gist| !gist.is_empty());
    let gaps = answer.gaps.iter().chain(&answer.left_out).cloned();
    let measure = measure.sentence().map(str::to_owned);
    for sentence in gist.into_iter().chain(gaps).chain(measure) {
        let _ = writeln!(text, "{sentence}");
    }
    if names == Names::Redacted {
        text.push_str("Names are replaced by numbers.\n");
    }
    text
}

/// A text of tables, whose first columns are a size and its share of the whole.
struct Tables {
    text: String,
    measure: Measure,
    whole: u128,
}

impl Tables {
    /// Begins a table with these columns behind the first two. The last one is no number.
    fn head(&mut self, title: &str, columns: &[&str]) {
        let (size, others) = (self.measure.title(), columns.join(" | "));
        let numbers = "--: | ".repeat(columns.len() + 1);
        let head = format!("{size} | Share | {others}\n{numbers}---");
        let _ = writeln!(self.text, "\n## {title}\n\n{head}");
    }

    fn row(&mut self, bytes: u128, cells: &str) {
        let share = share(bytes, self.whole);
        let (size, share) = (SizeFormat::Binary.text(bytes), share.trim_start());
        let _ = writeln!(self.text, "{size} | {share} | {cells}");
    }

    /// The largest groups, and a row of the others.
    fn groups(&mut self, title: &str, counted: &str, mut groups: Vec<(String, Sums)>) {
        groups.retain(|(_, sums)| sums.entries > 0);
        groups.sort_by_key(|(_, sums)| Reverse(self.measure.bytes(sums)));
        if groups.len() > GROUPS + 1 {
            let rest = groups.split_off(GROUPS);
            let mut sum = Sums::default();
            for (_, sums) in &rest {
                sum.add(*sums);
            }
            groups.push((format!("{} more", rest.len()), sum));
        }
        self.head(title, &[counted, ""]);
        for (label, sums) in groups {
            let cells = format!("{} | {}", grouped(sums.entries), inline(&label));
            self.row(self.measure.bytes(&sums), &cells);
        }
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
