//! Every error of the API, in one form: `{"error": {"kind", "message", "hints"}}`.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hedgerow_core::{Kind, UserError};
use hedgerow_engine::Failure;
use hedgerow_engine::store::StoreError;
use serde_json::json;

/// Why a request is not answered the way its caller hoped. Boxed, because every answer carries the room for one.
#[derive(Debug)]
pub(crate) struct Problem(Box<Told>);

#[derive(Debug)]
struct Told {
    status: StatusCode,
    kind: &'static str,
    message: String,
    hints: Vec<String>,
    header: Option<(header::HeaderName, HeaderValue)>,
}

pub(crate) type Answer<T> = Result<T, Problem>;

impl Problem {
    fn new(status: StatusCode, kind: &'static str, message: impl Into<String>) -> Self {
        Self(Box::new(Told { status, kind, message: message.into(), hints: Vec::new(), header: None }))
    }

    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hints.push(hint.into());
        self
    }

    #[must_use]
    fn with(mut self, name: header::HeaderName, value: &'static str) -> Self {
        self.0.header = Some((name, HeaderValue::from_static(value)));
        self
    }

    /// The request itself is wrong.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        UserError::new(Kind::Usage, message).into()
    }

    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        UserError::new(Kind::NotFound, message).into()
    }

    pub(crate) fn no_such_path() -> Self {
        Self::not_found("there is nothing at this path").hint("`/api/v1/openapi.json` lists what there is")
    }

    pub(crate) fn wrong_method() -> Self {
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", "this path does not take this method")
            .hint("the `Allow` header says which it takes")
    }

    pub(crate) fn unauthorized() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "unauthorized", "the token is missing or wrong")
            .hint("send `Authorization: Bearer <token>`; the token is in the file `token` of Hedgerow's home")
            .with(header::WWW_AUTHENTICATE, "Bearer realm=\"hedgerow\"")
    }

    pub(crate) fn foreign_origin() -> Self {
        Self::new(StatusCode::FORBIDDEN, "forbidden", "web pages of other origins may not call this server")
    }

    pub(crate) fn too_large(most: usize) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", format!("the body is larger than {most} bytes"))
    }

    pub(crate) fn too_slow() -> Self {
        Self::new(StatusCode::REQUEST_TIMEOUT, "timeout", "the body took too long to arrive")
    }

    /// The queue is full, or we are going down.
    pub(crate) fn no_room(message: impl Into<String>) -> Self {
        Self::new(StatusCode::TOO_MANY_REQUESTS, Kind::Limit.as_str(), message)
            .hint("try again after the seconds in `Retry-After`, with the same `Idempotency-Key`")
            .with(header::RETRY_AFTER, "5")
    }

    pub(crate) fn not_ready(message: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, Kind::Failed.as_str(), message)
    }

    /// Something broke on our side; the log has the rest.
    pub(crate) fn internal() -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, Kind::Failed.as_str(), "something broke inside Hedgerow")
            .hint("the server's log has the rest, under the id in `X-Request-Id`")
    }
}

/// The status in the sense of the exit codes.
const fn status(kind: Kind) -> StatusCode {
    match kind {
        Kind::Failed => StatusCode::INTERNAL_SERVER_ERROR,
        Kind::Usage => StatusCode::UNPROCESSABLE_ENTITY,
        Kind::Protected => StatusCode::CONFLICT,
        Kind::NotFound => StatusCode::NOT_FOUND,
        Kind::Limit => StatusCode::TOO_MANY_REQUESTS,
        Kind::Busy => StatusCode::LOCKED,
    }
}

impl From<UserError> for Problem {
    fn from(error: UserError) -> Self {
        let mut problem = Self::new(status(error.kind), error.kind.as_str(), error.message);
        problem.0.hints = error.hints;
        problem
    }
}

impl From<Failure> for Problem {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::User(error) => error.into(),
            Failure::Internal(error) => {
                tracing::error!(error = format!("{error:#}"), "a request failed");
                Self::internal()
            }
        }
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        Failure::from(error).into()
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let Told { status, kind, message, hints, header } = *self.0;
        let body = json!({"error": {"kind": kind, "message": message, "hints": hints}});
        let mut response = (status, Json(body)).into_response();
        if let Some((name, value)) = header {
            response.headers_mut().insert(name, value);
        }
        response
    }
}
