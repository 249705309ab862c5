//! What paths look like on Windows. Pure functions of text, the same on every system.

/// Names that are devices in every folder, with any extension.
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];

/// Tells whether a text begins like `C:\` or `c:/`.
pub(super) fn has_drive(text: &str) -> bool {
    let mut bytes = text.bytes();
    let letter = bytes.next().is_some_and(|b| b.is_ascii_alphabetic());
    letter && bytes.next() == Some(b':') && matches!(bytes.next(), Some(b'/' | b'\\'))
}

/// Tells whether a path names no plain file: a device, or a stream beside a file's content.
pub(super) fn is_special(path: &str) -> bool {
    let path = plain(path);
    let rest = if has_drive(&path) { &path[2..] } else { &path };
    rest.split(['/', '\\']).any(|part| {
        let stem = part.split('.').next().unwrap_or(part);
        let stem = stem.trim_end().to_ascii_lowercase();
        let is_port = ["com", "lpt"].iter().any(|port| {
            stem.strip_prefix(port)
                .is_some_and(|n| matches!(n, "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9"))
        });
        part.contains(':') || is_port || DEVICES.contains(&stem.as_str())
    })
}

/// Returns a path without the mark of the long form: `\\?\C:\x` is `C:\x`, `\\?\UNC\s\x` is `\\s\x`.
pub(super) fn plain(path: &str) -> String {
    let Some(rest) = path.strip_prefix(r"\\?\") else {
        return path.to_owned();
    };
    match rest.strip_prefix(r"UNC\") {
        Some(share) => format!(r"\\{share}"),
        None => rest.to_owned(),
    }
}

/// Returns a path relative to a folder, with `/`; `None` if it does not lie in it. Letter case and
/// the kind of slash are no difference, and the name keeps its own.
pub(super) fn name_within(folder: &str, path: &str) -> Option<String> {
    let parts = |text: &str| -> Vec<String> {
        let text = plain(text);
        text.split(['/', '\\'])
            .filter(|part| !part.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let (folder, path) = (parts(folder), parts(path));
    let is_in = path.len() > folder.len()
        && folder
            .iter()
            .zip(&path)
            .all(|(a, b)| a.to_lowercase() == b.to_lowercase());
    is_in.then(|| path[folder.len()..].join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_relative_whatever_the_slashes_and_the_case() {
        for (folder, path, expected) in [
            (r"C:\Repo", r"C:\Repo\docs\a.md", Some("docs/a.md")),
            (r"\\?\C:\Repo", r"c:\repo\docs\A.md", Some("docs/A.md")),
            (r"C:\Repo", r"\\?\C:\Repo\docs\a.md", Some("docs/a.md")),
            ("C:/Repo", r"C:\Repo\a.md", Some("a.md")),
            (r"C:\Repo\", r"C:\Repo\a b.md", Some("a b.md")),
            (r"\\?\UNC\srv\share\r", r"\\srv\share\r\a.md", Some("a.md")),
            (r"C:\Repo", r"C:\Repo-2\a.md", None),
            (r"C:\Repo", r"D:\Repo\a.md", None),
            (r"C:\Repo", r"C:\Repo", None),
        ] {
            let name = name_within(folder, path);
            assert_eq!(name.as_deref(), expected, "{folder} {path}");
        }
    }

    #[test]
    fn devices_and_streams_are_no_files() {
        for special in [
            "NUL",
            r"C:\repo\nul",
            r"docs\aux.md",
            "com1.txt",
            r"docs\a.md:secret",
            r"C:\r\LPT9",
            "con .md",
        ] {
            assert!(is_special(special), "{special}");
        }
        for plain in [
            r"C:\repo\a.md",
            r"\\?\C:\repo\a.md",
            "docs/console.md",
            "com.md",
            "com10.txt",
            "null.rs",
            "auxiliary.md",
        ] {
            assert!(!is_special(plain), "{plain}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_answered(a in "(?s).{0,40}", b in "(?s).{0,40}") {
            is_special(&a);
            name_within(&a, &b);
            let inside = format!("{a}\\x.md");
            if !a.replace(['/', '\\'], "").is_empty() && !a.starts_with('\\') {
                let name = name_within(&a, &inside);
                proptest::prop_assert_eq!(name.as_deref(), Some("x.md"));
            }
        }
    }
}
