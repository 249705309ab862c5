//! A file by lines, within bounds: a line may be as long as its file, and a path may name something
//! that never ends.

use std::fs::File;
use std::io::{BufRead, BufReader, Read as _};
use std::path::Path;

use crate::deadline::Deadline;

/// How much is read at a time, in bytes.
const CHUNK_BYTES: usize = 256 * 1024;

/// The longest line that is looked at, in bytes; a longer one, such as a picture, is passed over.
pub const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;

/// How much of a file's begin is looked at to tell what it is, in bytes.
const HEAD_BYTES: u64 = 64 * 1024;

/// Opens a plain file; `None` for anything else, which is not even opened: a pipe would wait.
fn open(path: &Path) -> Option<File> {
    path.metadata().ok()?.is_file().then_some(())?;
    File::open(path).ok()
}

/// Returns the first line that is not empty, cut at 64 KiB.
#[must_use]
pub fn first_line(path: &Path) -> Option<Vec<u8>> {
    let mut head = Vec::new();
    open(path)?.take(HEAD_BYTES).read_to_end(&mut head).ok()?;
    head.split(|byte| *byte == b'\n')
        .map(<[u8]>::trim_ascii)
        .find(|line| !line.is_empty())
        .map(<[u8]>::to_vec)
}

/// Calls `look` with each line, without its end. `None` if the file can't be read or the time is
/// over: half of a transcript would say that nothing was saved.
pub fn each(path: &Path, deadline: Deadline, mut look: impl FnMut(&[u8])) -> Option<()> {
    let mut input = BufReader::with_capacity(CHUNK_BYTES, open(path)?);
    // Holds the begin of a line that goes on in the next chunk.
    let mut begun: Vec<u8> = Vec::new();
    let mut too_long = false;
    loop {
        let chunk = input.fill_buf().ok()?;
        if chunk.is_empty() {
            if !begun.is_empty() && !too_long {
                look(&begun);
            }
            return Some(());
        }
        let n_read = chunk.len();
        let mut rest = chunk;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            let (line, after) = (&rest[..end], &rest[end + 1..]);
            if begun.is_empty() {
                look(line);
            } else {
                if begun.len() + line.len() > MAX_LINE_BYTES {
                    too_long = true;
                }
                if !too_long {
                    begun.extend_from_slice(line);
                    look(&begun);
                }
                begun.clear();
                too_long = false;
            }
            rest = after;
        }
        if too_long || begun.len() + rest.len() > MAX_LINE_BYTES {
            too_long = true;
            begun.truncate(1);
        } else {
            begun.extend_from_slice(rest);
        }
        input.consume(n_read);
        if deadline.is_over() {
            return None;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    fn read(content: &[u8]) -> Vec<Vec<u8>> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(content).unwrap();
        let mut lines = Vec::new();
        let far = Deadline::after(Duration::from_secs(600));
        each(file.path(), far, |line| lines.push(line.to_vec())).unwrap();
        lines
    }

    #[test]
    fn a_line_longer_than_is_looked_at_is_passed_over() {
        let mut content = b"before\n".to_vec();
        content.extend(vec![b'x'; MAX_LINE_BYTES + 1]);
        content.extend(b"\nafter\n");
        assert_eq!(read(&content), [b"before".to_vec(), b"after".to_vec()]);
    }

    #[test]
    fn the_longest_line_is_looked_at() {
        let mut content = vec![b'x'; MAX_LINE_BYTES];
        content.extend(b"\ny");
        let lines = read(&content);
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[0].len(), MAX_LINE_BYTES);
    }

    #[test]
    fn what_is_no_plain_file_is_not_opened() {
        let folder = tempfile::tempdir().unwrap();
        let far = Deadline::after(Duration::from_secs(600));
        assert_eq!(each(folder.path(), far, |_| ()), None);
        assert_eq!(each(&folder.path().join("none"), far, |_| ()), None);
        assert_eq!(first_line(folder.path()), None);
    }

    #[test]
    fn half_a_file_is_no_answer() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "a\nb\n").unwrap();
        let over = Deadline::after(Duration::ZERO);
        assert_eq!(each(file.path(), over, |_| ()), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn lines_are_those_of_the_whole_text(
            lengths in prop::collection::vec(0_usize..200_000, 0..8), ended in any::<bool>()
        ) {
            let wanted: Vec<Vec<u8>> = lengths.iter().map(|n| vec![b'x'; *n]).collect();
            let mut content = wanted.join(&b'\n');
            if ended && !wanted.is_empty() {
                content.push(b'\n');
            }
            let mut found = read(&content);
            // The last line is one only if something stands there.
            if found.len() < wanted.len() {
                found.push(Vec::new());
            }
            prop_assert_eq!(found, wanted);
        }
    }
}
