//! The value that is assigned to a name, in the syntax of any language or file: what sign stands
//! after the name, and where the value begins.
//!
//! Whether the value is a secret is judged elsewhere.

use super::scan::{
    Value, after_quotes, blanks, blanks_back, byte, ends, is_name_byte, quoted, stands, value,
};

/// The most blanks that align a sign or a value.
const MAX_BLANKS: usize = 40;
/// The most bytes of other attributes inside a tag.
const MAX_ATTRIBUTES_BYTES: usize = 100;

/// How a value is tied to its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    /// `=` without blanks: an environment line, a flag, a query.
    Tight,
    /// `=`, `:=`, `=>`, `->`, `==` and the like.
    Equals,
    /// `:`
    Colon,
    /// `,` after a name in quotes or in a call, `.equals(`.
    Comma,
    /// The next cell of a table.
    Cell,
    /// `<name>value</name>`, `name="…" value="…"`: the markup says where the value ends.
    Markup,
    /// The next line alone.
    NextLine,
    /// Nothing but blanks.
    Blank,
}

/// A value and what ties it to its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Assigned {
    /// The sign.
    pub(super) sign: Sign,
    /// The value.
    pub(super) value: Value,
}

/// Signs of assignment and comparison, longest first.
const SIGNS: &[(&str, Sign)] = &[
    ("!==", Sign::Equals),
    ("===", Sign::Equals),
    ("||=", Sign::Equals),
    ("??=", Sign::Equals),
    (":=", Sign::Equals),
    ("=>", Sign::Equals),
    ("->", Sign::Equals),
    ("=~", Sign::Equals),
    ("==", Sign::Equals),
    ("!=", Sign::Equals),
    ("~=", Sign::Equals),
    ("?=", Sign::Equals),
    ("+=", Sign::Equals),
    ("<-", Sign::Equals),
    ("=", Sign::Equals),
    ("：", Sign::Colon),
    ("＝", Sign::Equals),
    ("→", Sign::Equals),
    ("⇒", Sign::Equals),
    (":", Sign::Colon),
    ("|", Sign::Cell),
    ("│", Sign::Cell),
    (">", Sign::Markup),
    (",", Sign::Comma),
];

/// Calls that compare with their argument.
const COMPARISONS: &[&str] = &[
    ".equals(",
    ".equalsignorecase(",
    ".eq(",
    ".compareto(",
    ".startswith(",
    ".unwrap_or(",
    ".assign(",
];

/// Returns the value that is assigned to the name that ends there.
pub(super) fn assigned(text: &str, start: usize, end: usize) -> Option<Assigned> {
    let bytes = text.as_bytes();
    let (at, closed) = closers(bytes, end);
    // `name: PASSWORD` and its value on the next line.
    let listed = matches!(byte(bytes, at), b'\n' | b'\r')
        && ends(bytes, blanks_back(bytes, start, 2), "name:");
    if (closed || listed)
        && let Some(found) = attribute(text, at)
    {
        return Some(found);
    }
    if let Some(call) = COMPARISONS.iter().find(|call| stands(bytes, at, call)) {
        let value = quoted(text, at + call.len())?;
        return Some(Assigned {
            sign: Sign::Comma,
            value,
        });
    }
    // A constructor or setter: `secret("x")`.
    if at == end && byte(bytes, at) == b'(' && matches!(byte(bytes, at + 1), b'"' | b'\'' | b'`') {
        let value = quoted(text, at + 1)?;
        return Some(Assigned {
            sign: Sign::Comma,
            value,
        });
    }
    let spaced = blanks(bytes, at, MAX_BLANKS);
    let array = byte(bytes, spaced) == b'[';
    let spaced = annotation(bytes, spaced).unwrap_or(spaced);
    let rest = text.get(spaced..)?;
    let Some((mark, sign)) = SIGNS.iter().find(|(mark, _)| begins(rest, mark)) else {
        let value = (spaced > end).then(|| value(text, spaced)).flatten()?;
        return Some(Assigned {
            sign: Sign::Blank,
            value,
        });
    };
    let after = spaced + mark.len();
    match sign {
        Sign::Markup => markup(text, start, after),
        Sign::Colon if byte(bytes, after) == b':' || stands(bytes, after, "//") => None,
        Sign::Comma if closed && is_itself_a_value(bytes, start) => None,
        Sign::Comma => {
            let from = blanks(bytes, after, MAX_BLANKS);
            // "`a`, `b`" lists what a sentence speaks of.
            let value = (byte(bytes, from) != b'`')
                .then(|| quoted(text, from))
                .flatten()?;
            Some(Assigned {
                sign: Sign::Comma,
                value,
            })
        }
        Sign::Equals | Sign::Colon => {
            let emphasis = bytes[after..]
                .iter()
                .take(2)
                .take_while(|b| **b == b'*')
                .count();
            let from = blanks(bytes, after + emphasis, MAX_BLANKS);
            if *sign == Sign::Colon && matches!(byte(bytes, from), b'\n' | b'\r' | b'|' | b'>') {
                return next_line(text, from);
            }
            let tight = *mark == "=" && spaced == end && from == after;
            // Single quotes make no string in C.
            if array && byte(bytes, from) != b'"' {
                return None;
            }
            let value = literal(text, from).or_else(|| value(text, from))?;
            Some(Assigned {
                sign: if tight { Sign::Tight } else { *sign },
                value,
            })
        }
        Sign::Tight | Sign::Cell | Sign::NextLine | Sign::Blank => {
            let value = value(text, blanks(bytes, after, MAX_BLANKS))?;
            Some(Assigned { sign: *sign, value })
        }
    }
}

/// Tells whether a text begins with a mark. Most marks are told by their first byte.
fn begins(text: &str, mark: &str) -> bool {
    text.as_bytes().first() == mark.as_bytes().first() && text.starts_with(mark)
}

/// Tells whether the name in quotes is the value of another: `"kind": "password", "…"`.
fn is_itself_a_value(bytes: &[u8], start: usize) -> bool {
    let mut at = start.saturating_sub(1);
    while at > start.saturating_sub(8) && matches!(byte(bytes, at), b' ' | b'"' | b'\'' | b'`') {
        at -= 1;
    }
    matches!(byte(bytes, at), b':' | b'=' | b'>')
}

/// Returns where the quotes, brackets and emphasis end that close a name, and whether a quote did.
fn closers(bytes: &[u8], end: usize) -> (usize, bool) {
    let mut at = end;
    let mut closed = false;
    while at < end + 4
        && matches!(
            byte(bytes, at),
            b'"' | b'\'' | b'`' | b']' | b')' | b'*' | b'\\'
        )
    {
        closed |= matches!(byte(bytes, at), b'"' | b'\'' | b'`');
        at += 1;
    }
    (at, closed)
}

/// Returns where the sign stands after a type: `: str =`, `: Option<String> =`, `[25] =`.
fn annotation(bytes: &[u8], at: usize) -> Option<usize> {
    let mut end = at;
    if byte(bytes, at) == b'[' {
        let digits = bytes[at + 1..]
            .iter()
            .take(6)
            .take_while(|b| b.is_ascii_digit())
            .count();
        end = at + 1 + digits;
        if byte(bytes, end) != b']' {
            return None;
        }
        return Some(blanks(bytes, end + 1, MAX_BLANKS));
    }
    if byte(bytes, at) != b':' || byte(bytes, at + 1) == b'=' {
        return None;
    }
    end = blanks(bytes, end + 1, 2);
    if !(byte(bytes, end).is_ascii_alphabetic() || byte(bytes, end) == b'&') {
        return None;
    }
    let length = bytes[end..]
        .iter()
        .take(40)
        .take_while(|b| {
            b.is_ascii_alphanumeric()
                || matches!(
                    b,
                    b'<' | b'>' | b'[' | b']' | b'&' | b'\'' | b'_' | b'?' | b'.' | b'|' | b' '
                )
        })
        .count();
    let sign = end + length;
    (byte(bytes, sign) == b'=' && byte(bytes, sign + 1) != b'=').then_some(sign)
}

/// Returns the value behind a literal's prefix or a wrapper that only holds it: `b"x"`, `("x")`,
/// `new Secret("x")`, `[]byte("x")`, `env("X") || "x"`.
fn literal(text: &str, at: usize) -> Option<Value> {
    const SOURCES: &[&str] = &[
        "get", "env", "find", "lookup", "load", "read", "fetch", "param", "field", "prompt",
        "input", "require", "query", "select", "id", "file", "path", "open", "url",
    ];
    const FALLBACKS: &[&str] = &["||", "??", "?:", " or ", "unwrap_or("];
    let bytes = text.as_bytes();
    let mut callee = at;
    while callee < at + 40
        && (is_name_byte(byte(bytes, callee))
            || matches!(
                byte(bytes, callee),
                b':' | b'[' | b']' | b'{' | b'@' | b'$' | b'&' | b'(' | b' '
            ))
        && (byte(bytes, callee) != b' ' || stands(bytes, at, "new "))
    {
        callee += 1;
    }
    let inner = || quoted(text, callee);
    let head = text.get(at..callee)?;
    let opened = head.is_empty()
        || head.ends_with(['(', '['])
        || head.ends_with("byte{")
        || head.len() <= 2
            && head.bytes().all(|b| b.is_ascii_alphabetic() || b == b'@')
            && (head != "@" || byte(bytes, callee) == b'"');
    if opened
        && !SOURCES
            .iter()
            .any(|word| crate::shape::contains(head, word))
    {
        return inner();
    }
    let end = text.floor_char_boundary(at + 100);
    let line = text.get(at..end)?.split(['\n', ';']).next()?;
    FALLBACKS.iter().find_map(|mark| {
        let first = mark.as_bytes()[0];
        let found = memchr::memchr_iter(first, line.as_bytes())
            .find(|n| line.as_bytes()[*n..].starts_with(mark.as_bytes()))?;
        let from = at + found + mark.len();
        quoted(text, blanks(bytes, from, 2))
    })
}

/// Returns the value that another attribute or key has: `key="password" value="x"`,
/// `name: PASSWORD` and `value: x` on the next line.
fn attribute(text: &str, at: usize) -> Option<Assigned> {
    let bytes = text.as_bytes();
    let mut from = at;
    while from < at + MAX_BLANKS
        && matches!(
            byte(bytes, from),
            b' ' | b'\t' | b'\n' | b'\r' | b',' | b'"' | b'\''
        )
    {
        from += 1;
    }
    for key in ["value", "defaultvalue", "default", "content"] {
        if from > at && stands(bytes, from, key) {
            let (after, _) = closers(bytes, from + key.len());
            let sign = blanks(bytes, after, 2);
            if !matches!(byte(bytes, sign), b'=' | b':') {
                return None;
            }
            let value = quoted(text, blanks(bytes, sign + 1, 2))?;
            return Some(Assigned {
                sign: Sign::Markup,
                value,
            });
        }
    }
    None
}

/// Returns the content of the element whose name or attribute the name is.
fn markup(text: &str, start: usize, after: usize) -> Option<Assigned> {
    let bytes = text.as_bytes();
    let opened = text[text.floor_char_boundary(start.saturating_sub(MAX_ATTRIBUTES_BYTES))..start]
        .bytes()
        .rev()
        .find(|b| matches!(b, b'<' | b'>' | b'\n'));
    if opened != Some(b'<') || matches!(super::scan::before(bytes, start), b'/') {
        return None;
    }
    content(text, after)
}

/// Returns the content of an element, which has to end with a closing tag.
fn content(text: &str, after: usize) -> Option<Assigned> {
    let bytes = text.as_bytes();
    let mut from = after;
    while from < after + MAX_BLANKS && byte(bytes, from).is_ascii_whitespace() {
        from += 1;
    }
    let end = text.floor_char_boundary(from + super::scan::MAX_VALUE_BYTES);
    let window = text.get(from..end)?;
    let inner = &window[..window.find("</")?];
    let inner = inner.trim_end();
    let inner = inner
        .strip_prefix("<![CDATA[")
        .map_or(inner, |inner| inner.trim_end_matches("]]>"));
    let skipped = if window.starts_with("<![CDATA[") {
        9
    } else {
        0
    };
    (!inner.is_empty() && !inner.contains(['\n', '<'])).then_some(Assigned {
        sign: Sign::Markup,
        value: Value {
            span: from + skipped..from + skipped + inner.len(),
            quoted: true,
        },
    })
}

/// Returns the content of an element whose start tag has attributes after its name.
pub(super) fn element(text: &str, end: usize) -> Option<Assigned> {
    let bytes = text.as_bytes();
    if !byte(bytes, end).is_ascii_whitespace() {
        return None;
    }
    let window = &bytes[end..(end + MAX_ATTRIBUTES_BYTES).min(bytes.len())];
    let close = window
        .iter()
        .position(|b| matches!(b, b'>' | b'<' | b'\n'))?;
    if window[close] != b'>' || before_is(window, close, b'/') {
        return None;
    }
    content(text, end + close + 1)
}

fn before_is(bytes: &[u8], at: usize, b: u8) -> bool {
    super::scan::before(bytes, at) == b
}

/// Returns the value that stands alone on the next line.
fn next_line(text: &str, at: usize) -> Option<Assigned> {
    let bytes = text.as_bytes();
    let mut from = at;
    while from < at + 3 && matches!(byte(bytes, from), b'|' | b'>' | b'-') {
        from += 1;
    }
    if byte(bytes, from) == b'\r' {
        from += 1;
    }
    if byte(bytes, from) != b'\n' {
        return None;
    }
    let start = blanks(bytes, from + 1, MAX_BLANKS);
    let value = value(text, start)?;
    let end = after_quotes(text, value.span.end);
    let end = blanks(bytes, end, MAX_BLANKS);
    matches!(byte(bytes, end), 0 | b'\n' | b'\r').then_some(Assigned {
        sign: Sign::NextLine,
        value,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<(Sign, &str)>) {
        let start = text.find("name").unwrap();
        let found = assigned(text, start, start + 4);
        assert_eq!(
            found.map(|found| (found.sign, &text[found.value.span])),
            expected,
            "{text}"
        );
    }

    #[test]
    fn every_sign_ties_a_value_to_its_name() {
        for (text, sign) in [
            ("name=x1", Sign::Tight),
            ("name = x1", Sign::Equals),
            ("name := \"x1\"", Sign::Equals),
            ("'name' => 'x1'", Sign::Equals),
            ("name: x1", Sign::Colon),
            ("\"name\": \"x1\"", Sign::Colon),
            ("name == \"x1\"", Sign::Equals),
            ("name != 'x1'", Sign::Equals),
            ("set(\"name\", \"x1\")", Sign::Comma),
            ("name.equals(\"x1\")", Sign::Comma),
            ("| name | x1 |", Sign::Cell),
            ("<name>x1</name>", Sign::Markup),
            ("<add key=\"name\" value=\"x1\"/>", Sign::Markup),
            ("<entry key=\"name\">x1</entry>", Sign::Markup),
            ("{\"key\": \"name\", \"value\": \"x1\"}", Sign::Markup),
            ("name x1", Sign::Blank),
            ("name:\n  x1\n", Sign::NextLine),
            ("name: |\n  x1\n", Sign::NextLine),
            ("**name:** x1", Sign::Colon),
            ("**name**: x1", Sign::Colon),
            ("name: str = \"x1\"", Sign::Equals),
            ("let name: &str = \"x1\";", Sign::Equals),
            ("char name[25] = \"x1\";", Sign::Equals),
            ("name = b\"x1\"", Sign::Equals),
            ("name = (\"x1\")", Sign::Equals),
            ("name = new Secret(\"x1\")", Sign::Equals),
            ("name := []byte(\"x1\")", Sign::Equals),
            ("name = getEnv(K) || \"x1\"", Sign::Equals),
            ("name → x1", Sign::Equals),
            ("d[\"name\"] = \"x1\"", Sign::Equals),
        ] {
            check(text, Some((sign, "x1")));
        }
    }

    #[test]
    fn what_is_no_assignment_has_no_value() {
        check("name::new()", None);
        check("name", None);
        check("name, x1", None);
        check("x > name > x1", None);
        check("name://x1", None);
    }
}
