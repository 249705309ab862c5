//! Values that a name or a sentence calls secret: assignments, flags, headers, addresses, SQL,
//! pairs of user and password, passwords told in nine languages.
//!
//! Plain code over one keyword at a time. A keyword says what to read around it; what is read is
//! bounded, so the work per keyword is constant and nothing is compiled. Tokens that give
//! themselves away by their own form are not known here.
//!
//! | room | what it does |
//! |---|---|
//! | `words` | the keywords and the reading each calls for |
//! | `scan` | bounded walks: blanks, words, values with and without quotes |
//! | `names` | the name around a keyword, and whether it still names a secret |
//! | `assigned` | the value that a sign ties to a name, in any syntax |
//! | `judge` | tells a secret from code, examples, terms |
//! | `prose`, `tongues` | sentences, and the words of each language |
//! | `pairs` | user and password side by side |
//! | `address`, `headers`, `commands`, `sql` | what their names say |
//! | `near` | a long mixed run soon after a word for a key |

mod address;
mod assigned;
mod commands;
mod headers;
mod judge;
mod names;
mod near;
mod pairs;
mod prose;
mod scan;
mod sql;
#[cfg(test)]
mod tests;
mod tongues;
mod words;

use std::ops::Range;

use self::assigned::{Assigned, Sign, assigned, element};
use self::names::{Name, name_of};
use self::scan::{Place, Value, before, blanks, blanks_back, byte, ends, line_before, stands};
use self::tongues::{ENGLISH, Tongue};
use self::words::Reading;
pub(super) use self::words::{WORDS, Word};
use super::Hit;
use crate::{rules, shape};

/// A secret that was found, and the id of the rule it falls under.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Found {
    span: Range<usize>,
    rule: &'static str,
}

/// Returns the secret that a keyword gives away. `any_case` is for names that were lower-cased.
pub(super) fn found_at(
    text: &str,
    keyword: Range<usize>,
    word: &Word,
    any_case: bool,
) -> Option<Hit> {
    let place = Place {
        text,
        start: keyword.start + word.trim.0,
        end: keyword.end - word.trim.1,
        any_case,
    };
    let found = read(&place, word)?;
    // A cut character makes no value.
    let value = text
        .get(found.span.clone())
        .filter(|value| !value.is_empty())?;
    Some(Hit {
        value: Some(value.to_owned()),
        span: found.span,
        rule: rules::place_of(found.rule)?,
    })
}

fn read(place: &Place<'_>, word: &Word) -> Option<Found> {
    let found = |rule: &'static str| move |span: Range<usize>| Found { span, rule };
    match word.reading {
        Reading::Password { tongue, short } => password(place, tongue, short),
        Reading::Pin => pin(place).map(found("password")),
        Reading::Secret => secret(place),
        Reading::Key => key(place),
        Reading::Identifier => identifier(place).map(found("secret")),
        Reading::Near => name_of(place, true, true).and_then(|name| {
            assigned_secret(place, name, false)
                .or_else(|| near::run(place).map(found("secret-nearby")))
        }),
        Reading::Login => pairs::announced(place).map(found("login-pair")),
        Reading::Account => pairs::of_account(place).map(found("login-pair")),
        Reading::Dotted => pairs::beside_address(place).map(found("address-pair")),
        Reading::Address => address::password(place).map(found("url-credentials")),
        Reading::Authorization => {
            headers::authorization(place).map(|(span, rule)| Found { span, rule })
        }
        Reading::Bearer => headers::bearer(place).map(found("bearer-token")),
        Reading::Basic => headers::basic(place).map(found("basic-credentials")),
        Reading::Cookie => headers::cookie(place).map(found("session-cookie")),
        Reading::Session => headers::session(place).map(found("session-cookie")),
        Reading::Grant => grant(place).map(found("secret")),
        Reading::Identified => sql::identified(place).map(found("sql-password")),
        Reading::Command(command) => {
            commands::password(place, command).map(found("command-password"))
        }
        Reading::Directive => commands::directive(place).map(found("password")),
        Reading::PasswordFile => password_file(place).map(found("password")),
        Reading::Private => private(place).map(found("private-section")),
    }
}

fn password(place: &Place<'_>, tongue: &'static Tongue, short: bool) -> Option<Found> {
    let text = place.text;
    let name = name_of(place, short, false)?;
    let case_ending = Name {
        start: name.start,
        end: name.end.max(russian_ending(place)),
    };
    assigned_password(place, case_ending)
        .or_else(|| {
            compared(place, name).map(|span| Found {
                span,
                rule: "password",
            })
        })
        .or_else(|| {
            sql::password(place).map(|span| Found {
                span,
                rule: "sql-password",
            })
        })
        .or_else(|| {
            // A part of a longer name is no word of a sentence.
            let whole = name.end <= place.end + 1
                && !matches!(before(text.as_bytes(), place.start), b'_' | b'.');
            let span = whole.then(|| prose::password(place, tongue)).flatten()?;
            Some(Found {
                span,
                rule: tongue.rule,
            })
        })
}

/// Returns where the Cyrillic letters end that the case adds to the keyword.
fn russian_ending(place: &Place<'_>) -> usize {
    let rest = &place.bytes()[place.end..];
    let letters = rest
        .chunks(2)
        .take(4)
        .take_while(|pair| matches!(pair, [0xd0 | 0xd1, _]))
        .count();
    place.end + 2 * letters
}

fn assigned_password(place: &Place<'_>, name: Name) -> Option<Found> {
    let text = place.text;
    let bytes = place.bytes();
    let found = assigned(text, name.start, name.end)
        .filter(|found| {
            found.sign != Sign::Markup || !text[found.value.span.clone()].trim().is_empty()
        })
        .or_else(|| {
            let opened = matches!(before(bytes, name.start), b'<' | b':');
            opened.then(|| element(text, name.end)).flatten()
        })?;
    let Assigned { sign, value } = found;
    let said = text.get(value.span.clone())?;
    let is = |rule: &'static str| {
        Some(Found {
            span: value.span.clone(),
            rule,
        })
    };
    if is_paired(place, name)
        && matches!(sign, Sign::Colon | Sign::Equals | Sign::Tight | Sign::Blank)
    {
        if let Some(span) = pairs::half(text, &value) {
            let fits = judge::is_strong_password(&text[span.clone()]);
            return fits.then_some(Found {
                span,
                rule: "login-pair",
            });
        }
        if sign == Sign::Blank {
            return None;
        }
    }
    if !value.quoted && byte(bytes, value.span.end) == b'(' {
        return None;
    }
    if let Some(span) = commands::option(place, name.start, &value, sign == Sign::Tight, false) {
        return Some(Found {
            span,
            rule: "command-password",
        });
    }
    let strong = judge::is_strong_password(said);
    let shouted = is_shouted(bytes, name) || place.any_case;
    match sign {
        Sign::Markup => judge::is_quoted_password(said, false).then(|| is(rule_of(strong)))?,
        Sign::Tight if is_connection(text, name, &value) && judge::is_plain_password(said) => {
            is("connection-password")
        }
        Sign::Tight
            if matches!(before(bytes, name.start), b'?' | b'&')
                && judge::is_plain_password(said) =>
        {
            is("password")
        }
        Sign::Tight | Sign::Equals | Sign::Colon if value.quoted => {
            let phrase = stands(bytes, place.start, "passphrase");
            judge::is_quoted_password(said, phrase).then(|| is(rule_of(strong)))?
        }
        Sign::Tight
            if shouted
                && !is_working_directory(bytes, name)
                && (judge::is_plain_password(said)
                    || matches!(said, "secret" | "password" | "pass")) =>
        {
            is("environment-password")
        }
        Sign::Colon
            if is_shouted(bytes, name)
                && name.end - name.start > 8
                && judge::is_plain_password(said)
                && !is_word(said) =>
        {
            is("environment-password")
        }
        Sign::Tight | Sign::Equals | Sign::Colon => (strong
            || is_default(said) && is_last(bytes, value.span.end))
        .then(|| is("password"))?,
        Sign::Comma => {
            let constant =
                is_shouted(bytes, name) && judge::is_plain_password(said) && !said.contains(' ');
            (strong && judge::is_quoted_password(said, false) || constant)
                .then(|| is(rule_of(strong)))?
        }
        Sign::Cell => (judge::is_evident_password(said)).then(|| is("password"))?,
        Sign::NextLine => judge::is_evident_password(said).then(|| is("password"))?,
        Sign::Blank => {
            let line = line_before(text, name.start);
            let image = line.trim_start().len() < 5
                && (stands(bytes, name.start.saturating_sub(4), "env ")
                    || stands(bytes, name.start.saturating_sub(4), "arg "));
            let machine = is_machine(line);
            let quoted = value.quoted
                && strong
                && judge::is_quoted_password(said, false)
                && !prose::is_passed(place, said);
            if (image && shouted || machine) && judge::is_plain_password(said) || quoted {
                is(rule_of(strong))
            } else {
                None
            }
        }
    }
}

const fn rule_of(strong: bool) -> &'static str {
    if strong {
        "password"
    } else {
        "quoted-password"
    }
}

/// `Admin`, `Secret`: a word that starts a sentence or a type.
fn is_word(value: &str) -> bool {
    value.bytes().skip(1).all(|b| b.is_ascii_lowercase())
        && value.starts_with(|c: char| c.is_ascii_uppercase())
}

/// Tells whether a password is one that documentation gives to fresh installations.
fn is_default(value: &str) -> bool {
    const DEFAULTS: &[&str] = &[
        "admin",
        "root",
        "toor",
        "guest",
        "changeme",
        "changeit",
        "letmein",
        "qwerty",
        "welcome",
        "postgres",
        "mysql",
        "oracle",
        "demo",
        "calvin",
        "raspberry",
        "minioadmin",
        "rabbitmq",
        "foobared",
        "mongodb",
        "administrator",
    ];
    DEFAULTS.contains(&value)
}

fn is_last(bytes: &[u8], at: usize) -> bool {
    matches!(
        byte(bytes, blanks(bytes, at, 8)),
        0 | b'\n' | b'\r' | b',' | b';' | b')' | b'}' | b'#'
    )
}

/// Tells whether a name is written in capitals, as environment variables are.
fn is_shouted(bytes: &[u8], name: Name) -> bool {
    let name = &bytes[name.start..name.end];
    name.iter().any(u8::is_ascii_uppercase) && !name.iter().any(u8::is_ascii_lowercase)
}

/// `PWD`, `OLDPWD`: where a shell stands.
fn is_working_directory(bytes: &[u8], name: Name) -> bool {
    matches!(
        &bytes[name.start..name.end],
        b"PWD" | b"OLDPWD" | b"pwd" | b"oldpwd"
    )
}

/// Tells whether the name is the second half of `id/pw`, `user and password`.
fn is_paired(place: &Place<'_>, name: Name) -> bool {
    const USERS: &[&str] = &[
        "id",
        "user",
        "username",
        "login",
        "account",
        "name",
        "계정",
        "아이디",
        "用户名",
        "账号",
        "帐号",
        "логин",
        "user name",
        "uid",
        "email",
        "사용자",
    ];
    let bytes = place.bytes();
    let edge = blanks_back(bytes, name.start, 2);
    if edge < name.start
        && USERS.iter().take(2).any(|user| {
            ends(bytes, edge, user) && !before(bytes, edge - user.len()).is_ascii_alphanumeric()
        })
    {
        return true;
    }
    if !matches!(before(bytes, edge), b'/' | b'(' | b'|' | b'&' | b',') {
        return false;
    }
    let edge = blanks_back(bytes, edge - 1, 2);
    USERS.iter().any(|user| ends(bytes, edge, user))
}

/// Tells whether the line so far is one of a `.netrc`: `machine h login u `, `login u `.
fn is_machine(line: &str) -> bool {
    let mut words = line.split_ascii_whitespace().rev();
    let user = words.next();
    let login = words.next();
    user.is_some_and(|user| !user.ends_with([',', '.', ':'])) && login == Some("login")
}

/// Tells whether the name stands in a connection string: `Server=…;Password=…`, `host=… password=…`.
fn is_connection(text: &str, name: Name, value: &Value) -> bool {
    const PARTS: &[&str] = &[
        "server=",
        "host=",
        "hostaddr=",
        "data source=",
        "user id=",
        "uid=",
        "user=",
        "dbname=",
        "database=",
        "initial catalog=",
        "endpoint=",
        "jdbc:",
    ];
    let start = text.ceil_char_boundary(name.start.saturating_sub(200));
    let window = text.get(start..name.start).unwrap_or("");
    let line = window.rsplit('\n').next().unwrap_or("");
    let joined = line.trim_end().ends_with([';', ',', '?', '&', '"', '\''])
        || line.ends_with(' ')
        || byte(text.as_bytes(), value.span.end) == b';';
    joined && PARTS.iter().any(|part| shape::contains(line, part))
}

/// Returns the value that is compared with the name after it: `"x" == password`.
fn compared(place: &Place<'_>, name: Name) -> Option<Range<usize>> {
    let bytes = place.bytes();
    let edge = blanks_back(bytes, name.start, 2);
    let sign = ["!==", "===", "==", "!=", "=~"]
        .iter()
        .find(|sign| ends(bytes, edge, sign))?;
    let end = blanks_back(bytes, edge - sign.len(), 2);
    let quote = before(bytes, end);
    if !matches!(quote, b'"' | b'\'' | b'`') {
        return None;
    }
    let floor = end.saturating_sub(scan::MAX_VALUE_BYTES);
    let start = bytes[floor..end - 1].iter().rposition(|b| *b == quote)? + floor + 1;
    let value = place.text.get(start..end - 1)?;
    judge::is_quoted_password(value, false).then_some(start..end - 1)
}

fn pin(place: &Place<'_>) -> Option<Range<usize>> {
    let bytes = place.bytes();
    if before(bytes, place.start).is_ascii_alphabetic() {
        return None;
    }
    let mut at = place.end;
    for link in [" is", " was", ":", "="] {
        if stands(bytes, at, link) {
            at += link.len();
            break;
        }
    }
    if at == place.end {
        return None;
    }
    let found = scan::value(place.text, blanks(bytes, at, 3))?;
    let said = &place.text[found.span.clone()];
    ((4..=8).contains(&said.len())
        && said.bytes().all(|b| b.is_ascii_digit())
        && !shape::is_monotone(said))
    .then_some(found.span)
}

fn secret(place: &Place<'_>) -> Option<Found> {
    let name = name_of(place, false, true)?;
    assigned_secret(place, name, true)
        .or_else(|| {
            let span = prose::secret(place, &ENGLISH)?;
            Some(Found {
                span,
                rule: "secret-in-prose",
            })
        })
        .or_else(|| {
            near::run(place).map(|span| Found {
                span,
                rule: "secret-nearby",
            })
        })
}

fn assigned_secret(place: &Place<'_>, name: Name, names_key: bool) -> Option<Found> {
    let text = place.text;
    let bytes = place.bytes();
    if let Some(span) = compared(place, name).filter(|span| {
        let value = Value {
            span: span.clone(),
            quoted: true,
        };
        judge::is_secret(&value, text, names_key)
    }) {
        return Some(Found {
            span,
            rule: "secret",
        });
    }
    let Assigned { sign, value } = assigned(text, name.start, name.end).or_else(|| {
        let opened = matches!(before(bytes, name.start), b'<' | b':');
        opened.then(|| element(text, name.end)).flatten()
    })?;
    if !value.quoted && matches!(byte(bytes, value.span.end), b'(' | b'[') {
        return None;
    }
    if sign == Sign::Blank {
        if let Some(span) = commands::option(place, name.start, &value, false, true) {
            return Some(Found {
                span,
                rule: "command-password",
            });
        }
        if !value.quoted {
            return None;
        }
    }
    let mut value = value;
    if sign == Sign::Tight && matches!(before(bytes, name.start), b'?' | b'&') {
        // A query ends at the next parameter.
        let said = &text[value.span.clone()];
        value.span.end = value.span.start + said.find(['&', '#']).unwrap_or(said.len());
    }
    judge::is_secret(&value, text, names_key).then(|| Found {
        span: value.span.clone(),
        rule: "secret",
    })
}

/// Words before `key` that say that it opens something.
const KEYS: &[&str] = &[
    "api",
    "access",
    "secret",
    "private",
    "encryption",
    "signing",
    "master",
    "account",
    "auth",
    "service",
    "deploy",
    "license",
    "licence",
    "app",
    "application",
    "client",
    "consumer",
    "shared",
    "subscription",
    "admin",
    "server",
    "webhook",
    "write",
    "project",
    "integration",
    "maps",
    "storage",
    "ssh",
    "rsa",
    "aes",
    "hmac",
    "jwt",
    "session",
    "aws",
    "stripe",
    "openai",
    "pkey",
    "priv",
    "p",
    "security",
    "product",
    "activation",
    "developer",
    "decrypt",
];

fn key(place: &Place<'_>) -> Option<Found> {
    let bytes = place.bytes();
    let name = name_of(place, false, true)?;
    let end = if name.start < place.start {
        place.start
    } else {
        blanks_back(bytes, place.start, 1)
    };
    let end = if matches!(before(bytes, end), b'_' | b'-' | b'.') {
        end - 1
    } else {
        end
    };
    let says = KEYS.iter().any(|head| {
        ends(bytes, end, head)
            && (head.len() > 1 || !before(bytes, end - head.len()).is_ascii_alphanumeric())
    });
    let shouted = name.start < place.start
        && is_shouted(bytes, name)
        && matches!(before(bytes, place.start), b'_');
    let separate = !before(bytes, place.start).is_ascii_alphabetic()
        || bytes[place.start].is_ascii_uppercase();
    if says || shouted || name.start < place.start {
        let assigned = assigned_secret(place, name, says || shouted).filter(|found| {
            // Any other key has to be long: `row_key: a1b2` is none.
            says || shouted || found.span.len() >= 20
        });
        if let Some(found) = assigned {
            return Some(found);
        }
        if says && let Some(span) = prose::secret(place, &ENGLISH) {
            return Some(Found {
                span,
                rule: "secret-in-prose",
            });
        }
    }
    (says || separate)
        .then(|| near::run(place))
        .flatten()
        .map(|span| Found {
            span,
            rule: "secret-nearby",
        })
}

/// Returns the long mixed value that is assigned to the name of a key's public half.
fn identifier(place: &Place<'_>) -> Option<Range<usize>> {
    let name = name_of(place, false, false)?;
    let found = assigned(place.text, name.start, name.end)?;
    let said = place.text.get(found.value.span.clone())?;
    let fits = matches!(
        found.sign,
        Sign::Tight | Sign::Equals | Sign::Colon | Sign::Comma | Sign::Markup
    ) && (judge::is_near(said)
        || said.len() >= 32 && shape::is_digest(said) && judge::is_possible(said));
    fits.then_some(found.value.span)
}

/// Returns the signature of an address that grants access by itself.
fn grant(place: &Place<'_>) -> Option<Range<usize>> {
    let bytes = place.bytes();
    if before(bytes, place.start).is_ascii_alphanumeric() {
        return None;
    }
    let length = bytes[place.end..]
        .iter()
        .take(200)
        .take_while(|b| {
            b.is_ascii_alphanumeric() || matches!(b, b'%' | b'+' | b'/' | b'=' | b'_' | b'-')
        })
        .count();
    let span = place.end..place.end + length;
    let value = &place.text[span.clone()];
    (length >= 30 && shape::is_random(value) && judge::is_possible(value)).then_some(span)
}

/// Returns the last field of `host:5432:database:user:password`.
fn password_file(place: &Place<'_>) -> Option<Range<usize>> {
    let bytes = place.bytes();
    let rest = &place.text[place.end
        ..place
            .text
            .floor_char_boundary(place.end + scan::MAX_VALUE_BYTES)];
    let line = rest
        .split(|c: char| c.is_whitespace() || matches!(c, '"' | '\''))
        .next()?;
    let mut fields = line.splitn(3, ':');
    let (database, user, password) = (fields.next()?, fields.next()?, fields.next()?);
    let fits = !database.is_empty()
        && !user.is_empty()
        && !user.contains('/')
        && judge::is_plain_password(password)
        && before(bytes, place.start) != b' ';
    let start = place.end + database.len() + user.len() + 2;
    fits.then(|| start..start + password.len())
}

/// Returns what stands between the marks of a private section.
fn private(place: &Place<'_>) -> Option<Range<usize>> {
    let window = &place.bytes()[place.end..];
    let mut from = 0;
    loop {
        // The next mark ends it, whichever it is: no two sections share a stretch.
        let open = memchr::memchr(b'<', &window[from..])? + from;
        if stands(window, open, "</private>") {
            let inner = &window[..open];
            let empty = inner
                .iter()
                .all(|b| *b == crate::placeholder::FILLER || b.is_ascii_whitespace());
            return (!empty).then(|| place.end..place.end + open);
        }
        if stands(window, open, "<private>") {
            return None;
        }
        from = open + 1;
    }
}
