// SPDX-License-Identifier: MIT OR Apache-2.0

//! The files of a tree in groups, by what `stats` groups them by, in one pass.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::hash::Hash;

use foldhash::fast::RandomState;
use statwalk_core::{
    Category, DirId, Endings, Extension, FileType, GroupKey, Grouping, Node, SizeHistogram, Tree,
    TreeFile,
};
use statwalk_report::{AgeGroup, Ending, SizeGroup, Sums, Tally};

use super::group_sums::GroupSums;
use super::tallies::Tallies;
use super::tree::place_or_none;
use crate::output::rows::roots;
use crate::output::scanned_tree::{bytes_of_directory, bytes_of_file};

const SECOND_NS: i64 = 1_000_000_000;

/// How many endings have a group of their own.
const ENDINGS_MAX: usize = 40;

pub(super) const NOT_FILES: &str = "directories, links and others";

/// The category and the ending of a file.
type Key = (Category, Extension);

/// The sums of all groups.
pub(super) struct Survey {
    now_s: i64,
    pub(super) owners: GroupSums,
    /// With [`Category::number`] and the numbers of owners as keys.
    pub(super) tallies: Tallies,
    /// Fewer than 2^32 groups fit into memory.
    groups: HashMap<Key, u32, RandomState>,
    /// The sums of groups, by their numbers.
    sums: Vec<(Key, Sums)>,
    of_endings: Endings<u32>,
    /// The number of the group of each file, by the number of the file. A number without a
    /// file has that of the first group, which can be missing.
    pub(super) of_files: Vec<u32>,
    /// Finer groups of files than the page has; unknown are those whose attributes or times are
    /// not known.
    ages: GroupSums,
    sizes: GroupSums,
    histogram: SizeHistogram,
    not_files: Sums,
}

/// A step of the way through a tree.
enum Step<'a> {
    Enter(Node<'a>),
    /// All below this directory was seen.
    Leave(Option<DirId>),
}

impl Survey {
    /// The key of what is no file, in [`Tallies`].
    const NO_CATEGORY: u8 = u8::MAX;

    /// Goes through all entries of a tree. Ages count from a moment.
    pub(super) fn of(tree: &Tree, now_ns: i64) -> Survey {
        let mut survey = Survey {
            now_s: now_ns.div_euclid(SECOND_NS),
            owners: GroupSums::new(Grouping::Owner),
            tallies: Tallies::default(),
            groups: HashMap::default(),
            sums: Vec::new(),
            of_endings: Endings::default(),
            of_files: vec![0; tree.file_number_end()],
            ages: GroupSums::new(Grouping::Age),
            sizes: GroupSums::new(Grouping::Size),
            histogram: SizeHistogram::default(),
            not_files: Sums::default(),
        };
        // Those of the directories above the step, and empty ones.
        let (mut open, mut spare) = (Vec::<Tally>::new(), Vec::<Tally>::new());
        let mut waiting = Vec::new();
        for (_, root) in roots(tree) {
            match root.as_file() {
                Some(file) => {
                    survey.add(&file, &mut Tally::default());
                }
                None => waiting.push(Step::Enter(root)),
            }
        }
        while let Some(step) = waiting.pop() {
            match step {
                Step::Enter(directory) => {
                    let mut tally = spare.pop().unwrap_or_default();
                    waiting.push(Step::Leave(directory.dir_id()));
                    let mut own = bytes_of_directory(&directory);
                    for child in directory.children() {
                        own = own.saturating_sub(bytes_of_directory(&child));
                        waiting.push(Step::Enter(child));
                    }
                    directory.for_each_file(|file| {
                        own = own.saturating_sub(survey.add(&file, &mut tally));
                    });
                    survey.add_directory(&directory, own, &mut tally);
                    open.push(tally);
                }
                Step::Leave(directory) => {
                    let mut tally = open.pop().expect("it was entered");
                    if let Some(directory) = directory {
                        survey.tallies.keep(directory, &tally);
                    }
                    if let Some(above) = open.last_mut() {
                        above.absorb(&mut tally);
                    }
                    tally.clear();
                    spare.push(tally);
                }
            }
        }
        survey
    }

    /// Adds a directory, which has so many bytes itself.
    fn add_directory(&mut self, directory: &Node<'_>, own: u128, tally: &mut Tally) {
        let sums = Sums {
            allocated_bytes: own,
            apparent_bytes: 0,
            entries: 1,
            newest_s: None,
        };
        self.not_files.add(sums);
        let owner = self.owners.add(owner(directory.uid()), sums);
        tally.add_entry(Self::NO_CATEGORY, owner, own);
    }

    /// Adds an entry that is no directory, and returns its bytes on disk.
    fn add(&mut self, file: &TreeFile<'_>, tally: &mut Tally) -> u128 {
        let (allocated_bytes, apparent_bytes) = bytes_of_file(file);
        let sums = Sums {
            allocated_bytes: allocated_bytes.into(),
            apparent_bytes: apparent_bytes.into(),
            entries: 1,
            newest_s: file.mtime_ns().map(|ns| ns.div_euclid(SECOND_NS)),
        };
        let owner = self.owners.add(owner(file.uid()), sums);
        if file.kind() != FileType::File {
            tally.add_entry(Self::NO_CATEGORY, owner, sums.allocated_bytes);
            self.not_files.add(sums);
            return sums.allocated_bytes;
        }
        let group = self.group(file.name());
        let ((category, _), sum) = &mut self.sums[group as usize];
        tally.add_entry(category.number(), owner, sums.allocated_bytes);
        sum.add(sums);
        if let Some(number) = file.node().file_number() {
            self.of_files[number] = group;
        }
        let is_known = !file.is_incomplete();
        let age = match sums.newest_s.filter(|_| is_known) {
            Some(time_s) => self.age(time_s),
            None => GroupKey::Unknown,
        };
        self.ages.add(age, sums);
        let mut size = GroupKey::Unknown;
        if is_known {
            // That of the file, also under a name where its bytes do not count.
            let size_bytes = file.apparent_bytes().unwrap_or(0);
            size = GroupKey::of_size(size_bytes);
            if !file.is_extra_link() {
                self.histogram.add(size_bytes);
            }
        }
        self.sizes.add(size, sums);
        sums.allocated_bytes
    }

    fn group(&mut self, name: &[u8]) -> u32 {
        let (groups, sums) = (&mut self.groups, &mut self.sums);
        self.of_endings.of_name(name, |category, extension| {
            let key = (category, extension);
            *groups.entry(key).or_insert_with(|| {
                sums.push((key, Sums::default()));
                (sums.len() - 1) as u32
            })
        })
    }

    /// The page has times in whole seconds, and groups by them.
    fn age(&self, time_s: i64) -> GroupKey {
        let [now_ns, time_ns] = [self.now_s, time_s].map(|s| s.saturating_mul(SECOND_NS));
        GroupKey::of_age(now_ns, time_ns)
    }

    /// The sums of all groups with the same part of their keys, the largest first.
    fn sorted<P: Copy + Hash + Ord>(&self, part: impl Fn(Key) -> P) -> Vec<(P, Sums)> {
        let mut all = HashMap::<P, Sums>::new();
        for &(key, sums) in &self.sums {
            all.entry(part(key)).or_default().add(sums);
        }
        let mut all: Vec<_> = all.into_iter().collect();
        all.sort_unstable_by_key(|&(part, sums)| (Reverse(sums.allocated_bytes), part));
        all
    }

    /// The categories, the largest first, and the sums of what is no file.
    pub(super) fn categories(&self) -> (Vec<(Category, Sums)>, Sums) {
        (self.sorted(|(category, _)| category), self.not_files)
    }

    /// The places of the category and of the ending of each group, by the number of the
    /// group.
    pub(super) fn places_of_groups(
        &self,
        categories: &[(Category, u8)],
        endings: &[(Extension, u8)],
    ) -> Vec<(u8, u8)> {
        let places = |&((category, ending), _): &(Key, Sums)| {
            let category = place_or_none(categories, category);
            (category, place_or_none(endings, ending))
        };
        self.sums.iter().map(places).collect()
    }

    /// The largest endings, and the groups of all.
    pub(super) fn endings(&self) -> (Vec<Extension>, Vec<Ending>) {
        let mut all = self.sorted(|(_, ending)| ending);
        let rest = all.split_off(all.len().min(ENDINGS_MAX));
        let named = |&(key, sums): &(Extension, Sums)| {
            let text = String::from_utf8(key.to_vec()).expect("an extension is ASCII");
            Ending::Named(text, sums)
        };
        let mut groups: Vec<Ending> = all.iter().map(named).collect();
        if !rest.is_empty() {
            let mut sum = Sums::default();
            rest.iter().for_each(|&(_, sums)| sum.add(sums));
            groups.push(Ending::Rest(sum));
        }
        groups.push(Ending::NotFiles(self.not_files));
        (all.into_iter().map(|(key, _)| key).collect(), groups)
    }

    /// The groups of ages, the youngest first.
    pub(super) fn ages(&self) -> Vec<AgeGroup> {
        // The second after the last of a group is the first of the younger one.
        let mut to_s = None;
        let groups = GroupKey::age_classes().map(|key| {
            let from_s = match key {
                GroupKey::ModifiedWithin(Some(u64::MAX)) => None,
                GroupKey::ModifiedWithin(Some(limit_s)) => self.now_s.checked_sub_unsigned(limit_s),
                _ => self.now_s.checked_add(1),
            };
            AgeGroup {
                label: key.label(),
                from_s,
                to_s: std::mem::replace(&mut to_s, from_s),
                is_not_files: false,
                sums: self.ages.of_class(key),
            }
        });
        let mut groups: Vec<_> = groups.collect();
        let (label, sums) = self.rest(&self.ages, "time");
        groups.push(AgeGroup {
            label,
            from_s: None,
            to_s: None,
            is_not_files: true,
            sums,
        });
        groups
    }

    /// The groups of sizes that have files, the smallest first.
    pub(super) fn sizes(&self) -> Vec<SizeGroup> {
        let mut from_bytes = Some(0);
        let groups = GroupKey::size_classes().map(|key| {
            let to_bytes = match key {
                GroupKey::SizeBelowPower(power) => 1_u64.checked_shl(power),
                _ => None,
            };
            SizeGroup {
                label: key.label(),
                from_bytes: std::mem::replace(&mut from_bytes, to_bytes),
                to_bytes,
                sums: self.sizes.of_class(key),
            }
        });
        let mut groups: Vec<_> = groups.filter(|group| group.sums.entries > 0).collect();
        let (label, sums) = self.rest(&self.sizes, "size");
        groups.push(SizeGroup {
            label,
            from_bytes: None,
            to_bytes: None,
            sums,
        });
        groups
    }

    /// The words and the sum of all that is no file or has an unknown value.
    fn rest(&self, groups: &GroupSums, value: &str) -> (String, Sums) {
        let unknown = groups.of_class(GroupKey::Unknown);
        let mut sums = self.not_files;
        sums.add(unknown);
        let label = match unknown.entries {
            0 => NOT_FILES.to_owned(),
            _ => format!("{NOT_FILES}, and files of unknown {value}"),
        };
        (label, sums)
    }

    /// Pairs of a percentage and a size: so many of all files are at most as large.
    pub(super) fn percentiles(&self) -> Vec<(u8, u64)> {
        let of = |percent| Some((percent, self.histogram.percentile(percent)?));
        [50, 90, 99, 100].into_iter().filter_map(of).collect()
    }
}

/// The group of an owner.
fn owner(uid: Option<u32>) -> GroupKey {
    uid.map_or(GroupKey::Unknown, GroupKey::Owner)
}
