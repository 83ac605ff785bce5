// SPDX-License-Identifier: MIT OR Apache-2.0

//! A page as a viewer reads it, by the description in docs/report.md alone.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use miniz_oxide::inflate::decompress_to_vec;
use serde_json::Value;

/// The numbers and the tree of a page.
pub(crate) struct Page {
    pub(crate) meta: Value,
    blocks: Vec<Block>,
}

struct Block {
    nodes: u64,
    header: Value,
    data: Vec<u8>,
    /// Of each node its children and the end of its name.
    children: Vec<Vec<usize>>,
    name_ends: Vec<usize>,
}

/// A node with its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) kind: u64,
    pub(crate) flags: u64,
    pub(crate) allocated: u128,
    pub(crate) apparent: u128,
    pub(crate) entries: u64,
    pub(crate) newest_s: Option<i64>,
    pub(crate) owner: Option<u64>,
    pub(crate) category: Option<u64>,
    pub(crate) ending: Option<u64>,
}

pub(crate) const DIRECTORY: u64 = 0;
pub(crate) const FILE: u64 = 1;
pub(crate) const REST: u64 = 4;
pub(crate) const ITSELF: u64 = 5;
pub(crate) const ROOTS: u64 = 7;

impl Page {
    pub(crate) fn of(bytes: &[u8]) -> Page {
        let text = str::from_utf8(bytes).expect("a page is UTF-8");
        let meta = element(text, r#"type="application/json" id="statwalk-meta""#);
        let blocks = (0..).map_while(|number| {
            let id = format!(r#"type="text/plain" id="statwalk-block-{number}""#);
            Some(Block::of(element(text, &id)?))
        });
        Page {
            meta: serde_json::from_str(meta.expect("a page has numbers")).unwrap(),
            blocks: blocks.collect(),
        }
    }

    pub(crate) fn block_count(&self) -> usize {
        self.blocks.len()
    }

    /// All nodes with their paths. A sum has the name `…`, and a directory itself `.`.
    ///
    /// Checks on the way that children sum to their directory.
    pub(crate) fn nodes(&self) -> BTreeMap<Vec<u8>, Node> {
        let mut all = BTreeMap::new();
        self.walk(0, 0, Vec::new(), &mut all);
        all
    }

    fn walk(&self, block: usize, at: usize, above: Vec<u8>, all: &mut BTreeMap<Vec<u8>, Node>) {
        let own = &self.blocks[block];
        let node = own.node(at);
        let mut path = above;
        if !path.is_empty() && !path.ends_with(b"/") {
            path.push(b'/');
        }
        match node.kind {
            REST => path.extend("…".bytes()),
            ITSELF => path.push(b'.'),
            _ => path.extend(own.name(at)),
        }
        let (below, parent) = match own.find("block", at) {
            Some(below) if below != u64::from(u32::MAX) => {
                (below as usize, own.number("block_node", at) as usize)
            }
            _ => (block, at),
        };
        let children = &self.blocks[below].children[parent];
        if !children.is_empty() {
            let nodes = children.iter().map(|&child| self.blocks[below].node(child));
            let (mut allocated, mut apparent, mut entries) = (0, 0, u64::from(node.kind == 0));
            for child in nodes {
                allocated += child.allocated;
                apparent += child.apparent;
                entries += child.entries;
            }
            let shown = path.escape_ascii().to_string();
            assert_eq!(
                (allocated, apparent),
                (node.allocated, node.apparent),
                "{shown}"
            );
            assert_eq!(entries, node.entries, "{shown}");
        }
        for &child in children {
            self.walk(below, child, path.clone(), all);
        }
        assert_eq!(all.insert(path, node), None, "two nodes have one path");
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
        let length = u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
        let header: Value = serde_json::from_slice(&bytes[4..4 + length]).unwrap();
        let nodes = header["nodes"].as_u64().unwrap();
        let mut block = Block {
            nodes,
            header,
            data: bytes[(4 + length).next_multiple_of(8)..].to_vec(),
            children: vec![Vec::new(); nodes as usize],
            name_ends: Vec::new(),
        };
        let (mut parent, mut name_end) = (u32::MAX, 0);
        for at in 0..nodes as usize {
            parent = parent.wrapping_add(block.number("parent_step", at) as u32);
            if parent != u32::MAX {
                block.children[parent as usize].push(at);
            }
            name_end += block.number("name_length", at) as usize;
            block.name_ends.push(name_end);
        }
        block
    }

    fn column(&self, name: &str) -> Option<(&[u8], usize)> {
        let column = self.header["columns"].get(name)?;
        let number = |key: &str| column[key].as_u64().unwrap() as usize;
        let width = match column["type"].as_str().unwrap() {
            "u8" | "bytes" => 1,
            "u32" => 4,
            "u64" | "i64" => 8,
            other => panic!("{name} has the type {other}"),
        };
        let (at, bytes) = (number("at"), number("bytes"));
        assert!(at.is_multiple_of(8), "{name}");
        Some((&self.data[at..at + bytes], width))
    }

    fn find(&self, name: &str, at: usize) -> Option<u64> {
        let (bytes, width) = self.column(name)?;
        let nodes = self.nodes as usize;
        let Some(planes) = self.header["columns"][name]["planes"].as_array() else {
            assert_eq!(bytes.len(), nodes * width, "{name}");
            let number = bytes[at * width..][..width].iter().rev();
            return Some(number.fold(0, |sum, &byte| sum << 8 | u64::from(byte)));
        };
        assert_eq!(planes.len(), width, "{name}");
        let mut there = bytes.chunks_exact(nodes);
        let number = (0..).zip(planes).fold(0, |sum, (plane, one)| {
            let byte = one.as_u64();
            let byte = byte.unwrap_or_else(|| there.next().unwrap()[at].into());
            sum | byte << (8 * plane)
        });
        assert!(there.next().is_none() && there.remainder().is_empty());
        Some(number)
    }

    fn number(&self, name: &str, at: usize) -> u64 {
        self.find(name, at)
            .unwrap_or_else(|| panic!("there is no column {name}"))
    }

    fn wide(&self, name: &str, at: usize) -> u128 {
        let high = self.find(&format!("{name}_high"), at).unwrap_or(0);
        u128::from(high) << 64 | u128::from(self.number(name, at))
    }

    fn name(&self, at: usize) -> Vec<u8> {
        let (names, _) = self.column("names").unwrap();
        let start = at.checked_sub(1).map_or(0, |before| self.name_ends[before]);
        names[start..self.name_ends[at]].to_vec()
    }

    fn node(&self, at: usize) -> Node {
        let index = |name: &str, nothing: u64| {
            let number = self.number(name, at);
            (number != nothing).then_some(number)
        };
        let newest_s = self.number("newest_s", at).cast_signed();
        Node {
            kind: self.number("kind", at),
            flags: self.number("flags", at),
            allocated: self.wide("allocated", at),
            apparent: self.wide("apparent", at),
            entries: self.number("entries", at),
            newest_s: Some(newest_s).filter(|&s| s != i64::MIN),
            owner: index("owner", u32::MAX.into()),
            category: index("category", u8::MAX.into()),
            ending: index("ending", u8::MAX.into()),
        }
    }
}
