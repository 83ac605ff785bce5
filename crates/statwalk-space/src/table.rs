// SPDX-License-Identifier: MIT OR Apache-2.0

//! The table of the used bytes, made from numbers alone.

/// The numbers that the parts of the used bytes follow from. An unknown number is absent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Facts {
    /// The used bytes, as statfs counts them.
    pub(crate) used_bytes: u64,
    /// The blocks of the entries that the scan reached. Absent if others than those of
    /// this file system are among them.
    pub(crate) reached_bytes: Option<u64>,
    /// The blocks of the entries below mount points.
    pub(crate) hidden_bytes: Option<u64>,
    /// The blocks of files without a name.
    pub(crate) unnamed_bytes: Option<u64>,
    /// Metadata that statfs counts as used. Below zero where it leaves out more than there is.
    pub(crate) metadata_bytes: Option<i64>,
    /// Free space that statfs does not count as free.
    pub(crate) reserved_bytes: Option<i64>,
    /// The bytes on the device of the files that the scan found, less their blocks.
    pub(crate) sharing_bytes: Option<i64>,
    /// The bytes on the device that only other subvolumes hold.
    pub(crate) elsewhere_bytes: Option<u64>,
}

/// A part of the used bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum UsedPart {
    /// The blocks of all entries that a scan from the mount point reaches.
    Reached,
    /// The blocks of files without a name: deleted, but open in a process.
    DeletedOpen,
    /// The blocks of entries below a directory that another mount covers.
    HiddenByMounts,
    /// Metadata that counts as used. Below zero where the kernel leaves out more than there
    /// is, as it can on an ext4 with clusters.
    Metadata,
    /// Space that the file system keeps back: it counts as used, and nothing lies there.
    Reserved,
    /// The saving by compression and shared extents, below zero; above zero if files
    /// hold on to more than their content.
    Sharing,
    /// The data that only other subvolumes and snapshots hold, in which the scan met no
    /// file: those outside all mounts, and deleted ones that are still being cleaned up.
    OtherSubvolumes,
    /// The rest: unreadable directories, changes meanwhile, and all that is not known.
    Remainder,
}

impl UsedPart {
    /// Its name in rows and in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            UsedPart::Reached => "reached",
            UsedPart::DeletedOpen => "deleted-open",
            UsedPart::HiddenByMounts => "hidden-by-mounts",
            UsedPart::Metadata => "metadata",
            UsedPart::Reserved => "kept-back",
            UsedPart::Sharing => "compression-and-sharing",
            UsedPart::OtherSubvolumes => "other-subvolumes",
            UsedPart::Remainder => "remainder",
        }
    }

    /// Its name for people. A new part must have one of its own, and not the remainder's.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            UsedPart::Reached => "reached by the scan",
            UsedPart::DeletedOpen => "deleted but still open",
            UsedPart::HiddenByMounts => "hidden below mount points",
            UsedPart::Metadata => "metadata",
            UsedPart::Reserved => "kept back by the file system",
            UsedPart::Sharing => "compression and shared extents",
            UsedPart::OtherSubvolumes => "held by other subvolumes and snapshots",
            UsedPart::Remainder => "remainder",
        }
    }
}

/// The used bytes less all known parts.
pub(crate) fn remainder(facts: &Facts) -> i64 {
    parts(facts).last().map_or(0, |(_, bytes)| *bytes)
}

/// The known parts with their bytes, in the order of the table. They add up to the used
/// bytes, because the last one is the remainder.
pub(crate) fn parts(facts: &Facts) -> Vec<(UsedPart, i64)> {
    let signed = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
    let known = [
        (UsedPart::Reached, facts.reached_bytes.map(signed)),
        (UsedPart::DeletedOpen, facts.unnamed_bytes.map(signed)),
        (UsedPart::HiddenByMounts, facts.hidden_bytes.map(signed)),
        (UsedPart::Metadata, facts.metadata_bytes),
        (UsedPart::Reserved, facts.reserved_bytes),
        (UsedPart::Sharing, facts.sharing_bytes),
        (UsedPart::OtherSubvolumes, facts.elsewhere_bytes.map(signed)),
    ];
    let mut parts: Vec<_> = known
        .into_iter()
        .filter_map(|(part, bytes)| Some((part, bytes?)))
        .collect();
    let sum: i128 = parts.iter().map(|(_, bytes)| i128::from(*bytes)).sum();
    let rest = i128::from(facts.used_bytes) - sum;
    let limits = i128::from(i64::MIN)..=i128::from(i64::MAX);
    let rest = rest.clamp(*limits.start(), *limits.end()) as i64;
    parts.push((UsedPart::Remainder, rest));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_add_up() {
        let facts = Facts {
            used_bytes: 200_617_984,
            reached_bytes: Some(137_695_232),
            unnamed_bytes: Some(23 << 20),
            hidden_bytes: Some(37 << 20),
            sharing_bytes: Some(-4096),
            ..Facts::default()
        };
        let parts = parts(&facts);
        let names: Vec<_> = parts.iter().map(|(part, _)| part.name()).collect();
        let expected = [
            "reached",
            "deleted-open",
            "hidden-by-mounts",
            "compression-and-sharing",
            "remainder",
        ];
        assert_eq!(names, expected);
        assert_eq!(parts[4].1, 200_617_984 - 137_695_232 - (60 << 20) + 4096);
        assert_eq!(parts.iter().map(|part| part.1).sum::<i64>(), 200_617_984);
    }

    #[test]
    fn what_is_unknown_is_absent_and_in_the_remainder() {
        let facts = Facts {
            used_bytes: 10,
            reached_bytes: Some(12),
            ..Facts::default()
        };
        let expected = [(UsedPart::Reached, 12), (UsedPart::Remainder, -2)];
        assert_eq!(parts(&facts), expected);
    }

    #[test]
    fn no_number_is_too_large() {
        let facts = Facts {
            used_bytes: u64::MAX,
            reached_bytes: Some(0),
            ..Facts::default()
        };
        assert_eq!(parts(&facts)[1], (UsedPart::Remainder, i64::MAX));
    }
}
