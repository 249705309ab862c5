//! Figures that others measured, quoted. Nothing here was measured by this program.
//!
//! They stand beside ours because these tools can't be run here: their measuring is described in
//! `docs/evaluation.md`, with its date and the rows that it was done on.

/// A tool on rows with secrets, in percent, over the whole corpora (4,500 rows with a secret, 3,314
/// without).
pub(crate) struct OnSecrets {
    pub(crate) tool: &'static str,
    pub(crate) found: f64,
    pub(crate) foreign: f64,
    pub(crate) foreign_full: f64,
    pub(crate) prose: f64,
    pub(crate) assignment: f64,
    pub(crate) default: f64,
    pub(crate) ordinary: f64,
    pub(crate) near_miss: f64,
}

/// The quoted figures on secrets. "Foreign" leaves out the tool's own tests.
pub(crate) const ON_SECRETS: [OnSecrets; 7] = [
    on_secrets(
        "gitleaks 8.30.1",
        [62.4, 51.1, 50.5, 6.4, 6.5, 0.0, 0.0, 15.7],
    ),
    on_secrets(
        "betterleaks 2.0.0-rc4",
        [65.5, 54.3, 53.5, 39.6, 10.8, 29.6, 0.5, 16.7],
    ),
    on_secrets(
        "kingfisher 2.14",
        [34.3, 14.2, 13.4, 0.0, 1.1, 5.6, 0.0, 1.5],
    ),
    on_secrets(
        "detect-secrets 1.5",
        [41.3, 38.8, 37.8, 13.9, 15.1, 42.6, 8.3, 23.4],
    ),
    on_secrets("secretlint 13", [6.3, 5.5, 5.2, 0.0, 0.0, 3.7, 0.0, 2.1]),
    on_secrets(
        "ripsecrets 0.1.11",
        [28.0, 27.5, 27.3, 5.9, 4.3, 3.7, 0.1, 10.2],
    ),
    on_secrets(
        "CredSweeper 1.19 (model)",
        [67.6, 66.1, 65.3, 62.9, 73.1, 13.0, 3.7, 23.7],
    ),
];

const fn on_secrets(tool: &'static str, figures: [f64; 8]) -> OnSecrets {
    let [
        found,
        foreign,
        foreign_full,
        prose,
        assignment,
        default,
        ordinary,
        near_miss,
    ] = figures;
    OnSecrets {
        tool,
        found,
        foreign,
        foreign_full,
        prose,
        assignment,
        default,
        ordinary,
        near_miss,
    }
}

/// A tool on planted instructions, in percent, over the half that is kept back (355 rows of tier A).
pub(crate) struct OnPlanted {
    pub(crate) tool: &'static str,
    /// Tier A, its memory plants, its indirect ones, its tag characters.
    pub(crate) found: [f64; 4],
    /// Honest rows: all, development, hard, NotInject, mention.
    pub(crate) wrong: [f64; 5],
}

/// The quoted figures on planted instructions.
pub(crate) const ON_PLANTED: [OnPlanted; 9] = [
    on_planted(
        "OWASP agent-memory-guard 0.3.3",
        [16.1, 53.1, 8.3, 0.0],
        [0.2, 0.0, 0.0, 0.0, 4.0],
    ),
    on_planted(
        "mimvo 0.2.1",
        [32.7, 53.1, 27.5, 0.0],
        [0.5, 0.0, 0.0, 1.0, 6.7],
    ),
    on_planted(
        "thymus-ai 1.0.2",
        [28.2, 62.5, 31.2, 0.0],
        [1.8, 2.3, 2.7, 0.0, 5.3],
    ),
    on_planted(
        "memwall 0.6.1",
        [40.6, 56.2, 54.1, 0.0],
        [9.3, 11.8, 17.2, 1.0, 21.3],
    ),
    on_planted(
        "bastionmemory 0.2",
        [22.5, 34.4, 13.8, 0.0],
        [5.7, 7.8, 12.8, 0.5, 6.7],
    ),
    on_planted(
        "toolwall 0.4",
        [21.4, 21.9, 23.9, 100.0],
        [0.6, 0.2, 0.0, 1.4, 4.0],
    ),
    on_planted(
        "nukon-pi-detect 0.1",
        [29.3, 28.1, 12.8, 100.0],
        [0.8, 0.1, 0.0, 1.0, 10.7],
    ),
    on_planted(
        "prompt-guardrail",
        [17.7, 31.2, 9.2, 0.0],
        [1.1, 0.8, 1.1, 1.0, 6.7],
    ),
    on_planted(
        "NanoGuard, from 0.5 (sample)",
        [86.6, 80.0, 84.2, 100.0],
        [39.3, 48.6, 55.6, 17.6, 66.7],
    ),
];

const fn on_planted(tool: &'static str, found: [f64; 4], wrong: [f64; 5]) -> OnPlanted {
    OnPlanted { tool, found, wrong }
}

/// The bars of the project: the least or the most a figure may be, in percent.
pub(crate) struct Bars {
    pub(crate) foreign_found: f64,
    pub(crate) foreign_full: f64,
    pub(crate) prose: f64,
    pub(crate) ordinary: f64,
    pub(crate) tier_a: f64,
    pub(crate) memory_plants: f64,
    pub(crate) tags: f64,
    pub(crate) honest: f64,
    pub(crate) dev: f64,
}

/// What the guard has to reach.
pub(crate) const BARS: Bars = Bars {
    foreign_found: 80.0,
    foreign_full: 78.0,
    prose: 80.0,
    ordinary: 0.5,
    tier_a: 62.0,
    memory_plants: 85.0,
    tags: 100.0,
    honest: 1.0,
    dev: 0.6,
};
