//! Puts a section of figures into `docs/evaluation.md`, between its two marks.
//!
//! What stands around the marks is written by people and left as it is.

use std::fs;
use std::path::{Path, PathBuf};

/// The page, from the repository.
pub(crate) const PAGE: &str = "docs/evaluation.md";

/// Why a section can't be put into the page.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PageError {
    /// The page can't be read or written.
    #[error("{0} can't be read or written")]
    Unusable(PathBuf, #[source] std::io::Error),
    /// A mark is missing, or they are out of order.
    #[error(
        "the page has no {0} followed by its end mark: put both back, each on a line of its own"
    )]
    NoMark(String),
}

fn marks(section: &str) -> (String, String) {
    (
        format!("<!-- eval:{section}:begin -->"),
        format!("<!-- eval:{section}:end -->"),
    )
}

/// Writes the section of that name into the page of the repository.
pub(crate) fn write(repository: &Path, section: &str, body: &str) -> Result<PathBuf, PageError> {
    let path = repository.join(PAGE);
    let unusable = |error| PageError::Unusable(path.clone(), error);
    let page = fs::read_to_string(&path).map_err(unusable)?;
    let page = with_section(&page, section, body)?;
    fs::write(&path, page).map_err(unusable)?;
    Ok(path)
}

fn with_section(page: &str, section: &str, body: &str) -> Result<String, PageError> {
    let (begin, end) = marks(section);
    let parts = page
        .split_once(&begin)
        .and_then(|(before, rest)| Some((before, rest.split_once(&end)?.1)));
    let Some((before, after)) = parts else {
        return Err(PageError::NoMark(begin));
    };
    Ok(format!(
        "{before}{begin}\n\n{}\n\n{end}{after}",
        body.trim()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_stands_between_the_marks_changes() {
        let page = "# T\n<!-- eval:guard:begin -->\nold\n<!-- eval:guard:end -->\nafter\n";
        let new = with_section(page, "guard", "new\n\n").unwrap();
        assert_eq!(
            new,
            "# T\n<!-- eval:guard:begin -->\n\nnew\n\n<!-- eval:guard:end -->\nafter\n"
        );
        assert_eq!(with_section(&new, "guard", "new").unwrap(), new);
    }

    #[test]
    fn a_page_without_marks_is_refused() {
        for page in [
            "",
            "<!-- eval:guard:begin -->",
            "<!-- eval:guard:end --><!-- eval:guard:begin -->",
            "<!-- eval:search:begin --><!-- eval:search:end -->",
        ] {
            assert!(with_section(page, "guard", "x").is_err(), "{page}");
        }
    }
}
