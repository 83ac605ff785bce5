// SPDX-License-Identifier: MIT OR Apache-2.0

//! The numbers of the page as JSON.
//!
//! Numbers that can pass 2^53 are decimal strings: JavaScript reads a number as a double.

use std::fmt::Display;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Serialize, Serializer};
use statwalk_view::{Charset, escape};

use crate::answer::{Answer, Ending, Sums};
use crate::gist::gist;
use crate::redaction::Names;
use crate::tree::{NO_OWNER, NONE};

/// The number of the format.
const VERSION: u32 = 2;

/// The JSON text, which can stand in an element `script`.
pub(crate) fn meta(answer: &Answer, names: Names, node_count: u64) -> String {
    let meta = Meta::new(answer, names, node_count);
    let text = serde_json::to_string(&meta).expect("a string takes any text");
    // Outside of strings none of them occurs. A letter beyond ASCII can hide or turn others.
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '<' | '>' | '&' | '\u{7f}'.. => {
                for unit in letter.encode_utf16(&mut [0; 2]) {
                    safe.push_str(&format!("\\u{unit:04x}"));
                }
            }
            letter => safe.push(letter),
        }
    }
    safe
}

/// A number as a string.
#[derive(Default)]
struct Decimal<N>(N);

impl<N: Display> Serialize for Decimal<N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

/// A path or a name.
#[derive(Serialize)]
struct Text {
    text: String,
    /// The bytes, where they are not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    raw: Option<String>,
}

impl Text {
    fn new(bytes: &[u8]) -> Text {
        match str::from_utf8(bytes) {
            Ok(text) => Text {
                text: text.to_owned(),
                raw: None,
            },
            Err(_) => Text {
                text: escape(bytes, Charset::Unicode).into_owned(),
                raw: Some(STANDARD.encode(bytes)),
            },
        }
    }
}

#[derive(Serialize)]
struct Meta<'a> {
    version: u32,
    program: &'a str,
    roots: Vec<Text>,
    host: Text,
    time_ns: Decimal<i64>,
    options: Vec<Text>,
    is_redacted: bool,
    complete: Complete,
    totals: Totals,
    categories: Vec<Category<'a>>,
    endings: Vec<Group<'a>>,
    owners: Vec<Owner>,
    ages: Vec<Group<'a>>,
    sizes: Vec<Group<'a>>,
    percentiles: Vec<Percentile>,
    largest: Vec<Large>,
    errors: Vec<Failed<'a>>,
    errors_total: u64,
    spaces: Vec<Space<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    free_bytes: Option<Decimal<u64>>,
    gist: String,
    worth: Vec<Hint<'a>>,
    rebuildable: Rebuildable<'a>,
    detail: Detail,
}

#[derive(Serialize)]
struct Complete {
    is: bool,
    why: String,
}

#[derive(Serialize)]
struct Totals {
    allocated: Decimal<u128>,
    apparent: Decimal<u128>,
    entries: Decimal<u64>,
    files: Decimal<u64>,
    directories: Decimal<u64>,
    links: Decimal<u64>,
    other: Decimal<u64>,
    errors: Decimal<u64>,
    changed: Decimal<u64>,
}

#[derive(Serialize)]
struct Category<'a> {
    key: &'a str,
    label: &'a str,
    allocated: Decimal<u128>,
    apparent: Decimal<u128>,
    files: Decimal<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    newest_s: Option<i64>,
}

/// A group of files by ending, age or size.
#[derive(Default, Serialize)]
struct Group<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from_s: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to_s: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from_bytes: Option<Decimal<u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to_bytes: Option<Decimal<u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_files: Option<bool>,
    allocated: Decimal<u128>,
    apparent: Decimal<u128>,
    files: Decimal<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    newest_s: Option<i64>,
}

impl Group<'_> {
    fn new(sums: &Sums, is_not_files: bool) -> Group<'static> {
        Group {
            not_files: is_not_files.then_some(true),
            allocated: Decimal(sums.allocated_bytes),
            apparent: Decimal(sums.apparent_bytes),
            files: Decimal(sums.entries),
            newest_s: sums.newest_s,
            ..Group::default()
        }
    }
}

#[derive(Serialize)]
struct Owner {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<Text>,
    allocated: Decimal<u128>,
    apparent: Decimal<u128>,
    entries: Decimal<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    newest_s: Option<i64>,
}

#[derive(Serialize)]
struct Percentile {
    of: u8,
    bytes: Decimal<u64>,
}

#[derive(Serialize)]
struct Large {
    path: Text,
    allocated: Decimal<u64>,
    apparent: Decimal<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    newest_s: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    category: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ending: Option<u8>,
}

#[derive(Serialize)]
struct Failed<'a> {
    path: Text,
    operation: &'a str,
    cause: &'a str,
}

/// A file system.
#[derive(Serialize)]
struct Space<'a> {
    point: Text,
    total: Decimal<u64>,
    is_exact: bool,
    parts: Vec<Part<'a>>,
}

#[derive(Serialize)]
struct Part<'a> {
    label: &'a str,
    bytes: Decimal<i128>,
    level: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'a str>,
}

#[derive(Serialize)]
struct Hint<'a> {
    kind: &'static str,
    path: Text,
    #[serde(skip_serializing_if = "Option::is_none")]
    allocated: Option<Decimal<u128>>,
    note: &'a str,
}

#[derive(Serialize)]
struct Rebuildable<'a> {
    count: Decimal<u64>,
    allocated: Decimal<u128>,
    largest: Vec<Hint<'a>>,
}

#[derive(Serialize)]
struct Detail {
    nodes: Decimal<u64>,
    of_entries: Decimal<u64>,
}

impl Meta<'_> {
    fn new(answer: &Answer, names: Names, node_count: u64) -> Meta<'_> {
        let totals = &answer.totals;
        let texts = |texts: &[Vec<u8>]| texts.iter().map(|text| Text::new(text)).collect();
        let free_bytes = match &answer.spaces[..] {
            [space] => space.free_bytes,
            _ => None,
        };
        Meta {
            version: VERSION,
            program: &answer.program,
            roots: texts(&answer.roots),
            host: Text::new(&answer.host),
            time_ns: Decimal(answer.time_ns),
            options: texts(&answer.options),
            is_redacted: names == Names::Redacted,
            complete: Complete {
                is: answer.gaps.is_empty(),
                why: [&answer.gaps[..], &answer.left_out].concat().join(" "),
            },
            totals: Totals {
                allocated: Decimal(totals.sums.allocated_bytes),
                apparent: Decimal(totals.sums.apparent_bytes),
                entries: Decimal(totals.sums.entries),
                files: Decimal(totals.files),
                directories: Decimal(totals.directories),
                links: Decimal(totals.links),
                other: Decimal(totals.other),
                errors: Decimal(answer.errors_total),
                changed: Decimal(answer.changed_total),
            },
            categories: answer.categories.iter().map(Category::new).collect(),
            endings: answer.endings.iter().map(Group::of_ending).collect(),
            owners: answer.owners.iter().map(Owner::new).collect(),
            ages: answer.ages.iter().map(Group::of_age).collect(),
            sizes: answer.sizes.iter().map(Group::of_size).collect(),
            percentiles: (answer.percentiles.iter())
                .map(|&(of, bytes)| Percentile {
                    of,
                    bytes: Decimal(bytes),
                })
                .collect(),
            largest: answer.largest.iter().map(Large::new).collect(),
            errors: answer.errors.iter().map(Failed::new).collect(),
            errors_total: answer.errors_total,
            spaces: answer.spaces.iter().map(Space::new).collect(),
            free_bytes: free_bytes.map(Decimal),
            gist: gist(answer),
            worth: answer.worth.iter().map(Hint::new).collect(),
            rebuildable: Rebuildable {
                count: Decimal(answer.rebuildable.sums.entries),
                allocated: Decimal(answer.rebuildable.sums.allocated_bytes),
                largest: answer.rebuildable.largest.iter().map(Hint::new).collect(),
            },
            detail: Detail {
                nodes: Decimal(node_count),
                of_entries: Decimal(totals.sums.entries),
            },
        }
    }
}

impl Category<'_> {
    fn new(category: &crate::Category) -> Category<'_> {
        Category {
            key: &category.key,
            label: &category.label,
            allocated: Decimal(category.sums.allocated_bytes),
            apparent: Decimal(category.sums.apparent_bytes),
            files: Decimal(category.sums.entries),
            newest_s: category.sums.newest_s,
        }
    }
}

impl Group<'_> {
    fn of_ending(ending: &Ending) -> Group<'_> {
        match ending {
            Ending::Named(name, sums) => Group {
                name: Some(name),
                ..Group::new(sums, false)
            },
            Ending::Rest(sums) => Group::new(sums, false),
            Ending::NotFiles(sums) => Group::new(sums, true),
        }
    }

    fn of_age(age: &crate::AgeGroup) -> Group<'_> {
        Group {
            label: Some(&age.label),
            from_s: age.from_s,
            to_s: age.to_s,
            ..Group::new(&age.sums, age.is_not_files)
        }
    }

    fn of_size(size: &crate::SizeGroup) -> Group<'_> {
        Group {
            label: Some(&size.label),
            from_bytes: size.from_bytes.map(Decimal),
            to_bytes: size.to_bytes.map(Decimal),
            ..Group::new(&size.sums, size.from_bytes.is_none())
        }
    }
}

impl Owner {
    fn new(owner: &crate::Owner) -> Owner {
        Owner {
            id: owner.id,
            name: owner.name.as_deref().map(Text::new),
            allocated: Decimal(owner.sums.allocated_bytes),
            apparent: Decimal(owner.sums.apparent_bytes),
            entries: Decimal(owner.sums.entries),
            newest_s: owner.sums.newest_s,
        }
    }
}

impl Large {
    fn new(large: &crate::Large) -> Large {
        Large {
            path: Text::new(&large.path),
            allocated: Decimal(large.allocated_bytes),
            apparent: Decimal(large.apparent_bytes),
            newest_s: large.newest_s,
            owner: Some(large.owner).filter(|&owner| owner != NO_OWNER),
            category: Some(large.category).filter(|&category| category != NONE),
            ending: Some(large.ending).filter(|&ending| ending != NONE),
        }
    }
}

impl Failed<'_> {
    fn new(failed: &crate::Failed) -> Failed<'_> {
        Failed {
            path: Text::new(&failed.path),
            operation: &failed.operation,
            cause: &failed.cause,
        }
    }
}

impl Space<'_> {
    fn new(space: &crate::Space) -> Space<'_> {
        Space {
            point: Text::new(&space.point),
            total: Decimal(space.total_bytes),
            is_exact: space.is_exact,
            parts: space.parts.iter().map(Part::new).collect(),
        }
    }
}

impl Part<'_> {
    fn new(part: &crate::Part) -> Part<'_> {
        Part {
            label: &part.label,
            bytes: Decimal(part.bytes),
            level: part.level,
            note: part.note.as_deref(),
        }
    }
}

impl Hint<'_> {
    fn new(hint: &crate::Hint) -> Hint<'_> {
        Hint {
            kind: hint.kind.key(),
            path: Text::new(&hint.path),
            allocated: hint.allocated_bytes.map(Decimal),
            note: &hint.note,
        }
    }
}
