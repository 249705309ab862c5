//! The command `mmw-agent hook-stop`: an event from standard input, a line to standard output or
//! nothing.
//!
//! It always ends in time: an input that nobody closes, a repository that git can't get through, or
//! a mistake of our own end in silence and exit code 0.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::panic::{self, AssertUnwindSafe};
use std::sync::mpsc;
use std::time::Duration;

use mmw_core::env::Clock;

use super::answer;
use crate::clients::Client;
use crate::deadline::Deadline;
use crate::input::{drain, read_event};
use crate::world::World;

/// How long the event may take to come.
pub const INPUT_TIME: Duration = Duration::from_secs(3);

/// How long the answer may take after that.
pub const ANSWER_TIME: Duration = Duration::from_secs(4);

/// Runs the command on the arguments after its name.
///
/// Both the input and the answer are worked on aside: whatever they are still busy with when the
/// time is over ends with the process.
pub fn run(
    arguments: impl IntoIterator<Item = OsString>,
    input: impl Read + Send + 'static,
    output: impl Write,
    clock: impl Clock + 'static,
) {
    // Not even a mistake of our own may print into the session.
    panic::set_hook(Box::new(|_| {}));
    let named = client(arguments);
    let Some(event) = within(INPUT_TIME, move |tell| {
        let mut input = input;
        let event = read_event(&mut input);
        let is_read = event.is_some();
        // Nobody listens any more if it came too late.
        let _ = tell.send(event);
        if is_read {
            drain(input);
        }
    }) else {
        return;
    };
    let reply = within(ANSWER_TIME + Duration::from_millis(500), move |tell| {
        let world = World::from_environment(clock.now());
        let deadline = Deadline::after(ANSWER_TIME);
        let _ = tell.send(answer(&event, named, &world, deadline));
    });
    if let Some(line) = reply {
        write(output, &line);
    }
}

/// Does something aside and returns what it tells first; `None` if it told nothing in time.
fn within<T: Send + 'static>(
    time: Duration,
    work: impl FnOnce(mpsc::Sender<Option<T>>) + Send + 'static,
) -> Option<T> {
    let (tell, told) = mpsc::channel();
    let started = std::thread::Builder::new().spawn(move || {
        let _ = panic::catch_unwind(AssertUnwindSafe(|| work(tell)));
    });
    started.ok()?;
    told.recv_timeout(time).ok()?
}

/// Writes the whole line; a client that has gone away is no reason to complain.
fn write(mut output: impl Write, line: &str) {
    let _ = output
        .write_all(line.as_bytes())
        .and_then(|()| output.flush());
}

/// Reads `--client NAME` or `--client=NAME`. Anything else is for later versions.
fn client(arguments: impl IntoIterator<Item = OsString>) -> Option<Client> {
    let mut arguments = arguments
        .into_iter()
        .map(|argument| argument.to_string_lossy().into_owned());
    while let Some(argument) = arguments.next() {
        if argument == "--client" {
            return Client::named(&arguments.next()?);
        }
        if let Some(name) = argument.strip_prefix("--client=") {
            return Client::named(name);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_named_on_the_command_line() {
        let named = |arguments: &[&str]| client(arguments.iter().map(OsString::from));
        assert_eq!(named(&["--client", "codex"]), Some(Client::Codex));
        assert_eq!(named(&["-x", "--client=gemini"]), Some(Client::Gemini));
        assert_eq!(named(&["--client"]), None);
        assert_eq!(named(&["codex"]), None);
    }

    #[test]
    fn a_mistake_of_our_own_is_no_answer() {
        let told: Option<()> = within(Duration::from_secs(600), |_tell| panic!("a mistake"));
        assert_eq!(told, None);
    }

    #[test]
    fn what_takes_too_long_is_no_answer() {
        let (_never, wait) = mpsc::channel::<()>();
        let told = within(Duration::ZERO, move |tell| {
            let _ = wait.recv();
            let _ = tell.send(Some(()));
        });
        assert_eq!(told, None);
    }
}
