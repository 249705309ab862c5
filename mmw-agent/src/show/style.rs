//! The few colours there are, all from the terminal's own palette.

use anstyle::{AnsiColor, Style};

/// Asides: ids, times, sources.
pub(crate) const DIM: Style = Style::new().dimmed();
/// What a record says.
pub(crate) const STRONG: Style = Style::new().bold();
/// As it is.
pub(crate) const PLAIN: Style = Style::new();
/// Done.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default().bold();
/// `stale`, and what was replaced.
pub(crate) const WARN: Style = AnsiColor::Yellow.on_default().bold();
/// `conflict`, and errors.
pub(crate) const ALARM: Style = AnsiColor::Red.on_default().bold();
/// What could be done next.
pub(crate) const HINT: Style = AnsiColor::Cyan.on_default();

/// Returns a status in its colour. The word is always there: colour alone says nothing.
pub(crate) fn status(status: &str) -> String {
    let style = match status {
        "conflict" => ALARM,
        "stale" => WARN,
        _ => HINT,
    };
    format!("{style}{}{style:#}", super::clean::clean(status))
}
