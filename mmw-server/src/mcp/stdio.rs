//! MCP over stdin and stdout: one JSON-RPC message a line, nothing else on stdout.
//!
//! The store is opened and the caller found out when the first call needs them, so that the
//! handshake is answered at once whatever the store's size. Ends when the input ends, after what
//! has begun was answered.

use std::io;
use std::num::NonZeroUsize;
use std::sync::{Arc, OnceLock};

use mmw_core::env::{Clock, Entropy};
use rmcp::RoleServer;
use rmcp::model::ErrorData;
use rmcp::service::{RxJsonRpcMessage, ServerInitializeError, TxJsonRpcMessage, serve_server};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Mutex;

use super::{AddFn, CallerFn, Door, Local, Mcp, OwnTool, RootsFn};
use crate::actions::Registry;
use crate::desk::Desk;
use crate::json_text::without_lone_surrogates;
use crate::lane::{DEFAULT_TURNS, Lane, Opener};

/// The longest line that is read: a body of 1 MiB, like over HTTP, and room for its envelope.
const MAX_LINE_BYTES: usize = (1 << 20) + (1 << 14);

/// An embedded memory that is opened when it is first needed.
pub struct Embedded {
    /// Opens the memory.
    pub open: Box<Opener>,
    /// Tells who calls; asked once.
    pub caller: Box<CallerFn>,
    /// Completes a call with what the program around it knows.
    pub add: Box<AddFn>,
    /// Tools of the program around it, beside the actions.
    pub own: Vec<OwnTool>,
    /// Takes the folders that the client works in, if it tells them: before the first call, and whenever
    /// they change.
    pub roots: Box<RootsFn>,
    /// The clock that ages are told by.
    pub clock: Arc<dyn Clock>,
    /// Where the key of sealed states comes from.
    pub entropy: Arc<dyn Entropy>,
}

/// What can go wrong while stdio is served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StdioError {
    /// The client and this server found no version of the protocol in common, or the pipe broke.
    #[error("the conversation with the client could not begin")]
    Handshake(#[source] Box<ServerInitializeError>),
    /// The task that serves broke.
    #[error("serving broke")]
    Broken(#[source] tokio::task::JoinError),
}

/// Serves the actions over this process's stdin and stdout until the input ends.
///
/// # Errors
/// [`StdioError`]. The end of the input is no error, at whatever point it comes.
pub async fn serve_stdio(embedded: Embedded) -> Result<(), StdioError> {
    serve_lines(embedded, tokio::io::stdin(), tokio::io::stdout()).await
}

/// Serves the actions over any pair of streams as over stdin and stdout.
///
/// # Errors
/// As [`serve_stdio`].
pub async fn serve_lines<R, W>(embedded: Embedded, input: R, output: W) -> Result<(), StdioError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let turns = NonZeroUsize::new(DEFAULT_TURNS).unwrap_or(NonZeroUsize::MIN);
    let lane = Lane::opening(embedded.open, turns);
    let desk = Desk {
        lane: lane.clone(),
        actions: Registry::standard(),
        clock: embedded.clock,
    };
    let local = Local {
        add: embedded.add,
        own: embedded.own.into_iter().map(Arc::new).collect(),
        roots: embedded.roots,
        knows_roots: Mutex::new(false),
        find: embedded.caller,
        found: OnceLock::new(),
    };
    let handler = Mcp::new(
        desk,
        Door::Stdio(Arc::new(local)),
        embedded.entropy.as_ref(),
    );
    let ended = match serve_server(handler, Lines::new(input, output)).await {
        Ok(serving) => serving
            .waiting()
            .await
            .map(|_| ())
            .map_err(StdioError::Broken),
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(StdioError::Handshake(Box::new(error))),
    };
    lane.drain().await;
    ended
}

/// The transport: a line in, a line out.
struct Lines<R, W> {
    input: BufReader<R>,
    line: Vec<u8>,
    /// The rest of a line that was too long is being skipped.
    skipping: bool,
    output: Arc<Mutex<W>>,
    refusing: Option<tokio::task::JoinHandle<io::Result<()>>>,
}

/// What one look at the input gave.
enum Look {
    Line,
    TooLong,
    More,
    End,
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> Lines<R, W> {
    fn new(input: R, output: W) -> Self {
        Self {
            input: BufReader::new(input),
            line: Vec::new(),
            skipping: false,
            output: Arc::new(Mutex::new(output)),
            refusing: None,
        }
    }

    /// Takes what is there, up to the end of the line. Loses nothing if dropped while waiting.
    async fn look(&mut self) -> io::Result<Look> {
        let there = self.input.fill_buf().await?;
        if there.is_empty() {
            // A last line without its line break counts.
            let has_rest = !self.line.is_empty() && !self.skipping;
            return Ok(if has_rest { Look::Line } else { Look::End });
        }
        let line_end = there.iter().position(|&byte| byte == b'\n');
        let n_taken = line_end.map_or(there.len(), |at| at + 1);
        let fits = self.line.len() + n_taken <= MAX_LINE_BYTES;
        if fits && !self.skipping {
            self.line.extend_from_slice(&there[..n_taken]);
        } else {
            self.line.clear();
        }
        self.input.consume(n_taken);
        let was_skipping = self.skipping;
        self.skipping = (self.skipping || !fits) && line_end.is_none();
        Ok(match (line_end, was_skipping) {
            _ if !fits && !was_skipping => Look::TooLong,
            (Some(_), false) => Look::Line,
            _ => Look::More,
        })
    }
}

impl<R, W: AsyncWrite + Send + Unpin + 'static> Lines<R, W> {
    /// Answers what is no message. In a task of its own: `receive` may be dropped at any point,
    /// and half a line must never be written.
    fn refuse(&mut self, error: ErrorData) {
        let output = Arc::clone(&self.output);
        self.refusing = Some(tokio::spawn(async move {
            let message = TxJsonRpcMessage::<RoleServer>::error(error, None);
            write(&output, &message).await
        }));
    }
}

async fn write<W: AsyncWrite + Unpin>(
    output: &Mutex<W>,
    message: &TxJsonRpcMessage<RoleServer>,
) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    let mut output = output.lock().await;
    output.write_all(&line).await?;
    output.flush().await
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let output = Arc::clone(&self.output);
        async move { write(&output, &message).await }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if let Some(refusing) = &mut self.refusing {
                let refused = refusing.await;
                self.refusing = None;
                if !matches!(refused, Ok(Ok(()))) {
                    tracing::error!("stdout can't be written");
                    return None;
                }
            }
            let refused = match self.look().await {
                Ok(Look::More) => continue,
                Ok(Look::End) => return None,
                Ok(Look::TooLong) => ErrorData::invalid_request(
                    format!("a message may have at most {MAX_LINE_BYTES} bytes"),
                    None,
                ),
                Ok(Look::Line) => match read_message(&self.line) {
                    Ok(message) => {
                        self.line.clear();
                        match message {
                            Some(message) => return Some(message),
                            None => continue,
                        }
                    }
                    Err(error) => {
                        self.line.clear();
                        error
                    }
                },
                Err(error) => {
                    tracing::error!(%error, "stdin can't be read");
                    return None;
                }
            };
            self.refuse(refused);
        }
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.output.lock().await.flush().await
    }
}

/// Reads a line; `None` for an empty one and for a notification that this server does not know.
fn read_message(line: &[u8]) -> Result<Option<RxJsonRpcMessage<RoleServer>>, ErrorData> {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    let line = line.trim_ascii();
    if line.is_empty() {
        return Ok(None);
    }
    let line = without_lone_surrogates(line);
    serde_json::from_slice(&line).map(Some).or_else(|error| {
        let Ok(value) = serde_json::from_slice::<serde_json::Value>(&line) else {
            tracing::debug!("a line is no JSON");
            return Err(ErrorData::parse_error("this line is no JSON", None));
        };
        let is_notification = value.get("id").is_none() && value.get("method").is_some();
        if is_notification {
            return Ok(None);
        }
        tracing::debug!(at = error.column(), "a line is no message");
        Err(ErrorData::invalid_request(
            "this is no JSON-RPC 2.0 message of MCP",
            None,
        ))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rmcp::model::{JsonRpcMessage, NumberOrString};

    use super::*;

    /// Returns the ids of the requests that are read, and how many lines were refused.
    async fn read(input: Vec<u8>, chunk: usize) -> (Vec<i64>, usize) {
        let (mut to, from) = tokio::io::duplex(chunk);
        let writing = tokio::spawn(async move {
            to.write_all(&input).await.unwrap();
        });
        let (answers, output) = tokio::io::duplex(1 << 20);
        let mut lines = Lines::new(from, output);
        let mut ids = Vec::new();
        while let Some(message) = lines.receive().await {
            if let JsonRpcMessage::Request(request) = message
                && let NumberOrString::Number(id) = request.id
            {
                ids.push(id);
            }
        }
        writing.await.unwrap();
        drop(lines);
        let mut refused = BufReader::new(answers).lines();
        let mut n_refused = 0;
        while refused.next_line().await.unwrap().is_some() {
            n_refused += 1;
        }
        (ids, n_refused)
    }

    fn request(id: i64) -> String {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn however_the_input_is_cut_the_messages_are_the_same(
            ids in proptest::collection::vec(0..100_i64, 0..8),
            bad in proptest::collection::vec("[a-z{\\[]{1,9}", 0..4),
            chunk in 1..40_usize,
            last_break in any::<bool>(),
        ) {
            let mut lines: Vec<String> = ids.iter().map(|id| request(*id)).collect();
            for (nth, bad) in bad.iter().enumerate() {
                lines.insert((nth * 2).min(lines.len()), bad.clone());
            }
            let mut input = lines.join("\n");
            if last_break {
                input.push('\n');
            }
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let (read, n_refused) = runtime.block_on(read(input.into_bytes(), chunk));
            prop_assert_eq!(read, ids);
            prop_assert_eq!(n_refused, bad.len());
        }
    }

    #[tokio::test]
    async fn a_line_may_be_as_long_as_the_limit_and_no_longer() {
        let padded = |length: usize| {
            let request = request(1);
            format!(
                "{request}{}\n{}\n",
                " ".repeat(length - request.len() - 1),
                self::request(2)
            )
        };
        let fits = padded(MAX_LINE_BYTES);
        assert_eq!(read(fits.into_bytes(), 4096).await, (vec![1, 2], 0));
        let too_long = padded(MAX_LINE_BYTES + 1);
        assert_eq!(read(too_long.into_bytes(), 4096).await, (vec![2], 1));
    }
}
