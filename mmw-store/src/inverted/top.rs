//! The best of what is gone through: by what it is worth, of equals the latest.

use super::scan::Reached;

/// The best so far.
pub(super) struct Top {
    most: usize,
    kept: Vec<(f64, Reached)>,
    /// What is worth less is surely not among them.
    least: f64,
    /// Something was left out for being worth less than others.
    is_cut: bool,
}

impl Top {
    pub(super) const fn new(most: usize) -> Self {
        Self {
            most,
            kept: Vec::new(),
            least: 0.0,
            is_cut: false,
        }
    }

    /// Tells whether what is worth so much may be among the best.
    pub(super) fn takes(&self, worth: f64) -> bool {
        worth >= self.least
    }

    pub(super) fn push(&mut self, worth: f64, reached: Reached) {
        self.kept.push((worth, reached));
        if self.kept.len() >= 2 * self.most.max(1) {
            self.cut();
        }
    }

    fn cut(&mut self) {
        if self.kept.len() <= self.most {
            return;
        }
        self.is_cut = true;
        let Some(last) = self.most.checked_sub(1) else {
            self.kept.clear();
            return;
        };
        let order = |a: &(f64, Reached), b: &(f64, Reached)| {
            b.0.total_cmp(&a.0).then(b.1.row.cmp(&a.1.row))
        };
        let (_, last, _) = self.kept.select_nth_unstable_by(last, order);
        self.least = last.0;
        self.kept.truncate(self.most);
    }

    /// Returns the best, in no order, and whether there was more.
    pub(super) fn into_best(mut self) -> (Vec<Reached>, bool) {
        self.cut();
        let kept = self.kept.into_iter();
        (kept.map(|(_, reached)| reached).collect(), self.is_cut)
    }
}
