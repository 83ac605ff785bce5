// SPDX-License-Identifier: MIT OR Apache-2.0

//! The plan of a scan in words: what was chosen, what was not, and why.

use crate::answer::plan_text::PlanText;

/// The lines of the plan.
pub(crate) fn lines(plan: &PlanText) -> Vec<String> {
    let mut lines = vec![
        "statwalk: the plan".to_owned(),
        format!("  source   {}", plan.source),
        format!("  order    {}", plan.order),
        format!(
            "  workers  {} started of at most {}",
            plan.workers, plan.workers_max
        ),
        format!(
            "  open     at most {} directories at a time",
            plan.open_dirs_max
        ),
        format!("  fields   {}", plan.fields.join(", ")),
    ];
    let reasons = plan.why.iter().enumerate();
    lines.extend(reasons.map(|(index, why)| {
        let head = if index == 0 { "because" } else { "" };
        format!("  {head:<7}  {}", why.text)
    }));
    lines
}
