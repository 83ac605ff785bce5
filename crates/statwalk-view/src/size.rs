// SPDX-License-Identifier: MIT OR Apache-2.0

//! Sizes in bytes: as text, and as a person writes them.
//!
//! A unit means the same everywhere: `K` and `KiB` are 1024 bytes, as in GNU du, find and
//! ncdu, and `kB` is 1000. Only fd differs, whose `k` is 1000 (src/filter/size.rs, read
//! against fd 10).

use std::fmt;
use std::str::FromStr;

use crate::count::in_threes;

/// How a size is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SizeFormat {
    /// Powers of 1024 and three significant digits: `2.02 TiB`.
    #[default]
    Binary,
    /// Powers of 1000 and three significant digits: `2.22 TB`.
    Si,
    /// One unit for every size, with one decimal: `2,068.5 GiB`.
    Unit(Unit),
    /// Plain digits, to be copied and calculated with: `2220950999236`.
    Bytes,
    /// No size but a number of entries: `2,220,950`.
    Count,
    /// Whole units, rounded up, as `du -BM` writes them: `2118064M`.
    Whole(Unit),
    /// The same with the whole unit, as `du -BMiB` writes them: `2118064MiB`.
    WholeLong(Unit),
    /// The same without a unit, as `du -m` writes them: `2118064`.
    WholeNumber(Unit),
    /// Blocks of so many bytes, rounded up, as `du -B512` counts them: `4337794821`.
    /// Blocks of 0 bytes count as bytes.
    Blocks(u64),
    /// Powers of 1024 and few digits, rounded up, as `du -h` writes them: `2.1T`.
    Short,
    /// Powers of 1000 and few digits, rounded up, as `du --si` writes them: `2.3T`.
    ShortSi,
}

/// A unit of size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// One byte.
    B,
    /// 1024 bytes.
    KiB,
    /// 1024² bytes.
    MiB,
    /// 1024³ bytes.
    GiB,
    /// 1024⁴ bytes.
    TiB,
    /// 1024⁵ bytes.
    PiB,
    /// 1024⁶ bytes.
    EiB,
    /// 1024⁷ bytes.
    ZiB,
    /// 1024⁸ bytes.
    YiB,
    /// 1000 bytes.
    KB,
    /// 1000² bytes.
    MB,
    /// 1000³ bytes.
    GB,
    /// 1000⁴ bytes.
    TB,
    /// 1000⁵ bytes.
    PB,
    /// 1000⁶ bytes.
    EB,
    /// 1000⁷ bytes.
    ZB,
    /// 1000⁸ bytes.
    YB,
}

/// Which sizes a person wants to see.
///
/// As in fd, `+1G` is at least, `-10k` at most, `500M` exactly. A unit is required,
/// because other programs give a bare number other meanings. `b` is bytes. `k`, `m`,
/// `g`, `t`, `p`, `e`, `z` and `y`, also as `ki` or `KiB`, are powers of 1024. With a
/// `b` alone, as in `kB`, they are powers of 1000. Case does not matter. Beyond fd, a
/// number may have decimals: `+1.5GiB`.
///
/// # Examples
///
/// ```
/// use statwalk_view::SizeFilter;
///
/// let filter: SizeFilter = "+1.5GiB".parse()?;
/// assert_eq!(filter, SizeFilter::AtLeast(1_610_612_736));
/// assert!(filter.matches(1_610_612_736));
/// assert!(!filter.matches(1_610_612_735));
/// # Ok::<(), statwalk_view::ParseSizeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeFilter {
    /// This many bytes or more.
    AtLeast(u64),
    /// This many bytes or fewer.
    AtMost(u64),
    /// Exactly this many bytes.
    Exactly(u64),
}

/// The reason why a text is no size or no unit.
///
/// The message gives the reason alone; [`input`](Self::input) gives the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseSizeError {
    input: String,
    problem: Problem,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Problem {
    UnknownUnit,
    NoNumber,
    NoUnit,
    UnknownSuffix,
    TooLarge,
    TooPrecise,
    PartOfByte,
}

impl SizeFormat {
    /// Returns `bytes` as text.
    ///
    /// In [`Binary`](Self::Binary) and [`Si`](Self::Si), at most three digits
    /// stand before the unit: what would round to `1000 KiB` is `0.98 MiB`,
    /// or `1.00 MB`. Only exact bytes go up to `1023 B`. In a fixed unit, a
    /// size that is something, yet rounds to nothing, is `<0.1 GiB`.
    ///
    /// # Examples
    ///
    /// ```
    /// use statwalk_view::{SizeFormat, Unit};
    ///
    /// let bytes = 2_220_950_999_236;
    /// assert_eq!(SizeFormat::Binary.text(bytes), "2.02 TiB");
    /// assert_eq!(SizeFormat::Si.text(bytes), "2.22 TB");
    /// assert_eq!(SizeFormat::Unit(Unit::GiB).text(bytes), "2,068.4 GiB");
    /// assert_eq!(SizeFormat::Bytes.text(bytes), "2220950999236");
    /// assert_eq!(SizeFormat::Whole(Unit::MiB).text(bytes), "2118064M");
    /// assert_eq!(SizeFormat::Blocks(512).text(bytes), "4337794921");
    /// assert_eq!(SizeFormat::Short.text(bytes), "2.1T");
    /// ```
    #[must_use]
    pub fn text(self, bytes: u128) -> String {
        match self {
            SizeFormat::Binary => scaled(bytes, 1024),
            SizeFormat::Si => scaled(bytes, 1000),
            SizeFormat::Unit(Unit::B) => format!("{} B", in_threes(bytes)),
            SizeFormat::Unit(unit) => fixed(bytes, unit),
            SizeFormat::Bytes => bytes.to_string(),
            SizeFormat::Count => in_threes(bytes),
            SizeFormat::Whole(unit) => {
                format!("{}{}", bytes.div_ceil(unit.bytes()), unit.du_suffix())
            }
            SizeFormat::WholeLong(unit) => format!("{}{unit}", bytes.div_ceil(unit.bytes())),
            SizeFormat::WholeNumber(unit) => bytes.div_ceil(unit.bytes()).to_string(),
            SizeFormat::Blocks(size) => bytes.div_ceil(size.max(1).into()).to_string(),
            SizeFormat::Short => short(bytes, 1024, 'K'),
            SizeFormat::ShortSi => short(bytes, 1000, 'k'),
        }
    }
}

/// Returns the smallest unit of a base that fits, or else the largest.
fn unit_of(base: u128, fits: impl Fn(Unit) -> bool) -> Unit {
    let (of_1024, of_1000) = UNITS[1..].split_at(8);
    let units = if base == 1024 { of_1024 } else { of_1000 };
    let unit = units.iter().find(|(unit, ..)| fits(*unit));
    unit.unwrap_or(&units[7]).0
}

/// Returns the size as GNU du writes it: below ten units one decimal, else none, always
/// rounded up (`human_readable`, lib/human.c of gnulib).
fn short(bytes: u128, base: u128, kilo: char) -> String {
    if bytes < base {
        return bytes.to_string();
    }
    // Rounded up, the number of units may reach the next one.
    let unit = unit_of(base, |unit| bytes.div_ceil(unit.bytes()) < base);
    let letter = match unit {
        Unit::KiB | Unit::KB => kilo,
        unit => unit.letter(),
    };
    let one = unit.bytes();
    let tenths = bytes / one * 10 + (bytes % one * 10).div_ceil(one);
    match tenths {
        ..100 => format!("{}.{}{letter}", tenths / 10, tenths % 10),
        _ => format!("{}{letter}", bytes.div_ceil(one)),
    }
}

/// Returns three significant digits in the smallest unit that has room for
/// them; below `base` bytes the exact number.
fn scaled(bytes: u128, base: u128) -> String {
    if bytes < base {
        return format!("{bytes} B");
    }
    // Every unit is even.
    let unit = unit_of(base, |unit| bytes < unit.bytes() / 2 * 1999);

    let rounded = |steps| in_steps(bytes, unit, steps);
    let (hundredths, tenths) = (rounded(100), rounded(10));
    if hundredths < 1000 {
        format!("{}.{:02} {unit}", hundredths / 100, hundredths % 100)
    } else if tenths < 1000 {
        format!("{}.{} {unit}", tenths / 10, tenths % 10)
    } else {
        format!("{} {unit}", rounded(1))
    }
}

/// Returns `bytes` in `unit` with one decimal.
fn fixed(bytes: u128, unit: Unit) -> String {
    let tenths = in_steps(bytes, unit, 10);
    if tenths == 0 && bytes > 0 {
        return format!("<0.1 {unit}");
    }
    format!("{}.{} {unit}", in_threes(tenths / 10), tenths % 10)
}

/// Returns `bytes` in parts of `unit`, rounded, of which it has `steps`.
fn in_steps(bytes: u128, unit: Unit, steps: u128) -> u128 {
    let one = unit.bytes();
    // Apart, so that no product is too large.
    bytes / one * steps + (bytes % one * steps * 2 + one) / (one * 2)
}

/// Each unit, its name, and how many bytes it is, in the order of [`Unit`].
const UNITS: [(Unit, &str, u128); 17] = [
    (Unit::B, "B", 1),
    (Unit::KiB, "KiB", 1 << 10),
    (Unit::MiB, "MiB", 1 << 20),
    (Unit::GiB, "GiB", 1 << 30),
    (Unit::TiB, "TiB", 1 << 40),
    (Unit::PiB, "PiB", 1 << 50),
    (Unit::EiB, "EiB", 1 << 60),
    (Unit::ZiB, "ZiB", 1 << 70),
    (Unit::YiB, "YiB", 1 << 80),
    // The prefix of a thousand is a small letter, alone among them.
    (Unit::KB, "kB", 1_000),
    (Unit::MB, "MB", 1_000_000),
    (Unit::GB, "GB", 1_000_000_000),
    (Unit::TB, "TB", 1_000_000_000_000),
    (Unit::PB, "PB", 1_000_000_000_000_000),
    (Unit::EB, "EB", 1_000_000_000_000_000_000),
    (Unit::ZB, "ZB", 1_000_000_000_000_000_000_000),
    (Unit::YB, "YB", 1_000_000_000_000_000_000_000_000),
];

impl Unit {
    fn name(self) -> &'static str {
        UNITS[self as usize].1
    }

    /// Returns the first letter of the unit, as a capital.
    fn letter(self) -> char {
        char::from(self.name().as_bytes()[0].to_ascii_uppercase())
    }

    /// Returns the end of a number in `du -B`: `M`, `MB`, or nothing for bytes.
    fn du_suffix(self) -> &'static str {
        match self {
            Unit::B => "",
            unit => unit.name().strip_suffix("iB").unwrap_or(unit.name()),
        }
    }

    /// Returns how many bytes one such unit is.
    #[must_use]
    pub fn bytes(self) -> u128 {
        UNITS[self as usize].2
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Reads the unit of an output: `B`, `K`, `KiB`, `KB` and so on up to `Y`.
///
/// A bare letter is a power of 1024, as in `du -BK`. Case does not matter.
impl FromStr for Unit {
    type Err = ParseSizeError;

    fn from_str(input: &str) -> Result<Unit, ParseSizeError> {
        let is_it = |name: &str| {
            let of_1024 = name.strip_suffix("iB").map(|letter| [letter, &name[..2]]);
            let mut spellings = of_1024.into_iter().flatten().chain([name]);
            spellings.any(|spelling| spelling.eq_ignore_ascii_case(input))
        };
        let found = UNITS.iter().find(|(_, name, _)| is_it(name));
        found.map_or_else(
            || Err(error(input, Problem::UnknownUnit)),
            |unit| Ok(unit.0),
        )
    }
}

impl SizeFilter {
    /// Returns whether a file of `bytes` is wanted.
    #[must_use]
    pub fn matches(self, bytes: u128) -> bool {
        match self {
            SizeFilter::AtLeast(limit) => bytes >= u128::from(limit),
            SizeFilter::AtMost(limit) => bytes <= u128::from(limit),
            SizeFilter::Exactly(size) => bytes == u128::from(size),
        }
    }
}

impl FromStr for SizeFilter {
    type Err = ParseSizeError;

    fn from_str(input: &str) -> Result<SizeFilter, ParseSizeError> {
        let fail = |problem| Err(error(input, problem));
        let (filter, rounding): (fn(u64) -> SizeFilter, _) = match input.as_bytes().first() {
            Some(b'+') => (SizeFilter::AtLeast, Rounding::Up),
            Some(b'-') => (SizeFilter::AtMost, Rounding::Down),
            _ => (SizeFilter::Exactly, Rounding::Refused),
        };
        let quantity = input.strip_prefix(['+', '-']).unwrap_or(input);
        let end = quantity
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(quantity.len());
        let (number, suffix) = quantity.split_at(end);

        let (whole, decimals) = number.split_once('.').unwrap_or((number, "0"));
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        if !digits(whole) || !digits(decimals) {
            return fail(Problem::NoNumber);
        }
        if suffix.is_empty() {
            return fail(Problem::NoUnit);
        }
        let Ok(unit) = suffix.parse::<Unit>() else {
            return fail(Problem::UnknownSuffix);
        };

        let Ok(whole) = whole.parse::<u64>() else {
            return fail(Problem::TooLarge);
        };
        let decimals = decimals.trim_end_matches('0');
        if decimals.len() > 18 {
            return fail(Problem::TooPrecise);
        }
        let parts = 10u128.pow(u32::try_from(decimals.len()).unwrap_or(0));
        let one = unit.bytes();
        let below_one = decimals.parse::<u128>().unwrap_or(0).checked_mul(one);
        let Some(below_one) = below_one else {
            return fail(Problem::TooPrecise);
        };
        let rest = match rounding {
            Rounding::Up => below_one.div_ceil(parts),
            Rounding::Down => below_one / parts,
            Rounding::Refused if below_one % parts != 0 => return fail(Problem::PartOfByte),
            Rounding::Refused => below_one / parts,
        };
        let bytes = u128::from(whole).checked_mul(one);
        let bytes = bytes.and_then(|bytes| bytes.checked_add(rest));
        match bytes.map(u64::try_from) {
            Some(Ok(bytes)) => Ok(filter(bytes)),
            _ => fail(Problem::TooLarge),
        }
    }
}

enum Rounding {
    Up,
    Down,
    Refused,
}

fn error(input: &str, problem: Problem) -> ParseSizeError {
    ParseSizeError {
        input: input.to_owned(),
        problem,
    }
}

impl ParseSizeError {
    /// Returns the text that could not be understood.
    #[must_use]
    pub fn input(&self) -> &str {
        &self.input
    }
}

impl fmt::Display for ParseSizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.problem {
            Problem::UnknownUnit => {
                "must be B, K or KiB (1024 bytes), KB (1000 bytes), or the same with M, G, T, P, \
                 E, Z, Y"
            }
            Problem::NoNumber => "must be a size such as +1G, -10k or 1.5GiB",
            Problem::NoUnit => "must have a unit: b for bytes, or k, M, G, KiB and so on",
            Problem::UnknownSuffix => {
                "must have the unit b, K or KiB (1024 bytes), kB (1000 bytes), or the same with \
                 M, G, T, P, E, Z, Y"
            }
            Problem::TooLarge => "must be below 16 EiB",
            Problem::TooPrecise => "must have fewer decimals",
            Problem::PartOfByte => "must be a whole number of bytes",
        })
    }
}

impl std::error::Error for ParseSizeError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text_width;
    use proptest::prelude::*;

    #[test]
    fn each_unit_has_its_row() {
        for (index, (unit, name, _)) in UNITS.iter().enumerate() {
            assert_eq!((*unit as usize, name.parse()), (index, Ok(*unit)));
        }
    }

    #[test]
    fn sizes_have_three_digits() {
        fn check(bytes: u128, binary: &str, si: &str) {
            assert_eq!(SizeFormat::Binary.text(bytes), binary);
            assert_eq!(SizeFormat::Si.text(bytes), si);
        }
        const KI: u128 = 1 << 10;
        check(0, "0 B", "0 B");
        check(17, "17 B", "17 B");
        check(999, "999 B", "999 B");
        check(1000, "1000 B", "1.00 kB");
        check(1023, "1023 B", "1.02 kB");
        check(KI, "1.00 KiB", "1.02 kB");
        check(9_994, "9.76 KiB", "9.99 kB");
        check(9_995, "9.76 KiB", "10.0 kB");
        check(10 * KI - 6, "9.99 KiB", "10.2 kB");
        check(10 * KI - 5, "10.0 KiB", "10.2 kB");
        check(100 * KI - 52, "99.9 KiB", "102 kB");
        check(100 * KI - 51, "100 KiB", "102 kB");
        check(999_499, "976 KiB", "999 kB");
        check(999_500, "976 KiB", "1.00 MB");
        check(1_023_487, "999 KiB", "1.02 MB");
        check(1_023_488, "0.98 MiB", "1.02 MB");
        check(KI * KI - 1, "1.00 MiB", "1.05 MB");
        check(412 << 30, "412 GiB", "442 GB");
        check(2_220_950_999_236, "2.02 TiB", "2.22 TB");
        check(1 << 60, "1.00 EiB", "1.15 EB");
        check(u64::MAX.into(), "16.0 EiB", "18.4 EB");
        check(3 << 63, "24.0 EiB", "27.7 EB");
        check(1 << 70, "1.00 ZiB", "1.18 ZB");
        check(999 << 80, "999 YiB", "1208 YB");
        check(u128::MAX, "281474976710656 YiB", "340282366920938 YB");
    }

    #[test]
    fn a_fixed_unit_is_kept() {
        fn check(bytes: u128, unit: &str, expected: &str) {
            let unit = unit.parse().unwrap();
            assert_eq!(SizeFormat::Unit(unit).text(bytes), expected);
        }
        check(0, "GiB", "0.0 GiB");
        check(1, "GiB", "<0.1 GiB");
        check(51, "K", "<0.1 KiB");
        check(52, "K", "0.1 KiB");
        check(1_234_567, "B", "1,234,567 B");
        check(1_234_567, "kb", "1,234.6 kB");
        check(2_220_950_999_236, "MiB", "2,118,063.9 MiB");
        check(999_960_000, "MB", "1,000.0 MB");
        check(u64::MAX.into(), "KB", "18,446,744,073,709,551.6 kB");
        check(u64::MAX.into(), "e", "16.0 EiB");
        check(3 << 63, "Z", "<0.1 ZiB");
        check(u128::MAX, "y", "281,474,976,710,656.0 YiB");
    }

    /// As `du -s --apparent-size` of coreutils 9.1 wrote files of these sizes.
    #[test]
    fn rows_have_the_sizes_of_du() {
        fn check(bytes: u128, [h, si, bk, bm, bmb]: [&str; 5]) {
            assert_eq!(SizeFormat::Short.text(bytes), h, "-h {bytes}");
            assert_eq!(SizeFormat::ShortSi.text(bytes), si, "--si {bytes}");
            assert_eq!(SizeFormat::Whole(Unit::KiB).text(bytes), bk, "-BK {bytes}");
            assert_eq!(SizeFormat::Whole(Unit::MiB).text(bytes), bm, "-BM {bytes}");
            assert_eq!(SizeFormat::Whole(Unit::MB).text(bytes), bmb, "-BMB {bytes}");
        }
        check(0, ["0", "0", "0K", "0M", "0MB"]);
        check(1, ["1", "1", "1K", "1M", "1MB"]);
        check(999, ["999", "999", "1K", "1M", "1MB"]);
        check(1_000, ["1000", "1.0k", "1K", "1M", "1MB"]);
        check(1_024, ["1.0K", "1.1k", "1K", "1M", "1MB"]);
        check(1_025, ["1.1K", "1.1k", "2K", "1M", "1MB"]);
        check(9_900, ["9.7K", "9.9k", "10K", "1M", "1MB"]);
        check(9_901, ["9.7K", "10k", "10K", "1M", "1MB"]);
        check(10_240, ["10K", "11k", "10K", "1M", "1MB"]);
        check(999_001, ["976K", "1.0M", "976K", "1M", "1MB"]);
        check(1_047_553, ["1.0M", "1.1M", "1024K", "1M", "2MB"]);
        check(5_000_000, ["4.8M", "5.0M", "4883K", "5M", "5MB"]);
        assert_eq!(SizeFormat::Whole(Unit::B).text(17), "17");
        assert_eq!(SizeFormat::Short.text(u128::MAX), "281474976710656Y");
    }

    #[test]
    fn units() {
        fn check(input: &str, expected: Unit) {
            assert_eq!(input.parse(), Ok(expected));
        }
        check("B", Unit::B);
        check("K", Unit::KiB);
        check("k", Unit::KiB);
        check("KiB", Unit::KiB);
        check("KB", Unit::KB);
        check("kB", Unit::KB);
        check("M", Unit::MiB);
        check("MiB", Unit::MiB);
        check("MB", Unit::MB);
        check("g", Unit::GiB);
        check("TiB", Unit::TiB);
        check("PB", Unit::PB);
        check("EiB", Unit::EiB);
        check("EB", Unit::EB);
        check("z", Unit::ZiB);
        check("YB", Unit::YB);
        for unit in [
            Unit::B,
            Unit::KiB,
            Unit::MiB,
            Unit::GiB,
            Unit::TiB,
            Unit::PiB,
            Unit::EiB,
            Unit::ZiB,
            Unit::YiB,
            Unit::KB,
            Unit::MB,
            Unit::GB,
            Unit::TB,
            Unit::PB,
            Unit::EB,
            Unit::ZB,
            Unit::YB,
        ] {
            check(&unit.to_string(), unit);
        }
        for input in ["", "X", "KiBB", "bib", "ib", " K", "K ", "R", "RiB"] {
            let error = input.parse::<Unit>().unwrap_err();
            assert_eq!(error.input(), input);
            let message = error.to_string();
            assert!(message.starts_with("must be B, K or KiB"), "{message}");
        }
    }

    #[test]
    fn filters_have_the_units_of_outputs() {
        fn check(input: &str, expected: SizeFilter) {
            assert_eq!(input.parse(), Ok(expected), "{input}");
        }
        use SizeFilter::{AtLeast, AtMost, Exactly};
        check("+1b", AtLeast(1));
        check("-1B", AtMost(1));
        check("0b", Exactly(0));
        check("+1k", AtLeast(1_024));
        check("-10k", AtMost(10_240));
        check("+1Kb", AtLeast(1_000));
        check("+1ki", AtLeast(1_024));
        check("-1KIB", AtMost(1_024));
        check("500M", Exactly(500 << 20));
        check("500MB", Exactly(500_000_000));
        check("1mi", Exactly(1 << 20));
        check("+1G", AtLeast(1 << 30));
        check("1.5GiB", Exactly(1_610_612_736));
        check("+1.50GiB", AtLeast(1_610_612_736));
        check("+1t", AtLeast(1 << 40));
        check("2TiB", Exactly(2 << 40));
        check("1P", Exactly(1 << 50));
        check("15EiB", Exactly(15 << 60));
        // Part of a byte: no file smaller than 1.1 KiB has 1127 bytes or more.
        check("+1.1KiB", AtLeast(1_127));
        check("-1.1KiB", AtMost(1_126));
        check("18446744073709551615b", Exactly(u64::MAX));
        check("+18.446744073709551615EB", AtLeast(u64::MAX));
        check("+0001k", AtLeast(1_024));
    }

    #[test]
    fn errors_give_the_reason_and_keep_the_input() {
        fn check(input: &str, expected: &str) {
            let error = input.parse::<SizeFilter>().unwrap_err();
            assert_eq!(error.input(), input);
            let message = error.to_string();
            assert!(message.starts_with(expected), "{message}");
        }
        check("", "must be a size such as");
        check("+", "must be a size such as");
        check("+g", "must be a size such as");
        check("++1g", "must be a size such as");
        check("1..5g", "must be a size such as");
        check(".5g", "must be a size such as");
        check("5.g", "must be a size such as");
        check("$10M", "must be a size such as");
        check("1e3b", "must have the unit b");
        check("9999", "must have a unit");
        check("+50a", "must have the unit b");
        check("+1Mv", "must have the unit b");
        check("+1 M", "must have the unit b");
        check("+1bb", "must have the unit b");
        check("+1bib", "must have the unit b");
        check("1\x1b[2J", "must have the unit b");
        check("+16EiB", "must be below 16 EiB");
        check("18446744073709551616b", "must be below 16 EiB");
        check("99999999999999999999999b", "must be below 16 EiB");
        check("1.0000000000000000001k", "must have fewer decimals");
        check("1.1KiB", "must be a whole number of bytes");
    }

    #[test]
    fn filters_include_their_limit() {
        fn check(input: &str, matching: [bool; 3]) {
            let filter: SizeFilter = input.parse().unwrap();
            assert_eq!(
                [999, 1000, 1001].map(|bytes| filter.matches(bytes)),
                matching
            );
        }
        check("+1kB", [false, true, true]);
        check("-1kB", [true, true, false]);
        check("1kB", [false, true, false]);
    }

    /// Sizes of every magnitude that has a unit, and those beside the powers.
    fn bytes() -> impl Strategy<Value = u128> {
        prop_oneof![
            (any::<u128>(), 39u32..128).prop_map(|(bits, shift)| bits >> shift),
            (0u32..89, -600i128..600)
                .prop_map(|(bit, by)| (1u128 << bit).saturating_add_signed(by)),
            (0u32..26, -600i128..600)
                .prop_map(|(power, by)| 10u128.pow(power).saturating_add_signed(by)),
        ]
    }

    proptest! {
        #[test]
        fn no_size_has_four_digits_before_its_unit(bytes in bytes()) {
            for format in [SizeFormat::Binary, SizeFormat::Si] {
                let text = format.text(bytes);
                let (number, unit) = text.split_once(' ').unwrap();
                if unit == "B" {
                    prop_assert_eq!(number.parse::<u128>().ok(), Some(bytes));
                    continue;
                }
                let (whole, _) = number.split_once('.').unwrap_or((number, ""));
                prop_assert!(whole.len() <= 3, "{text}");
                prop_assert!((3..=4).contains(&number.len()), "{text}");
                prop_assert!(text_width(&text) <= 8);
                let unit: Unit = unit.parse().unwrap();
                let near = number.parse::<f64>().unwrap() * unit.bytes() as f64;
                prop_assert!((near - bytes as f64).abs() <= bytes as f64 * 0.0052, "{text} for {bytes}");
            }
        }

        #[test]
        fn more_is_never_shown_as_less(a in bytes(), b in bytes()) {
            let shown = |bytes: u128, format: SizeFormat| {
                let text = format.text(bytes);
                let (number, unit) = text.split_once(' ').unwrap();
                number.parse::<f64>().unwrap() * unit.parse::<Unit>().unwrap().bytes() as f64
            };
            for format in [SizeFormat::Binary, SizeFormat::Si] {
                prop_assert!(shown(a.min(b), format) <= shown(a.max(b), format));
            }
        }

        #[test]
        fn any_text_is_a_filter_or_an_error(input in "[+-]?[0-9.]{0,25}[a-zA-Z]{0,3}") {
            if let Err(error) = input.parse::<SizeFilter>() {
                prop_assert_eq!(error.input(), &input);
                prop_assert!(!error.to_string().is_empty());
            }
        }
    }
}
