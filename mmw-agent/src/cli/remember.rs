//! Saves a statement.

use std::io::Read as _;

use mmw_core::record::{Kind, MAX_CONTENT_BYTES};
use mmw_core::wire::{EnvelopeArgs, RememberArgs};
use serde_json::Value;

use super::{Desk, door};
use crate::exit::{Exit, Trouble};
use crate::show::{self, answers};

/// The most that is read from standard input: enough to tell that it is too long.
const MAX_INPUT_BYTES: u64 = 4 * MAX_CONTENT_BYTES as u64;

/// Save a statement
///
/// Nothing is ever overwritten: saving again under the same key adds a version, and versions that
/// say different things are both kept, in conflict, until you decide. Secrets are replaced before
/// anything is written. While the server (MMW_ENDPOINT) is down it waits on this computer's disk.
///
/// Examples:
///   mmw-agent remember "staging is deployed with the systemd unit app-staging" --key deploy-staging
///   mmw-agent remember "staging runs on port 8081" --source-id docs/deploy.md#Staging
///   mmw-agent remember "tabs, never spaces" --kind preference --workspace @user
///   git log -1 --format=%B | mmw-agent remember - --kind decision --tag release
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// The statement; `-` reads it from standard input
    #[arg(required = true, value_name = "TEXT")]
    text: Vec<String>,
    /// The topic: reuse it to correct a fact
    #[arg(long, value_name = "FACT_KEY")]
    key: Option<String>,
    /// Where it goes; `@user` is yours in every project
    #[arg(short, long)]
    workspace: Option<String>,
    /// What sort of statement it is
    #[arg(long, value_parser = kinds())]
    kind: Option<String>,
    /// A label to filter by; may be repeated
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// The file, address or session that it comes from
    #[arg(long, value_name = "ID")]
    source_id: Option<String>,
    /// The hash of that source now, for example sha256:<hex>; of a file here it is computed
    #[arg(long, value_name = "HASH", requires = "source_id")]
    source_hash: Option<String>,
    /// The commit or version of that source
    #[arg(long, value_name = "REVISION", requires = "source_id")]
    source_revision: Option<String>,
    /// How sure you are, from 0 to 1
    #[arg(long)]
    confidence: Option<f64>,
    /// When it begins to hold: a date or an RFC 3339 time
    #[arg(long, value_name = "TIME")]
    valid_from: Option<String>,
    /// When it ceases to hold
    #[arg(long, value_name = "TIME")]
    valid_until: Option<String>,
    /// A record that it condenses; may be repeated
    #[arg(long, value_name = "ID")]
    derived_from: Vec<String>,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
}

/// Returns the kinds of statements there are.
pub(super) fn kinds() -> Vec<&'static str> {
    Kind::ALL.iter().map(|kind| kind.name()).collect()
}

impl Args {
    pub(super) fn run(self, desk: &Desk) -> Result<Exit, Trouble> {
        let content = match self.text.as_slice() {
            [dash] if dash == "-" => from_stdin()?,
            words => words.join(" "),
        };
        let door = door::open(desk)?;
        let args = RememberArgs {
            content,
            workspace: desk.workspace(self.workspace.as_deref()),
            fact_key: self.key,
            kind: self.kind,
            tags: self.tags,
            source_id: self.source_id,
            source_hash: self.source_hash,
            source_revision: self.source_revision,
            confidence: self.confidence,
            derived_from: self.derived_from,
            valid_from: self.valid_from,
            valid_until: self.valid_until,
            ..RememberArgs::default()
        };
        let envelope = EnvelopeArgs {
            client: Some(concat!("mmw-agent ", env!("CARGO_PKG_VERSION")).to_owned()),
            branch: desk.local.project().branch.clone(),
            ..EnvelopeArgs::default()
        };
        let told = door.remember(args, envelope)?;
        if self.json {
            show::print_json(&told.json)?;
        } else {
            let mut page = desk.page();
            if told.is_queued() {
                let id = told.json.get("id").and_then(Value::as_str);
                answers::queued(&mut page, &door.place()?, id);
            } else {
                answers::remembered(&mut page, &told.answer, &door.place()?);
            }
            page.print()?;
        }
        door.settle();
        Ok(if told.answer.record.is_some() || told.is_queued() {
            Exit::Done
        } else {
            Exit::Refused
        })
    }
}

fn from_stdin() -> Result<String, Trouble> {
    let mut text = String::new();
    std::io::stdin()
        .lock()
        .take(MAX_INPUT_BYTES)
        .read_to_string(&mut text)
        .map_err(|error| {
            Trouble::usage(format!("standard input can't be read as text: {error}"))
        })?;
    Ok(text)
}
