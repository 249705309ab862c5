//! Runs the guard over the corpora. Scoring is done elsewhere.

use mmw_guard::Guard;

use super::corpus::{Corpora, Row};
use super::planted::{self, Said};
use super::secrets::{self, Found, FoundInRows};

/// What the guard made of each row.
#[derive(Debug, Default)]
pub(crate) struct Results {
    pub(crate) in_secrets: FoundInRows,
    pub(crate) in_no_secrets: FoundInRows,
    pub(crate) of_planted: Vec<Said>,
    pub(crate) of_honest: Vec<Said>,
}

/// Runs the guard over every row.
pub(crate) fn run(guard: &Guard, corpora: &Corpora) -> Results {
    Results {
        in_secrets: find(guard, &corpora.secrets),
        in_no_secrets: find(guard, &corpora.no_secrets),
        of_planted: weigh(guard, &corpora.planted),
        of_honest: weigh(guard, &corpora.honest),
    }
}

impl Results {
    /// Scores what was found in the rows with and without secrets.
    pub(crate) fn secrets(&self, corpora: &Corpora) -> secrets::Figures {
        secrets::score(
            &corpora.secrets,
            &self.in_secrets,
            &corpora.no_secrets,
            &self.in_no_secrets,
        )
    }

    /// Scores what was said of the planted and the honest rows.
    pub(crate) fn planted(&self, corpora: &Corpora) -> planted::Figures {
        planted::score(
            &corpora.planted,
            &self.of_planted,
            &corpora.honest,
            &self.of_honest,
        )
    }
}

fn find(guard: &Guard, rows: &[Row]) -> FoundInRows {
    let found = |row: &Row| {
        guard
            .secrets_in(&row.text)
            .into_iter()
            .map(|located| Found {
                span: located.span,
                rule: located.rule,
            })
            .collect()
    };
    rows.iter().map(found).collect()
}

fn weigh(guard: &Guard, rows: &[Row]) -> Vec<Said> {
    let said = |row: &Row| {
        let weighed = guard.weigh(&row.text);
        Said {
            score: weighed.score,
            outcome: weighed.outcome,
            rule: weighed.rule,
        }
    };
    rows.iter().map(said).collect()
}
