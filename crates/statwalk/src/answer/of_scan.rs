// SPDX-License-Identifier: MIT OR Apache-2.0

//! The way from a scan to the values of its answer: the one place that knows both.

use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use statwalk_core::RootTotals;

use crate::answer::about::{About, Root};
use crate::answer::owner_names::OwnerNames;
use crate::answer::record::Findings;
use crate::request::Request;

impl About {
    /// Takes from a scan that has ended all that an answer needs. `totals` are those of its
    /// roots; a list of entries has none.
    pub(crate) fn of_scan(
        request: &Request,
        record: impl Into<Findings>,
        totals: &[RootTotals],
    ) -> About {
        let findings = record.into();
        let roots = request.paths.iter().zip(&findings.roots).enumerate();
        About {
            origin: Arc::clone(&request.origin),
            elapsed: findings.elapsed,
            filters: request.filters.clone(),
            plan: findings.plan,
            roots: roots
                .map(|(index, (path, gaps))| Root {
                    path: path.as_os_str().as_bytes().to_vec(),
                    gaps: *gaps,
                    totals: totals.get(index).copied().unwrap_or_default(),
                })
                .collect(),
            list: request.list.clone(),
            owners: OwnerNames::default(),
            snapshot: (request.stored()).map(|stored| stored.word().as_bytes().to_vec()),
            elsewhere: None,
            gaps: findings.gaps,
        }
    }
}
