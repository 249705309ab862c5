//! Questions to the person at the terminal. Escape and Ctrl-C mean: not now.

use inquire::ui::RenderConfig;
use inquire::{Confirm, Editor, InquireError, Select, Text};

use crate::exit::{Exit, Trouble};

/// Returns the number of the chosen option; `None` if the person would rather not say now.
pub(super) fn choose(question: &str, options: Vec<String>) -> Result<Option<usize>, Trouble> {
    let n_options = options.len();
    let chosen = Select::new(question, options)
        .with_render_config(look())
        .with_page_size(n_options.clamp(1, 12))
        .with_scorer(&|typed, _, option, _| begins(option, typed).then_some(0))
        .with_help_message("↑↓ and Enter, or type how it begins; Esc leaves it for later")
        .raw_prompt();
    answered(chosen.map(|option| option.index))
}

/// Tells whether an option begins with what was typed. Contents may hold anything, the number of
/// another option too, so only the beginning counts.
fn begins(option: &str, typed: &str) -> bool {
    option.to_lowercase().starts_with(&typed.to_lowercase())
}

/// Returns a line of text; empty if the person gave none, `None` if they went back.
pub(super) fn line(question: &str, help: &str, given: &str) -> Result<Option<String>, Trouble> {
    let text = Text::new(question)
        .with_render_config(look())
        .with_help_message(help)
        .with_initial_value(given)
        .prompt();
    Ok(answered(text)?.map(|text| text.trim().to_owned()))
}

/// Returns a text that the person changed: on the line, or in their editor if it has several lines.
pub(super) fn text(question: &str, given: &str) -> Result<Option<String>, Trouble> {
    if !given.contains('\n') {
        return line(
            question,
            "change the words and press Enter; Esc goes back",
            given,
        );
    }
    let text = Editor::new(question)
        .with_render_config(look())
        .with_predefined_text(given)
        .prompt();
    Ok(answered(text)?.map(|text| text.trim().to_owned()))
}

/// Asks yes or no.
pub(super) fn confirm(question: &str, default: bool) -> Result<bool, Trouble> {
    let sure = Confirm::new(question)
        .with_render_config(look())
        .with_default(default)
        .prompt();
    Ok(answered(sure)?.unwrap_or(false))
}

fn answered<T>(answer: Result<T, InquireError>) -> Result<Option<T>, Trouble> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(InquireError::OperationCanceled | InquireError::OperationInterrupted) => Ok(None),
        Err(InquireError::NotTTY) => Err(Trouble::new(
            Exit::NeedsPerson,
            "this question needs an interactive terminal",
        )),
        Err(error) => Err(Trouble::usage(format!(
            "the question can't be asked: {error}"
        ))),
    }
}

fn look() -> RenderConfig<'static> {
    RenderConfig::default_colored()
}
