// SPDX-License-Identifier: MIT OR Apache-2.0

//! Little-endian numbers at an offset, or nothing where the bytes end.

#[inline]
pub(crate) fn u8_at(bytes: &[u8], offset: usize) -> Option<u8> {
    bytes.get(offset).copied()
}

#[inline]
pub(crate) fn u16_at(bytes: &[u8], offset: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(offset..)?.first_chunk()?))
}

#[inline]
pub(crate) fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(offset..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_nothing() {
        let bytes = [1, 2, 3, 4, 5];
        assert_eq!(u32_at(&bytes, 1), Some(0x0504_0302));
        assert_eq!(u32_at(&bytes, 2), None);
        assert_eq!(u16_at(&bytes, 4), None);
        assert_eq!(u16_at(&bytes, usize::MAX), None);
        assert_eq!(u8_at(&bytes, 4), Some(5));
    }
}
