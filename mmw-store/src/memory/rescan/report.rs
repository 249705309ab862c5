//! What a rescan found: counts by field and rule, and ids. Never a value.

use std::collections::BTreeMap;

use mmw_core::draft::Replacement;

/// What was done with one thing that is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Touched {
    /// What it is: the id of a record or of a waiting item, or what a text belongs to.
    pub what: String,
    /// `redacted`, `withdrawn` or `reported`.
    pub done: &'static str,
    /// By which rules.
    pub rules: Vec<String>,
}

/// What a rescan came to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RescanReport {
    /// Nothing was changed: this is what would be.
    pub is_dry_run: bool,
    /// Records and items of the lane that were looked at.
    pub n_looked_at: u64,
    /// Values that were replaced, by field and rule.
    pub replaced: BTreeMap<(String, String), u64>,
    /// Records in which secrets were replaced.
    pub n_redacted: u64,
    /// Records that went to the review lane.
    pub n_withdrawn: u64,
    /// Items of the lane that were changed.
    pub n_lane_items: u64,
    /// Notes, reasons and names that were changed.
    pub n_texts: u64,
    /// Names that hold a secret and can't be changed here.
    pub n_reported: u64,
    /// Each thing that was touched, in order.
    pub touched: Vec<Touched>,
    /// What was replaced has left the disk. `false` if another process still holds the store's log:
    /// it leaves when that process ends.
    pub is_compacted: bool,
}

impl RescanReport {
    /// Returns how many things were changed.
    #[must_use]
    pub const fn n_changed(&self) -> u64 {
        self.n_redacted + self.n_withdrawn + self.n_lane_items + self.n_texts
    }

    /// Returns the report in one line, as the audit keeps it.
    #[must_use]
    pub fn summary(&self) -> String {
        let values: u64 = self.replaced.values().sum();
        format!(
            "looked at {}: {values} values replaced, {} records redacted, {} withdrawn to the lane, \
             {} waiting items and {} other texts changed",
            self.n_looked_at, self.n_redacted, self.n_withdrawn, self.n_lane_items, self.n_texts
        )
    }

    pub(super) fn count(&mut self, field: &str, rule: &str, n: u32) {
        let key = (field.to_owned(), rule.to_owned());
        *self.replaced.entry(key).or_default() += u64::from(n);
    }

    pub(super) fn count_all(&mut self, replaced: &[Replacement]) {
        for Replacement { field, rule, count } in replaced {
            self.count(field, rule, *count);
        }
    }

    pub(super) fn touch(
        &mut self,
        what: &impl ToString,
        done: &'static str,
        rules: impl IntoIterator<Item = String>,
    ) {
        let mut rules: Vec<String> = rules.into_iter().collect();
        rules.sort();
        rules.dedup();
        self.touched.push(Touched {
            what: what.to_string(),
            done,
            rules,
        });
    }

    pub(super) fn add(&mut self, other: Self) {
        self.n_looked_at += other.n_looked_at;
        for (key, n) in other.replaced {
            *self.replaced.entry(key).or_default() += n;
        }
        self.n_redacted += other.n_redacted;
        self.n_withdrawn += other.n_withdrawn;
        self.n_lane_items += other.n_lane_items;
        self.n_texts += other.n_texts;
        self.n_reported += other.n_reported;
        self.touched.extend(other.touched);
    }
}

/// Returns what was replaced before and now, as one list.
pub(super) fn together(before: &[Replacement], now: &[Replacement]) -> Vec<Replacement> {
    let mut all = before.to_vec();
    for new in now {
        match all
            .iter_mut()
            .find(|old| old.field == new.field && old.rule == new.rule)
        {
            Some(old) => old.count = old.count.saturating_add(new.count),
            None => all.push(new.clone()),
        }
    }
    all
}
