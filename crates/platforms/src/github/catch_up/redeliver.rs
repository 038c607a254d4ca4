//! An App can see which of its deliveries failed, and have them sent again.

use std::collections::BTreeMap;

use hedgerow_core::Timestamp;
use hedgerow_core::platform::PlatformError;
use reqwest::Method;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::found::moment;
use crate::github::client::CallError;
use crate::github::payload::events;
use crate::github::{GitHub, Identity};

/// Most deliveries that are looked through.
const MOST: usize = 500;
/// Most that are asked for again in one look.
const MOST_AGAIN: usize = 100;
/// A delivery that failed so often is not asked for again.
const MOST_ATTEMPTS: usize = 3;

/// One attempt to deliver something.
#[derive(Debug, Deserialize)]
struct Attempt {
    id: u64,
    /// The same for all attempts.
    guid: String,
    delivered_at: Option<String>,
    /// 0 when nobody answered.
    status_code: Option<i64>,
    event: String,
}

impl Attempt {
    fn has_arrived(&self) -> bool {
        self.status_code.is_some_and(|status| (200..300).contains(&status))
    }

    /// What we cannot read, we could not read the next time either.
    fn is_refused_for_good(&self) -> bool {
        matches!(self.status_code, Some(400 | 413 | 422))
    }
}

/// Has GitHub deliver again what never arrived since then. Returns how many.
pub async fn redeliver_missed(github: &GitHub, since: Timestamp) -> Result<usize, PlatformError> {
    let Identity::App { .. } = &github.config.identity else { return Ok(0) };
    let listed = github.client.list_as_ourselves::<Value>("/app/hook/deliveries", MOST).await;
    let Some(listed) = if_allowed(listed)? else { return Ok(0) };
    let attempts = listed.into_iter().filter_map(|attempt| serde_json::from_value(attempt).ok()).collect();
    let mut again = 0;
    for id in missed(attempts, since) {
        let path = format!("/app/hook/deliveries/{id}/attempts");
        let asked = github.client.call_as_ourselves::<IgnoredAny>(Method::POST, &path, None::<&Value>).await;
        if if_allowed(asked)?.is_some() {
            again += 1;
        }
    }
    Ok(again)
}

/// One attempt of each delivery that never arrived, the oldest first.
fn missed(attempts: Vec<Attempt>, since: Timestamp) -> Vec<u64> {
    let mut deliveries: BTreeMap<String, Vec<Attempt>> = BTreeMap::new();
    for attempt in attempts {
        deliveries.entry(attempt.guid.clone()).or_default().push(attempt);
    }
    let is_missed = |attempts: &Vec<Attempt>| {
        attempts.iter().any(|attempt| moment(attempt.delivered_at.as_deref()).is_some_and(|at| at >= since))
            && attempts.iter().all(|attempt| events::USED.contains(&attempt.event.as_str()))
            && !attempts.iter().any(|attempt| attempt.has_arrived() || attempt.is_refused_for_good())
            && attempts.len() < MOST_ATTEMPTS
    };
    let mut ids: Vec<u64> = deliveries
        .into_values()
        .filter(is_missed)
        .filter_map(|attempts| attempts.iter().map(|one| one.id).max())
        .collect();
    ids.sort_unstable();
    ids.truncate(MOST_AGAIN);
    ids
}

/// `None` when we may not: the lists find most of it anyway.
fn if_allowed<T>(answer: Result<T, CallError>) -> Result<Option<T>, PlatformError> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(error @ (CallError::NotFound(_) | CallError::Moved | CallError::Refused { .. })) => {
            tracing::debug!(%error, "deliveries of GitHub cannot be asked for again");
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_never_arrived_is_asked_for_again() {
        let attempt = |id: u64, guid: &str, status: i64, event: &str, minute: u64| {
            json!({"id": id, "guid": guid, "status_code": status, "event": event, "action": "created",
                "delivered_at": format!("2026-05-03T10:{minute:02}:00Z"), "status": "…", "redelivery": false})
        };
        let attempts = [
            attempt(1, "arrived", 202, "issue_comment", 5),
            attempt(2, "arrived-later", 0, "issue_comment", 5),
            attempt(3, "arrived-later", 200, "issue_comment", 6),
            attempt(4, "lost", 0, "issue_comment", 5),
            attempt(5, "lost-twice", 429, "issues", 5),
            attempt(6, "lost-twice", 502, "issues", 6),
            attempt(7, "given-up", 0, "issues", 5),
            attempt(8, "given-up", 0, "issues", 6),
            attempt(9, "given-up", 0, "issues", 7),
            attempt(10, "long-ago", 0, "issues", 0),
            attempt(11, "not-ours", 0, "push", 5),
            attempt(12, "not-readable", 422, "issues", 5),
        ];
        let attempts = attempts.into_iter().map(|one| serde_json::from_value(one).expect("an attempt")).collect();
        let since = moment(Some("2026-05-03T10:01:00Z")).expect("a time");
        assert_eq!(missed(attempts, since), [4, 6]);
    }
}
