//! Where a person's folders are, on each system: a pure function of names, so that Linux tests Windows.

use std::ffi::OsString;
use std::path::PathBuf;

/// A kind of system, as far as folders differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum System {
    /// Linux and other Unixes.
    Unix,
    /// macOS.
    Mac,
    /// Windows.
    Windows,
}

impl System {
    /// The system that this program was built for.
    pub const HERE: Self = if cfg!(windows) {
        Self::Windows
    } else if cfg!(target_os = "macos") {
        Self::Mac
    } else {
        Self::Unix
    };
}

/// The folders in which clients keep their settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// The system.
    pub system: System,
    /// The person's home; empty if there is none.
    pub home: PathBuf,
    /// Settings of programs with windows: `~/.config`, `~/Library/Application Support`, `%APPDATA%`.
    pub settings: PathBuf,
    /// Settings of programs that keep to `~/.config` on macOS as well.
    pub xdg: PathBuf,
    /// Claude Code's folder, and the file of its servers.
    pub claude: PathBuf,
    /// The file in which Claude Code keeps servers.
    pub claude_servers: PathBuf,
    /// Codex's folder.
    pub codex: PathBuf,
    /// The folders in which programs are looked for.
    pub path: OsString,
}

impl Places {
    /// Tells whether the person's home is known: without it every folder would be one of the present folder,
    /// which may be somebody's project.
    #[must_use]
    pub fn are_known(&self) -> bool {
        self.home.is_absolute()
    }

    /// Finds the folders by the environment's variables.
    pub fn of(system: System, lookup: impl Fn(&str) -> Option<OsString>) -> Self {
        let named = |name: &str| lookup(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        let home = match system {
            System::Windows => named("USERPROFILE").or_else(|| named("HOME")),
            System::Unix | System::Mac => named("HOME"),
        }
        .unwrap_or_default();
        let xdg = match system {
            System::Windows => None,
            System::Unix | System::Mac => {
                named("XDG_CONFIG_HOME").filter(|path| path.is_absolute())
            }
        }
        .unwrap_or_else(|| home.join(".config"));
        let settings = match system {
            System::Unix => xdg.clone(),
            System::Mac => home.join("Library").join("Application Support"),
            System::Windows => {
                named("APPDATA").unwrap_or_else(|| home.join("AppData").join("Roaming"))
            }
        };
        // Set, the folder holds the file that else lies beside it.
        let moved = named("CLAUDE_CONFIG_DIR");
        let claude_servers = moved.as_ref().unwrap_or(&home).join(".claude.json");
        Self {
            system,
            claude: moved.unwrap_or_else(|| home.join(".claude")),
            claude_servers,
            codex: named("CODEX_HOME").unwrap_or_else(|| home.join(".codex")),
            path: lookup("PATH").unwrap_or_default(),
            home,
            settings,
            xdg,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn places(system: System, vars: &[(&str, &str)]) -> Places {
        Places::of(system, |name| {
            let found = vars.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| OsString::from(value))
        })
    }

    #[test]
    fn each_system_has_its_folder_for_settings() {
        let check = |system, vars: &[(&str, &str)], settings: &str, xdg: &str| {
            let found = places(system, vars);
            assert_eq!(found.settings, Path::new(settings));
            assert_eq!(found.xdg, Path::new(xdg));
        };
        let home = ("HOME", "/h");
        check(System::Unix, &[home], "/h/.config", "/h/.config");
        let xdg = ("XDG_CONFIG_HOME", "/x");
        check(System::Unix, &[home, xdg], "/x", "/x");
        // "All paths must be absolute", says the standard, and what is not is to be ignored.
        let relative = ("XDG_CONFIG_HOME", "x");
        check(System::Unix, &[home, relative], "/h/.config", "/h/.config");
        let library = "/h/Library/Application Support";
        check(System::Mac, &[home], library, "/h/.config");
        let (profile, roaming) = (("USERPROFILE", "/u"), ("APPDATA", "/u/r"));
        check(System::Windows, &[profile, roaming], "/u/r", "/u/.config");
        check(System::Windows, &[home], "/h/AppData/Roaming", "/h/.config");
    }

    #[test]
    fn without_an_absolute_home_no_folder_is_known() {
        assert!(places(System::Unix, &[("HOME", "/h")]).are_known());
        for vars in [&[][..], &[("HOME", "")], &[("HOME", "h")]] {
            assert!(!places(System::Unix, vars).are_known(), "{vars:?}");
        }
    }

    #[test]
    fn a_client_that_was_moved_is_found_there() {
        let home = ("HOME", "/h");
        let usual = places(System::Unix, &[home]);
        assert_eq!(usual.claude, Path::new("/h/.claude"));
        assert_eq!(usual.claude_servers, Path::new("/h/.claude.json"));
        assert_eq!(usual.codex, Path::new("/h/.codex"));
        let moved = [home, ("CLAUDE_CONFIG_DIR", "/c"), ("CODEX_HOME", "/d")];
        let moved = places(System::Unix, &moved);
        assert_eq!(moved.claude, Path::new("/c"));
        assert_eq!(moved.claude_servers, Path::new("/c/.claude.json"));
        assert_eq!(moved.codex, Path::new("/d"));
    }
}
