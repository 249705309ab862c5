//! What there is, and where.

mod there;

use mmw_core::place::DEFAULT_WORKSPACE;
use mmw_core::time::Timestamp;
use mmw_store::{EmbeddingState, Pulse};
use serde_json::{Value, json};

pub(super) use self::there::There;
use super::Desk;
use super::project::Told;
use super::serve::relay_to;
use crate::about::About;
use crate::exit::{Exit, Trouble};
use crate::show::answers::plural;
use crate::show::{self, Page};

/// The most open conflicts that are listed.
const MAX_LISTED_CONFLICTS: usize = 100;

/// Show what is remembered here, and where it is kept
///
/// In front of a server (MMW_ENDPOINT) it shows whether that is reached, what waits for it and what it has.
///
/// Examples:
///   mmw-agent status
///   mmw-agent status --json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// Print it as JSON
    #[arg(long)]
    json: bool,
}

/// What `status` tells.
struct Report {
    home: String,
    project: Told,
    branch: Option<String>,
    workspace: String,
    about: About,
    store: Option<Store>,
}

/// What is in a store that exists.
struct Store {
    size_bytes: u64,
    schema: String,
    pulse: Pulse,
    n_records: u64,
    n_user_records: u64,
    workspaces: Vec<(String, u64)>,
    waiting: u64,
    conflicts: Vec<(String, String)>,
    /// Whether searches go by meaning, and how far the vectors of the model are.
    meaning: EmbeddingState,
}

impl Args {
    pub(super) fn run(self, desk: &Desk) -> Result<Exit, Trouble> {
        if let Some(endpoint) = &desk.config.endpoint {
            return super::sync::show_state(desk, &relay_to(desk, endpoint)?, None, self.json);
        }
        let report = Report::of(desk)?;
        if self.json {
            show::print_json(&report.json())?;
        } else {
            let mut page = desk.page();
            report.show(&mut page);
            page.print()?;
        }
        Ok(Exit::Done)
    }
}

impl Report {
    fn of(desk: &Desk) -> Result<Self, Trouble> {
        let project = desk.local.project();
        let store = match desk.open_if_any()? {
            None => None,
            Some((memory, caller)) => {
                let census = memory.census(&caller)?;
                let (major, minor) = memory.engine().schema_version()?;
                Some(Store {
                    size_bytes: census.size_bytes,
                    schema: format!("{major}.{minor}"),
                    pulse: memory.pulse(&caller)?,
                    n_records: census.n_records,
                    n_user_records: census.n_user_records,
                    workspaces: census.workspaces,
                    waiting: census.waiting,
                    conflicts: memory.open_conflicts(&caller, MAX_LISTED_CONFLICTS)?,
                    meaning: memory.embedding_state()?,
                })
            }
        };
        Ok(Self {
            home: desk.local.home().display().to_string(),
            project: Told::of(desk)?,
            branch: project.branch.clone(),
            workspace: desk
                .workspace(None)
                .unwrap_or_else(|| DEFAULT_WORKSPACE.to_owned()),
            about: About::of(&desk.config.home, &desk.anchors()),
            store,
        })
    }

    fn json(&self) -> Value {
        let named = |(workspace, n): &(String, u64)| json!({"workspace": workspace, "records": n});
        let contested =
            |(workspace, key): &(String, String)| json!({"workspace": workspace, "fact_key": key});
        let mut told = json!({
            "mode": "embedded",
            "version": env!("CARGO_PKG_VERSION"),
            "project": self.project.name,
            "known_as": self.project.known_as,
            "other_memories": self.project.others_json(),
            "branch": self.branch,
            "workspace": self.workspace,
            "store": self.store.as_ref().map(|store| json!({
                "size_bytes": store.size_bytes,
                "schema": store.schema,
                "last_write": store.pulse.last_write.map(|moment| moment.to_string()),
                "last_capture": store.pulse.last_capture.map(|moment| moment.to_string()),
                "records": store.n_records,
                "user_records": store.n_user_records,
                "workspaces": store.workspaces.iter().map(named).collect::<Vec<_>>(),
                "waiting": store.waiting,
                "conflicts": store.conflicts.iter().map(contested).collect::<Vec<_>>(),
                "meaning": meaning_json(&store.meaning),
            })),
        });
        self.about.add_to(&mut told);
        told
    }

    fn show(&self, page: &mut Page) {
        let branch = self
            .branch
            .as_ref()
            .map_or(String::new(), |branch| format!(" · {branch}"));
        page.pair("project", &format!("{}{branch}", self.project.in_words()));
        let Some(store) = &self.store else {
            page.pair("memory", "nothing saved on this computer yet");
            page.pair("kept in", &self.home);
            page.pair("files", &self.about.roots_in_words());
            page.pair("version", env!("CARGO_PKG_VERSION"));
            page.hint("mmw-agent remember \"…\"");
            return;
        };
        let records = |n: u64| {
            format!(
                "{n} {}",
                plural(usize::try_from(n).unwrap_or(usize::MAX), "record")
            )
        };
        page.pair("memory", &records(store.n_records));
        for (workspace, n) in &store.workspaces {
            let mark = if *workspace == self.workspace {
                "▸"
            } else {
                " "
            };
            page.pair("", &format!("{mark} {workspace} {n}"));
        }
        if store.n_user_records > 0 {
            page.pair(
                "yours",
                &format!("{} in @user", records(store.n_user_records)),
            );
        }
        let n_conflicts = store.conflicts.len();
        let more = if n_conflicts == MAX_LISTED_CONFLICTS {
            " or more"
        } else {
            ""
        };
        page.pair("conflicts", &format!("{n_conflicts}{more} open"));
        page.pair("review", &format!("{} waiting", store.waiting));
        page.pair("meaning", &meaning(&store.meaning));
        came_in(page, &store.pulse);
        page.pair(
            "kept in",
            &format!("{} ({})", self.home, size(store.size_bytes)),
        );
        page.pair("files", &self.about.roots_in_words());
        let version = env!("CARGO_PKG_VERSION");
        page.pair("version", &format!("{version}, store {}", store.schema));
        self.project.hint(page);
        if n_conflicts > 0 {
            page.hint("to decide conflicts: mmw-agent resolve");
        }
        if store.waiting > 0 {
            page.hint("to decide what waits: mmw-agent review");
        }
    }
}

/// Tells when something last came in.
fn came_in(page: &mut Page, pulse: &Pulse) {
    let when = |page: &Page, moment: Option<Timestamp>| match moment {
        Some(moment) => format!("{} ({moment})", page.age(moment)),
        None => "never".to_owned(),
    };
    let (written, captured) = (when(page, pulse.last_write), when(page, pulse.last_capture));
    page.pair("last write", &written);
    page.pair("captured", &captured);
}

/// Tells how far the vectors of all projects are.
fn meaning(state: &EmbeddingState) -> String {
    match state {
        EmbeddingState::Off => "switched off: searches go by words".to_owned(),
        EmbeddingState::Unavailable(why) => format!("searches go by words: {why}"),
        EmbeddingState::On(at) if at.n_embedded < at.n_records => format!(
            "{} of {} records embedded, others are found by words ({})",
            at.n_embedded, at.n_records, at.model
        ),
        EmbeddingState::On(at) => format!("all records embedded ({})", at.model),
    }
}

fn meaning_json(state: &EmbeddingState) -> Value {
    match state {
        EmbeddingState::Off => json!({ "state": "off" }),
        EmbeddingState::Unavailable(why) => {
            json!({ "state": "unavailable", "why": why.to_string() })
        }
        EmbeddingState::On(at) => json!({
            "state": "on",
            "model": at.model,
            "embedded": at.n_embedded,
            "records": at.n_records,
        }),
    }
}

/// Returns a size with one unit.
#[allow(clippy::cast_precision_loss, reason = "one digit is shown")]
fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{:.0} KiB", bytes as f64 / 1024.0),
        1_048_576..1_073_741_824 => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
        _ => format!("{:.1} GiB", bytes as f64 / 1_073_741_824.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_has_one_unit() {
        for (bytes, shown) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (4096, "4 KiB"),
            (5_500_000, "5.2 MiB"),
            (u64::MAX, "17179869184.0 GiB"),
        ] {
            assert_eq!(size(bytes), shown);
        }
    }
}
