// SPDX-License-Identifier: MIT OR Apache-2.0

//! The state of a file system that numbers its transactions.

use std::fmt;
use std::str::FromStr;

/// The UUID of a file system.
///
/// ```
/// let uuid: statwalk_format::Uuid = "01234567-89ab-cdef-0123-456789ABCDEF".parse()?;
/// assert_eq!(uuid.to_string(), "01234567-89ab-cdef-0123-456789abcdef");
/// # Ok::<(), statwalk_format::NoGeneration>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Uuid(pub [u8; 16]);

impl fmt::Display for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, byte) in self.0.iter().enumerate() {
            let dash = if matches!(index, 4 | 6 | 8 | 10) {
                "-"
            } else {
                ""
            };
            write!(f, "{dash}{byte:02x}")?;
        }
        Ok(())
    }
}

impl FromStr for Uuid {
    type Err = NoGeneration;

    fn from_str(text: &str) -> Result<Uuid, NoGeneration> {
        let parts: Vec<&str> = text.split('-').collect();
        if !parts.iter().map(|part| part.len()).eq([8, 4, 4, 4, 12]) {
            return Err(NoGeneration);
        }
        let is_hex = |digits: &str| digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        let digits = parts.concat();
        match u128::from_str_radix(&digits, 16) {
            Ok(number) if is_hex(&digits) => Ok(Uuid(number.to_be_bytes())),
            _ => Err(NoGeneration),
        }
    }
}

/// A state of a btrfs: `UUID:GENERATION` or `GENERATION` as text.
///
/// With the UUID, a question to another file system is an error and not a wrong answer.
///
/// ```
/// use statwalk_format::Generation;
/// let text = "01234567-89ab-cdef-0123-456789abcdef:4711";
/// let generation: Generation = text.parse()?;
/// assert_eq!((generation.number, generation.to_string()), (4711, text.to_owned()));
/// assert_eq!("4711".parse(), Ok(Generation::from(4711)));
/// # Ok::<(), statwalk_format::NoGeneration>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Generation {
    /// The file system; absent where the caller does not know it.
    pub uuid: Option<Uuid>,
    /// The number of the last transaction.
    pub number: u64,
}

impl From<u64> for Generation {
    fn from(number: u64) -> Generation {
        Generation { uuid: None, number }
    }
}

impl fmt::Display for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.uuid {
            Some(uuid) => write!(f, "{uuid}:{}", self.number),
            None => self.number.fmt(f),
        }
    }
}

impl FromStr for Generation {
    type Err = NoGeneration;

    fn from_str(text: &str) -> Result<Generation, NoGeneration> {
        let (uuid, number) = match text.split_once(':') {
            Some((uuid, number)) => (Some(uuid.parse()?), number),
            None => (None, text),
        };
        let is_number = number.bytes().all(|digit| digit.is_ascii_digit());
        match number.parse() {
            Ok(number) if is_number => Ok(Generation { uuid, number }),
            _ => Err(NoGeneration),
        }
    }
}

/// The text is neither a UUID nor a generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoGeneration;

impl fmt::Display for NoGeneration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("must be GENERATION or UUID:GENERATION, as an earlier scan gave it")
    }
}

impl std::error::Error for NoGeneration {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_texts_are_no_generation() {
        let uuid = "01234567-89ab-cdef-0123-456789abcdef";
        for text in [
            "",
            "-1",
            "+7",
            " 7",
            "7 ",
            "yesterday",
            ":7",
            "18446744073709551616",
            uuid,
            &format!("{uuid}:"),
            &format!("{uuid}:-1"),
            &format!("{uuid}x:7"),
            "0123456789abcdef0123456789abcdef:7",
            "+1234567-89ab-cdef-0123-456789abcdef:7",
        ] {
            assert_eq!(text.parse::<Generation>(), Err(NoGeneration), "{text}");
        }
    }
}
