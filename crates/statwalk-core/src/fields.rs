// SPDX-License-Identifier: MIT OR Apache-2.0

//! Sets of attributes.

use std::fmt;
use std::ops::{BitOr, BitOrAssign};

/// A set of attributes: those that a caller wants, or those that are known.
///
/// The fields decide the system calls: [`NAME`](Self::NAME) and
/// [`TYPE`](Self::TYPE) come with the listing of a directory, anything else
/// costs one stat for each entry.
///
/// ```
/// use statwalk_core::Fields;
/// let wanted = Fields::SIZE | Fields::MTIME;
/// assert!(wanted.contains(Fields::SIZE) && wanted.need_stat());
/// assert!(!(Fields::NAME | Fields::TYPE).need_stat());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Fields(u32);

macro_rules! fields {
    ($($(#[$doc:meta])* $field:ident $bit:literal $name:literal;)+) => {
        impl Fields {
            $($(#[$doc])* pub const $field: Fields = Fields(1 << $bit);)+

            const NAMED: &[(Fields, &str)] = &[$((Fields::$field, $name)),+];
        }
    };
}

// The bits are those of the C interface. Bit 31 is a column of it that is no field.
fields! {
    /// The name.
    NAME 0 "name";
    /// The type.
    TYPE 1 "type";
    /// `st_size`, in bytes.
    SIZE 2 "size";
    /// The space taken, 512 × `st_blocks`, in bytes.
    ALLOCATED 3 "allocated";
    /// The number of hard links.
    LINKS 4 "links";
    /// Device and inode number.
    ID 5 "id";
    /// Time of the last change of the content.
    MTIME 6 "mtime";
    /// Time of the last access.
    ATIME 7 "atime";
    /// Time of the last change of the inode.
    CTIME 8 "ctime";
    /// Time of birth; absent where the file system keeps none.
    BTIME 9 "btime";
    /// User and group id.
    OWNER 10 "owner";
    /// Type and permission bits, as in `st_mode`.
    MODE 11 "mode";
    /// The device that a device node stands for.
    RDEV 12 "rdev";
    /// Flags of an inode such as compressed and immutable, and which of them are known.
    FLAGS 13 "flags";
}

impl Fields {
    /// No field.
    pub const NONE: Fields = Fields(0);

    /// All fields.
    pub const ALL: Fields = Fields((1 << Fields::NAMED.len()) - 1);

    /// All that stat(2) gives, and the time of birth.
    pub const STAT: Fields = Fields::ALL.without(Fields(Fields::NAME.0 | Fields::FLAGS.0));

    /// The fields that neither the browser nor a table nor totals want, unless somebody
    /// asks for them.
    pub(crate) const RARE: Fields = Fields::ALL.without(Fields::USUAL);

    const USUAL: Fields = Fields::NAME
        .union(Fields::TYPE)
        .union(Fields::SIZE)
        .union(Fields::ALLOCATED)
        .union(Fields::LINKS)
        .union(Fields::ID)
        .union(Fields::MTIME)
        .union(Fields::OWNER);

    /// The bits of the fields. A field keeps its bit.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// The fields of some bits; absent where a bit is that of no field.
    ///
    /// ```
    /// use statwalk_core::Fields;
    /// assert_eq!(Fields::from_bits(Fields::LINKS.bits()), Some(Fields::LINKS));
    /// assert_eq!(Fields::from_bits(1 << 31), None);
    /// ```
    #[must_use]
    pub const fn from_bits(bits: u32) -> Option<Fields> {
        match bits & !Fields::ALL.0 {
            0 => Some(Fields(bits)),
            _ => None,
        }
    }

    /// Whether every field of `other` is in this set.
    #[must_use]
    pub const fn contains(self, other: Fields) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether a field of `other` is in this set.
    pub(crate) const fn has_any(self, other: Fields) -> bool {
        self.0 & other.0 != 0
    }

    /// Both sets together.
    #[must_use]
    pub const fn union(self, other: Fields) -> Fields {
        Fields(self.0 | other.0)
    }

    /// This set without the fields of `other`.
    #[must_use]
    pub const fn without(self, other: Fields) -> Fields {
        Fields(self.0 & !other.0)
    }

    /// The fields that are in both sets.
    #[must_use]
    pub(crate) const fn intersection(self, other: Fields) -> Fields {
        Fields(self.0 & other.0)
    }

    /// The fields whose bits are so many places higher.
    pub(crate) const fn shifted(self, places: u32) -> Fields {
        Fields(self.0 << places)
    }

    /// Whether the listing of a directory alone cannot give these fields.
    #[must_use]
    pub const fn need_stat(self) -> bool {
        self.0 & !(Self::NAME.0 | Self::TYPE.0) != 0
    }

    /// The names of the fields, in a fixed order.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let named = Fields::NAMED.iter();
        named
            .filter(move |&&(field, _)| self.contains(field))
            .map(|&(_, name)| name)
    }
}

impl BitOr for Fields {
    type Output = Fields;
    fn bitor(self, other: Fields) -> Fields {
        self.union(other)
    }
}

impl BitOrAssign for Fields {
    fn bitor_assign(&mut self, other: Fields) {
        *self = self.union(other);
    }
}

impl fmt::Debug for Fields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_know_their_names() {
        let fields = Fields::MTIME | Fields::TYPE;
        assert_eq!(fields.names().collect::<Vec<_>>(), ["type", "mtime"]);
        assert_eq!(format!("{fields:?}"), r#"{"type", "mtime"}"#);
    }

    #[test]
    fn the_bits_are_dense() {
        let bits = Fields::NAMED
            .iter()
            .fold(0, |all, (field, _)| all | field.bits());
        assert_eq!(bits, Fields::ALL.bits());
    }
}
