// SPDX-License-Identifier: MIT OR Apache-2.0

//! The one rule of all attacks: an answer that says that it is complete is exact,
//! and one that is not exact says so, by `complete`, by `errors` and by its exit
//! status.

use std::collections::BTreeSet;

use serde_json::Value;
use statwalk_testkit::{Model, Totals};

use crate::program::Ended;
use statwalk_testkit::attack::Round;

/// The right answer about a tree that is the only root.
pub(crate) struct Sound {
    pub(crate) totals: Totals,
    /// Paths below the root, without the root.
    pub(crate) paths: BTreeSet<Vec<u8>>,
}

/// In which form the program answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum View {
    /// Names and sizes.
    Sizes,
    /// Names and types.
    Count,
    /// Every path.
    Find,
}

impl View {
    pub(crate) const ALL: [View; 3] = [View::Sizes, View::Count, View::Find];

    pub(crate) fn arguments(self) -> &'static [&'static str] {
        match self {
            View::Sizes => &["--json"],
            View::Count => &["--count", "--json"],
            View::Find => &["find", "-0"],
        }
    }
}

/// How an answer was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Exact and said to be complete.
    Exact,
    /// Said to be incomplete.
    Incomplete,
    /// There is none, or it is wrong.
    None,
}

impl Sound {
    pub(crate) fn of(model: &Model) -> Sound {
        let paths = model.entries().into_iter().map(|(path, _)| path);
        Sound {
            totals: model.totals(),
            paths: paths.filter(|path| !path.is_empty()).collect(),
        }
    }

    /// Judges an answer about the root `root`. `codes` are the exit statuses that
    /// are right; with 2 a message must say why.
    pub(crate) fn judge(
        &self,
        round: &mut Round,
        ended: &Ended,
        view: View,
        root: &[u8],
        codes: &[i32],
    ) -> Verdict {
        if !ended.check_end(round, codes) {
            return Verdict::None;
        }
        if ended.code() == Some(2) {
            let is_told = !ended.stderr.is_empty();
            round.check(is_told, || format!("2 without a reason: {}", ended.told()));
            return Verdict::None;
        }
        match view {
            View::Find => self.judge_paths(round, ended, root),
            View::Sizes | View::Count => self.judge_json(round, ended, view),
        }
    }

    fn judge_json(&self, round: &mut Round, ended: &Ended, view: View) -> Verdict {
        let document = match ended.json() {
            Ok(document) => document,
            Err(error) => {
                round.check(false, || format!("{error}: {}", ended.told()));
                return Verdict::None;
            }
        };
        let mut faults = faults_of(&document, ended.code());
        let is_complete = document["complete"] == true;
        let root = &document["roots"][0];
        let expected = [
            ("entries", u128::from(self.totals.entries)),
            ("files", u128::from(self.totals.files)),
            ("dirs", u128::from(self.totals.dirs)),
            ("symlinks", u128::from(self.totals.symlinks)),
            ("others", u128::from(self.totals.others)),
            ("file_size_bytes", self.totals.file_size_bytes),
            ("apparent_bytes", self.totals.apparent_bytes),
            ("extra_hard_links", u128::from(self.totals.extra_hard_links)),
        ];
        let compared = match view {
            View::Sizes => &expected[..],
            _ => &expected[..5],
        };
        for &(field, expected) in compared {
            let found = root[field].as_u64().map(u128::from);
            // Absent where the root itself could not be read.
            let found = if is_complete {
                found
            } else {
                found.or(Some(0))
            };
            let is_lower_bound = found.is_some_and(|found| found <= expected);
            // What has no known type is counted among the others.
            if found != Some(expected) && (is_complete || field != "others" && !is_lower_bound) {
                faults.push(format!("{field} {found:?} and not {expected}"));
            }
        }
        round.check(faults.is_empty(), || {
            format!("{}: {}", faults.join(", "), ended.told())
        });
        match is_complete {
            true => Verdict::Exact,
            false => Verdict::Incomplete,
        }
    }

    fn judge_paths(&self, round: &mut Round, ended: &Ended, root: &[u8]) -> Verdict {
        let mut found = BTreeSet::new();
        let mut faults = Vec::new();
        for row in ended.rows() {
            let below = row
                .strip_prefix(root)
                .and_then(|row| row.strip_prefix(b"/"));
            let Some(path) = below.filter(|path| self.paths.contains(*path)) else {
                faults.push(format!("'{}' is not there", row.escape_ascii()));
                continue;
            };
            if !found.insert(path) {
                faults.push(format!("'{}' twice", row.escape_ascii()));
            }
        }
        let missing = self.paths.len() - found.len();
        let is_complete = ended.code() == Some(0);
        if is_complete && missing > 0 {
            faults.push(format!("{missing} paths missing without a word"));
        }
        if !is_complete && ended.stderr.is_empty() {
            faults.push("an error that nobody is told".to_owned());
        }
        round.check(faults.is_empty(), || {
            format!("{}: {}", faults.join(", "), ended.told())
        });
        match is_complete {
            true => Verdict::Exact,
            false => Verdict::Incomplete,
        }
    }
}

/// In what an answer contradicts itself, whatever the tree.
pub(crate) fn faults_of(document: &Value, code: Option<i32>) -> Vec<String> {
    let mut faults = Vec::new();
    let is_complete = document["complete"] == true;
    if is_complete != (code == Some(0)) {
        faults.push(format!("complete {is_complete} and exit status {code:?}"));
    }
    let roots = document["roots"].as_array().map_or(&[][..], Vec::as_slice);
    if roots.is_empty() {
        faults.push("no roots".to_owned());
    }
    let errors = document["errors"].as_array().map_or(0, Vec::len) as u64;
    let sum = |field: &str| -> u64 { roots.iter().filter_map(|root| root[field].as_u64()).sum() };
    let (unreadable, changed) = (sum("unreadable"), sum("changed_dirs"));
    if errors < unreadable.min(1_000) || is_complete && errors + unreadable + changed > 0 {
        faults.push(format!(
            "complete {is_complete}, {unreadable} unreadable, {changed} changed, {errors} errors"
        ));
    }
    if !is_complete && errors + changed == 0 && document["interrupted"] != true {
        faults.push("incomplete without a cause".to_owned());
    }
    for root in roots.iter().filter(|root| root["missing"] != true) {
        let parts = ["files", "dirs", "symlinks", "others"].map(|field| root[field].as_u64());
        let whole: Option<u64> = parts
            .into_iter()
            .try_fold(0_u64, |sum, part| Some(sum + part?));
        if whole.is_none() || whole != root["entries"].as_u64() {
            faults.push(format!("{parts:?} are not {}", root["entries"]));
        }
    }
    faults
}

/// The paths of all errors, and their numbers.
pub(crate) fn errors_of(document: &Value) -> Vec<(String, i64)> {
    let errors = document["errors"].as_array().cloned().unwrap_or_default();
    let of_error = |error: &Value| {
        let path = error["path"].as_str().unwrap_or_default().to_owned();
        (path, error["errno"].as_i64().unwrap_or_default())
    };
    errors.iter().map(of_error).collect()
}
