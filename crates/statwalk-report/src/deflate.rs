// SPDX-License-Identifier: MIT OR Apache-2.0

//! Raw DEFLATE (RFC 1951) as base64, in pieces, each of which is whole by itself.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use libdeflater::{CompressionLvl, Compressor};

/// The end of a piece, which is no letter of base64.
const PIECE_END: char = '\n';

/// The lowest level that looks for repetitions.
const LEVEL: i32 = 1;

/// A thread's room for it. Fresh memory costs a page fault each 4 KiB.
pub(crate) struct Deflate {
    state: Compressor,
    out: Vec<u8>,
    /// For the bytes of a piece.
    pub(crate) plain: Vec<u8>,
}

impl Default for Deflate {
    fn default() -> Deflate {
        let level = CompressionLvl::new(LEVEL).expect("libdeflate has it");
        Deflate {
            state: Compressor::new(level),
            out: Vec::new(),
            plain: Vec::new(),
        }
    }
}

impl Deflate {
    /// The size of pieces, where it is free. A window of 32 KiB loses little in one.
    pub(crate) const PIECE_BYTES: usize = 1 << 18;

    pub(crate) fn piece(&mut self, bytes: &[u8]) -> String {
        let room = self.state.deflate_compress_bound(bytes.len());
        if self.out.len() < room {
            self.out.resize(room, 0);
        }
        let length = (self.state.deflate_compress(bytes, &mut self.out))
            .expect("no bytes take more than the bound");
        let mut text = STANDARD.encode(&self.out[..length]);
        text.push(PIECE_END);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use miniz_oxide::inflate::decompress_to_vec;

    /// Bytes that nothing tells in advance (splitmix64).
    fn noise(length: usize) -> Vec<u8> {
        let number = |at: usize| {
            let mut mixed = (at as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            (mixed >> 56) as u8
        };
        (0..length).map(number).collect()
    }

    /// With another library than the one that packed them.
    fn inflated(text: &str) -> Vec<u8> {
        let pieces = text.split_terminator(PIECE_END).map(|piece| {
            let bytes = STANDARD.decode(piece).unwrap();
            decompress_to_vec(&bytes).unwrap()
        });
        pieces.collect::<Vec<_>>().concat()
    }

    #[test]
    fn all_comes_back() {
        let noise = noise(3 * Deflate::PIECE_BYTES + 17);
        let zeros = vec![0; 2 * Deflate::PIECE_BYTES];
        let all = [&noise[..], &noise[..1], &[], &zeros, &noise[..1000]];
        let mut deflate = Deflate::default();
        let pieces = all.map(|bytes| deflate.piece(bytes));
        for (bytes, piece) in all.iter().zip(&pieces) {
            let alone = Deflate::default().piece(bytes);
            assert!(*piece == alone, "none before counts");
            assert!(inflated(piece) == *bytes, "{} bytes", bytes.len());
        }
        assert!(inflated(&pieces.concat()) == all.concat());
    }

    #[test]
    fn pieces_of_any_length_stand_one_after_another() {
        let mut deflate = Deflate::default();
        let all: Vec<u8> = (0..=255).collect();
        let text: String = (0..all.len())
            .map(|end| deflate.piece(&all[..end]))
            .collect();
        let expected: Vec<u8> = (0..all.len())
            .flat_map(|end| &all[..end])
            .copied()
            .collect();
        assert!(inflated(&text) == expected);
    }

    /// Bytes between noise and none: each of these has a bit that is none.
    #[test]
    fn nothing_is_lost_at_the_end_of_a_block() {
        let mut deflate = Deflate::default();
        for length in (57_000..64_000).step_by(250) {
            let bytes: Vec<u8> = noise(length).into_iter().map(|byte| byte >> 1).collect();
            let piece = deflate.piece(&bytes);
            assert!(inflated(&piece) == bytes, "{length} bytes");
        }
    }
}
