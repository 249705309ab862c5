//! The folders that a client works in: asked for once, before a call needs them, and again when the
//! client says that they have changed.
//!
//! The protocol asks for them up to 2025-11-25; later it has no such question, and nobody is asked.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::service::Peer;

use super::Local;

/// How long a client may take to name its folders.
const PATIENCE: Duration = Duration::from_secs(2);

/// The most folders that are taken from a client.
const MAX_ROOTS: usize = 64;

impl Local {
    /// Learns the client's folders, unless they are known. Waits while they are being asked for, so that
    /// no call is answered by those of before.
    pub(super) async fn know_roots(&self, peer: &Peer<RoleServer>) {
        let mut are_known = self.knows_roots.lock().await;
        if !*are_known {
            self.ask_for_roots(peer).await;
            *are_known = true;
        }
    }

    /// Learns the client's folders anew.
    pub(super) async fn learn_roots(&self, peer: &Peer<RoleServer>) {
        let mut are_known = self.knows_roots.lock().await;
        self.ask_for_roots(peer).await;
        *are_known = true;
    }

    #[allow(deprecated, reason = "the clients of today still offer them")]
    async fn ask_for_roots(&self, peer: &Peer<RoleServer>) {
        let offers = peer
            .peer_info()
            .is_some_and(|client| client.capabilities.roots.is_some());
        if !offers {
            return;
        }
        let asked = peer.list_roots();
        match tokio::time::timeout(PATIENCE, asked).await {
            Ok(Ok(listed)) => {
                let listed = listed.roots.into_iter().take(MAX_ROOTS);
                (self.roots)(listed.map(|root| root.uri).collect());
            }
            Ok(Err(error)) => tracing::warn!(%error, "the client does not tell its folders"),
            Err(_) => tracing::warn!("the client does not tell its folders in time"),
        }
    }
}
