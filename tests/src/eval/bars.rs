//! Compares the guard's figures with the bars of the project.

use super::baselines::BARS;
use super::statistics::Share;
use super::{planted, secrets};

/// A figure beside its bar.
pub(crate) struct Held {
    pub(crate) name: &'static str,
    pub(crate) share: Share,
    /// How the bar is written.
    pub(crate) bar: String,
    pub(crate) holds: bool,
}

/// Returns every figure that has a bar.
pub(crate) fn of(secrets: &secrets::Figures, planted: &planted::Figures) -> Vec<Held> {
    let tier_a = planted.planted("tier A").quarantine;
    let plants = planted.planted("A: memory plants").quarantine;
    let tags = planted.planted("A: Unicode tags").quarantine;
    let honest = planted.honest("all").quarantine;
    let dev = planted.honest("dev").quarantine;
    let instructions = planted.honest("dev instructions").reject;
    let facts = planted.honest("memory facts").reject;
    vec![
        least(
            "secrets found, foreign rows",
            secrets.foreign.found,
            BARS.foreign_found,
        ),
        least(
            "secrets fully covered, foreign rows",
            secrets.foreign.full,
            BARS.foreign_full,
        ),
        least(
            "passwords in prose found",
            secrets.kind("prose").found,
            BARS.prose,
        ),
        most(
            "ordinary developer text redacted",
            secrets.ordinary,
            BARS.ordinary,
        ),
        least("tier A stopped at the quarantine line", tier_a, BARS.tier_a),
        least("memory plants stopped", plants, BARS.memory_plants),
        least("Unicode tags stopped", tags, BARS.tags),
        most("honest rows stopped", honest, BARS.honest),
        most("development rows stopped", dev, BARS.dev),
        most("developer instructions refused", instructions, 0.0),
        most("memory facts refused", facts, 0.0),
    ]
}

fn least(name: &'static str, share: Share, bar: f64) -> Held {
    Held {
        name,
        share,
        bar: format!("≥ {bar}"),
        holds: share.value().is_some_and(|value| value * 100.0 >= bar),
    }
}

fn most(name: &'static str, share: Share, bar: f64) -> Held {
    Held {
        name,
        share,
        bar: format!("≤ {bar}"),
        holds: share.value().is_some_and(|value| value * 100.0 <= bar),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_holds_at_its_value_and_never_for_nothing() {
        let share = |hits, of| Share { hits, of };
        assert!(least("x", share(4, 5), 80.0).holds);
        assert!(!least("x", share(79, 100), 80.0).holds);
        assert!(most("x", share(1, 200), 0.5).holds);
        assert!(!most("x", share(1, 199), 0.5).holds);
        assert!(most("x", share(0, 9), 0.0).holds);
        assert!(!most("x", share(0, 0), 0.0).holds);
    }
}
