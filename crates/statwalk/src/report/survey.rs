// SPDX-License-Identifier: MIT OR Apache-2.0

//! The files of a tree in groups, by what `stats` groups them by, in one pass.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::hash::Hash;

use statwalk_core::{
    Category, Endings, Extension, FileType, GroupKey, Node, NodeKind, SizeHistogram, Tree,
};
use statwalk_report::{AgeGroup, Ending, NONE, SizeGroup, Sums};

use super::tree::{bytes, bytes_of_directory, place_or_none};
use crate::answer::owner_names::OwnerNames;
use crate::output::group_label::label;
use crate::output::json::{size_max, size_min};
use crate::output::rows::roots;

const SECOND_NS: i64 = 1_000_000_000;

/// How many endings have a group of their own.
const ENDINGS_MAX: usize = 40;

/// The limits of ages, and the future.
const AGES: usize = GroupKey::AGE_LIMITS_S.len() + 1;

/// A group for each power of two, and one of empty files.
const SIZES: usize = u64::BITS as usize + 1;

const NOT_FILES: &str = "directories, links and others";

/// The sums of groups by their keys.
struct Groups<K> {
    /// Fewer than 2^32 groups fit into memory.
    numbers: HashMap<K, u32>,
    sums: Vec<(K, Sums)>,
}

impl<K: Copy + Hash + Ord> Groups<K> {
    fn new() -> Groups<K> {
        Groups {
            numbers: HashMap::new(),
            sums: Vec::new(),
        }
    }

    /// The number of the group of a key.
    fn number(&mut self, key: K) -> u32 {
        let next = self.sums.len();
        let number = *self.numbers.entry(key).or_insert(next as u32);
        if number as usize == next {
            self.sums.push((key, Sums::default()));
        }
        number
    }

    fn add(&mut self, number: u32, sums: Sums) {
        add(&mut self.sums[number as usize].1, sums);
    }

    /// The largest first.
    fn sorted(&self) -> Vec<(K, Sums)> {
        let mut all = self.sums.clone();
        all.sort_unstable_by_key(|&(key, sums)| (Reverse(sums.allocated_bytes), key));
        all
    }

    /// The places of all groups, by their numbers.
    fn places(&self, places: &[(K, u8)]) -> Vec<u8> {
        let keys = self.sums.iter().map(|&(key, _)| key);
        keys.map(|key| place_or_none(places, key)).collect()
    }
}

/// The sums of all groups.
pub(super) struct Survey {
    now_s: i64,
    categories: Groups<Category>,
    endings: Groups<Extension>,
    /// The numbers of both groups.
    of_endings: Endings<(u32, u32)>,
    /// The same of each file, by the number of the file.
    of_files: Vec<(u32, u32)>,
    /// The future is the first.
    ages: [Sums; AGES],
    /// Files whose attributes are not known, or whose times do not fit.
    no_age: Sums,
    no_size: Sums,
    sizes: [Sums; SIZES],
    histogram: SizeHistogram,
    not_files: Sums,
}

impl Survey {
    /// Goes through all entries of a tree. Ages count from a moment.
    pub(super) fn of(tree: &Tree, now_ns: i64) -> Survey {
        let mut survey = Survey {
            now_s: now_ns.div_euclid(SECOND_NS),
            categories: Groups::new(),
            endings: Groups::new(),
            of_endings: Endings::default(),
            of_files: vec![(0, 0); tree.file_number_end()],
            ages: [Sums::default(); AGES],
            no_age: Sums::default(),
            no_size: Sums::default(),
            sizes: [Sums::default(); SIZES],
            histogram: SizeHistogram::default(),
            not_files: Sums::default(),
        };
        let mut waiting: Vec<Node<'_>> = Vec::new();
        for (_, root) in roots(tree) {
            if root.is_dir() {
                waiting.push(root);
            } else {
                survey.add(&root);
            }
        }
        while let Some(directory) = waiting.pop() {
            let mut own = bytes_of_directory(&directory);
            for child in directory.children() {
                own = own.saturating_sub(bytes_of_directory(&child));
                waiting.push(child);
            }
            for file in directory.files() {
                own = own.saturating_sub(survey.add(&file));
            }
            survey.not_files.allocated_bytes += own;
            survey.not_files.entries += 1;
        }
        survey
    }

    /// Adds an entry that is no directory, and returns its bytes on disk.
    fn add(&mut self, node: &Node<'_>) -> u128 {
        let (allocated_bytes, apparent_bytes) = bytes(node);
        let sums = Sums {
            allocated_bytes,
            apparent_bytes,
            entries: 1,
        };
        if node.kind() != NodeKind::Other(FileType::File) {
            add(&mut self.not_files, sums);
            return allocated_bytes;
        }
        let (categories, endings) = (&mut self.categories, &mut self.endings);
        let new = |category, extension| (categories.number(category), endings.number(extension));
        let (category, ending) = self.of_endings.of_name(node.name(), new);
        self.categories.add(category, sums);
        self.endings.add(ending, sums);
        if let Some(number) = node.file_number() {
            self.of_files[number] = (category, ending);
        }
        let is_known = !node.is_incomplete();
        let age = match node.newest_mtime_ns().filter(|_| is_known) {
            Some(ns) => &mut self.ages[self.age(ns.div_euclid(SECOND_NS))],
            None => &mut self.no_age,
        };
        add(age, sums);
        // That of the file, also under a name where its bytes do not count.
        let size_bytes = u64::try_from(node.apparent_bytes().unwrap_or(0)).unwrap_or(u64::MAX);
        match is_known {
            true => {
                let power = u64::BITS - size_bytes.leading_zeros();
                add(&mut self.sizes[power as usize], sums);
                if !node.is_extra_link() {
                    self.histogram.add(size_bytes);
                }
            }
            false => add(&mut self.no_size, sums),
        }
        allocated_bytes
    }

    /// The page has times in whole seconds, and groups by them.
    fn age(&self, time_s: i64) -> usize {
        let Ok(age_s) = u64::try_from(i128::from(self.now_s) - i128::from(time_s)) else {
            return 0;
        };
        let limits = GroupKey::AGE_LIMITS_S;
        1 + limits.partition_point(|&limit_s| limit_s < age_s)
    }

    /// The categories, the largest first, and the sums of what is no file.
    pub(super) fn categories(&self) -> (Vec<(Category, Sums)>, Sums) {
        (self.categories.sorted(), self.not_files)
    }

    /// The places of the category and of the ending of each file, by the number of the
    /// file.
    pub(super) fn places_of_files(
        &self,
        categories: &[(Category, u8)],
        endings: &[(Extension, u8)],
    ) -> Vec<(u8, u8)> {
        let (categories, endings) = (
            self.categories.places(categories),
            self.endings.places(endings),
        );
        // Numbers without a file have the first group; a tree of directories has no group.
        let place = |places: &[u8], group: u32| places.get(group as usize).copied().unwrap_or(NONE);
        let places = |&(category, ending): &(u32, u32)| {
            (place(&categories, category), place(&endings, ending))
        };
        self.of_files.iter().map(places).collect()
    }

    /// The label of what is no file.
    pub(super) fn not_files_label(&self) -> String {
        NOT_FILES.to_owned()
    }

    /// The largest endings, and the groups of all.
    pub(super) fn endings(&self) -> (Vec<Extension>, Vec<Ending>) {
        let mut all = self.endings.sorted();
        let rest = all.split_off(all.len().min(ENDINGS_MAX));
        let named = |&(key, sums): &(Extension, Sums)| {
            let text = String::from_utf8(key.to_vec()).expect("an extension is ASCII");
            Ending::Named(text, sums)
        };
        let mut groups: Vec<Ending> = all.iter().map(named).collect();
        if !rest.is_empty() {
            let mut sum = Sums::default();
            rest.iter().for_each(|&(_, sums)| add(&mut sum, sums));
            groups.push(Ending::Rest(sum));
        }
        groups.push(Ending::NotFiles(self.not_files));
        (all.into_iter().map(|(key, _)| key).collect(), groups)
    }

    /// The groups of ages, the youngest first.
    pub(super) fn ages(&self) -> Vec<AgeGroup> {
        let limits = GroupKey::AGE_LIMITS_S;
        let keys = [None].into_iter().chain(limits.into_iter().map(Some));
        // The second after the last of a group is the first of the younger one.
        let mut to_s = None;
        let groups = keys.zip(self.ages).map(|(limit, sums)| {
            let from_s = match limit {
                None => self.now_s.checked_add(1),
                Some(limit_s) => self.now_s.checked_sub_unsigned(limit_s),
            };
            let from_s = from_s.filter(|_| limit != Some(u64::MAX));
            AgeGroup {
                label: text(&GroupKey::ModifiedWithin(limit)),
                from_s,
                to_s: std::mem::replace(&mut to_s, from_s),
                is_not_files: false,
                sums,
            }
        });
        let mut groups: Vec<_> = groups.collect();
        let mut sums = self.not_files;
        add(&mut sums, self.no_age);
        groups.push(AgeGroup {
            label: match self.no_age.entries {
                0 => NOT_FILES.to_owned(),
                _ => format!("{NOT_FILES}, and files of unknown time"),
            },
            from_s: None,
            to_s: None,
            is_not_files: true,
            sums,
        });
        groups
    }

    /// The groups of sizes that have files, the smallest first.
    pub(super) fn sizes(&self) -> Vec<SizeGroup> {
        let powers = (0..).zip(&self.sizes).filter(|(_, sums)| sums.entries > 0);
        let groups = powers.map(|(power, &sums)| SizeGroup {
            label: text(&GroupKey::SizeBelowPower(power)),
            from_bytes: Some(size_min(power)),
            to_bytes: size_max(power).checked_add(1),
            sums,
        });
        let mut groups: Vec<_> = groups.collect();
        let mut sums = self.not_files;
        add(&mut sums, self.no_size);
        groups.push(SizeGroup {
            label: match self.no_size.entries {
                0 => NOT_FILES.to_owned(),
                _ => format!("{NOT_FILES}, and files of unknown size"),
            },
            from_bytes: None,
            to_bytes: None,
            sums,
        });
        groups
    }

    /// Per cent of files, and the size that so many do not exceed.
    pub(super) fn percentiles(&self) -> Vec<(u8, u64)> {
        let of = |percent| Some((percent, self.histogram.percentile(percent)?));
        [50, 90, 99, 100].into_iter().filter_map(of).collect()
    }
}

fn add(sum: &mut Sums, more: Sums) {
    sum.allocated_bytes += more.allocated_bytes;
    sum.apparent_bytes += more.apparent_bytes;
    sum.entries += more.entries;
}

/// The label of an age or a size.
fn text(key: &GroupKey) -> String {
    String::from_utf8_lossy(&label(key, &OwnerNames::default())).into_owned()
}
