//! Files that usually hold secrets, by their names. Pure.
//!
//! A hash of a file that is little more than one password can be guessed from outside, so such files are
//! never hashed.

use std::path::Path;

/// Whole names.
const NAMES: [&str; 20] = [
    ".netrc",
    "_netrc",
    ".pgpass",
    ".my.cnf",
    ".npmrc",
    ".pypirc",
    ".dockercfg",
    ".htpasswd",
    ".git-credentials",
    ".vault-token",
    "credentials",
    "credentials.json",
    "credentials.toml",
    "secrets.json",
    "secrets.yml",
    "secrets.yaml",
    "secrets.toml",
    "kubeconfig",
    "service-account.json",
    "token",
];

/// Ends of names.
const EXTENSIONS: [&str; 16] = [
    "pem", "key", "p12", "pfx", "jks", "keystore", "kdbx", "ppk", "asc", "gpg", "pgp", "env",
    "tfvars", "tfstate", "ovpn", "p8",
];

/// Folders in which every file counts as one. A repository's own has addresses with passwords in them.
const FOLDERS: [&str; 6] = [".ssh", ".gnupg", ".aws", ".kube", ".password-store", ".git"];

/// What the files of private keys have in their names, behind `id_`.
const KEYS: [&str; 4] = ["rsa", "dsa", "ecdsa", "ed25519"];

/// Tells whether a file usually holds secrets.
pub(super) fn is_secret(path: &Path) -> bool {
    let in_folder = path.parent().is_some_and(|parent| {
        parent.components().any(|part| {
            let part = part.as_os_str();
            FOLDERS.iter().any(|known| part.eq_ignore_ascii_case(known))
        })
    });
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
        // A name that is no text may be anything.
        return true;
    };
    let name = name.to_ascii_lowercase();
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    let is_key = name
        .strip_prefix("id_")
        .is_some_and(|kind| KEYS.iter().any(|known| kind.starts_with(known)) && extension != "pub");
    in_folder
        || is_key
        || name.starts_with(".env")
        || NAMES.contains(&name.as_str())
        || EXTENSIONS.contains(&extension)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_secrets_are_known_by_name() {
        for secret in [
            "/p/.env",
            "/p/.env.local",
            "/p/.ENV",
            "/p/prod.env",
            "/p/deploy.pem",
            "/p/id_rsa",
            "/p/.ssh/config",
            "/p/.aws/config",
            "/p/.npmrc",
            "/p/terraform.tfvars",
            "/p/config/master.key",
            "/p/.env-prod",
            "/p/.env.example",
            "/p/.envrc",
            "/p/.git/config",
            "/p/id_ed25519_work",
            "/p/.SSH/known_hosts",
        ] {
            assert!(is_secret(Path::new(secret)), "{secret}");
        }
        for ordinary in [
            "/p/src/key.rs",
            "/p/docs/env.md",
            "/p/environment.yml",
            "/p/src/token.rs",
            "/p/keys.md",
            "/p/.gitignore",
            "/p/.github/workflows/ci.yml",
            "/p/id_rsa.pub",
            "/p/src/id_map.rs",
        ] {
            assert!(!is_secret(Path::new(ordinary)), "{ordinary}");
        }
    }
}
