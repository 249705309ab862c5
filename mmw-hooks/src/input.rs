//! Reads one event from an input that may never end.
//!
//! An event is one JSON object. Reading stops with its last brace, because some clients leave the
//! pipe open, and waiting for its end would hold the session up. The object is not parsed here:
//! bytes that are no JSON are read up to a bound and are no event. A byte order mark before it is
//! passed over: some clients on Windows write one.

use std::io::{ErrorKind, Read};

/// The most that is read of one input, in bytes. A longer event is not read to its end and is no
/// event.
pub const MAX_EVENT_BYTES: usize = 64 * 1024 * 1024;

/// How much is asked for at a time, in bytes. Large: what limits an event is its size, not how fast
/// it comes.
const CHUNK_BYTES: usize = 64 * 1024;

/// What may stand before the object.
const BYTE_ORDER_MARK: &[u8; 3] = b"\xef\xbb\xbf";

/// Returns the bytes of the first JSON object, from its first brace to its last; `None` if the input
/// begins with something else, ends too early, can't be read, or is longer than [`MAX_EVENT_BYTES`].
pub fn read_event(input: impl Read) -> Option<Vec<u8>> {
    read_within(input, MAX_EVENT_BYTES)
}

fn read_within(mut input: impl Read, max_bytes: usize) -> Option<Vec<u8>> {
    let mut event = Vec::new();
    let mut borders = Borders::default();
    let mut chunk = vec![0; CHUNK_BYTES];
    // White space before the object counts too, or it could go on for ever.
    let mut left = max_bytes;
    let mut n_marked = 0;
    while left > 0 {
        let wanted = CHUNK_BYTES.min(left);
        let n_read = match input.read(&mut chunk[..wanted]) {
            Ok(0) => return None,
            Ok(n_read) => n_read,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(_) => return None,
        };
        left -= n_read;
        let read = &chunk[..n_read];
        let mut begin = 0;
        for (at, byte) in read.iter().enumerate() {
            if event.is_empty() && borders.depth == 0 && BYTE_ORDER_MARK.get(n_marked) == Some(byte)
            {
                n_marked += 1;
                begin = at + 1;
                continue;
            }
            match borders.step(*byte) {
                Position::Before => begin = at + 1,
                Position::Inside => {}
                Position::Last => {
                    event.extend_from_slice(&read[begin..=at]);
                    return Some(event);
                }
                Position::NoObject => return None,
            }
        }
        event.extend_from_slice(&read[begin..]);
    }
    None
}

/// Reads on to the end of the input, at most as much as one event may have: a client that still
/// writes must not meet a closed pipe.
pub fn drain(mut input: impl Read) {
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut left = MAX_EVENT_BYTES;
    while left > 0 {
        match input.read(&mut chunk) {
            Ok(n_read) if n_read > 0 => left = left.saturating_sub(n_read),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            _ => return,
        }
    }
}

/// Where a byte lies.
enum Position {
    /// In white space before the object.
    Before,
    /// In the object.
    Inside,
    /// It is the last brace.
    Last,
    /// The input does not begin with an object.
    NoObject,
}

/// Follows braces, and strings so that a brace in a text counts for nothing.
#[derive(Default)]
struct Borders {
    depth: u32,
    in_string: bool,
    escaped: bool,
}

impl Borders {
    fn step(&mut self, byte: u8) -> Position {
        if self.in_string {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return Position::Inside;
        }
        match byte {
            b'{' => self.depth += 1,
            b' ' | b'\t' | b'\r' | b'\n' if self.depth == 0 => return Position::Before,
            _ if self.depth == 0 => return Position::NoObject,
            b'}' => self.depth -= 1,
            b'"' => self.in_string = true,
            _ => {}
        }
        if self.depth == 0 {
            Position::Last
        } else {
            Position::Inside
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// An input that gives some bytes and then fails the test if more is asked for.
    struct NeverEnds<'a>(&'a [u8]);

    impl Read for NeverEnds<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let n_given = buffer.len().min(self.0.len());
            assert!(n_given > 0, "waited for more than the event");
            buffer[..n_given].copy_from_slice(&self.0[..n_given]);
            self.0 = &self.0[n_given..];
            Ok(n_given)
        }
    }

    fn check(input: &str, event: &str) {
        let read = read_event(NeverEnds(input.as_bytes())).unwrap();
        assert_eq!(String::from_utf8(read).unwrap(), event);
    }

    #[test]
    fn reading_stops_with_the_last_brace() {
        check("{}", "{}");
        check(" \n{\"a\":{\"b\":1}}", "{\"a\":{\"b\":1}}");
        check(r#"{"a":"}\"}","b":[{}]}"#, r#"{"a":"}\"}","b":[{}]}"#);
        check("{} and more", "{}");
        check("\u{feff}{\"a\":1}\r\n", "{\"a\":1}");
        check("\u{feff}\r\n {}", "{}");
    }

    #[test]
    fn what_is_no_object_is_no_event() {
        for input in ["", "   ", "{", "{\"a", "[1]", "}", "null", "x\u{feff}{}"] {
            assert_eq!(read_event(input.as_bytes()), None, "{input}");
        }
    }

    #[test]
    fn an_event_is_bounded() {
        const MAX: usize = 3 * CHUNK_BYTES;
        let of_length = |n: usize| format!("{{\"a\":\"{}\"}}", "x".repeat(n - 8));
        let longest = of_length(MAX);
        assert_eq!(read_within(longest.as_bytes(), MAX).unwrap().len(), MAX);
        let too_long = of_length(MAX + 1);
        assert_eq!(read_within(too_long.as_bytes(), MAX), None);
    }

    #[test]
    fn an_input_that_never_ends_is_not_read_for_ever() {
        for byte in [b' ', b'{', b'x'] {
            assert_eq!(read_within(std::io::repeat(byte), 3 * CHUNK_BYTES), None);
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_let_go(bytes in prop::collection::vec(any::<u8>(), 0..4096)) {
            if let Some(event) = read_event(bytes.as_slice()) {
                prop_assert_eq!((event.first(), event.last()), (Some(&b'{'), Some(&b'}')));
            }
        }
    }
}
