// SPDX-License-Identifier: MIT OR Apache-2.0

//! Answers that stay true until the data changes.

use crate::answer::Answer;
use crate::list::{Query, Wanted};

/// The number of answers that are kept.
const KEPT_MAX: usize = 16;

/// The rows of the longest answer that is kept. Files whose names end with a number each
/// can have a row for each file.
const ROWS_MAX: usize = 4096;

/// The answers to slow questions about data that is final, the newest last.
///
/// They look at each item below a directory, so the second time must cost nothing.
#[derive(Debug, Default)]
pub(crate) struct KnownAnswers {
    kept: Vec<(Query, Answer)>,
}

impl KnownAnswers {
    /// Keeps an answer if its question is a slow one.
    pub(crate) fn keep(&mut self, query: Query, answer: &Answer) {
        let is_slow = matches!(
            query.rows,
            Wanted::Largest | Wanted::Named(_) | Wanted::Rebuildable | Wanted::Groups(_)
        );
        if !is_slow || answer.rows.len() > ROWS_MAX {
            return;
        }
        self.kept.retain(|(known, _)| !known.asks_as(&query));
        if self.kept.len() == KEPT_MAX {
            self.kept.remove(0);
        }
        self.kept.push((query, answer.clone()));
    }

    /// The answer to a question that asks for the same.
    pub(crate) fn to(&self, query: &Query) -> Option<Answer> {
        let mut kept = self.kept.iter();
        let (_, answer) = kept.find(|(known, _)| known.asks_as(query))?;
        Some(Answer {
            number: query.number,
            ..answer.clone()
        })
    }

    /// Forgets all: the data has changed.
    pub(crate) fn forget(&mut self) {
        self.kept.clear();
    }
}
