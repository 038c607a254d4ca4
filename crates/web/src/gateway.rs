//! `/llm/<run>/…`: the APIs of the makers of models, for agents of runs that are on.
//!
//! An agent shows its run's token and no key. What may be called is a short list; what is passed on of a request and of
//! its answer is one too. The true key is added here and is in nothing that goes back.

mod headers;
mod meter;
mod paths;
mod refusal;
mod relay;
mod upstream;

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::any;
use futures_util::{Stream, StreamExt as _, stream};
use hedgerow_core::assistant::Maker;
use hedgerow_engine::gateway::{Barred, Call, Gateway};
use tokio::time::timeout;

use meter::Meter;
use refusal::{Refusal, Why};
use relay::Answering;
use upstream::Lane;

/// Most that is passed on of an error.
const LONGEST_ERROR: usize = 64 * 1024;

/// What a call may take.
#[derive(Debug, Clone, Copy)]
pub struct CallLimits {
    /// Most bytes of a request.
    pub request_bytes: u64,
    /// Longest silence, of the agent within its request and of the model within its answer.
    pub idle: Duration,
}

impl Default for CallLimits {
    fn default() -> Self {
        Self { request_bytes: 32 * 1024 * 1024, idle: Duration::from_mins(5) }
    }
}

struct Way {
    gateway: Arc<Gateway>,
    lanes: Vec<Lane>,
    limits: CallLimits,
}

/// The routes of the gateway. They need no other guard.
pub(crate) fn routes<S: Clone + Send + Sync + 'static>(gateway: &Arc<Gateway>, limits: CallLimits) -> Router<S> {
    let lanes = gateway.upstreams().iter().cloned().map(Lane::new).collect();
    let way = Arc::new(Way { gateway: Arc::clone(gateway), lanes, limits });
    Router::new().route("/llm/{run}/{*below}", any(pass_on)).with_state(way)
}

async fn pass_on(State(way): State<Arc<Way>>, request: Request) -> Response {
    match way.call(request).await {
        Ok(answered) => answered,
        Err(refusal) => {
            tracing::debug!(?refusal, "a call of a model is not answered by it");
            refusal.into_response()
        }
    }
}

impl Way {
    async fn call(&self, request: Request) -> Result<Response, Refusal> {
        let (parts, body) = request.into_parts();
        // As it stands: what is encoded is not what it seems.
        let path = parts.uri.path().strip_prefix("/llm/").unwrap_or_default();
        let (run, below) = path.split_once('/').unwrap_or((path, ""));
        let (maker, path) = paths::maker(below);
        let refuse = |why, message: String| Refusal::new(maker, why, message);

        let call = self.gateway.enter(run, headers::shown(&parts.headers)).map_err(|barred| match barred {
            Barred::Stranger => refuse(Why::Stranger, "this token is not good for a run that is on".to_owned()),
            Barred::Crowded => refuse(Why::Crowded, "this run has too many calls of models under way".to_owned()),
        })?;
        let known = paths::known(maker, &parts.method, path)
            .ok_or_else(|| refuse(Why::Unknown, format!("`{} {path}` is not passed on to the models", parts.method)))?;
        let lane = self.lanes.iter().find(|lane| lane.to.maker == maker).ok_or_else(|| {
            refuse(Why::Unknown, format!("models of {maker} cannot be reached: the server has no `llm.{maker}_key`"))
        })?;
        if known.is_metered {
            let refusal = call.refusal().await.map_err(|error| {
                tracing::error!(run = %call.run(), %error, "what is spent cannot be read, so nothing more is");
                refuse(Why::Internal, "what is spent so far cannot be read; try again".to_owned())
            })?;
            if let Some(why) = refusal {
                return Err(refuse(Why::Spent, why));
            }
        }
        let sent = Arc::new(AtomicU64::new(0));
        let query = paths::query(parts.uri.query());
        let to = lane.request(parts.method, known.path, query.as_deref()).map_err(|error| {
            tracing::error!(%maker, error, "no call of this maker's models can be made");
            refuse(Why::Internal, format!("the server cannot call models of {maker}; its log says why"))
        })?;
        let to = to.headers(headers::up(&parts.headers));
        let to = self.with_body(maker, to, &parts.headers, body, &sent)?;
        let from = self.send(maker, &call, to, &sent).await?;
        let meter = known.is_metered.then(|| Meter::new(maker, is_stream(from.headers()), known.model));
        self.answer(lane, call, from, meter, sent).await
    }

    /// The body as it comes, within its bounds.
    fn with_body(
        &self,
        maker: Maker,
        to: reqwest::RequestBuilder,
        headers: &HeaderMap,
        body: Body,
        sent: &Arc<AtomicU64>,
    ) -> Result<reqwest::RequestBuilder, Refusal> {
        let length = headers.get(header::CONTENT_LENGTH);
        let announced = length.and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
        if announced.is_some_and(|announced| announced > self.limits.request_bytes) {
            return Err(self.too_large(maker));
        }
        if announced.is_none_or(|announced| announced == 0) && !headers.contains_key(header::TRANSFER_ENCODING) {
            return Ok(to);
        }
        // A length that was announced is announced again; without one it goes in pieces.
        let to = if let Some(announced) = announced {
            to.header(header::CONTENT_LENGTH, HeaderValue::from(announced))
        } else {
            to
        };
        Ok(to.body(reqwest::Body::wrap_stream(bounded(body, Arc::clone(sent), self.limits))))
    }

    async fn send(
        &self,
        maker: Maker,
        call: &Call,
        to: reqwest::RequestBuilder,
        sent: &AtomicU64,
    ) -> Result<reqwest::Response, Refusal> {
        let refuse = |why, message: String| Err(Refusal::new(maker, why, message));
        let error = tokio::select! {
            biased;
            () = call.shut() => return refuse(Why::Stranger, "the run has ended".to_owned()),
            answered = timeout(self.limits.idle, to.send()) => match answered {
                Ok(Ok(answered)) => return Ok(answered),
                Ok(Err(error)) => error.without_url(),
                Err(_) => return refuse(Why::Slow, format!("the models of {maker} did not answer in time")),
            },
        };
        if sent.load(Ordering::Relaxed) > self.limits.request_bytes {
            return Err(self.too_large(maker));
        }
        if error.is_body() || error.is_request() && !error.is_connect() && is_ours(&error) {
            return refuse(Why::Broken, "the request broke off before its end".to_owned());
        }
        tracing::warn!(run = %call.run(), %maker, error = chain(&error), "models cannot be reached");
        refuse(Why::Unreachable, format!("the models of {maker} cannot be reached from the server"))
    }

    fn too_large(&self, maker: Maker) -> Refusal {
        let most = self.limits.request_bytes;
        Refusal::new(maker, Why::TooLarge, format!("the request is larger than {most} bytes"))
    }

    async fn answer(
        &self,
        lane: &Lane,
        call: Call,
        from: reqwest::Response,
        meter: Option<Meter>,
        sent: Arc<AtomicU64>,
    ) -> Result<Response, Refusal> {
        let (maker, status) = (lane.to.maker, from.status());
        let headers = headers::down(from.headers());
        if status.is_success() {
            let body = Answering { call, from, meter, sent, idle: self.limits.idle }.begin();
            return Ok((status, headers, body).into_response());
        }
        if status == StatusCode::UNAUTHORIZED {
            tracing::error!(%maker, "the models' API does not take the key of the settings");
            let message =
                format!("the API of {maker} does not take the server's key; `llm.{maker}_key` must be set anew");
            return Err(Refusal::new(maker, Why::KeyRefused, message));
        }
        if status.is_redirection() || status.is_informational() {
            tracing::error!(%maker, status = status.as_u16(), "the models' API is somewhere else; see `llm.*_url`");
            let message = format!("the API of {maker} is not where the server looks for it (HTTP {})", status.as_u16());
            return Err(Refusal::new(maker, Why::Unreachable, message));
        }
        let said = tokio::select! {
            () = call.shut() => Vec::new(),
            said = beginning(from, self.limits.idle) => said,
        };
        Ok((status, headers, without(said, lane.to.key.reveal())).into_response())
    }
}

fn is_stream(headers: &HeaderMap) -> bool {
    headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
}

/// A body that says how much of it went, and ends in an error where it is too large, too slow or broken.
fn bounded(body: Body, sent: Arc<AtomicU64>, limits: CallLimits) -> impl Stream<Item = io::Result<Bytes>> + Send {
    stream::unfold(Some(body.into_data_stream()), move |body| {
        let sent = Arc::clone(&sent);
        async move {
            let mut body = body?;
            let piece = match timeout(limits.idle, body.next()).await {
                Ok(Some(Ok(piece))) => piece,
                Ok(None) => return None,
                Ok(Some(Err(_))) => return Some((Err(io::Error::from(OURS)), None)),
                Err(_) => return Some((Err(io::Error::from(io::ErrorKind::TimedOut)), None)),
            };
            let length = u64::try_from(piece.len()).unwrap_or(u64::MAX);
            if sent.fetch_add(length, Ordering::Relaxed).saturating_add(length) > limits.request_bytes {
                return Some((Err(io::Error::from(OURS)), None));
            }
            Some((Ok(piece), Some(body)))
        }
    })
}

/// What an error of the agent's side is called, to tell it from one of the maker's.
const OURS: io::ErrorKind = io::ErrorKind::InvalidInput;

fn is_ours(error: &reqwest::Error) -> bool {
    let mut source = std::error::Error::source(error);
    while let Some(inner) = source {
        let kind = inner.downcast_ref::<io::Error>().map(io::Error::kind);
        if matches!(kind, Some(OURS | io::ErrorKind::TimedOut)) {
            return true;
        }
        source = inner.source();
    }
    false
}

/// An error and what caused it, for the log.
fn chain(error: &reqwest::Error) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(inner) = source {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        source = inner.source();
    }
    text
}

/// As much of an answer as is passed on of an error.
async fn beginning(mut from: reqwest::Response, idle: Duration) -> Vec<u8> {
    let mut said = Vec::new();
    while said.len() < LONGEST_ERROR
        && let Ok(Ok(Some(piece))) = timeout(idle, from.chunk()).await
    {
        said.extend_from_slice(&piece);
    }
    said.truncate(LONGEST_ERROR);
    said
}

/// Some APIs repeat the key in their errors.
fn without(said: Vec<u8>, key: &str) -> Vec<u8> {
    match String::from_utf8(said) {
        Ok(text) => text.replace(key, "***").into_bytes(),
        // An error that is no text helps nobody, and could hide anything.
        Err(_) => Vec::new(),
    }
}
