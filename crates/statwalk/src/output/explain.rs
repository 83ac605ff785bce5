// SPDX-License-Identifier: MIT OR Apache-2.0

//! The plan of a scan in words: what was chosen, what was not, and why.

use statwalk_core::Report;

use crate::failure::line;

/// Tells the plan on stderr.
pub(crate) fn tell(report: &Report) {
    for text in lines(report) {
        line(&text);
    }
}

fn lines(report: &Report) -> Vec<String> {
    let plan = &report.plan;
    let fields: Vec<&str> = plan.fields.names().collect();
    let mut lines = vec![
        "statwalk: the plan".to_owned(),
        format!("  source   {}", plan.source),
        format!("  order    {}", plan.order),
        format!(
            "  workers  {} started of at most {}",
            report.workers, plan.workers_max
        ),
        format!(
            "  open     at most {} directories at a time",
            plan.open_dirs_max
        ),
        format!("  fields   {}", fields.join(", ")),
    ];
    let reasons = plan.why.iter().enumerate();
    lines.extend(reasons.map(|(index, why)| {
        let head = if index == 0 { "because" } else { "" };
        format!("  {head:<7}  {why}")
    }));
    lines
}
