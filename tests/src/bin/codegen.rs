//! Prints the generated pages as one JSON object, `{"<path>": "<content>"}`, for `cargo xtask codegen`.

use std::io::Write as _;

use mmw_server::documents::{Document, render};
use serde_json::json;

fn main() -> std::io::Result<()> {
    let environment = format!(
        "# Environment\n\nRead once, at the start. Generated from the program's own table.\n\n{}",
        render(Document::Environment)
    );
    let pages = json!({
        "docs/reference/tools.md": render(Document::Tools),
        "docs/reference/openapi.json": render(Document::Openapi),
        "docs/reference/environment.md": environment,
    });
    writeln!(std::io::stdout(), "{pages}")
}
