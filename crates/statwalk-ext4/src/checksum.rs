// SPDX-License-Identifier: MIT OR Apache-2.0

//! The two checksums of ext4: CRC-32C of `metadata_csum`, CRC-16 of `uninit_bg`.
//!
//! ext4 neither inverts the first nor the last state, so that the sum of one
//! structure can be the beginning of another's: `ext4_chksum`, fs/ext4/ext4.h,
//! and `crc16`, lib/crc16.c, of Linux 6.18.

/// A CRC-32C that goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crc32c(pub u32);

impl Crc32c {
    /// The beginning where there is no other sum.
    pub const NEW: Crc32c = Crc32c(!0);

    /// Returns the sum continued by these bytes.
    #[inline]
    #[must_use]
    pub fn with(self, bytes: &[u8]) -> Crc32c {
        // The crate inverts at both ends.
        Crc32c(!crc32c::crc32c_append(!self.0, bytes))
    }

    /// Returns the sum with which all sums of one inode begin: of its number and
    /// generation (`i_csum_seed`, fs/ext4/inode.c).
    #[must_use]
    pub fn of_inode(file_system_seed: u32, number: u32, generation: u32) -> Crc32c {
        Crc32c(file_system_seed)
            .with(&number.to_le_bytes())
            .with(&generation.to_le_bytes())
    }
}

/// Continues a CRC-16 (polynomial 0x8005, reflected).
#[must_use]
pub fn crc16(mut sum: u16, bytes: &[u8]) -> u16 {
    for &byte in bytes {
        sum = (sum >> 8) ^ CRC16_TABLE[usize::from((sum as u8) ^ byte)];
    }
    sum
}

const CRC16_TABLE: [u16; 256] = {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        let mut sum = index as u16;
        let mut bit = 0;
        while bit < 8 {
            sum = if sum & 1 == 1 {
                (sum >> 1) ^ 0xA001
            } else {
                sum >> 1
            };
            bit += 1;
        }
        table[index] = sum;
        index += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_the_usual_digits() {
        // The check values of CRC-32/ISCSI and CRC-16/ARC.
        assert_eq!(!Crc32c::NEW.with(b"123456789").0, 0xE306_9283);
        assert_eq!(crc16(0, b"123456789"), 0xBB3D);
    }

    #[test]
    fn parts_make_the_whole() {
        let whole = Crc32c::NEW.with(b"directory");
        assert_eq!(Crc32c::NEW.with(b"direct").with(b"ory"), whole);
        assert_eq!(crc16(crc16(!0, b"di"), b"r"), crc16(!0, b"dir"));
    }
}
