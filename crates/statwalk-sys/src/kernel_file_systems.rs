// SPDX-License-Identifier: MIT OR Apache-2.0

//! The file systems that live in the kernel alone: they show its state, and hold no data
//! of a user.
//!
//! One table for everybody who asks: a scan leaves them out, a count of inodes does
//! without them, and nothing is removed from them.

/// The number of each in `statfs.f_type`, and its name in the table of mounts.
///
/// Numbers: include/uapi/linux/magic.h and the file systems' own sources, Linux 6.18.
/// The oracle of the tests has a table of its own on purpose: with a common one, a
/// wrong number would be wrong on both sides.
const ALL: [(u64, &str); 20] = [
    (0x9fa0, "proc"),
    (0x6265_6572, "sysfs"),
    (0x0027_e0eb, "cgroup"),
    (0x6367_7270, "cgroup2"),
    (0x1cd1, "devpts"),
    (0x6462_6720, "debugfs"),
    (0x7472_6163, "tracefs"),
    (0x7363_6673, "securityfs"),
    (0xf97c_ff8c, "selinuxfs"),
    (0x4341_5d53, "smackfs"),
    (0xcafe_4a11, "bpf"),
    (0x6165_676c, "pstore"),
    (0xde5e_81e4, "efivarfs"),
    (0x6265_6570, "configfs"),
    (0x6573_5543, "fusectl"),
    (0x4249_4e4d, "binfmt_misc"),
    (0x6c6f_6f70, "binder"),
    (0x6759_6969, "rpc_pipefs"),
    (0x6e66_7364, "nfsd"),
    (0x0765_5821, "resctrl"),
];

/// Returns the name of the file system with this number; absent where it holds data.
///
/// ```
/// use statwalk_sys::kernel_file_systems;
/// assert_eq!(kernel_file_systems::name(0x9fa0), Some("proc"));
/// // ext4.
/// assert_eq!(kernel_file_systems::name(0xef53), None);
/// ```
#[must_use]
pub fn name(number: u64) -> Option<&'static str> {
    let found = ALL.iter().find(|(known, _)| *known == number);
    found.map(|(_, name)| *name)
}

/// Returns the number of the file system of this name in the table of mounts; absent where
/// it holds data.
///
/// ```
/// assert_eq!(statwalk_sys::kernel_file_systems::number("proc"), Some(0x9fa0));
/// ```
#[must_use]
pub fn number(name: &str) -> Option<u64> {
    let found = ALL.iter().find(|(_, known)| *known == name);
    found.map(|(number, _)| *number)
}

/// Returns whether the file system of this name in the table of mounts is one of them.
#[must_use]
pub fn has(name: &str) -> bool {
    number(name).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn each_has_a_number_and_a_name_of_its_own() {
        let numbers: HashSet<u64> = ALL.iter().map(|(number, _)| *number).collect();
        let names: HashSet<&str> = ALL.iter().map(|(_, name)| *name).collect();
        assert_eq!((numbers.len(), names.len()), (ALL.len(), ALL.len()));
        assert!(
            ALL.iter()
                .all(|&(magic, own)| name(magic) == Some(own) && number(own) == Some(magic))
        );
        assert!(!has("tmpfs") && !has(""));
    }
}
