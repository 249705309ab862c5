//! Shares with their confidence intervals, and what is made of them: precision and F1.
//!
//! A share of nothing is no figure; it is shown as a dash and never as 0 or 100 %.

use std::fmt;

/// The quantile of the normal distribution for an interval of 95 %.
const Z: f64 = 1.959_963_984_540_054;

/// So many of so many.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Share {
    pub(crate) hits: usize,
    pub(crate) of: usize,
}

impl Share {
    /// Counts one more.
    pub(crate) const fn add(&mut self, hit: bool) {
        self.hits += hit as usize;
        self.of += 1;
    }

    /// Returns the share, 0 to 1; none of nothing.
    pub(crate) fn value(self) -> Option<f64> {
        (self.of > 0).then(|| self.hits as f64 / self.of as f64)
    }

    /// Returns the Wilson score interval of 95 %, which stays within 0 to 1 and is honest about few
    /// rows; none of nothing.
    pub(crate) fn interval(self) -> Option<(f64, f64)> {
        let p = self.value()?;
        let n = self.of as f64;
        let z2 = Z * Z;
        let scale = 1.0 + z2 / n;
        let middle = (p + z2 / (2.0 * n)) / scale;
        let half = Z * (p * (1.0 - p) / n + z2 / (4.0 * n * n)).sqrt() / scale;
        Some(((middle - half).max(0.0), (middle + half).min(1.0)))
    }
}

impl fmt::Display for Share {
    /// Writes `81.0 (79.1–82.8)`, in percent.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Some(value), Some((low, high))) = (self.value(), self.interval()) else {
            return f.write_str("–");
        };
        write!(
            f,
            "{:.1} ({:.1}–{:.1})",
            value * 100.0,
            low * 100.0,
            high * 100.0
        )
    }
}

/// Returns precision and recall folded into one figure, 0 to 1; none where one of them is of nothing.
pub(crate) fn f1(precision: Share, recall: Share) -> Option<f64> {
    let (precision, recall) = (precision.value()?, recall.value()?);
    let sum = precision + recall;
    Some(if sum > 0.0 {
        2.0 * precision * recall / sum
    } else {
        0.0
    })
}

/// Writes a figure of 0 to 1 in percent, a dash if there is none.
pub(crate) fn percent(figure: Option<f64>) -> String {
    figure.map_or_else(|| "–".to_owned(), |figure| format!("{:.1}", figure * 100.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, wanted: f64) {
        assert!((found - wanted).abs() < 5e-4, "{found} is not {wanted}");
    }

    #[test]
    fn the_interval_is_wilsons() {
        // Worked by hand from the formula (Wilson 1927), n = 10 and n = 263.
        for (hits, of, low, high) in [
            (0, 10, 0.0, 0.2775),
            (10, 10, 0.7225, 1.0),
            (5, 10, 0.2366, 0.7634),
            (81, 263, 0.2553, 0.3662),
        ] {
            let (found_low, found_high) = Share { hits, of }.interval().unwrap();
            close(found_low, low);
            close(found_high, high);
        }
    }

    #[test]
    fn a_share_of_nothing_is_no_figure() {
        let none = Share::default();
        assert_eq!(none.value(), None);
        assert_eq!(none.to_string(), "–");
        assert_eq!(f1(none, Share { hits: 1, of: 1 }), None);
        assert_eq!(percent(None), "–");
    }

    #[test]
    fn f1_is_the_harmonic_mean() {
        let half = Share { hits: 1, of: 2 };
        let all = Share { hits: 2, of: 2 };
        close(f1(half, all).unwrap(), 2.0 / 3.0);
        let none = Share { hits: 0, of: 2 };
        close(f1(none, none).unwrap(), 0.0);
    }

    #[test]
    fn shares_are_counted_and_written_in_percent() {
        let mut share = Share::default();
        for hit in [true, false, true, true] {
            share.add(hit);
        }
        assert_eq!(share, Share { hits: 3, of: 4 });
        assert!(share.to_string().starts_with("75.0 (30."), "{share}");
    }
}
