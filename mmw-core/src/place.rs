//! Where a record lives and who is asking: account, project, workspace, caller, scopes.
//!
//! A caller's reach comes from the key alone. Nothing here is ever parsed out of content, and an
//! empty workspace is an error, not "no filter".

use std::fmt;

use unicode_normalization::UnicodeNormalization;

use crate::ids::{AccountId, KeyId, PrincipalId, ProjectId};

/// The longest workspace name, in characters.
pub const MAX_WORKSPACE_CHARS: usize = 128;

/// The workspace of a call that names none.
pub const DEFAULT_WORKSPACE: &str = "default";

/// The person's own workspace, read along in every project of theirs.
pub const USER_WORKSPACE: &str = "@user";

/// Every workspace of the project, in a search.
pub const ALL_WORKSPACES: &str = "*";

/// A workspace name: NFC, trimmed, 1 to [`MAX_WORKSPACE_CHARS`] printable characters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkspaceName(String);

/// The text does not name a workspace; the message says why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WorkspaceError {
    /// Nothing but white space.
    #[error("a workspace name may not be empty; leave it out for `default`")]
    Empty,
    /// Longer than the limit.
    #[error("a workspace name has at most {MAX_WORKSPACE_CHARS} characters")]
    TooLong,
    /// A control character, or `*` outside a search.
    #[error("a workspace name may not contain control characters, `*` or `|`")]
    Character,
    /// Starts with `@` but is not `@user`.
    #[error("names that start with `@` are reserved; the person's own workspace is `@user`")]
    Reserved,
}

impl WorkspaceName {
    /// Reads a workspace name.
    ///
    /// # Errors
    /// [`WorkspaceError`] with the reason.
    pub fn new(text: &str) -> Result<Self, WorkspaceError> {
        let name: String = text.trim().nfc().collect();
        if name.is_empty() {
            return Err(WorkspaceError::Empty);
        }
        if name.chars().count() > MAX_WORKSPACE_CHARS {
            return Err(WorkspaceError::TooLong);
        }
        if name.chars().any(|c| c.is_control() || c == '*' || c == '|') {
            return Err(WorkspaceError::Character);
        }
        if name.starts_with('@') && name != USER_WORKSPACE {
            return Err(WorkspaceError::Reserved);
        }
        Ok(Self(name))
    }

    /// Returns the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Tells whether this is the person's own workspace.
    #[must_use]
    pub fn is_user(&self) -> bool {
        self.0 == USER_WORKSPACE
    }
}

impl Default for WorkspaceName {
    fn default() -> Self {
        Self(DEFAULT_WORKSPACE.to_owned())
    }
}

impl fmt::Display for WorkspaceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Which workspaces of the project a read covers. `@user` is read along in either case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkspaceChoice {
    /// One workspace.
    One(WorkspaceName),
    /// All of them (`*`).
    All,
}

impl WorkspaceChoice {
    /// Reads a choice: `*` or a workspace name.
    ///
    /// # Errors
    /// [`WorkspaceError`] as for a name.
    pub fn new(text: &str) -> Result<Self, WorkspaceError> {
        if text.trim() == ALL_WORKSPACES {
            return Ok(Self::All);
        }
        WorkspaceName::new(text).map(Self::One)
    }
}

/// Where a record lives.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The project; for `@user`, the hidden project that belongs to the person.
    pub project: ProjectId,
    /// The workspace in it.
    pub workspace: WorkspaceName,
}

/// One thing that a key may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Search and read.
    Read,
    /// Save.
    Write,
    /// Forget.
    Forget,
    /// Hand in captured events.
    Capture,
    /// Decide: resolve conflicts, approve candidates. A person's right, not an agent's.
    Review,
    /// Operate: metrics, purge, keys.
    Admin,
}

impl Scope {
    /// Every scope, in the order in which they are listed.
    pub const ALL: [Self; 6] = [
        Self::Read,
        Self::Write,
        Self::Forget,
        Self::Capture,
        Self::Review,
        Self::Admin,
    ];

    /// Returns the scope's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Forget => "forget",
            Self::Capture => "capture",
            Self::Review => "review",
            Self::Admin => "admin",
        }
    }

    const fn bit(self) -> u8 {
        match self {
            Self::Read => 1,
            Self::Write => 2,
            Self::Forget => 4,
            Self::Capture => 8,
            Self::Review => 16,
            Self::Admin => 32,
        }
    }
}

/// A set of scopes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Scopes(u8);

impl Scopes {
    /// Returns the set of these scopes.
    #[must_use]
    pub fn of(scopes: &[Scope]) -> Self {
        Self(scopes.iter().fold(0, |bits, scope| bits | scope.bit()))
    }

    /// Returns what an agent's key may do by default: read, write, forget, capture.
    #[must_use]
    pub fn agent() -> Self {
        Self::of(&[Scope::Read, Scope::Write, Scope::Forget, Scope::Capture])
    }

    /// Tells whether the scope is in the set.
    #[must_use]
    pub const fn has(self, scope: Scope) -> bool {
        self.0 & scope.bit() != 0
    }

    /// Returns the set with one scope more.
    #[must_use]
    pub const fn with(self, scope: Scope) -> Self {
        Self(self.0 | scope.bit())
    }

    /// Returns the scopes of the set in listing order.
    pub fn iter(self) -> impl Iterator<Item = Scope> {
        Scope::ALL.into_iter().filter(move |scope| self.has(*scope))
    }

    /// Reads names separated by commas or white space, for example `read,write`.
    ///
    /// # Errors
    /// The first name that is no scope.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut scopes = Self::default();
        for name in text.split([',', ' ']).filter(|name| !name.is_empty()) {
            let scope = Scope::ALL
                .into_iter()
                .find(|scope| scope.name() == name)
                .ok_or_else(|| name.to_owned())?;
            scopes = scopes.with(scope);
        }
        Ok(scopes)
    }
}

impl fmt::Display for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, scope) in self.iter().enumerate() {
            let comma = if nth == 0 { "" } else { "," };
            write!(f, "{comma}{}", scope.name())?;
        }
        Ok(())
    }
}

/// The way a call came in, for the audit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// MCP over HTTP.
    Mcp,
    /// MCP over stdio.
    Stdio,
    /// The REST interface.
    Rest,
    /// A command that a person typed.
    Command,
    /// A program that embeds the library.
    Library,
}

impl Way {
    /// Returns the way's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mcp => "mcp",
            Self::Stdio => "stdio",
            Self::Rest => "rest",
            Self::Command => "command",
            Self::Library => "library",
        }
    }
}

/// Who is asking, with everything that a rule may need to know of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The account that pays and is limited.
    pub account: AccountId,
    /// The project that the call is bound to.
    pub project: ProjectId,
    /// The hidden project that holds this person's `@user` workspace.
    pub user_project: ProjectId,
    /// The person or service.
    pub principal: PrincipalId,
    /// The key that was used; none on an embedded store.
    pub key: Option<KeyId>,
    /// What the key may do.
    pub scopes: Scopes,
    /// How the call came in.
    pub way: Way,
}

impl Caller {
    /// Returns where a record of that workspace lives for this caller.
    #[must_use]
    pub fn place(&self, workspace: WorkspaceName) -> Place {
        let project = if workspace.is_user() {
            self.user_project
        } else {
            self.project
        };
        Place { project, workspace }
    }

    /// Returns the projects whose records this caller may see: the bound one and their own.
    #[must_use]
    pub const fn visible_projects(&self) -> [ProjectId; 2] {
        [self.project, self.user_project]
    }

    /// Tells whether a record of that project may be seen, whatever its workspace.
    #[must_use]
    pub fn sees(&self, project: ProjectId) -> bool {
        self.visible_projects().contains(&project)
    }
}

/// How a person showed that they, and not a model, decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReviewWay {
    /// A key with the scope `review`.
    Key,
    /// An MCP elicitation accepted in the person's client, over stdio.
    Elicitation,
    /// A prompt answered at an interactive terminal.
    Terminal,
}

impl ReviewWay {
    /// Returns the way's name, as it is recorded.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Key => "key",
            Self::Elicitation => "elicitation",
            Self::Terminal => "terminal",
        }
    }

    /// Returns the way of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        [Self::Key, Self::Elicitation, Self::Terminal]
            .into_iter()
            .find(|way| way.name() == name)
    }
}

/// The proof that a person decides. Resolving and promoting take it: a model can't approve itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reviewer {
    way: ReviewWay,
}

impl Reviewer {
    /// Returns the proof if the caller's key has the scope `review`.
    #[must_use]
    pub fn by_key(caller: &Caller) -> Option<Self> {
        caller.scopes.has(Scope::Review).then_some(Self {
            way: ReviewWay::Key,
        })
    }

    /// The person accepted an elicitation in their own client.
    #[must_use]
    pub const fn by_elicitation() -> Self {
        Self {
            way: ReviewWay::Elicitation,
        }
    }

    /// The person answered at an interactive terminal.
    #[must_use]
    pub const fn at_terminal() -> Self {
        Self {
            way: ReviewWay::Terminal,
        }
    }

    /// Returns how the person decided.
    #[must_use]
    pub const fn way(self) -> ReviewWay {
        self.way
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_workspace_is_an_error_and_not_no_filter() {
        for empty in ["", " ", "\t\n"] {
            assert_eq!(WorkspaceName::new(empty), Err(WorkspaceError::Empty));
            assert_eq!(WorkspaceChoice::new(empty), Err(WorkspaceError::Empty));
        }
    }

    #[test]
    fn odd_names_are_refused_or_kept_as_they_are() {
        assert_eq!(WorkspaceName::new("*"), Err(WorkspaceError::Character));
        assert_eq!(WorkspaceName::new("a|b"), Err(WorkspaceError::Character));
        assert_eq!(WorkspaceName::new("@root"), Err(WorkspaceError::Reserved));
        assert_eq!(
            WorkspaceName::new(&"x".repeat(129)),
            Err(WorkspaceError::TooLong)
        );
        assert!(WorkspaceName::new(&"ж".repeat(128)).is_ok());
        assert_eq!(
            WorkspaceName::new(" proj-x&user_id=u1 ").unwrap().as_str(),
            "proj-x&user_id=u1"
        );
        assert!(WorkspaceName::new("@user").unwrap().is_user());
    }

    #[test]
    fn scopes_print_and_read_back() {
        let agent = Scopes::agent();
        assert_eq!(agent.to_string(), "read,write,forget,capture");
        assert_eq!(Scopes::parse(&agent.to_string()), Ok(agent));
        assert!(!agent.has(Scope::Review) && !agent.has(Scope::Admin));
        assert_eq!(Scopes::parse("read, fly"), Err("fly".to_owned()));
    }
}
