// SPDX-License-Identifier: MIT OR Apache-2.0

//! Raw DEFLATE (RFC 1951), in pieces.
//!
//! Each piece begins with an empty window, so its bytes do not depend on those before.

use miniz_oxide::DataFormat;
use miniz_oxide::deflate::core::{
    CompressorOxide, TDEFLFlush, TDEFLStatus, compress, create_comp_flags_from_zip_params,
};

/// The bytes behind the last piece: a last block of fixed codes that has its end alone
/// (RFC 1951, 3.2.6).
pub(crate) const END: [u8; 2] = [0x03, 0x00];

/// How hard to look for repetitions.
#[derive(Clone, Copy)]
pub(crate) enum Effort {
    /// For bytes with few of them.
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

    /// Compresses one piece, which ends at a byte.
    pub(crate) fn piece(&mut self, bytes: &[u8], effort: Effort) -> Vec<u8> {
        let (state, out) = (&mut self.state, &mut self.out);
        state.reset();
        state.set_format_and_level(DataFormat::Raw, effort as u8);
        let room = bytes.len() / 2 + 256;
        if out.len() < room {
            out.resize(room, 0);
        }
        let (mut read, mut written) = (0, 0);
        loop {
            let (rest, room) = (&bytes[read..], &mut out[written..]);
            let (status, taken, given) = compress(state, rest, room, TDEFLFlush::Full);
            read += taken;
            written += given;
            match status {
                // All was read, and the flush had room.
                TDEFLStatus::Okay if read == bytes.len() && written < out.len() => break,
                TDEFLStatus::Okay => out.resize(out.len() * 2, 0),
                _ => unreachable!("the buffers and flags are right"),
            }
        }
        out[..written].to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use miniz_oxide::inflate::decompress_to_vec;

    #[test]
    fn all_comes_back() {
        let noise: Vec<u8> = (0..3 * Deflate::PIECE_BYTES as u64 + 17)
            .map(|at| (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8)
            .collect();
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
                let back = decompress_to_vec(&[&piece[..], &END].concat()).unwrap();
                assert!(back == *bytes, "{} bytes", bytes.len());
            }
            let back = decompress_to_vec(&[pieces.concat(), END.to_vec()].concat()).unwrap();
            assert!(back == all.concat());
        }
    }
}
