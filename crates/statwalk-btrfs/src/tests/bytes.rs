// SPDX-License-Identifier: MIT OR Apache-2.0

//! Items written by hand.

use crate::dir_item::{DirItem, dir_items};
use crate::extent_data::{Extent, ExtentData, Place};
use crate::extent_item::ExtentItem;
use crate::inode_index::InodeIndex;
use crate::inode_item::{InodeItem, Time};
use crate::inode_ref::{InodeRef, inode_extrefs, inode_refs};
use crate::kind::{DIR_INDEX, INODE_ITEM};
use crate::root_item::{RootHistory, RootItem};
use crate::root_ref::RootRef;
use crate::search_items::{SearchItem, search_items};
use crate::{Key, Malformed};

/// The bytes of numbers, each in its own length, and of names.
macro_rules! item {
    ($($part:expr),* $(,)?) => {{
        let mut item: Vec<u8> = Vec::new();
        $(item.extend_from_slice($part.as_ref());)*
        item
    }};
}

fn le64(number: u64) -> [u8; 8] {
    number.to_le_bytes()
}

fn le32(number: u32) -> [u8; 4] {
    number.to_le_bytes()
}

fn le16(number: u16) -> [u8; 2] {
    number.to_le_bytes()
}

fn malformed<T>(what: &'static str, offset: usize) -> Result<T, Malformed> {
    Err(Malformed::at(offset, what))
}

fn header(transid: u64, objectid: u64, offset: u64, kind: u32, length: u32) -> Vec<u8> {
    item![
        transid.to_ne_bytes(),
        objectid.to_ne_bytes(),
        offset.to_ne_bytes(),
        kind.to_ne_bytes(),
        length.to_ne_bytes(),
    ]
}

#[test]
fn the_next_key_carries() {
    let key = |objectid, kind, offset| Key {
        objectid,
        kind,
        offset,
    };
    assert_eq!(key(1, 2, 3).next(), Some(key(1, 2, 4)));
    assert_eq!(key(1, 2, u64::MAX).next(), Some(key(1, 3, 0)));
    assert_eq!(key(1, 255, u64::MAX).next(), Some(key(2, 0, 0)));
    assert_eq!(Key::MAX.next(), None);
    assert!(Key::MIN < key(0, 0, 1) && key(1, 2, u64::MAX) < key(1, 3, 0));
}

#[test]
fn search_items_end_with_the_count_or_an_error() {
    let answer = item![
        header(9, 257, 0, 1, 3),
        b"abc",
        header(10, 257, u64::MAX, 12, 0),
        b"left from before",
    ];
    let key = |kind, offset| Key {
        objectid: 257,
        kind,
        offset,
    };
    let first = SearchItem {
        key: key(1, 0),
        transid: 9,
        bytes: b"abc",
    };
    let second = SearchItem {
        key: key(12, u64::MAX),
        transid: 10,
        bytes: b"",
    };
    let read = |count| search_items(&answer, count).collect::<Vec<_>>();
    assert_eq!(read(0), []);
    assert_eq!(read(2), [Ok(first), Ok(second)]);
    let cut = malformed("search item", 67);
    assert_eq!(read(u32::MAX), [Ok(first), Ok(second), cut]);

    let too_long = header(1, 2, 3, 4, 5);
    let read: Vec<_> = search_items(&too_long, 2).collect();
    assert_eq!(read, [malformed("search item", 32)]);
    let no_kind = header(1, 2, 3, 256, 0);
    let read: Vec<_> = search_items(&no_kind, 2).collect();
    assert_eq!(read, [malformed("search item", 24)]);
}

#[test]
fn an_index_finds_the_items_of_each_inode() {
    let (inode, entry) = (u32::from(INODE_ITEM), u32::from(DIR_INDEX));
    let answer = item![
        header(9, 257, 0, inode, 3),
        b"257",
        header(9, 257, 2, entry, 1),
        b"a",
        header(9, 257, 3, entry, 1),
        b"b",
        header(9, 260, 0, inode, 3),
        b"260",
        header(9, 300, 2, entry, 1),
        b"c",
    ];
    let mut index = InodeIndex::default();
    let last = index.fill(&answer, 5).unwrap().map(|key| key.objectid);
    assert_eq!(last, Some(300));
    let entries = |directory| {
        let items = index.entries_of(&answer, directory);
        items.flat_map(|item| item.bytes).collect::<Vec<_>>()
    };
    for _ in 0..2 {
        assert_eq!(index.inode_item(&answer, 257), Some(&b"257"[..]));
        assert_eq!(index.inode_item(&answer, 260), Some(&b"260"[..]));
        assert_eq!(index.inode_item(&answer, 300), None);
        assert_eq!(index.inode_item(&answer, 258), None);
        assert_eq!(
            [257, 260, 258, 300].map(entries).concat(),
            [&b'a', &b'b', &b'c']
        );
    }
    assert!(index.fill(&answer, 6).is_err());
    assert_eq!(index.fill(&answer, 0), Ok(None));
}

/// Each field has a value of its own.
fn inode_bytes() -> Vec<u8> {
    item![
        le64(11),
        le64(12),
        le64(13_000),
        le64(4097),
        le64(0xdead),
        le32(3),
        le32(1000),
        le32(1001),
        le32(0o060_644),
        le64((259 << 20) | 0x1_2345),
        le64(17),
        le64(0xdead),
        [0xaa; 32],
        le64(20),
        le32(21),
        le64(u64::MAX),
        le32(999_999_999),
        le64(24),
        le32(25),
        le64(26),
        le32(27),
    ]
}

#[test]
fn an_inode_item() {
    let bytes = inode_bytes();
    let time = |seconds, nanoseconds| Time {
        seconds,
        nanoseconds,
    };
    let inode = InodeItem {
        generation: 11,
        transid: 12,
        size_bytes: 13_000,
        data_bytes: 4097,
        link_count: 3,
        uid: 1000,
        gid: 1001,
        mode: 0o060_644,
        rdev: (259 << 20) | 0x1_2345,
        flags: 17,
        atime: time(20, 21),
        ctime: time(-1, 999_999_999),
        mtime: time(24, 25),
        btime: time(26, 27),
    };
    assert_eq!(InodeItem::parse(&bytes), Ok(inode));
    assert_eq!(inode.device(), (259, 0x1_2345));
    assert_eq!(inode.blocks(4096), 16);
    assert_eq!(inode.blocks(16_384), 32);
    let full = InodeItem {
        data_bytes: 4096,
        ..inode
    };
    assert_eq!(full.blocks(4096), 8);
    let empty = InodeItem {
        data_bytes: 0,
        ..inode
    };
    assert_eq!(empty.blocks(4096), 0);

    // A newer kernel may write more.
    assert_eq!(InodeItem::parse(&item![&bytes, b"more"]), Ok(inode));
    assert_eq!(InodeItem::parse(&bytes[..159]), malformed("INODE_ITEM", 0));
}

#[test]
fn the_names_of_an_inode() {
    let bytes = item![le64(2), le16(3), b"one", le64(300), le16(4), b"t\xffwo"];
    let one = InodeRef {
        parent: 256,
        index: 2,
        name: b"one",
    };
    let two = InodeRef {
        parent: 256,
        index: 300,
        name: b"t\xffwo",
    };
    let read = |bytes| inode_refs(bytes, 256).collect::<Vec<_>>();
    assert_eq!(read(&bytes), [Ok(one), Ok(two)]);
    assert_eq!(read(&[]), []);
    let cut = malformed("INODE_REF", 23);
    assert_eq!(read(&bytes[..26]), [Ok(one), cut]);
    assert_eq!(read(&bytes[..14]), [Ok(one), malformed("INODE_REF", 13)]);

    let bytes = item![le64(256), &bytes[..13], le64(700), &bytes[13..]];
    let read = |bytes| inode_extrefs(bytes).collect::<Vec<_>>();
    let two = InodeRef { parent: 700, ..two };
    assert_eq!(read(&bytes), [Ok(one), Ok(two)]);
    assert_eq!(read(&bytes[..7]), [malformed("INODE_EXTREF", 0)]);
}

#[test]
fn the_entries_of_a_directory() {
    let entry = |objectid, kind, name: &[u8], data: &[u8], file_type: u8| {
        item![
            le64(objectid),
            [kind],
            le64(u64::MAX),
            le64(50),
            le16(data.len() as u16),
            le16(name.len() as u16),
            [file_type],
            name,
            data,
        ]
    };
    let bytes = item![
        entry(300, 132, b"volume", b"", 2),
        entry(301, 1, b"file", b"data", 1),
    ];
    let expected = |objectid, kind, name, file_type| {
        Ok(DirItem {
            location: Key {
                objectid,
                kind,
                offset: u64::MAX,
            },
            transid: 50,
            file_type,
            name,
        })
    };
    let volume = expected(300, 132, b"volume" as &[u8], 2);
    let file = expected(301, 1, b"file", 1);
    let read = |bytes| dir_items(bytes).collect::<Vec<_>>();
    assert_eq!(read(&bytes), [volume, file]);
    let cut = malformed("DIR_ITEM", 36 + 30 + 4);
    assert_eq!(read(&bytes[..bytes.len() - 1]), [volume, cut]);
}

#[test]
fn the_places_of_a_file() {
    let head =
        |compression: u8, kind: u8| item![le64(5), le64(8192), [compression, 0], le16(0), [kind]];
    let data = |compression, place| {
        Ok(ExtentData {
            generation: 5,
            ram_bytes: 8192,
            compression,
            place,
        })
    };
    let bytes = item![head(3, 0), b"compressed"];
    let inline = Place::Inline(b"compressed");
    assert_eq!(ExtentData::parse(&bytes), data(3, inline));

    let tail = item![le64(1 << 40), le64(4096), le64(100), le64(8192)];
    let extent = Extent {
        disk_bytenr: 1 << 40,
        disk_num_bytes: 4096,
        offset_bytes: 100,
        num_bytes: 8192,
    };
    assert!(!extent.is_hole());
    let bytes = item![head(0, 1), &tail];
    assert_eq!(bytes.len(), 53);
    assert_eq!(ExtentData::parse(&bytes), data(0, Place::Regular(extent)));
    let bytes = item![head(0, 2), &tail];
    assert_eq!(
        ExtentData::parse(&bytes),
        data(0, Place::Preallocated(extent))
    );
    assert_eq!(
        ExtentData::parse(&bytes[..52]),
        malformed("EXTENT_DATA", 45)
    );
    let bytes = item![head(0, 3), &tail];
    assert_eq!(ExtentData::parse(&bytes), malformed("EXTENT_DATA", 20));
}

#[test]
fn the_uses_of_an_extent() {
    // One use follows, by reference to a file.
    let bytes = item![le64(3), le64(9), le64(1), [178; 29]];
    let item = ExtentItem {
        refs: 3,
        generation: 9,
        flags: 1,
    };
    assert_eq!(ExtentItem::parse(&bytes), Ok(item));
    assert_eq!(
        ExtentItem::parse(&bytes[..20]),
        malformed("EXTENT_ITEM", 16)
    );
}

#[test]
fn a_root() {
    let old = |generation| {
        item![
            inode_bytes(),
            le64(generation),
            le64(256),
            le64(31),
            le64(0),
            le64(32),
            le64(33),
            le64(1),
            le32(1),
            [0xaa; 17],
            [0, 2],
        ]
    };
    let new = item![
        le64(30),
        [1; 16],
        [2; 16],
        [3; 16],
        le64(34),
        le64(35),
        le64(36),
        le64(37),
        [0; 4 * 12 + 64],
    ];
    let root = RootItem {
        generation: 30,
        bytenr: 31,
        used_bytes: 32,
        last_snapshot: 33,
        flags: 1,
        ref_count: 1,
        history: Some(RootHistory {
            uuid: [1; 16],
            parent_uuid: [2; 16],
            ctransid: 34,
            otransid: 35,
        }),
    };
    let bytes = item![old(30), &new];
    assert_eq!(bytes.len(), 439);
    assert_eq!(RootItem::parse(&bytes), Ok(root));
    let shorter = RootItem {
        history: None,
        ..root
    };
    assert_eq!(RootItem::parse(&old(30)), Ok(shorter));
    // An old kernel has written it since.
    let later = RootItem {
        generation: 31,
        ..shorter
    };
    assert_eq!(RootItem::parse(&item![old(31), &new]), Ok(later));
    assert_eq!(RootItem::parse(&bytes[..238]), malformed("ROOT_ITEM", 238));
    assert_eq!(RootItem::parse(&bytes[..300]), malformed("ROOT_ITEM", 295));
}

#[test]
fn the_name_of_a_subvolume() {
    let bytes = item![le64(257), le64(4), le16(5), b"inner", b"after"];
    let inner = RootRef {
        directory: 257,
        index: 4,
        name: b"inner",
    };
    assert_eq!(RootRef::parse(&bytes), Ok(inner));
    assert_eq!(RootRef::parse(&bytes[..22]), malformed("ROOT_REF", 18));
}
