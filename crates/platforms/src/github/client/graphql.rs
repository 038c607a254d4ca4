//! Answers of GraphQL: they come with status 200 even when they are refusals.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::error::{CallError, plain, unreadable};
use super::wire::Answer;

#[derive(Deserialize)]
struct Envelope {
    #[serde(default)]
    data: Option<Value>,
    #[serde(default)]
    errors: Vec<Complaint>,
}

#[derive(Deserialize)]
struct Complaint {
    #[serde(default, rename = "type")]
    kind: String,
    #[serde(default)]
    message: String,
}

/// Whether the limit of GraphQL was met, which it says with status 200.
pub(super) fn is_limited(answer: &Answer) -> bool {
    let is_limit = |complaint: &Complaint| complaint.kind == "RATE_LIMITED";
    let envelope = serde_json::from_slice::<Envelope>(&answer.body);
    answer.status.is_success() && envelope.is_ok_and(|envelope| envelope.errors.iter().any(is_limit))
}

/// Whether asking it twice is the same as asking it once.
pub(super) fn is_query(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with("query") || text.starts_with('{')
}

/// What is under `data`. A part of it is used; its absence is whatever the errors say.
pub(super) fn data<T: DeserializeOwned>(body: &[u8]) -> Result<T, CallError> {
    let envelope: Envelope = serde_json::from_slice(body).map_err(|error| unreadable(200, &error))?;
    let usable = envelope.data.filter(has_something);
    let Some(data) = usable else { return Err(refusal(&envelope.errors)) };
    match serde_json::from_value(data) {
        Ok(data) => {
            for complaint in &envelope.errors {
                tracing::debug!(kind = complaint.kind, message = plain(&complaint.message), "GitHub left a part out");
            }
            Ok(data)
        }
        // What is missing is what the errors are about.
        Err(_) if !envelope.errors.is_empty() => Err(refusal(&envelope.errors)),
        Err(error) => Err(unreadable(200, &error)),
    }
}

/// An object of nothing but nulls is what is left when everything failed.
fn has_something(data: &Value) -> bool {
    match data {
        Value::Null => false,
        Value::Object(fields) => fields.values().any(|value| !value.is_null()),
        _ => true,
    }
}

fn refusal(errors: &[Complaint]) -> CallError {
    let says = |kind: &str| errors.iter().any(|error| error.kind == kind);
    let words: Vec<_> = errors.iter().map(|error| error.message.as_str()).filter(|text| !text.is_empty()).collect();
    let message = plain(&words.join("; "));
    if says("RATE_LIMITED") {
        CallError::transient(message)
    } else if says("NOT_FOUND") {
        CallError::NotFound(message)
    } else if errors.is_empty() {
        CallError::NotFound("the answer of a query".to_owned())
    } else {
        CallError::Refused { status: 200, message }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_there_is_of_an_answer_is_used() {
        let read = |body: &str| data::<Value>(body.as_bytes()).map(|value| value.to_string());
        assert_eq!(read(r#"{"data":{"a":1}}"#), Ok(r#"{"a":1}"#.to_owned()));
        assert!(read(r#"{"data":{"a":1,"b":null},"errors":[{"message":"no b","type":"FORBIDDEN"}]}"#).is_ok());
    }

    #[test]
    fn an_answer_of_errors_alone_is_none() {
        let read = |body: &str| data::<Value>(body.as_bytes()).expect_err("no data");
        let refused = |message: &str| CallError::Refused { status: 200, message: message.to_owned() };
        assert_eq!(read(r#"{"errors":[{"message":"Parse error"}]}"#), refused("Parse error"));
        assert_eq!(read(r#"{"data":null,"errors":[{"message":"a"},{"message":"b"}]}"#), refused("a; b"));
        let gone = r#"{"data":{"repository":null},"errors":[{"type":"NOT_FOUND","message":"Could not resolve"}]}"#;
        assert_eq!(read(gone), CallError::NotFound("Could not resolve".to_owned()));
        let limited = r#"{"errors":[{"type":"RATE_LIMITED","message":"API rate limit exceeded"}]}"#;
        assert!(read(limited).is_transient());
        assert!(matches!(read("<html>"), CallError::Refused { .. }));
    }

    #[test]
    fn a_part_that_is_needed_and_missing_is_what_the_errors_say() {
        #[derive(Debug, Deserialize)]
        struct Needed {
            #[expect(dead_code, reason = "only its presence matters")]
            b: u64,
        }
        let body = r#"{"data":{"a":1,"b":null},"errors":[{"message":"no b","type":"FORBIDDEN"}]}"#;
        let error = data::<Needed>(body.as_bytes()).expect_err("b is missing");
        assert_eq!(error, CallError::Refused { status: 200, message: "no b".to_owned() });
    }
}
