// SPDX-License-Identifier: MIT OR Apache-2.0

//! Where the files of each directory are.

use super::record::FileRun;

/// The runs of files, by directory.
#[derive(Default)]
pub(super) struct FileRuns {
    runs: Vec<FileRun>,
    /// Where the runs of each [`FileRuns::DIRS`] directories begin: a search among all runs
    /// waits for memory a dozen times.
    begins: Vec<usize>,
}

impl FileRuns {
    const DIRS: usize = 16;

    pub(super) fn new(mut runs: Vec<FileRun>) -> FileRuns {
        runs.sort_unstable_by_key(|run| (run.dir, run.start));
        let mut begins = Vec::new();
        for (at, run) in runs.iter().enumerate() {
            let group = run.dir as usize / Self::DIRS;
            if begins.len() <= group {
                begins.resize(group + 1, at);
            }
        }
        FileRuns { runs, begins }
    }

    /// The runs of a directory, in the order of their numbers.
    #[inline]
    pub(super) fn of(&self, dir: u32) -> impl Iterator<Item = &FileRun> {
        let group = dir as usize / Self::DIRS;
        let begin = |group| self.begins.get(group).copied().unwrap_or(self.runs.len());
        let runs = &self.runs[begin(group)..begin(group + 1)];
        let first = runs.partition_point(|run| run.dir < dir);
        runs[first..].iter().take_while(move |run| run.dir == dir)
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.runs.capacity() * size_of::<FileRun>() + self.begins.capacity() * size_of::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_directory_has_its_own() {
        let dirs = [0, 0, 3, 15, 16, 17, 17, 17, 160, 161, 4000];
        let mut runs: Vec<FileRun> = (0..)
            .zip(dirs)
            .map(|(start, dir)| FileRun {
                start,
                count: 1,
                dir,
            })
            .collect();
        runs.reverse();
        let runs = FileRuns::new(runs);
        let asked = (0..300).chain([3999, 4000, 4001, u32::MAX]);
        for dir in asked {
            let starts: Vec<u64> = runs.of(dir).map(|run| run.start).collect();
            let wanted = (0..).zip(dirs).filter(|&(_, of)| of == dir);
            let wanted: Vec<u64> = wanted.map(|(start, _)| start).collect();
            assert_eq!(starts, wanted, "{dir}");
        }
        assert_eq!(FileRuns::default().of(7).count(), 0);
    }
}
