//! An item of the review lane: what it says, and why it waits.

use mmw_core::wire::LaneItemView;

use super::Page;
use super::clean::clean;
use super::style::{DIM, PLAIN, WARN};

/// Shows an item of the review lane.
pub(crate) fn lane_item(page: &mut Page, item: &LaneItemView) {
    let mut parts = vec![item.classification.clone(), item.workspace.clone()];
    parts.extend(item.fact_key.clone());
    parts.extend(item.source_id.clone());
    parts.push(page.age(item.created_at));
    parts.push(format!("expires {}", page.age(item.expires_at)));
    let kind = clean(&item.kind);
    page.line(format!(
        "{WARN}{kind}{WARN:#}  {DIM}{}{DIM:#}",
        clean(&parts.join(" · "))
    ));
    page.body("  ", PLAIN, &item.content);
    if let Some(why) = &item.why_durable {
        page.remark("  ", "worth keeping: ", why);
    }
    if let Some(rule) = &item.rule {
        let reason = item.reason.as_deref().unwrap_or_default();
        page.remark("  ", "! ", &format!("{rule}: {reason}"));
    }
    if !item.evidence.is_empty() {
        page.remark("  ", "evidence: ", &item.evidence.join(", "));
    }
    page.remark("  ", "", &item.candidate_id);
}
