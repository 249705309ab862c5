//! Which source ids are paths, and what they look like on this system. Pure, but for resolving one.
//!
//! Windows paths are read on every system: a fact that was saved on one computer is searched on another.

use std::path::{Component, Path, PathBuf};

use super::windows;

/// Tells whether the document of a source id looks like a path of a file.
///
/// `docs/deploy.md`, `Cargo.toml`, `/abs/x.rs`, `C:\src\x.rs` and `Makefile` do; `session:4f1c`,
/// `https://…`, `mailto:x`, `owner-note` and `ticket #12` do not: left alone, whatever they mean.
pub(crate) fn looks_like_one(document: &str) -> bool {
    let document = document.trim();
    if document.is_empty() || document.ends_with(['/', '\\']) || document.contains(['\0', '\n']) {
        return false;
    }
    if windows::has_drive(document) {
        return true;
    }
    if has_scheme(document) {
        return false;
    }
    if document.starts_with("\\\\") || document.starts_with("//") {
        // A share on another computer: looking there is a connection.
        return false;
    }
    let name = name(document);
    if name == ".." || name == "." {
        return false;
    }
    let is_in_folder = document.contains(['/', '\\']);
    is_in_folder || has_extension(name) || is_known_name(name)
}

/// Tells whether a document is a path beyond doubt, so that its absence says something: `acme/api`,
/// `and/or`, `example.com` and `example.com/a.md` may be names of other things.
pub(crate) fn is_surely_one(document: &str) -> bool {
    const DOMAINS: [&str; 12] = [
        "com", "org", "net", "io", "dev", "ai", "app", "edu", "gov", "ru", "de", "uk",
    ];
    const USUAL: [&str; 49] = [
        "md", "mdx", "txt", "rst", "adoc", "rs", "toml", "py", "pyi", "js", "mjs", "cjs", "ts",
        "tsx", "jsx", "json", "jsonc", "yaml", "yml", "go", "java", "kt", "kts", "c", "h", "cc",
        "cpp", "hpp", "cs", "rb", "php", "swift", "scala", "sh", "bash", "sql", "html", "css",
        "scss", "vue", "svelte", "xml", "ini", "cfg", "conf", "lock", "proto", "tf", "gradle",
    ];
    let document = document.trim();
    if !looks_like_one(document) {
        return false;
    }
    let name = name(document);
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    let extension = extension.to_ascii_lowercase();
    if is_explicit(document) || is_known_name(name) {
        return true;
    }
    let first = document.split(['/', '\\']).next().unwrap_or(document);
    let is_in_folder = first.len() < document.len();
    if is_in_folder {
        let host = first.rsplit_once('.').map_or("", |(_, end)| end);
        return has_extension(name) && !DOMAINS.contains(&host);
    }
    USUAL.contains(&extension.as_str())
}

/// Tells whether a path says itself where it begins: `/x`, `./x`, `../x`, `C:\x`.
pub(crate) fn is_explicit(document: &str) -> bool {
    let document = document.trim();
    let begins = ["/", "./", "../", ".\\", "..\\"];
    begins.iter().any(|begin| document.starts_with(begin)) || windows::has_drive(document)
}

fn name(document: &str) -> &str {
    document.rsplit(['/', '\\']).next().unwrap_or(document)
}

/// Something like `session:` or `https:` before anything that a path would have.
fn has_scheme(text: &str) -> bool {
    let Some((scheme, _)) = text.split_once(':') else {
        return false;
    };
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.' | b'_'))
}

/// `deploy.md` has one, `v1.2`, `Mr. Smith` and `.` have none.
fn has_extension(name: &str) -> bool {
    let Some((stem, extension)) = name.rsplit_once('.') else {
        return false;
    };
    let is_short = (1..=10).contains(&extension.len());
    let is_word = extension.bytes().all(|b| b.is_ascii_alphanumeric())
        && extension.bytes().any(|b| b.is_ascii_alphabetic());
    // `.gitignore` is a name with a leading point and nothing else.
    (is_short && is_word && !name.contains(' ')) || (stem.is_empty() && extension.len() > 1)
}

/// Files that everybody knows and that have no extension.
fn is_known_name(name: &str) -> bool {
    const KNOWN: [&str; 14] = [
        "Makefile",
        "Dockerfile",
        "Containerfile",
        "Justfile",
        "justfile",
        "Rakefile",
        "Gemfile",
        "Procfile",
        "Vagrantfile",
        "Jenkinsfile",
        "LICENSE",
        "README",
        "CODEOWNERS",
        "BUILD",
    ];
    KNOWN.contains(&name)
}

/// Returns the paths of this system that a document may mean, the likeliest first; none for a path
/// of another system.
///
/// A relative path that was written on Windows is one with slashes elsewhere; a file whose name has a
/// backslash in it comes before that.
pub(crate) fn native(document: &str) -> Vec<PathBuf> {
    let document = document.trim();
    let mut paths = vec![PathBuf::from(document)];
    if !cfg!(windows) {
        if windows::has_drive(document) {
            // A folder of that name in a root is not what was meant: it lies outside of every root.
            return vec![Path::new("/").join(document)];
        }
        if document.contains('\\') {
            paths.push(PathBuf::from(document.replace('\\', "/")));
        }
    }
    paths
}

/// Returns a resolved path relative to a resolved folder, with `/`; `None` if it does not lie in it or
/// is no text.
pub(crate) fn name_within(folder: &Path, path: &Path) -> Option<String> {
    if cfg!(windows) {
        return windows::name_within(folder.to_str()?, path.to_str()?);
    }
    let name = path.strip_prefix(folder).ok()?.to_str()?;
    (!name.is_empty()).then(|| name.to_owned())
}

/// Returns a resolved path as it is written.
pub(crate) fn shown(path: &Path) -> Option<String> {
    path.to_str().map(windows::plain)
}

/// Returns a path with `.` and `..` taken out as they are written; what would climb above the root stays
/// there.
pub(crate) fn folded(path: &Path) -> PathBuf {
    let mut folded = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                folded.pop();
            }
            other => folded.push(other),
        }
    }
    folded
}

/// Resolves what is there of a path; the rest is taken as it is written.
pub(crate) fn resolved_as_far_as_it_is(candidate: &Path) -> PathBuf {
    for ancestor in candidate.ancestors() {
        if let (Ok(resolved), Ok(rest)) =
            (ancestor.canonicalize(), candidate.strip_prefix(ancestor))
        {
            return folded(&resolved.join(rest));
        }
    }
    folded(candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_other_ids_are_told_apart() {
        for path in [
            "docs/deploy.md",
            "Cargo.toml",
            "/abs/x.rs",
            "./x",
            "../x.md",
            "src/main",
            "Makefile",
            "C:\\src\\x.rs",
            "c:/src/x.rs",
            "docs\\deploy.md",
            ".gitignore",
            "a b/c d.md",
            "файл.md",
            "x.tar.gz",
        ] {
            assert!(looks_like_one(path), "{path}");
        }
        for other in [
            "",
            " ",
            "session:4f1c",
            "https://example.org/a.md",
            "file:///etc/passwd",
            "mailto:x@y.org",
            "owner-note",
            "claude-code",
            "docs/",
            "..",
            ".",
            "v1.2",
            "Mr. Smith said",
            "import:mem0",
            "\\\\server\\share\\x.md",
            "//server/share/x.md",
            "git:4c536992",
            "1.2.3",
            "urn:uuid:x/y.md",
        ] {
            assert!(!looks_like_one(other), "{other}");
        }
    }

    #[test]
    fn only_what_is_a_path_beyond_doubt_can_be_missed() {
        for sure in [
            "docs/deploy.md",
            "Cargo.toml",
            "README",
            "./x",
            "/abs/x",
            "src\\main.rs",
            "a/b.weird",
            "v1.2/notes.md",
        ] {
            assert!(is_surely_one(sure), "{sure}");
        }
        for doubtful in [
            "acme/api",
            "and/or",
            "example.com",
            "example.com/a.md",
            "feature/login",
            "2026/11/30",
            "mem0.ai",
            "owner-note",
            "session:4f1c",
            "notes.old",
        ] {
            assert!(!is_surely_one(doubtful), "{doubtful}");
        }
    }

    #[test]
    fn dots_are_folded_and_never_climb_above_the_root() {
        for (path, expected) in [
            ("/a/./b/../c", "/a/c"),
            ("/../../x", "/x"),
            ("/a/b/../../..", "/"),
        ] {
            assert_eq!(folded(Path::new(path)), Path::new(expected), "{path}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_path_from_windows_is_read() {
        assert_eq!(
            native("docs\\a\\b.md"),
            [Path::new("docs\\a\\b.md"), Path::new("docs/a/b.md")]
        );
        assert_eq!(native("docs/b.md"), [Path::new("docs/b.md")]);
        assert_eq!(native("C:\\docs\\b.md"), [Path::new("/C:\\docs\\b.md")]);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_answered(text in "(?s).{0,60}") {
            looks_like_one(&text);
            is_surely_one(&text);
            for path in native(&text) {
                folded(&path);
            }
        }
    }
}
