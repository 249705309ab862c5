//! Fixture tools that change a list, and the streams that hear of it.

use rmcp::model::SubscriptionFilter;
use rmcp::service::{SubscriptionContext, SubscriptionSendError};
use tokio::sync::broadcast;

/// Changes that a slow listener may lag behind by.
const MAX_BEHIND: usize = 16;

/// The tools, with the list that each changes.
pub(super) const TOOLS: [&str; 2] = ["test_trigger_prompt_change", "test_trigger_tool_change"];

/// A list that has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Changed {
    Tools,
    Prompts,
}

/// Tells listeners of changes.
#[derive(Clone)]
pub(super) struct Changes(broadcast::Sender<Changed>);

impl Changes {
    pub(super) fn new() -> Self {
        Self(broadcast::channel(MAX_BEHIND).0)
    }

    /// Changes what that tool changes.
    pub(super) fn by_tool(&self, name: &str) {
        let changed = match name {
            "test_trigger_tool_change" => Changed::Tools,
            "test_trigger_prompt_change" => Changed::Prompts,
            _ => return,
        };
        // Nobody listens: nobody has to be told.
        let _ = self.0.send(changed);
    }

    /// Tells one listener of changes until it goes away.
    pub(super) async fn tell(&self, listener: &SubscriptionContext) {
        let mut changes = self.0.subscribe();
        loop {
            let changed = tokio::select! {
                changed = changes.recv() => changed,
                () = listener.cancelled() => return,
            };
            let sink = listener.sink();
            let told = match changed {
                Ok(Changed::Tools) if wants(listener, |filter| filter.tools_list_changed) => {
                    sink.notify_tool_list_changed().await
                }
                Ok(Changed::Prompts) if wants(listener, |filter| filter.prompts_list_changed) => {
                    sink.notify_prompt_list_changed().await
                }
                Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => Ok(()),
                Err(broadcast::error::RecvError::Closed) => return,
            };
            if matches!(told, Err(SubscriptionSendError::SubscriptionClosed)) {
                return;
            }
        }
    }
}

fn wants(listener: &SubscriptionContext, what: fn(&SubscriptionFilter) -> Option<bool>) -> bool {
    what(listener.accepted()) == Some(true)
}
