// SPDX-License-Identifier: MIT OR Apache-2.0

//! The first line: what a reader would say of the scan in one sentence, without a name.

use std::collections::HashMap;

use statwalk_view::{SizeFormat, counted, grouped};

use crate::answer::{Answer, Measure};

/// Categories that say nothing about the content.
const UNKNOWN: [&str; 3] = ["other", "no_extension", "not_files"];
/// The smallest part of all bytes that is worth a word.
const SHARE_MIN: u128 = 100;
const WORDS: [&str; 9] = [
    "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
];

/// The sentence; empty where there is nothing to say.
pub(crate) fn gist(answer: &Answer) -> String {
    let measure = Measure::of(answer);
    let whole = measure.bytes(&answer.totals.sums);
    let is_worth = |bytes: u128| bytes > 0 && bytes.saturating_mul(SHARE_MIN) >= whole;
    let size = |bytes: u128| SizeFormat::Binary.text(bytes);
    // Of a part that was not read nobody knows the bytes.
    let at_least = match answer.gaps.is_empty() {
        true => "",
        false => "at least ",
    };
    let mut parts = Vec::new();
    let known = (answer.categories.iter()).filter(|one| !UNKNOWN.contains(&&*one.key));
    let largest = known.max_by_key(|one| measure.bytes(&one.sums));
    if let Some(one) = largest.filter(|one| is_worth(measure.bytes(&one.sums))) {
        let bytes = size(measure.bytes(&one.sums));
        parts.push(format!("{at_least}{bytes} of {}", one.label));
    }
    let again = &answer.rebuildable.sums;
    if is_worth(measure.bytes(again)) {
        parts.push(format!(
            "{at_least}{} can be made again ({})",
            size(measure.bytes(again)),
            counted(again.entries, "directory", "directories")
        ));
    }
    if let Some((bytes, count)) = same_size(answer).filter(|&(bytes, _)| is_worth(bytes)) {
        let number = usize::try_from(count - 2).ok();
        let number = number.and_then(|index| WORDS.get(index));
        let number = number.map_or_else(|| grouped(count), |word| (*word).to_owned());
        parts.push(format!(
            "{number} files of {} have the same size",
            size(bytes)
        ));
    }
    let unread = answer.errors_total - answer.changed_total.min(answer.errors_total);
    if unread > 0 {
        let paths = counted(unread, "path", "paths");
        parts.push(format!("{paths} could not be read"));
    }
    match parts.is_empty() {
        true => String::new(),
        false => {
            let mut sentence = parts.join("; ");
            sentence[..1].make_ascii_uppercase();
            sentence + "."
        }
    }
}

/// The size that several of the largest files have to the byte, and how many these are: those
/// with most bytes together.
fn same_size(answer: &Answer) -> Option<(u128, u64)> {
    let mut counts: HashMap<u64, u64> = HashMap::new();
    for file in &answer.largest {
        *counts.entry(file.apparent_bytes).or_default() += 1;
    }
    // Behind the last that is listed there may be more of its size.
    let is_cut = answer.totals.files > answer.largest.len() as u64;
    let last = (answer.largest.iter())
        .map(|file| file.apparent_bytes)
        .min();
    let several = counts
        .into_iter()
        .filter(|&(bytes, count)| count > 1 && bytes > 0 && !(is_cut && Some(bytes) == last));
    let (bytes, count) =
        several.max_by_key(|&(bytes, count)| (u128::from(bytes) * u128::from(count), bytes))?;
    Some((bytes.into(), count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::{Category, Large, Rebuildable, Sums, Totals};

    const MIB: u64 = 1 << 20;

    fn sums(mib: u64, entries: u64) -> Sums {
        Sums {
            allocated_bytes: u128::from(mib * MIB),
            entries,
            ..Sums::default()
        }
    }

    fn large(mib: u64) -> Large {
        Large {
            path: Vec::new(),
            allocated_bytes: mib * MIB,
            apparent_bytes: mib * MIB,
            newest_s: None,
            owner: 0,
            category: 0,
            ending: 0,
        }
    }

    fn answer() -> Answer {
        let category = |key: &str, mib| Category {
            key: key.to_owned(),
            label: format!("label of {key}"),
            sums: sums(mib, 3),
        };
        Answer {
            totals: Totals {
                sums: sums(1000, 9),
                files: 5,
                ..Totals::default()
            },
            categories: vec![category("other", 600), category("video", 300)],
            rebuildable: Rebuildable {
                sums: sums(50, 2),
                largest: Vec::new(),
            },
            largest: [120, 100, 100, 100, 7].map(large).to_vec(),
            ..Answer::default()
        }
    }

    #[test]
    fn it_says_what_is_there_and_no_more() {
        assert_eq!(gist(&Answer::default()), "");
        let all = answer();
        let expected = "300 MiB of label of video; 50.0 MiB can be made again (2 directories); \
                        three files of 100 MiB have the same size.";
        assert_eq!(gist(&all), expected);
        let bound = Answer {
            gaps: vec!["a gap".to_owned()],
            errors_total: 4,
            changed_total: 1,
            largest: Vec::new(),
            ..answer()
        };
        let expected = "At least 300 MiB of label of video; at least 50.0 MiB can be made again \
                        (2 directories); 3 paths could not be read.";
        assert_eq!(gist(&bound), expected);
    }

    #[test]
    fn a_size_that_goes_on_behind_the_list_has_no_number() {
        let mut cut = answer();
        cut.largest = [120, 100, 100].map(large).to_vec();
        assert!(!gist(&cut).contains("the same size"), "{}", gist(&cut));
        cut.totals.files = 3;
        assert!(gist(&cut).contains("two files of 100 MiB have the same size"));
    }
}
