//! What a client sends, read without expecting much: fields may be missing, of another type, or
//! spelled in another case, and a text may hold bytes that are none.
//!
//! It decides nothing; [`crate::event`] does.

use mmw_core::time::Timestamp;
use serde_json::Value;

/// A JSON object whose fields are asked for by any of the names that clients give them.
#[derive(Debug, Clone)]
pub struct Payload(Value);

impl Payload {
    /// Reads an object; bytes that are no UTF-8 are replaced. `None` if it is no JSON object.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let value = match serde_json::from_slice::<Value>(bytes) {
            Ok(value) => value,
            Err(_) => serde_json::from_str(&String::from_utf8_lossy(bytes)).ok()?,
        };
        value.is_object().then_some(Self(value))
    }

    /// Returns the field of any of these names, unless it is null.
    #[must_use]
    pub fn field(&self, names: &[&str]) -> Option<&Value> {
        names
            .iter()
            .filter_map(|name| self.0.get(name))
            .find(|value| !value.is_null())
    }

    /// Returns a text that is not empty.
    #[must_use]
    pub fn text(&self, names: &[&str]) -> Option<&str> {
        self.field(names)?.as_str().filter(|text| !text.is_empty())
    }

    /// Tells whether a flag is set; `"true"` counts, since placeholders become texts.
    #[must_use]
    pub fn flag(&self, names: &[&str]) -> bool {
        match self.field(names) {
            Some(Value::Bool(set)) => *set,
            Some(Value::String(text)) => text.trim().eq_ignore_ascii_case("true"),
            _ => false,
        }
    }

    /// Returns a number, also one that was sent as a text.
    #[must_use]
    pub fn number(&self, names: &[&str]) -> Option<i64> {
        match self.field(names)? {
            Value::Number(number) => number.as_i64(),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        }
    }

    /// Returns a list.
    #[must_use]
    pub fn list(&self, names: &[&str]) -> &[Value] {
        self.field(names)
            .and_then(Value::as_array)
            .map_or(&[], Vec::as_slice)
    }
}

/// Returns the moment that a value names: RFC 3339, or milliseconds since 1970.
#[must_use]
pub fn moment(value: &Value) -> Option<Timestamp> {
    match value {
        Value::String(text) => Timestamp::parse(text).ok(),
        Value::Number(number) => number.as_i64().map(Timestamp::from_ms),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn payload(json: &str) -> Payload {
        Payload::parse(json.as_bytes()).unwrap()
    }

    #[test]
    fn a_flag_may_come_as_a_text() {
        for (json, set) in [
            (r#"{"a":true}"#, true),
            (r#"{"a":"true"}"#, true),
            (r#"{"a":" True "}"#, true),
            (r#"{"a":false}"#, false),
            (r#"{"a":"false"}"#, false),
            (r#"{"a":""}"#, false),
            (r#"{"a":null}"#, false),
            (r#"{"a":1}"#, false),
            ("{}", false),
        ] {
            assert_eq!(payload(json).flag(&["a"]), set, "{json}");
        }
    }

    #[test]
    fn a_field_is_found_by_any_of_its_names() {
        let given = payload(r#"{"sessionId":"s","session_id":null,"cwd":""}"#);
        assert_eq!(given.text(&["session_id", "sessionId"]), Some("s"));
        assert_eq!(given.text(&["cwd"]), None);
        assert_eq!(payload(r#"{"n":"3"}"#).number(&["n"]), Some(3));
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced() {
        let read = Payload::parse(b"{\"a\":\"x\xff\"}").unwrap();
        assert_eq!(read.text(&["a"]), Some("x\u{fffd}"));
        assert!(Payload::parse(b"[1]").is_none());
        assert!(Payload::parse(b"{\"a\":").is_none());
    }

    #[test]
    fn a_moment_is_a_text_or_a_number() {
        let at = Timestamp::from_ms(1_795_982_570_000);
        assert_eq!(moment(&"2026-11-29T20:02:50Z".into()), Some(at));
        assert_eq!(moment(&1_795_982_570_000_i64.into()), Some(at));
        assert_eq!(moment(&"yesterday".into()), None);
        assert_eq!(moment(&Value::Null), None);
    }
}
