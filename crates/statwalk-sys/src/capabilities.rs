// SPDX-License-Identifier: MIT OR Apache-2.0

//! The capabilities of this process, and the owners that it sees.

/// The capabilities in `/proc/self/status`, a bit for each: include/uapi/linux/capability.h.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// Those that the process has now.
    pub effective: u64,
    /// Those that programs without capabilities of their own get from it.
    pub ambient: u64,
}

impl Capabilities {
    /// Reads them; none without `/proc`.
    #[must_use]
    pub fn read() -> Capabilities {
        let status = std::fs::read_to_string("/proc/self/status");
        Capabilities::parse(&status.unwrap_or_default())
    }

    fn parse(status: &str) -> Capabilities {
        let number = |name: &str| {
            let mut lines = status.lines();
            let digits = lines.find_map(|line| line.strip_prefix(name));
            digits.and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok())
        };
        Capabilities {
            effective: number("CapEff:").unwrap_or_default(),
            ambient: number("CapAmb:").unwrap_or_default(),
        }
    }
}

/// Whether this user namespace maps all owners to themselves: user_namespaces(7).
#[must_use]
pub fn has_all_ids() -> bool {
    let is_whole = |file: &str| match std::fs::read_to_string(file) {
        Ok(map) => map.split_ascii_whitespace().eq(["0", "0", "4294967295"]),
        // A kernel without user namespaces.
        Err(_) => true,
    };
    is_whole("/proc/self/uid_map") && is_whole("/proc/self/gid_map")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capabilities_are_read_from_the_status() {
        let status = "Name:\tx\nCapPrm:\t0000000000000006\nCapEff:\t0000000000000002\n\
                      CapAmb:\t0000000000000004\n";
        let expected = Capabilities {
            effective: 2,
            ambient: 4,
        };
        assert_eq!(Capabilities::parse(status), expected);
        assert_eq!(Capabilities::parse(""), Capabilities::default());
    }
}
