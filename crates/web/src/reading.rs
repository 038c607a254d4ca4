//! What comes in, checked at the door: bodies, queries, names.

use axum::body::{Body, HttpBody as _};
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use crate::error::{Answer, Problem};
use crate::web::Web;

/// Longest name of a conversation, an author, an idempotency key.
pub(crate) const LONGEST_NAME: usize = 200;

/// A body of JSON, whatever its content type says.
pub(crate) struct Given<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<Web> for Given<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, web: &Web) -> Answer<Self> {
        let bytes = read(request.into_body(), web).await?;
        let parsed = serde_json::from_slice(&bytes).map_err(|error| {
            let problem = Problem::usage(format!("the body is not what this path takes: {error}"));
            problem.hint("`/api/v1/openapi.json` describes it")
        })?;
        Ok(Self(parsed))
    }
}

async fn read(body: Body, web: &Web) -> Answer<Vec<u8>> {
    let most = web.limits().body_bytes;
    // What is announced to be too large is not waited for.
    if body.size_hint().lower() > u64::try_from(most).unwrap_or(u64::MAX) {
        return Err(Problem::too_large(most));
    }
    match timeout(web.limits().body, Limited::new(body, most).collect()).await {
        Err(_) => Err(Problem::too_slow()),
        Ok(Ok(read)) => Ok(read.to_bytes().to_vec()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(Problem::too_large(most)),
        Ok(Err(_)) => Err(Problem::usage("the body ended before its end")),
    }
}

/// The part of the URL after `?`.
pub(crate) struct Asked<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequestParts<Web> for Asked<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, web: &Web) -> Answer<Self> {
        match Query::<T>::from_request_parts(parts, web).await {
            Ok(Query(asked)) => Ok(Self(asked)),
            Err(error) => Err(Problem::usage(format!("the query is not what this path takes: {}", error.body_text()))),
        }
    }
}

/// The name in the path, decoded.
pub(crate) struct Named(pub(crate) String);

impl FromRequestParts<Web> for Named {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, web: &Web) -> Answer<Self> {
        match Path::<String>::from_request_parts(parts, web).await {
            Ok(Path(name)) => plain("the name in the path", name).map(Self),
            Err(_) => Err(Problem::usage("the name in the path is not UTF-8")),
        }
    }
}

/// A name that can stand in a table, a log and a terminal.
pub(crate) fn plain(what: &str, text: String) -> Answer<String> {
    if text.trim().is_empty() {
        return Err(Problem::usage(format!("{what} is empty")));
    }
    if text.chars().count() > LONGEST_NAME {
        return Err(Problem::usage(format!("{what} is longer than {LONGEST_NAME} characters")));
    }
    if text.chars().any(char::is_control) {
        return Err(Problem::usage(format!("{what} has control characters in it")));
    }
    Ok(text)
}
