//! Why a rule file of a user is refused, in words that tell what to change.

/// Why a rule file is refused. Nothing of a refused file is used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CustomRulesError {
    /// The file is no TOML, or has a field that the format does not know.
    #[error("{}{message}", at(*.line))]
    NotUnderstood {
        /// The line, from 1, if known.
        line: Option<usize>,
        /// What is wrong with it.
        message: String,
    },
    /// A rule or list can't be used.
    #[error("{}{place}: {message}", at(*.line))]
    Unusable {
        /// The line, from 1, if known.
        line: Option<usize>,
        /// The rule or list, and its field.
        place: String,
        /// What is wrong with it and what to do.
        message: String,
    },
    /// The file has more of something than is taken.
    #[error("{what}: {found}, and at most {limit} are taken. Leave out what is not needed")]
    TooMuch {
        /// What there is too much of.
        what: String,
        /// How much there is.
        found: usize,
        /// How much may be.
        limit: usize,
    },
}

fn at(line: Option<usize>) -> String {
    line.map(|line| format!("line {line}: "))
        .unwrap_or_default()
}

/// Returns the line, from 1, on which a byte of a text stands.
pub(super) fn line_of(text: &str, at: usize) -> usize {
    let at = text.floor_char_boundary(at);
    text[..at].matches('\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_tells_line_place_and_remedy() {
        let error = CustomRulesError::Unusable {
            line: Some(3),
            place: "rule `a`, regex".into(),
            message: "unclosed group".into(),
        };
        assert_eq!(error.to_string(), "line 3: rule `a`, regex: unclosed group");
        let error = CustomRulesError::TooMuch {
            what: "rules".into(),
            found: 3,
            limit: 2,
        };
        assert!(error.to_string().starts_with("rules: 3, and at most 2"));
        assert_eq!(line_of("a\nb\nc", 2), 2);
    }
}
