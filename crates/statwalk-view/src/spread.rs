// SPDX-License-Identifier: MIT OR Apache-2.0

//! The median and the quartiles of several measurements of the same thing.

/// The middle of some values, and where most of them lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The median.
    pub median: f64,
    /// The first quartile.
    pub low: f64,
    /// The third quartile.
    pub high: f64,
}

impl Spread {
    /// Of some values; absent where there are none.
    ///
    /// Between two values it is interpolated, as numpy's `percentile` does by default.
    ///
    /// ```
    /// use statwalk_view::Spread;
    /// let spread = Spread::of(&[4.0, 1.0, 2.0, 3.0, 100.0]).unwrap();
    /// assert_eq!((spread.low, spread.median, spread.high), (2.0, 3.0, 4.0));
    /// assert_eq!(Spread::of(&[]), None);
    /// ```
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Spread> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let place = share * (sorted.len().checked_sub(1)? as f64);
            let below = sorted[place.floor() as usize];
            let above = sorted[place.ceil() as usize];
            Some(below + (above - below) * place.fract())
        };
        Some(Spread {
            median: at(0.5)?,
            low: at(0.25)?,
            high: at(0.75)?,
        })
    }

    /// How far most values lie apart, as a share of the median.
    #[must_use]
    pub fn width(&self) -> f64 {
        (self.high - self.low) / self.median
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_numbers_of_values_have_their_middle_between_two() {
        let spread = Spread::of(&[1.0, 2.0, 3.0, 4.0]).unwrap();
        assert_eq!((spread.low, spread.median, spread.high), (1.75, 2.5, 3.25));
        assert_eq!(Spread::of(&[7.0]).unwrap().width(), 0.0);
    }
}
