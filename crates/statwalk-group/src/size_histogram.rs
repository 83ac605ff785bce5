// SPDX-License-Identifier: MIT OR Apache-2.0

//! The sizes of files, counted in bounded memory.

/// The buckets of one power of two.
const STEPS: usize = 16;
const STEPS_POWER: usize = 4;

/// Sizes below [`STEPS`] have a bucket each, and each larger power of two has [`STEPS`].
const BUCKETS: usize = (u64::BITS as usize - STEPS_POWER + 1) * STEPS;

/// With more buckets than these, a histogram keeps all of them. Then it has 61 bytes at
/// most for each file.
const FEW: usize = 128;

/// The sizes of files in buckets, from which percentiles are read.
///
/// Sizes below 32 bytes have a bucket each. Each larger power of two has 16 buckets of the
/// same width, so a percentile is at most 1/16 above the true one, and never below.
/// A histogram takes at most 16 bytes for a file, or 8 KiB.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SizeHistogram {
    file_count: u64,
    largest_bytes: u64,
    buckets: Buckets,
}

/// Counts by bucket.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Buckets {
    /// Those that are not empty, in order.
    Few(Vec<(u16, u64)>),
    All(Box<[u64; BUCKETS]>),
}

impl Default for Buckets {
    fn default() -> Buckets {
        Buckets::Few(Vec::new())
    }
}

impl SizeHistogram {
    /// Counts a file.
    #[inline]
    pub fn add(&mut self, size_bytes: u64) {
        self.largest_bytes = self.largest_bytes.max(size_bytes);
        self.add_many(bucket_of(size_bytes), 1);
    }

    /// Counts the files of another histogram.
    pub fn merge(&mut self, other: &SizeHistogram) {
        self.largest_bytes = self.largest_bytes.max(other.largest_bytes);
        for (bucket, count) in other.counts() {
            self.add_many(bucket, count);
        }
    }

    /// The number of files.
    #[must_use]
    pub fn file_count(&self) -> u64 {
        self.file_count
    }

    /// The size of the largest file, exactly; absent without files.
    #[must_use]
    pub fn largest_bytes(&self) -> Option<u64> {
        (self.file_count > 0).then_some(self.largest_bytes)
    }

    /// The size that so many per cent of the files do not exceed; 50 gives the median.
    ///
    /// It is at most 1/16 above the true one, which is the size of a file (nearest rank).
    /// Absent without files. More than 100 per cent are as 100.
    ///
    /// ```
    /// let mut sizes = statwalk_group::SizeHistogram::default();
    /// (1..=100).for_each(|kib| sizes.add(kib * 1024));
    /// let median = sizes.percentile(50).unwrap();
    /// assert!((50 * 1024..=53 * 1024).contains(&median));
    /// assert_eq!(sizes.percentile(100), Some(100 * 1024));
    /// ```
    #[must_use]
    pub fn percentile(&self, percent: u8) -> Option<u64> {
        let percent = u128::from(percent.min(100));
        let rank = (u128::from(self.file_count) * percent).div_ceil(100).max(1);
        let mut below = 0;
        let mut counts = self.counts();
        let (bucket, _) = counts.find(|&(_, count)| {
            below += u128::from(count);
            below >= rank
        })?;
        Some(last_of(bucket).min(self.largest_bytes))
    }

    #[inline]
    fn add_many(&mut self, bucket: usize, count: u64) {
        self.file_count += count;
        let few = match &mut self.buckets {
            Buckets::All(all) => return all[bucket] += count,
            Buckets::Few(few) => few,
        };
        match few.binary_search_by_key(&bucket, |&(bucket, _)| bucket.into()) {
            Ok(at) => few[at].1 += count,
            Err(at) if few.len() < FEW => few.insert(at, (bucket as u16, count)),
            Err(_) => {
                let mut all = Box::new([0; BUCKETS]);
                for &(bucket, count) in &*few {
                    all[usize::from(bucket)] = count;
                }
                all[bucket] += count;
                self.buckets = Buckets::All(all);
            }
        }
    }

    /// The buckets that are not empty, in order.
    fn counts(&self) -> impl Iterator<Item = (usize, u64)> {
        let (few, all) = match &self.buckets {
            Buckets::Few(few) => (&few[..], &[][..]),
            Buckets::All(all) => (&[][..], &all[..]),
        };
        let few = few.iter().map(|&(bucket, count)| (bucket.into(), count));
        let all = all.iter().copied().enumerate();
        few.chain(all.filter(|&(_, count)| count > 0))
    }
}

/// The bucket of a size.
#[inline]
fn bucket_of(size_bytes: u64) -> usize {
    let Some(power) = size_bytes.checked_ilog2().map(|power| power as usize) else {
        return 0;
    };
    match power.checked_sub(STEPS_POWER) {
        None => size_bytes as usize,
        // The first of the bits that remain is the power's own.
        Some(shift) => shift * STEPS + (size_bytes >> shift) as usize,
    }
}

/// The largest size in a bucket.
fn last_of(bucket: usize) -> u64 {
    let Some(shift) = (bucket / STEPS).checked_sub(1) else {
        return bucket as u64;
    };
    let first = ((STEPS + bucket % STEPS) as u64) << shift;
    first + ((1 << shift) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn buckets_follow_one_another() {
        assert_eq!((bucket_of(0), bucket_of(1), bucket_of(31)), (0, 1, 31));
        assert_eq!(bucket_of(u64::MAX), BUCKETS - 1);
        assert_eq!(last_of(BUCKETS - 1), u64::MAX);
        for bucket in 0..BUCKETS - 1 {
            let last = last_of(bucket);
            assert_eq!((bucket_of(last), bucket_of(last + 1)), (bucket, bucket + 1));
        }
    }

    #[test]
    fn nothing_has_no_percentile() {
        let empty = SizeHistogram::default();
        assert_eq!((empty.percentile(50), empty.largest_bytes()), (None, None));
        let mut zeros = SizeHistogram::default();
        zeros.add(0);
        assert_eq!(zeros.largest_bytes(), Some(0));
        assert_eq!(
            (zeros.percentile(0), zeros.percentile(200)),
            (Some(0), Some(0))
        );
    }

    fn of(sizes: &[u64]) -> SizeHistogram {
        let mut histogram = SizeHistogram::default();
        sizes.iter().for_each(|&size| histogram.add(size));
        histogram
    }

    fn sizes() -> impl Strategy<Value = Vec<u64>> {
        let size = (0u32..64, any::<u64>()).prop_map(|(shift, bits)| bits >> shift);
        proptest::collection::vec(size, 1..600)
    }

    proptest! {
        #[test]
        fn percentiles_are_a_sixteenth_too_large_at_most(mut sizes in sizes(), percent in 0u8..=100) {
            let histogram = of(&sizes);
            sizes.sort_unstable();
            let rank = (sizes.len() * usize::from(percent)).div_ceil(100).max(1);
            let exact = sizes[rank - 1];
            let found = histogram.percentile(percent).unwrap();
            prop_assert!(found >= exact && found - exact <= exact / 16, "{found} for {exact}");
            prop_assert_eq!(histogram.percentile(100), sizes.last().copied());
        }

        #[test]
        fn merged_histograms_are_those_of_all(left in sizes(), right in sizes()) {
            let mut merged = of(&left);
            merged.merge(&of(&right));
            let all = [left, right].concat();
            prop_assert_eq!(merged.file_count(), all.len() as u64);
            prop_assert_eq!(merged, of(&all));
        }
    }
}
