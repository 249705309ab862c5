//! What holds for every exchange over HTTP that one of these programs begins.
//!
//! No redirect is followed: it would take a key and texts somewhere that nobody named. Certificates are those that
//! the system trusts. A refusal is an answer. Whom to speak to, how long, and through which proxy is the caller's
//! to say.

use http::HeaderValue;
use http::header::InvalidHeaderValue;
use ureq::Agent;
use ureq::config::ConfigBuilder;
use ureq::tls::{RootCerts, TlsConfig};
use ureq::typestate::AgentScope;

/// Returns the settings to begin with.
#[must_use]
pub fn careful() -> ConfigBuilder<AgentScope> {
    let tls = TlsConfig::builder()
        .root_certs(RootCerts::PlatformVerifier)
        .build();
    Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .tls_config(tls)
}

/// Returns the header that carries a key; its debug form does not show it.
///
/// # Errors
/// If the key has characters that no header may have.
pub fn bearer(key: &str) -> Result<HeaderValue, InvalidHeaderValue> {
    let mut value = HeaderValue::try_from(format!("Bearer {key}"))?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_never_shown_and_a_broken_one_is_refused() {
        let header = bearer("mmw_1_secret").unwrap();
        assert_eq!(header, "Bearer mmw_1_secret");
        assert!(!format!("{header:?}").contains("secret"));
        assert!(bearer("a\nb").is_err());
    }

    #[test]
    fn a_redirect_is_an_answer_and_not_followed() {
        let config = careful().build();
        assert_eq!(config.max_redirects(), 0);
        assert!(!config.http_status_as_error());
    }
}
