//! Projects of real repositories, made by the real git.

use std::process::Command;

use tempfile::TempDir;

use super::*;

/// A folder in which git has no settings but the test's own.
struct Desk(TempDir);

impl Desk {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, inside: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(inside)
    }

    fn folder(&self, inside: &str) -> PathBuf {
        let path = self.path(inside);
        std::fs::create_dir_all(&path).unwrap();
        path
    }

    fn git(&self, inside: &str, words: &[&str]) {
        let done = self.ask_git(inside, words);
        assert!(done.status.success(), "{words:?}: {done:?}");
    }

    fn ask_git(&self, inside: &str, words: &[&str]) -> std::process::Output {
        Command::new("git")
            .args([
                "-c",
                "user.name=t",
                "-c",
                "user.email=t@t",
                "-c",
                "init.defaultBranch=main",
            ])
            .args(words)
            .current_dir(self.folder(inside))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env_remove("GIT_DIR")
            .output()
            .unwrap()
    }

    /// Makes a repository with one commit.
    fn repository(&self, inside: &str) {
        self.git(inside, &["init", "-q"]);
        self.git(inside, &["commit", "-q", "--allow-empty", "-m", "first"]);
    }
}

/// Checks both ways of looking, and that they agree.
fn check(folder: &Path, identity: &Identity, branch: Option<&str>) {
    let expected = Project {
        identity: identity.clone(),
        place: Project::of(folder).place,
        branch: branch.map(str::to_owned),
    };
    assert_eq!(Project::of(folder), expected);
    assert_eq!(branch_of(folder).as_deref(), branch);
    let from_files = files::look(folder).map(Repository::into_project);
    let inside = !matches!(identity, Identity::Folder(_));
    assert_eq!(from_files, inside.then_some(expected), "without git");
}

fn remote(name: &str) -> Identity {
    Identity::Remote(name.to_owned())
}

#[test]
fn a_subfolder_and_a_worktree_belong_to_the_repository() {
    let desk = Desk::new();
    desk.repository("api");
    desk.git(
        "api",
        &["worktree", "add", "-q", "-b", "feature/x", "../api-x"],
    );
    let identity = Identity::Repository(desk.path("api/.git"));
    check(&desk.path("api"), &identity, Some("main"));
    check(&desk.folder("api/src/deep"), &identity, Some("main"));
    check(&desk.path("api-x"), &identity, Some("feature/x"));

    let address = "git@github.com:acme/api.git";
    desk.git("api", &["remote", "add", "origin", address]);
    let identity = remote("github.com/acme/api");
    check(&desk.path("api"), &identity, Some("main"));
    check(&desk.folder("api-x/src"), &identity, Some("feature/x"));
}

#[test]
fn clones_of_one_remote_are_one_project_whatever_the_address() {
    let desk = Desk::new();
    for (clone, address) in [
        ("one", "git@github.com:acme/api.git"),
        ("two", "https://GitHub.com/acme/api"),
        ("three", "https://ann:hunter2@github.com/acme/api.git"),
    ] {
        desk.repository(clone);
        desk.git(clone, &["remote", "add", "origin", address]);
        check(
            &desk.path(clone),
            &remote("github.com/acme/api"),
            Some("main"),
        );
    }
}

#[test]
fn a_clone_of_a_folder_is_named_by_that_folder() {
    let desk = Desk::new();
    desk.repository("upstream");
    let from = desk.path("upstream");
    for clone in ["one", "two"] {
        desk.git(".", &["clone", "-q", from.to_str().unwrap(), clone]);
        check(
            &desk.path(clone),
            &remote(&format!("file:{}", from.display())),
            Some("main"),
        );
    }
}

#[test]
fn two_repositories_of_one_name_are_two_projects() {
    let desk = Desk::new();
    desk.repository("a/api");
    desk.repository("b/api");
    let (a, b) = (desk.path("a/api"), desk.path("b/api"));
    assert_ne!(Project::of(&a).identity, Project::of(&b).identity);
    check(&a, &Identity::Repository(a.join(".git")), Some("main"));
}

#[test]
fn a_folder_without_git_is_a_project_of_its_own() {
    let desk = Desk::new();
    let folder = desk.folder("notes");
    check(&folder, &Identity::Folder(folder.clone()), None);
}

#[test]
fn the_only_remote_counts_and_of_several_only_origin() {
    let desk = Desk::new();
    desk.repository("r");
    desk.git("r", &["remote", "add", "upstream", "https://h.io/a/b"]);
    check(&desk.path("r"), &remote("h.io/a/b"), Some("main"));
    desk.git("r", &["remote", "add", "fork", "https://h.io/c/b"]);
    let own = Identity::Repository(desk.path("r/.git"));
    check(&desk.path("r"), &own, Some("main"));
    desk.git("r", &["remote", "add", "origin", "https://h.io/d/b"]);
    check(&desk.path("r"), &remote("h.io/d/b"), Some("main"));
}

#[test]
fn an_empty_repository_has_a_branch_and_a_detached_one_none() {
    let desk = Desk::new();
    desk.git("r", &["init", "-q"]);
    let identity = Identity::Repository(desk.path("r/.git"));
    check(&desk.path("r"), &identity, Some("main"));
    desk.git("r", &["commit", "-q", "--allow-empty", "-m", "first"]);
    desk.git("r", &["checkout", "-q", "--detach"]);
    check(&desk.path("r"), &identity, None);
}

#[test]
fn a_branch_is_known_where_it_is_kept_in_no_file() {
    let desk = Desk::new();
    let made = desk.ask_git("r", &["init", "-q", "--ref-format=reftable"]);
    if !made.status.success() {
        // This git is older than the format.
        return;
    }
    desk.git("r", &["commit", "-q", "--allow-empty", "-m", "first"]);
    assert_eq!(branch_of(&desk.path("r")).as_deref(), Some("main"));
}

#[test]
fn a_bare_repository_and_a_submodule_are_projects_too() {
    let desk = Desk::new();
    desk.git("bare.git", &["init", "-q", "--bare"]);
    let identity = Identity::Repository(desk.path("bare.git"));
    check(&desk.path("bare.git"), &identity, Some("main"));

    desk.repository("lib");
    desk.repository("app");
    let lib = desk.path("lib");
    desk.git(
        "app",
        &[
            "-c",
            "protocol.file.allow=always",
            "submodule",
            "--quiet",
            "add",
            lib.to_str().unwrap(),
            "lib",
        ],
    );
    check(
        &desk.path("app/lib"),
        &remote(&format!("file:{}", lib.display())),
        Some("main"),
    );
}
