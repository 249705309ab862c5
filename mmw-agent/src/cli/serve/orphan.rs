//! Input that ends with the client, even where the client could not close it.
//!
//! A client that is killed leaves a pipe that another process may still hold open; the end of the
//! input then never comes, and agents without a client would pile up. So the end of the parent is
//! the end of the input. Where the system does not tell who the parent is, only the pipe counts.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, ReadBuf};
use tokio::time::{Interval, interval};

/// How often is looked whether the parent is still there.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// Reads from an input until it ends or this process has lost its parent.
pub(super) struct UntilOrphaned<R> {
    input: R,
    parent: Option<u32>,
    looks: Interval,
}

impl<R> UntilOrphaned<R> {
    /// Returns the input, bound to the parent of this moment. Needs a runtime with a timer.
    pub(super) fn new(input: R) -> Self {
        Self {
            input,
            parent: parent(),
            looks: interval(LOOK_EVERY),
        }
    }
}

#[cfg(unix)]
fn parent() -> Option<u32> {
    Some(std::os::unix::process::parent_id())
}

#[cfg(not(unix))]
fn parent() -> Option<u32> {
    None
}

impl<R: AsyncRead + Unpin> AsyncRead for UntilOrphaned<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.input).poll_read(context, buffer);
        if read.is_ready() {
            return read;
        }
        while self.looks.poll_tick(context).is_ready() {
            if parent() != self.parent {
                tracing::info!("the client is gone");
                return Poll::Ready(Ok(()));
            }
        }
        Poll::Pending
    }
}
