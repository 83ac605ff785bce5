// SPDX-License-Identifier: MIT OR Apache-2.0

//! Numbers that look random and are the same for the same seed.

/// SplitMix64 (Steele, Lea and Flood, 2014): small, and the same everywhere and for ever.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The sequence of this seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// The next number.
    #[allow(
        clippy::should_implement_trait,
        reason = "it never ends, so it is no iterator that anybody could use up"
    )]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// 0 to `bound - 1`; the bias is far below what a tree shows.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// 0 to 1.
    pub fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// One of the choices.
    ///
    /// # Panics
    ///
    /// Panics if there is none.
    pub fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len() as u64) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seed_decides_and_all_choices_come_up() {
        let drawn = |seed| {
            let mut random = Random::new(seed);
            [(); 40].map(|()| *random.pick(b"abc"))
        };
        assert_eq!(drawn(1), drawn(1));
        assert_ne!(drawn(1), drawn(2));
        assert!(b"abc".iter().all(|letter| drawn(1).contains(letter)));
        let mut random = Random::new(3);
        let count = (0..10_000).filter(|_| random.one_in(10)).count();
        assert!((900..1100).contains(&count), "{count}");
    }
}
