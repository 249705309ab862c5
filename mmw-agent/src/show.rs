//! What a person reads: answers as a few plain lines, in colour on a terminal only.
//!
//! A [`Page`] is put together in memory and written in one go, so that a reader that hangs up in
//! the middle (`| head`) is no error. Everything that came out of the memory passes [`clean`]
//! first: recalled text is data and may not steer the terminal.

pub(crate) mod age;
pub(crate) mod answers;
pub(crate) mod claims;
pub(crate) mod clean;
pub(crate) mod lane;
pub(crate) mod progress;
pub(crate) mod receipt;
pub(crate) mod style;

use std::fmt::Write as _;
use std::io::{self, Write as _};

use anstyle::Style;
use mmw_core::time::Timestamp;
use textwrap::{Options, WordSplitter};

use crate::exit::Trouble;
use clean::clean;
use style::{ALARM, DIM, HINT};

/// Lines for a person.
pub(crate) struct Page {
    text: String,
    width: Option<usize>,
    now: Timestamp,
}

impl Page {
    /// Returns an empty page whose lines are wrapped at that width, if any.
    pub(crate) const fn new(width: Option<usize>, now: Timestamp) -> Self {
        Self {
            text: String::new(),
            width,
            now,
        }
    }

    /// Returns the width that lines are wrapped at.
    pub(crate) const fn width(&self) -> Option<usize> {
        self.width
    }

    /// Adds an empty line, but not at the top.
    pub(crate) fn gap(&mut self) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
    }

    /// Adds one line of our own words. Text from the memory goes through [`clean`] first.
    pub(crate) fn line(&mut self, text: impl AsRef<str>) {
        self.text.push_str(text.as_ref());
        self.text.push('\n');
    }

    /// Adds text from the memory, wrapped and indented, in one style.
    pub(crate) fn body(&mut self, indent: &str, style: Style, text: &str) {
        for line in wrap(text, self.width, indent.chars().count()) {
            let _ = writeln!(self.text, "{indent}{style}{line}{style:#}");
        }
    }

    /// Adds a dim remark in our own words or from the memory, wrapped under its first line.
    pub(crate) fn remark(&mut self, indent: &str, lead: &str, text: &str) {
        let mut lead = lead.to_owned();
        let n_lead = lead.chars().count();
        for line in wrap(text, self.width, indent.chars().count() + n_lead) {
            let _ = writeln!(self.text, "{indent}{DIM}{lead}{line}{DIM:#}");
            lead = " ".repeat(n_lead);
        }
    }

    /// Adds a label and a value in two columns.
    pub(crate) fn pair(&mut self, label: &str, value: &str) {
        let value = clean(value).replace('\n', " ");
        let _ = writeln!(self.text, "  {DIM}{label:<11}{DIM:#} {value}");
    }

    /// Adds what could be done next.
    pub(crate) fn hint(&mut self, text: &str) {
        let _ = writeln!(self.text, "{HINT}→{HINT:#} {text}");
    }

    /// Returns how long ago a moment is, in words.
    pub(crate) fn age(&self, moment: Timestamp) -> String {
        age::ago(moment, self.now)
    }

    /// Writes the page to standard output.
    ///
    /// # Errors
    /// If it can't be written; a reader that hung up is no error.
    pub(crate) fn print(&self) -> Result<(), Trouble> {
        finish(anstream::stdout().write_all(self.text.as_bytes()))
    }
}

/// Returns cleaned lines of at most `width` columns less the indent.
fn wrap(text: &str, width: Option<usize>, n_indent: usize) -> Vec<String> {
    let text = clean(text);
    match width {
        Some(width) => fold(&text, width.saturating_sub(n_indent).max(20)),
        None => text.lines().map(str::to_owned).collect(),
    }
}

/// Breaks clean text into lines of at most `width` columns. `app-staging` is one word.
fn fold(text: &str, width: usize) -> Vec<String> {
    let whole = Options::new(width).word_splitter(WordSplitter::NoHyphenation);
    let lines = textwrap::wrap(text, whole).into_iter();
    lines.map(std::borrow::Cow::into_owned).collect()
}

/// Writes a wire answer to standard output as JSON.
///
/// # Errors
/// If it can't be written.
pub(crate) fn print_json(answer: &impl serde::Serialize) -> Result<(), Trouble> {
    let mut text = serde_json::to_string_pretty(answer)
        .map_err(|error| Trouble::usage(format!("the answer can't be written as JSON: {error}")))?;
    text.push('\n');
    print_raw(&text)
}

/// Writes text to standard output as it is.
///
/// # Errors
/// If it can't be written.
pub(crate) fn print_raw(text: &str) -> Result<(), Trouble> {
    let mut stdout = io::stdout().lock();
    finish(
        stdout
            .write_all(text.as_bytes())
            .and_then(|()| stdout.flush()),
    )
}

/// Says why a command failed, on standard error.
pub(crate) fn print_trouble(trouble: &Trouble) {
    let mut text = format!("{ALARM}error:{ALARM:#} {}\n", clean(&trouble.message));
    if let Some(hint) = &trouble.hint {
        let _ = writeln!(text, "{HINT}→{HINT:#} {}", clean(hint));
    }
    say(&text);
}

/// Says something beside the answer, on standard error.
pub(crate) fn say(text: &str) {
    // Nothing is left to tell it to if standard error is gone.
    let _ = anstream::stderr().write_all(text.as_bytes());
}

fn finish(written: io::Result<()>) -> Result<(), Trouble> {
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Trouble::usage(format!(
            "standard output can't be written to: {error}"
        ))),
        _ => Ok(()),
    }
}

#[cfg(test)]
pub(crate) mod testing {
    //! A page without colours.

    use super::*;

    /// Returns a page of 60 columns at a fixed moment.
    pub(crate) fn page() -> Page {
        Page::new(Some(60), Timestamp::from_ms(1_800_000_000_000))
    }

    /// Returns what is on the page, without colours.
    pub(crate) fn plain(page: &Page) -> String {
        anstream::adapter::strip_str(&page.text).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::testing::{page, plain};
    use super::*;

    #[test]
    fn long_text_is_wrapped_under_its_indent() {
        let mut page = page();
        page.body("  ", DIM, &"word ".repeat(30));
        let text = plain(&page);
        assert!(text.lines().count() > 2);
        assert!(
            text.lines()
                .all(|line| line.starts_with("  word") && line.len() <= 60)
        );
    }

    #[test]
    fn text_for_a_program_is_not_wrapped() {
        let mut page = Page::new(None, Timestamp::from_ms(0));
        page.body("  ", DIM, &"word ".repeat(90));
        assert_eq!(plain(&page).lines().count(), 1);
    }
}
