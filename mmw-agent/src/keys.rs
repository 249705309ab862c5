//! Keys of servers, kept for clients that start this program without one in its environment.
//!
//! A file of the agent's own, for its owner only. A key stands under the endpoint that it was given for and
//! is handed out for that endpoint alone.

use std::collections::BTreeMap;
use std::path::Path;

use crate::config::{ApiKey, Config};
use crate::connect::file::{self, FileError};
use crate::exit::{Exit, Trouble, chain};
use crate::local::make_private;
use crate::relay::endpoint::Endpoint;

/// The file in the agent's home.
pub(crate) const FILE: &str = "keys.json";

/// Returns the key for an endpoint: that of the environment, else the one that was kept for it.
///
/// # Errors
/// If the file can't be read.
pub(crate) fn key_for(config: &Config, endpoint: &Endpoint) -> Result<Option<ApiKey>, Trouble> {
    if config.api_key.is_some() {
        return Ok(config.api_key.clone());
    }
    let mut kept = read(&config.home).map_err(|error| unusable(&error))?;
    Ok(kept.remove(endpoint.url()).map(ApiKey::new))
}

/// Keeps a key for an endpoint, in place of an earlier one.
///
/// # Errors
/// If the file can't be written; nothing changes then.
pub(crate) fn keep(home: &Path, endpoint: &Endpoint, key: &ApiKey) -> Result<(), Trouble> {
    let kept = || -> Result<(), FileError> {
        make_private(home).map_err(FileError::Unwritable)?;
        let found = file::read(&home.join(FILE))?;
        let mut keys = read(home)?;
        keys.insert(endpoint.url().to_owned(), key.reveal().to_owned());
        let text = serde_json::to_string_pretty(&keys).unwrap_or_default() + "\n";
        file::replace(&found, Some(&text))
    };
    kept().map_err(|error| unusable(&error))
}

/// A file that is no JSON of ours holds no keys.
fn read(home: &Path) -> Result<BTreeMap<String, String>, FileError> {
    let text = file::read(&home.join(FILE))?.text.unwrap_or_default();
    Ok(serde_json::from_str(&text).unwrap_or_default())
}

fn unusable(error: &FileError) -> Trouble {
    Trouble::new(
        Exit::Store,
        format!("the keys in {FILE} can't be used: {}", chain(error)),
    )
    .hint("set MMW_API_KEY instead")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn config(home: &Path, key: Option<&str>) -> Config {
        Config::from_lookup(
            |name| match name {
                "HOME" | "MMW_AGENT_HOME" => Some(home.into()),
                "MMW_API_KEY" => key.map(Into::into),
                _ => None,
            },
            PathBuf::from("/"),
        )
        .unwrap()
    }

    #[test]
    fn a_key_is_handed_out_for_its_own_endpoint_alone() {
        let home = tempfile::tempdir().unwrap();
        let one = Endpoint::parse("https://a.example").unwrap();
        let other = Endpoint::parse("https://b.example").unwrap();
        keep(home.path(), &one, &ApiKey::new("mmw_1_a".to_owned())).unwrap();
        let config = |key| config(home.path(), key);
        let found = |endpoint, key| {
            let key = key_for(&config(key), endpoint).unwrap();
            key.map(|key| key.reveal().to_owned())
        };
        assert_eq!(found(&one, None).as_deref(), Some("mmw_1_a"));
        assert_eq!(found(&other, None), None);
        assert_eq!(found(&one, Some("mmw_2_b")).as_deref(), Some("mmw_2_b"));
        keep(home.path(), &one, &ApiKey::new("mmw_3_c".to_owned())).unwrap();
        assert_eq!(found(&one, None).as_deref(), Some("mmw_3_c"));
    }

    #[cfg(unix)]
    #[test]
    fn the_file_is_for_its_owner_only() {
        use std::os::unix::fs::PermissionsExt as _;
        let home = tempfile::tempdir().unwrap();
        let endpoint = Endpoint::parse("https://a.example").unwrap();
        keep(home.path(), &endpoint, &ApiKey::new("mmw_1_a".to_owned())).unwrap();
        let about = std::fs::metadata(home.path().join(FILE)).unwrap();
        assert_eq!(about.permissions().mode() & 0o777, 0o600);
    }
}
