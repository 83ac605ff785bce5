// SPDX-License-Identifier: MIT OR Apache-2.0

//! A page as a viewer reads it, by the description of the format alone.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use miniz_oxide::inflate::decompress_to_vec;
use serde_json::Value;
use statwalk_view::Kind;

use super::sample::Item;
use crate::tree::number_of;
use crate::{NONE, Page};

/// The numbers and the blocks of a page.
pub(super) struct Decoded {
    pub(super) meta: Value,
    pub(super) blocks: Vec<Block>,
}

pub(super) struct Block {
    pub(super) nodes: Vec<Shown>,
}

/// A node as its columns have it.
#[derive(Debug)]
pub(super) struct Shown {
    pub(super) parent: u32,
    pub(super) first_child: u32,
    child_count: u32,
    pub(super) kind: u8,
    pub(super) allocated: u128,
    pub(super) apparent: u128,
    pub(super) entries: u64,
    newest_s: i64,
    pub(super) owner: u32,
    pub(super) category: u8,
    pub(super) name: Vec<u8>,
    block: u32,
    block_node: u32,
}

impl Decoded {
    pub(super) fn of(page: &Page) -> Decoded {
        let bytes = page.pieces().collect::<Vec<_>>().concat();
        assert_eq!(bytes.len() as u64, page.byte_count());
        let text = String::from_utf8(bytes).expect("a page is UTF-8");
        let meta = element(&text, r#"type="application/json" id="statwalk-meta""#);
        let meta = meta.expect("a page has numbers");
        let blocks = (0..).map_while(|number| {
            let id = format!(r#"type="text/plain" id="statwalk-block-{number}""#);
            Some(Block::of(element(&text, &id)?))
        });
        Decoded {
            meta: serde_json::from_str(meta).expect("the numbers are JSON"),
            blocks: blocks.collect(),
        }
    }

    /// The entry at a node, with all below it in whatever block.
    pub(super) fn item(&self, block: usize, at: usize) -> Item {
        let node = &self.blocks[block].nodes[at];
        let (below, parent) = match node.block {
            u32::MAX => (block, at),
            other => (other as usize, node.block_node as usize),
        };
        let parent = &self.blocks[below].nodes[parent];
        let first = parent.first_child as usize;
        let children = first..first + parent.child_count as usize;
        let is_dir = node.kind == number_of(Kind::Directory);
        Item {
            name: node.name.clone(),
            kind: match node.kind {
                0 => Kind::Directory,
                1 => Kind::File,
                5 => Kind::Itself,
                other => panic!("no entry has the kind {other}"),
            },
            own_allocated: if is_dir { 0 } else { node.allocated },
            apparent: if is_dir { 0 } else { node.apparent },
            newest_s: Some(node.newest_s).filter(|&s| s != i64::MIN && !is_dir),
            owner: if is_dir { 0 } else { node.owner },
            category: if is_dir { NONE } else { node.category },
            children: children.map(|child| self.item(below, child)).collect(),
        }
    }
}

/// The content of the script element with these attributes.
fn element<'t>(text: &'t str, attributes: &str) -> Option<&'t str> {
    let (_, behind) = text.split_once(&format!("<script {attributes}>"))?;
    Some(behind.split_once("</script>")?.0)
}

impl Block {
    fn of(text: &str) -> Block {
        let pieces = text.lines().map(|piece| {
            let bytes = STANDARD.decode(piece).expect("a piece is base64");
            decompress_to_vec(&bytes).expect("a piece is raw DEFLATE")
        });
        let bytes = pieces.collect::<Vec<_>>().concat();
        let (length, rest) = bytes.split_at(4);
        let length = u32::from_le_bytes(length.try_into().unwrap()) as usize;
        let header: Value = serde_json::from_slice(&rest[..length]).expect("a header is JSON");
        let data = &bytes[(4 + length).next_multiple_of(8)..];
        let count = header["nodes"].as_u64().unwrap() as usize;
        let column = |name: &str, kind: &str| -> Option<Cow<'_, [u8]>> {
            let column = header["columns"].get(name)?;
            assert_eq!(column["type"], kind, "{name}");
            let number = |key: &str| column[key].as_u64().unwrap() as usize;
            let at = number("at");
            assert_eq!(at % 8, 0, "{name}");
            let bytes = &data[at..at + number("bytes")];
            let Some(planes) = column.get("planes") else {
                return Some(Cow::Borrowed(bytes));
            };
            let planes = planes.as_array().unwrap();
            let mut there = bytes.chunks_exact(count);
            let planes: Vec<Cow<'_, [u8]>> = (planes.iter())
                .map(|plane| match plane.as_u64() {
                    Some(one) => vec![u8::try_from(one).unwrap(); count].into(),
                    None => there.next().unwrap().into(),
                })
                .collect();
            assert!(there.next().is_none() && there.remainder().is_empty());
            let number = |at| planes.iter().map(move |plane| plane[at]);
            Some((0..count).flat_map(number).collect::<Vec<_>>().into())
        };
        let wide = |name: &str, kind: &str| -> Vec<u64> {
            let width = if kind == "u32" { 4 } else { 8 };
            let bytes = column(name, kind).unwrap_or_default();
            let number = |bytes: &[u8]| {
                let mut all = [0; 8];
                all[..width].copy_from_slice(bytes);
                u64::from_le_bytes(all)
            };
            bytes.chunks_exact(width).map(number).collect()
        };
        let u32s = |name| -> Vec<u32> { wide(name, "u32").into_iter().map(|n| n as u32).collect() };
        let u8s = |name| column(name, "u8").unwrap_or_default();
        let sums = |start: u32, steps: Vec<u32>| -> Vec<u32> {
            let sum = |sum: &mut u32, step: u32| {
                *sum = sum.wrapping_add(step);
                Some(*sum)
            };
            steps.into_iter().scan(start, sum).collect()
        };
        let parent = sums(u32::MAX, u32s("parent_step"));
        let (mut first_child, mut child_count) = (vec![0; count], vec![0; count]);
        for (at, &above) in (0..).zip(&parent).filter(|&(_, &above)| above != u32::MAX) {
            let above = above as usize;
            if child_count[above] == 0 {
                first_child[above] = at;
            }
            assert_eq!(
                first_child[above] + child_count[above],
                at,
                "children stand in a row"
            );
            child_count[above] += 1;
        }
        let (allocated, allocated_high) = (wide("allocated", "u64"), u32s("allocated_high"));
        let (apparent, apparent_high) = (wide("apparent", "u64"), u32s("apparent_high"));
        let (entries, newest_s) = (wide("entries", "u64"), wide("newest_s", "i64"));
        let (owner, name_end) = (u32s("owner"), sums(0, u32s("name_length")));
        let (kind, category, names) = (
            u8s("kind"),
            u8s("category"),
            column("names", "bytes").unwrap(),
        );
        let (block, block_node) = (u32s("block"), u32s("block_node"));
        for length in [
            parent.len(),
            kind.len(),
            u8s("flags").len(),
            u8s("ending").len(),
        ] {
            assert_eq!(length, count);
        }
        let sum = |low: &[u64], high: &[u32], at: usize| {
            u128::from(high.get(at).copied().unwrap_or(0)) << 64 | u128::from(low[at])
        };
        let nodes = (0..count).map(|at| Shown {
            parent: parent[at],
            first_child: first_child[at],
            child_count: child_count[at],
            kind: kind[at],
            allocated: sum(&allocated, &allocated_high, at),
            apparent: sum(&apparent, &apparent_high, at),
            entries: entries[at],
            newest_s: newest_s[at].cast_signed(),
            owner: owner[at],
            category: category[at],
            name: names
                [at.checked_sub(1).map_or(0, |at| name_end[at]) as usize..name_end[at] as usize]
                .to_vec(),
            block: block.get(at).copied().unwrap_or(u32::MAX),
            block_node: block_node.get(at).copied().unwrap_or(u32::MAX),
        });
        Block {
            nodes: nodes.collect(),
        }
    }

    pub(super) fn children(&self, at: usize) -> &[Shown] {
        let node = &self.nodes[at];
        let first = node.first_child as usize;
        &self.nodes[first..first + node.child_count as usize]
    }
}
