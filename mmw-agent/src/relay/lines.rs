//! Standard input and output: a message a line, each passed on by itself.
//!
//! `initialize` is answered before the next line is read, since what follows depends on it; all else goes its
//! way at once. An answer to a request that was cancelled is not written any more.

use std::collections::HashSet;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader,
};
use tokio::sync::mpsc::{Sender, channel};
use tokio::task::JoinSet;

use super::folders::{Folders, Heard};
use super::message::{Message, Method};
use super::{Relay, lock};

/// The longest line that is read: a body of 1 MiB, and room for its envelope.
const MAX_LINE_BYTES: u64 = (1 << 20) + (1 << 14);
/// Answers that may wait for a client that does not read.
const WAITING: usize = 64;
/// Messages that are on their way at once; more wait for their turn.
const AT_ONCE: usize = 32;

/// How long answers are waited for once the input has ended.
const LAST_ANSWERS: Duration = Duration::from_secs(20);

/// How often it is looked whether something waits. When it is tried again is the queue's to say.
const DRAIN_EVERY: Duration = Duration::from_secs(1);

const PARSE_ERROR: i64 = -32_700;
const INVALID_REQUEST: i64 = -32_600;

/// Relays until the input ends, and then until everything is answered.
///
/// # Errors
/// If the input can't be read or the output not be written.
pub(crate) async fn serve<R, W>(relay: Relay, input: R, output: W) -> io::Result<()>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let relay = Arc::new(relay);
    let cancelled: Arc<Mutex<HashSet<String>>> = Arc::default();
    let (answers, mut waiting) = channel::<Value>(WAITING);
    let writing = tokio::spawn(async move {
        let mut output = output;
        while let Some(answer) = waiting.recv().await {
            let mut line = answer.to_string();
            line.push('\n');
            output.write_all(line.as_bytes()).await?;
            output.flush().await?;
        }
        io::Result::Ok(())
    });
    keep_draining(&relay);
    let mut input = BufReader::new(input);
    let mut passing = JoinSet::new();
    let mut folders = Folders::default();
    let mut line = Vec::new();
    while let Some(read) = next_line(&mut input, &mut line).await? {
        let value = match read.and_then(|()| read_message(&line)) {
            Ok(Some(value)) => value,
            Ok(None) => continue,
            Err((code, said)) => {
                let error =
                    json!({"jsonrpc": "2.0", "id": null, "error": {"code": code, "message": said}});
                if answers.send(error).await.is_err() {
                    break;
                }
                continue;
            }
        };
        if let Some(id) = cancelled_id(&value) {
            lock(&cancelled).insert(id);
            continue;
        }
        match folders.hear(&value) {
            Heard::Nothing => {}
            Heard::Ask(question) => {
                let _ = answers.send(question).await;
            }
            Heard::Are(uris) => {
                let relay = Arc::clone(&relay);
                passing.spawn_blocking(move || relay.around.follow(uris));
                continue;
            }
            Heard::Untold => continue,
        }
        if let Some(id) = value.get("id") {
            // A number that is used again is another request than the one that was given up.
            lock(&cancelled).remove(&id.to_string());
        }
        let is_first = Message::of(&value).method == Method::Initialize;
        while passing.len() >= AT_ONCE {
            let _ = passing.join_next().await;
        }
        let (relay, cancelled, answers) =
            (Arc::clone(&relay), Arc::clone(&cancelled), answers.clone());
        let pass = move || pass(&relay, value, &cancelled, &answers);
        if is_first {
            let _ = tokio::task::spawn_blocking(pass).await;
        } else {
            passing.spawn_blocking(pass);
        }
    }
    // The client is gone; what has begun may still end, but a server that hangs keeps nobody here.
    let ended = async { while passing.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(LAST_ANSWERS, ended).await;
    drop(answers);
    writing.await.map_err(io::Error::other)?
}

/// Sends what waits, now and again, for as long as the relay is there.
fn keep_draining(relay: &Arc<Relay>) {
    let relay = Arc::downgrade(relay);
    let mut turns = tokio::time::interval(DRAIN_EVERY);
    tokio::spawn(async move {
        loop {
            turns.tick().await;
            let Some(relay) = relay.upgrade() else { return };
            let _ = tokio::task::spawn_blocking(move || relay.drain()).await;
        }
    });
}

/// Passes a message on and writes what comes back.
fn pass(relay: &Relay, value: Value, cancelled: &Mutex<HashSet<String>>, answers: &Sender<Value>) {
    let id = value.get("id").map(Value::to_string);
    relay.note_client(&value);
    relay.answer(value, &mut |answer| {
        let is_cancelled = id.as_ref().is_some_and(|id| lock(cancelled).contains(id));
        if !is_cancelled {
            // A client that is gone reads no answer.
            let _ = answers.blocking_send(answer);
        }
    });
    if let Some(id) = id {
        lock(cancelled).remove(&id);
    }
}

/// Returns the request that is to be given up, if that is what a message says.
fn cancelled_id(value: &Value) -> Option<String> {
    let is_cancelling =
        value.get("method").and_then(Value::as_str) == Some("notifications/cancelled");
    let id = value
        .pointer("/params/requestId")
        .filter(|_| is_cancelling)?;
    Some(id.to_string())
}

type Refusal = (i64, String);

/// Reads the next line; `None` at the end. What is too long is passed over and refused.
async fn next_line<R: AsyncRead + Unpin>(
    input: &mut BufReader<R>,
    line: &mut Vec<u8>,
) -> io::Result<Option<Result<(), Refusal>>> {
    let mut is_too_long = false;
    loop {
        line.clear();
        let n_read = (&mut *input)
            .take(MAX_LINE_BYTES)
            .read_until(b'\n', line)
            .await?;
        let is_whole = line.ends_with(b"\n") || (n_read as u64) < MAX_LINE_BYTES;
        if n_read == 0 && !is_too_long {
            return Ok(None);
        }
        if is_whole {
            break;
        }
        is_too_long = true;
    }
    if is_too_long {
        let said = format!("a message may have at most {MAX_LINE_BYTES} bytes");
        return Ok(Some(Err((INVALID_REQUEST, said))));
    }
    Ok(Some(Ok(())))
}

fn read_message(line: &[u8]) -> Result<Option<Value>, Refusal> {
    let line = line
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(line)
        .trim_ascii();
    if line.is_empty() {
        return Ok(None);
    }
    match serde_json::from_slice(line) {
        Ok(value @ Value::Object(_)) => Ok(Some(value)),
        Ok(_) => Err((INVALID_REQUEST, "a message is a JSON object".to_owned())),
        Err(_) => Err((PARSE_ERROR, "this line is no JSON".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn read(text: &[u8]) -> (usize, usize) {
        let mut input = BufReader::new(text);
        let (mut n_read, mut n_refused, mut line) = (0, 0, Vec::new());
        while let Some(read) = next_line(&mut input, &mut line).await.unwrap() {
            match read.and_then(|()| read_message(&line)) {
                Ok(Some(_)) => n_read += 1,
                Ok(None) => {}
                Err(_) => n_refused += 1,
            }
        }
        (n_read, n_refused)
    }

    #[tokio::test]
    async fn lines_are_read_one_by_one_and_bad_ones_refused() {
        assert_eq!(read(b"").await, (0, 0));
        assert_eq!(read(b"{}\n\n{}").await, (2, 0));
        assert_eq!(read(b"\xef\xbb\xbf{}\r\n[1]\nx\n{}\n").await, (2, 2));
    }

    #[tokio::test]
    async fn a_line_may_be_as_long_as_the_limit_and_no_longer() {
        let line = |length: u64| {
            let padding = " ".repeat(usize::try_from(length).unwrap() - 3);
            format!("{{}}{padding}\n{{}}\n").into_bytes()
        };
        assert_eq!(read(&line(MAX_LINE_BYTES)).await, (2, 0));
        assert_eq!(read(&line(MAX_LINE_BYTES + 1)).await, (1, 1));
        assert_eq!(read(&line(3 * MAX_LINE_BYTES)).await, (1, 1));
    }

    #[test]
    fn only_a_cancellation_cancels() {
        let cancel = json!({"method": "notifications/cancelled", "params": {"requestId": 7}});
        assert_eq!(cancelled_id(&cancel), Some("7".to_owned()));
        let other = json!({"method": "notifications/progress", "params": {"requestId": 7}});
        assert_eq!(cancelled_id(&other), None);
    }
}
