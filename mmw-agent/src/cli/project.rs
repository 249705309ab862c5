//! Which memory a folder has, and which it goes on with.

use serde_json::{Value, json};

use super::Desk;
use crate::exit::{Exit, Trouble, chain};
use crate::show::answers::plural;
use crate::show::{self, Page, clean::clean};

/// Show which memory this folder has, or go on with another
///
/// A repository has its memory by its remote, so that all clones and worktrees share one. When it gets its
/// first remote, when that is renamed, when the folder becomes a repository or is moved, the memory stays
/// what it was. Two memories that both hold something are never mixed: that of the new name is taken, and
/// this shows the other one, for you to decide.
///
/// Examples:
///   mmw-agent project
///   mmw-agent project --all
///   mmw-agent project --use github.com/acme/api
#[derive(Debug, clap::Args)]
#[command(
    verbatim_doc_comment,
    group(clap::ArgGroup::new("what").args(["all", "use_name"]))
)]
pub(super) struct Args {
    /// List the memories of all projects on this computer
    #[arg(long)]
    all: bool,
    /// Go on with the memory of that name here, and in all clones of this remote
    #[arg(long = "use", value_name = "NAME")]
    use_name: Option<String>,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
}

/// What is told of a folder's memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Told {
    /// The memory's name.
    pub(super) name: String,
    /// What the project is known by now, if that is another name.
    pub(super) known_as: Option<String>,
    /// Other memories that this project had under earlier names, with how much they hold.
    others: Vec<(String, u64)>,
}

impl Told {
    /// Returns what is to be told; looking makes no store.
    pub(super) fn of(desk: &Desk) -> Result<Self, Trouble> {
        let natural = desk.local.here().name;
        if !desk.local.exists() {
            return Ok(Self {
                name: natural,
                known_as: None,
                others: Vec::new(),
            });
        }
        let settled = desk.local.settled()?;
        let memory = desk.local.memory()?;
        let mut others = Vec::new();
        for name in &settled.former {
            let n_held = memory.local_holdings(name)?;
            if n_held > 0 {
                others.push((name.clone(), n_held));
            }
        }
        Ok(Self {
            name: settled.name.clone(),
            known_as: Some(natural).filter(|natural| *natural != settled.name),
            others,
        })
    }

    /// Returns the name, and the present one beside it.
    pub(super) fn in_words(&self) -> String {
        match &self.known_as {
            Some(now) => format!("{} (known as {now} now)", self.name),
            None => self.name.clone(),
        }
    }

    pub(super) fn others_json(&self) -> Value {
        let other = |(name, n_held): &(String, u64)| json!({"project": name, "items": n_held});
        self.others.iter().map(other).collect()
    }

    /// Says that there are other memories, and what to run.
    pub(super) fn hint(&self, page: &mut Page) {
        for (name, n_held) in &self.others {
            let n_items = usize::try_from(*n_held).unwrap_or(usize::MAX);
            page.hint(&clean(&format!(
                "not mixed in: {n_held} {} that this project has under the name it had before; to go on \
                 with those: mmw-agent project --use \"{name}\"",
                plural(n_items, "item")
            )));
        }
    }
}

impl Args {
    pub(super) fn run(self, desk: &Desk) -> Result<Exit, Trouble> {
        if let Some(name) = &self.use_name {
            self.go_on_with(desk, name)
        } else if self.all {
            self.list(desk)
        } else {
            self.show(desk)
        }
    }

    fn show(&self, desk: &Desk) -> Result<Exit, Trouble> {
        let told = Told::of(desk)?;
        let here = desk.local.here();
        if self.json {
            show::print_json(&json!({
                "project": told.name,
                "known_as": here.name,
                "place": here.place,
                "other_memories": told.others_json(),
            }))?;
            return Ok(Exit::Done);
        }
        let mut page = desk.page();
        page.pair("memory", &told.name);
        page.pair("known as", &here.name);
        page.pair("place", &here.place);
        told.hint(&mut page);
        page.print()?;
        Ok(Exit::Done)
    }

    fn list(&self, desk: &Desk) -> Result<Exit, Trouble> {
        let projects = match desk.open_if_any()? {
            Some((memory, _)) => memory.list_projects()?,
            None => Vec::new(),
        };
        if self.json {
            let listed: Vec<Value> = projects
                .iter()
                .map(|project| json!({"project": project.name, "records": project.n_records}))
                .collect();
            show::print_json(&json!({ "projects": listed }))?;
        } else {
            let mut page = desk.page();
            for project in &projects {
                page.line(clean(&format!(
                    "{:>6}  {}",
                    project.n_records, project.name
                )));
            }
            page.print()?;
        }
        Ok(if projects.is_empty() {
            Exit::Nothing
        } else {
            Exit::Done
        })
    }

    fn go_on_with(&self, desk: &Desk, name: &str) -> Result<Exit, Trouble> {
        let name = desk.local.guard().redact(name.trim()).0;
        let before = Told::of(desk)?;
        let is_known = match desk.open_if_any()? {
            Some((memory, _)) => memory
                .list_projects()?
                .iter()
                .any(|project| project.name == name),
            None => false,
        };
        // Its own name is there to be taken, whether anything was saved under it or not.
        if !is_known && desk.local.here().name != name {
            return Err(
                Trouble::new(Exit::Nothing, "nothing was ever saved under that name")
                    .hint("mmw-agent project --all lists the names"),
            );
        }
        desk.local.choose(&name).map_err(|error| {
            let why = chain(&error);
            Trouble::new(Exit::Store, format!("that can't be noted: {why}"))
        })?;
        if self.json {
            show::print_json(&json!({"project": name, "before": before.name}))?;
            return Ok(Exit::Done);
        }
        let mut page = desk.page();
        page.pair("memory", &name);
        page.hint("a client that runs now goes on with the one before until it is started again");
        if before.name != name {
            page.hint(&clean(&format!(
                "to go back: mmw-agent project --use \"{}\"",
                before.name
            )));
        }
        page.print()?;
        Ok(Exit::Done)
    }
}
