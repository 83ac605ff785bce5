// SPDX-License-Identifier: MIT OR Apache-2.0

//! Whether the sums of a tree fit into 64 bits.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// The bytes that files and extents claim to have, together.
///
/// Extents of a sound file system have no more than 2^64 bytes: more would need 2^37 of
/// the largest. The items of a damaged one can say anything.
#[derive(Default)]
pub(super) struct Claims {
    /// Rounded up for each, so never too little. Stays where it is beyond the limit.
    mib: AtomicU64,
}

/// 2^64 bytes.
const MIB_MAX: u64 = 1 << 44;

impl Claims {
    pub(super) fn add(&self, bytes: u128) {
        let more = u64::try_from(bytes >> 20).unwrap_or(MIB_MAX).min(MIB_MAX) + 1;
        if self.mib.fetch_add(more, Relaxed) >= MIB_MAX {
            self.mib.fetch_sub(more, Relaxed);
        }
    }

    /// Whether any sum of what was claimed fits.
    pub(super) fn fit(&self) -> bool {
        self.mib.load(Relaxed) < MIB_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_exceeds_64_bits_is_noticed_and_stays_so() {
        let claims = Claims::default();
        for _ in 0..1000 {
            claims.add(1 << 53);
        }
        assert!(claims.fit());
        claims.add(1 << 63);
        assert!(claims.fit());
        claims.add(1 << 62);
        assert!(!claims.fit());
        let damaged = Claims::default();
        for _ in 0..3_000_000 {
            damaged.add(u128::from(u64::MAX));
        }
        assert!(!damaged.fit());
    }
}
