// SPDX-License-Identifier: MIT OR Apache-2.0

//! The page: frame, viewer, numbers and blocks in one file that loads nothing.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use crate::answer::Answer;
use crate::detail::{Blocks, Choice, blocks};
use crate::meta::meta;
use crate::plain;
use crate::redaction::Naming;
use crate::tree::ReportTree;

/// The frame, with words in braces where something is put in.
const FRAME: &str = include_str!("../viewer/page.html");
/// The viewer, built from `viewer/src` by `viewer/build.mjs`.
const SCRIPT: &str = include_str!("../viewer/dist/viewer.js");
const STYLE: &str = include_str!("../viewer/dist/viewer.css");

/// A page, in pieces that stand one after another.
#[derive(Debug)]
pub struct Page {
    pieces: Vec<String>,
    node_count: u64,
    has_sums: bool,
}

impl Page {
    /// Returns the pieces of the file.
    pub fn pieces(&self) -> impl Iterator<Item = &[u8]> {
        self.pieces.iter().map(String::as_bytes)
    }

    /// Returns the pieces of the file for good.
    #[must_use]
    pub fn into_pieces(self) -> Vec<String> {
        self.pieces
    }

    /// Returns how many nodes of the tree are in the file.
    #[must_use]
    pub fn node_count(&self) -> u64 {
        self.node_count
    }

    /// Returns whether entries of the tree are sums in the file.
    #[must_use]
    pub fn has_sums(&self) -> bool {
        self.has_sums
    }

    /// Returns how many bytes the file has.
    #[must_use]
    pub fn byte_count(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.len() as u64).sum()
    }

    /// Adds the element of a block.
    fn push_block(&mut self, (number, parts): (usize, Vec<String>)) {
        let id = format!("<script type=\"text/plain\" id=\"statwalk-block-{number}\">");
        self.pieces.push(id);
        self.pieces.extend(parts);
        self.pieces.push("</script>\n".to_owned());
    }
}

/// Makes the page of a scan, with the chosen nodes of its tree.
#[must_use]
pub fn html<T: ReportTree>(answer: &Answer, tree: &T, choice: Choice<T::Node>) -> Page {
    let names = choice.names();
    let mut naming = Naming::new(names, answer);
    // Names in the tree come first: an entry of a list has the number that it has there.
    let Blocks {
        blocks,
        node_count,
        has_sums,
    } = blocks(tree, choice, &mut naming);
    let answer = naming.apply(answer);
    let mut blocks = Some(blocks);
    let mut page = Page {
        pieces: Vec::new(),
        node_count,
        has_sums,
    };
    let mut rest = FRAME;
    while let Some((before, behind)) = rest.split_once("{{") {
        let (word, behind) = behind.split_once("}}").expect("a word ends in the frame");
        page.pieces.push(before.to_owned());
        rest = behind;
        match word {
            "TITLE" => page.pieces.push(plain::title(&answer)),
            "CSP" => page.pieces.push(policy()),
            "STYLE" => page.pieces.push(STYLE.to_owned()),
            "SCRIPT" => page.pieces.push(SCRIPT.to_owned()),
            "PLAIN" => page.pieces.push(plain::body(&answer)),
            "META" => page.pieces.push(meta(&answer, names, node_count)),
            "BLOCKS" => {
                let blocks = blocks.take().unwrap_or_default().into_iter();
                blocks.enumerate().for_each(|block| page.push_block(block));
            }
            word => panic!("the frame has an unknown word {word}"),
        }
    }
    page.pieces.push(rest.to_owned());
    page
}

/// The content security policy: this script and this style run, and nothing is loaded.
fn policy() -> String {
    let hash = |text: &str| STANDARD.encode(Sha256::digest(text));
    format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; img-src data:; \
         base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'",
        hash(SCRIPT),
        hash(STYLE)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_frame_has_each_word_once() {
        for word in ["TITLE", "CSP", "STYLE", "SCRIPT", "PLAIN", "META", "BLOCKS"] {
            let word = format!("{{{{{word}}}}}");
            assert_eq!(FRAME.matches(&word).count(), 1, "{word}");
        }
    }

    #[test]
    fn script_and_style_cannot_end_their_element() {
        assert!(!SCRIPT.to_ascii_lowercase().contains("</script"));
        assert!(!SCRIPT.contains("<!--"));
        assert!(!STYLE.to_ascii_lowercase().contains("</style"));
    }
}
