// SPDX-License-Identifier: MIT OR Apache-2.0

//! The numbers as plain HTML, for readers without JavaScript.

use std::borrow::Cow;
use std::fmt::Write as _;

use jiff::tz::TimeZone;
use statwalk_view::{Charset, DateStyle, SizeFormat, counted, escape, grouped, share};

use crate::answer::{Answer, Directory, Measure};
use crate::gist::gist;

/// The largest directories and files.
const ROWS: usize = 20;

pub(crate) fn title(answer: &Answer) -> String {
    text(&heading(answer)).into_owned()
}

/// Header, totals and tables.
pub(crate) fn body(answer: &Answer) -> String {
    let mut html = format!("<main>\n<h1>{}</h1>\n", text(&heading(answer)));
    let mut paragraph = |sentence: &str| {
        if !sentence.is_empty() {
            html.push_str(&format!("<p>{}</p>\n", text(sentence)));
        }
    };
    paragraph(&format!("Made by {} at {}.", answer.program, date(answer)));
    paragraph(&totals(answer));
    paragraph(&gist(answer));
    answer.gaps.iter().for_each(|sentence| paragraph(sentence));
    answer
        .left_out
        .iter()
        .for_each(|sentence| paragraph(sentence));
    let measure = Measure::of(answer);
    measure.sentence().into_iter().for_each(&mut paragraph);
    paragraph("The map and the other tables need JavaScript. The page loads nothing.");
    let whole = measure.bytes(&answer.totals.sums);
    let directories = answer.directories.iter().take(ROWS);
    let directories = directories.map(|one| (measure.bytes(&one.sums), &one.path[..], mark(one)));
    table(
        &mut html,
        "Largest directories",
        measure,
        whole,
        directories,
    );
    let files = answer.largest.iter().take(ROWS);
    let files = files.map(|one| (measure.bytes_of_file(one), &one.path[..], ""));
    table(&mut html, "Largest files", measure, whole, files);
    html.push_str("</main>");
    html
}

fn table<'a>(
    html: &mut String,
    title: &str,
    measure: Measure,
    whole: u128,
    rows: impl Iterator<Item = (u128, &'a [u8], &'a str)>,
) {
    let _ = write!(
        html,
        "<table>\n<caption>{title}</caption>\n\
         <tr><th>{}</th><th>Share</th><th>Path</th></tr>\n",
        measure.title()
    );
    for (bytes, path, mark) in rows {
        let (size, share) = (SizeFormat::Binary.text(bytes), share(bytes, whole));
        let path = escape(path, Charset::Unicode);
        let _ = writeln!(
            html,
            "<tr><td class=\"numbers\">{size}</td><td class=\"numbers\">{}</td><td>{}{mark}</td></tr>",
            share.trim_start(),
            text(&path)
        );
    }
    html.push_str("</table>\n");
}

/// Stands behind the path of a directory whose sums are a lower bound.
pub(crate) fn mark(directory: &Directory) -> &'static str {
    match directory.is_incomplete {
        true => " (incomplete)",
        false => "",
    }
}

/// The roots and the machine, without letters that a terminal or a page obeys.
pub(crate) fn heading(answer: &Answer) -> String {
    let shown = |bytes: &[u8]| escape(bytes, Charset::Unicode).into_owned();
    let roots: Vec<String> = answer.roots.iter().map(|root| shown(root)).collect();
    format!("statwalk: {} on {}", roots.join(", "), shown(&answer.host))
}

/// The end of the scan.
pub(crate) fn date(answer: &Answer) -> String {
    let date = DateStyle::default().text(answer.time_ns, &TimeZone::UTC);
    format!("{} UTC", date.unwrap_or_default())
}

pub(crate) fn totals(answer: &Answer) -> String {
    let totals = &answer.totals;
    let size = |bytes| SizeFormat::Binary.text(bytes);
    format!(
        "{} on disk, {} apparent; {} entries: {}, {}, {}, {}.",
        size(totals.sums.allocated_bytes),
        size(totals.sums.apparent_bytes),
        grouped(totals.sums.entries),
        counted(totals.files, "file", "files"),
        counted(totals.directories, "directory", "directories"),
        counted(totals.links, "link", "links"),
        counted(totals.other, "other", "others"),
    )
}

/// Text that stands for itself in HTML.
fn text(text: &str) -> Cow<'_, str> {
    if !text.contains(['<', '>', '&', '"', '\'']) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        match letter {
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            letter => safe.push(letter),
        }
    }
    Cow::Owned(safe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_no_html() {
        let answer = Answer {
            roots: vec![b"/<img onerror=alert(1)>\"'&\n\xff".to_vec()],
            ..Answer::default()
        };
        let expected = r"statwalk: /&lt;img onerror=alert(1)&gt;&quot;&#39;&amp;\n\xff on ";
        assert_eq!(title(&answer), expected);
        assert!(body(&answer).contains(&format!("<h1>{expected}</h1>")));
    }
}
