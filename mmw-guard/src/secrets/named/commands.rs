//! Passwords on command lines: `curl -u a:b`, `sshpass -p x`, `mysql -px`, `--token x`.

use std::ops::Range;

use super::judge::{is_evident_password, is_plain_password, is_secret, is_strong_password};
use super::scan::{Place, Value, before, blanks, byte, goes_on, line_before, stands, value};

/// How far an option may stand from its command, in bytes.
const MAX_LINE_BYTES: usize = 240;

/// A command that takes a password.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Command {
    /// The options before its password, each with what joins them.
    options: &'static [(&'static str, Join)],
}

/// How a password follows its option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Join {
    /// After blanks or `=`.
    Apart,
    /// Directly: `-psecret`.
    Tight,
    /// After blanks or directly.
    Either,
    /// `user:password`, after blanks or directly.
    Pair(char),
}

pub(super) const CURL: Command = Command {
    options: &[
        ("-u", Join::Pair(':')),
        ("--user", Join::Pair(':')),
        ("--proxy-user", Join::Pair(':')),
        ("-U", Join::Pair(':')),
        ("-a", Join::Pair(':')),
        ("--auth", Join::Pair(':')),
        ("--pass", Join::Apart),
    ],
};
pub(super) const SSHPASS: Command = Command {
    options: &[("-p", Join::Either)],
};
pub(super) const MYSQL: Command = Command {
    options: &[("-p", Join::Tight)],
};
pub(super) const SPACED: Command = Command {
    options: &[("-p", Join::Apart), ("-P", Join::Apart)],
};
pub(super) const REDIS: Command = Command {
    options: &[("-a", Join::Apart), ("--pass", Join::Apart)],
};
pub(super) const LDAP: Command = Command {
    options: &[("-w", Join::Apart)],
};
pub(super) const SMB: Command = Command {
    options: &[("-U", Join::Pair('%')), ("--user", Join::Pair('%'))],
};
pub(super) const ZIP: Command = Command {
    options: &[("-p", Join::Tight), ("-P", Join::Apart)],
};
pub(super) const OPENSSL: Command = Command {
    options: &[
        ("-passin", Join::Pair(':')),
        ("-passout", Join::Pair(':')),
        ("-pass", Join::Pair(':')),
        ("-k", Join::Apart),
    ],
};

/// Returns the password of a command line that begins with the keyword.
pub(super) fn password(place: &Place<'_>, command: &Command) -> Option<Range<usize>> {
    let text = place.text;
    let bytes = place.bytes();
    if goes_on(bytes, place.start.wrapping_sub(1)) && place.start > 0 {
        return None;
    }
    let end = text.floor_char_boundary(place.end + MAX_LINE_BYTES);
    let mut line = text.get(place.end..end)?;
    // A backslash at its end joins lines.
    let mut from = 0;
    while let Some(found) = line[from..].find('\n') {
        let broken = line[..from + found].trim_end_matches('\r').ends_with('\\');
        if !broken {
            line = &line[..from + found];
            break;
        }
        from += found + 1;
    }
    // Where options begin; a line has no more than half as many as bytes.
    let mut starts = [0; MAX_LINE_BYTES / 2 + 1];
    let mut n_starts = 0;
    for n in memchr::memchr_iter(b'-', line.as_bytes()) {
        let edge = before(bytes, place.end + n);
        if (edge.is_ascii_whitespace() || matches!(edge, b'"' | b'\'')) && n_starts < starts.len() {
            starts[n_starts] = n;
            n_starts += 1;
        }
    }
    command.options.iter().find_map(|(option, join)| {
        starts[..n_starts]
            .iter()
            .filter(|n| line.as_bytes()[**n..].starts_with(option.as_bytes()))
            .find_map(|n| option_value(text, place.end + n + option.len(), *join))
    })
}

fn option_value(text: &str, at: usize, join: Join) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let apart = blanks(bytes, at + usize::from(byte(bytes, at) == b'='), 4);
    let start = match join {
        Join::Apart if apart > at => apart,
        Join::Tight if apart == at && byte(bytes, at) != b'-' => at,
        Join::Either => apart,
        Join::Pair(_)
            if apart > at
                || matches!(byte(bytes, at), b'"' | b'\'')
                || byte(bytes, at).is_ascii_alphanumeric() =>
        {
            apart
        }
        _ => return None,
    };
    if byte(bytes, start) == b'-' {
        return None;
    }
    let found = value(text, start)?;
    if let Join::Pair(sign) = join {
        let said = &text[found.span.clone()];
        let (user, pass) = said.split_once(sign)?;
        let fits = !user.is_empty()
            && !user.contains(['$', '<', '{', '/'])
            && is_plain_password(pass)
            && user != "file"
            && user != "env"
            && !pass.starts_with("//");
        return fits.then(|| found.span.end - pass.len()..found.span.end);
    }
    let said = &text[found.span.clone()];
    let fits = is_plain_password(said)
        && (join != Join::Tight
            || !said.contains('=') && said.len() >= 4 && !said.starts_with(['/', '.', ':']))
        && !said.bytes().all(|b| b.is_ascii_digit() || b == b':');
    fits.then_some(found.span)
}

/// Returns the value of an option that is named for a secret: `--password x`, `-Password 'x'`.
///
/// After `=` any value is one; after a blank it has to look like one.
pub(super) fn option(
    place: &Place<'_>,
    start: usize,
    found: &Value,
    tight: bool,
    is_key: bool,
) -> Option<Range<usize>> {
    let text = place.text;
    let bytes = place.bytes();
    let dashes = before(bytes, start) == b'-';
    if !dashes {
        return None;
    }
    let said = &text[found.span.clone()];
    let fits = if is_key {
        is_secret(found, text, true)
    } else {
        is_strong_password(said)
            || is_plain_password(said)
                && (tight || found.quoted)
                && !stands(bytes, found.span.start, "-")
    };
    fits.then(|| found.span.clone())
}

/// Returns the value after a word of a configuration file that takes a password and no sign:
/// `requirepass x`, `machine h login u password x`.
pub(super) fn directive(place: &Place<'_>) -> Option<Range<usize>> {
    let text = place.text;
    let bytes = place.bytes();
    if before(bytes, place.start).is_ascii_alphanumeric() {
        return None;
    }
    let start = blanks(bytes, place.end, 8);
    let found = (start > place.end).then(|| value(text, start)).flatten()?;
    let said = &text[found.span.clone()];
    let alone = matches!(
        byte(bytes, super::scan::after_quotes(text, found.span.end)),
        0 | b'\n' | b'\r' | b' '
    );
    let line = line_before(text, place.start).trim();
    let whole = line.is_empty() || line == "-";
    (is_evident_password(said)
        || whole
            && alone
            && is_plain_password(said)
            && !found.quoted
            && is_last(bytes, found.span.end)
        || whole && found.quoted && is_plain_password(said))
    .then_some(found.span)
}

fn is_last(bytes: &[u8], at: usize) -> bool {
    matches!(byte(bytes, blanks(bytes, at, 8)), 0 | b'\n' | b'\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(keyword: &str, command: &Command, text: &str, expected: Option<&str>) {
        let start = text.find(keyword).unwrap();
        let place = Place {
            text,
            start,
            end: start + keyword.len(),
            any_case: false,
        };
        assert_eq!(
            password(&place, command).map(|span| &text[span]),
            expected,
            "{text}"
        );
    }

    #[test]
    fn a_command_takes_its_password_in_its_own_way() {
        check(
            "curl",
            &CURL,
            "curl -s -u admin:hunter2 https://a.example",
            Some("hunter2"),
        );
        check(
            "curl",
            &CURL,
            "curl \\\n  --user 'admin:pw w' x",
            Some("pw w"),
        );
        check("curl", &CURL, "curl -u $USER:$PASS https://a.example", None);
        check("curl", &CURL, "curl -u admin: https://a.example", None);
        check(
            "curl",
            &CURL,
            "curl https://a.example\nssh -u a:hunter2",
            None,
        );
        check(
            "sshpass",
            &SSHPASS,
            "sshpass -p 'hunter' ssh me@h",
            Some("hunter"),
        );
        check(
            "sshpass",
            &SSHPASS,
            "sshpass -phunter ssh me@h",
            Some("hunter"),
        );
        check("sshpass", &SSHPASS, "sshpass -p \"$PW\" ssh me@h", None);
        check(
            "mysqldump",
            &MYSQL,
            "mysqldump -uroot -phunter app",
            Some("hunter"),
        );
        check("mysql", &MYSQL, "mysql -u root -p app", None);
        check("mysql", &MYSQL, "mysql -u root -p$PW app", None);
        check(
            "redis-cli",
            &REDIS,
            "redis-cli -h r -a hunter ping",
            Some("hunter"),
        );
        check(
            "smbclient",
            &SMB,
            "smbclient //h/s -U me%hunter",
            Some("hunter"),
        );
        check(
            "openssl",
            &OPENSSL,
            "openssl x509 -passin pass:hunter",
            Some("hunter"),
        );
        check("openssl", &OPENSSL, "openssl rsa -passin file:pw.txt", None);
        check(
            "docker login",
            &SPACED,
            "docker login -u me -p hunter2 reg",
            Some("hunter2"),
        );
        check("docker run", &SPACED, "docker run -p 8080:80 x", None);
    }
}
