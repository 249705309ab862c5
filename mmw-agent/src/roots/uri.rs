//! Folders as clients write them: `file:///home/ann/shop`. A pure function, the same on every system.

use std::path::PathBuf;

/// Returns the folder that a `file:` address names on this computer; `None` for anything else.
pub(crate) fn folder(uri: &str, is_windows: bool) -> Option<PathBuf> {
    let scheme = uri.get(..7)?;
    let rest = uri.get(7..)?;
    if !scheme.eq_ignore_ascii_case("file://") {
        return None;
    }
    let (host, path) = rest.split_at(rest.find('/')?);
    // A folder on another computer: looking there is a connection.
    if !(host.is_empty() || host.eq_ignore_ascii_case("localhost")) {
        return None;
    }
    let path = percent_encoding::percent_decode_str(path)
        .decode_utf8()
        .ok()?;
    if path.contains('\0') {
        return None;
    }
    if !is_windows {
        return Some(PathBuf::from(path.as_ref()));
    }
    let path = path.strip_prefix('/')?;
    super::windows::has_drive(&format!("{path}/")).then(|| PathBuf::from(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_this_computer_is_read_on_every_system() {
        for (uri, is_windows, expected) in [
            (
                "file:///home/ann/my%20shop",
                false,
                Some("/home/ann/my shop"),
            ),
            ("FILE://localhost/srv", false, Some("/srv")),
            (
                "file:///C:/work%20of%20Ann/shop",
                true,
                Some("C:/work of Ann/shop"),
            ),
            ("file:///c%3A/shop", true, Some("c:/shop")),
            ("file:///C:", true, Some("C:")),
            ("file:///home", true, None),
            ("file://server/share", false, None),
            ("file://server/share", true, None),
            ("https://example.org/x", false, None),
            ("file:/x", false, None),
            ("file:///a%00b", false, None),
            ("file:///%ff", false, None),
            ("файл", false, None),
            ("", false, None),
        ] {
            let folder = folder(uri, is_windows);
            assert_eq!(folder, expected.map(PathBuf::from), "{uri} {is_windows}");
        }
    }
}
