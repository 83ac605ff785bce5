// SPDX-License-Identifier: MIT OR Apache-2.0

//! Any bytes as the answer to a search, and as each of the items in it.

#![no_main]

use libfuzzer_sys::fuzz_target;
use statwalk_btrfs::dir_item::dir_items;
use statwalk_btrfs::extent_data::ExtentData;
use statwalk_btrfs::extent_item::ExtentItem;
use statwalk_btrfs::inode_item::InodeItem;
use statwalk_btrfs::inode_ref::{inode_extrefs, inode_refs};
use statwalk_btrfs::root_item::RootItem;
use statwalk_btrfs::root_ref::RootRef;
use statwalk_btrfs::search_items::search_items;

fuzz_target!(|bytes: &[u8]| {
    let mut taken = 0;
    for item in search_items(bytes, u32::MAX).flatten() {
        taken += 32 + item.bytes.len();
        decode(item.bytes);
    }
    assert!(taken <= bytes.len());
    decode(bytes);
});

fn decode(bytes: &[u8]) {
    let names = dir_items(bytes).flatten().map(|entry| entry.name.len());
    assert!(names.sum::<usize>() <= bytes.len());
    let names = inode_refs(bytes, 256).chain(inode_extrefs(bytes));
    names.flatten().for_each(|name| assert!(name.name.len() <= bytes.len()));
    if let Ok(inode) = InodeItem::parse(bytes) {
        let _ = (inode.blocks(4096), inode.device());
    }
    let _ = ExtentData::parse(bytes);
    let _ = ExtentItem::parse(bytes);
    let _ = RootItem::parse(bytes);
    let _ = RootRef::parse(bytes);
}
