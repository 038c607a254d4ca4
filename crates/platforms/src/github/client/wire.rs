//! One request and its answer: the only place that sends a token, and only in a header.
//!
//! The proxy variables of whoever runs the server are heeded; a GitHub on this very machine is reached directly. A redirect
//! is an answer here, and not followed: it could carry the token to somebody else.

use std::net::IpAddr;
use std::sync::Once;
use std::time::Duration;

use axum::http::{HeaderMap, HeaderValue};
use hedgerow_core::Secret;
use reqwest::{Method, StatusCode, Url, header, redirect};
use tokio::sync::Semaphore;

const LONGEST_CONNECT: Duration = Duration::from_secs(10);
/// GitHub itself gives up after ten seconds; what takes longer is not coming.
const LONGEST_EXCHANGE: Duration = Duration::from_secs(15);
/// So long a connection is kept for the next call.
const LONGEST_REST: Duration = Duration::from_secs(30);
/// Most bytes of an answer. The largest ones are pages of a hundred comments, each of which may have 65,536 characters of four
/// bytes: 26 MB, and what JSON adds. With less, somebody with long comments could hide all others from us.
const MOST_BYTES: usize = 32 * 1024 * 1024;
/// Most requests under way at once; GitHub counts many at once as abuse.
const MOST_AT_ONCE: usize = 20;

#[derive(Debug)]
pub(super) struct Wire {
    http: reqwest::Client,
    places: Semaphore,
}

/// What is asked.
#[derive(Debug, Clone)]
pub(super) struct Ask {
    pub(super) method: Method,
    pub(super) url: Url,
    pub(super) body: Option<Vec<u8>>,
    pub(super) resource: Resource,
    /// Whether asking twice is the same as asking once.
    pub(super) repeatable: bool,
}

/// What GitHub counts apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Resource {
    Rest,
    Graphql,
}

#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Vec<u8>,
    /// The repository that a redirect led to.
    pub(super) led_to: Option<u64>,
}

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum Silence {
    /// Nothing was sent.
    NotConnected(String),
    /// It may have arrived.
    Broken(String),
    /// There is one, and it is longer than anything we ask for.
    TooLong,
}

impl Wire {
    pub(super) fn new(api: &Url) -> Result<Self, String> {
        static CRYPTOGRAPHY: Once = Once::new();
        CRYPTOGRAPHY.call_once(|| {
            // It can be there already only when somebody else in this process has chosen, which is as good.
            _ = rustls::crypto::ring::default_provider().install_default();
        });
        let mut builder = reqwest::Client::builder()
            .connect_timeout(LONGEST_CONNECT)
            .timeout(LONGEST_EXCHANGE)
            .redirect(redirect::Policy::none())
            .referer(false)
            .tcp_nodelay(true)
            .pool_idle_timeout(LONGEST_REST)
            .user_agent(concat!("hedgerow/", env!("CARGO_PKG_VERSION")))
            .default_headers(what_we_speak());
        if is_here(api) {
            builder = builder.no_proxy();
        }
        let http = builder.build().map_err(|error| format!("no way to call GitHub: {error}"))?;
        Ok(Self { http, places: Semaphore::new(MOST_AT_ONCE) })
    }

    pub(super) async fn send(&self, ask: &Ask, token: &Secret) -> Result<Answer, Silence> {
        let _place = self.places.acquire().await.expect("the places are never closed");
        let mut bearer = HeaderValue::from_str(&format!("Bearer {}", token.reveal()))
            .map_err(|_| Silence::NotConnected("the token cannot stand in a header".to_owned()))?;
        bearer.set_sensitive(true);
        let mut request = self.http.request(ask.method.clone(), ask.url.clone()).header(header::AUTHORIZATION, bearer);
        if let Some(body) = &ask.body {
            request = request.header(header::CONTENT_TYPE, "application/json").body(body.clone());
        }
        let mut response = request.send().await.map_err(silence)?;
        let (status, headers) = (response.status(), response.headers().clone());
        let mut body = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(silence)? {
            if body.len() + piece.len() > MOST_BYTES {
                return Err(Silence::TooLong);
            }
            body.extend_from_slice(&piece);
        }
        Ok(Answer { status, headers, body, led_to: None })
    }
}

fn what_we_speak() -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(header::ACCEPT, HeaderValue::from_static("application/vnd.github+json"));
    headers.insert("x-github-api-version", HeaderValue::from_static("2022-11-28"));
    headers
}

fn silence(error: reqwest::Error) -> Silence {
    let (is_connect, is_timeout) = (error.is_connect(), error.is_timeout());
    let why = innermost(&error.without_url());
    match (is_connect, is_timeout) {
        (true, _) => Silence::NotConnected(format!("GitHub cannot be reached: {why}")),
        (false, true) => Silence::Broken("GitHub did not answer in time".to_owned()),
        (false, false) => Silence::Broken(format!("GitHub broke off: {why}")),
    }
}

/// What happened, without the layers of who noticed.
fn innermost(error: &dyn std::error::Error) -> String {
    let mut inner = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    super::error::plain(&inner.to_string())
}

/// Whether it is on this machine.
fn is_here(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}
