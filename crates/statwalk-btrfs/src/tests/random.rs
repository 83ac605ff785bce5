// SPDX-License-Identifier: MIT OR Apache-2.0

//! Whatever the bytes are, the decoders come to an end.

use proptest::prelude::*;

use crate::dir_item::dir_items;
use crate::extent_data::ExtentData;
use crate::extent_item::ExtentItem;
use crate::inode_item::InodeItem;
use crate::inode_ref::{inode_extrefs, inode_refs};
use crate::root_item::RootItem;
use crate::root_ref::RootRef;
use crate::search_items::search_items;

/// Small numbers are likely, because lengths are.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![3 => Just(0u8), 2 => 0..20u8, 1 => any::<u8>()];
    proptest::collection::vec(byte, 0..600)
}

proptest! {
    #[test]
    fn any_bytes_are_items_or_malformed(bytes in bytes(), count in any::<u32>()) {
        // Each item takes some bytes, and an error is the last.
        let bound = bytes.len() + 1;
        let items: Vec<_> = search_items(&bytes, count).collect();
        prop_assert!(items.len() <= bound && items.len() as u64 <= u64::from(count));
        let errors = items.iter().filter(|item| item.is_err()).count();
        prop_assert!(errors <= 1);
        prop_assert!(inode_refs(&bytes, 7).count() <= bound);
        prop_assert!(inode_extrefs(&bytes).count() <= bound);
        prop_assert!(dir_items(&bytes).count() <= bound);
        if let Ok(inode) = InodeItem::parse(&bytes) {
            let _ = (inode.blocks(0), inode.blocks(4096), inode.blocks(u32::MAX), inode.device());
        }
        let _ = ExtentData::parse(&bytes);
        let _ = ExtentItem::parse(&bytes);
        let _ = RootItem::parse(&bytes);
        let _ = RootRef::parse(&bytes);
    }

    #[test]
    fn blocks_of_any_size_do_not_overflow(data in any::<u64>(), sector in any::<u32>()) {
        let mut item = [0; 160];
        item[24..32].copy_from_slice(&data.to_le_bytes());
        let inode = InodeItem::parse(&item).unwrap();
        prop_assert_eq!(inode.data_bytes, data);
        prop_assert!(inode.blocks(sector) >= data / 512);
    }
}
