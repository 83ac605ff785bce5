// SPDX-License-Identifier: MIT OR Apache-2.0

//! Raw DEFLATE (RFC 1951) as base64, in pieces.
//!
//! Each piece begins with an empty window, so its bytes do not depend on those before. It
//! has a multiple of 3 bytes, so the same is true of its letters.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use miniz_oxide::DataFormat;
use miniz_oxide::deflate::core::{
    CompressorOxide, TDEFLFlush, TDEFLStatus, compress_to_output, create_comp_flags_from_zip_params,
};

/// The letters behind the last piece: a last block of fixed codes that has its end alone
/// (RFC 1951, 3.2.6), the bytes 3 and 0.
pub(crate) const END: &str = "AwA=";

/// A block without content that is not the last (RFC 1951, 3.2.4).
const NOTHING: [u8; 5] = [0, 0, 0, 0xff, 0xff];

/// How hard to look for repetitions.
#[derive(Clone, Copy)]
pub(crate) enum Effort {
    /// For bytes with few of them, and for bytes that are hardly anything else.
    Least = 1,
    /// For all else, of which names alone are most of the time.
    More = 2,
}

/// No header and no checksum.
const RAW: i32 = -15;

/// A thread's room for it. Fresh memory costs a page fault each 4 KiB.
pub(crate) struct Deflate {
    state: CompressorOxide,
    out: Vec<u8>,
    /// For the bytes of a piece.
    pub(crate) plain: Vec<u8>,
}

impl Default for Deflate {
    fn default() -> Deflate {
        let flags = create_comp_flags_from_zip_params(Effort::Least as i32, RAW, 0);
        Deflate {
            state: CompressorOxide::new(flags),
            out: Vec::new(),
            plain: Vec::new(),
        }
    }
}

impl Deflate {
    /// The size of pieces, where it is free. A window of 32 KiB loses little in one.
    pub(crate) const PIECE_BYTES: usize = 1 << 18;

    pub(crate) fn piece(&mut self, bytes: &[u8], effort: Effort) -> String {
        let (state, out) = (&mut self.state, &mut self.out);
        state.reset();
        state.set_format_and_level(DataFormat::Raw, effort as u8);
        out.clear();
        // A buffer of a fixed size can be full before the bytes end, and the next call then
        // gives what was left over, without a word on whether that is all.
        let (status, read) = compress_to_output(state, bytes, TDEFLFlush::Full, |part| {
            out.extend_from_slice(part);
            true
        });
        assert_eq!((status, read), (TDEFLStatus::Okay, bytes.len()));
        while !out.len().is_multiple_of(3) {
            out.extend_from_slice(&NOTHING);
        }
        STANDARD.encode(out)
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

    fn inflated(text: String) -> Vec<u8> {
        let bytes = STANDARD.decode(text + END).unwrap();
        decompress_to_vec(&bytes).unwrap_or_default()
    }

    #[test]
    fn all_comes_back() {
        let noise = noise(3 * Deflate::PIECE_BYTES + 17);
        let zeros = vec![0; 2 * Deflate::PIECE_BYTES];
        let all = [&noise[..], &noise[..1], &[], &zeros, &noise[..1000]];
        for effort in [Effort::Least, Effort::More] {
            let mut deflate = Deflate::default();
            let pieces: Vec<_> = all.map(|bytes| deflate.piece(bytes, effort)).into();
            for (bytes, piece) in all.iter().zip(&pieces) {
                assert!(
                    *piece == Deflate::default().piece(bytes, effort),
                    "none before counts"
                );
                assert!(inflated(piece.clone()) == *bytes, "{} bytes", bytes.len());
            }
            assert!(inflated(pieces.concat()) == all.concat());
        }
    }

    #[test]
    fn pieces_of_any_length_stand_one_after_another() {
        let mut deflate = Deflate::default();
        let all: Vec<u8> = (0..=255).collect();
        let pieces = (0..all.len()).map(|end| deflate.piece(&all[..end], Effort::Least));
        let text: String = pieces.collect();
        assert!(!text.contains('='));
        let expected: Vec<u8> = (0..all.len())
            .flat_map(|end| &all[..end])
            .copied()
            .collect();
        assert!(inflated(text) == expected);
    }

    /// A table of codes ends where some of these end.
    #[test]
    fn nothing_is_lost_at_the_end_of_a_table() {
        let mut deflate = Deflate::default();
        for length in (57_000..64_000).step_by(250) {
            // Each byte has a bit that is no noise.
            let bytes: Vec<u8> = noise(length).into_iter().map(|byte| byte >> 1).collect();
            for effort in [Effort::Least, Effort::More] {
                let piece = deflate.piece(&bytes, effort);
                assert!(inflated(piece) == bytes, "{length} bytes");
            }
        }
    }
}
