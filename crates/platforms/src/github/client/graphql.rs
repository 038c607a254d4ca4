//! Answers of GraphQL: they come with status 200 even when they are refusals.

use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
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

/// What is wrong, without the data, which is long.
#[derive(Deserialize)]
struct Complaints {
    #[serde(default)]
    errors: Vec<Complaint>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Complaint {
    #[serde(rename = "type")]
    kind: Option<String>,
    code: Option<String>,
    message: String,
    /// There when the query itself is wrong.
    extensions: Option<IgnoredAny>,
}

impl Complaint {
    fn is(&self, kind: &str) -> bool {
        self.kind.as_deref() == Some(kind)
    }

    /// Whether it says so in a word of its own.
    fn names_a_limit(&self) -> bool {
        self.is("RATE_LIMITED") || self.is("RATE_LIMIT") || self.code.as_deref() == Some("graphql_rate_limit")
    }

    fn speaks_of_a_limit(&self) -> bool {
        self.message.to_lowercase().contains("rate limit")
    }

    /// Whether GitHub itself failed, which it says without a kind. It finds no fault with the query then.
    fn is_its_failure(&self) -> bool {
        let is_about_the_query = self.extensions.is_some() || self.message.starts_with("Parse error");
        self.message.starts_with("Something went wrong") || (self.kind.is_none() && !is_about_the_query)
    }
}

/// What an answer with a good status is after all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trouble {
    /// The limit was met; `secondary` when by too many calls in a short time.
    Limited { secondary: bool },
    /// GitHub failed, and there is nothing of what was asked for.
    Failed,
}

pub(super) fn trouble(answer: &Answer) -> Option<Trouble> {
    // Nearly every answer is fine, and those of many megabytes are looked through only once.
    let Complaints { errors } = serde_json::from_slice(&answer.body).ok()?;
    if !answer.status.is_success() || errors.is_empty() {
        return None;
    }
    let has_data = || {
        serde_json::from_slice(&answer.body).is_ok_and(|Envelope { data, .. }| data.is_some_and(|d| has_something(&d)))
    };
    // What is only spoken of may be about a part, or be the name of something.
    if errors.iter().any(Complaint::names_a_limit) || (errors.iter().any(Complaint::speaks_of_a_limit) && !has_data()) {
        let secondary = errors.iter().any(|error| error.message.to_lowercase().contains("secondary"));
        return Some(Trouble::Limited { secondary });
    }
    (errors.iter().any(Complaint::is_its_failure) && !has_data()).then_some(Trouble::Failed)
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
                tracing::debug!(
                    kind = complaint.kind.as_deref(),
                    message = plain(&complaint.message),
                    "GitHub left a part out"
                );
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
    let words: Vec<_> = errors.iter().map(|error| error.message.as_str()).filter(|text| !text.is_empty()).collect();
    let message = plain(&words.join("; "));
    let is_passing = |error: &Complaint| error.names_a_limit() || error.speaks_of_a_limit() || error.is_its_failure();
    if errors.iter().any(is_passing) {
        CallError::transient(message)
    } else if errors.iter().any(|error| error.is("NOT_FOUND")) {
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
        assert_eq!(read(r#"{"errors":[{"message":"Parse error on x"}]}"#), refused("Parse error on x"));
        let wrong = r#"{"errors":[{"message":"no field x","extensions":{"code":"undefinedField"}}]}"#;
        assert_eq!(read(wrong), refused("no field x"));
        let two = r#"{"data":null,"errors":[{"type":"FORBIDDEN","message":"a"},{"type":"X","message":"b"}]}"#;
        assert_eq!(read(two), refused("a; b"));
        let gone = r#"{"data":{"repository":null},"errors":[{"type":"NOT_FOUND","message":"Could not resolve"}]}"#;
        assert_eq!(read(gone), CallError::NotFound("Could not resolve".to_owned()));
        for passing in [
            r#"{"errors":[{"type":"RATE_LIMITED","message":"API rate limit exceeded"}]}"#,
            r#"{"errors":[{"type":"RATE_LIMIT","code":"graphql_rate_limit","message":"API exceeded"}]}"#,
            r#"{"errors":[{"message":"timedout"}]}"#,
            r#"{"data":{"a":null},"errors":[{"type":"NOT_FOUND","message":"a"},{"message":"Something went wrong"}]}"#,
            r#"{"errors":[{"type":null,"message":"x"}]}"#,
        ] {
            assert!(read(passing).is_transient(), "{passing}");
        }
        assert!(matches!(read("<html>"), CallError::Refused { .. }));
    }

    #[test]
    fn each_way_of_saying_not_now_is_understood() {
        let limited = |secondary| Some(Trouble::Limited { secondary });
        let table = [
            (r#"{"errors":[{"type":"RATE_LIMITED","message":"x"}]}"#, limited(false)),
            (r#"{"errors":[{"type":"RATE_LIMIT","message":"x"}]}"#, limited(false)),
            (r#"{"errors":[{"code":"graphql_rate_limit","message":"x"}]}"#, limited(false)),
            (r#"{"errors":[{"message":"API Rate Limit already exceeded"}]}"#, limited(false)),
            (r#"{"errors":[{"message":"You have exceeded a secondary rate limit"}]}"#, limited(true)),
            (r#"{"data":{"a":1},"errors":[{"type":"RATE_LIMITED","message":"x"}]}"#, limited(false)),
            (r#"{"data":{"a":1},"errors":[{"type":"NOT_FOUND","message":"no branch `rate limit`"}]}"#, None),
            (r#"{"errors":[{"message":"Something went wrong while executing your query"}]}"#, Some(Trouble::Failed)),
            (r#"{"data":null,"errors":[{"type":"X","message":"Something went wrong"}]}"#, Some(Trouble::Failed)),
            (r#"{"data":{"a":null},"errors":[{"message":"timedout"}]}"#, Some(Trouble::Failed)),
            (r#"{"data":{"a":1},"errors":[{"message":"timedout"}]}"#, None),
            (r#"{"errors":[{"type":"FORBIDDEN","message":"no"}]}"#, None),
            (r#"{"errors":[{"message":"no field x","extensions":{"code":"undefinedField"}}]}"#, None),
            (r#"{"errors":[{"message":"Parse error on x"}]}"#, None),
            (r#"{"data":{"a":1}}"#, None),
            ("<html>", None),
        ];
        for (body, expected) in table {
            let (status, headers) = (reqwest::StatusCode::OK, axum::http::HeaderMap::new());
            assert_eq!(trouble(&Answer { status, headers, body: body.into(), led_to: None }), expected, "{body}");
        }
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
