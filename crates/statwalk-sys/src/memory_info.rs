// SPDX-License-Identifier: MIT OR Apache-2.0

//! The memory of the machine at one moment.
//!
//! Format: proc_meminfo(5).

/// The text of `/proc/meminfo`.
#[derive(Debug)]
pub struct MemoryInfo {
    text: String,
}

impl MemoryInfo {
    /// The numbers of this moment; absent where `/proc` is not mounted.
    #[must_use]
    pub fn read() -> Option<MemoryInfo> {
        let text = std::fs::read_to_string("/proc/meminfo").ok()?;
        Some(MemoryInfo { text })
    }

    /// A number by its name, in KiB; absent where the kernel has none of that name.
    #[must_use]
    pub fn kib(&self, name: &str) -> Option<u64> {
        let rest = self.text.lines().find_map(|line| {
            let rest = line.strip_prefix(name)?;
            rest.strip_prefix(':')
        })?;
        rest.trim().strip_suffix(" kB")?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_found_by_its_whole_name() {
        let text =
            "MemTotal:  100 kB\nWritebackTmp: 3 kB\nWriteback:     7 kB\nHugePages_Total:    2\n";
        let info = MemoryInfo {
            text: text.to_owned(),
        };
        assert_eq!(info.kib("MemTotal"), Some(100));
        assert_eq!(info.kib("Writeback"), Some(7));
        assert_eq!(info.kib("Write"), None);
        // It counts pages.
        assert_eq!(info.kib("HugePages_Total"), None);
    }

    #[test]
    fn this_machine_has_memory() {
        let info = MemoryInfo::read().unwrap();
        let kib = |name| info.kib(name).unwrap();
        assert!(kib("MemAvailable") <= kib("MemTotal"));
        assert!(kib("Dirty") + kib("Writeback") < kib("MemTotal"));
    }
}
